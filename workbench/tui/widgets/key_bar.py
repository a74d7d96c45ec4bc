"""The footer: four to seven keys, dim where they cannot work now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.style import Style
from textual.widgets import Static

from workbench.tui import paint


@dataclass(frozen=True)
class BarKey:
    """One key of the footer."""

    shown: str
    label: str
    action: str
    able: bool = True
    spare: int = 0
    """Where not all fit, the most spare one is left off first; the last key always stays."""


class KeyBar(Static):
    """Keys from the table; a click does the same as the key."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(Content(""), markup=False, id=id)
        self._keys: tuple[BarKey, ...] = ()
        self.auto_links = False

    def show(self, keys: Sequence[BarKey]) -> None:
        """Show these keys."""
        if tuple(keys) != self._keys:
            self._keys = tuple(keys)
            self._write()

    def on_resize(self) -> None:
        """Leave off what does not fit."""
        self._write()

    def _write(self) -> None:
        keys = list(self._keys)
        content = self._line(keys)
        if not self.size.width:
            self.update(content)  # not laid out yet
            return
        while content.cell_length > self.size.width and len(keys) > 2:
            keys.pop(max(range(len(keys) - 1), key=lambda index: (keys[index].spare, index)))
            content = self._line(keys)
        self.update(paint.fit(content, max(1, self.size.width)))

    def _line(self, keys: Sequence[BarKey]) -> Content:
        parts: list[Content] = []
        for key in keys:
            text = Content.assemble(
                (f" {key.shown}", "$focus bold" if key.able else paint.QUIET),
                (f" {key.label} ", "" if key.able else "$quiet dim"),
            )
            parts.append(text.stylize(Style.from_meta({"@click": f"screen.{key.action}"})) if key.able else text)
        return Content(" ").join(parts)
