"""Taking in another copy of the workspace, record by record (``workspace.md``, promise 7).

All records of both copies survive. What only one of them changed since both knew the same is taken;
what both changed is contested. The log of the other copy is folded into this one, so a second merge
of the same copy finds nothing new.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workbench.domain.change import Change, RecordChange
from workbench.domain.contested import settled
from workbench.domain.merging import Side, merge
from workbench.domain.record import Json
from workbench.domain.schema import TABLES, encode
from workbench.domain.task import LIVE_ATTEMPT
from workbench.errors import DamagedError, NotFoundError, RefusedError, UsageError, WorkbenchError
from workbench.services.context import Context
from workbench.store.form import canonical_line, digest, documents_in, storable
from workbench.store.location import Location, locate
from workbench.store.mask import mask_bytes, mask_json
from workbench.store.names import prompt_path, record_path
from workbench.store.private import folder_beneath, names_in, read_beneath
from workbench.store.records import Damage, Records
from workbench.store.refusals import explained
from workbench.store.transaction import Transaction
from workbench.store.workspace import Workspace

PURGE = "purge "
"""What the command of a change begins with that took a record away for good."""


@dataclass(frozen=True)
class Contested:
    """What the two copies say differently."""

    record: str
    """``tasks/ID``."""
    field: str
    claims: tuple[Mapping[str, Json], ...]
    """Each with ``change`` and ``value``; for facts of one key each with ``record`` and ``value``."""


@dataclass
class Merged:
    """What a merge did."""

    records: int = 0
    """Records that were new here or changed."""
    lines: int = 0
    changes: int = 0
    """Entries of the other copy's log."""
    contents: int = 0
    contested: list[Contested] = field(default_factory=list)
    damaged: list[Damage] = field(default_factory=list)
    """What could not be read, in either copy; it is not taken in and not written over."""


@dataclass
class _Log:
    """What the log of one copy says of each record."""

    ids: set[str] = field(default_factory=set)
    bases: dict[tuple[str, str], Mapping[str, Any] | None] = field(default_factory=dict)
    images: dict[tuple[str, str], list[tuple[str, Mapping[str, Any]]]] = field(default_factory=dict)
    removed: set[tuple[str, str]] = field(default_factory=set)
    purged: set[tuple[str, str]] = field(default_factory=set)

    def tell(self, change: Change, record: RecordChange, *, shared: bool) -> None:
        """One record of one change; changes come oldest first."""
        key = (record.kind, _name(record.kind, record.id, record.after))
        if change.command.startswith(PURGE) and record.after is None:
            self.purged.add(key)
        if record.after is None:
            self.removed.add(key)
        else:
            self.removed.discard(key)
        if shared:
            self.bases[key] = record.after
            self.images.pop(key, None)
        elif record.after is not None:
            self.images.setdefault(key, []).append((change.id, record.after))

    def side(self, key: tuple[str, str], document: Mapping[str, Any]) -> Side:
        """A record of this copy, with what is known of its past."""
        return Side(document, self.bases.get(key), tuple(self.images.get(key, ())))


def merge_copy(ctx: Context, path: Path) -> Merged:
    """Take in the copy at ``path``: a repository, its ``.workbench``, or a backup of that folder.

    Raises:
        NotFoundError: There is no workspace.
        UsageError: It is this one.
        HumanNeededError: No person stands behind this process.
    """
    ctx.require_human("merging another copy")
    ctx.require_writable()
    other = _readable(Workspace.open(copy_at(ctx, path), read_only=True))
    result = Merged()
    command = f"merge {path.resolve().name}"
    with ctx.workspace.transaction(ctx.actor.name, command, now=ctx.now(), alone=True) as tx:
        result.damaged += [*tx.records.damaged, *_theirs(other)]
        ours, theirs, new = _logs(ctx.workspace, other)
        before = _contested_facts(tx.records)
        documents = _documents(tx, ctx.workspace, other, ours, theirs, result)
        _settle_running(documents)
        for (kind, _), document in documents.items():
            if not _stands(tx, kind, document):
                with suppress(DamagedError):  # told already
                    tx.place(kind, document, tx.in_place_of(kind, document))
                    result.records += 1
        _packages(tx, ctx.workspace, other, result)
        _lines(tx, ctx.workspace, other, result)
        _history(tx, ctx.workspace, other, result)
        _contents(tx, ctx.workspace, other, result)
        result.changes = len(new)
        tx.fold(tuple(new))
    result.contested += _contested_fields(documents)
    result.contested += [row for row in _contested_facts(ctx.workspace.load()) if row not in before]
    return result


