"""Bringing what was found in a text to registry and task, in one change."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.domain.task import Task
from workbench.extraction import Extraction, Find
from workbench.services import offers
from workbench.services.context import Context
from workbench.services.extraction import refusals
from workbench.services.state import require_own
from workbench.services.taking import Proposed, Taker
from workbench.store.transaction import Transaction


def propose(ctx: Context, task: Task, found: Extraction, why: str = "") -> Proposed:
    """Bring finds to registry and task in one change; what becomes of each is the table of ``domain.md``.

    Decisions and facts go to the registry; open items become pending ones of ``task``, accepted at once only from
    the person's own words; something said to be produced is a claim. What a model found is never taken for her words.

    Args:
        ctx: Where and who.
        task: Whose open items these become.
        found: The finds.
        why: What is noted with the change, such as what asking a model cost.

    Raises:
        RefusedError: Somebody else runs the task, or it is closed.
    """
    ctx.require_writable()
    result = Proposed()
    with ctx.workspace.transaction(ctx.actor.name, f"extract --propose {task.slug}", why, now=ctx.now()) as tx:
        now: Task = tx.records.tasks[task.id]
        require_own(ctx, now, tx.records)
        bring(ctx, tx, now, found.said, result)
    return result


def bring(ctx: Context, tx: Transaction, task: Task, finds: Iterable[Find], result: Proposed) -> None:
    """Take finds into registry and task as part of a change, and put the few that are worth it before the person.

    Args:
        ctx: Where.
        tx: The change.
        task: Whose open items these become, as it is now.
        finds: The finds, in the order in which they were said.
        result: What became of them.
    """
    taker = Taker(ctx, tx, task, result, [*refusals(tx.records), *offers.refused(ctx, tx.records)])
    for find in finds:
        taker.take(find)
    taker.finish()
    offers.add(ctx, tx.records, result.asked)
