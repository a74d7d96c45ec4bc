"""What all panes share: a frame with a number and a title, a view bound to the screen's, a filter line."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input

from workbench.tui.widgets.framed import Framed

if TYPE_CHECKING:
    from workbench.services.view import View
    from workbench.tui.app import WorkbenchApp


class Pane(Vertical, Framed):
    """A frame that shows its own part of the view, and repaints only when that part changed."""

    NUMBER: ClassVar[str] = ""
    NAME: ClassVar[str] = ""

    view: reactive[View | None] = reactive(None, always_update=True, repaint=False)

    @property
    def now(self) -> datetime:
        """The moment, by the app's clock."""
        return cast("WorkbenchApp", self.app).clock()

    def head(self, detail: Content | str = "") -> Content:
        """The frame's title."""
        parts: list[Content | str | tuple[str, str]] = [(f" {self.NUMBER} ", "$focus"), (f"{self.NAME} ", "bold")]
        if detail:
            parts.append(Content.assemble(detail if isinstance(detail, Content) else (detail, "$quiet"), " "))
        return Content.assemble(*parts)

    def on_mount(self) -> None:
        """A title before there is anything to show."""
        if self.view is None:
            self.frame.retitle(self.head())

    @property
    def frame(self) -> Framed:
        """The widget that has the frame."""
        return self

    @property
    def home(self) -> Widget:
        """The widget that takes the focus when a person goes to this pane."""
        raise NotImplementedError

    def watch_view(self, old: View | None, new: View | None) -> None:
        """Hand the own part on when it differs."""
        if new is None:
            return
        before = None if old is None else self.part(old)
        now = self.part(new)
        if old is None or (before is not now and before != now):
            self.show(new)

    def part(self, view: View) -> object:
        """What of a view this pane shows."""
        raise NotImplementedError

    def show(self, view: View) -> None:
        """Show another part."""
        raise NotImplementedError


TYPING = 0.15
"""Seconds without a key after which a long list is narrowed."""


class FilterLine(Input):
    """The words that rows must hold, typed under a list."""

    def __init__(self) -> None:
        super().__init__(placeholder="words that rows must hold · enter keeps, esc clears", compact=True)
        self.display = False

    def open(self) -> None:
        """Show the line and type into it."""
        self.display = True
        self.focus()


class FilteredPane(Pane):
    """A pane over a list that a person can narrow by words."""

    _rest: Timer | None = None
    """Until the rows are narrowed, where that waits for the words."""

    @property
    def has_many(self) -> bool:
        """Whether there are so many rows that looking through them would hold up who types."""
        return False

    def compose_filter(self) -> ComposeResult:
        """The filter line, for the end of ``compose``."""
        yield FilterLine()

    @property
    def words(self) -> str:
        """What the rows must hold, in lower case."""
        return self.query_one(FilterLine).value.strip().lower()

    def start_filter(self) -> None:
        """Let the person type words."""
        self.query_one(FilterLine).open()

    def clear_filter(self) -> bool:
        """Take the filter away; whether there was one."""
        line = self.query_one(FilterLine)
        had = line.display
        line.display = False
        line.value = ""
        self.home.focus()
        return had

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow the rows while the words are typed."""
        event.stop()
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(TYPING, self._narrow) if self.has_many else None
        if self._rest is None:
            self._narrow()

    def _narrow(self) -> None:
        self._rest = None
        if self.view is not None:
            self.show(self.view)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep the filter and go back to the rows."""
        event.stop()
        if self._rest is not None:
            self._rest.stop()
            self._narrow()
        self.query_one(FilterLine).display = bool(self.words)
        self.home.focus()
