"""Seventh stage: the envelope with its manifest, its content address, and the two outcomes of a compile."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec

from workbench.compiler import refusal
from workbench.compiler.request import Budget
from workbench.domain.package import Identity


class Decided(msgspec.Struct, frozen=True, gc=False):
    """What the content address covers of a row: all but the figures, which are counted, not decided."""

    form: str | None
    id: str
    included: bool
    parts: Mapping[str, int]
    reason: str | None
    score: int
    source_type: str
    tier: str
    title: str


class Row(msgspec.Struct, frozen=True, gc=False):
    """What became of one candidate, and why."""

    id: str
    source_type: str
    title: str
    tier: str
    included: bool
    form: str | None
    tokens: int
    """Of its own lines in the prompt; 0 where it is not in."""
    wanted: int
    """Tokens of its largest form."""
    score: int
    parts: Mapping[str, int]
    reason: str | None

    def as_json(self) -> dict[str, Any]:
        """A row of the ``manifest``."""
        return msgspec.structs.asdict(self) | {"parts": dict(self.parts)}

    @property
    def decided(self) -> Decided:
        """Its share of the content address."""
        return Decided(
            self.form,
            self.id,
            self.included,
            self.parts,
            self.reason,
            self.score,
            self.source_type,
            self.tier,
            self.title,
        )


@dataclass(frozen=True)
class Compiled:
    """A package."""

    snapshot: str
    identity: Identity
    tokens: int
    tokenizer: str
    budget: dict[str, Any]
    manifest: tuple[Row, ...]
    absent_sessions: tuple[str, ...]
    prompt: str
    head: dict[str, Any]
    """The canonical content but for the manifest."""
    not_found: tuple[str, ...] = ()
    """Pins and toggles that name no candidate."""

    @cached_property
    def envelope(self) -> dict[str, Any]:
        """The canonical content, without id and prompt."""
        return {**self.head, "manifest": [row.as_json() for row in self.manifest]}

    def as_json(self) -> dict[str, Any]:
        """The document of ``compile --json``."""
        document = {
            "status": "ok",
            "snapshot": self.snapshot,
            "identity": identity_json(self.identity),
            "tokens": self.tokens,
            "tokenizer": self.tokenizer,
            "budget": self.budget,
            "score_floor": self.head["score_floor"],
            "language": self.head["language"],
            "manifest": [row.as_json() for row in self.manifest],
            "absent_sessions": list(self.absent_sessions),
            "prompt": self.prompt,
        }
        return document | ({"not_found": list(self.not_found)} if self.not_found else {})


@dataclass(frozen=True)
class RequiredItem:
    """Something that has to be carried, and who could make it shorter."""

    id: str
    source_type: str
    title: str
    tokens: int
    smallest: int
    could_shorten: str


@dataclass(frozen=True)
class Blocked:
    """No package: what is required does not fit, even in its smallest forms."""

    over_by: int
    required: tuple[RequiredItem, ...]
    budget: dict[str, Any]
    code: str = field(default=refusal.OVERFLOW)

    def as_json(self) -> dict[str, Any]:
        """The document of ``compile --json``."""
        required = [msgspec.to_builtins(item) for item in self.required]
        return {
            "status": "blocked",
            "code": self.code,
            "over_by": self.over_by,
            "required": required,
            "budget": self.budget,
        }


def identity_json(identity: Identity) -> dict[str, Any]:
    """The ``identity`` object: ``attempt`` is the one that hands over; the next is made at ``prepare``."""
    plain: dict[str, Any] = msgspec.to_builtins(identity)
    return {"task": plain["task"], "plan_revision": plain["plan_revision"], "attempt": plain["from_attempt"]} | plain


def snapshot_of(content: Mapping[str, Any]) -> str:
    """16 hex digits over the canonical content (:attr:`Compiled.envelope`), rendered token counts left out."""
    return _address({**content, "manifest": [{name: row[name] for name in _DECIDED} for row in content["manifest"]]})


def snapshot_by_rows(head: Mapping[str, Any], rows: Iterable[Row]) -> str:
    """The same as :func:`snapshot_of`, from the rows themselves."""
    return _address({**head, "manifest": [row.decided for row in rows]})


def _address(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()[:16]


_DECIDED = Decided.__struct_fields__


def budget_json(budget: Budget, tokenizer: str) -> dict[str, Any]:
    """The ``budget`` object, with the tokenizer that it is counted in."""
    return budget.as_json() | {"tokenizer": tokenizer}


def items_by_section(rows: Sequence[tuple[Row, Sequence[tuple[str, str]]]]) -> dict[str, list[dict[str, str]]]:
    """What is carried, by section of the prompt: the lines of every included row."""
    sections: dict[str, list[dict[str, str]]] = {}
    for row, pieces in rows:
        for section, text in pieces:
            sections.setdefault(section, []).append(
                {"id": row.id, "source_type": row.source_type, "form": row.form or "", "text": text}
            )
    return sections
