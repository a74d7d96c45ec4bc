"""The workspace folder: opened, read at one moment, and changed by transactions."""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.domain.change import Change
from workbench.domain.schema import TABLES, encode
from workbench.domain.times import stamp
from workbench.errors import NotFoundError, RefusedError, StorageError, WorkbenchError
from workbench.store.assemble import assemble, overlay, within
from workbench.store.changelog import ChangeLog
from workbench.store.commit import Committer
from workbench.store.edits import Edits
from workbench.store.exclude import add_exclude, add_wanted, exclude_file, remove_exclude
from workbench.store.form import digest, documents_in
from workbench.store.held import Shelf
from workbench.store.journal import Ahead, Journal, parse
from workbench.store.local import LocalState
from workbench.store.location import Location
from workbench.store.lock import WriterLock
from workbench.store.names import prompt_path
from workbench.store.pace import Limits
from workbench.store.pending import Pending
from workbench.store.places import Places
from workbench.store.primitives import Tree
from workbench.store.private import folder_beneath, names_in, read_beneath
from workbench.store.reader import LINES, Reader, Stored
from workbench.store.records import Damage, Records
from workbench.store.refusals import explained
from workbench.store.settle import Settler
from workbench.store.transaction import Transaction

if TYPE_CHECKING:
    from workbench.store.documents import WorkspaceDB
    from workbench.store.search import SearchIndex

_FOLDERS = (*TABLES, *LINES, "changes", "blobs", ".local")


