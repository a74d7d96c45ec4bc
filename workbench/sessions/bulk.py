"""Making objects by the hundred thousand without the garbage collector walking them again and again."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

_MMAP_THRESHOLD = -3
"""What ``mallopt`` calls it."""
_LARGE = 1 << 18
"""Bytes of a large piece."""
_ARENA_MAX = -8
"""What ``mallopt`` calls how many heaps there may be."""
_NUMBERS: list[int] = []
V = TypeVar("V")


def numbers(count: int) -> list[int]:
    """The numbers below ``count`` and perhaps more: each one object, whoever counts messages or records with it."""
    if len(_NUMBERS) < count:
        _NUMBERS.extend(range(len(_NUMBERS), count + count // 8))
    return _NUMBERS


def shared(values: Sequence[int]) -> list[int]:
    """The same values, those that are not negative as the objects of :func:`numbers`."""
    number = numbers(max(values, default=-1) + 1)
    return [number[value] if value >= 0 else value for value in values]


def index_of(pairs: Iterable[tuple[str, V]]) -> dict[str, V]:
    """A dictionary by id that keeps the hash beside each key.

    One that has only ever had strings for keys does not, and has to look into the strings themselves at every look-up
    and whenever it grows: they lie all over the memory, and that is what a look-up costs.
    """
    index: dict[Any, Any] = {None: None}
    del index[None]
    index.update(pairs)
    return index


@contextmanager
def undisturbed(many: bool) -> Iterator[None]:
    """Keep the collector away while ``many`` objects are made, none of which is garbage, and from them for good.

    They go when nothing refers to them any more, as everything does; only rings among them would stay, and there
    are none.
    """
    if not many or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def keep_little() -> None:
    """Let the C library have large pieces of memory from the system, and give each back as soon as it is free.

    Otherwise it takes the size of what was freed for the size from which on that is worth it, and soon never does.
    Smaller pieces come from the heaps that there are, whichever thread asks: each keeps what only it could use again.
    """
    with suppress(OSError, AttributeError, TypeError):
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, _LARGE)
        library.mallopt(_ARENA_MAX, 1)


def leave_alone() -> None:
    """Let the collector walk no more what is there now and stays: that would hold up everything, again and again."""
    gc.collect()
    gc.freeze()


def give_back() -> None:
    """Let the system have the memory that much work left behind; some C libraries keep it for ever otherwise."""
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
