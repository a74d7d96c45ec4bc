"""One quiet line: where we are, who is alive, how much is kept, and what needs the person now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static

from workbench.tui import paint

if TYPE_CHECKING:
    from workbench.services.view import Need, View

SYMBOLS = {
    "challenged": "!",
    "contested": "≠",
    "stale": "!",
    "damaged": "!",
    "outdated": "!",
    "full": "!",
    "limit": "!",
    "ended": "!",
    "to_start": "◔",
}


class StatusLine(Static):
    """The line above the keys; where it is narrow, what needs the person stands alone."""

    view: reactive[View | None] = reactive(None, always_update=True, repaint=False)
    state: reactive[str] = reactive("")
    """What is to be known about the app itself: not watching, read-only."""

    def __init__(self) -> None:
        super().__init__(Content(""), markup=False)

    def watch_view(self) -> None:
        """Write the line anew."""
        self._write()

    def watch_state(self) -> None:
        """Write the line anew."""
        self._write()

    def on_resize(self) -> None:
        """Another width holds more or less."""
        self._write()

    def _write(self) -> None:
        view = self.view
        if view is None:
            self._put(Content.styled(" reading the workspace …", paint.QUIET))
            return
        width = self.size.width
        need = self._need(view)
        where = self._where(view, width - need.cell_length - 4)
        if where.cell_length < 4:
            self._put(paint.fit(Content.assemble(" ", need), max(1, width)))
            return
        gap = " " * max(1, width - where.cell_length - need.cell_length - 2)
        self._put(Content.assemble(" ", where, gap, need))

    def _put(self, content: Content) -> None:
        self.update(content, layout=False)  # one line, whatever it says: nothing else need be laid out again

    def _where(self, view: View, room: int) -> Content:
        """The parts that fit whole, in order of worth."""
        shown = Content("")
        for part in self._parts(view):
            longer = Content.assemble(shown, (" · ", paint.QUIET), part) if shown else part
            if longer.cell_length <= room:
                shown = longer
        return shown

    def _parts(self, view: View) -> Iterator[Content]:
        place, history = view.place, view.history
        worktree = Content.assemble((" / ", paint.QUIET), paint.line(place.worktree_name or "", limit=20))
        yield Content.assemble(paint.line(place.name, "bold", 30), worktree if place.worktree_name else "")
        if place.branch or place.head:
            dirty = (f" ±{place.dirty}", "$warn") if place.dirty else ("", "")
            yield Content.assemble(paint.line(place.branch or (place.head or "")[:8], "$info", 30), dirty)
        if self.state:
            yield Content.styled(self.state, "$warn")
        alive = [s for s in view.sessions if s.status == "live"]
        if alive:
            yield Content.assemble(
                ("● ", "$good"), paint.line(", ".join(dict.fromkeys(s.agent for s in alive)), limit=30)
            )
        elif view.sessions:
            yield Content.styled("no agent alive", paint.QUIET)
        if history.tokens_all:
            kept = f"{paint.short(history.tokens_kept)}/{paint.short(history.tokens_all)} tokens kept"
            yield Content.styled(kept, paint.QUIET)

    def _need(self, view: View) -> Content:
        if not view.needs_you:
            return Content.styled("nothing needs you", paint.QUIET)
        first: Need = view.needs_you[0]
        more = f" (+{len(view.needs_you) - 1})" if len(view.needs_you) > 1 else ""
        key = Content.assemble(" ", paint.line(first.key, limit=8), " ").stylize("reverse bold") if first.key else ""
        text = paint.line(first.text, "$warn", max(20, self.size.width - 12))
        return Content.assemble((SYMBOLS.get(first.code, "?") + " ", "$warn bold"), text, (more, paint.QUIET), " ", key)
