"""Taking over into a new task what another one, or a session, ended with; and saying what stays behind."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.domain.contract import InputSpec
from workbench.domain.fact import Act, Fact
from workbench.domain.ids import new_id
from workbench.domain.task import PendingItem, Task
from workbench.errors import NotFoundError
from workbench.services import extraction, proposing, sessions, tasks
from workbench.services.context import Context
from workbench.store.records import Records


@dataclass(frozen=True)
class Carried:
    """What a new task was given."""

    facts: int
    open: int
    inputs: int
    """References to what the other task produced."""
    left: tuple[str, ...]
    """What was left behind, a line each."""


def source(ctx: Context, name: str) -> Task | str:
    """What a name means: a task, else the file of a session.

    Raises:
        NotFoundError: There is neither.
    """
    try:
        return tasks.resolve(ctx, name)
    except NotFoundError:
        return str(sessions.locate(ctx, name)[1])


def carry(ctx: Context, task: Task, given: Task | str) -> Carried:
    """Take over into ``task`` from another task, or from a session.

    From a task: its own accepted facts, what is still open, and bound outputs as inputs. Facts of the workspace hold
    for the new task anyway. From a session: what the rules find in it.

    Args:
        ctx: Where and who; a person.
        task: The new task.
        given: What :func:`source` gave.
    """
    ctx.require_human("carrying over into a task")
    return _from_task(ctx, task, given) if isinstance(given, Task) else _from_session(ctx, task, given)


def _from_session(ctx: Context, task: Task, name: str) -> Carried:
    done = extraction.from_session(name, ctx=ctx, env=ctx.env)
    kept = proposing.propose(ctx, task, done.found)
    left = [f"{text} ({why})" for text, why in kept.left]
    left.append(f"{done.found.process} sentences of process, {done.skipped} messages of tools")
    return Carried(len(kept.active) + len(kept.proposed), len(kept.pending), 0, tuple(left))


def _from_task(ctx: Context, task: Task, other: Task) -> Carried:
    with ctx.workspace.transaction(ctx.actor.name, f"task carry {other.slug} to {task.slug}", now=ctx.now()) as tx:
        mine = [fact for fact in tx.records.registry.facts.values() if fact.scope == other.id]
        holding = [fact for fact in mine if tx.records.registry.lifecycle(fact.id) == "active"]
        for fact in holding:
            tx.put(_copy(fact, task, ctx.actor.name, tx.now))
        now: Task = tx.records.tasks[task.id]
        pending = tuple(_item(item, other) for item in other.state.pending if item.accepted)
        inputs = _inputs(tx.records, other, now)
        state = now.state.with_(pending=(*now.state.pending, *pending), updated_at=tx.now)
        contract = now.contract.with_(inputs=(*now.contract.inputs, *inputs))
        tx.put(now.with_(state=state, contract=contract))
    return Carried(len(holding), len(pending), len(inputs), tuple(_left(other, len(mine) - len(holding))))


def _copy(fact: Fact, task: Task, by: str, at: str) -> Fact:
    act = Act(act="accepted", by=by, at=at, why="carried over")
    return Fact(
        id=new_id(),
        key=fact.key,
        value=fact.value,
        statement=fact.statement,
        kind=fact.kind,
        scope=task.id,
        reason=fact.reason,
        trust=fact.trust,
        sources=fact.sources,
        observed_at=fact.observed_at,
        review_after=fact.review_after,
        acts=(act,),
    )


def _item(item: PendingItem, other: Task) -> PendingItem:
    """An open item begins anew: nobody has started it, and it is a step of nothing."""
    return item.with_(id=new_id(), started=None, parent=None, source=item.source or f"task {other.slug}")


def _inputs(records: Records, other: Task, task: Task) -> list[InputSpec]:
    bound = {b.key for artifact in records.artifacts.values() for b in artifact.bindings if b.task == other.id}
    known = {given.key for given in task.contract.inputs}
    return [InputSpec(key=key, from_=other.slug, output=key) for key in sorted(bound - known)]


def _left(other: Task, undecided: int) -> list[str]:
    state = other.state
    unaccepted = sum(not item.accepted for item in state.pending)
    counts = (
        (len(state.done), "done items"),
        (len(state.variables), "variables"),
        (undecided, "facts that do not hold or are undecided"),
        (unaccepted, "open items that nobody has accepted"),
    )
    return [f"{number} {what}" for number, what in counts if number] + ["history and evidence"]
