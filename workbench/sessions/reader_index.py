"""What readers know of long session files, kept in the user's cache folder: opened again, only what is new is read.

One file a session: a header, the log's place in the file, the messages in pieces, the reader's memory, the tokens.
It counts only where it was written by these very readers and the session file is the one it was made from, with
nothing but more at its end; anything else, and any damage, is as if it were not there. It can always be made again,
so nothing waits for the disk.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import struct
import sys
import time
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import get_ident
from typing import Any, BinaryIO, NamedTuple

import msgspec
from msgspec.structs import force_setattr as complete

from workbench.domain.message import Message
from workbench.sessions.bulk import numbers, shared, undisturbed
from workbench.sessions.follow import SessionLog

LEAST = 1 << 20
"""Bytes of a session file that are worth it; less is read as quickly."""
UNSAVED = 128 << 10
"""Bytes that may be read a second time at the next start."""
SHARE = 64
"""While a session is followed, it is kept again once a part of so many is new."""
MOST = 2 << 30
"""Bytes of all these files together; the ones that were used longest ago go first."""
_FOLDER = "readers"
_FRAME = struct.Struct("<QI")
_ABANDONED = 3600.0
"""Seconds after which a file that is being written has lost its writer."""
_PIECE = 4096
"""Messages that are written at once."""
_OURS = ("workbench.sessions.", "workbench.domain.")
_OTHERS = {
    ("array", "_array_reconstructor"),
    ("array", "array"),
    ("builtins", "bytearray"),
    ("functools", "partial"),
    ("msgspec", "Raw"),
    ("msgspec._core", "rebuild"),
}
_BAD = (
    OSError,
    EOFError,
    pickle.PickleError,
    AttributeError,
    ImportError,
    IndexError,
    KeyError,
    MemoryError,
    TypeError,
    ValueError,
    RecursionError,
    struct.error,
)
"""What a damaged file may raise."""


_UNFIT = (pickle.PickleError, RecursionError, TypeError, AttributeError)
"""What a log may know that cannot be kept."""


class Known(NamedTuple):
    """What a log knew of its file at one moment."""

    session: Path
    agent: str
    place: dict[str, Any]
    messages: list[Message]
    memory: bytes
    tokens: bytes


def known_of(log: SessionLog, tokens: array[int]) -> Known | None:
    """What a log knows now; None where it cannot be kept. The log must stand still as long as this takes."""
    place = log.place()
    if place is None:
        return None
    try:
        return Known(log.path, log.agent, place, list(log.messages), pickle.dumps(log.memory(), 5), tokens.tobytes())
    except _UNFIT:
        return None


class ReaderIndex:
    """The kept readers in one folder. Where it cannot be written, nothing is kept, and nobody is told."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / _FOLDER

    def restore(self, log: SessionLog) -> array[int]:
        """Let a log that has read nothing know what is kept of its file.

        Returns:
            Tokens by message as far as they were kept.
        """
        path = self._path(log.path)
        try:
            if log.path.stat().st_size < LEAST:
                return array("i")
            with path.open("rb", buffering=1 << 18) as file, undisturbed(True):
                return self._read(file, log)
        except FileNotFoundError:
            return array("i")
        except _BAD:
            log.forget()
            return array("i")

    def _read(self, file: BinaryIO, log: SessionLog) -> array[int]:
        frames = _frames(file)
        if next(frames) != _stamp(log.agent):
            return array("i")
        place = _load(next(frames))
        if not log.continues(place):
            return array("i")
        messages: list[Any] = []
        for _ in range(place["pieces"]):
            piece = _load(next(frames))
            # Each piece brings numbers of its own; who counts messages, turns or tokens shares one of each.
            had, turns = len(messages), shared([message.turn for message in piece])
            number = numbers(had + len(piece))
            many = len(number)
            for message, seq, turn in zip(piece, number[had:], turns, strict=False):
                complete(message, "seq", seq)
                complete(message, "turn", turn)
                if (size := message.size) < many:
                    complete(message, "size", number[size])
                if (usage := message.usage) is not None:
                    if 0 <= (count := usage.input) < many:
                        complete(usage, "input", number[count])
                    if 0 <= (count := usage.cache_read) < many:
                        complete(usage, "cache_read", number[count])
            messages += piece
        memory = _load(next(frames))
        tokens = array("i")
        tokens.frombytes(next(frames))
        log.recall(place, memory, messages)
        with suppress(OSError):
            os.utime(file.fileno())
        return tokens

    def save(self, log: SessionLog, tokens: array[int]) -> None:
        """Keep what a log knows of its file."""
        known = known_of(log, tokens)
        if known is not None:
            self.write(known)

    def write(self, known: Known, pause: Callable[[], None] = lambda: None) -> None:
        """Keep what a log knew of its file, in pieces; the log may go on meanwhile.

        Args:
            known: What it knew.
            pause: Called before each piece; what it raises leaves what was kept before.
        """
        path = self._path(known.session)
        new = path.with_name(f"{path.name}.{os.getpid()}-{get_ident()}.new")
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb") as file:
                messages = known.messages
                starts = range(0, len(messages), _PIECE)
                _put(file, _stamp(known.agent))
                _put(file, pickle.dumps(known.place | {"pieces": len(starts)}, 5))
                for start in starts:
                    pause()
                    _put(file, pickle.dumps(messages[start : start + _PIECE], 5))
                _put(file, known.memory)
                _put(file, known.tokens)
            new.replace(path)
            self._prune(path)
        except (OSError, *_UNFIT):
            pass
        finally:
            with suppress(OSError):
                new.unlink()

    def kept(self, sessions: Iterable[Path]) -> list[Path]:
        """The files here that are kept of certain session files."""
        return sorted(path for session in sessions if (path := self._path(session)).exists())

    def _path(self, session: Path) -> Path:
        name = hashlib.sha256(os.fsencode(session.absolute())).hexdigest()[:32]
        return self._folder / f"{name}.reader"

    def _prune(self, fresh: Path) -> None:
        """Remove what was used longest ago until all fits, and what a process left behind that was killed."""
        with os.scandir(self._folder) as entries:
            files = [(entry.stat(follow_symlinks=False), Path(entry.path)) for entry in entries]
        total = sum(status.st_size for status, _ in files)
        old = time.time() - _ABANDONED
        for status, path in sorted(files, key=lambda row: row[0].st_mtime_ns):
            if path != fresh and (total > MOST or (path.suffix == ".new" and status.st_mtime < old)):
                path.unlink(missing_ok=True)
                total -= status.st_size


