"""Two copies of one record brought together, field by field (``workspace.md``, promise 7).

What one side changed is taken. Items fold by their identity. A field that both changed keeps the
value of the smaller change id, and both values are listed under ``contested``. Nothing here depends
on which side is called ours: merged in either order the result is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import msgspec

from workbench.domain.contested import GONE, at, identity, same
from workbench.domain.fact import TRUST_ORDER, canonical_value
from workbench.domain.record import Claim
from workbench.domain.times import instant

_OWN = frozenset({"id", "schema", "version", "contested"})
"""What is made here and not merged."""
_LATEST = frozenset({"updated_at", "observed_at"})
_UNION = frozenset({"supersedes", "depends_on", "targets", "sources", "evidence", "bindings", "acts"})
"""Lists whose entries are told apart by all that they hold."""
_STAMP = frozenset({"by", "at", "why"})


@dataclass(frozen=True)
class Side:
    """A record in one copy."""

    document: Mapping[str, Any]
    base: Mapping[str, Any] | None = None
    """What the last change that both copies know left of it here; None where both made it by themselves."""
    images: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """The changes since that only this copy knows, oldest first: id, and what each left."""

    @property
    def changed(self) -> bool:
        """Whether this copy changed it since."""
        return self.base is None or _content(self.document) != _content(self.base)


def merge(ours: Side, theirs: Side) -> dict[str, Any]:
    """The record that both copies have from now on."""
    ours, theirs = _from_what_both_had(ours, theirs)
    one, other = ours.document, theirs.document
    if _content(one) == _content(other) or not theirs.changed:
        return _numbered(dict(one), one, other)
    if not ours.changed:
        return _numbered(dict(other), one, other)
    work = _Merge(ours, theirs)
    merged = work.table("", one, ours.base or {}, other, theirs.base or {}, skip=_OWN)
    contested = work.contested()
    document = {**merged, "id": min(one["id"], other["id"]), "schema": one["schema"]}
    if contested:
        document["contested"] = {path: [*map(msgspec.to_builtins, contested[path])] for path in sorted(contested)}
    return _numbered(document, one, other)


def _from_what_both_had(ours: Side, theirs: Side) -> tuple[Side, Side]:
    """The sides from the latest state that both were in, though each by a change of its own.

    Copies that merged each other hold the same since then, and no change that both know tells so.
    """
    here = {_content(image): number for number, (_, image) in enumerate(ours.images)}
    for number in range(len(theirs.images) - 1, -1, -1):
        image = theirs.images[number][1]
        if (mine := here.get(_content(image))) is not None:
            return (
                Side(ours.document, image, ours.images[mine + 1 :]),
                Side(theirs.document, image, theirs.images[number + 1 :]),
            )
    return ours, theirs


def _content(document: Mapping[str, Any]) -> str:
    return canonical_value({name: value for name, value in document.items() if name != "version"})


def _numbered(result: dict[str, Any], one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """With a version by which everyone who saw something else is told, and the same in either order."""
    newest = max(one, other, key=lambda document: int(document.get("version", 1)))
    version = int(newest.get("version", 1))
    same = [d for d in (one, other) if int(d.get("version", 1)) == version]
    known = all(_content(document) == _content(result) for document in same)
    return {**result, "version": version if known else version + 1}


@dataclass
class _Merge:
    ours: Side
    theirs: Side
    claims: dict[str, tuple[Claim, ...]] = field(default_factory=dict)
    """The fields that both sides changed in this merge."""

    def value(self, path: str, one: Any, one_base: Any, other: Any, other_base: Any) -> Any:
        """One field: what only one side changed is taken, else it goes deeper, else it is contested."""
        if same(one, other):
            return one
        if same(one, one_base):
            return other
        if same(other, other_base):
            return one
        name = path.rpartition(".")[2]
        if name in _LATEST and GONE not in (one, other):
            return max(one, other, key=lambda text: (instant(text), text))
        if name == "plan_revision":
            return max(one, other)
        if path == "trust":
            return max(one, other, key=lambda trust: TRUST_ORDER.get(trust, -1))
        if path == "reviewed":
            return bool(one or other)
        if isinstance(one, dict) and isinstance(other, dict) and not _whole(path):
            if one.keys() | other.keys() <= _STAMP:
                return self._smaller(path, one, other)
            return self.table(path, one, _dict(one_base), other, _dict(other_base))
        if isinstance(one, list) and isinstance(other, list) and _folds(path, name, one, other):
            return self.rows(path, name, one, _list(one_base), other, _list(other_base))
        self.claims[path] = _listed(self._claims(self.ours, path, one), self._claims(self.theirs, path, other))
        first = self.claims[path][0]
        return GONE if first.gone else first.value

    def table(
        self,
        path: str,
        one: Mapping[str, Any],
        one_base: Mapping[str, Any],
        other: Mapping[str, Any],
        other_base: Mapping[str, Any],
        skip: Iterable[str] = (),
    ) -> dict[str, Any]:
        """An object, key by key."""
        result: dict[str, Any] = {}
        for name in sorted((one.keys() | other.keys()) - set(skip)):
            place = f"{path}.{name}" if path else name
            value = self.value(
                place,
                one.get(name, GONE),
                one_base.get(name, GONE),
                other.get(name, GONE),
                other_base.get(name, GONE),
            )
            if value is not GONE:
                result[name] = value
        return result

    def rows(
        self, path: str, name: str, one: list[Any], one_base: list[Any], other: list[Any], other_base: list[Any]
    ) -> list[Any]:
        """A list whose entries have an identity: those of the base in its order, then the new ones by time."""
        known = [{_identity(name, row): row for row in rows} for rows in (one, one_base, other, other_base)]
        old = [*known[1]] if [*known[1]] == [*known[3]] else sorted({*known[1], *known[3]})
        kept = known[0].keys() | known[2].keys()
        new = sorted(kept - set(old), key=lambda key: (min(_moment(rows[key]) for rows in known if key in rows), key))
        rows = [
            self.value(f"{path}.{key}" if name not in _UNION else path, *(rows.get(key, GONE) for rows in known))
            for key in [*old, *new]
            if key in kept
        ]
        return [row for row in rows if row is not GONE]

    def contested(self) -> dict[str, tuple[Claim, ...]]:
        """Every contested field of the result: the old ones that neither side settled, and the new ones."""
        one, other = (side.document.get("contested", {}) for side in (self.ours, self.theirs))
        bases = [(side.base or {}).get("contested", {}) for side in (self.ours, self.theirs)]
        result = dict(self.claims)
        for path in one.keys() | other.keys():
            here, there = one.get(path), other.get(path)
            if path in result or (here is None and path in bases[0]) or (there is None and path in bases[1]):
                continue  # contested anew, or settled by one side
            result[path] = _listed(_of(here), _of(there))
        return result

    def _smaller(self, path: str, one: Any, other: Any) -> Any:
        """Of two stamps that of the smaller change id; what they belong to tells the contest."""
        claims = [*self._claims(self.ours, path, one), *self._claims(self.theirs, path, other)]
        return min(claims, key=_order).value

    @staticmethod
    def _claims(side: Side, path: str, value: Any) -> tuple[Claim, ...]:
        """What a side says of a field: the change that set it, or what it carries from an earlier merge."""
        carried = _of(side.document.get("contested", {}).get(path))
        if carried:
            return carried
        gone = value is GONE
        shown = None if gone else value
        by, before = "", at(side.base or {}, path)
        for change, image in side.images:
            now = at(image, path)
            if same(now, value) and not same(before, now):
                by = change
            before = now
        # A value that no change tells of (an edit by hand) counts behind all that changes tell of.
        mark = f"~{sha256(canonical_value(shown).encode()).hexdigest()[:9]}"
        return (Claim(change=by or mark, value=shown, gone=gone),)


def _of(rows: Any) -> tuple[Claim, ...]:
    return msgspec.convert(rows, tuple[Claim, ...]) if rows else ()


def _listed(*groups: Iterable[Claim]) -> tuple[Claim, ...]:
    """Claims of both sides, each once, the smallest change id first."""
    listed = {_order(claim): claim for group in groups for claim in group}
    return tuple(listed[key] for key in sorted(listed))


def _order(claim: Claim) -> tuple[str, str]:
    return claim.change, canonical_value(claim.value)


def _whole(path: str) -> bool:
    """Whether an object there is one value, whatever it holds: of a fact, a note, a variable, a beginning."""
    return path == "value" or path.startswith("state.variables.") or path.endswith(".started")


def _folds(path: str, name: str, one: list[Any], other: list[Any]) -> bool:
    if _whole(path):
        return False
    if name == "acts":
        # Decided alike on both sides, the acts add up; decided differently, they contradict each other.
        last = [rows[-1].get("act") for rows in (one, other) if rows]
        return len(set(last)) < 2
    rows = [*one, *other]
    return name in _UNION or (bool(rows) and all(isinstance(row, dict) and identity(row) for row in rows))


def _identity(name: str, row: Any) -> str:
    return canonical_value(row) if name in _UNION else identity(row)


def _moment(row: Any) -> str:
    """When an entry came to be, as far as it says."""
    if not isinstance(row, dict):
        return ""
    stamp = next((row[name] for name in ("made", "joined", "bound") if isinstance(row.get(name), dict)), row)
    return instant(stamp.get("at") if isinstance(stamp.get("at"), str) else None).isoformat()


def _dict(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
