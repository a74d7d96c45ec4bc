"""File names from keys, and the places of records beneath the workspace folder."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote

from workbench.domain.ids import is_id
from workbench.errors import UsageError

LONGEST = 80
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._-")
KEYED = {"facts": "key", "notes": "key"}
"""Tables whose records lie in a folder named after a key."""


def file_name(key: str) -> str:
    """The file name of a key: readable, safe on every file system, and different for different keys.

    NFC, lower case, percent-encoded; at most 80 bytes. Wherever that changed anything, ``~`` and 8
    characters of the key's hash follow, so that keys differing in case or length stay apart.
    """
    pieces = _pieces(key)
    name = "".join(pieces)
    if name == key and len(name) <= LONGEST and name:
        return name
    return f"{_stem(pieces)}~{hashlib.sha256(key.encode('utf-8', 'replace')).hexdigest()[:8]}"


def names_of(names: Iterable[str], keys: Iterable[str]) -> list[str]:
    """Those among file names that these keys have, in any spelling (case, form of Unicode); perhaps some more."""
    keys = set(keys)
    whole, stems = {file_name(key) for key in keys}, {_stem(_pieces(key)) for key in keys}
    return [name for name in names if name in whole or name.partition("~")[0] in stems]


def key_in(name: str) -> str | None:
    """The key that a file name was made from, as keys are compared; None where it was too long to be all there."""
    stem, changed, _ = name.partition("~")
    return None if changed and len(stem) > LONGEST - 9 - 12 else unquote(stem)


def _pieces(key: str) -> list[str]:
    text = unicodedata.normalize("NFC", key).lower()
    pieces = [c if c in _PLAIN else "".join(f"%{b:02x}" for b in c.encode("utf-8", "replace")) for c in text]
    if pieces and pieces[0] == ".":
        pieces[0] = "%2e"
    return pieces


def _stem(pieces: list[str]) -> str:
    room, kept = LONGEST - 9, ""
    for piece in pieces:
        if len(kept) + len(piece) > room:
            break
        kept += piece
    return kept


def one_of(table: str) -> str:
    """The word for one record of a table."""
    return {"aliases": "alias"}.get(table, table.removesuffix("s"))


def checked(identifier: str, what: str = "id") -> str:
    """An id, once it is known to have an id's form; nothing else becomes part of a path.

    Raises:
        UsageError: It has another form.
    """
    if not is_id(identifier):
        raise UsageError(f"{identifier[:40]!r} is no {what}", "ids are ten of the characters 0-9 a-z without i l o u")
    return identifier


def record_path(table: str, document: dict[str, Any]) -> str:
    """Where the file of a record's document lies, relative to the workspace folder."""
    identifier = checked(document["id"])
    if table in KEYED:
        return f"{table}/{file_name(document[KEYED[table]])}/{identifier}.json"
    if table == "aliases":
        return f"aliases/{file_name(document['alias'])}.json"
    if table == "packages":
        return f"packages/{identifier}/envelope.json"
    return f"{table}/{identifier}.json"


def evidence_path(attempt: str | None, task: str) -> str:
    """The file of an attempt's evidence, or of a task's where there was no attempt."""
    if attempt is None:
        return f"evidence/none-{checked(task, 'task id')}.jsonl"
    return f"evidence/{checked(attempt, 'attempt id')}.jsonl"


def trims_path(session: str) -> str:
    """The file of what was decided about a session's messages."""
    return f"trims/{file_name(session)}.jsonl"


def status_path(package: str) -> str:
    """The file of a package's life."""
    return f"packages/{checked(package, 'package id')}/status.jsonl"


def prompt_path(package: str) -> str:
    """The file of a package's prompt."""
    return f"packages/{checked(package, 'package id')}/prompt.md"