def copy_at(ctx: Context, path: Path) -> Location:
    """Where the other copy lies.

    Raises:
        NotFoundError: Nowhere there.
        UsageError: It is the workspace itself.
    """
    if not path.is_dir():
        raise NotFoundError(f"{path} is no folder", "name a repository, or a copy of its .workbench", candidates=[])
    if (path / "changes").is_dir() and (path / "tasks").is_dir():
        found = Location(path, path.parent, path.parent)
    else:
        found = locate(path, path)
    if not found.exists:
        raise NotFoundError(f"no workspace at {path}", "name a repository, or a copy of its .workbench", candidates=[])
    if found.root.samefile(ctx.workspace.root):
        raise UsageError(f"{path} is this workspace itself", "name another copy")
    return found


def _readable(other: Workspace) -> Workspace:
    """The other copy, if its log can be read: without it nothing tells what both copies had.

    Raises:
        RefusedError: Something in the place of its log is no ordinary file.
    """
    try:
        other.damaged_changes()
    except RefusedError as problem:
        raise RefusedError(f"the log of {other.root.parent.name}: {problem.message}", problem.hint) from None
    return other


def _theirs(other: Workspace) -> list[Damage]:
    """What of the other copy cannot be read, under the name of its folder."""
    found = (*other.load().damaged, *other.damaged_changes())
    return [replace(d, path=f"{other.root.parent.name}/{d.path}") for d in found]


def _name(kind: str, identifier: str, document: Mapping[str, Any] | None) -> str:
    """What tells a record from the others of its table: an alias is known by its name, in every copy."""
    return str(document["alias"]) if kind == "aliases" and document is not None else identifier


def _logs(here: Workspace, there: Workspace) -> tuple[_Log, _Log, list[Change]]:
    """Both logs by record, and the changes that are only in the other, oldest first."""
    changes = [list(reversed(list(workspace.changes()))) for workspace in (here, there)]
    logs = (_Log(), _Log())
    for log, found in zip(logs, changes, strict=True):
        log.ids.update(change.id for change in found)
    for log, other, found in zip(logs, reversed(logs), changes, strict=True):
        for change in found:
            for record in change.records:
                log.tell(change, record, shared=change.id in other.ids)
    ours, theirs = logs
    new = [_without(change, ours.purged) for change in changes[1] if change.id not in ours.ids]
    return ours, theirs, new


def _without(change: Change, purged: set[tuple[str, str]]) -> Change:
    """A change of the other copy without what was purged here."""
    if not any((record.kind, record.id) in purged for record in change.records):
        return change
    return change.with_(records=tuple(r.with_(after=None) if (r.kind, r.id) in purged else r for r in change.records))


def _documents(
    tx: Transaction, here: Workspace, there: Workspace, ours: _Log, theirs: _Log, result: Merged
) -> dict[tuple[str, str], dict[str, Any]]:
    """The records of both copies as they shall be from now on."""
    merged: dict[tuple[str, str], dict[str, Any]] = {}
    for kind in TABLES:
        mine, other = (
            {_name(kind, i, d): storable(d) for i, d in workspace.documents(kind).items()}
            for workspace in (here, there)
        )
        for name in sorted(mine.keys() | other.keys()):
            key = (kind, name)
            if name in mine and name in other:
                merged[key] = merge(ours.side(key, mine[name]), theirs.side(key, other[name]))
            elif name in mine:
                if not _taken_back(ours.side(key, mine[name]), theirs, key):
                    merged[key] = mine[name]
                    continue
                tx.remove(kind, mine[name]["id"])
                result.records += 1
            elif not _taken_back(theirs.side(key, other[name]), ours, key):
                merged[key] = other[name]
    return merged


def _taken_back(side: Side, other: _Log, key: tuple[str, str]) -> bool:
    """Whether the other copy took a record away that this one did not change since."""
    return key in other.purged or (key in other.removed and side.base is not None and not side.changed)


def _stands(tx: Transaction, kind: str, document: Mapping[str, Any]) -> bool:
    with suppress(DamagedError):
        return tx.document(kind, document["id"]) == document
    return False


def _settle_running(documents: dict[tuple[str, str], dict[str, Any]]) -> None:
    """Who runs a task is contested only between attempts that have not ended."""
    live = {d["id"] for (kind, _), d in documents.items() if kind == "attempts" and d.get("status") in LIVE_ATTEMPT}
    for (kind, name), document in documents.items():
        claims = document.get("contested", {}).get("running") if kind == "tasks" else None
        if not claims:
            continue
        left = [claim["value"] for claim in claims if claim["value"] in live]
        if len(left) < 2:
            documents[kind, name] = settled(document, "running", left[0] if left else None)


