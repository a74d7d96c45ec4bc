"""The change log that is also the redo journal: appending a line to it is the commit of a command.

A writer completes what its predecessor left before it appends a line of its own. So at most the last
committed change can be incomplete, and a reader needs to look at no more than that one; the small file
``.local/applied`` says that even the last one is complete. Where that file is missing or stale, the
hashes of the records tell: a file that still has the bytes from before the change was not written yet.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

import msgspec

from workbench.domain.change import Change, RecordChange
from workbench.domain.schema import TABLES
from workbench.errors import RefusedError
from workbench.store.form import canonical, canonical_line, digest
from workbench.store.primitives import Tree
from workbench.store.private import folder_beneath, names_in, open_reading, read_all, read_beneath
from workbench.store.refusals import explained

FOLDER = "changes"
APPLIED = ".local/applied"
WRITTEN = ".local/written"
_KINDS = frozenset({*TABLES, "packages"})
_APPENDED = ("evidence", "trims", "packages")
_CHUNK = 1 << 16
_decoder = msgspec.json.Decoder(Change)


@dataclass(frozen=True)
class Position:
    """A place in the journal: all changes before it are complete in the record files."""

    file: str = ""
    offset: int = 0
    last: str | None = None
    """The last change before it."""
    settled: bool = False
    """Nothing stands after it, by the word of the writer that came last."""


class _Applied(msgspec.Struct, frozen=True):
    change: str
    file: str
    size: int
    looked: int = 0


@dataclass(frozen=True)
class _Tail:
    """The end of a journal file."""

    start: int
    """Where the last whole line begins."""
    end: int
    """Where it ends; what follows is torn."""
    change: Change


def parse(line: bytes) -> Change | None:
    """The change in a line; None where it holds none, or one that names places where no records lie."""
    try:
        change = _decoder.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return None
    return change if all(map(_sound, (change, *change.taken_in))) else None


def _sound(change: Change) -> bool:
    """Whether a change stays where records lie: the journal of a copied workspace may be anybody's."""
    for record in change.records:
        if record.kind not in _KINDS or not record.path.startswith(f"{record.kind}/") or not _inside(record.path):
            return False
    return all(
        line.path.split("/")[0] in _APPENDED and line.path.endswith(".jsonl") and _inside(line.path)
        for line in change.appends
    )


def _inside(path: str) -> bool:
    return not {"", ".", ".."} & set(path.split("/")) and "\0" not in path


