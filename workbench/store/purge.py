"""The one deletion there is: a leaked secret, or a whole record, goes from everything beneath the workspace.

First the present records are changed (one transaction; its line in the log is the tombstone), then the
past is rewritten: the log, lines, packages, contents, and what only this machine keeps. Every file is
replaced whole, the log first: a purge that was cut short is finished by repeating it, and at no moment
does any file hold half of anything.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from workbench.domain.schema import TABLES
from workbench.errors import NotFoundError, UsageError
from workbench.store.examine import refuse_unreadable
from workbench.store.form import Unreadable, canonical, canonical_line, digest, documents_in, read_document, read_line
from workbench.store.journal import FOLDER
from workbench.store.lock import LOCK
from workbench.store.names import KEYED, one_of, prompt_path, record_path, status_path
from workbench.store.private import read_beneath
from workbench.store.secret_forms import SHORTEST, Secret
from workbench.store.settle import LOCK as SETTLING
from workbench.store.settle import QUEUE
from workbench.store.workspace import Workspace

_INDEX = ".local/search."
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"\xfd7zXZ", b"BZh", b"%PDF", b"7z\xbc\xaf")
"""How files begin that hold their text compressed: gzip, zstd, zip, xz, bzip2, PDF, 7z."""


@dataclass(frozen=True)
class Purged:
    """What a purge did."""

    records: int
    files: tuple[str, ...]
    """What was rewritten or removed besides, relative to the workspace folder."""
    unseen: tuple[str, ...] = ()
    """Compressed contents, which were not looked into."""


def purge_secret(workspace: Workspace, secret: str, actor: str, why: str = "") -> Purged:
    """Replace a secret wherever it stands beneath the workspace.

    Raises:
        UsageError: It is too short to be told from other text.
        NotFoundError: It stands nowhere.
    """
    if len(secret) < SHORTEST:
        raise UsageError(f"a secret of fewer than {SHORTEST} characters would take other text with it")
    secrets = Secret(secret)
    with workspace.transaction(actor, "purge a secret", why, alone=True) as tx:
        refuse_unreadable(workspace.root, "purging a secret")
        changed = 0
        tx.take_edits()
        for kind in TABLES:
            for document in workspace.documents(kind).values():
                clean = secrets.value(document)
                if clean != document:
                    tx.put_document(kind, clean)
                    changed += 1
        tx.tell()
        # Contents are known by their hash: with their bytes it changes, and so does every mention of it.
        renamed = {name: digest(secrets.data(workspace.blob(name))) for name in _held_contents(workspace)}
        moved = {old: new for old, new in renamed.items() if old != new}
        unseen = tuple(f"blobs/{name}" for name in renamed if workspace.blob(name).startswith(_PACKED))
        if not changed and not moved and not any(_holding(workspace, secrets)):
            but = f" ({len(unseen)} compressed contents were not looked into)" if unseen else ""
            raise NotFoundError(f"the secret stands nowhere beneath the workspace{but}", candidates=[])
    everything = Secret(secret, moved)
    return Purged(changed, tuple(_rewrite(workspace, everything, actor)), unseen)


def _held_contents(workspace: Workspace) -> Iterator[str]:
    for name in workspace.blobs():
        path = workspace.root / "blobs" / name
        if path.is_file() and not path.is_symlink() and digest(path.read_bytes()) == name:
            yield name


def _files(workspace: Workspace) -> Iterator[tuple[str, bytes]]:
    """Every file with its bytes; the log first, and locks left out."""
    found: list[str] = []
    for folder, _, names in os.walk(workspace.root):
        found += [(Path(folder) / name).relative_to(workspace.root).as_posix() for name in names]
    for relative in sorted(found, key=lambda path: (not path.startswith(f"{FOLDER}/"), path)):
        path = workspace.root / relative
        if path.is_file() and not path.is_symlink():
            yield relative, path.read_bytes()


def _holding(workspace: Workspace, secrets: Secret) -> Iterator[str]:
    """What holds a secret: in its bytes, behind the escapes of JSON, or in the name of a folder."""
    for table in KEYED:
        folder = workspace.root / table
        names = os.listdir(folder) if folder.is_dir() else []  # noqa: PTH208
        yield from (name for name in names if secrets.path(f"{table}/{name}") != f"{table}/{name}")
    for path, data in _files(workspace):
        if secrets.path(path) != path or _cleaned(path, data, secrets) != data:
            yield path


def _cleaned(path: str, data: bytes, secrets: Secret) -> bytes:
    """A file's bytes without the secrets; a file that needs none of it keeps every byte."""
    if path.endswith(".jsonl"):
        return b"\n".join(_cleaned_lines(data.split(b"\n"), secrets))
    if path.endswith(".json"):
        try:
            document = read_document(data)
        except (Unreadable, RecursionError):
            return secrets.data(data)
        value = secrets.value(document)
        return canonical(value) if value != document else data
    return secrets.data(data)


