"""Small questions: a line of text, or the word yes."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static

from workbench.tui.screens.modal import Modal
from workbench.tui.widgets.key_bar import BarKey
from workbench.tui.widgets.stored_input import StoredInput


class AskText(Modal[str]):
    """Ask for one line; an empty line is an answer where ``optional``."""

    def __init__(self, title: str, about: Content, *, value: str = "", optional: bool = False, hint: str = "") -> None:
        super().__init__()
        self._title, self._about, self._value = title, about, value
        self._optional, self._hint = optional, hint

    def content(self) -> ComposeResult:
        """What it is about, and the line."""
        yield Static(self._about, markup=False)
        yield StoredInput(self._value, placeholder=self._hint, classes="gap")

    def on_mount(self) -> None:
        """The title is the question."""
        self.box.border_title = Content.styled(f" {self._title} ", "bold")

    def keys(self) -> list[BarKey]:
        """Enter answers."""
        return [BarKey("enter", "done", "submit")]

    def action_submit(self) -> None:
        """Answer with what stands in the line."""
        value = self.query_one(StoredInput).typed
        if value or self._optional:
            self.dismiss(value)
        else:
            self.notify("It may not be empty.", severity="warning", markup=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter."""
        event.stop()
        self.action_submit()


class AskYes(AskText):
    """Ask for the word yes, where something is hard to reverse or guarded."""

    def __init__(self, title: str, about: Content) -> None:
        super().__init__(title, about, hint="type yes")

    def action_submit(self) -> None:
        """Only the word counts."""
        if self.query_one(Input).value.strip().lower() == "yes":
            self.dismiss("yes")
        else:
            self.notify("Only the word yes goes on; esc closes.", severity="warning", markup=False)


class Confirm(Modal[bool]):
    """Say what is about to happen; enter does it."""

    def __init__(self, title: str, about: Content, label: str) -> None:
        super().__init__()
        self._title, self._about, self._label = title, about, label

    BINDINGS = [("enter", "yes", "do it")]  # noqa: RUF012

    def content(self) -> ComposeResult:
        """What will happen."""
        yield Static(self._about, markup=False)

    def on_mount(self) -> None:
        """The title is the question."""
        self.box.border_title = Content.styled(f" {self._title} ", "bold")

    def keys(self) -> list[BarKey]:
        """Enter does it."""
        return [BarKey("enter", self._label, "yes")]

    def action_yes(self) -> None:
        """Do it."""
        self.dismiss(True)
