"""The change log that is also the redo journal: a line that is on disk in it is the commit of a command.

A line is appended under the writer lock and brought to disk after it, together with those that others appended
meanwhile (:mod:`workbench.store.settle`). Each line names the last change whose files were complete when it was
appended, and the small file ``.local/applied`` the last one that is complete by now: what comes after it may be
incomplete, and readers show it from the lines. Where that file is missing or stale, the last line tells.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache, lru_cache

import msgspec

from workbench.domain.change import Change
from workbench.domain.schema import TABLES
from workbench.errors import RefusedError, StorageError
from workbench.store.form import canonical, canonical_line
from workbench.store.pending import Pending
from workbench.store.primitives import Tree
from workbench.store.private import names_in, open_seen, read_all
from workbench.store.refusals import explained

FOLDER = "changes"
APPLIED = ".local/applied"
WRITTEN = ".local/written"
_KINDS = frozenset({*TABLES, "packages"})
_APPENDED = ("evidence", "trims", "packages")
_CHUNK = 1 << 16
_MANY = 64
_seen: dict[tuple[int, int, int, int], str] = {}
"""The last change of log files that were looked at, by what the system says of the file: a few at most."""
_SHORT = 1 << 13
"""Bytes of a line up to which what it says is kept: who writes one after the other meets the same lines again."""


@cache
def _decoder() -> msgspec.json.Decoder[Change]:
    return msgspec.json.Decoder(Change)  # made where it is needed: start-up counts


class Position(msgspec.Struct, frozen=True):
    """A place in the journal: all changes before it are complete in the record files."""

    file: str = ""
    offset: int = 0
    last: str | None = None
    """The last change before it."""
    settled: bool = False
    """Nothing stands after it, by the word of the writer that came last."""


class Line(msgspec.Struct, frozen=True):
    """A line that was appended."""

    change: str
    file: str
    start: int
    data: bytes
    entered: bool = False
    """The entry of the file in its folder is known to be on disk."""

    @property
    def end(self) -> int:
        """The size of the file with it."""
        return self.start + len(self.data)


class Placed(msgspec.Struct, frozen=True):
    """A change, and where its line stands."""

    change: Change
    file: str
    start: int
    end: int


class _Applied(msgspec.Struct, frozen=True):
    change: str
    file: str
    size: int
    looked: int = 0
    start: int = -1
    """Where the line of the change begins."""


class _Tail(msgspec.Struct, frozen=True):
    """The end of a journal file."""

    start: int
    """Where the last whole line begins."""
    end: int
    """Where it ends; what follows is torn."""
    change: Change


def _note_in(data: bytes) -> _Applied | None:
    """The note in these bytes; None where it was caught while it was written."""
    try:
        note = msgspec.json.decode(data[8:], type=_Applied)
        return note if int(data[:8], 16) == zlib.crc32(data[8:]) else None
    except (msgspec.DecodeError, ValueError):
        return None


def _is_line_of(line: bytes, note: _Applied) -> bool:
    """Whether these bytes are one line, of the change that a note names."""
    return line.startswith(b"{") and line.endswith(b"\n") and b'"id":"%s"' % note.change.encode() in line


def parse(line: bytes) -> Change | None:
    """The change in a line; None where it holds none, or one that names places where no records lie."""
    try:
        change = _decoder().decode(line)
    except (msgspec.DecodeError, RecursionError):
        return None
    return change if all(map(_sound, (change, *change.taken_in))) else None


def _parsed(line: bytes) -> Change | None:
    if not line:
        return None
    return _known(line) if len(line) <= _SHORT else parse(line)


_known = lru_cache(maxsize=1024)(parse)


def changes_in(data: bytes) -> Iterator[Change]:
    """The changes in whole lines; unreadable ones left out."""
    for line in data.split(b"\n"):
        change = _parsed(line)
        if change is not None:
            yield change


def _sound(change: Change) -> bool:
    """Whether a change stays where records lie: the journal of a copied workspace may be anybody's."""
    for record in change.records:
        if record.kind not in _KINDS or not record.path.startswith(f"{record.kind}/") or not _inside(record.path):
            return False
    return all(
        line.path.split("/")[0] in _APPENDED and line.path.endswith(".jsonl") and _inside(line.path)
        for line in change.appends
    )


def _sound_part(data: bytes) -> bytes:
    """The lines before any NUL: there bytes never reached the disk, and so nothing after it was committed."""
    at = data.find(b"\0")
    return data if at < 0 else data[: data.rfind(b"\n", 0, at) + 1]


