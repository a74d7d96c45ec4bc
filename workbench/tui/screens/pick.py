"""Pick one of several, with enter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from workbench.tui.screens.modal import Modal
from workbench.tui.widgets.key_bar import BarKey
from workbench.tui.widgets.line_list import LineList


@dataclass(frozen=True)
class Option:
    """One line to pick."""

    id: str
    line: Content
    detail: Content


class OptionLines(LineList[Option]):
    """Options, one or two lines each."""

    def row_id(self, row: Option) -> str:
        """The option's id."""
        return row.id

    def row_height(self, row: Option) -> int:
        """A second line for the detail."""
        return 2 if row.detail else 1

    def row_lines(self, row: Option, width: int) -> Sequence[Content]:
        """The line, and the detail under it."""
        return (Content.assemble(" ", row.line), Content.assemble("   ", row.detail))


class Pick(Modal[str]):
    """A list; enter takes the one under the cursor."""

    def __init__(self, title: str, options: Sequence[Option], *, at: str = "", note: Content | None = None) -> None:
        super().__init__()
        self._title, self._options, self._at, self._note = title, options, at, note

    def content(self) -> ComposeResult:
        """The options."""
        yield OptionLines(id="options", empty=Content.styled("There is nothing to pick.", "$quiet"))
        if self._note is not None:
            yield Static(self._note, markup=False, classes="gap")

    def on_mount(self) -> None:
        """Show the options, with the cursor on the one taken last."""
        self.box.border_title = Content.styled(f" {self._title} ", "bold")
        rows = self.query_one(OptionLines)
        rows.show_rows(self._options)
        rows.styles.height = min(24, max(2, sum(rows.row_height(o) for o in self._options)))
        rows.go_to(self._at)
        rows.focus()

    def keys(self) -> list[BarKey]:
        """Enter takes it."""
        return [BarKey("enter", "choose", "take")]

    def action_take(self) -> None:
        """Take the one under the cursor."""
        current = self.query_one(OptionLines).current_id
        if current is not None:
            self.dismiss(current)

    def on_line_list_opened(self) -> None:
        """Enter."""
        self.action_take()
