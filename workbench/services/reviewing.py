"""The review list: what was found in the sessions, the few lines that stand before the person first; and her acts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from workbench.domain.delta import Delta
from workbench.domain.fact import Fact, Source
from workbench.domain.record import Json
from workbench.domain.task import PendingItem, Task
from workbench.domain.times import instant
from workbench.errors import NotFoundError
from workbench.extraction.sentences import is_han
from workbench.services import facts, offers, state
from workbench.services.context import Context
from workbench.services.following import Heard, heard
from workbench.services.offers import Offer
from workbench.services.tasks import current_task
from workbench.services.view import FactView
from workbench.store.records import Records

NOT_SO = "refused in the review list"
"""Why, where the person gave no reason."""


@dataclass(frozen=True)
class Found:
    """One line that was found: a fact, or an open item of a task."""

    id: str
    kind: str
    """``decision``, ``constraint``, ``fact`` or ``open``."""
    text: str
    quote: str
    """The sentence, literally."""
    by: str
    at: str
    ref: str
    """``SESSION#MESSAGE``; empty where it was not said in a session."""
    language: str
    """``en`` or ``zh``, by its sentence."""
    offered: bool = False
    """Whether it stands before the person; else it is kept without asking."""
    fact: FactView | None = None
    task: str = ""
    """Whose open item it is."""
    accepted: bool = False
    """Of an open item: whether it is listed already, from the person's own words."""
    expect: str = ""
    """Of a fact: what holds beside it, as it was seen."""
    apart: str | None = None
    """The task for which alone it could hold, beside the old value for all others."""


@dataclass(frozen=True)
class Review:
    """What there is to look at."""

    offered: tuple[Found, ...]
    """The most pressing first."""
    rest: tuple[Found, ...]
    """Kept without asking, newest first."""
    held: int
    """How many wait until there is room."""
    heard: Heard
    """What the sessions of the task held, and what carrying only that would save."""


def review(ctx: Context) -> Review:
    """The list for the current task, read now."""
    records = ctx.workspace.load()
    task = current_task(ctx, records)
    before_her = {row.id: row for row in offers.waiting(ctx, records)}
    found = {one.id: one for one in (*_facts(ctx, records, task), *_items(records, before_her, task))}
    offered = [replace(found[name], offered=True) for name in before_her if name in found]
    rest = [one for one in found.values() if one.id not in before_her and _is_rest(one)]
    rest.sort(key=lambda one: (instant(one.at), one.id), reverse=True)
    held = sum(not row.at and offers.is_open(records, row) for row in offers.rows(ctx))
    known = heard(ctx)
    names = [ref.name for a in records.attempts.values() if task and a.task == task.id for ref in a.sessions]
    told = sum((known[name] for name in dict.fromkeys(names) if name in known), Heard())
    return Review(tuple(offered), tuple(rest), held, told)


def _is_rest(one: Found) -> bool:
    return not one.fact.asked if one.fact is not None else not one.accepted


def _facts(ctx: Context, records: Records, task: Task | None) -> Iterator[Found]:
    """Facts in scope that no person has decided about."""
    registry = records.registry
    for row in facts.views(ctx, records, task.id if task else None):
        fact = row.fact
        if not offers.is_undecided(records, fact):
            continue
        heads = [head for head in registry.heads(fact.key, fact.scope) if head.id != fact.id]
        said = _said(fact)
        yield Found(
            id=fact.id,
            kind=fact.kind,
            text=fact.line,
            quote=said.quote or "",
            by=said.by,
            at=said.at,
            ref=said.ref if said.type == "session" and said.ref else "",
            language=_language(said.quote or fact.line),
            fact=row,
            expect=f"{heads[0].id}@{heads[0].version}" if heads else "none",
            apart=task.id if task is not None and heads and fact.scope == "workspace" else None,
        )


def _said(fact: Fact) -> Source:
    """The source to show: the newest that quotes a sentence."""
    quoted = [source for source in fact.sources if source.quote]
    return (quoted or list(fact.sources) or [Source()])[-1]