class Workspace:
    """The records of one repository or folder.

    ``load`` may be called from any thread; a transaction belongs to the thread that opened it.
    Use :meth:`init` or :meth:`open`.
    """

    def __init__(self, location: Location, *, read_only: bool) -> None:
        self.location = location
        self.root = location.root
        self.read_only = read_only
        self.notices: list[str] = []
        """What went wrong without harm: a committed change whose files could not be written yet."""
        self.limits: Limits | None = None
        """What agents may write in a minute; None where nothing is counted."""
        self.tree = Tree(self.root)
        self.journal = Journal(self.tree)
        self._ahead = Ahead()
        self.log = ChangeLog(self.journal)
        self._settler = Settler(self.tree)
        self._reader = Reader(self.root)
        self._guard = threading.Lock()
        self._open = threading.local()
        self._files: dict[str, Stored] = {}
        self._records: Records | None = None
        self._places = Places(self.root, lambda: self._records, self.stored, self.journal.place_of)
        self.local = LocalState(self.tree, read_only=read_only)

    @classmethod
    def init(cls, location: Location) -> Workspace:
        """Make the workspace folder and what git needs to leave it alone; what is there already stays.

        Where it cannot be made whole, nothing new is left behind.
        """
        tree, known, seen = Tree(location.root), location.exists, add_wanted(location)
        try:
            tree.make_root()
            for name in _FOLDERS:
                tree.make_folder(name)
            add_exclude(location)
        except StorageError:
            if not known and location.exists:
                tree.remove_all()
            if not known and seen:
                with suppress(StorageError):
                    remove_exclude(location)
            raise
        return cls.open(location)

    @classmethod
    def open(cls, location: Location, *, read_only: bool = False) -> Workspace:
        """Open an existing workspace; this alone reads and writes nothing.

        Raises:
            NotFoundError: There is none.
        """
        workspace = cls(location, read_only=read_only)
        workspace._must_exist()
        return workspace

    # Reading.

    def load(self) -> Records:
        """All records at one moment; the same object again while nothing changed.

        Writes nothing. A committed change whose files are not written yet is shown from the journal.
        """
        with self._guard:
            # In this order: whatever the files show that was committed meanwhile stands in the lines read last.
            self._must_exist()
            position = self.journal.position()
            with explained(self.root):
                files = self._reader.scan()
            pending = self.journal.since(position)
            if pending:
                files = overlay(files, pending, self.log.image)
            if self._records is None or not _same(files, self._files):
                self._records = assemble(files)
                self._files = files
            return self._records

    def look(self, *places: str) -> Records:
        """The records of some places alone, at one moment; everything else is as if it were not there.

        Args:
            places: Tables (``aliases``), folders in them (``facts/server.port``), or single files in a table.
        """
        return assemble(self._look(places))

    def _look(self, places: tuple[str, ...]) -> dict[str, Stored]:
        self._must_exist()
        position = self.journal.position()
        with explained(self.root):
            files = Reader(self.root).scan(places)
        return overlay(files, within(self.journal.since(position), places), self.log.image)

    def folders(self, table: str) -> list[str]:
        """What stands in a table whose records lie in folders by key, in any order; folders still to be made, too."""
        names: dict[str, None] = {}
        position = self.journal.position()
        with explained(self.root), suppress(FileNotFoundError), folder_beneath(self.root, table) as folder:
            names.update(dict.fromkeys(os.listdir(folder)))  # noqa: PTH208
        for change in within(self.journal.since(position), (table,)):
            names.update(dict.fromkeys(record.path.split("/")[1] for record in change.records))
        return list(names)

    def place_of(self, kind: str, identifier: str) -> str | None:
        """Where the file of a record lies, found by its name; None where there is none of that name."""
        return self._places.find(kind, identifier, True)

    def mark(self) -> str:
        """Differs after every change that went through the journal; reads no record, whatever their number."""
        return str((self.journal.end(), self.journal.position()))

    def documents(self, table: str) -> dict[str, dict[str, Any]]:
        """The documents of a table by id, as copies, with the keys that this program does not know."""
        records, foreign = self.load(), self._foreign(table)
        return {
            identifier: copy.deepcopy(foreign[identifier]) if identifier in foreign else encode(record)
            for identifier, record in records.table(table).items()
        }

    def document(self, table: str, identifier: str) -> dict[str, Any] | None:
        """One document by id, as a copy; what this thread has staged included."""
        if self.current is not None:
            return copy.deepcopy(self.current.document(table, identifier))
        record = self.load().table(table).get(identifier)
        if record is None:
            return None
        return copy.deepcopy(self._foreign(table).get(identifier)) or encode(record)

    def _foreign(self, table: str) -> dict[str, dict[str, Any]]:
        """The documents that this program did not write so, as last read."""
        return {
            stored.value.id: stored.document
            for path, stored in self._files.items()
            if stored.document is not None and stored.value is not None and path.startswith(f"{table}/")
        }

    @property
    def file_reads(self) -> int:
        """How many files of records were read by :meth:`load` so far."""
        return self._reader.reads

    def blob(self, sha256: str) -> bytes:
        """A kept content.

        Raises:
            NotFoundError: It is not kept here, or what lies there is not that content any more.
        """
        data = read_beneath(self.root, f"blobs/{sha256}") if sha256.isalnum() else None
        if data is None or digest(data) != sha256:
            raise NotFoundError(f"the content {sha256[:12]} is not kept in this workspace", candidates=[])
        return data

    def prompt(self, package_id: str) -> bytes:
        """The prompt of a package, byte for byte.

        Raises:
            NotFoundError: There is no such package.
        """
        data = read_beneath(self.root, prompt_path(package_id))
        if data is None:
            raise NotFoundError(f"no package {package_id!r}", candidates=[])
        return data

    def changes(self) -> Iterator[Change]:
        """Every change, newest first, each before the one it came after; unreadable lines are left out."""
        return self.log.changes()

    def lines(self) -> dict[str, list[dict[str, Any]]]:
        """The lines of all append-only files by path, as documents; those that cannot be read are left out."""
        with self._guard:
            pending = self.journal.since(self.journal.position())
            with explained(self.root):
                paths = [path for path in self._reader.scan() if path.endswith(".jsonl")]
        found = {}
        for path in paths:
            with suppress(RefusedError, StorageError):  # a link, or not ours to read: damage of the view
                found[path] = list(documents_in(read_beneath(self.root, path) or b""))
        for append in (append for change in pending for append in change.appends):
            known = found.setdefault(append.path, [])
            known.extend([copy.deepcopy(append.line)] if append.line not in known else [])
        return found

    def blobs(self) -> list[str]:
        """The hashes of all contents that are kept."""
        with explained(self.root / "blobs"), suppress(FileNotFoundError), folder_beneath(self.root, "blobs") as folder:
            return names_in(folder)
        return []

    def damaged_changes(self) -> tuple[Damage, ...]:
        """Lines of the journal that cannot be read (reads all of it)."""
        return tuple(
            Damage(path, "the line holds no change", number, 1)
            for path, number, line in self.log.lines()
            if parse(line) is None
        )

    def stored(self) -> dict[str, Stored]:
        """Every file of records by its path, as :meth:`load` reads it."""
        self.load()
        return self._files

    def edited_outside(self) -> list[tuple[str, str]]:
        """Kind and id of the records whose files somebody else wrote since this program last did."""
        self.load()
        shelf = Shelf(self.tree, self._places.find, Pending())
        return Edits(self.journal, None, shelf, partial(self._touched, 0), "").found()

    @cached_property
    def db(self) -> WorkspaceDB:
        """The records as TinyDB tables; reads and writes go the same way as everything else."""
        from workbench.store.documents import WorkspaceDB

        return WorkspaceDB(self)

    @cached_property
    def search(self) -> SearchIndex:
        """The full-text index, which finds and is never asked what is so."""
        from workbench.store.search import SearchIndex

        return SearchIndex(self.tree, read_only=self.read_only)

    # Writing.

    @contextmanager
    def transaction(
        self,
        actor: str,
        command: str,
        why: str = "",
        *,
        now: datetime | None = None,
        undoes: str | None = None,
        timeout: float = 10.0,
        alone: bool = False,
    ) -> Iterator[Transaction]:
        """One command: lock, fresh reads, the body, its line in the log, release; then disk and record files.

        When the body raises, or stages nothing, nothing is written.

        Args:
            actor: Who does it.
            command: What is done, in the words of the command line.
            why: The reason given.
            now: The time of the change; else the clock's.
            undoes: The change that this one takes back.
            timeout: Seconds to wait for another writer.
            alone: The body changes files itself: what is in the log is in the files, and nobody brings changes there.

        Raises:
            RefusedError: The workspace was opened read-only.
            LockTimeoutError: Another process holds the lock; it is named.
            StorageError: The disk refused before the commit: nothing happened; or nobody can know, and it says so.
            KeyboardInterrupt: As anywhere; after the commit it says that the change is recorded.
            NotFoundError: The workspace is gone.
        """
        self._refuse_read_only()
        if self.current is not None:
            raise RuntimeError("a transaction is open in this thread already")
        at = stamp(now if now is not None else datetime.now(UTC))
        self._must_exist()
        pen: Committer | None = None
        ahead = 0
        turn: AbstractContextManager[list[str]] = self._settler.alone(timeout) if alone else nullcontext([])
        with self.tree.held() as tree:  # opens what is asked for, and so nothing before the lock is held
            try:
                with turn as told, WriterLock(self.tree, timeout):
                    if alone:  # also what was appended before both locks were held
                        self.notices += told + self._settler.settle(locked=True)
                    journal = Journal(tree, once=True)
                    since = journal.looked()
                    pen = Committer(tree, journal, self._ahead)
                    find = partial(self._places.find, noted=journal.place_of)
                    shelf = Shelf(tree, find, pen.pending, pen.put_together)
                    edits = Edits(journal, pen, shelf, partial(self._touched, since), at)
                    tx = self._open.transaction = Transaction(shelf, edits, self.load, self._look, at, actor)
                    try:
                        yield tx
                    finally:
                        self._open.transaction = None
                        self.notices += pen.told
                    if not tx.empty:
                        change = tx.change(actor, command, why, pen.last, undoes)
                        pen.carry_out(change, tx.files, self.limits)
                    if alone:
                        self.notices += self._settler.settle(pen.line, pen.looked, locked=True)
                    ahead = len(pen.pending.changes)
            except BaseException as error:
                if pen is not None and pen.line is not None:
                    # A hand edit that was taken in stays, whatever became of the rest.
                    with suppress(WorkbenchError):
                        self._settler.finish(pen.line, timeout)
                    if isinstance(error, KeyboardInterrupt) and pen.line.change == tx.id:
                        raise _interrupted(tx.id) from None
                raise
            if ahead and not alone:
                try:
                    self.notices += self._settler.finish(pen.line, timeout, pen.looked, ahead, tree)
                except KeyboardInterrupt:
                    raise _interrupted(tx.id) from None

    @property
    def current(self) -> Transaction | None:
        """The transaction that is open in this thread."""
        return getattr(self._open, "transaction", None)

    def complete(self, timeout: float = 10.0) -> bool:
        """Finish what a killed writer committed and left; the app does this when it opens.

        Returns:
            Whether anything was finished; what stands in the way is in the notices.
        """
        self._refuse_read_only()
        position = self.journal.position()
        if not self.journal.since(position):
            return False
        with self._settler.alone(timeout) as told:
            self.notices += told
            return self.journal.position() != position

    def forget_paths(self) -> list[Path]:
        """What :meth:`forget` would remove or change."""
        paths = [self.root] if os.path.lexists(self.root) else []
        exclude = exclude_file(self.location)
        return [*paths, exclude] if exclude is not None else paths

    def forget(self) -> list[str]:
        """Remove the workspace folder and the line that kept it out of git's sight.

        Returns:
            What was removed, for people.
        """
        self._refuse_read_only()
        removed: list[str] = []
        if self.location.exists:
            with self._settler.alone(10.0), WriterLock(self.tree):
                self.tree.remove_all()
            removed.append(str(self.root))
        exclude = remove_exclude(self.location)
        if exclude is not None:
            removed.append(f"{exclude}: the line for the workspace")
        return removed

    def _touched(self, since: int) -> list[tuple[str, Stored]]:
        return [(path, self._files[path]) for path in sorted(self._reader.touched_since(since)) if path in self._files]

    def _must_exist(self) -> None:
        if not self.location.exists:
            raise NotFoundError(f"no workspace at {self.root}", "make one with: workbench init")

    def _refuse_read_only(self) -> None:
        if self.read_only:
            raise RefusedError("the workspace was opened read-only", "open it without --read-only")


def _interrupted(change: str) -> KeyboardInterrupt:
    """Whoever interrupts a command that has happened already is told so."""
    return KeyboardInterrupt(f"the change {change} is recorded all the same; undo takes it back")


def _same(one: dict[str, Stored], other: dict[str, Stored]) -> bool:
    return one.keys() == other.keys() and all(
        stored is other[path] or stored.sha256 == other[path].sha256 for path, stored in one.items()
    )
