"""A widget whose frame has a title that changes often."""

from __future__ import annotations

from typing import Self

from textual.content import Content
from textual.geometry import Region
from textual.widget import Widget


class Framed(Widget):
    """Writing the title paints its line alone; the toolkit would paint all that the frame holds."""

    _title: Content | None = None
    _titling = False

    def retitle(self, title: Content) -> None:
        """Give the frame another title; one that says and looks the same costs nothing."""
        known = self._title
        if known is not None and known.plain == title.plain and known.spans == title.spans:
            return
        self._title = title
        self._titling = True
        try:
            self.border_title = title
        finally:
            self._titling = False

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Paint again: everything, some regions of the content, or the title that is being written."""
        if self._titling:
            left, top = self.content_offset
            regions = (Region(-left, -top, self.outer_size.width, 1),)
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)
