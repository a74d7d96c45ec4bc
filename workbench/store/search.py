"""The search index: a cache beneath ``.local/`` that finds texts by their words, and only finds.

What it answers is where to look; whoever asks reads the truth there. It may be missing, stale, torn
or damaged at any time without harm: what it lacks is completed in memory by whoever may not write,
and on disk by whoever may.

SQLite writes its own file, past :mod:`.primitives`: the one exception in the store. It is allowed
because nothing is lost with this file, because it lies where only this machine looks, and because it
is opened for writing by writers alone; a read command opens it for reading. The file is made by
``primitives``, owner-only, and one process at a time brings it up to date.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, compress
from typing import TYPE_CHECKING, TypeVar

from workbench.errors import StorageError, WorkbenchError
from workbench.store.lock import WriterLock
from workbench.store.primitives import Tree
from workbench.store.private import folder_beneath, open_reading
from workbench.store.search_part import Entry, Found, Part, Row

if TYPE_CHECKING:
    import sqlite3

FILE = ".local/search.sqlite"
_LOCK = ".local/search.lock"
_BUSY = 2.0
"""Seconds that a reader waits for a writer's commit."""
T = TypeVar("T")


@dataclass(frozen=True)
class Group:
    """Texts that belong together and change together: a session, a table of records."""

    name: str
    version: object
    """The very object that the texts come from; while it is the same one, nothing changed."""
    stamp: Callable[[], str]
    """Differs whenever the texts do, in any process."""
    entries: Callable[[], Iterable[Entry]]
    """The same ones whenever it is called."""


@dataclass(frozen=True)
class Answers:
    """The best places of a question, and how many there are."""

    total: int
    places: tuple[Found, ...]


class Finder:
    """Asks an index that is up to date."""

    def __init__(self, parts: Sequence[Part], groups: Sequence[str]) -> None:
        self._parts = parts
        self._groups = groups

    def find(self, question: str, limit: int | None = None) -> Answers:
        """Places that match a query of :mod:`.search_words`, newest first; none for an empty one."""
        if not question:
            return Answers(0, ())
        found: dict[tuple[str, str], Found] = {}
        total = 0
        for part in self._parts:
            number, rows = part.find(question, self._groups, limit)
            total += number
            for row in rows:
                found.setdefault((row.group, row.ref), row)
        places = sorted(found.values(), key=lambda place: (place.at, place.place, place.ref), reverse=True)
        return Answers(total if limit is not None else len(places), tuple(places[:limit]))