class Journal:
    """The journal of one workspace folder."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    # Reading: needs no lock and writes nothing.

    def files(self) -> list[str]:
        """Names of the journal's files, oldest first."""
        with explained(self._tree.root / FOLDER):
            try:
                with folder_beneath(self._tree.root, FOLDER) as folder:
                    return [name for name in names_in(folder) if name.endswith(".jsonl")]
            except FileNotFoundError:
                return []

    def position(self) -> Position:
        """From where on changes may be incomplete: the end, or the beginning of the last change."""
        marker = self._marker()
        for index, name in enumerate(reversed(self.files())):
            if marker is not None and marker.file == name and marker.size == self._size(name):
                return Position(name, marker.size, marker.change, settled=index == 0)
            tail = self._tail(name)
            if tail is None:
                continue
            if marker is not None and marker.change == tail.change.id:
                return Position(name, tail.end, tail.change.id)
            return Position(name, tail.start, tail.change.after)
        return Position()

    def since(self, position: Position) -> list[Change]:
        """The committed changes from a position on, oldest first; torn and unreadable lines left out."""
        found: list[Change] = []
        for name in self.files():
            if name >= position.file:
                data = self.read(name, position.offset if name == position.file else 0)
                found.extend(change for line in data.split(b"\n") if line and (change := parse(line)) is not None)
        return found

    def read(self, name: str, offset: int = 0) -> bytes:
        """The bytes of one of its files from an offset on; none where there is no such file."""
        with explained(self._tree.root / FOLDER / name):
            try:
                with folder_beneath(self._tree.root, FOLDER) as folder:
                    descriptor = open_reading(name, folder)
            except FileNotFoundError:
                return b""
            try:
                os.lseek(descriptor, offset, os.SEEK_SET)
                return read_all(descriptor)
            finally:
                os.close(descriptor)

    def _size(self, name: str) -> int:
        with explained(self._tree.root / FOLDER / name):
            try:
                with folder_beneath(self._tree.root, FOLDER) as folder:
                    return os.stat(name, dir_fd=folder, follow_symlinks=False).st_size
            except FileNotFoundError:
                return 0

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
        try:
            data = read_beneath(self._tree.root, APPLIED, 4096)
            return msgspec.json.decode(data, type=_Applied) if data else None
        except msgspec.DecodeError:
            return None

    # Writing: the caller holds the lock.

    def complete(self) -> Position:
        """Cut a torn tail off and finish what a killed writer left.

        Returns:
            The end of the journal, with the last change's id.
        """
        position = self.position()
        if position.settled:
            return position
        pending = self.since(position)
        self._cut_torn_tail()
        for change in pending:
            self._redo(change)
        if not pending:
            return position
        last = pending[-1]
        end = self.files()[-1]
        return self.mark(last.id, end, self._size(end))

    def commit(self, change: Change, month: str, at: Position) -> Position:
        """Append a change in one write and bring it to disk: once this returns, it has happened."""
        # A clock that went back must not begin an older file: the last line of the last file is the last change.
        name = max(f"{month}.jsonl", at.file)
        size = self._tree.append(f"{FOLDER}/{name}", canonical_line(msgspec.to_builtins(change)))
        return Position(name, size, change.id)

    def apply(self, change: Change) -> None:
        """Write the record files of a change that was committed just now."""
        folders: dict[str, None] = {}
        for record in change.records:
            if record.after is None:
                self._tree.remove(record.path, sync_folder=False)
            else:
                self._tree.replace(record.path, canonical(record.after), sync_folder=False)
            folders[record.path.rpartition("/")[0]] = None
        for folder in folders:
            self._tree.sync_folder(folder)
        by_path: dict[str, bytes] = {}
        for line in change.appends:
            by_path[line.path] = by_path.get(line.path, b"") + canonical_line(line.line)
        for path, data in by_path.items():
            self._tree.append(path, data)
        self._remember(change)

    def mark(self, change: str, file: str, size: int, looked: int | None = None) -> Position:
        """Note that all changes up to this one are complete; may be lost without harm.

        Args:
            change: The last change.
            file: The journal file that holds it.
            size: The size of that file.
            looked: Until when edits of others were looked for; as noted before where they were not.
        """
        note = _Applied(change, file, size, self.looked() if looked is None else looked)
        self._tree.replace(APPLIED, msgspec.json.encode(note), durable=False)
        return Position(file, size, change)

    def looked(self) -> int:
        """Until when (nanoseconds) edits of others were looked for; 0 where that is not known."""
        marker = self._marker()
        return 0 if marker is None else marker.looked

    def written(self, identifier: str) -> str | None:
        """The hash of a record's bytes as this program last wrote them, where that is known."""
        return self.notes(identifier).get(identifier)

    def _redo(self, change: Change) -> None:
        touched = [record.path for record in change.records] + [line.path for line in change.appends]
        for folder in sorted({path.rpartition("/")[0] for path in touched}):
            with suppress(RefusedError):
                self._tree.sweep(folder)
        for record in change.records:
            # Where a link was put in the way since, the rest goes on; the line keeps what it said.
            with suppress(RefusedError):
                self._write_once(record)
        for line in change.appends:
            with suppress(RefusedError):
                self._append_once(line.path, line.line)
        self._remember(change)

    def _write_once(self, record: RecordChange) -> None:
        data = read_beneath(self._tree.root, record.path)
        if (None if data is None else digest(data)) != record.before:
            return  # written already, or edited by hand since: both stay
        if record.after is not None:
            self._tree.replace(record.path, canonical(record.after))
        elif data is not None:
            self._tree.remove(record.path)

    def _append_once(self, path: str, document: dict[str, object]) -> None:
        data = read_beneath(self._tree.root, path) or b""
        line = canonical_line(document)
        if b"\n" + line in b"\n" + data:
            return
        tail = data[data.rfind(b"\n") + 1 :]
        if tail and line.startswith(tail.rstrip(b"\0")):  # NULs: its bytes never reached the disk
            self._tree.cut(path, len(data) - len(tail))
        self._tree.append(path, line)

    def _cut_torn_tail(self) -> None:
        for name in self.files()[-1:]:
            size = self._size(name)
            for start, data in self._ends(name, size):
                if start > 0 and b"\n" not in data:
                    continue
                torn = data[data.rfind(b"\n") + 1 :]
                if torn and parse(torn) is None:
                    self._tree.cut(f"{FOLDER}/{name}", size - len(torn))
                return

    def notes(self, identifier: str) -> dict[str, str]:
        """The hashes of all records that are noted together with this one, as this program wrote them."""
        try:
            data = read_beneath(self._tree.root, f"{WRITTEN}/{identifier[:2]}.json")
            return msgspec.json.decode(data, type=dict[str, str]) if data else {}
        except msgspec.DecodeError:
            return {}

    def _remember(self, change: Change) -> None:
        self.remember({r.id: None if r.after is None else digest(canonical(r.after)) for r in change.records})

    def remember(self, hashes: Mapping[str, str | None]) -> None:
        """Note the hashes of records as this program wrote them, None for those that went; may be lost."""
        shards: dict[str, dict[str, str]] = {}
        for identifier, sha256 in hashes.items():
            shard = shards.setdefault(identifier[:2], {}) or self.notes(identifier)
            shards[identifier[:2]] = shard
            if sha256 is None:
                shard.pop(identifier, None)
            else:
                shard[identifier] = sha256
        for name, shard in shards.items():
            self._tree.replace(f"{WRITTEN}/{name}.json", canonical(shard), durable=False)
