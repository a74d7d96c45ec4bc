"""One command on the records: staged in memory under the lock, then committed as one line of the journal."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from workbench.domain.change import Append, Change
from workbench.domain.contested import decided
from workbench.domain.evidence import Evidence
from workbench.domain.ids import new_id
from workbench.domain.package import Envelope, PackageEvent
from workbench.domain.record import Record
from workbench.domain.schema import TABLES, decode
from workbench.domain.trimming import Trim
from workbench.errors import NotFoundError, VersionConflictError
from workbench.store.assemble import assemble
from workbench.store.draft import KINDS, Held, Staged, cleaned, content_of, document_of, refuse_contested
from workbench.store.edits import Edits
from workbench.store.form import digest, storable
from workbench.store.held import Shelf
from workbench.store.mask import mask, mask_bytes, mask_json
from workbench.store.names import checked, evidence_path, one_of, prompt_path, record_path, status_path, trims_path
from workbench.store.reader import Stored
from workbench.store.records import Records

Look = Callable[[tuple[str, ...]], dict[str, Stored]]
R = TypeVar("R", bound=Record)
L = TypeVar("L", Evidence, Trim, PackageEvent)


class Transaction:
    """What one command does to the records; handed out by ``Workspace.transaction``, used by one thread.

    Args:
        shelf: Reads single records.
        edits: Takes hand edits into the log.
        fresh: Reads all records as they are under the lock.
        look: Reads the files of some places.
        now: UTC text.
        actor: Who does it: a person alone decides what merged copies left contested.
    """

    def __init__(
        self, shelf: Shelf, edits: Edits, fresh: Callable[[], Records], look: Look, now: str, actor: str
    ) -> None:
        self.id = new_id()
        self.now = now
        self._actor = actor
        self._shelf = shelf
        self._edits = edits
        self._fresh = fresh
        self._look = look
        self._records: Records | None = None
        self._staged: dict[tuple[str, str], Staged] = {}
        self._appends: list[Append] = []
        self._files: dict[str, bytes] = {}
        self._folded: tuple[Change, ...] = ()
        self._told = False

    @property
    def records(self) -> Records:
        """All records as they were when the lock was taken; what is staged here is not in it."""
        if self._records is None:
            self._records = self._fresh()
            if self._edits.take_all():
                self._records = self._fresh()
        return self._records

    def look(self, *places: str) -> Records:
        """The records of some places alone, as they are now; what is staged here is not in it.

        A command that needs no more pays for no more: tables (``aliases``), folders in them
        (``facts/server.port``), or single files in a table.
        """
        files = self._look(places)
        if self._edits.take_these(files):
            files = self._look(places)
        return assemble(files)

    def take_edits(self) -> None:
        """Take in what was edited by hand since our last change, as reading :attr:`records` does."""
        _ = self.records  # only what was read now can be known for edited

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
        held = self._shelf.held(kind, identifier)
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
        document = cleaned(kind, document_of(record))
        before = self._before(kind, record.id, document, expect)
        if content_of(before) is not None:  # which may have keys that this program does not know
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
        if not known and not self._shelf.exists(path.replace("status.jsonl", "envelope.json")):
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

    def take_away(self, kind: str, identifier: str, over: Held) -> None:
        """Stage that a file goes which is otherwise never changed."""
        self._staged[kind, identifier] = Staged(over, None, over.path)

    def in_place_of(self, kind: str, document: Mapping[str, Any]) -> Held | None:
        """What lies where a document would be placed, or where its record lies now.

        Raises:
            DamagedError: It cannot be read, and is not written over.
        """
        there = self._shelf.at(record_path(kind, dict(document)), kind)
        return there if there is not None else self._shelf.held(kind, str(document["id"]))

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
        before = staged if staged is not None else self._shelf.held(kind, identifier, document)
        if isinstance(before, Held):
            before = self._edits.take(kind, identifier, before)
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
        if old is not None:
            refuse_contested(kind, old, document, self._actor)
            document = decided(old, document)
        if kind != "packages":
            document["version"] = held.version + 1 if held is not None else 1
        self._staged[kind, document["id"]] = Staged(held, document, record_path(kind, document))
        return document

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
        return self._shelf.last_line(path)
