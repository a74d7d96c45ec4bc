"""What differs since a package was compiled, in as many lines as there is room for."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from workbench.domain.package import Difference
from workbench.tui import paint
from workbench.tui.differences import rows_of
from workbench.tui.widgets.line_list import LineList


class DifferenceList(LineList[Difference], can_focus=False):
    """Scrolled from the list beside it; it knows how many are out of sight."""

    CURSOR = False

    def row_id(self, row: Difference) -> str:
        """What differs."""
        return f"{row.code} {row.subject}"

    def row_height(self, row: Difference) -> int:
        """Its subject; what it was and is."""
        return len(list(rows_of(row)))

    def row_lines(self, row: Difference, width: int) -> Sequence[Content]:
        """Subject, and was and now."""
        return tuple(rows_of(row))

    @property
    def out_of_sight(self) -> int:
        """How many stand wholly or partly outside."""
        top, bottom = self.scroll_offset.y, self.scroll_offset.y + self.size.height
        return sum(self._top_of(n) < top or self._top_of(n + 1) > bottom for n in range(len(self.rows)))

    def more(self) -> Content:
        """That there are more, and how to see them; empty where all are seen."""
        hidden = self.out_of_sight
        return Content.styled(f"+{hidden} more: ctrl+d and ctrl+u scroll", paint.QUIET) if hidden else Content("")
