"""The records by name, their JSON Schema, and the codec that keeps keys it does not know."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from workbench.domain.artifact import Artifact
from workbench.domain.change import Change
from workbench.domain.evidence import Evidence
from workbench.domain.fact import Alias, Fact
from workbench.domain.message import Message
from workbench.domain.note import Guideline, Note, Role
from workbench.domain.package import Envelope, PackageEvent
from workbench.domain.task import Attempt, Task
from workbench.domain.trimming import Trim
from workbench.errors import NotFoundError

TABLES: dict[str, type[msgspec.Struct]] = {
    "tasks": Task,
    "facts": Fact,
    "notes": Note,
    "artifacts": Artifact,
    "attempts": Attempt,
    "aliases": Alias,
}
"""Records kept one a file, by the name of their table."""

RECORDS: dict[str, type[msgspec.Struct]] = {
    "task": Task,
    "attempt": Attempt,
    "fact": Fact,
    "alias": Alias,
    "artifact": Artifact,
    "evidence": Evidence,
    "note": Note,
    "guideline": Guideline,
    "role": Role,
    "message": Message,
    "trim": Trim,
    "package": Envelope,
    "package-event": PackageEvent,
    "change": Change,
}
"""Every record of the domain, by the name that ``schema print`` takes."""

S = TypeVar("S", bound=msgspec.Struct)


def json_schema(name: str) -> dict[str, Any]:
    """JSON Schema (2020-12) of one record.

    Raises:
        NotFoundError: There is no such record.
    """
    if name not in RECORDS:
        raise NotFoundError(f"no record {name!r}", "one of: " + ", ".join(RECORDS), candidates=list(RECORDS))
    return msgspec.json.schema(RECORDS[name])


def decode(kind: type[S], document: Any) -> S:
    """A record from a JSON document; unknown keys are ignored here and kept by :func:`encode`.

    Raises:
        msgspec.ValidationError: A missing key or a wrong type; the message names the place as ``$.a.b``.
    """
    return msgspec.convert(document, kind)


def encode(record: msgspec.Struct, over: dict[str, Any] | None = None) -> dict[str, Any]:
    """The document of a record; keys of ``over`` that this schema does not know are carried along."""
    document: dict[str, Any] = msgspec.to_builtins(record)
    return document if over is None else _keep_unknown(type(record), document, over)


def _keep_unknown(kind: type[msgspec.Struct], new: dict[str, Any], old: dict[str, Any]) -> dict[str, Any]:
    fields = _fields(kind)
    for key, value in old.items():
        if key not in fields:
            new.setdefault(key, value)
        elif isinstance(value, dict) and isinstance(new.get(key), dict):
            inner = fields[key]
            if inner is not None:
                _keep_unknown(inner, new[key], value)
        elif isinstance(value, list) and isinstance(new.get(key), (list, tuple)):
            inner = fields[key]
            if inner is not None:
                before = {row["id"]: row for row in value if isinstance(row, dict) and "id" in row}
                for row in new[key]:
                    if isinstance(row, dict) and row.get("id") in before:
                        _keep_unknown(inner, row, before[row["id"]])
    return new


@cache
def _fields(kind: type[msgspec.Struct]) -> dict[str, type[msgspec.Struct] | None]:
    """The keys of a record's document, each with the record type inside its value."""
    hints = get_type_hints(kind)
    return {field.encode_name: _struct_in(hints[field.name]) for field in msgspec.structs.fields(kind)}


def _struct_in(hint: Any) -> type[msgspec.Struct] | None:
    """The record type inside an annotation like ``Contract``, ``X | None`` or ``tuple[X, ...]``."""
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return hint
    if get_origin(hint) is dict:
        return None
    for argument in get_args(hint):
        found = _struct_in(argument)
        if found is not None:
            return found
    return None
