"""What the head and the tail of a session file tell, and the index that keeps it from one look to the next.

The index holds no more than can be read again: one that is damaged, or of another version, is an empty one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from workbench.domain.times import instant, stamp
from workbench.sessions.model import FoundSession
from workbench.sessions.packed import is_there

VERSION = 2
"""Of what a glance holds and how it is found; an index of another version is read anew."""


MOST_READ = 1 << 20
"""Bytes at either end of a file that are read at most, where a record there is long."""
_FEW = 4
"""Records at the end of a file that need not be followed further back, whatever they tell."""
LONGEST = 4096
"""Characters of a folder or an id; a longer one is none."""
MOST_FOLDERS = 32


class Glance(msgspec.Struct, frozen=True, array_like=True, kw_only=True, gc=False):
    """A session as the two ends of its file show it."""

    agent: str
    id: str
    cwds: tuple[str, ...] = ()
    """Folders named at the ends, in order of first sight; the last one is where it is now."""
    title: str = ""
    started_at: str | None = None
    updated_at: str | None = None
    child: bool = False
    """Another session started it as its sub-agent."""
    parent: str | None = None
    """Id of that session, where the file names it."""
    forked_from: str | None = None
    """Id of the session whose history this one began with, where the file names it."""
    root: str = ""
    """Id of the record that its conversation begins with; a session and its forks share it."""
    after: tuple[str, ...] = ()
    """Ids of records that its first ones follow on and that are not at its beginning themselves."""
    cleared: bool = False
    """It begins with the command that ended the conversation before it."""
    context: int | None = None
    """Tokens of the last request that the tail shows."""
    window: int | None = None
    limited_until: str | None = None
    """When a limit that is reached ends: a moment, or the words of the file."""


@dataclass(frozen=True, slots=True)
class Place:
    """A session file, and the state by which it is told whether it changed."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    """When anything of it changed: the time of writing can be set back."""
    inode: int
    beside: str = ""
    """Folder of the files of its sub-agents, where it has one of its own; empty where not."""

    @classmethod
    def of(cls, entry: os.DirEntry[str], beside: str = "") -> Place | None:
        """The file of a folder's entry; None where it is gone or no file."""
        try:
            status = entry.stat()
        except OSError:  # a link that leads nowhere, or round in a circle
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        return cls(entry.path, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, beside)

    @property
    def state(self) -> tuple[int, int, int, int]:
        """By what it is told whether it changed."""
        return self.size, self.mtime_ns, self.ctime_ns, self.inode


Look = Callable[[Place], Glance | None]
"""Reads the two ends of a file; None where it cannot be read."""
_Row = tuple[str, int, int, int, int, Glance]
_decoder = msgspec.json.Decoder(tuple[int, list[_Row]])


class SessionIndex:
    """Glances by path; one counts as long as size, times and inode of its file are the same."""

    def __init__(self, data: bytes = b"") -> None:
        self._rows: dict[str, _Row] = {}
        self.looked = 0
        """Files that were looked at because nothing was known of them as they are, or that went, since the last
        :meth:`encode`.
        """
        try:
            version, rows = _decoder.decode(data) if data else (VERSION, [])
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return
        if version == VERSION:
            self._rows = {row[0]: row for row in rows}

    def encode(self, keep: Callable[[str], str]) -> bytes:
        """The index as bytes; ``keep`` is what may be kept of a title."""
        self.looked = 0
        rows = [
            (*row[:5], msgspec.structs.replace(row[5], title=keep(row[5].title)))
            for row in self._rows.values()
            if row[0].isprintable()  # a name that is no text has no place in a document
        ]
        return msgspec.json.encode((VERSION, rows))

    def glances(self, places: Iterable[Place], look: Look) -> Iterator[tuple[Place, Glance]]:
        """What each file tells; files whose end and beginning are known as they are now are not opened."""
        for place in places:
            row = self._rows.get(place.path)
            if row is None or row[1:5] != place.state:
                glance = look(place)
                self.looked += 1
                if glance is None:
                    self._rows.pop(place.path, None)
                    continue
                row = (place.path, *place.state, glance)
                self._rows[place.path] = row
            yield place, row[5]

    def forget_gone(self, paths: set[str]) -> None:
        """Drop files that are no longer there; those in ``paths`` are."""
        gone = [path for path in self._rows.keys() - paths if not is_there(Path(path))]
        for path in gone:
            del self._rows[path]
        self.looked += len(gone)


def further(descriptor: int, head: bytes, size: int) -> bytes:
    """The head of a file together with the rest of the line in which it breaks off."""
    known = len(head)
    while len(head) < min(size, MOST_READ) and head.find(b"\n", known) < 0:
        more = os.pread(descriptor, min(2 * len(head), MOST_READ), 0)
        if len(more) <= len(head):
            break
        head = more
    return head


def tail_of(descriptor: int, size: int, window: int) -> bytes:
    """Whole lines at the end of a file; further back than ``window`` where none there says when it was written."""
    while True:
        start = max(0, size - window)
        data = os.pread(descriptor, size - start, start)
        lines = data.partition(b"\n")[2] if start else data
        if not start or window >= MOST_READ or b'"timestamp"' in lines or lines.count(b"\n") >= _FEW:
            return lines
        window *= 2


def is_folder(entry: os.DirEntry[str], *, linked: bool = True) -> bool:
    """Whether a folder's entry is a folder, or a link that leads to one where ``linked`` ones count."""
    try:
        return entry.is_dir(follow_symlinks=linked)
    except OSError:  # a link that leads round in a circle
        return False


def of_size(text: object, most: int = LONGEST) -> str | None:
    """A text that is no longer than anything of its kind; None for what is none."""
    return text if isinstance(text, str) and len(text) <= most else None


def found_session(place: Place, glance: Glance, folder: Path | None) -> FoundSession:
    """A session as lists show it.

    Args:
        place: Its file.
        glance: What the file tells.
        folder: Which of the folders that were asked for it worked in.
    """
    return FoundSession(
        agent=glance.agent,
        id=glance.id,
        path=Path(place.path),
        cwd=glance.cwds[-1] if glance.cwds else None,
        title=glance.title,
        size=place.size,
        updated_at=glance.updated_at or stamp(datetime.fromtimestamp(place.mtime_ns / 1e9, UTC)),
        started_at=glance.started_at,
        folder=folder,
        parent=glance.parent,
        forked_from=glance.forked_from,
        root=glance.root,
        after=glance.after,
        cleared=glance.cleared,
        context=glance.context,
        window=glance.window,
        limited_until=glance.limited_until,
    )


def newest_first(found: Iterable[FoundSession]) -> list[FoundSession]:
    """Sessions by when they were last heard of."""
    return sorted(found, key=lambda session: (instant(session.updated_at), session.id), reverse=True)
