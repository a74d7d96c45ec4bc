"""The frame of every modal: a box with a title and its keys; esc or q closes it with no answer."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget

from workbench.tui.widgets.key_bar import BarKey, KeyBar

T = TypeVar("T")


class Modal(ModalScreen[T | None]):
    """A box over the panes. None means no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "close", show=False),
        Binding("q", "close", "close", show=False),
    ]
    TITLE_TEXT: ClassVar[str] = ""
    WIDE: ClassVar[bool] = False
    KEY_LINES: ClassVar[int] = 1
    """How many lines the keys may take where they do not fit on one."""
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-medium")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-low"), (20, "-tall")]  # noqa: RUF012

    def compose(self) -> ComposeResult:
        """The box with its content and its keys."""
        with Vertical(id="box", classes="-wide-box" if self.WIDE else ""):
            yield from self.content()
            yield KeyBar(id="modal-keys", lines=self.KEY_LINES)

    def content(self) -> ComposeResult:
        """What stands in the box."""
        raise NotImplementedError

    def keys(self) -> list[BarKey]:
        """The keys shown under the content."""
        return []

    def on_mount(self) -> None:
        """Title and keys; the toolkit calls this besides the ``on_mount`` of a subclass."""
        if self.TITLE_TEXT:
            self.box.border_title = Content.styled(f" {self.TITLE_TEXT} ", "bold")
        self.refresh_keys()

    @property
    def box(self) -> Widget:
        """The box."""
        return self.query_one("#box")

    def refresh_keys(self) -> None:
        """Show what can be done now."""
        self.query_one("#modal-keys", KeyBar).show([*self.keys(), BarKey("esc", "close", "close")])

    def action_close(self) -> None:
        """Close with no answer."""
        self.dismiss(None)
