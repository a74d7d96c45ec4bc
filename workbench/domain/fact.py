"""Facts: keyed statements that may hold, with lifecycle and trust as two axes that are never mixed.

Lifecycle is derived here from acts and supersession and stored nowhere (``domain.md``, Fact).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import Literal

import msgspec
from msgspec.structs import force_setattr as complete

from workbench.domain.measures import measured
from workbench.domain.record import Json, Part, Record
from workbench.domain.times import instant

FactKind = Literal["fact", "decision", "constraint"]
Trust = Literal["reported", "verified", "authoritative"]
TRUST_ORDER: dict[str, int] = {"reported": 0, "verified": 1, "authoritative": 2}
Lifecycle = Literal["proposed", "active", "superseded", "challenged", "rejected", "retracted", "contested"]
WORKSPACE = "workspace"
"""The scope of a fact that holds for every task; else the scope is a task's id."""


SourceType = Literal["person", "session", "command", "tool", "file", "import"]


class Source(Part, frozen=True, kw_only=True):
    """Where a fact was said or seen."""

    type: SourceType = "command"
    ref: str | None = None
    """``SESSION#MESSAGE``, a path, an artifact or an evidence id."""
    quote: str | None = None
    """The quoted line, literally."""
    by: str = ""
    """Actor who said it."""
    at: str = ""
    model: str | msgspec.UnsetType = msgspec.UNSET
    """The model that read it off the quoted line; unset where a rule or somebody here did."""

    pasted: bool | msgspec.UnsetType = msgspec.UNSET
    """It stands in a message that the person sent and, as it reads, did not write."""

    @property
    def own_words(self) -> bool:
        """Whether a person said this herself: typed here, or in a session, read by no model."""
        said = self.type in ("person", "session", "import", "command") and self.pasted is not True
        return said and self.by.startswith("human:") and self.model is msgspec.UNSET


class Act(Part, frozen=True, kw_only=True):
    """What was decided about a fact."""

    act: Literal["accepted", "rejected", "retracted"]
    by: str
    """Actor, or ``first_value`` / ``verified`` for the rule that accepted it on arrival."""
    at: str
    why: str = ""


class Fact(Record, frozen=True, kw_only=True):
    """A keyed statement. Supersession stands in the successor only."""

    key: str
    value: Json
    statement: str = ""
    kind: FactKind = "fact"
    scope: str = WORKSPACE
    reason: str = ""
    trust: Trust = "reported"
    sources: tuple[Source, ...] = ()
    observed_at: str = ""
    review_after: str | None = None
    supersedes: tuple[str, ...] = ()
    reviewed: bool = True
    """False: no person was shown it yet."""
    acts: tuple[Act, ...] = ()

    @property
    def line(self) -> str:
        """The statement, or key and value where there is none: what a person reads."""
        return self.statement or f"{self.key} = {value_text(self.value)}"

    @property
    def accepted(self) -> bool:
        """Whether the last act on it accepted it."""
        return bool(self.acts) and self.acts[-1].act == "accepted"


def say_once(fact: Fact) -> None:
    """Hold what a fact just read says several times as one object: most are found in talk, value and quote alike."""
    statement, at = fact.statement, fact.observed_at
    if fact.value == statement:
        complete(fact, "value", statement)
    for source in fact.sources:
        if source.quote == statement:
            complete(source, "quote", statement)
        if source.at == at:
            complete(source, "at", at)


class Alias(Record, frozen=True, kw_only=True):
    """Another name for a canonical key."""

    alias: str
    canonical: str


_KEY = re.compile(r"[^\s./\x00-\x1f\x7f-\x9f]+(?:\.[^\s./\x00-\x1f\x7f-\x9f]+)*")


def canonical_form(key: str) -> str:
    """A key in the form in which keys are compared: NFC, lower case, trimmed."""
    if not key.isascii():
        return _composed(key)
    form = key.strip().lower()
    return key if form == key else form  # mostly it is that already, and need not be held twice


@lru_cache(maxsize=1 << 14)
def _composed(key: str) -> str:
    return unicodedata.normalize("NFC", key).strip().lower()


def is_key(key: str) -> bool:
    """Whether ``key`` is a dotted name of printable parts without blanks or slashes."""
    return len(key) <= 200 and _KEY.fullmatch(key) is not None and key.isprintable()


def value_text(value: Json) -> str:
    """A value for a line of text: strings as themselves, everything else as canonical JSON."""
    return value if isinstance(value, str) else canonical_value(value)


def canonical_value(value: Json) -> str:
    """Canonical JSON of a value; two values are the same when these are equal."""
    return msgspec.json.encode(value, order="sorted").decode()


def same_value(one: Json, other: Json) -> bool:
    """Whether two values are the same as canonical JSON (so ``1`` and ``true`` differ, ``1`` and ``1.0`` too)."""
    return canonical_value(one) == canonical_value(other)


def means_same(one: Json, other: Json) -> bool:
    """Whether two values are the same, or the same duration or size in another spelling: ``1min`` and ``60s``."""
    if isinstance(one, str) and isinstance(other, str) and one != other:
        first = measured(one)
        return first is not None and first == measured(other)
    return same_value(one, other)


class Standing(msgspec.Struct, frozen=True, gc=False):
    """How a fact stands among the others of its key."""

    lifecycle: Lifecycle
    by: tuple[str, ...] = ()
    """Ids of the facts that make it so: successors, challengers, or the other heads."""


_ACTIVE = Standing("active")


