"""Puts files and incomplete changes together into the records of one moment.

A committed change whose record files are not written yet is shown from its line; nothing is written.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from workbench.domain.change import Change
from workbench.domain.lines import causal_order
from workbench.domain.schema import TABLES, encode
from workbench.store.form import canonical, canonical_line, digest
from workbench.store.overtaken import Earlier, overtaken
from workbench.store.pending import Pending
from workbench.store.reader import LINES, Stored, decode
from workbench.store.records import Damage, Records, StoredPackage


def overlay(files: dict[str, Stored], changes: Sequence[Change], earlier: Earlier) -> dict[str, Stored]:
    """The files as they will be when these changes are complete, put together with hand edits of them.

    Args:
        files: As they are.
        changes: What comes, oldest first.
        earlier: Finds what the log left of a record before.
    """
    result = dict(files)
    for change in changes:
        for record in change.records:
            stored = result.get(record.path)
            if (None if stored is None else stored.sha256) != record.before:
                continue
            if record.after is None:
                result.pop(record.path, None)
            else:
                name = record.path.rpartition("/")[2]
                result[record.path] = decode(record.kind, name, record.path, canonical(record.after))
        for line in change.appends:
            result[line.path] = _with_line(result.get(line.path), line.path, line.line)
    pending = Pending(changes)
    for path in pending.records:
        stored = files.get(path)
        if stored is None or stored.value is None or not (images := pending.images(path, stored.sha256)):
            continue
        edit = overtaken(stored.document or encode(stored.value), stored.sha256, images, earlier)
        if edit is not None:
            result.pop(path, None)
            if edit.path is not None:
                name = edit.path.rpartition("/")[2]
                result[edit.path] = decode(edit.last.kind, name, edit.path, canonical(edit.result))
    return result


def within(changes: Iterable[Change], places: tuple[str, ...]) -> list[Change]:
    """What changes do in these places: tables, folders in them, or single files."""

    def there(path: str) -> bool:
        return any(path == place or path.startswith(f"{place}/") for place in places)

    return [
        change.with_(
            records=tuple(record for record in change.records if there(record.path)),
            appends=tuple(line for line in change.appends if there(line.path)),
        )
        for change in changes
    ]


def _with_line(stored: Stored | None, path: str, document: dict[str, Any]) -> Stored:
    kind = LINES[path.split("/")[0]]
    value = msgspec.convert(document, kind)
    session = str(document.get("session", ""))
    if stored is None or stored.value is None:
        return Stored(hashlib.sha256(canonical_line(document)).hexdigest(), (value,), session)
    # What the writer had begun when it died is no damage: nothing yet, or the beginning of this line
    # (or, after a power cut, NULs where its bytes should be).
    begun = stored.sha256 == digest(b"") or (
        stored.tail and canonical_line(document).startswith(stored.tail.rstrip(b"\0"))
    )
    damage = stored.damage[:-1] if begun else stored.damage
    if any(line.id == value.id for line in stored.value):
        return Stored(stored.sha256, stored.value, stored.session, damage)
    revision = hashlib.sha256(stored.sha256.encode() + canonical_line(document)).hexdigest()
    return Stored(revision, (*stored.value, value), stored.session or session, damage)


def assemble(files: dict[str, Stored]) -> Records:
    """The records in these files, with the damage beside them."""
    tables: dict[str, dict[str, Any]] = {name: {} for name in TABLES}
    damaged: list[Damage] = []
    lines: dict[str, dict[str, Stored]] = {name: {} for name in LINES}
    envelopes: dict[str, Stored] = {}
    content: list[str] = []
    for path in sorted(files):
        stored = files[path]
        content.append(f"{path}\0{stored.sha256}\n")
        if stored.damage:
            damaged.extend(stored.damage)
        record = stored.value
        if record is None:
            continue
        table = path.partition("/")[0]
        if path.endswith(".jsonl"):
            lines[table][path] = stored
        elif table == "packages":
            envelopes[path.split("/")[1]] = stored
        elif tables[table].setdefault(record.id, record) is not record:
            damaged.append(Damage(path, f"the id {record.id} occurs in another file too"))
    return Records(
        **{name: MappingProxyType(table) for name, table in tables.items()},
        evidence=tuple(line for stored in lines["evidence"].values() for line in causal_order(stored.value)),
        trims=MappingProxyType(_trims(lines["trims"].values())),
        packages=MappingProxyType(_packages(envelopes, lines["packages"], files, damaged)),
        damaged=tuple(damaged),
        revision=digest(os.fsencode("".join(content))),
    )


def _trims(files: Iterable[Stored]) -> dict[str, tuple[Any, ...]]:
    return {stored.session: tuple(causal_order(stored.value)) for stored in files if stored.value}


def _packages(
    envelopes: dict[str, Stored], events: dict[str, Stored], files: dict[str, Stored], damaged: list[Damage]
) -> dict[str, StoredPackage]:
    packages: dict[str, StoredPackage] = {}
    for identifier, stored in envelopes.items():
        path = f"packages/{identifier}/status.jsonl"
        life: Sequence[Any] = causal_order(events[path].value) if path in events else ()
        if life:
            packages[identifier] = StoredPackage(stored.value, tuple(life))
        elif path not in files or not files[path].damage:
            damaged.append(Damage(path, "the package has no status"))
    for path in events:
        envelope = path.replace("status.jsonl", "envelope.json")
        if envelope not in files:
            damaged.append(Damage(envelope, "the package's envelope is missing"))
    return packages