def _cleaned_lines(lines: list[bytes], secrets: Secret) -> Iterator[bytes]:
    """Lines without the secrets; inside parsed values only, for in JSON a number or a mark may look like one.

    Lines that are no JSON are taken together: a secret may go over several of them.
    """
    parsed = [(line, _parsed(line)) for line in lines]
    for whole, group in groupby(parsed, key=lambda row: row[1] is not None):
        if not whole:
            yield secrets.data(b"\n".join(line for line, _ in group))
            continue
        for line, document in group:
            value = secrets.value(document)
            yield canonical_line(value).rstrip(b"\n") if value != document else line


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        return read_line(line) if line else {}
    except (Unreadable, RecursionError):
        return None


def _rewrite(workspace: Workspace, secrets: Secret, actor: str) -> Iterator[str]:
    """Replace every file that holds a secret; under the lock, so that nobody writes meanwhile."""
    with workspace.transaction(actor, "purge", alone=True):
        for path, data in _files(workspace):
            if path.startswith(_INDEX):
                # An index holds words, not texts: pieces of a secret are not found by looking for it.
                workspace.tree.remove(path)
                yield path
                continue
            clean, target = _cleaned(path, data, secrets), secrets.path(path)
            if path in (LOCK, SETTLING, QUEUE) or (clean == data and target == path):
                continue
            workspace.tree.replace(target, clean)
            if target != path:
                workspace.tree.remove(path)
            _renew(workspace, target, data, clean)
            yield path
        for table in KEYED:
            _tidy(workspace, table)


def _renew(workspace: Workspace, path: str, before: bytes, data: bytes) -> None:
    """What is known of a rewritten file by its hash: a package's of its prompt, ours of a record."""
    table, _, name = path.partition("/")
    if table == "packages" and name.endswith("/prompt.md"):
        envelope = record_path("packages", {"id": path.split("/")[1]})
        document = read_document(read_beneath(workspace.root, envelope) or b"{}")
        if "prompt_sha256" in document:
            workspace.tree.replace(envelope, canonical({**document, "prompt_sha256": digest(data)}))
    elif table in TABLES:
        stored = workspace.stored().get(path)
        if stored is None or stored.value is None:
            return
        # What was edited by hand is not as we left it, and is told by the next command.
        if workspace.journal.written(stored.value.id) == digest(before):
            workspace.journal.remember({stored.value.id: stored.sha256})


def _tidy(workspace: Workspace, table: str) -> None:
    """Folders named after a key that held the secret are empty by now."""
    folder = workspace.root / table
    for name in sorted(os.listdir(folder)) if folder.is_dir() else ():  # noqa: PTH208
        workspace.tree.remove_folder(f"{table}/{name}")


def without_secret(name: str, data: bytes, secret: str) -> bytes:
    """The bytes of a file that is none of the workspace's, without the secret in any of its forms."""
    return _cleaned(name, data, Secret(secret))


def purge_record(workspace: Workspace, kind: str, identifier: str, actor: str, why: str = "") -> Purged:
    """Take a record away, now and in the past; the log keeps that there was one, and who took it away."""
    label = f"purge {one_of(kind)} {identifier}"
    with workspace.transaction(actor, label, why, alone=True) as tx:
        refuse_unreadable(workspace.root, "purging a record")
        if kind == "packages":
            held = tx.in_place_of(kind, {"id": identifier})
            assert held is not None
            tx.take_away(kind, identifier, held)
        else:
            tx.remove(kind, identifier)
    return Purged(1, tuple(_rewrite_past(workspace, kind, identifier, actor)))


def _rewrite_past(workspace: Workspace, kind: str, identifier: str, actor: str) -> Iterator[str]:
    with workspace.transaction(actor, "purge", alone=True):
        if kind in KEYED:
            _tidy(workspace, kind)
        for name in workspace.journal.files():
            data = workspace.journal.read(name)
            clean = b"\n".join(_without_record(line, kind, identifier) for line in data.split(b"\n"))
            if clean != data:
                workspace.tree.replace(f"{FOLDER}/{name}", clean)
                yield f"{FOLDER}/{name}"
        if kind == "packages":
            for path in (prompt_path(identifier), status_path(identifier)):
                workspace.tree.remove(path)
                yield path
        for path, _ in list(_files(workspace)):
            if path.startswith((_INDEX, ".local/quarantine/")) and (path.startswith(_INDEX) or identifier in path):
                workspace.tree.remove(path)
                yield path


def _without_record(line: bytes, kind: str, identifier: str) -> bytes:
    """A line of the log in which every image of the record is gone."""
    documents = list(documents_in(line))
    if not documents or identifier.encode() not in line:
        return line
    change = documents[0]
    for one in (change, *change.get("folded", ())):
        for record in one.get("records", ()):
            if record.get("kind") == kind and record.get("id") == identifier:
                record["after"] = None
                record["path"] = f"{kind}/purged/{identifier}.json"
        if kind == "packages":
            one["appends"] = [a for a in one.get("appends", ()) if a.get("path") != status_path(identifier)]
    return canonical_line(change).rstrip(b"\n")