def _inside(path: str) -> bool:
    return not {"", ".", ".."} & set(path.split("/")) and "\0" not in path


class Ahead:
    """What the log is ahead of the files by, as the last holder of the lock in this process saw it.

    The next one reads all of it again, and takes in only what is new: others append only. Where anything else became of
    it, it is taken in from the beginning.
    """

    def __init__(self) -> None:
        self.pending = Pending()
        """The changes that are not in the files yet."""
        self._begin: tuple[str, int] | None = None
        self._data = b""

    def read(self, position: Position, *parts: bytes) -> None:
        """Take in what stands in the log from a place on: the sound part of each file."""
        data, known = b"\n".join(parts), self._data
        begin = (position.file, position.offset) if len(parts) == 1 else None
        if begin is None or begin != self._begin or not data.startswith(known):
            self.pending, known = Pending(), b""
        for change in changes_in(data[len(known) :]):
            self.pending.add(change)
        self._begin, self._data = begin, data

    def add(self, change: Change, data: bytes) -> None:
        """A change was appended, as these bytes."""
        self.pending.add(change)
        self._data += data


class Journal:
    """The journal of one workspace folder.

    Args:
        tree: The folder.
        once: The names of the files and the note of what is complete are read once: for the holder of a lock.
    """

    def __init__(self, tree: Tree, *, once: bool = False) -> None:
        self._tree = tree
        self._once = once
        self._names: list[str] | None = None
        self._note: _Applied | None = None

    # Reading: needs no lock and writes nothing.

    def files(self) -> list[str]:
        """Names of the journal's files, oldest first."""
        if self._names is None or not self._once:
            self._names = self._listed()
        return self._names

    def _listed(self) -> list[str]:
        with explained(self._tree.root, FOLDER):
            try:
                with self._tree.folder(FOLDER) as folder:
                    return [name for name in names_in(folder) if name.endswith(".jsonl")]
            except FileNotFoundError:
                return []

    def position(self) -> Position:
        """From where on changes may be incomplete."""
        names, marker = self.files(), self._marker()
        if marker is not None and marker.file in names:
            size = self._size(marker.file)
            if marker.size == size and self._is_last(marker):
                return Position(marker.file, size, marker.change, settled=marker.file == names[-1])
            if marker.size < size and self._stands(marker):
                return Position(marker.file, marker.size, marker.change)
        for index, name in enumerate(reversed(names)):
            tail = self._tail(name)
            if tail is not None:
                if marker is not None and marker.change == tail.change.id:
                    return Position(name, tail.end, tail.change.id)
                settled = tail.change.settled
                if settled is msgspec.UNSET:
                    return Position(name, tail.start, tail.change.after)
                return self._behind(settled, names[: len(names) - index])
        return Position()

    def end(self) -> tuple[str, int]:
        """The last file, and its size: differs after every line that was appended."""
        name = next(reversed(self.files()), "")
        return name, self._size(name) if name else 0

    def _is_last(self, marker: _Applied) -> bool:
        """Whether a file of the size that a note names is the one that it speaks of; looked at once as it is."""
        state = self._state(marker.file)
        known = None if state is None else (state.st_dev, state.st_ino, state.st_mtime_ns, state.st_size)
        if known is None or _seen.get(known) == marker.change:
            return known is not None
        if marker.start >= 0 and not self._stands(marker):
            return False
        if len(_seen) >= _MANY:
            _seen.clear()
        _seen[known] = marker.change
        return True

    def _stands(self, marker: _Applied) -> bool:
        """Whether the change that a note names ends where the note says: another program may have written the file."""
        if not 0 <= marker.start < marker.size:
            return False
        return _is_line_of(self.read(marker.file, marker.start, marker.size - marker.start), marker)

    def _behind(self, settled: str | None, names: list[str]) -> Position:
        """The place behind a change, which is one of the last; the beginning of it all where there is none."""
        for name in reversed(names) if settled else ():
            for start, data in self._ends(name, self._size(name)):
                end = start + len(data)
                for line in reversed(data.split(b"\n")):
                    begin = end - len(line)
                    whole = begin > start or start == 0
                    if whole and (change := parse(line)) is not None and change.id == settled:
                        return Position(name, end + 1, settled)
                    end = begin - 1
        return Position()

    def since(self, position: Position) -> list[Change]:
        """The committed changes from a position on, oldest first; torn and unreadable lines left out."""
        return [change for _, _, data in self._from(position) for change in changes_in(data)]

    def placed(self, position: Position) -> list[Placed]:
        """The same, with where each stands."""
        found: list[Placed] = []
        for name, begin, data in self._from(position):
            size = begin + len(data)
            for line in data.split(b"\n"):
                end = min(begin + len(line) + 1, size)
                change = _parsed(line)
                if change is not None:
                    found.append(Placed(change, name, begin, end))
                begin = end
        return found

    def _from(self, position: Position) -> Iterator[tuple[str, int, bytes]]:
        """The sound part of each file from a position on, with its name and where the part begins."""
        for name in self.files():
            if name >= position.file:
                begin = position.offset if name == position.file else 0
                yield name, begin, _sound_part(self.read(name, begin))

    def read(self, name: str, offset: int = 0, limit: int | None = None) -> bytes:
        """The bytes of one of its files from an offset on; none where there is no such file."""
        with explained(self._tree.root, f"{FOLDER}/{name}"):
            try:
                with self._tree.folder(FOLDER) as folder:
                    descriptor, state = open_seen(name, folder)
            except FileNotFoundError:
                return b""
            try:
                if offset:
                    os.lseek(descriptor, offset, os.SEEK_SET)
                return read_all(descriptor, limit, max(0, state.st_size - offset))
            finally:
                os.close(descriptor)

    def _size(self, name: str) -> int:
        state = self._state(name)
        return 0 if state is None else state.st_size

    def _state(self, name: str) -> os.stat_result | None:
        with explained(self._tree.root, f"{FOLDER}/{name}"):
            try:
                with self._tree.folder(FOLDER) as folder:
                    return os.stat(name, dir_fd=folder, follow_symlinks=False)
            except FileNotFoundError:
                return None

    def _ends(self, name: str, size: int) -> Iterator[tuple[int, bytes]]:
        """The file's end, longer each time until it is all of it, with the offset where it begins."""
        chunk, start = _CHUNK, size
        while start > 0:
            start = max(0, size - chunk)
            yield start, self.read(name, start)[: size - start]
            chunk *= 4

    def _tail(self, name: str) -> _Tail | None:
        """The last line of a file that holds a change; None where none does."""
        for start, data in self._ends(name, self._size(name)):
            end = len(data)
            while end > 0:
                begin = data.rfind(b"\n", 0, end - 1) + 1
                if begin == 0 and start > 0:
                    break  # the line begins further back
                change = parse(data[begin:end])
                if change is not None:
                    return _Tail(start + begin, start + end, change)
                end = begin
        return None

    def _marker(self) -> _Applied | None:
        if self._note is None or not self._once:
            try:
                self._note = _note_in(self._tree.read(APPLIED, 4096) or b"")
            except (StorageError, RefusedError):
                self._note = None  # a shortcut; without it the end of the journal tells
        return self._note

    # Writing: lines by the holder of the writer lock, notes by the one who brings them to disk.

    def open_end(self, ahead: Ahead) -> Position:
        """Cut a torn tail off, and see what the log is ahead of the files by.

        Args:
            ahead: What is known of that; it is all known afterwards.

        Returns:
            From where on changes may be incomplete.
        """
        names, marker = self.files(), self._marker()
        if marker is not None and names[-1:] == [marker.file] and 0 <= marker.start < marker.size:
            # Mostly the note is there and right, and what it says and what follows is had with one look.
            data = self.read(marker.file, marker.start)
            noted, rest = data[: marker.size - marker.start], data[marker.size - marker.start :]
            if len(noted) == marker.size - marker.start and _is_line_of(noted, marker):
                position = Position(marker.file, marker.size, marker.change, settled=not rest)
                ahead.read(position, self._without_torn_end(position, rest))
                return position
        position = self.position()
        if not position.settled:
            self._cut_torn_tail(position)
        ahead.read(position, *(() if position.settled else (data for _, _, data in self._from(position))))
        return position

    def append(self, change: Change, month: str) -> Line:
        """Append a change in one write; it has happened once its line is on disk."""
        # A clock that went back must not begin an older file: the last line of the last file is the last change.
        name = max([f"{month}.jsonl", *self.files()[-1:]])
        data = canonical_line(msgspec.to_builtins(change))
        end = self._tree.append(f"{FOLDER}/{name}", data, durable=False)
        self._names = None
        return Line(change.id, name, end - len(data), data, self.entered(name))

    def entered(self, name: str) -> bool:
        """Whether the entry of a file is known to be on disk: changes in it are noted as complete."""
        marker = self._marker()
        return marker is not None and marker.file == name

    def in_place(self, line: Line) -> bool:
        """Whether a line still stands where it was appended."""
        return self.read(line.file, line.start, len(line.data)) == line.data

    def goes_on(self, line: Line) -> bool:
        """Whether anything stands behind a line in its file."""
        return self._size(line.file) > line.end

    def write_again(self, line: Line) -> None:
        """Give a line that could not be brought to disk to the system once more; nobody may cut it meanwhile."""
        self._tree.write_again(f"{FOLDER}/{line.file}", line.start, line.data)

    def take_back(self, line: Line) -> None:
        """Cut a line off that could not be brought to disk, with all that came after it."""
        for name in self.files():
            if name >= line.file:
                self._tree.cut(f"{FOLDER}/{name}", line.start if name == line.file else 0)

    def _cut_torn_tail(self, position: Position) -> None:
        for name in self.files()[-1:]:
            start = position.offset if name == position.file else 0
            self._without_torn_end(Position(name, start), self.read(name, start))

    def _without_torn_end(self, position: Position, data: bytes) -> bytes:
        """What stands from a place on to the end of a file, once what is torn at its end is cut off."""
        sound = _sound_part(data)
        tail = sound[sound.rfind(b"\n") + 1 :]
        if tail and parse(tail) is None:
            sound = sound[: len(sound) - len(tail)]
        if len(sound) < len(data):
            self._tree.cut(f"{FOLDER}/{position.file}", position.offset + len(sound))
        return sound

    def mark(self, last: Placed, looked: int | None) -> None:
        """Note that all changes up to this one are complete; may be lost without harm.

        Args:
            last: The last change.
            looked: Until when edits of others were looked for; as noted before where they were not.
        """
        looked = self.looked() if looked is None else looked
        note = _Applied(last.change.id, last.file, last.end, looked, last.start)
        data = msgspec.json.encode(note)
        self._write_note(APPLIED, b"%08x%b" % (zlib.crc32(data), data))
        self._note = note

    def _write_note(self, path: str, data: bytes) -> None:
        """Write a note; what is no file and stands in its place is set aside, and in vain is as good as lost."""
        with suppress(RefusedError):
            try:
                self._tree.note(path, data)
            except RefusedError:
                self._tree.set_aside(path, f"{path}.{os.urandom(4).hex()}.moved")
                self._tree.note(path, data)

    def looked(self) -> int:
        """Until when (nanoseconds) edits of others were looked for; 0 where the clock, put back, does not know it."""
        marker = self._marker()
        return 0 if marker is None or marker.looked > time.time_ns() else marker.looked

    def written(self, identifier: str) -> str | None:
        """The hash of a record's bytes as this program last wrote them, where that is known."""
        return self._note_of(identifier).partition(" ")[0] or None

    def notes(self, identifier: str) -> dict[str, str]:
        """The hashes of all records that are noted together with this one, as this program wrote them."""
        return {name: note.partition(" ")[0] for name, note in self._shard(identifier).items()}

    def place_of(self, identifier: str) -> str | None:
        """Where this program last put a record, as far as it noted that: a hint, nothing more."""
        return self._note_of(identifier).partition(" ")[2] or None

    def _note_of(self, identifier: str) -> str:
        return self._shard(identifier, alone=True).get(identifier, "")

    def _shard(self, identifier: str, *, alone: bool = False) -> dict[str, str]:
        """What is noted together with a record; nothing at all where that one is not and ``alone`` is asked for."""
        try:
            data = self._tree.read(f"{WRITTEN}/{identifier[:2]}.json")
            if not data or (alone and b'"%s"' % identifier.encode() not in data):
                return {}
            return msgspec.json.decode(data, type=dict[str, str])
        except (msgspec.DecodeError, StorageError, RefusedError):
            return {}  # a shortcut; without it the log tells

    def remember(self, written: Mapping[str, str | None]) -> None:
        """Note the hashes of records as this program wrote them, each perhaps with the path behind a blank.

        Args:
            written: By id; None for those that went. What is noted may be lost.
        """
        shards: dict[str, dict[str, str]] = {}
        for identifier, note in written.items():
            if identifier[:2] not in shards:
                shards[identifier[:2]] = self._shard(identifier)
            if note is None:
                shards[identifier[:2]].pop(identifier, None)
            else:
                shards[identifier[:2]][identifier] = note
        for name, shard in shards.items():
            self._write_note(f"{WRITTEN}/{name}.json", canonical(shard))
