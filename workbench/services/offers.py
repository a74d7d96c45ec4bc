"""What is put before a person: three at once and ten a day; the rest is held back, and what she skipped stays away.

The list is of this machine (``.local/``): losing it loses no record. What she decides stands in the records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from workbench.domain.fact import Fact
from workbench.domain.task import PendingItem
from workbench.domain.times import instant
from workbench.services.context import Context
from workbench.store.records import Records

if TYPE_CHECKING:  # most commands find nothing in texts: start-up counts
    from workbench.extraction.offer import Refusal

CHALLENGES = 0
"""How soon a contradiction by the person's own later words wants her: before everything else."""
CHANGES = 2
"""The same for what a text that was handed in says otherwise, as for a change of mind."""


@dataclass(frozen=True)
class Asked:
    """A record that came of a find worth a person's attention."""

    id: str
    what: Literal["fact", "item"]
    task: str
    rank: int
    """How soon it wants her, the lowest first."""
    text: str = ""
    """Of an open item."""


End = Literal["", "skipped", "seen", "refused"]
_NAME = "offers"
_MOST = 1000
"""Rows that are kept, newest last."""
_WAITS_FOR = timedelta(days=1)
"""How long a find may be held back: what is older is not asked any more."""


@dataclass(frozen=True)
class Offer:
    """A record that may be put before the person."""

    id: str
    what: Literal["fact", "item"]
    task: str
    rank: int = 9
    text: str = ""
    """Of an open item, which is gone once it is refused; a fact stays on record."""
    found: str = ""
    at: str = ""
    """Since when it stands before her; empty while it is held back."""
    end: End = ""
    """What she did about it, where no record tells."""


def rows(ctx: Context) -> tuple[Offer, ...]:
    """Everything on the list, oldest first."""
    return _read(ctx.workspace.local.get(_NAME))


def _read(value: Any) -> tuple[Offer, ...]:
    found = []
    for row in value if isinstance(value, list) else ():
        try:
            found.append(msgspec.convert(row, Offer))
        except msgspec.ValidationError:
            continue
    return tuple(found)


def waiting(ctx: Context, records: Records) -> tuple[Offer, ...]:
    """What stands before the person and is undecided, the most pressing first."""
    found = [row for row in rows(ctx) if row.at and is_open(records, row)]
    return tuple(sorted(found, key=lambda row: (row.rank, row.found)))


def held(ctx: Context, records: Records) -> frozenset[str]:
    """What is held back, or is proposed and was skipped: nobody is asked about it."""
    return frozenset(
        row.id
        for row in rows(ctx)
        if (not row.at and not row.end)
        or (row.end and row.id in records.facts and records.registry.lifecycle(row.id) == "proposed")
    )


def refused(ctx: Context, records: Records) -> list[Refusal]:
    """Open items that the person did not want; one that an undo brought back is none."""
    from workbench.extraction.offer import Refusal

    gone = [row for row in rows(ctx) if row.what == "item" and row.end == "refused"]
    return [Refusal(row.text) for row in gone if _pending(records, row) is None]


def is_open(records: Records, offer: Offer) -> bool:
    """Whether no person has decided about it yet, or an undo took back what she had decided."""
    if offer.what == "item":
        item = _pending(records, offer)
        return item is not None and (offer.end in ("", "refused") or (offer.end == "seen" and not item.accepted))
    if offer.end:
        return False
    fact = records.facts.get(offer.id)
    return fact is not None and is_undecided(records, fact)


def is_undecided(records: Records, fact: Fact) -> bool:
    """Whether a fact waits, or holds without a person having confirmed it."""
    lifecycle = records.registry.lifecycle(fact.id)
    by_person = any(act.by.startswith("human:") for act in fact.acts)
    return lifecycle == "proposed" or (lifecycle == "active" and not by_person)


def _pending(records: Records, offer: Offer) -> PendingItem | None:
    task = records.tasks.get(offer.task)
    return next((item for item in task.state.pending if item.id == offer.id), None) if task is not None else None


def add(ctx: Context, records: Records, asked: Sequence[Asked]) -> None:
    """Put what was found on the list, and before the person what there is room for.

    Args:
        ctx: Where.
        records: As they were before the change that made these.
        asked: The new records, not among ``records`` yet.
    """
    if asked:
        now = ctx.stamp()
        new = {one.id: Offer(one.id, one.what, one.task, one.rank, one.text, now) for one in asked}

        def edit(known: list[Offer]) -> list[Offer]:
            """What was held back may have become pressing; what she saw stays as it is."""
            kept = [row for row in known if row.id not in new or (row.at and not row.end)]
            return [*kept, *(row for row in new.values() if all(row.id != before.id for before in kept))]

        _change(ctx, records, edit, new)


def promote(ctx: Context, records: Records) -> bool:
    """Put before the person what there is room for now; whether there was any."""
    before = {row.id for row in rows(ctx) if not row.at and is_open(records, row)}
    if not before:
        return False
    _change(ctx, records, lambda known: known, frozenset())
    return any(row.id in before and row.at for row in rows(ctx))


def end(ctx: Context, identifier: str, how: End, *, instead: Offer | None = None) -> None:
    """Note what the person did about one find, where no record tells it.

    Args:
        ctx: Where.
        identifier: The record.
        how: What she did.
        instead: What to note where it is not on the list.
    """

    def edit(known: list[Offer]) -> list[Offer]:
        if instead is not None and all(row.id != identifier for row in known):
            known = [*known, instead]
        return [replace(row, end=how) if row.id == identifier else row for row in known]

    _change(ctx, ctx.workspace.load(), edit, frozenset())


def _change(ctx: Context, records: Records, edit: Callable[[list[Offer]], list[Offer]], fresh: Iterable[str]) -> None:
    new = frozenset(fresh)

    def whole(before: Any) -> list[dict[str, Any]]:
        known = _promoted(ctx, records, edit(list(_read(before))), new)
        return [asdict(row) for row in known[-_MOST:]]

    ctx.workspace.local.change(_NAME, whole)


def _promoted(ctx: Context, records: Records, known: list[Offer], fresh: frozenset[str]) -> list[Offer]:
    from workbench.extraction.offer import room_for

    now = ctx.stamp()
    undecided = {row.id for row in known if row.id in fresh or is_open(records, row)}
    before_her = sum(row.id in undecided and bool(row.at) for row in known) + _others(records, known)
    today = sum(row.at[:10] == now[:10] for row in known if row.at)
    result = {row.id: row for row in known}
    for row in sorted(known, key=lambda row: (row.rank, row.found)):
        if row.at or row.id not in undecided:
            continue
        if row.rank == CHALLENGES or room_for(waiting=before_her, shown_today=today):
            result[row.id] = replace(row, at=now)
            before_her, today = before_her + 1, today + 1
        elif ctx.now() - instant(row.found) > _WAITS_FOR:
            result[row.id] = replace(row, end="skipped")
    return list(result.values())


def _others(records: Records, known: Iterable[Offer]) -> int:
    """Questions that did not come from this list: proposals of agents and merges."""
    mine = {row.id for row in known}
    registry = records.registry
    return len(
        {
            (registry.canonical(fact.key), fact.scope)
            for fact in registry.facts.values()
            if fact.reviewed and fact.id not in mine and registry.lifecycle(fact.id) == "proposed"
        }
    )
