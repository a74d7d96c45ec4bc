"""Many facts at once, from lines: in order, in batches, and never with more rights than the caller has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from typing import Literal

import msgspec

from workbench.domain.arrival import Voice, arrive
from workbench.domain.fact import (
    WORKSPACE,
    Act,
    Fact,
    FactKind,
    Registry,
    Source,
    is_key,
)
from workbench.domain.ids import new_id
from workbench.domain.record import Json
from workbench.domain.times import EPOCH, instant, stamp
from workbench.errors import UsageError, WorkbenchError
from workbench.services.context import Context
from workbench.services.facts import review_after
from workbench.store.form import Unreadable, read_line
from workbench.store.records import Records

BATCH = 1_000
"""Lines of one change: large enough to be quick, small enough that others get their turn in between."""
_COUNTED = ("active", "proposed", "corroborated", "superseded")
_PEOPLE = frozenset({"human", "person", "user"})
_RULES = frozenset({"rule", "rules", "model", "tool"})


class Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One value as it is brought."""

    key: str
    value: Json
    kind: FactKind = "fact"
    statement: str = ""
    scope: str = WORKSPACE
    reason: str = ""
    source: str | None = None
    quote: str | None = None
    by: str | None = None
    at: str | None = None


@dataclass
class Imported:
    """What became of the lines."""

    active: int = 0
    proposed: int = 0
    corroborated: int = 0
    superseded: int = 0
    """Facts that had held and do not any more."""
    failed: list[tuple[int, str]] = field(default_factory=list)
    """Line number and what is wrong with it."""

    @property
    def counts(self) -> dict[str, int]:
        """The figures, by name."""
        return {name: getattr(self, name) for name in _COUNTED}

    def count(self, outcome: str, superseded: int) -> None:
        """One line more."""
        setattr(self, outcome, getattr(self, outcome) + 1)
        self.superseded += superseded

    def add(self, more: Imported) -> None:
        """Another batch."""
        for name in _COUNTED:
            setattr(self, name, getattr(self, name) + getattr(more, name))
        self.failed += more.failed


def take(ctx: Context, lines: Iterable[str], *, settle: bool = False) -> Imported:
    """Bring facts to the registry, one JSON object a line; what is wrong with a line stops only that line.

    Args:
        ctx: Where and who.
        lines: ``{key, value, kind?, statement?, scope?, reason?, source?, quote?, by?, at?}`` each.
        settle: The person confirms each value that differs from the one that holds. Without it her
            lines count as her words in a session: proposed, and the old value challenged.

    Raises:
        HumanNeededError: ``settle`` without a person.
    """
    ctx.require_writable()
    if settle:
        ctx.require_human("settling imported facts")
    result = Imported()
    numbered = iter(enumerate(lines, 1))
    while batch := list(islice(numbered, BATCH)):
        try:
            result.add(_one_batch(ctx, batch, settle))
        except WorkbenchError as problem:
            before = batch[0][0] - 1
            if before:
                problem.message += f"; the first {before} lines are taken"
                problem.details.update(taken=before, **result.counts)
            raise
    return result


def _one_batch(ctx: Context, batch: list[tuple[int, str]], settle: bool) -> Imported:
    """One change of the log: all of it, or nothing."""
    result = Imported()
    parsed = list(_parsed(batch, result))
    if not parsed:
        return result
    command = f"fact import, lines {batch[0][0]} to {batch[-1][0]}{' --settle' if settle else ''}"
    with ctx.workspace.transaction(ctx.actor.name, command, now=ctx.now()) as tx:
        importer = _Importer(ctx, tx.records, settle)
        for number, line in parsed:
            try:
                made = importer.make(line, tx.now)
                importer.keep(tx.put(made.fact))
            except WorkbenchError as problem:
                result.failed.append((number, problem.message))
                continue
            result.count(made.outcome, made.superseded)
    result.failed.sort()
    return result


def _parsed(batch: list[tuple[int, str]], result: Imported) -> Iterator[tuple[int, Line]]:
    for number, text in batch:
        if not text.strip():
            continue
        try:
            yield number, msgspec.convert(read_line(text.encode("utf-8", "replace")), Line)
        except (Unreadable, msgspec.ValidationError, RecursionError) as wrong:
            result.failed.append((number, str(wrong) or "nested too deeply"))


@dataclass(frozen=True)
class _Made:
    fact: Fact
    outcome: Literal["active", "proposed", "corroborated"]
    superseded: int = 0


