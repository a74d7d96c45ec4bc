"""The fact registry as a person and agents use it: propose, settle, look up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from workbench.domain.alike import alike_keys, same_words
from workbench.domain.arrival import Arrival, Voice, arrive, nature
from workbench.domain.fact import (
    WORKSPACE,
    Act,
    Alias,
    Fact,
    FactKind,
    Registry,
    Source,
    SourceType,
    canonical_form,
    is_key,
    same_value,
)
from workbench.domain.ids import new_id
from workbench.domain.record import Json
from workbench.domain.times import instant, stamp
from workbench.errors import NotFoundError, RefusedError, UsageError, VersionConflictError
from workbench.services import damage, keys
from workbench.services.context import Context
from workbench.services.fact_view import FactView
from workbench.store.mask import mask
from workbench.store.records import Records
from workbench.store.transaction import Transaction


def find(ctx: Context, prefix: str, records: Records | None = None) -> Fact:
    """A fact by unique id prefix."""
    found = (records or keys.around(ctx, prefix)).find("facts", prefix)
    assert isinstance(found, Fact)
    return found


def propose(
    ctx: Context,
    key: str,
    value: Json,
    *,
    kind: FactKind | None = None,
    statement: str = "",
    scope: str = WORKSPACE,
    source: str | None = None,
    quote: str | None = None,
    reason: str = "",
    source_at: str | None = None,
) -> Arrival:
    """Bring a value to the registry; what becomes of it is the table of ``domain.md``.

    Args:
        ctx: Where and who.
        key: A dotted name; aliases lead to its canonical form.
        value: Any JSON value.
        kind: fact, decision or constraint; else that of what holds for the key, or fact.
        statement: One readable line.
        scope: ``workspace``, or a task's id.
        source: ``SESSION#MESSAGE``, a path or an id; with it the value counts as said there.
        quote: The quoted line.
        reason: Why, for a decision.
        source_at: When it was said, where the source tells.

    Raises:
        UsageError: The key is not a dotted name.
    """
    ctx.require_writable()
    if not is_key(key):
        raise UsageError(f"{key!r} is not a key", "a key is a dotted name without blanks, like server.port")
    refuse_secret(key)
    now = ctx.stamp()
    voice: Voice = "agent" if not ctx.actor.human else "words" if source else "entered"
    origin: SourceType = "session" if source and "#" in source else "person" if ctx.actor.human else "command"
    said = Source(type=origin, ref=source, quote=quote, by=ctx.actor.name, at=source_at or now)
    with ctx.workspace.transaction(ctx.actor.name, f"fact propose {key}", reason, now=ctx.now()) as tx:
        records = keys.of_key(ctx, key, tx)
        registry = records.registry
        canonical = registry.canonical(key)
        damage.refuse(damage.of_key(records, canonical), f"a new value of {canonical}")
        kind = kind or kind_of(registry, canonical, scope)
        fact = Fact(
            id=new_id(),
            key=canonical,
            value=value,
            kind=kind,
            statement=statement,
            scope=scope,
            reason=reason,
            sources=(said,),
            observed_at=source_at or now,
            review_after=review_after(ctx, kind, value),
        )
        arrival = arrive(registry, fact, voice, now, verified_over_reported=ctx.config.allow_verified_over_reported)
        stored = tx.put(arrival.fact)
        return Arrival(arrival.outcome, stored, arrival.would_supersede)


def kind_of(registry: Registry, key: str, scope: str) -> FactKind:
    """What a new value of a key is where nobody says: what the value that holds is."""
    held = registry.heads(key, scope) or registry.heads(key)
    return held[0].kind if held else "fact"


def refuse_secret(name: str) -> None:
    """A key becomes part of paths and is compared in lower case, where a secret would not be masked any more.

    Raises:
        UsageError: It looks like one.
    """
    if mask(name) != name:
        raise UsageError(f"the key {mask(name)!r} holds what looks like a secret", "choose a name that can be shown")


def review_after(ctx: Context, kind: FactKind, value: Json) -> str | None:
    """When a fact is to be looked at again; None is never."""
    days = ctx.config.review_after.get(kind if kind != "fact" else nature(value))
    return stamp(ctx.now() + timedelta(days=days)) if days else None


def look_alikes(registry: Registry, key: str) -> tuple[str, ...]:
    """Canonical keys that look like another spelling of ``key``: an offer to join them, nothing more."""
    canonical = registry.canonical(key)
    return alike_keys(canonical, {registry.canonical(fact.key) for fact in registry.facts.values()})


def merge_offers(registry: Registry) -> tuple[tuple[str, str], ...]:
    """Pairs of canonical keys of the same words (``server.port``, ``serverport``): offers, nothing more."""
    return same_words(registry.canonical(fact.key) for fact in registry.facts.values())


def _expect(registry: Registry, fact: Fact, expect: str | None) -> None:
    """Refuse when the active fact is not the one that the person saw."""
    if expect is None:
        return
    heads = [h for h in registry.heads(fact.key, fact.scope) if h.id != fact.id]
    found = [f"{h.id}@{h.version}" for h in heads] or ["none"]
    if expect not in found and not any(f.startswith(expect) for f in found if "@" not in expect):
        raise VersionConflictError(
            f"the active fact of {fact.key} is {', '.join(found)}, not {expect} as it was when you looked",
            "look again, then confirm",
            expected=expect,
            found=found,
            current=[{"id": h.id, "value": h.value, "version": h.version} for h in heads],
        )


def confirm(ctx: Context, fact_id: str, *, expect: str | None = None, why: str = "", **edits: Any) -> Fact:
    """Accept a proposal: it supersedes what is active now. Or end a contest for one of the heads.

    A value that came to hold by a rule, with no person's word, is confirmed the same way; with another value it is
    superseded by that one.

    Args:
        ctx: Where and who; a person.
        fact_id: The proposal, one of the contested heads, or what holds and no person has confirmed.
        expect: ``ID@VERSION`` of the active fact that the person saw, or ``none``.
        why: The reason, kept with the act.
        edits: Fields of the fact to change while confirming (``value``, ``statement``, ``scope``, ``reason``).

    Raises:
        VersionConflictError: The active fact changed since; the message says what is there now.
        RefusedError: The fact is decided already.
    """
    from workbench.services import offers  # start-up counts: a proposal needs none

    ctx.require_human("confirming a fact")
    ctx.require_writable()
    with ctx.workspace.transaction(ctx.actor.name, f"fact confirm {fact_id}", why, now=ctx.now()) as tx:
        records = keys.around(ctx, fact_id, tx)
        registry = records.registry
        fact = find(ctx, fact_id, records)
        damage.refuse(damage.of_key(records, fact.key), f"what holds for {fact.key}")
        lifecycle = registry.lifecycle(fact.id)
        if lifecycle != "contested" and not offers.is_undecided(records, fact):
            raise VersionConflictError(
                f"fact {fact.id} ({fact.key}) is {lifecycle} already",
                "see: workbench fact history KEY",
                lifecycle=lifecycle,
            )
        _expect(registry, fact, expect)
        act = Act(act="accepted", by=ctx.actor.name, at=tx.now, why=why)
        if lifecycle == "active" and "value" in edits and not same_value(edits["value"], fact.value):
            return tx.put(_in_place_of(ctx, fact, act, edits))
        if "value" in edits and not same_value(edits["value"], fact.value):
            edits["sources"] = (
                *fact.sources,
                Source(type="person", by=ctx.actor.name, at=tx.now, quote=edits.get("statement")),
            )
        changed = fact.with_(**edits)
        heads = [h for h in registry.heads(changed.key, changed.scope) if h.id != fact.id]
        supersedes = tuple(dict.fromkeys((*changed.supersedes, *(h.id for h in heads))))
        return tx.put(
            changed.with_(
                supersedes=supersedes,
                trust="authoritative",
                reviewed=True,
                review_after=review_after(ctx, changed.kind, changed.value),
                acts=(*changed.acts, act),
            )
        )


def _in_place_of(ctx: Context, fact: Fact, act: Act, edits: dict[str, Any]) -> Fact:
    """The fact by which a person corrects one that holds: another value is another fact."""
    said = Source(type="person", by=act.by, at=act.at, quote=edits.get("statement") or None)
    new = Fact(
        id=new_id(),
        key=fact.key,
        value=edits["value"],
        kind=fact.kind,
        scope=fact.scope,
        trust="authoritative",
        sources=(said,),
        observed_at=act.at,
        review_after=review_after(ctx, fact.kind, edits["value"]),
        supersedes=(fact.id,),
        acts=(act,),
    )
    return new.with_(**edits)


def reject(ctx: Context, fact_id: str, why: str) -> Fact:
    """Refuse a proposal; it stays on record and is not asked again."""
    ctx.require_human("rejecting a fact")
    return _decide(ctx, fact_id, "rejected", why, ("proposed",))


def retract(ctx: Context, fact_id: str, why: str) -> Fact:
    """Take back a fact that holds; what it superseded holds again."""
    ctx.require_human("retracting a fact")
    return _decide(ctx, fact_id, "retracted", why, ("active", "challenged", "contested"))


def _decide(ctx: Context, fact_id: str, act: str, why: str, allowed: tuple[str, ...]) -> Fact:
    ctx.require_writable()
    if not why.strip():
        raise UsageError("a reason is needed", "say it with --why TEXT")
    with ctx.workspace.transaction(ctx.actor.name, f"fact {act} {fact_id}", why, now=ctx.now()) as tx:
        records = keys.around(ctx, fact_id, tx)
        fact = find(ctx, fact_id, records)
        lifecycle = records.registry.lifecycle(fact.id)
        if lifecycle not in allowed:
            raise VersionConflictError(f"fact {fact.id} ({fact.key}) is {lifecycle}", lifecycle=lifecycle)
        done = Act(act=act, by=ctx.actor.name, at=tx.now, why=why)  # type: ignore[arg-type]
        return tx.put(fact.with_(acts=(*fact.acts, done), reviewed=True))


def edit(ctx: Context, fact_id: str, expect: int | None = None, **edits: Any) -> Fact:
    """Correct a fact's wording, scope or kind in place, or a proposal's value; a person's act.

    Raises:
        RefusedError: The value of a fact that holds would change: that is a new fact.
    """
    ctx.require_human("editing a fact")
    ctx.require_writable()
    with ctx.workspace.transaction(ctx.actor.name, f"fact edit {fact_id}", now=ctx.now()) as tx:
        fact = find(ctx, fact_id, keys.around(ctx, fact_id, tx))
        if "value" in edits and fact.acts and not same_value(edits["value"], fact.value):
            raise RefusedError(
                f"{fact.key} holds; another value is a new fact that supersedes it",
                f"workbench fact propose {fact.key} VALUE, then confirm it",
            )
        if "value" in edits:
            more = Source(type="person", by=ctx.actor.name, at=tx.now)
            edits["sources"] = (*fact.sources, more)
        if "value" in edits or "kind" in edits:
            kind, value = edits.get("kind", fact.kind), edits.get("value", fact.value)
            edits["review_after"] = review_after(ctx, kind, value)
        return tx.put(fact.with_(**edits), expect=expect)


def alias(ctx: Context, key: str, canonical: str) -> Alias:
    """Let one key lead to another; their facts then meet under the canonical one.

    Two values that hold become contested by it: nothing is decided by a likeness of names.
    """
    ctx.require_human("joining two keys")
    ctx.require_writable()
    for name in (key, canonical):
        if not is_key(name):
            raise UsageError(f"{name!r} is not a key")
        refuse_secret(name)
    with ctx.workspace.transaction(ctx.actor.name, f"fact alias {key} {canonical}", now=ctx.now()) as tx:
        registry = tx.look("aliases").registry
        if registry.canonical(canonical) == registry.canonical(key):
            raise RefusedError(f"{key} and {canonical} are the same key already")
        return _put_alias(tx, key, canonical)


def _put_alias(tx: Transaction, key: str, canonical: str) -> Alias:
    key, canonical = canonical_form(key), canonical_form(canonical)
    known = [a for a in tx.look("aliases").aliases.values() if a.alias == key]
    record = known[0].with_(canonical=canonical) if known else Alias(id=new_id(), alias=key, canonical=canonical)
    return tx.put(record)


def view_of(
    ctx: Context, registry: Registry, fact: Fact, task: str | None, held: frozenset[str] = frozenset()
) -> FactView:
    """A fact as it stands for a task; nobody is asked about what is ``held`` back, or was never worth it."""
    standing = registry.standing(fact.id)
    against = tuple(registry.facts[i] for i in standing.by if i in registry.facts)
    if standing.lifecycle == "proposed":
        against = tuple(h for h in registry.heads(fact.key, fact.scope) if h.id != fact.id)
    past = fact.review_after is not None and instant(fact.review_after) < ctx.now()
    return FactView(
        fact=fact,
        key=registry.canonical(fact.key),
        lifecycle=standing.lifecycle,
        against=against,
        shadowed=registry.shadowed_by(fact, task) is not None,
        past_review=past,
        asked=_is_asked(registry, fact, held),
        replaced=registry.replaced(fact) if fact.accepted else (),
    )


def _is_asked(registry: Registry, fact: Fact, held: frozenset[str]) -> bool:
    """Whether a fact concerns a person now: what contradicts, or is contradicted or contested, always does."""
    if registry.lifecycle(fact.id) not in ("active", "proposed") or (fact.reviewed and fact.id not in held):
        return True
    heads = registry.heads(fact.key, fact.scope)
    return any(fact.id in registry.standing(head.id).by for head in heads)


_WAITING = ("contested", "proposed")
_SETTLED = ("superseded", "rejected", "retracted")


def views(ctx: Context, records: Records, task: str | None, *, all_: bool = False) -> tuple[FactView, ...]:
    """Facts in a task's scope, those that need a decision first, then by key; ``all_`` adds those put aside."""
    from workbench.services import offers

    registry, held = records.registry, offers.held(ctx, records)
    known = ctx.shown_facts.get(records, task, held, ctx.now()) if not all_ else None
    if known is not None:
        return known
    rows = [view_of(ctx, registry, fact, task, held) for fact in registry.visible_to(task)]
    kept = [row for row in rows if all_ or row.lifecycle not in _SETTLED]
    found = tuple(sorted(kept, key=lambda r: (r.lifecycle not in _WAITING, r.lifecycle in _SETTLED)))
    if not all_:
        ctx.shown_facts.put(records, task, held, found)
    return found


