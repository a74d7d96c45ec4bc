"""Facts: keyed statements that may hold, with lifecycle and trust as two axes that are never mixed.

Lifecycle is derived here from acts and supersession and stored nowhere (``domain.md``, Fact).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Literal

import msgspec

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


class Alias(Record, frozen=True, kw_only=True):
    """Another name for a canonical key."""

    alias: str
    canonical: str


_KEY = re.compile(r"[^\s./\x00-\x1f\x7f-\x9f]+(?:\.[^\s./\x00-\x1f\x7f-\x9f]+)*")


@lru_cache(maxsize=1 << 14)
def canonical_form(key: str) -> str:
    """A key in the form in which keys are compared: NFC, lower case, trimmed."""
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


class Standing(msgspec.Struct, frozen=True):
    """How a fact stands among the others of its key."""

    lifecycle: Lifecycle
    by: tuple[str, ...] = ()
    """Ids of the facts that make it so: successors, challengers, or the other heads."""


class Registry:
    """All facts with their standing, derived once from the records and the aliases.

    Cost is linear in the number of facts; the object is immutable after construction.
    """

    def __init__(self, facts: Iterable[Fact], aliases: Mapping[str, str] | None = None) -> None:
        self._aliases = dict(aliases or {})
        self.facts: dict[str, Fact] = {fact.id: fact for fact in sorted(facts, key=lambda f: f.id)}
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
                standing = Standing("challenged", against) if against else Standing("active")
            self._standing[fact.id] = standing

    def standing(self, fact_id: str) -> Standing:
        """How a fact stands; KeyError for an id that is not in the registry."""
        return self._standing[fact_id]

    def lifecycle(self, fact_id: str) -> Lifecycle:
        """The derived lifecycle of a fact."""
        return self._standing[fact_id].lifecycle

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
    """An undecided proposal of the person's own words, later than every source of the active fact."""
    newest = max((instant(s.at) for s in active.sources), default=instant(active.observed_at))
    said = [instant(s.at) for s in proposal.sources if s.own_words]
    return bool(said) and max(said) > newest and not same_value(proposal.value, active.value)


def corroborated(known: tuple[Source, ...], more: Iterable[Source]) -> tuple[Source, ...]:
    """The sources of a value that was said again.

    The same source again is not a second one. A person who says it again says it *now*: her source
    takes the later time, because later words count against earlier ones.
    """
    sources = list(known)
    for new in more:
        same = [i for i, old in enumerate(sources) if old.with_(at=new.at) == new]
        if not same:
            sources.append(new)
        elif new.own_words and instant(new.at) > instant(sources[same[0]].at):
            sources[same[0]] = new
    return tuple(sources)


Voice = Literal["entered", "words", "agent", "extracted", "tool"]
"""Who a new value comes from: a person here, her words in a session, an agent's command or tool,
rules or a model over an agent's words, or tool output."""
_PERMISSION = re.compile(
    r"(?:^|[._-])(?:permissions?|allow(?:s|ed)?|may|grant(?:s|ed)?|consent)(?:[._-]|$)|权限|授权|允许"
)


def nature(value: Json) -> Literal["number", "version", "place", "fact"]:
    """What a value is, as far as it shows: review ages differ by it, and tool output counts for some only."""
    if isinstance(value, bool):
        return "fact"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str) and re.fullmatch(r"v?\d+(\.\d+)+\S*", value):
        return "version"
    return "place" if isinstance(value, str) and "/" in value else "fact"


def is_permission(key: str) -> bool:
    """Whether a key speaks of what somebody may do."""
    return _PERMISSION.search(canonical_form(key)) is not None


class Arrival(msgspec.Struct, frozen=True):
    """What becomes of a new value (the table of ``domain.md``, applied once, on arrival)."""

    outcome: Literal["active", "proposed", "corroborated"]
    fact: Fact
    """The record to store: the new one, or the one of the same value with one more source."""
    would_supersede: Fact | None = None
    """The active fact beside it; superseded already where the outcome is ``active``."""


def arrive(registry: Registry, fact: Fact, voice: Voice, now: str, *, verified_over_reported: bool = False) -> Arrival:
    """Decide what becomes of a new value against what the registry holds.

    ``fact`` comes without acts; its trust is capped here by its voice. Where another value is active
    the outcome is ``proposed``: a different value never replaces an active fact by itself, unless the
    workspace lets what a tool showed stand over what was only reported.

    Raises:
        ValueError: Tool output was offered as a decision, a constraint or a permission.
    """
    if voice == "tool" and (fact.kind != "fact" or is_permission(fact.key)):
        raise ValueError("tool output is never a decision, a constraint or a permission")
    cap: Trust = {"entered": "authoritative", "tool": "verified"}.get(voice, "reported")  # type: ignore[assignment]
    fact = fact.with_(trust=cap)
    heads = registry.heads(fact.key, fact.scope)
    for head in heads:
        if same_value(head.value, fact.value):
            return Arrival("corroborated", _said_again(head, fact, voice))
    waiting = next((p for p in registry.proposals(fact.key, fact.scope) if same_value(p.value, fact.value)), None)
    if heads:
        shown = voice == "tool" and nature(fact.value) != "fact"
        if verified_over_reported and shown and all(head.trust == "reported" for head in heads):
            act = Act(act="accepted", by="verified", at=now)
            replacing = fact.with_(acts=(act,), supersedes=tuple(head.id for head in heads))
            return Arrival("active", replacing, heads[0])
        proposal = fact if waiting is None else _said_again(waiting, fact, voice)
        return Arrival("proposed", proposal, heads[0] if len(heads) == 1 else None)
    if waiting is not None:
        again = _said_again(waiting, fact, voice)
        return Arrival("active", _accepted(again, fact, voice, now)) if voice in _PERSON else Arrival("proposed", again)
    if _waits(fact, voice):
        return Arrival("proposed", fact)
    return Arrival("active", _accepted(fact, fact, voice, now))


_PERSON = ("entered", "words")


def _waits(fact: Fact, voice: Voice) -> bool:
    """Whether a first value has to wait for a person."""
    if voice == "tool":
        return nature(fact.value) == "fact"
    if fact.kind == "constraint":
        return voice not in _PERSON
    return voice == "extracted" and is_permission(fact.key)


def _accepted(fact: Fact, new: Fact, voice: Voice, now: str) -> Fact:
    rule = new.sources[0].by if voice == "entered" and new.sources else "first_value"
    act = Act(act="accepted", by=rule, at=now)
    return fact.with_(acts=(*fact.acts, act))


def _said_again(known: Fact, new: Fact, voice: Voice) -> Fact:
    """One more source and the higher trust; a person or a tool that says it again has looked again."""
    review = known.review_after
    if review is not None and new.review_after is not None and voice in (*_PERSON, "tool"):
        review = max(review, new.review_after, key=instant)
    return known.with_(
        sources=corroborated(known.sources, new.sources),
        trust=max(known.trust, new.trust, key=TRUST_ORDER.__getitem__),
        review_after=review,
        reviewed=known.reviewed or new.reviewed,
    )
