"""A virtual list: only the lines on screen are rendered, so that 100,000 rows cost no more than ten."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, ClassVar, Generic, TypeVar

from textual import events
from textual.binding import BindingType
from textual.cache import LRUCache
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style

from workbench.tui import paint
from workbench.tui.keys import bindings

R = TypeVar("R")

_KEPT = 256
"""Painted lines that are kept for the next time: what a few screens show, each taking two kilobytes."""


class LineList(ScrollView, Generic[R], can_focus=True):
    """Rows with a cursor that stays on its row, by id, when the rows change.

    A subclass says what a row's id and lines are. With ``FOLLOW`` the cursor goes on to the new last
    row if it stood on the last one.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings("list")
    FOLLOW: ClassVar[bool] = False
    LASTING: ClassVar[bool] = False
    """Whether a row that is as it was still looks the same, unless :meth:`repaint` says otherwise."""
    CURSOR: ClassVar[bool] = True
    """Whether the row under the cursor is shown as such."""
    URGENT_FIRST: ClassVar[bool] = False
    """Whether what needs the person stands at the top, and shows as long as she did not go elsewhere."""

    cursor: reactive[int] = reactive(0)

    class Moved(Message):
        """The cursor stands on another row."""

        def __init__(self, source: LineList[Any]) -> None:
            super().__init__()
            self.source = source

        @property
        def control(self) -> LineList[Any]:
            """The list."""
            return self.source

    class Opened(Moved):
        """A row was chosen with enter, or clicked twice."""

    def __init__(self, *, id: str | None = None, empty: Content | None = None) -> None:
        super().__init__(id=id)
        self.rows: Sequence[R] = ()
        self.empty = empty or Content("")
        self._tops: Sequence[int] | None = None
        self._total = 0
        self._strips: LRUCache[tuple[int, int, int, bool, bool], tuple[R, Strip]] = LRUCache(_KEPT)
        self._moved = False

    # What a subclass says.

    def row_id(self, row: R) -> str:
        """The stable id of a row."""
        raise NotImplementedError

    def row_lines(self, row: R, width: int) -> Sequence[Content]:
        """The lines of a row, each at most ``width`` cells."""
        raise NotImplementedError

    def row_height(self, row: R) -> int:
        """How many lines a row takes."""
        return 1

    def instead_of(self, row_id: str) -> int:
        """The number of the row to stand on where this one is not shown."""
        return self.cursor

    def row_lead(self, row: R) -> int:
        """How many of its lines stand above a row and are no part of it: a heading."""
        return 0

    @property
    def uniform(self) -> bool:
        """Whether every row takes one line, so that nothing need be added up."""
        return type(self).row_height is LineList.row_height

    def row_style(self, row: R) -> str:
        """A background for the row where the cursor is elsewhere; empty for none."""
        return ""

    # What others use.

    @property
    def current(self) -> R | None:
        """The row under the cursor."""
        return self.rows[self.cursor] if 0 <= self.cursor < len(self.rows) else None

    @property
    def current_id(self) -> str | None:
        """The id of the row under the cursor."""
        row = self.current
        return None if row is None else self.row_id(row)

    @property
    def stands(self) -> int:
        """The line of the widget on which the row under the cursor begins, below what leads it."""
        return self._begin_of(self.cursor) - self.scroll_offset.y if self.rows else 0

    @property
    def at_end(self) -> bool:
        """Whether the cursor stands on the last row, or there is none."""
        return self.cursor >= len(self.rows) - 1

    def show_rows(
        self, rows: Sequence[R], *, follow: bool = True, stands: int | None = None, home: str | None = None
    ) -> None:
        """Show other rows.

        Args:
            rows: All of them.
            follow: The cursor goes on with the end if it stood there; else it stays on its row.
            stands: Where its row is to stay on the screen; where it is now if None.
            home: The row that the cursor belongs on, if not the one on which it stands.
        """
        stood, followed = self.current_id, follow and self.FOLLOW and self.at_end
        stands = self.stands if stands is None else stands
        self.rows = rows
        self._measure()
        rests = self.URGENT_FIRST and not self._moved
        at = len(rows) - 1 if followed else 0 if rests and not self.has_focus else self._find(home or stood)
        self.set_reactive(LineList.cursor, max(0, min(at, len(rows) - 1)))
        if self.LASTING:
            self.refresh()
        else:
            self.repaint()
        if followed and self.show_vertical_scrollbar:
            self._reveal()
        elif followed:
            self.call_after_refresh(self._reveal)  # the bar that comes with the rows would stay where it begins
        elif rests:
            self.scroll_to(y=0, animate=False, force=True, immediate=True)
            self._reveal()
        elif self.rows:
            self.scroll_to(y=max(0, self._begin_of(self.cursor) - stands), animate=False, force=True, immediate=True)
        if self.current_id != stood:
            self.post_message(self.Moved(self))

    def _measure(self) -> None:
        self._tops = None if self.uniform else self.tops()
        self._total = len(self.rows) if self._tops is None else self._tops[-1]
        self._fit()

    def tops(self) -> Sequence[int]:
        """The line on which each row begins, what leads it included, and at last how many lines there are."""
        return list(accumulate((self.row_height(row) for row in self.rows), initial=0))

    def go_to(self, row_id: str) -> bool:
        """Put the cursor on a row; whether there is one with this id."""
        for index, row in enumerate(self.rows):
            if self.row_id(row) == row_id:
                self.cursor = index
                return True
        return False

    def repaint(self) -> None:
        """Forget what was painted, and paint again."""
        self._strips.clear()
        self.refresh()

    def _find(self, row_id: str | None) -> int:
        if row_id is None:
            return self.cursor
        if self.cursor < len(self.rows) and self.row_id(self.rows[self.cursor]) == row_id:
            return self.cursor
        found = next((i for i, row in enumerate(self.rows) if self.row_id(row) == row_id), None)
        return self.instead_of(row_id) if found is None else found

    def _top_of(self, index: int) -> int:
        return index if self._tops is None else self._tops[min(index, len(self._tops) - 1)]

    def _begin_of(self, index: int) -> int:
        lead = self.row_lead(self.rows[index]) if index < len(self.rows) else 0
        return self._top_of(index) + lead

    def _at(self, line: int) -> tuple[int, int] | None:
        """The row and the line within it at a line of the whole list."""
        if not 0 <= line < self._total:
            return None
        if self._tops is None:
            return line, 0
        index = bisect_right(self._tops, line) - 1
        return index, line - self._tops[index]

    def _fit(self) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width, self._total)

    def _reveal(self) -> None:
        row = self.current
        if row is not None:
            region = Region(0, self._top_of(self.cursor), 1, self.row_height(row))
            self.scroll_to_region(region, animate=False, force=True, immediate=True, x_axis=False)

    def validate_cursor(self, cursor: int) -> int:
        """Keep the cursor on a row."""
        return max(0, min(cursor, len(self.rows) - 1))

    def watch_cursor(self, old: int, new: int) -> None:
        """Keep the cursor in sight and say that it moved."""
        self._reveal()
        self.refresh()
        if old != new:
            self._moved = new > 0
            self.post_message(self.Moved(self))

    def on_resize(self) -> None:
        """The width decides what fits into a line."""
        self._measure()
        self.repaint()
        self._reveal()

    def notify_style_update(self) -> None:
        """Another theme: every strip has old colours."""
        super().notify_style_update()
        self._strips.clear()

    # Line API.

    def render_line(self, y: int) -> Strip:
        """One line of the widget."""
        width = self.scrollable_content_region.width
        if not self.rows:
            return self._empty_line(y, width)
        where = self._at(y + self.scroll_offset.y)
        if where is None:
            return Strip.blank(width, self.visual_style.rich_style)
        index, part = where
        here = self.CURSOR and index == self.cursor and part >= self.row_lead(self.rows[index])
        key = (index, part, width, here, self.has_focus)
        row, known = self.rows[index], self._strips.get(key)
        if known is None or known[0] != row:
            known = self._strips[key] = row, self._paint(row, part, width, here)
        return known[1]

    def _paint(self, row: R, part: int, width: int, here: bool) -> Strip:
        parts = self.row_lines(row, max(0, width - 1))
        body = parts[part] if part < len(parts) else Content("")
        gutter = "▌" if here and self.has_focus else ("▏" if here else " ")
        content = paint.fit(Content.assemble((gutter, "$focus"), body), width)
        background = ("$cursor" if self.has_focus else "$cursor-quiet") if here else self.row_style(row)
        if part < self.row_lead(row):
            background = ""
        base = self.visual_style
        if background:
            base = base + Style.parse(f"on {background}")
        return Strip(content.render_segments(base), width)

    def _empty_line(self, y: int, width: int) -> Strip:
        if width <= 2:
            return Strip.blank(width, self.visual_style.rich_style)
        wrapped = self.empty.wrap(width - 2)
        if not 0 <= y - 1 < len(wrapped):
            return Strip.blank(width, self.visual_style.rich_style)
        content = paint.fit(Content.assemble(" ", wrapped[y - 1]), width)
        return Strip(content.render_segments(self.visual_style), width)

    def on_focus(self) -> None:
        """The cursor looks different with the focus."""
        self.refresh()

    def on_blur(self) -> None:
        """The cursor looks different without the focus."""
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """A click moves the cursor; on the cursor's row it opens."""
        where = self._at(event.y + self.scroll_offset.y)
        if where is None:
            return
        if where[0] == self.cursor and event.chain > 1:
            self.action_open()
        self.cursor = where[0]

    # Actions.

    def action_move(self, by: int) -> None:
        """Move the cursor by rows."""
        self.cursor += by

    def action_half(self, direction: int) -> None:
        """Move the cursor by half a page."""
        self.cursor += direction * max(1, self.size.height // 2)

    def action_top(self) -> None:
        """To the first row."""
        self.cursor = 0

    def action_bottom(self) -> None:
        """To the last row."""
        self.cursor = len(self.rows) - 1

    def action_open(self) -> None:
        """Open the row under the cursor."""
        if self.rows:
            self.post_message(self.Opened(self))
