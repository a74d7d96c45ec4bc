"""Session files that their agent has compressed: the same lines behind another name.

Codex packs conversations that lay still for a week as ``NAME.jsonl.zst``, removes the plain file, and writes it
again before it goes on with one. While both are there, the plain one counts.
"""

from __future__ import annotations

import stat
import sys
from pathlib import Path
from typing import BinaryIO, Protocol

from workbench.errors import StorageError

ENDING = ".zst"
UNPACKED_LIMIT = 4 << 30
"""Bytes of content that are unpacked; a small file can be made to claim any size."""
_WINDOW = 1 << 27
"""Largest window of the compression, and so what unpacking may take of memory."""


class Source(Protocol):
    """What lines are read from."""

    def readinto(self, view: memoryview, /) -> int | None:
        """Put at most as many bytes there as it takes; returns how many: none at the end."""
        ...


class _Stream(Protocol):
    def read(self, size: int, /) -> bytes: ...


def is_packed(path: Path) -> bool:
    """Whether a name is that of a compressed file."""
    return path.name.endswith(ENDING)


def other_form(path: Path) -> Path:
    """The name that the same session has in its other form."""
    return path.with_name(path.name.removesuffix(ENDING) if is_packed(path) else path.name + ENDING)


def is_there(path: Path) -> bool:
    """Whether a path leads to a file; what cannot even be looked at is none."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def present(path: Path) -> Path:
    """The file that holds the session now: the plain form where it is there, else the packed one, else ``path``."""
    for form in sorted((path, other_form(path)), key=is_packed):
        if is_there(form):
            return form
    return path


class Unpacked:
    """The content of a compressed file, from its beginning."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._path = path
        self._left = UNPACKED_LIMIT
        self._stream, self._error = _open(file)

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes; none at the end.

        Raises:
            StorageError: The file is damaged, or is none of its kind.
        """
        try:
            data = self._stream.read(min(size, self._left))
        except self._error as error:
            raise StorageError(f"cannot unpack {self._path}: {error}", "it is damaged, or no zstd file") from error
        if not data and self._left == UNPACKED_LIMIT:
            # A file that breaks off in its first block gives nothing, and no error either.
            raise StorageError(f"cannot unpack {self._path}: nothing in it", "it is cut off, or no zstd file")
        self._left -= len(data)
        return data

    def readinto(self, view: memoryview, /) -> int:
        """Put at most as many bytes there as it takes; returns how many: none at the end."""
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def skip(self, count: int) -> None:
        """Go on by ``count`` bytes."""
        while count > 0 and (data := self.read(min(count, 1 << 20))):
            count -= len(data)


def _open(file: BinaryIO) -> tuple[_Stream, type[Exception]]:
    # Only here, so that nobody pays for it who has no such file.
    if sys.version_info >= (3, 14):
        from compression import zstd

        options = {zstd.DecompressionParameter.window_log_max: _WINDOW.bit_length() - 1}
        return zstd.ZstdFile(file, options=options), zstd.ZstdError
    import zstandard

    reader = zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(file, read_across_frames=True)
    return reader, zstandard.ZstdError
