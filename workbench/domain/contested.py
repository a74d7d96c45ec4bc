"""What two merged copies of a record say differently, field by field, and deciding it (``workspace.md``, promise 7).

A field is named by the way to it: names of fields and identities of entries, joined by dots.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.domain.fact import canonical_value, value_text
from workbench.domain.record import Claim, Json
from workbench.errors import HumanNeededError, RefusedError


class _Gone:
    """The value of a field that is not there."""


GONE = _Gone()
RUNNING = "running"
VARIABLES = "state.variables."
"""Before the name of a variable, in the way to it."""


@dataclass(frozen=True)
class Contest:
    """One field of one record that two merged copies had changed, each in its way."""

    kind: str
    """The table of the record."""
    id: str
    version: int
    """The record's, as seen."""
    name: str
    """What people call the record: a slug, a key."""
    title: str
    """Record and field, for a line of text."""
    field: str
    claims: tuple[Claim, ...]
    """What the copies say; the first stands in the field until a person decides."""
    present: Json
    gone: bool
    """The field is not there at present."""
    task: str | None
    """The task on whose card it belongs."""

    @property
    def record(self) -> str:
        """``tasks/ID``."""
        return f"{self.kind}/{self.id}"

    def stands(self, claim: Claim) -> bool:
        """Whether a claim is what stands in the field."""
        return claim.gone == self.gone and (claim.gone or same(claim.value, self.present))


def field_words(field: str) -> str:
    """A field as a person calls it."""
    if field == RUNNING:
        return "who runs it"
    for beginning, word in ((VARIABLES, "variable "), ("contract.", ""), ("state.", "")):
        if field.startswith(beginning):
            return word + field.removeprefix(beginning)
    return field


def claim_text(claim: Claim) -> str:
    """What a copy says, on a line."""
    return "taken away" if claim.gone else value_text(claim.value)


def concerns(field: str, place: str) -> bool:
    """Whether a contested field is a place in a record, stands in it, or holds it."""
    return field == place or field.startswith(f"{place}.") or place.startswith(f"{field}.")


def decided(before: Mapping[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    """A changed document without the contests that the change settled: who sets a contested field decides it."""
    contested, known = document.get("contested"), before.get("contested", {})
    if not contested:
        return document
    left = {
        path: claims
        for path, claims in contested.items()
        if known.get(path) != claims or same(at(before, path), at(document, path))
    }
    return _with(document, left)


def touched(before: Mapping[str, Any], document: Mapping[str, Any]) -> tuple[str, ...]:
    """The contested fields that a change decides, or whose entry of a list it changes."""
    left = document.get("contested", {})
    return tuple(
        path
        for path in before.get("contested", {})
        if path not in left or not same(at(before, place := _entry(before, path)), at(document, place))
    )


def lost(before: Mapping[str, Any], document: Mapping[str, Any]) -> tuple[str, ...]:
    """The contested fields that vanish with what they stand in, which says nothing of which copy is right."""
    left = document.get("contested", {})
    known = (path for path in before.get("contested", {}) if path in left)
    return tuple(path for path in known if at(document, path) is GONE and at(before, path) is not GONE)


def refusal(kind: str, name: str, identifier: str, field: str, *, human: bool) -> RefusedError:
    """Why a contested field is not written on the way.

    Args:
        kind: ``task``, ``note`` and so on.
        name: What people call the record.
        identifier: ``TABLE/ID``.
        field: The way to the field.
        human: Whether a person wrote; she is told how to decide, anybody else who does.
    """
    return (RefusedError if human else HumanNeededError)(
        f"{field_words(field)} of {kind} {name} is contested since two copies were merged",
        f"{'settle it first' if human else 'a person settles it'}: workbench settle {name} {field}",
        record=identifier,
        field=field,
    )


def _entry(document: Any, path: str) -> str:
    """The way to the entry of a list that a field belongs to; the field's own where it is in none."""
    value, rest, way = document, path, ""
    while rest:
        inside = _inside(value)
        name = _first(inside, rest)
        if not name:
            return path
        way = f"{way}.{name}" if way else name
        if isinstance(value, list):
            return way
        rest, value = rest[len(name) + 1 :], inside[name]
    return path


def settled(document: Mapping[str, Any], path: str, value: Json) -> dict[str, Any]:
    """A document in which a contested field of the record itself is decided."""
    left = {name: claims for name, claims in document.get("contested", {}).items() if name != path}
    return _with({**document, path: value}, left)


def taken(document: Mapping[str, Any], path: str, claim: Claim) -> dict[str, Any]:
    """A document in which a contested field, however deep, is what one of the copies says."""
    left = {name: claims for name, claims in document.get("contested", {}).items() if name != path}
    changed: dict[str, Any] = _placed(dict(document), path, GONE if claim.gone else claim.value)
    return _with(changed, left)


def _with(document: Mapping[str, Any], contested: Mapping[str, Any]) -> dict[str, Any]:
    rest = {name: value for name, value in document.items() if name != "contested"}
    return rest | {"contested": dict(contested)} if contested else rest


def at(document: Any, path: str) -> Any:
    """The value at a path of names and identities; GONE where there is none."""
    value = document
    rest = path
    while rest:
        inside = _inside(value)
        name = _first(inside, rest)
        if not name:
            return GONE
        rest, value = rest[len(name) + 1 :], inside[name]
    return value


def _placed(value: Any, path: str, wanted: Any) -> Any:
    """A value in which something else stands at a path, or nothing where it is GONE."""
    inside = _inside(value)
    name = _first(inside, path) or path
    rest = path[len(name) + 1 :]
    new = _placed(inside[name], rest, wanted) if rest else wanted
    if isinstance(value, list):
        rows = [new if isinstance(row, Mapping) and identity(row) == name else row for row in value]
        rows += [new] if name not in inside else []
        return [row for row in rows if row is not GONE]
    return {key: item for key, item in {**value, name: new}.items() if item is not GONE}


def _inside(value: Any) -> dict[str, Any]:
    """What a value holds, by name or identity."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, list):
        return {identity(row): row for row in value if isinstance(row, Mapping)}
    return {}


def _first(inside: Mapping[str, Any], path: str) -> str:
    """The first name of a path; a name may itself hold dots, so it is looked for and not cut off."""
    names = [name for name in inside if name and (path == name or path.startswith(f"{name}."))]
    return max(names, key=len, default="")


def identity(row: Mapping[str, Any]) -> str:
    """What tells an entry from the others of its list; empty where nothing does."""
    if "agent" in row and "id" in row:
        return f"{row['agent']}:{row['id']}"
    return str(next((row[name] for name in ("id", "number", "key") if name in row), ""))


def same(one: Any, other: Any) -> bool:
    """Whether two values, or their absence, are the same."""
    if one is GONE or other is GONE:
        return one is other
    return canonical_value(one) == canonical_value(other)
