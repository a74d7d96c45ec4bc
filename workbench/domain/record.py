"""What every record has in common: frozen, versioned, schema-numbered, with an id of its own."""

from __future__ import annotations

from typing import Any, Self

import msgspec

SCHEMA = 1
"""The schema number written today; older ones are upgraded at a record's next write."""

Json = Any
"""Any JSON value: null, bool, number, string, list or object."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A frozen piece of a record (an item, a source, a spec)."""

    def with_(self, **changes: Any) -> Self:
        """A copy with some fields replaced."""
        return msgspec.structs.replace(self, **changes)


class Record(Part, frozen=True, kw_only=True):
    """A document of the workspace."""

    id: str
    schema: int = SCHEMA
    version: int = 1
    """Optimistic number: counts up with every change; what people see and ``--expect`` names."""


class Stamp(Part, frozen=True, kw_only=True):
    """Who did something, when, and why."""

    by: str
    """Actor: ``human:NAME`` or ``agent:NAME``."""
    at: str
    """UTC time."""
    why: str = ""
