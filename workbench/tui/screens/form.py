"""A few lines to fill in; what is wrong with them is said under them, and nothing typed is lost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, Static

from workbench.errors import WorkbenchError
from workbench.tui import paint
from workbench.tui.desk import Written
from workbench.tui.screens.modal import Modal
from workbench.tui.widgets.key_bar import BarKey
from workbench.tui.widgets.stored_input import StoredInput


@dataclass(frozen=True)
class Field:
    """One line of a form."""

    name: str
    label: str
    value: str = ""
    hint: str = ""


ALTERED = "shown in one line: changed here, it loses its line breaks and what cannot be seen"
Submit = Callable[[Mapping[str, str]], Awaitable[Written]]


class FormScreen(Modal[Written]):
    """Enter hands the lines over; where they are refused, the form stays with the reason.

    Args:
        title: What is made or edited.
        fields: Its lines.
        submit: Takes what was typed, by name; what it raises is shown.
        about: What is to be known before typing.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "app.focus_next", "next line"),
        Binding("up", "app.focus_previous", "line before"),
    ]

    def __init__(self, title: str, fields: Sequence[Field], submit: Submit, about: str = "") -> None:
        super().__init__()
        self._title, self._fields, self._submit, self._about = title, fields, submit, about

    def content(self) -> ComposeResult:
        """What it is about, the lines, and a place for what is wrong."""
        if self._about:
            yield Static(paint.line(self._about, paint.QUIET, 600), markup=False)
        for field in self._fields:
            yield Static(Content.styled(field.label, "$label bold"), markup=False, classes="gap")
            line = StoredInput(field.value, placeholder=field.hint, id=field.name)
            yield line
            if line.altered:
                yield Static(Content.styled(ALTERED, paint.QUIET), markup=False)
        yield Static(Content(""), id="wrong", markup=False, classes="gap")

    def on_mount(self) -> None:
        """Type into the first line."""
        self.box.border_title = Content.styled(f" {self._title} ", "bold")
        self.query_one("#wrong").display = False
        self.query(StoredInput).first().focus()

    def keys(self) -> list[BarKey]:
        """Enter saves."""
        return [BarKey("enter", "save", "submit"), BarKey("tab", "next line", "app.focus_next")]

    def action_submit(self) -> None:
        """Hand over what was typed."""
        self._hand_over({line.id or "": line.typed for line in self.query(StoredInput)})

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter."""
        event.stop()
        self.action_submit()

    @work(exclusive=True, group="form", exit_on_error=False)
    async def _hand_over(self, typed: Mapping[str, str]) -> None:
        try:
            written = await self._submit(typed)
        except WorkbenchError as error:
            self._say_wrong(error)
        else:
            self.dismiss(written)

    def _say_wrong(self, error: WorkbenchError) -> None:
        wrong = self.query_one("#wrong", Static)
        rows = [Content.assemble(("× ", "$bad"), paint.line(error.message, "$bad", 400))]
        if error.hint:
            rows.append(Content.assemble("  ", paint.line(error.hint, paint.QUIET, 300)))
        wrong.update(paint.stack(rows))
        wrong.display = True