class _Importer:
    """The registry as it grows line by line; only the group of a line's key is derived anew."""

    def __init__(self, ctx: Context, records: Records, settle: bool) -> None:
        self._ctx = ctx
        self._records = records
        self._base = records.registry
        self._aliases: Mapping[str, str] = {alias.alias: alias.canonical for alias in records.aliases.values()}
        self._staged: dict[tuple[str, str], dict[str, Fact]] = {}
        self._scopes: dict[str, str] = {WORKSPACE: WORKSPACE}
        self._settle = settle

    def keep(self, fact: Fact) -> None:
        """Take a stored fact into account for the lines that follow."""
        self._staged.setdefault((self._base.canonical(fact.key), fact.scope), {})[fact.id] = fact

    def make(self, line: Line, now: str) -> _Made:
        """The record to store for a line, and what becomes of it.

        Raises:
            UsageError: The line says something that cannot be.
            NotFoundError: Its scope is no task.
        """
        fact, voice = self._fact(line, now)
        registry = self._group(fact.key, fact.scope)
        if line.at is None:
            fact = _said_last(fact, registry)
        arrival = arrive(registry, fact, voice, now)
        if arrival.outcome == "proposed" and self._settle:
            return self._settled(arrival.fact, registry, now)
        return _Made(arrival.fact, arrival.outcome)

    def _settled(self, fact: Fact, registry: Registry, now: str) -> _Made:
        """What was proposed, confirmed by the person whose import this is."""
        heads = tuple(head.id for head in registry.heads(fact.key, fact.scope))
        act = Act(act="accepted", by=self._ctx.actor.name, at=now, why="imported and settled")
        supersedes = tuple(dict.fromkeys((*fact.supersedes, *heads)))
        holding = fact.with_(acts=(*fact.acts, act), supersedes=supersedes, trust="authoritative", reviewed=True)
        return _Made(holding, "active", len(heads))

    def _group(self, key: str, scope: str) -> Registry:
        known = {fact.id: fact for fact in self._base.group(key, scope)}
        for fact in list(known.values()):
            known.update({i: self._base.facts[i] for i in self._base.standing(fact.id).by if i in self._base.facts})
        known.update(self._staged.get((key, scope), {}))
        return Registry(known.values(), self._aliases)

    def _fact(self, line: Line, now: str) -> tuple[Fact, Voice]:
        if not is_key(line.key):
            raise UsageError(f"{line.key[:60]!r} is not a key")
        if line.at is not None and instant(line.at) == EPOCH:
            raise UsageError(f"at {line.at[:40]!r} is not a time")
        by, voice = self._speaker(line.by)
        at = stamp(instant(line.at)) if line.at is not None else now
        said = Source(
            type="session" if line.source and "#" in line.source else "import",
            ref=line.source,
            quote=line.quote,
            by=by,
            at=at,
        )
        return Fact(
            id=new_id(),
            key=self._base.canonical(line.key),
            value=line.value,
            kind=line.kind,
            statement=line.statement,
            scope=self._scope(line.scope),
            reason=line.reason,
            sources=(said,),
            observed_at=at,
            review_after=review_after(self._ctx, line.kind, line.value),
        ), voice

    def _scope(self, name: str) -> str:
        if name not in self._scopes:
            self._scopes[name] = str(self._records.find("tasks", name).id)
        return self._scopes[name]

    def _speaker(self, by: str | None) -> tuple[str, Voice]:
        """Who said it, and how much that weighs; an agent's import never speaks for a person or a tool."""
        actor = self._ctx.actor
        kind, _, name = (by or actor.name).partition(":")
        if kind in _RULES:
            return f"{kind}:{name or 'import'}", "extracted"
        if not actor.human:
            return actor.name, "agent"
        if kind in _PEOPLE:
            return f"human:{name}" if name else actor.name, "entered" if self._settle else "words"
        if kind in ("agent", "assistant"):
            return f"agent:{name or 'unknown'}", "agent"
        raise UsageError(f"by {str(by)[:40]!r} is nobody", "human:NAME or agent:NAME")


def _said_last(fact: Fact, registry: Registry) -> Fact:
    """Lines without a time were said in their order, also within one moment."""
    newest = max((instant(source.at) for known in registry.facts.values() for source in known.sources), default=EPOCH)
    if instant(fact.sources[0].at) > newest:
        return fact
    at = stamp(newest + timedelta(milliseconds=1))
    return fact.with_(observed_at=at, sources=tuple(source.with_(at=at) for source in fact.sources))