class Registry:
    """All facts with their standing, derived once from the records and the aliases.

    Cost is linear in the number of facts; the object is immutable after construction.
    """

    def __init__(self, facts: Iterable[Fact], aliases: Mapping[str, str] | None = None) -> None:
        self._aliases = dict(aliases or {})
        self.facts: dict[str, Fact] = {fact.id: fact for fact in sorted(facts, key=attrgetter("id"))}
        self._groups: dict[tuple[str, str], list[Fact]] = {}
        for fact in self.facts.values():
            self._groups.setdefault((self.canonical(fact.key), fact.scope), []).append(fact)
        self._standing: dict[str, Standing] = {}
        successors: dict[str, list[str]] = {}
        for fact in self.facts.values():
            if fact.accepted:
                for old in fact.supersedes:
                    successors.setdefault(old, []).append(fact.id)
        for group in self._groups.values():
            if len(group) == 1 and group[0].accepted and group[0].id not in successors:
                self._standing[group[0].id] = _ACTIVE  # most of them: nothing else was ever said
            else:
                self._derive(group, successors)

    @cached_property
    def keys(self) -> frozenset[str]:
        """Every canonical key that has a fact, in whatever scope."""
        return frozenset(key for key, _scope in self._groups)

    def canonical(self, key: str) -> str:
        """The canonical key that ``key`` leads to through aliases; a loop of aliases ends where it began."""
        key = canonical_form(key)
        if key not in self._aliases:
            return key
        seen: set[str] = set()
        while key in self._aliases and key not in seen:
            seen.add(key)
            key = canonical_form(self._aliases[key])
        return key

    def _derive(self, group: list[Fact], successors: Mapping[str, list[str]]) -> None:
        heads = [f for f in group if f.accepted and f.id not in successors]
        open_ = [f for f in group if not f.acts]
        for fact in group:
            if not fact.acts:
                standing = Standing("proposed")
            elif fact.acts[-1].act == "rejected":
                standing = Standing("rejected")
            elif fact.acts[-1].act == "retracted":
                standing = Standing("retracted")
            elif fact.id in successors:
                standing = Standing("superseded", tuple(sorted(successors[fact.id])))
            elif len(heads) > 1:
                standing = Standing("contested", tuple(f.id for f in heads if f.id != fact.id))
            else:
                against = tuple(f.id for f in open_ if _challenges(f, fact))
                standing = Standing("challenged", against) if against else _ACTIVE
            self._standing[fact.id] = standing

    def standing(self, fact_id: str) -> Standing:
        """How a fact stands; KeyError for an id that is not in the registry."""
        return self._standing[fact_id]

    def lifecycle(self, fact_id: str) -> Lifecycle:
        """The derived lifecycle of a fact."""
        return self._standing[fact_id].lifecycle

    def replaced(self, fact: Fact) -> tuple[Fact, ...]:
        """The facts whose values it took the place of, and those whose place they took: the newest first."""
        found: dict[str, Fact] = {}
        waiting = list(fact.supersedes)
        while waiting:
            old = self.facts.get(waiting.pop())
            if old is not None and old.id != fact.id and old.id not in found:
                found[old.id] = old
                waiting += old.supersedes
        return tuple(sorted(found.values(), key=lambda f: (instant(f.observed_at), f.id), reverse=True))

    def group(self, key: str, scope: str = WORKSPACE) -> tuple[Fact, ...]:
        """Every fact of a canonical key and scope, oldest first."""
        members = self._groups.get((self.canonical(key), scope), [])
        return tuple(sorted(members, key=lambda f: (instant(f.observed_at), f.id)))

    def heads(self, key: str, scope: str = WORKSPACE) -> tuple[Fact, ...]:
        """The accepted facts of a key that nothing supersedes: one, or several where contested."""
        return tuple(f for f in self.group(key, scope) if self.lifecycle(f.id) in ("active", "challenged", "contested"))

    def proposals(self, key: str, scope: str = WORKSPACE) -> tuple[Fact, ...]:
        """The undecided facts of a key."""
        return tuple(f for f in self.group(key, scope) if self.lifecycle(f.id) == "proposed")

    def would_supersede(self, fact: Fact) -> Fact | None:
        """The accepted head that accepting ``fact`` would put aside; None where there is none or several."""
        heads = [f for f in self.heads(fact.key, fact.scope) if f.id != fact.id]
        return heads[0] if len(heads) == 1 else None

    def visible_to(self, task: str | None) -> tuple[Fact, ...]:
        """Facts in scope of a task (the workspace's and its own), in key order; shadowed ones included."""
        scopes = {WORKSPACE, task}
        found = (f for f in self.facts.values() if f.scope in scopes)
        return tuple(sorted(found, key=lambda f: (self.canonical(f.key), f.scope, instant(f.observed_at), f.id)))

    def shadowed_by(self, fact: Fact, task: str | None) -> str | None:
        """The id of the task's own accepted fact of the same key, which shadows the workspace's for that task."""
        if fact.scope != WORKSPACE or task is None:
            return None
        own = self.heads(fact.key, task)
        return own[0].id if own else None


def _challenges(proposal: Fact, active: Fact) -> bool:
    """An undecided proposal of the person's own words, later than what she said and did for the active fact.

    At the same moment, as within one message, the active fact came first: it is what the other was proposed against.
    """
    said = [instant(s.at) for s in proposal.sources if s.own_words]
    return bool(said) and max(said) >= _stood_for(active) and not means_same(proposal.value, active.value)


def _stood_for(active: Fact) -> datetime:
    """When the person last stood for what holds; where she never did, since when it was said.

    Whoever else repeats a value, however late, takes back nothing that she said.
    """
    hers = [instant(s.at) for s in active.sources if s.own_words]
    hers += [instant(act.at) for act in active.acts if act.by.startswith("human:")]
    if hers:
        return max(hers)
    return min((instant(s.at) for s in active.sources), default=instant(active.observed_at))