def history(ctx: Context, key: str) -> tuple[FactView, ...]:
    """Every fact of a key in every scope, oldest first.

    Raises:
        NotFoundError: No fact has this key.
    """
    records = ctx.workspace.load()
    registry = records.registry
    canonical = registry.canonical(key)
    found = [f for f in registry.facts.values() if registry.canonical(f.key) == canonical]
    if not found:
        raise NotFoundError(f"no fact has the key {key!r}", "see: workbench fact list --all")
    found.sort(key=lambda f: (instant(f.observed_at), f.id))
    return tuple(view_of(ctx, registry, f, f.scope) for f in found)


@dataclass(frozen=True)
class Settlement:
    """A proposal beside what it would supersede: what a person looks at before settling."""

    proposal: FactView
    active: FactView | None
    expect: str
    """What ``--expect`` takes: the active fact as seen, or ``none``."""
    depends_on: tuple[str, ...]
    """Tasks that the fact holds for, and open packages that state it, one line each."""


def settlement(ctx: Context, fact_id: str) -> Settlement:
    """What is needed to decide about a proposal.

    Raises:
        RefusedError: The fact is not waiting for a decision.
    """
    records = ctx.workspace.load()
    registry = records.registry
    fact = find(ctx, fact_id, records)
    lifecycle = registry.lifecycle(fact.id)
    if lifecycle == "challenged":
        fact = registry.facts[registry.standing(fact.id).by[0]]
    elif lifecycle not in ("proposed", "contested"):
        raise RefusedError(f"{fact.key} is {lifecycle}; nothing waits for a decision")
    heads = [h for h in registry.heads(fact.key, fact.scope) if h.id != fact.id]
    active = heads[0] if heads else None
    tasks = [t for t in records.tasks.values() if fact.scope in (WORKSPACE, t.id) and t.status == "open"]
    lines = [f"task {t.slug}" for t in sorted(tasks, key=lambda t: t.slug)]
    key = registry.canonical(fact.key)
    for package in sorted(records.packages.values(), key=lambda p: p.envelope.id):
        rests_on = {f.subject.partition(" ")[0] for f in package.envelope.fingerprints if f.code == "fact_changed"}
        if package.status == "pending" and key in rests_on:
            lines.append(f"package {package.envelope.id} for {package.envelope.identity.to} goes stale")
    return Settlement(
        proposal=view_of(ctx, registry, fact, None),
        active=view_of(ctx, registry, active, None) if active else None,
        expect=f"{active.id}@{active.version}" if active else "none",
        depends_on=tuple(lines),
    )
