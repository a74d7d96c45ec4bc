"""The prompt: packed items as Markdown for an agent, with nothing in it that could act as anything but text."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from workbench.compiler.frame import Filled, Frame
from workbench.compiler.layout import Group, Piece


def render(
    pieces: Iterable[Piece], frame: Frame, fence: str, snapshot: str, possible: Collection[str], *, long: bool
) -> str:
    """The text of a package.

    Args:
        pieces: Of all carried items; of several for one slot the last stands.
        frame: The fixed text.
        fence: Marks data; it occurs in none of the pieces.
        snapshot: The id that the first line carries.
        possible: Sections that would be filled with more room.
        long: Whether the fixed text has its long form.
    """
    sections: dict[str, list[Piece]] = {}
    for piece in _without_replaced(pieces):
        if long or not piece.long_only:
            sections.setdefault(piece.section, []).append(piece)
    filled = Filled(sections.keys(), possible)
    out = [frame.first_line(snapshot)]
    for section in frame.sections(long=long):
        if section == "last":
            out.append(frame.empty_line(filled, long=long))
        out.append(frame.heading(section, filled, long=long))
        out.extend(_section(sections.get(section, []), fence))
    return "".join(out)


def _without_replaced(pieces: Iterable[Piece]) -> list[Piece]:
    slots: dict[str, int] = {}
    kept: list[Piece] = []
    for piece in pieces:
        if piece.slot in slots:
            kept[slots[piece.slot]] = piece
            continue
        if piece.slot:
            slots[piece.slot] = len(kept)
        kept.append(piece)
    return kept


def _section(pieces: list[Piece], fence: str) -> Iterable[str]:
    above: tuple[Group, ...] = ()
    for piece in sorted(pieces, key=lambda p: p.order):
        shared = 0
        while shared < min(len(above), len(piece.groups)) and above[shared].key == piece.groups[shared].key:
            shared += 1
        yield from (group.closing(fence) for group in reversed(above[shared:]))
        yield from (group.opening(fence) for group in piece.groups[shared:])
        yield piece.text
        above = piece.groups
    yield from (group.closing(fence) for group in reversed(above))
