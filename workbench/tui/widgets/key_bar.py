"""The footer: the keys of a screen, dim where they cannot work now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
    brief: str = ""
    """A shorter label, for where not all labels fit; empty for none."""


class KeyBar(Static):
    """Keys from the table; a click does the same as the key."""

    def __init__(self, *, id: str | None = None, lines: int = 1) -> None:
        super().__init__(Content(""), markup=False, id=id)
        self._keys: tuple[BarKey, ...] = ()
        self._most = lines
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
        width = self.size.width
        if not width:
            self.update(Content(" ").join(map(_shown, self._keys)))  # not laid out yet
            return
        keys = list(self._keys)
        lines = _lines(keys, width)
        if len(lines) > self._most:
            keys = [replace(key, label=key.brief or key.label) for key in keys]
            lines = _lines(keys, width)
        while len(lines) > self._most and len(keys) > 2:
            keys.pop(max(range(len(keys) - 1), key=lambda index: (keys[index].spare, index)))
            lines = _lines(keys, width)
        lines = lines[: self._most]
        self.styles.height = len(lines)
        self.update(Content("\n").join(paint.fit(_trimmed(line, width), width) for line in lines))


def _lines(keys: Sequence[BarKey], width: int) -> list[Content]:
    """The keys on as many lines as they need; a blank at the end needs no room."""
    lines: list[Content] = []
    for key in keys:
        longer = Content(" ").join((lines[-1], _shown(key))) if lines else _shown(key)
        if lines and longer.cell_length - 1 > width:
            lines.append(_shown(key))
        else:
            lines[-1:] = [longer]
    return lines or [Content("")]


def _trimmed(line: Content, width: int) -> Content:
    return line.rstrip() if line.cell_length > width else line


def _shown(key: BarKey) -> Content:
    text = Content.assemble(
        (f" {key.shown}", "$focus bold" if key.able else paint.QUIET),
        (f" {key.label} ", "" if key.able else "$quiet dim"),
    )
    return text.stylize(Style.from_meta({"@click": f"screen.{key.action}"})) if key.able else text
