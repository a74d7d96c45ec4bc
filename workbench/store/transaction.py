"""One command on the records: staged in memory under the lock, then committed as one line of the journal."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NoReturn, TypeVar

import msgspec

from workbench.domain.change import Append, Change
from workbench.domain.evidence import Evidence
from workbench.domain.ids import new_id
from workbench.domain.package import Envelope, PackageEvent
from workbench.domain.record import Record
from workbench.domain.schema import TABLES, decode
from workbench.domain.trimming import Trim
from workbench.errors import DamagedError, NotFoundError, UsageError, VersionConflictError
from workbench.store.commit import Committer
from workbench.store.draft import KINDS, TYPES, Held, Staged, cleaned, content_of, document_of
from workbench.store.form import Unreadable, canonical, digest, read_document, read_line, storable
from workbench.store.journal import Journal
from workbench.store.mask import mask, mask_bytes, mask_json
from workbench.store.names import checked, evidence_path, one_of, prompt_path, record_path, status_path, trims_path
from workbench.store.primitives import Tree
from workbench.store.private import read_beneath
from workbench.store.reader import LINES
from workbench.store.records import Records
from workbench.store.upgrade import upgraded

R = TypeVar("R", bound=Record)
L = TypeVar("L", Evidence, Trim, PackageEvent)
OUTSIDE = "outside"
"""Actor of a change that was made to a file by hand or by another program."""


class Transaction:
    """What one command does to the records; handed out by ``Workspace.transaction``, used by one thread.

    Args:
        tree: The workspace folder.
        journal: Its journal.
        pen: Commits what was edited by hand before anything is built on it.
        fresh: Reads all records as they are under the lock.
        find_path: Where the file of a record of a kind and id lies, as last seen or (third argument) by
            looking through the folders; None where nowhere.
        now: UTC text.
    """

    def __init__(
        self,
        tree: Tree,
        journal: Journal,
        pen: Committer,
        fresh: Callable[[], Records],
        find_path: Callable[[str, str, bool], str | None],
        now: str,
    ) -> None:
        self.id = new_id()
        self.now = now
        self._tree = tree
        self._journal = journal
        self._pen = pen
        self._fresh = fresh
        self._find_path = find_path
        self._records: Records | None = None
        self._staged: dict[tuple[str, str], Staged] = {}
        self._appends: list[Append] = []
        self._files: dict[str, bytes] = {}
        self._folded: tuple[Change, ...] = ()
        self._told = False
        self.edited: Callable[[], list[tuple[str, str]]] = list
        """Finds the records that somebody else wrote since our last change."""

    @property
    def records(self) -> Records:
        """All records as they were when the lock was taken; what is staged here is not in it."""
        if self._records is None:
            self._records = self._fresh()
            if self._take_edits():
                self._records = self._fresh()
        return self._records

    def get(self, kind: str, identifier: str) -> Any:
        """One record as it is now, what is staged included, without reading the others.

        Raises:
            NotFoundError: There is none.
            DamagedError: Its file cannot be read.
        """
        document = self.document(kind, identifier)
        if document is None:
            raise NotFoundError(f"no {one_of(kind)} {identifier!r}", candidates=[])
        return decode(TABLES[kind], document)

    def document(self, kind: str, identifier: str) -> dict[str, Any] | None:
        """The document of one record as it is now, what is staged included; None where there is none."""
        staged = self._staged.get((kind, identifier))
        if staged is not None:
            return staged.after
        held = self._held(kind, identifier, None)
        return None if held is None else held.document

    def put(self, record: R, *, expect: int | None = None) -> R:
        """Store a new or changed record.

        Keys of the stored document that this program does not know are kept. A record equal to the
        stored one stages nothing.

        Args:
            record: The whole record.
            expect: The version that the caller saw; 0 for *there is none yet*.

        Returns:
            The record as it will be read: masked, with its new version.

        Raises:
            VersionConflictError: The stored version is another.
            DamagedError: What is stored cannot be read; it is not written over.
            UsageError: The record cannot be stored (id, numbers, nesting).
        """
        kind = KINDS[type(record)]
        before = self._before(kind, record.id, cleaned(kind, document_of(record)), expect)
        document = cleaned(kind, document_of(record, content_of(before)))
        return decode(type(record), self._stage(kind, before, document))

    def put_document(self, kind: str, document: Mapping[str, Any], *, expect: int | None = None) -> dict[str, Any]:
        """Store a record by its document, exactly with these keys; what :meth:`put` says holds.

        Raises:
            UsageError: The document is none of that kind.
        """
        document = cleaned(kind, document)
        return self._stage(kind, self._before(kind, document["id"], document, expect), document)

    def remove(self, kind: str, identifier: str, *, expect: int | None = None) -> None:
        """Take a record away (undo of its creation); the journal keeps what it was.

        Raises:
            NotFoundError: There is none.
            VersionConflictError: The stored version is another.
        """
        before = self._before(kind, identifier, None, expect)
        if content_of(before) is None:
            raise NotFoundError(f"no {one_of(kind)} {identifier!r}", candidates=[])
        held = before.before if isinstance(before, Staged) else before
        if held is None:
            del self._staged[kind, identifier]
        else:
            self._staged[kind, identifier] = Staged(held, None, held.path)

    def append_evidence(self, line: Evidence) -> Evidence:
        """Append to the evidence of an attempt; the line's ``after`` is filled in."""
        return self._append(evidence_path(line.attempt, line.task), line)

    def append_trim(self, session: str, line: Trim) -> Trim:
        """Append what was decided about messages of a session (``agent:id``); ``after`` is filled in."""
        return self._append(trims_path(session), line, session=session)

    def append_status(self, package_id: str, event: PackageEvent) -> PackageEvent:
        """Append to the life of a package; ``after`` is filled in.

        Raises:
            NotFoundError: There is no such package.
        """
        path = status_path(package_id)
        known = ("packages", package_id) in self._staged
        if not known and read_beneath(self._tree.root, path.replace("status.jsonl", "envelope.json")) is None:
            raise NotFoundError(f"no package {package_id!r}", candidates=[])
        return self._append(path, event)

    def add_package(self, envelope: Envelope, prompt: bytes, first: PackageEvent) -> None:
        """Store a package: its envelope and prompt, which never change, and its first status.

        A secret in the prompt is masked, and ``prompt_sha256`` is then that of the masked text.

        Raises:
            VersionConflictError: A package of this id exists.
        """
        masked = mask_bytes(prompt)
        if masked != prompt:
            envelope = envelope.with_(prompt_sha256=digest(masked))
        document = cleaned("packages", document_of(envelope))
        self._stage("packages", self._before("packages", envelope.id, document, 0), document)
        self._files[prompt_path(envelope.id)] = masked
        self.append_status(envelope.id, first)

    def put_blob(self, data: bytes) -> str:
        """Keep a content by its hash, masked.

        Returns:
            SHA-256 of what is kept.
        """
        masked = mask_bytes(data)
        name = digest(masked)
        self._files[f"blobs/{name}"] = masked
        return name

    # What the workspace and its tables ask.

    def stage_into(self, kind: str, documents: dict[str, dict[str, Any]]) -> None:
        """Change a table's documents into what they are with what is staged here."""
        for (table, identifier), staged in self._staged.items():
            if table != kind:
                continue
            documents.pop(identifier, None)
            if staged.after is not None:
                documents[identifier] = copy.deepcopy(staged.after)

    @property
    def empty(self) -> bool:
        """Whether nothing would be written."""
        return not (self._staged or self._appends or self._files or self._folded or self._told)

    @property
    def files(self) -> dict[str, bytes]:
        """Blobs and prompts, to be on disk before the change line."""
        return self._files

    def change(self, actor: str, command: str, why: str, last: str | None, undoes: str | None) -> Change | None:
        """The line to commit; None where only blobs were kept."""
        records = tuple(one for key, staged in self._staged.items() for one in staged.changes(*key))
        if not (records or self._appends or self._folded or self._told):
            return None
        return Change(
            id=self.id,
            after=last,
            at=self.now,
            actor=mask(actor),
            command=mask(command),
            why=mask(why),
            records=records,
            appends=tuple(self._appends),
            undoes=undoes,
            folded=self._folded or msgspec.UNSET,
        )

    # Merging and repairing: documents and lines that have a version or an id already.

    def place(self, kind: str, document: Mapping[str, Any], over: Held | None) -> None:
        """Stage a document just as it is, its version included, in the place of what lies there.

        Args:
            kind: Its table.
            document: The document.
            over: What lies in its place, readable or not; None where nothing does.
        """
        document = cleaned(kind, document)
        self._staged[kind, document["id"]] = Staged(over, document, record_path(kind, document))

    def append_line(self, path: str, document: Mapping[str, Any]) -> None:
        """Append a line that has an id and a parent already."""
        checked(str(document.get("id")), "line id")
        self._appends.append(Append(path=path, line=mask_json(storable(dict(document)))))

    def add_file(self, path: str, data: bytes) -> None:
        """Have a file (a blob, a prompt, a mended file of lines) on disk before the change is committed."""
        self._files[path] = data

    def fold(self, changes: tuple[Change, ...]) -> None:
        """Take the log of another copy in with this change."""
        self._folded = changes

    def tell(self) -> None:
        """Record this change also where it touches no record."""
        self._told = True

    # Staging.

    def _before(
        self, kind: str, identifier: str, document: dict[str, Any] | None, expect: int | None
    ) -> Held | Staged | None:
        checked(identifier)
        staged = self._staged.get((kind, identifier))
        before = staged if staged is not None else self._held(kind, identifier, document)
        if isinstance(before, Held) and self._edited_by_hand(identifier, before):
            before = self._take_edit(kind, identifier, before)
        current = content_of(before)
        found = int(current.get("version", 1)) if current is not None else 0
        if expect is not None and expect != found:
            what = f"version {found} of it" if found else "no such record"
            raise VersionConflictError(
                f"{one_of(kind)} {identifier}: version {expect} was expected, but there is {what}",
                "look at it again, then repeat the command",
                expected=expect,
                found=found,
                current=current,
            )
        return before

    def _stage(self, kind: str, before: Held | Staged | None, document: dict[str, Any]) -> dict[str, Any]:
        held = before.before if isinstance(before, Staged) else before
        old = content_of(before)
        if old is not None and {**document, "version": 0} == {**old, "version": 0}:
            return old
        if kind != "packages":
            document["version"] = held.version + 1 if held is not None else 1
        self._staged[kind, document["id"]] = Staged(held, document, record_path(kind, document))
        return document

    def _edited_by_hand(self, identifier: str, held: Held) -> bool:
        known = self._journal.written(identifier)
        return known is not None and known != held.sha256

    def _take_edits(self) -> bool:
        """Take all hand edits that can be read into the log; True where there were any."""
        taken = False
        for kind, identifier in self.edited():
            with suppress(DamagedError, UsageError):  # stays as it is, and is told as damage
                held = self._held(kind, identifier, None)
                if held is not None:
                    self._take_edit(kind, identifier, held)
                    taken = True
        return taken

    def _take_edit(self, kind: str, identifier: str, held: Held) -> Held:
        """A hand edit becomes a change of its own, with a new version: whoever saw the old one is told."""
        last = self._journal.last_acknowledged(kind, identifier)
        document = cleaned(kind, held.document)
        document["version"] = max(held.version, last[1].version if last is not None else 0) + 1
        path = record_path(kind, document)
        self._pen.commit(
            Change(
                id=new_id(),
                after=self._pen.last,
                at=self.now,
                actor=OUTSIDE,
                command="edited outside",
                records=tuple(Staged(held, document, path).changes(kind, identifier)),
            )
        )
        return Held(path, digest(canonical(document)), document)

    def _held(self, kind: str, identifier: str, document: dict[str, Any] | None) -> Held | None:
        """The stored document of a record; where it lies, its document, its key or the last reading says."""
        path = record_path(kind, document) if document is not None else self._find_path(kind, identifier, True)
        held = self._read(path, kind) if path is not None else None
        if held is None and document is not None:
            # A record that was never stored need not be looked for in every folder.
            elsewhere = self._find_path(kind, identifier, document.get("version", 1) > 1)
            held = self._read(elsewhere, kind) if elsewhere is not None and elsewhere != path else None
        if held is not None and held.document["id"] != identifier:
            self._refuse_foreign(kind, held)
        return held

    @staticmethod
    def _refuse_foreign(kind: str, held: Held) -> NoReturn:
        """The file holds another record: the name of an alias is taken, any other file is damaged."""
        other = held.document["id"]
        if kind == "aliases":
            raise VersionConflictError(
                f"{held.path} belongs to {other}",
                "change that record instead",
                expected=0,
                found=held.version,
                current=held.document,
            )
        raise DamagedError(
            f"{held.path}: it holds the id {other[:40]!r}",
            "mend the file by hand; it is not written over",
            path=held.path,
        )

    def _read(self, path: str, kind: str) -> Held | None:
        data = read_beneath(self._tree.root, path)
        if data is None:
            return None
        try:
            document = upgraded(TYPES[kind], read_document(data))
            decode(TYPES[kind], document)
        except (Unreadable, msgspec.ValidationError, RecursionError) as wrong:
            line, column = getattr(wrong, "line", None), getattr(wrong, "column", None)
            raise DamagedError(
                f"{path}: {wrong}",
                "mend the file by hand; it is not written over",
                path=path,
                line=line,
                column=column,
            ) from None
        return Held(path, digest(data), document)

    def _append(self, path: str, line: L, **more: str) -> L:
        after = line.after or self._last_line(path)
        line = line.with_(after=after)
        checked(line.id, "line id")
        document = mask_json(storable({**msgspec.to_builtins(line), **more}))
        self._appends.append(Append(path=path, line=document))
        return msgspec.convert(document, type(line))

    def _last_line(self, path: str) -> str | None:
        for staged in reversed(self._appends):
            if staged.path == path:
                return str(staged.line["id"])
        for line in reversed((read_beneath(self._tree.root, path) or b"").split(b"\n")):
            # A line that readers leave out is no parent.
            with suppress(Unreadable, msgspec.ValidationError, RecursionError):
                return str(msgspec.convert(read_line(line), LINES[path.split("/")[0]]).id)
        return None
