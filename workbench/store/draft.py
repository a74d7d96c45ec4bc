"""A record on its way to the disk: what is stored now, what shall be, and the form it has to have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from workbench.domain.change import RecordChange
from workbench.domain.contested import lost, refusal, touched
from workbench.domain.package import Envelope
from workbench.domain.record import SCHEMA
from workbench.domain.schema import TABLES, decode, encode
from workbench.errors import UsageError
from workbench.store.form import storable
from workbench.store.mask import mask_document
from workbench.store.names import checked, one_of

TYPES: dict[str, type[Any]] = {**TABLES, "packages": Envelope}
"""What lies in a file of its own, by table."""
KINDS: dict[type[Any], str] = {kind: name for name, kind in TABLES.items()}
"""The table of each record."""


class Held(msgspec.Struct, frozen=True):
    """A record's file as it is now, under the lock."""

    path: str
    sha256: str
    document: dict[str, Any]

    @property
    def version(self) -> int:
        """The stored optimistic number."""
        return int(self.document.get("version", 1))


class Staged(msgspec.Struct, frozen=True):
    """A record as a transaction will leave it."""

    before: Held | None
    """What lies on the disk."""
    after: dict[str, Any] | None
    """None where the record goes."""
    path: str

    @property
    def version(self) -> int:
        """The optimistic number that the change names."""
        if self.after is not None:
            return int(self.after.get("version", 1))
        return self.before.version if self.before is not None else 1

    def changes(self, kind: str, identifier: str) -> list[RecordChange]:
        """What the journal says of it: one file before and after, or two where it moves."""
        held = self.before
        here = held if held is not None and held.path == self.path else None
        changed = RecordChange(
            kind=kind,
            id=identifier,
            path=self.path,
            before=here.sha256 if here is not None else None,
            version=self.version,
            after=self.after,
        )
        if held is None or here is not None:
            return [changed]
        gone = RecordChange(kind=kind, id=identifier, path=held.path, before=held.sha256, version=self.version)
        return [gone, changed]


def content_of(state: Held | Staged | None) -> dict[str, Any] | None:
    """The document of a record as it stands; None where there is none."""
    if isinstance(state, Staged):
        return state.after
    return None if state is None else state.document


def document_of(record: msgspec.Struct, over: dict[str, Any] | None = None) -> dict[str, Any]:
    """The document of a record; unknown keys of ``over`` are carried along.

    Raises:
        UsageError: A value in it is no JSON.
    """
    try:
        return encode(record, over)
    except (TypeError, ValueError, RecursionError) as wrong:
        raise UsageError(f"it cannot be stored: {wrong}", "use text, numbers, lists and objects") from None


def cleaned(kind: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """A document as it may be stored: plain JSON, masked, a record of its kind, under a sound id."""
    clean = mask_document(storable(dict(document)))
    clean["schema"] = SCHEMA
    try:
        decode(TYPES[kind], clean)
    except msgspec.ValidationError as wrong:
        raise UsageError(f"no {one_of(kind)}: {wrong}", f"see: workbench schema print {one_of(kind)}") from None
    checked(clean["id"])
    return clean


def refuse_contested(kind: str, before: Mapping[str, Any], document: Mapping[str, Any], actor: str) -> None:
    """Nobody but a person decides a contested field, and a person not by taking away what it stands in.

    Raises:
        HumanNeededError: The change decides one, and its actor is no person.
        RefusedError: One would vanish undecided.
    """
    human = actor.startswith("human:")
    field = next(iter((lost if human else touched)(before, document)), None)
    if field is not None:
        name = next((str(before[key]) for key in ("slug", "key", "alias") if key in before), str(before["id"]))
        raise refusal(one_of(kind), name, f"{kind}/{before['id']}", field, human=human)