def _packages(tx: Transaction, here: Workspace, there: Workspace, result: Merged) -> None:
    known = here.load().packages
    for identifier, package in there.load().packages.items():
        if identifier in known:
            if known[identifier].envelope != package.envelope:
                place = record_path("packages", {"id": identifier})
                result.damaged.append(Damage(place, "the other copy holds another package of this id"))
            continue
        document = encode(package.envelope)
        try:
            prompt = there.prompt(identifier)
        except WorkbenchError as problem:
            result.damaged.append(_foreign(there, prompt_path(identifier), f"{problem.message}; not taken in"))
            continue
        tx.place("packages", document, tx.in_place_of("packages", document))
        tx.add_file(prompt_path(identifier), prompt)
        result.records += 1


def _lines(tx: Transaction, here: Workspace, there: Workspace, result: Merged) -> None:
    mine = here.lines()
    for path, lines in there.lines().items():
        known = {line.get("id") for line in mine.get(path, ())}
        for line in lines:
            if line.get("id") not in known:
                tx.append_line(path, line)
                known.add(line.get("id"))
                result.lines += 1


def _history(tx: Transaction, here: Workspace, there: Workspace, result: Merged) -> None:
    """The copies of messages: those of both, each message once."""
    for name in _names(there, "history", result):
        path = f"history/{name}"
        data = _bytes(there, path, result) if name.endswith(".jsonl") else None
        if data is None:
            continue
        mine = read_beneath(here.root, path) or b""
        known = {line.get("id") for line in documents_in(mine)}
        new = [line for line in documents_in(data) if line.get("id") not in known]
        if new:
            lines = b"".join(canonical_line(mask_json(storable(line))) for line in new)
            tx.add_file(path, mine + (b"" if mine.endswith(b"\n") or not mine else b"\n") + lines)
            result.lines += len(new)


def _contents(tx: Transaction, here: Workspace, there: Workspace, result: Merged) -> None:
    for name in sorted(set(_names(there, "blobs", result)) - set(here.blobs())):
        data = _bytes(there, f"blobs/{name}", result)
        if data is None:
            continue
        if digest(data) != name:
            result.damaged.append(_foreign(there, f"blobs/{name}", "not the content that its name says; not taken in"))
        elif mask_bytes(data) != data:
            result.damaged.append(Damage(f"blobs/{name}", "it holds what looks like a secret; not taken in"))
        else:
            tx.add_file(f"blobs/{name}", data)
            result.contents += 1


def _names(there: Workspace, folder: str, result: Merged) -> list[str]:
    """The names in a folder of the other copy; none where a link stands in its place."""
    try:
        with explained(there.root / folder), suppress(FileNotFoundError), folder_beneath(there.root, folder) as held:
            return names_in(held)
    except WorkbenchError as problem:
        result.damaged.append(_foreign(there, folder, f"{problem.message}; not taken in"))
    return []


def _bytes(there: Workspace, path: str, result: Merged) -> bytes | None:
    """A file of the other copy; a link is not followed, and is told as what was not taken in."""
    try:
        return read_beneath(there.root, path)
    except WorkbenchError as problem:
        result.damaged.append(_foreign(there, path, f"{problem.message}; not taken in"))
        return None


def _foreign(there: Workspace, path: str, message: str) -> Damage:
    """Something of the other copy that is not taken in, under the name of its folder."""
    return Damage(f"{there.root.parent.name}/{path}", message)


def _contested_fields(documents: Mapping[tuple[str, str], Mapping[str, Any]]) -> list[Contested]:
    return [
        Contested(f"{kind}/{document['id']}", name, tuple(claims))
        for (kind, _), document in sorted(documents.items())
        for name, claims in document.get("contested", {}).items()
    ]


def _contested_facts(records: Records) -> list[Contested]:
    """The keys of which several accepted facts stand: a merge can bring two successors of one fact."""
    found: dict[tuple[str, ...], Contested] = {}
    for fact in records.facts.values():
        standing = records.registry.standing(fact.id)
        if standing.lifecycle != "contested":
            continue
        heads = tuple(sorted((fact.id, *standing.by)))
        claims = tuple({"record": f"facts/{head}", "value": records.facts[head].value} for head in heads)
        found[heads] = Contested(f"facts/{heads[0]}", records.registry.canonical(fact.key), claims)
    return [found[heads] for heads in sorted(found)]
