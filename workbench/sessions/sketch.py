"""By what a file is told that was read up to some place: all of a short one, evenly spread blocks of a long one.

Looking again costs no more for a long file than for a short one; once a start, somewhat longer ones are compared whole.
"""

from __future__ import annotations

import os
import zlib
from typing import NamedTuple

BLOCK = 1 << 10
"""Bytes of one block."""
MOST = 128
"""Blocks at most; a file that is no longer than all of them together is known byte by byte."""
WHOLE = 4 << 20
"""Bytes up to which all of a file is compared where that is done once, at the start."""
_END = 4 << 10
"""Bytes before the end that are always known."""


class Sketch(NamedTuple):
    """What stood in a file before ``end``: checksums of blocks at every multiple of ``step``, and of the last bytes."""

    end: int = 0
    step: int = BLOCK
    blocks: tuple[int, ...] = ()
    last: int = 0
    whole: int = 0
    """Checksum of all of it, as long as it is no longer than :data:`WHOLE`."""

    def holds(self, descriptor: int, *, thorough: bool = False) -> bool:
        """Whether all of that stands there still; ``thorough`` compares whole what can be."""
        if thorough and self.end <= WHOLE:
            return zlib.crc32(os.pread(descriptor, self.end, 0)) == self.whole
        if _last(descriptor, self.end) != self.last:
            return False
        return _blocks(descriptor, 0, len(self.blocks), self.step) == self.blocks

    def grown(self, descriptor: int, end: int) -> Sketch:
        """The sketch of the same file up to a later end; only what is new of it is read."""
        step, blocks = self.step, self.blocks
        while _count(end, step) > MOST:
            step, blocks = step * 2, blocks[::2]
        blocks += _blocks(descriptor, len(blocks), _count(end, step), step)
        whole = zlib.crc32(os.pread(descriptor, end - self.end, self.end), self.whole) if end <= WHOLE else 0
        return Sketch(end, step, blocks, _last(descriptor, end), whole)


def _count(end: int, step: int) -> int:
    """Whole blocks before ``end``."""
    return (end - BLOCK) // step + 1 if end >= BLOCK else 0


def _blocks(descriptor: int, first: int, end: int, step: int) -> tuple[int, ...]:
    if step == BLOCK:  # they lie side by side
        data = os.pread(descriptor, (end - first) * BLOCK, first * BLOCK)
        return tuple(zlib.crc32(data[start : start + BLOCK]) for start in range(0, len(data), BLOCK))
    return tuple(zlib.crc32(os.pread(descriptor, BLOCK, number * step)) for number in range(first, end))


def _last(descriptor: int, end: int) -> int:
    size = min(_END, end)
    return zlib.crc32(os.pread(descriptor, size, end - size))