class SearchIndex:
    """The index of one workspace; may be asked from any thread, one at a time.

    Args:
        tree: The workspace folder.
        read_only: Whether its file may only be read.
    """

    def __init__(self, tree: Tree, *, read_only: bool) -> None:
        self._tree = tree
        self._read_only = read_only
        self._guard = threading.Lock()
        self._disk: Part | None = None
        self._file: tuple[int, int] | None = None
        self._bad: tuple[int, int] | None = None
        self._version = 0
        self._late: Part | None = None
        self._known: dict[str, object] = {}

    def ask(self, groups: Sequence[Group], question: Callable[[Finder], T]) -> T:
        """Bring the index up to date for ``groups`` and put a question to it.

        Args:
            groups: All texts that the question is about.
            question: Called with the finder; perhaps twice, where the file turns out to be damaged.
        """
        import sqlite3

        with self._guard:
            try:
                return question(self._finder(groups))
            except sqlite3.Error:
                self._discard()
            try:
                return question(self._finder(groups))
            except sqlite3.Error:
                self._discard()  # damaged again, or no disk to be had: memory is enough to answer
            try:
                self._late = self._in_memory()
                self._complete(groups, None, self._late)
                return question(Finder((self._late,), [group.name for group in groups]))
            except sqlite3.Error as error:
                raise StorageError(f"no full text search: {error}", "Python's sqlite3 needs FTS5") from error

    def update(self, groups: Sequence[Group], pause: Callable[[], None] = lambda: None) -> bool:
        """Bring the file up to date, in steps; ``pause`` is called between them.

        Returns:
            Whether it was written, or was up to date; False where it may not be, or another process does it.
        """
        import sqlite3

        if self._read_only:
            return False
        with self._guard:
            try:
                self._open()
                return self._write(groups, pause)
            except sqlite3.Error:
                self._discard()
                return False

    def another(self) -> SearchIndex:
        """The same file, opened for itself."""
        return SearchIndex(self._tree, read_only=self._read_only)

    def discard(self) -> None:
        """Remove the file; it is made again when it is needed."""
        with self._guard:
            self._discard()

    def close(self) -> None:
        """Let go of the file."""
        with self._guard:
            self._close()

    def _finder(self, groups: Sequence[Group]) -> Finder:
        self._open()
        self._write(groups, lambda: None)
        stale = [group for group in groups if self._known.get(group.name) is not group.version]
        if stale:
            self._late = self._late or self._in_memory()
            self._complete(stale, self._disk, self._late)
        parts = [part for part in (self._disk, self._late) if part is not None]
        return Finder(parts, [group.name for group in groups])

    def _complete(self, groups: Sequence[Group], disk: Part | None, late: Part) -> None:
        """Put into memory what the file lacks, and hide what it has too much."""
        for group in groups:
            if disk is None or disk.stamp(group.name) != group.stamp() or late.holds(group.name):
                _fit(group, late, disk, lambda: None)
            self._known[group.name] = group.version

    def _write(self, groups: Sequence[Group], pause: Callable[[], None]) -> bool:
        """Bring the file up to date, unless another process is at it."""
        import sqlite3

        if self._disk is None or self._read_only:
            return False
        # No lock where nothing is to be written: a process that only looks must not touch the folder.
        stale = [group for group in groups if self._known.get(group.name) is not group.version]
        behind = [group for group in stale if self._disk.stamp(group.name) != group.stamp()]
        if not behind and self._late is None:
            self._known |= {group.name: group.version for group in stale}
            return True
        try:
            with WriterLock(self._tree, 0.0, _LOCK):
                self._forget_memory()
                if self._disk.wasteful:
                    self._disk.clear()
                for group in groups:
                    if self._disk.stamp(group.name) != group.stamp():
                        _fit(group, self._disk, None, pause)
                    self._known[group.name] = group.version
        except (WorkbenchError, sqlite3.OperationalError):
            return False  # somebody else writes or reads just now, or the disk is full
        return True

    def _forget_memory(self) -> None:
        """What was completed in memory goes to the file now."""
        if self._late is not None:
            self._late.close()
            self._late = None
        if self._disk is not None:
            self._disk.unhide()
        self._known.clear()

    # The file.

    def _open(self) -> None:
        """Open the file, or the one that was put in its place; make it where it is missing and may be made."""
        now = self._identity()
        if self._disk is not None:
            if now == self._file:
                if self._disk.version != self._version:
                    # Another process wrote: what was known of the file has to be looked up again.
                    self._version = self._disk.version
                    self._known.clear()
                return
            self._close()
        if now is None and not self._read_only:
            with suppress(WorkbenchError):  # without the file there is still memory
                self._tree.replace(FILE, b"", durable=False)
            now = self._identity()
        if now is None or now == self._bad:
            return
        self._forget_memory()
        self._file = now
        connection = self._connect()
        part = self._disk = Part(connection)
        if not part.fits():
            if self._read_only:
                self._discard()
                return
            part.make()
        self._version = part.version

    def _connect(self) -> sqlite3.Connection:
        import sqlite3
        from urllib.parse import quote

        mode = "ro" if self._read_only else "rw"
        name = quote(os.fsencode(self._tree.root / FILE))
        connection = sqlite3.connect(
            f"file:{name}?mode={mode}", uri=True, timeout=_BUSY, isolation_level=None, check_same_thread=False
        )
        # Nothing in the file is to run; a temporary table stays in memory.
        for setting in ("trusted_schema=OFF", "temp_store=MEMORY", "synchronous=NORMAL", "cell_size_check=ON"):
            connection.execute(f"PRAGMA {setting}")
        return connection

    def _in_memory(self) -> Part:
        import sqlite3

        part = Part(sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False))
        part.make()
        return part

    def _identity(self) -> tuple[int, int] | None:
        """Which file lies there: an ordinary one, reached through no link."""
        folder, _, name = FILE.rpartition("/")
        with suppress(OSError, WorkbenchError), folder_beneath(self._tree.root, folder) as descriptor:
            file = open_reading(name, descriptor)
            try:
                state = os.fstat(file)
            finally:
                os.close(file)
            return state.st_dev, state.st_ino
        return None

    def _discard(self) -> None:
        """Have nothing more to do with the file: remove it, or, where that may not be, look at it no more."""
        bad = self._file
        self._close()
        if self._read_only:
            self._bad = bad
        else:
            for ending in ("", "-journal"):
                with suppress(WorkbenchError):
                    self._tree.remove(FILE + ending, sync_folder=False)

    def _close(self) -> None:
        for part in (self._disk, self._late):
            if part is not None:
                part.close()
        self._disk, self._late, self._file = None, None, None
        self._known.clear()

    def __del__(self) -> None:
        self._close()


def _fit(group: Group, target: Part, below: Part | None, pause: Callable[[], None]) -> None:
    """Make ``target`` hold exactly what the group holds, less what ``below`` has of it already."""
    stored = target.each(group.name)
    under = below.rows(group.name) if below is not None else {}
    there: dict[str, Row] = {}
    # What only grew is there in the same order from its beginning on: that much need not be held to be compared.
    alike = below is None
    if not alike:
        there = dict(stored)
    # Noted one byte each, and asked for again when they are put in: there may be hundreds of thousands.
    fresh = bytearray()
    for entry in group.entries():
        if alike:
            first = next(stored, None)
            if first is not None and first[0] == entry.ref and first[1].mark == entry.mark:
                fresh.append(False)
                continue
            alike, there = False, dict(stored if first is None else chain((first,), stored))
        known = next((rows for rows in (under, there) if (r := rows.get(entry.ref)) and r.mark == entry.mark), None)
        if known is not None:
            del known[entry.ref]
        fresh.append(known is None)
    there |= stored  # those behind the last entry
    if below is not None:
        below.hide(row.number for row in under.values())
    gone = [row.number for row in there.values()]
    under.clear()
    there.clear()
    target.put(group.name, compress(group.entries(), fresh), gone, group.stamp(), pause)
