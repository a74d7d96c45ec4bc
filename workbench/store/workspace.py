"""The workspace folder: opened, read at one moment, and changed by transactions."""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from workbench.domain.change import Change
from workbench.domain.schema import TABLES, encode
from workbench.domain.times import stamp
from workbench.errors import NotFoundError, RefusedError, StorageError
from workbench.store.assemble import assemble, overlay
from workbench.store.commit import Committer
from workbench.store.exclude import add_exclude, exclude_file, remove_exclude
from workbench.store.form import canonical, canonical_line, digest
from workbench.store.journal import Journal, parse
from workbench.store.local import LocalState
from workbench.store.location import Location
from workbench.store.lock import WriterLock
from workbench.store.names import KEYED, prompt_path, record_path
from workbench.store.pace import Limits, Pace
from workbench.store.primitives import Tree
from workbench.store.private import folder_beneath, names_in, read_beneath
from workbench.store.reader import LINES, Reader, Stored
from workbench.store.records import Damage, Records
from workbench.store.refusals import explained
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
        self._tree = Tree(self.root)
        self._journal = Journal(self._tree)
        self._reader = Reader(self.root)
        self._guard = threading.Lock()
        self._open = threading.local()
        self._files: dict[str, Stored] = {}
        self._found: dict[str, str] = {}
        self._records: Records | None = None
        self.local = LocalState(self._tree, read_only=read_only)

    @classmethod
    def init(cls, location: Location) -> Workspace:
        """Make the workspace folder and what git needs to leave it alone; what is there already stays."""
        tree = Tree(location.root)
        tree.make_root()
        for name in _FOLDERS:
            tree.make_folder(name)
        add_exclude(location)
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
            position = self._journal.position()
            with explained(self.root):
                files = self._reader.scan()
            pending = self._journal.since(position)
            if pending:
                files = overlay(files, pending)
            if self._records is None or not _same(files, self._files):
                self._records = assemble(files)
                self._files = files
            return self._records

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
        return self._journal.changes()

    def damaged_changes(self) -> tuple[Damage, ...]:
        """Lines of the journal that cannot be read (reads all of it)."""
        return tuple(
            Damage(path, "the line holds no change", number, 1)
            for path, number, line in self._journal.lines()
            if parse(line) is None
        )

    @cached_property
    def db(self) -> WorkspaceDB:
        """The records as TinyDB tables; reads and writes go the same way as everything else."""
        from workbench.store.documents import WorkspaceDB

        return WorkspaceDB(self)

    @cached_property
    def search(self) -> SearchIndex:
        """The full-text index, which finds and is never asked what is so."""
        from workbench.store.search import SearchIndex

        return SearchIndex(self._tree, read_only=self.read_only)

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
    ) -> Iterator[Transaction]:
        """One command: lock, fresh reads, the body, commit, record files, release.

        When the body raises, or stages nothing, nothing is written.

        Args:
            actor: Who does it.
            command: What is done, in the words of the command line.
            why: The reason given.
            now: The time of the change; else the clock's.
            undoes: The change that this one takes back.
            timeout: Seconds to wait for another writer.

        Raises:
            RefusedError: The workspace was opened read-only.
            LockTimeoutError: Another process holds the lock; it is named.
            StorageError: The disk refused before the commit: nothing happened.
            NotFoundError: The workspace is gone.
        """
        self._refuse_read_only()
        if self.current is not None:
            raise RuntimeError("a transaction is open in this thread already")
        at = stamp(now if now is not None else datetime.now(UTC))
        with self._locked(timeout):
            since = self._journal.marked_at()
            pen = Committer(self._tree, self._journal)
            tx = Transaction(self._tree, self._journal, pen, self.load, self._find_path, at)
            tx.edited = partial(self._edited, since)
            self._open.transaction = tx
            try:
                yield tx
                self._open.transaction = None
                if not tx.empty:
                    self._commit(tx, pen, tx.change(actor, command, why, pen.last, undoes))
            finally:
                self._open.transaction = None

    @property
    def current(self) -> Transaction | None:
        """The transaction that is open in this thread."""
        return getattr(self._open, "transaction", None)

    def complete(self, timeout: float = 10.0) -> bool:
        """Finish what a killed writer committed and left; the app does this when it opens.

        Returns:
            Whether there was anything to finish.
        """
        self._refuse_read_only()
        position = self._journal.position()
        if not self._journal.since(position):
            return False
        with self._locked(timeout):
            self._journal.complete()
        return True

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
            with self._locked(10.0):
                self._tree.remove_all()
            removed.append(str(self.root))
        exclude = remove_exclude(self.location)
        if exclude is not None:
            removed.append(f"{exclude}: the line for the workspace")
        return removed

    @contextmanager
    def _locked(self, timeout: float) -> Iterator[None]:
        self._must_exist()
        with WriterLock(self._tree, timeout):
            yield

    def _commit(self, tx: Transaction, pen: Committer, change: Change | None) -> None:
        pace = Pace(self._tree, self.limits) if self.limits is not None and change is not None else None
        if pace is None or change is None:
            pen.prepare(tx.files)
            failed = pen.commit_at_least(change) if change is not None else None
        else:
            records = len(change.records) + len(change.appends)
            size = len(canonical_line(msgspec.to_builtins(change))) + sum(map(len, tx.files.values()))
            pace.check(change.actor, records, size)
            pen.prepare(tx.files)
            failed = pen.commit_at_least(change)
            pace.note(change.actor, records, size)
        if failed is not None:
            self.notices.append(failed)

    def _edited(self, since: int) -> list[tuple[str, str]]:
        """Records (kind and id) whose files somebody else wrote after our last change, as last read.

        Only what the file system says was written since is compared at all, so a command pays for the
        edits that there are and not for the records.
        """
        found: list[tuple[str, str]] = []
        images: dict[tuple[str, str], str | None] | None = None
        for path in sorted(self._reader.touched_since(since)):
            stored, kind = self._files.get(path), path.split("/")[0]
            if stored is None or stored.value is None or kind not in TABLES:
                continue
            identifier = stored.value.id
            known = self._journal.written(identifier)
            if known is None:
                # Never written here, or the notes of what was are lost: then the log tells.
                images = self._images() if images is None else images
                known = images.get((kind, identifier))
            if known != stored.sha256:
                found.append((kind, identifier))
        return found

    def _images(self) -> dict[tuple[str, str], str | None]:
        """The hash of every record's bytes as the log last left them."""
        images: dict[tuple[str, str], str | None] = {}
        for change in self._journal.changes(unfold=False):
            for record in reversed(change.records):
                after = None if record.after is None else digest(canonical(record.after))
                images.setdefault((record.kind, record.id), after)
        return images

    def _find_path(self, kind: str, identifier: str, search: bool) -> str | None:
        """Where a record's file lies: where its last reading says, else by looking through the folders."""
        if kind == "packages":
            return f"packages/{identifier}/envelope.json"
        if kind not in KEYED and kind != "aliases":
            return f"{kind}/{identifier}.json"
        known = self._records.table(kind).get(identifier) if self._records is not None else None
        seen = record_path(kind, msgspec.structs.asdict(known)) if known is not None else self._found.get(identifier)
        if seen is not None and read_beneath(self.root, seen) is not None:
            return seen
        return self._search(kind, identifier) if search or known is not None else None

    def _search(self, kind: str, identifier: str) -> str | None:
        if kind == "aliases":
            self.load()
            files = ((path, stored.value) for path, stored in self._files.items() if path.startswith("aliases/"))
            return next((path for path, alias in files if alias is not None and alias.id == identifier), None)
        with suppress(FileNotFoundError), folder_beneath(self.root, kind) as folder:
            for name in names_in(folder):
                with suppress(FileNotFoundError, NotADirectoryError):
                    os.stat(f"{name}/{identifier}.json", dir_fd=folder, follow_symlinks=False)
                    self._found[identifier] = f"{kind}/{name}/{identifier}.json"
                    return self._found[identifier]
        return None

    def _must_exist(self) -> None:
        if not self.location.exists:
            raise NotFoundError(f"no workspace at {self.root}", "make one with: workbench init")

    def _refuse_read_only(self) -> None:
        if self.read_only:
            raise RefusedError("the workspace was opened read-only", "open it without --read-only")


def _same(one: dict[str, Stored], other: dict[str, Stored]) -> bool:
    return one.keys() == other.keys() and all(
        stored is other[path] or stored.sha256 == other[path].sha256 for path, stored in one.items()
    )
