"""Reads the files of a workspace, writing nothing, and reads again only what changed.

What cannot be read becomes damage beside the rest. A file is known by its stat (inode, size, times);
one that changed just before it was read is read again next time, because a second change within
the clock's tick would leave the same stat behind.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from workbench.domain.evidence import Evidence
from workbench.domain.fact import Fact, say_once
from workbench.domain.ids import is_id
from workbench.domain.package import Envelope, PackageEvent
from workbench.domain.record import SCHEMA
from workbench.domain.schema import TABLES
from workbench.domain.trimming import Trim
from workbench.errors import RefusedError
from workbench.store.form import (
    NewerSchema,
    Unreadable,
    as_stored,
    digest,
    has_long_number,
    locate,
    read_document,
    read_line,
)
from workbench.store.names import KEYED
from workbench.store.private import folder_beneath, names_in, open_seen, read_all
from workbench.store.records import Damage
from workbench.store.upgrade import upgraded

LINES: dict[str, type[Any]] = {"evidence": Evidence, "trims": Trim, "packages": PackageEvent}
"""What the lines of the append-only files are, by folder."""
_SETTLED = 50_000_000
"""Nanoseconds after which the same stat means the same content."""
_BATCH = 256
"""Files that are read before they are decoded: each of the two goes quicker while it goes on."""
_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)  # made where it is needed: start-up counts


StatKey = tuple[int, int, int, int]


_Fresh = tuple[str, str, str, StatKey, bool, bytes]
"""A file that was just read and is still to be decoded: table, name, path, stat, whether that tells it, content."""


class Stored(msgspec.Struct, gc=False):
    """One file as it was read."""

    sha256: str
    value: Any = None
    """The record, or for an append-only file the tuple of its lines; None where it is damaged."""
    session: str = ""
    """Of a file of trims: the session that its lines name."""
    damage: tuple[Damage, ...] = ()
    tail: bytes = b""
    """What follows the last newline of an append-only file and is no line: torn, or damaged."""
    document: dict[str, Any] | None = None
    """Of a record whose bytes are not canonical: the whole document, unknown keys included."""


class _Known(msgspec.Struct, gc=False):
    key: StatKey
    settled: bool
    stored: Stored


class _Listing(msgspec.Struct, gc=False):
    key: StatKey
    settled: bool
    names: list[str]


def _key(state: os.stat_result) -> StatKey:
    return state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns


def decode_record(kind: type[Any], data: bytes, relative: str, identifier: str | None) -> Stored:
    """A record's file, decoded; what is wrong with it stands in ``damage``.

    Bytes that are exactly what would be written for the record that they decode to need no second
    look: nothing is in them twice, unknown or rounded.
    """
    document: dict[str, Any] | None = None
    try:
        record = _exact(kind, data)
        if record is None:
            document = upgraded(kind, read_document(data))
            record = msgspec.convert(document, kind)
    except Unreadable as wrong:
        damage = Damage(relative, wrong.message, wrong.line, wrong.column, newer=isinstance(wrong, NewerSchema))
        return Stored(digest(data), None, "", (damage,))
    except RecursionError:
        return _damaged(data, relative, "nested too deep", 1, 1)
    except msgspec.ValidationError as wrong:
        return _damaged(data, relative, str(wrong), *_place(data, str(wrong)))
    if not is_id(record.id):
        return _damaged(data, relative, f"{record.id[:40]!r} has not the form of an id", *_place(data, "`$.id`"))
    if identifier is not None and record.id != identifier:
        return _damaged(data, relative, f"it holds the id {record.id[:40]!r}", *_place(data, "`$.id`"))
    if kind is Fact:
        say_once(record)
    return Stored(digest(data), record, document=document)


def _exact(kind: Any, data: bytes) -> Any:
    """The record in the bytes of this schema that it is stored as; None where they are anything else."""
    try:
        record = _decoder(kind).decode(data)
        same = as_stored(record) == data
    except (msgspec.DecodeError, RecursionError, TypeError):
        return None
    return record if same and record.schema == SCHEMA and not has_long_number(data) else None


def _damaged(data: bytes, relative: str, message: str, line: int | None, column: int | None) -> Stored:
    return Stored(digest(data), None, "", (Damage(relative, message, line, column),))


def _place(data: bytes, message: str) -> tuple[int | None, int | None]:
    """Where the key stands that a validation error names (``... - at `$.state.pending[0].id```)."""
    names = [part.split("[")[0] for part in message.rpartition("`$.")[2].rstrip("`").split(".")]
    if "`$." not in message:
        return 1, 1
    line, column = locate(data, names[-1] or names[0])
    return (line, column) if line is not None else (1, 1)


def decode_lines(kind: type[Any], data: bytes, relative: str) -> Stored:
    """An append-only file, decoded line by line; bad lines are damage, the others count."""
    values: list[Any] = []
    damage: list[Damage] = []
    session = ""
    *lines, tail = data.split(b"\n")
    if not data:
        damage.append(Damage(relative, "the file is empty", 1, 1))
    for number, line in enumerate([*lines, tail] if tail else lines, 1):
        if not line:
            continue
        try:
            document = read_line(line)
            values.append(msgspec.convert(document, kind))
            session = document.get("session", session) if kind is Trim else ""
            tail = b"" if number > len(lines) else tail
        except Unreadable as wrong:
            damage.append(Damage(relative, wrong.message, number, wrong.column))
        except (msgspec.ValidationError, RecursionError) as wrong:
            damage.append(Damage(relative, str(wrong), number, 1))
    return Stored(digest(data), tuple(values), session, tuple(damage), tail)


class Reader:
    """Reads a workspace folder again and again; not thread-safe.

    Args:
        root: The workspace folder.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[str, _Known] = {}
        self._listings: dict[str, _Listing] = {}
        self._fresh: list[_Fresh] = []
        self._reads = 0

    @property
    def reads(self) -> int:
        """How many files were read so far (not merely looked at)."""
        return self._reads

    def touched_since(self, moment: int) -> list[str]:
        """The files that came or were written at this moment (nanoseconds) or later, as last scanned.

        Whatever time of writing a copy keeps, the system notes when it came to be.
        """
        return [path for path, known in self._known.items() if max(known.key[2:]) >= moment]

    def scan(self, places: Iterable[str] = (*TABLES, *LINES)) -> dict[str, Stored]:
        """The files of records, by their paths relative to the workspace folder.

        Args:
            places: Tables, folders in them (of a key, of a package), or single files in a table; all of it else.
        """
        found: dict[str, Stored] = {}
        self._fresh.clear()
        with folder_beneath(self._root) as root:
            for place in places:
                table, _, inner = place.partition("/")
                if inner:
                    self._place(root, table, inner, found)
                else:
                    self._table(root, table, found)
        self._decode(found)
        for gone in self._known.keys() - found.keys():
            del self._known[gone]
        return found

    def _place(self, root: int, table: str, inner: str, found: dict[str, Stored]) -> None:
        descriptor = self._descend(root, table, table, found)
        if descriptor is None:
            return
        try:
            if inner.endswith((".json", ".jsonl")):
                self._file(descriptor, inner, f"{table}/{inner}", table, found)
            else:
                self._inner(descriptor, table, inner, found)
        finally:
            os.close(descriptor)

    def _table(self, root: int, table: str, found: dict[str, Stored]) -> None:
        descriptor = self._descend(root, table, table, found)
        if descriptor is None:
            return
        try:
            names = self._names(descriptor, table)
            if table in KEYED or table == "packages":
                for name in names:
                    self._inner(descriptor, table, name, found)
                return
            for name in names:
                if name.endswith(".jsonl" if table in LINES else ".json"):
                    self._file(descriptor, name, f"{table}/{name}", table, found)
        finally:
            os.close(descriptor)

    def _inner(self, above: int, table: str, name: str, found: dict[str, Stored]) -> None:
        """A folder in a table's folder: of a key, or of a package."""
        place = f"{table}/{name}"
        known = self._listings.get(place)
        if known is not None and known.settled:
            # The folder need not be opened when neither it nor its files changed since.
            try:
                state = os.stat(name, dir_fd=above, follow_symlinks=False)
            except FileNotFoundError:
                return
            except OSError as error:
                found[place] = Stored("", None, "", (_refused(place, error),))
                return
            if _key(state) == known.key and all(
                self._unchanged(above, f"{name}/{inner}", f"{place}/{inner}", found) for inner in known.names
            ):
                return
        descriptor = self._descend(above, name, place, found)
        if descriptor is None:
            return
        try:
            for inner in self._names(descriptor, place):
                if table != "packages":
                    if inner.endswith(".json"):
                        self._file(descriptor, inner, f"{place}/{inner}", table, found)
                elif inner in ("envelope.json", "status.jsonl"):
                    self._file(descriptor, inner, f"{place}/{inner}", table, found)
        finally:
            os.close(descriptor)

    def _descend(self, above: int, name: str, place: str, found: dict[str, Stored]) -> int | None:
        try:
            return os.open(name, _FLAGS, dir_fd=above)
        except FileNotFoundError:
            return None
        except NotADirectoryError:
            state = os.stat(name, dir_fd=above, follow_symlinks=False)
            if stat.S_ISLNK(state.st_mode):
                found[place] = Stored("", None, "", (Damage(place, "a link stands where a folder should be"),))
            return None
        except OSError as error:
            found[place] = Stored("", None, "", (_refused(place, error),))
            return None

    def _names(self, descriptor: int, place: str) -> list[str]:
        state = os.fstat(descriptor)
        known = self._listings.get(place)
        if known is not None and known.settled and known.key == _key(state):
            return known.names
        now = time.time_ns()
        names = names_in(descriptor)
        self._listings[place] = _Listing(_key(state), now - state.st_ctime_ns > _SETTLED, names)
        return names

    def _unchanged(self, above: int, name: str, relative: str, found: dict[str, Stored]) -> bool:
        known = self._known.get(relative)
        if known is None or not known.settled:
            # Files that are not read (a prompt, a stray text) never come to be known.
            return known is None and not relative.endswith((".json", ".jsonl"))
        try:
            state = os.stat(name, dir_fd=above, follow_symlinks=False)
        except OSError:
            return False  # gone, or not to be looked at: opening it tells
        if _key(state) != known.key:
            return False
        found[relative] = known.stored
        return True

    def _file(self, folder: int, name: str, relative: str, table: str, found: dict[str, Stored]) -> None:
        if self._unchanged(folder, name, relative, found):
            return
        try:
            descriptor, state = open_seen(name, folder)
        except FileNotFoundError:
            return
        except RefusedError as error:
            found[relative] = Stored("", None, "", (Damage(relative, error.message),))
            return
        except OSError as error:
            found[relative] = Stored("", None, "", (_refused(relative, error),))
            return
        try:
            now = time.time_ns()  # after the system was asked: a change from now on shows in what it says next time
            data = read_all(descriptor, size=state.st_size)
        finally:
            os.close(descriptor)
        self._reads += 1
        self._fresh.append((table, name, relative, _key(state), now - state.st_ctime_ns > _SETTLED, data))
        if len(self._fresh) >= _BATCH:
            self._decode(found)

    def _decode(self, found: dict[str, Stored]) -> None:
        """Decode what was read."""
        for table, name, relative, key, settled, data in self._fresh:
            stored = decode(table, name, relative, data)
            self._known[relative] = _Known(key, settled, stored)
            found[relative] = stored
        self._fresh.clear()


def _refused(place: str, error: OSError) -> Damage:
    """A file or folder that may not be read: what it holds is unknown, not nothing."""
    reason = error.strerror or str(error)
    way = "; give yourself the right to read it (chmod u+rwX)" if error.errno in (errno.EACCES, errno.EPERM) else ""
    return Damage(place, reason + way)


def decode(table: str, name: str, relative: str, data: bytes) -> Stored:
    """A file of a table, decoded as what belongs in that place."""
    if name.endswith(".jsonl"):
        return decode_lines(LINES[table], data, relative)
    if table == "packages":
        return decode_record(Envelope, data, relative, relative.split("/")[1])
    return decode_record(TABLES[table], data, relative, None if table == "aliases" else name.removesuffix(".json"))


def places(found: dict[str, Stored], table: str) -> Iterator[tuple[str, Stored]]:
    """The files of one table, in the order of their paths."""
    for relative in sorted(found):
        if relative.startswith(table + "/"):
            yield relative, found[relative]
