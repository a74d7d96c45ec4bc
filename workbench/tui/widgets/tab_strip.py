"""The names of the panes, where only one of them fits."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.style import Style
from textual.widgets import Static

from workbench.tui import paint


class TabStrip(Static):
    """One line of names; the one shown is in reverse, and has brackets where there is no colour."""

    def __init__(self) -> None:
        super().__init__(Content(""), markup=False)
        self.auto_links = False
        self._shown: tuple[tuple[str, ...], str] = ((), "")

    def show(self, names: Sequence[str], active: str) -> None:
        """Show these names."""
        if (tuple(names), active) == self._shown:
            return
        self._shown = (tuple(names), active)
        parts: list[Content] = []
        for number, name in enumerate(names, 1):
            text = f"[{number} {name}]" if name == active else f" {number} {name} "
            tab = Content.styled(text, "$focus bold" if name == active else paint.QUIET)
            parts.append(tab.stylize(Style.from_meta({"@click": f"screen.pane('{name}')"})))
        self.update(Content("").join(parts))