def _items(records: Records, before_her: dict[str, Offer], task: Task | None) -> Iterator[Found]:
    """Open items that were found and that nobody has taken, and those that stand before the person."""
    for one in records.tasks.values():
        for item in one.state.pending:
            mine = task is not None and one.id == task.id and not item.accepted
            if mine or item.id in before_her:
                yield _item(one, item)


def _item(task: Task, item: PendingItem) -> Found:
    ref = item.source if item.source and "#" in item.source else ""
    return Found(
        id=item.id,
        kind="open",
        text=item.text,
        quote=item.text,
        by=item.by,
        at=item.at,
        ref=ref,
        language=_language(item.text),
        task=task.id,
        accepted=item.accepted,
    )


def _language(text: str) -> str:
    return "zh" if is_han(text) else "en"


# What a person does about a line.


def accept(ctx: Context, one: Found, value: Json = None, text: str = "") -> str:
    """Confirm a fact, or take an open item; with another value or wording where one is given. Says what was done.

    Raises:
        VersionConflictError: What holds is not what was seen any more.
        NotFoundError: The line is gone.
    """
    if one.fact is not None:
        whole = one.fact.fact.value == one.fact.fact.statement  # a sentence without a key is its own value
        edits: dict[str, Json] = {} if value is None else {"value": value, "statement": value if whole else ""}
        done = facts.confirm(ctx, one.id, expect=one.expect, **edits)
        said = f"Confirmed: {_plain(done.line)}."
    else:
        _there(ctx, one)
        delta = Delta(accept=() if one.accepted else (one.id,), reword={one.id: text} if text else {})
        if delta.accept or delta.reword:
            state.update(ctx, _task(ctx, one), delta)
        _end(ctx, one, "seen")
        said = f"On the list: {_plain(text or one.text)}."
    offers.promote(ctx, ctx.workspace.load())
    return said


def keep_both(ctx: Context, one: Found) -> str:
    """Let a value hold for the current task alone, the old one for all others. Says what was done."""
    assert one.apart is not None
    done = facts.confirm(ctx, one.id, expect=one.expect, scope=one.apart)
    offers.promote(ctx, ctx.workspace.load())
    return f"For this task alone: {_plain(done.line)}."


def refuse(ctx: Context, one: Found, why: str = "") -> str:
    """Reject a proposal, take back what came to hold by a rule, or take an open item away. Says what was done.

    It is remembered: the same is not put before her again, in other words either.
    """
    ctx.require_human("refusing what was found")
    why = why or NOT_SO
    if one.fact is not None:
        act = facts.reject if one.fact.lifecycle == "proposed" else facts.retract
        act(ctx, one.id, why)
    else:
        _there(ctx, one)
        state.update(ctx, _task(ctx, one), Delta(drop=(one.id,)), why)
        _end(ctx, one, "refused")
    offers.promote(ctx, ctx.workspace.load())
    return f"Refused: {_plain(one.text)}."


def skip(ctx: Context, one: Found) -> str:
    """Do not ask about a line again; it stays as it is. Says what was done."""
    ctx.require_human("skipping what was found")
    ctx.require_writable()
    _end(ctx, one, "skipped")
    return f"Kept without asking: {_plain(one.text)}."


def _plain(text: str) -> str:
    return text.rstrip(" .。")


def _end(ctx: Context, one: Found, how: offers.End) -> None:
    now = ctx.stamp()
    item = one.fact is None
    instead = Offer(one.id, "item" if item else "fact", one.task, text=one.text if item else "", found=now)
    offers.end(ctx, one.id, how, instead=instead)


def _task(ctx: Context, one: Found) -> Task:
    task: Task = ctx.workspace.load().find("tasks", one.task)
    return task


def _there(ctx: Context, one: Found) -> None:
    if all(item.id != one.id for item in _task(ctx, one).state.pending):
        raise NotFoundError("this open item is not on the list any more", "look again")
