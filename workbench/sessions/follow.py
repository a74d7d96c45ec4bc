"""Following one session file: what is new is read, what was read stays, what was rewritten is read again."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO

from workbench.domain.message import Message
from workbench.errors import StorageError
from workbench.sessions.bulk import undisturbed
from workbench.sessions.model import Format, Reader, Refresh, SessionInfo
from workbench.sessions.packed import UNPACKED_LIMIT, Source, Unpacked, is_packed, present
from workbench.sessions.sketch import Sketch

CHUNK = 3 << 17
"""Bytes read at a time; with much more, a chunk and its lines no longer fit the processor's cache."""
LINE_LIMIT = 64 << 20
"""Longest line that is read; a longer one is skipped and counted."""
OUTSIDE_LIMIT = 16 << 20
"""Bytes read of an output that lies in a file of its own."""
_BULK = 4 << 20
"""Bytes that are many to be read at once."""
_ATTEMPTS = 4
"""A reader learns late at most two things; more readings than this would mean that it never settles."""
_Status = tuple[int, int, int, int, int]
"""Device, inode, size, and when a file was written and changed."""


class SessionLog:
    """A session file and the messages in it; owned by one thread.

    Two offsets are kept: how far the file was read, and where the line begins that is not finished
    yet. A last line that is complete but for its newline counts already; should it go on otherwise
    than with a newline, the file is read again.
    """

    def __init__(
        self, path: Path, form: Format, *, chunk: int = CHUNK, line_limit: int = LINE_LIMIT, until: int | None = None
    ) -> None:
        self.path = path
        self._until = until
        self._reader: Reader = form.reader(path)
        self._form = form
        # A line within one chunk is never too long, so only those that are joined need to be measured.
        self._chunk = min(chunk, line_limit)
        self._line_limit = line_limit
        self._seen: _Status | None = None
        self._packed = False
        self._recalled = False
        """Whether it knows messages that no look at the file has told of yet."""
        self._rewind()

    def _rewind(self) -> None:
        self._offset = 0
        self._line_start = 0
        self._held = bytearray()
        """The line that is not finished yet."""
        self._pending = 0
        self._skipping = False
        self._provisional = False
        self._sketch = Sketch()
        """By which what was read is known again."""

    @property
    def messages(self) -> Sequence[Message]:
        """The messages so far; it grows, so take ``tuple()`` of it for a picture."""
        return self._reader.messages

    @property
    def info(self) -> SessionInfo:
        """What is known of the session so far."""
        return self._reader.info(self.path, 0 if self._provisional else self._pending)

    def refresh(self) -> Refresh:
        """Read what is new; the first call reads the file.

        A file that is gone leaves everything as it was.

        Raises:
            StorageError: The file is there and cannot be read.
        """
        path = present(self.path)
        try:
            with path.open("rb", buffering=0) as file:
                return self._look(file, path)
        except FileNotFoundError:
            return Refresh()
        except OSError as error:
            raise StorageError(f"cannot read {path}: {error.strerror}", "check its permissions") from error

    def _look(self, file: FileIO, path: Path) -> Refresh:
        seen = _status(file)
        size = seen[2]
        if seen == self._seen:
            if not self._recalled:
                return Refresh()
            self._recalled = False
            return Refresh(appended=len(self._reader.messages))
        packed = is_packed(path)
        replaced = self._seen is not None and (packed or self._packed or not self._continues(file, seen))
        self._seen, self._packed = seen, packed
        recalled, self._recalled = self._recalled, False
        had = 0 if recalled else len(self._reader.messages)
        if replaced:
            self._restart(self._form.reader(self.path))
        again = replaced
        for _attempt in range(_ATTEMPTS):
            file.seek(0 if packed else self._offset)
            source, end = (Unpacked(file, path), UNPACKED_LIMIT) if packed else (file, size)
            with undisturbed(size - self._offset > _BULK):
                whole = self._read(source, end if self._until is None else min(end, self._until))
            if whole and not self._reader.stale:
                break
            self._restart(self._reader.renewed())
            again = True
        if not packed and self._until is None:
            self._sketch = self._sketch.grown(file.fileno(), self._offset)
        self._reader.settle()
        now = len(self._reader.messages)
        changed, first = self._reader.replaced()
        if again and (had or recalled):
            return Refresh(appended=now, reset=True)
        return Refresh(appended=now - had, changed=changed if had else 0, since=min(had, first))

    # What an index of readers keeps, see :mod:`workbench.sessions.reader_index`.

    @property
    def agent(self) -> str:
        """Whose format it is."""
        return self._form.agent

    @property
    def read_to(self) -> int:
        """Bytes of the file that were read."""
        return self._offset

    def place(self) -> dict[str, Any] | None:
        """Where it stands in its file, and by what that file is told; None where nothing can be kept."""
        if self._seen is None or self._until is not None:
            return None
        names = ("_seen", "_packed", "_sketch", "_offset", "_line_start", "_pending", "_skipping", "_provisional")
        return {name: getattr(self, name) for name in names}

    def memory(self) -> dict[str, Any]:
        """What its reader knows besides the messages."""
        return self._reader.memory()

    def continues(self, place: dict[str, Any]) -> bool:
        """Whether the file is still the one in which another log stood there, with nothing but more at its end."""
        path = present(self.path)
        if place["_packed"] != is_packed(path) or self._seen is not None:
            return False
        with path.open("rb", buffering=0) as file:
            seen = _status(file)
            if seen == place["_seen"]:
                return True
            grew = not place["_packed"] and _grew(place["_seen"], seen)
            return grew and bool(place["_sketch"].holds(file.fileno(), thorough=True))

    def recall(self, place: dict[str, Any], memory: dict[str, Any], messages: list[Message]) -> None:
        """Stand where another log of the same file stood, with what its reader knew.

        Raises:
            OSError: The file cannot be read.
        """
        if place["_pending"] and not place["_skipping"] and not place["_packed"]:
            with present(self.path).open("rb", buffering=0) as file:
                start = place["_line_start"]
                held = bytearray(os.pread(file.fileno(), place["_offset"] - start, start))
        else:
            held = bytearray()
        self._reader.recall(memory, messages)
        for name in place.keys() - {"pieces"}:
            setattr(self, name, place[name])
        self._held = held
        self._recalled = True

    def forget(self) -> None:
        """Know nothing, as before the first look."""
        self._restart(self._form.reader(self.path))
        self._seen, self._packed, self._recalled = None, False, False

    def _restart(self, reader: Reader) -> None:
        self._reader = reader
        self._rewind()

    def _continues(self, file: BinaryIO, seen: _Status) -> bool:
        """Whether the file is still the one that was read, with more at its end."""
        if self._seen is None or not _grew(self._seen, seen):
            return False
        return self._recalled or self._sketch.holds(file.fileno())  # recalled, it was looked at just now

    def _read(self, file: Source, size: int) -> bool:
        """Read up to ``size``; False where a line that counted as complete went on."""
        buffer = bytearray(min(self._chunk, max(size - self._offset, 0)))
        view = memoryview(buffer)
        while self._offset < size:
            count = file.readinto(view[: size - self._offset])
            if not count:
                break
            chunk, begin = (buffer, 0) if not self._provisional else self._confirm(bytes(view[:count]))
            if chunk is None:
                return False
            if begin < count:
                self._cut(chunk, begin, count)
            if self._reader.stale:
                return False
        self._close()
        return True

    def _confirm(self, chunk: bytes) -> tuple[bytes | None, int]:
        """Where goes on what follows the line that was taken without its newline; None where it went on with more."""
        newline = chunk.find(b"\n")
        head = chunk if newline < 0 else chunk[:newline]
        if head.strip(b" \t\r"):
            return None, 0
        if newline < 0:
            self._offset += len(chunk)
            self._pending += len(chunk)
            return b"", len(chunk)
        self._provisional = False
        self._held, self._pending = bytearray(), 0
        self._offset += newline + 1
        self._line_start = self._offset
        return chunk, newline + 1

    def _cut(self, chunk: bytes | bytearray, begin: int, end: int) -> None:
        """Split what lies between ``begin`` and ``end`` at newlines, joining the first piece to the unfinished line.

        The reader is given pieces of the chunk as they lie there: most of them are decoded and never copied.
        """
        view = memoryview(chunk)
        base = self._offset - begin
        self._offset += end - begin
        newline = chunk.find(b"\n", begin, end)
        if newline >= 0 and (self._held or self._skipping):
            self._hold(view[begin:newline])
            if self._skipping:
                self._reader.skip()
            else:
                self._reader.feed([memoryview(self._held)], self._line_start)
            self._held, self._pending, self._skipping = bytearray(), 0, False
            begin = newline + 1
            self._line_start = base + begin
            newline = chunk.find(b"\n", begin, end)
        lines: list[bytes | memoryview] = []
        start = begin
        while newline >= 0:
            lines.append(view[start:newline])
            start = newline + 1
            newline = chunk.find(b"\n", start, end)
        if lines:
            self._reader.feed(lines, base + begin)
            self._line_start = base + start
        self._hold(view[start:end])

    def _hold(self, piece: memoryview) -> None:
        if piece and not self._skipping:
            self._held += piece
            self._pending += len(piece)
            if self._pending > self._line_limit:
                self._held, self._skipping = bytearray(), True

    def _close(self) -> None:
        """Take a last line that lacks nothing but its newline."""
        if self._provisional or not self._held or bytes(self._held[-1:]).strip() not in (b"}", b""):
            return
        line = bytes(self._held)
        if line.rstrip().endswith(b"}") and self._reader.complete(line):
            self._reader.feed([line], self._line_start)
            self._provisional = True

    def body(self, message: Message) -> str:
        """The whole text of a message: what memory holds, or read again from the file where that is only a part.

        Where those bytes are gone from disk, the part is what remains.
        """
        raw = message.raw
        external = message.result.external if message.result is not None else None
        if external is not None and (whole := self._outside(external)) is not None:
            return whole
        if not message.clipped or raw is None:
            return message.text
        path = present(self.path)
        try:
            with path.open("rb", buffering=0) as file:
                line = _piece(file, path, raw.start, raw.end)
        except (OSError, StorageError):
            return message.text
        whole = self._reader.whole(line, message)
        return message.text if whole is None else whole

    def _outside(self, name: str) -> str | None:
        """An output that lies in a file beside the session; None where there is no such file."""
        path = self._form.outside(self.path, name)
        if path is None:
            return None
        try:
            with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    return None
                return file.read(OUTSIDE_LIMIT).decode("utf-8", "replace")
        except OSError:
            return None

    def as_of(self, end: int) -> SessionLog:
        """The session as it was when its file held ``end`` bytes: read anew up to there, with the same ids."""
        past = SessionLog(self.path, self._form, line_limit=self._line_limit, until=end)
        past.refresh()
        return past

    def given(self) -> Sequence[tuple[str, str]]:
        """What the file holds of all that stands before the conversation: names and texts; mostly it holds nothing."""
        try:
            return self._form.given(self.path)
        except (OSError, StorageError):
            return ()

    def children(self, known: SessionInfo | None = None) -> list[Path]:
        """The files of the session's sub-agents, as far as it was read; ``known`` is its info, where there is one."""
        return self._form.children(self.path, (known or self.info).children)


def _status(file: BinaryIO) -> _Status:
    status = os.fstat(file.fileno())
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _grew(before: _Status, now: _Status) -> bool:
    """Whether a file may be the same with more at its end; changed in any other way, nothing tells what of it is new.

    Its time of writing can be set back, the time of the last change to it cannot.
    """
    return now[:2] == before[:2] and now[2] > before[2]


def _piece(file: BinaryIO, path: Path, start: int, end: int) -> bytes:
    """Bytes ``start`` to ``end`` of a session's content."""
    if not is_packed(path):
        return os.pread(file.fileno(), end - start, start)
    content = Unpacked(file, path)
    content.skip(start)
    pieces = []
    while start < end and (data := content.read(end - start)):
        pieces.append(data)
        start += len(data)
    return b"".join(pieces)
