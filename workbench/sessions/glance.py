"""What the head and the tail of a session file tell, and the index that keeps it from one look to the next.

The index holds no more than can be read again: one that is damaged, or of another version, is an empty one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from workbench.domain.times import instant, stamp
from workbench.sessions.model import FoundSession

VERSION = 1
"""Of what a glance holds and how it is found; an index of another version is read anew."""


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
    inode: int
    beside: str = ""
    """Folder of the files of its sub-agents, where it has one of its own; empty where not."""

    @classmethod
    def of(cls, entry: os.DirEntry[str], beside: str = "") -> Place | None:
        """The file of a folder's entry; None where it is gone or no file."""
        try:
            status = entry.stat()
        except OSError:
            return None
        return cls(entry.path, status.st_size, status.st_mtime_ns, status.st_ino, beside)


Look = Callable[[Place], Glance | None]
"""Reads the two ends of a file; None where it cannot be read."""
_Row = tuple[str, int, int, int, Glance]
_decoder = msgspec.json.Decoder(tuple[int, list[_Row]])


class SessionIndex:
    """Glances by path; one counts as long as size, time and inode of its file are the same."""

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
            (*row[:4], msgspec.structs.replace(row[4], title=keep(row[4].title)))
            for row in self._rows.values()
            if row[0].isprintable()  # a name that is no text has no place in a document
        ]
        return msgspec.json.encode((VERSION, rows))

    def glances(self, places: Iterable[Place], look: Look) -> Iterator[tuple[Place, Glance]]:
        """What each file tells; files whose end and beginning are known as they are now are not opened."""
        for place in places:
            row = self._rows.get(place.path)
            if row is None or row[1:4] != (place.size, place.mtime_ns, place.inode):
                glance = look(place)
                self.looked += 1
                if glance is None:
                    self._rows.pop(place.path, None)
                    continue
                row = (place.path, place.size, place.mtime_ns, place.inode, glance)
                self._rows[place.path] = row
            yield place, row[4]

    def forget_gone(self, paths: set[str]) -> None:
        """Drop files that are no longer there; those in ``paths`` are."""
        gone = [path for path in self._rows.keys() - paths if not Path(path).exists()]
        for path in gone:
            del self._rows[path]
        self.looked += len(gone)


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
    written = place.mtime_ns / 1e9
    return FoundSession(
        agent=glance.agent,
        id=glance.id,
        path=Path(place.path),
        cwd=glance.cwds[-1] if glance.cwds else None,
        title=glance.title,
        size=place.size,
        updated_at=glance.updated_at or stamp(datetime.fromtimestamp(written, UTC)),
        started_at=glance.started_at,
        written=written,
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
