"""What every record has in common: frozen, versioned, schema-numbered, with an id of its own."""

from __future__ import annotations

from typing import Any, Self

import msgspec

SCHEMA = 1
"""The schema number written today; older ones are upgraded at a record's next write."""

Json = Any
"""Any JSON value: null, bool, number, string, list or object."""


class Part(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A frozen piece of a record (an item, a source, a spec); what is frozen leads to nothing that leads back to it."""

    def with_(self, **changes: Any) -> Self:
        """A copy with some fields replaced."""
        return msgspec.structs.replace(self, **changes)


class Claim(Part, frozen=True, kw_only=True):
    """What one of two merged copies says of a field that both had changed."""

    change: str
    """The change that set it there; the smaller one's value stands in the field until a person decides."""
    value: Json = None
    gone: bool = False
    """The change took the field away."""


class Record(Part, frozen=True, kw_only=True):
    """A document of the workspace."""

    id: str
    schema: int = SCHEMA
    version: int = 1
    """Optimistic number: counts up with every change; what people see and ``--expect`` names."""
    contested: dict[str, tuple[Claim, ...]] | msgspec.UnsetType = msgspec.UNSET
    """By field (``running``, ``state.variables.port``): what the copies say that a merge brought together."""

    @property
    def contests(self) -> dict[str, tuple[Claim, ...]]:
        """The contested fields; empty where nothing is."""
        return {} if isinstance(self.contested, msgspec.UnsetType) else self.contested


class Stamp(Part, frozen=True, kw_only=True):
    """Who did something, when, and why."""

    by: str
    """Actor: ``human:NAME`` or ``agent:NAME``."""
    at: str
    """UTC time."""
    why: str = ""