@cache
def _stamp(agent: str) -> bytes:
    """Says by which readers, on which Python, a file was written; another one's is not looked at further."""
    here = Path(__file__).parent
    sources = [*sorted(here.rglob("*.py")), here.parent / "domain" / "message.py"]
    states = [(path.name, (s := path.stat()).st_size, s.st_mtime_ns) for path in sources]
    return repr((sys.version_info[:3], msgspec.__version__, agent, states)).encode()


def _put(file: BinaryIO, data: bytes) -> None:
    file.write(_FRAME.pack(len(data), zlib.crc32(data)))
    file.write(data)


def _frames(file: BinaryIO) -> Iterator[bytes]:
    while head := file.read(_FRAME.size):
        size, check = _FRAME.unpack(head)
        if size > MOST:
            raise ValueError("no frame")
        data = file.read(size)
        if len(data) != size or zlib.crc32(data) != check:
            raise ValueError("damaged")
        yield data
    raise EOFError


class _Unpickler(pickle.Unpickler):
    """Makes nothing but what readers are made of, whoever may have written the file."""

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name) if module.startswith(_OURS) or (module, name) in _OTHERS else None
        own = isinstance(found, type) or getattr(found, "__name__", "") == "outcome"
        if found is None or not (own or (module, name) in _OTHERS):
            raise pickle.UnpicklingError(f"{module}.{name}")
        return found


def _load(data: bytes) -> Any:
    return _Unpickler(io.BytesIO(data)).load()
