"""The messages of a session as they are at one moment, however long it is and however often it grows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from operator import eq
from typing import overload

from workbench.domain.message import Message

_PIECE = 1 << 10
"""Messages of one piece: few enough that a new last one costs nothing, so many that a session has few pieces."""


class Messages(Sequence[Message]):
    """A picture of a list that grows. Pictures of the same session share the pieces in which nothing changed.

    Args:
        messages: The list as it is now.
        before: An earlier picture of it.
        since: Place of the first message that is new or another since then.
    """

    __slots__ = ("_count", "_pieces")
    __hash__ = None  # type: ignore[assignment]  # equal by their messages, like any sequence

    def __init__(self, messages: Sequence[Message] = (), before: Messages | None = None, since: int = 0) -> None:
        kept = min(since, len(messages), len(before)) // _PIECE if before is not None else 0
        shared = before._pieces[:kept] if before is not None else ()
        places = range(kept * _PIECE, len(messages), _PIECE)
        fresh = (tuple(messages[place : place + _PIECE]) for place in places)
        self._pieces: tuple[tuple[Message, ...], ...] = (*shared, *fresh)
        self._count = len(messages)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> Message: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Message, ...]: ...

    def __getitem__(self, place: int | slice) -> Message | tuple[Message, ...]:
        if isinstance(place, slice):
            return self._cut(place)
        if place < 0:
            place += self._count
        if not 0 <= place < self._count:
            raise IndexError(place)
        return self._pieces[place // _PIECE][place % _PIECE]

    def _cut(self, wanted: slice) -> tuple[Message, ...]:
        start, stop, step = wanted.indices(self._count)
        if step != 1:
            return tuple(self[place] for place in range(start, stop, step))
        if start >= stop:
            return ()
        first, last = start // _PIECE, (stop - 1) // _PIECE
        joined = tuple(chain.from_iterable(self._pieces[first : last + 1]))
        return joined[start - first * _PIECE : stop - first * _PIECE]

    def __iter__(self) -> Iterator[Message]:
        return chain.from_iterable(self._pieces)

    def __reversed__(self) -> Iterator[Message]:
        return chain.from_iterable(map(reversed, reversed(self._pieces)))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Messages):
            return self._pieces == other._pieces
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))

    def __repr__(self) -> str:
        return repr(tuple(self))
