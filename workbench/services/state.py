"""What holds now for a task, changed by deltas, and what is odd about it (``domain.md``, Task state)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from workbench.compiler import EvidenceItem
from workbench.domain.artifact import Artifact, ArtifactVersion
from workbench.domain.contested import VARIABLES, refusal
from workbench.domain.delta import Conflict, Delta, DoneWord, Hand, Outcome
from workbench.domain.evidence import Evidence
from workbench.domain.fact import canonical_value
from workbench.domain.ids import new_id
from workbench.domain.record import Json, Stamp
from workbench.domain.schema import decode
from workbench.domain.state import apply
from workbench.domain.state_findings import Finding, find, is_vague
from workbench.domain.task import LIVE_ATTEMPT, Task
from workbench.domain.variables import ARTIFACT, ENVIRONMENT, is_reference, too_large
from workbench.errors import RefusedError, VersionConflictError
from workbench.services import citing, evidence, scratch
from workbench.services.context import Context
from workbench.services.material import judged
from workbench.store.mask import mask_document
from workbench.store.records import Records
from workbench.store.transaction import Transaction


@dataclass(frozen=True)
class StateView:
    """The state of a task as it is, with what is odd about it."""

    task: Task
    findings: tuple[Finding, ...]
    scratch: Mapping[str, Json]
    """Of the running attempt."""


@dataclass(frozen=True)
class Updated:
    """What became of a delta."""

    view: StateView
    applied: tuple[str, ...]
    """What changed, a line each."""
    said: tuple[str, ...]
    """What changed nothing, and why."""
    since: int | None = None
    """The version that the caller saw, where others changed the task since."""


def show(ctx: Context, task: Task) -> StateView:
    """The state of a task, read now."""
    return view_of(ctx, ctx.workspace.load(), task)


def view_of(ctx: Context, records: Records, task: Task) -> StateView:
    """The state of a task among these records."""
    lines = judged(ctx, [line for line in records.evidence if line.task == task.id and line.files])
    return StateView(task, findings(records, task, lines), scratch.of(ctx, records, task))


def findings(records: Records, task: Task, lines: Iterable[EvidenceItem]) -> tuple[Finding, ...]:
    """What is odd about a state, given the task's evidence as it stands now."""
    return find(
        task,
        names=_names(records, task) if any(is_vague(item) for item in task.state.pending) else (),
        live=frozenset(name for name, attempt in records.attempts.items() if attempt.status in LIVE_ATTEMPT),
        stale={line.evidence.id: line.changed for line in lines if not line.valid},
    )


def _names(records: Records, task: Task) -> frozenset[str]:
    """Words that name one certain thing in this workspace."""
    contract = task.contract
    own = (*contract.variables, *(output.key for output in contract.outputs), *(c.id for c in contract.commands))
    keys = {fact.key for fact in records.facts.values()}
    return frozenset((*own, *keys, *(key.replace(".", " ") for key in keys)))


def require_own(ctx: Context, task: Task, records: Records) -> None:
    """An agent changes the state of an attempt that it runs, or of a task that nobody runs.

    Raises:
        RefusedError: Somebody else runs it, or the task is closed.
    """
    if task.status not in ("open", "draft"):
        raise RefusedError(f"task {task.slug} is {task.status}", "the state of a closed task stays as it is")
    if ctx.actor.human or task.running is None:
        return
    running = records.attempts.get(task.running)
    if running is None or running.executor != ctx.actor.name:
        by = running.executor if running is not None else "an attempt that cannot be read"
        raise RefusedError(
            f"{task.slug} is run by {by}; {ctx.actor.name} does not change its state",
            "an agent updates the state of the attempt it runs",
            running=task.running,
            executor=by,
        )


def update(ctx: Context, task: Task, delta: Delta, why: str = "") -> Updated:
    """Apply a delta to the state as it is now.

    Where ``delta.expect`` names an older version, what touches nothing changed since is applied and
    said; the rest is a conflict, raised after the other part was kept.

    Raises:
        VersionConflictError: An item or a variable changed since; ``details['conflicts']`` has both values.
        UsageError: A variable is not declared, or a value does not fit.
        RefusedError: A value is a secret; somebody else runs the task.
        NotFoundError: An id names no item or no evidence.
    """
    base = _base(ctx, task, delta.expect)
    cited = citing.cited(ctx, task, delta.evidence)
    return carry_out(ctx, task, f"state update {task.slug}", lambda _now: (delta, ()), base=base, cited=cited, why=why)


Plan = Callable[[Task], tuple[Delta, Sequence[Conflict]]]
"""From the task as it is under the lock to what shall change, and what cannot."""


def carry_out(
    ctx: Context,
    task: Task,
    command: str,
    plan: Plan,
    *,
    base: Task | None = None,
    cited: Sequence[Evidence] = (),
    why: str = "",
) -> Updated:
    """Change a state under the lock; what :func:`update` says holds.

    ``cited`` is evidence that sessions show and that the delta names: it is stored with the change.
    """
    ctx.require_writable()
    with ctx.workspace.transaction(ctx.actor.name, command, why, now=ctx.now()) as tx:
        records = tx.look(*_concerning(task))
        now: Task = records.tasks[task.id]
        require_own(ctx, now, records)
        delta, known = plan(now)
        _refuse_secrets({**delta.set, **delta.scratch})
        if not ctx.actor.human:
            refuse_contested(ctx, now, (*delta.set, *delta.unset))
        if delta.expect is not None and delta.expect > now.version:
            raise VersionConflictError(
                f"task {now.slug} has version {now.version}, not yet {delta.expect}",
                "look again: workbench state show",
                expected=delta.expect,
                found=now.version,
            )
        base = base if base is not None and base.version != now.version else None
        out = _applied(ctx, tx, records, now, delta, base, cited)
        after = _with(now, out)
        saved = tx.put(after) if after != now else now
        named = {name for item in saved.state.done for name in item.evidence}
        stored = {line.id for line in records.evidence}
        citing.keep(ctx, tx, saved, [line for line in cited if line.id in named - stored])
    if delta.scratch:
        scratch.put(ctx, saved, delta.scratch)
    since = delta.expect if delta.expect is not None and delta.expect != now.version else None
    vague = any(is_vague(item) for item in saved.state.pending)  # what they may mean is looked for among all names
    seen = ctx.workspace.load() if vague else ctx.workspace.look(*_concerning(task))
    result = Updated(view_of(ctx, seen, saved), tuple(out.applied), tuple(out.said), since)
    conflicts = (*known, *out.conflicts)
    if conflicts:
        raise _conflict(result, delta.expect, conflicts)
    return result


def _concerning(task: Task) -> tuple[str, ...]:
    """The places of the records that a change of a task's state rests on."""
    return f"tasks/{task.id}.json", "attempts", "evidence", "artifacts"


def _applied(
    ctx: Context,
    tx: Transaction,
    records: Records,
    task: Task,
    delta: Delta,
    base: Task | None,
    cited: Sequence[Evidence],
) -> Outcome:
    delta = _named_in_full(records, task, delta, cited)
    hand = Hand(
        by=ctx.actor.name,
        at=tx.now,
        attempt=task.running,
        evidence=evidence.shows(ctx, records, task, delta.evidence, cited),
        keep_large=lambda name, value: _keep_large(ctx, tx, records, task, name, value),
    )
    return apply(delta, task.state, task.contract.variables, hand, base.state if base is not None else None)


def _named_in_full(records: Records, task: Task, delta: Delta, cited: Sequence[Evidence]) -> Delta:
    """The delta with every piece of evidence by its whole id."""
    rows = [
        row.with_(evidence=tuple(evidence.find(records, task, name, cited).id for name in row.evidence))
        if isinstance(row, DoneWord)
        else row
        for row in delta.done
    ]
    return delta.with_(done=tuple(rows))


def _with(task: Task, out: Outcome) -> Task:
    """The task with its new state; a variable that a person set to another value is contested no longer.

    A declaration only types a name and asks nothing of anybody: the plan revision stays, and a running
    attempt does not become outdated by it.
    """
    contested = {
        field: claims
        for field, claims in task.contests.items()
        if not (field.startswith(VARIABLES) and _set_anew(task, out, field.removeprefix(VARIABLES)))
    }
    return task.with_(
        state=out.state,
        contract=task.contract.with_(variables=out.variables),
        contested=contested or msgspec.UNSET,
    )


def _set_anew(task: Task, out: Outcome, name: str) -> bool:
    return out.state.variables_set.get(name) != task.state.variables_set.get(name)


def _base(ctx: Context, task: Task, expect: int | None) -> Task | None:
    """The task as it was at a version; None where none was named.

    Raises:
        VersionConflictError: The change log does not reach back so far.
    """
    if expect is None or expect >= task.version:
        return None if expect is None else task
    for change in ctx.workspace.changes():
        for record in change.records:
            if record.kind == "tasks" and record.id == task.id and record.version == expect and record.after:
                return decode(Task, record.after)
    raise VersionConflictError(
        f"task {task.slug} has version {task.version}, and the change log does not hold version {expect}",
        "look again: workbench state show",
        expected=expect,
        found=task.version,
    )


def _conflict(result: Updated, expect: int | None, found: Sequence[Conflict]) -> VersionConflictError:
    task = result.view.task
    lines = "; ".join(conflict.line for conflict in found)
    kept = f" (applied all the same: {'; '.join(result.applied)})" if result.applied else ""
    since = "the document was written" if expect is None else f"version {expect}"
    again = "set what holds: workbench state update" if expect is None else f"repeat it with --expect {task.version}"
    return VersionConflictError(
        f"changed since {since}: {lines}{kept}",
        f"decide which holds, then {again}",
        expected=expect,
        found=task.version,
        conflicts=[{"subject": c.subject, "seen": c.seen, "now": c.now, "wanted": c.wanted} for c in found],
        applied=list(result.applied),
        said=list(result.said),
    )


def refuse_contested(ctx: Context, task: Task, names: Iterable[str]) -> None:
    """A variable that is contested since two copies were merged is not set on the way.

    Raises:
        RefusedError: One is; a person settles it.
    """
    for field in (f"{VARIABLES}{name}" for name in names):
        if field in task.contests:
            raise refusal("task", task.slug, f"tasks/{task.id}", field, human=ctx.actor.human)


def _refuse_secrets(values: Mapping[str, Any]) -> None:
    """A secret is not masked into uselessness but refused: its place is the environment.

    Raises:
        RefusedError: A value looks like a secret.
    """
    for name, value in values.items():
        if not is_reference(value) and mask_document({"key": name, "value": value})["value"] != value:
            raise RefusedError(
                f"the value of {name} looks like a secret",
                f"put it into an environment variable and set {name} to {ENVIRONMENT}NAME",
                name=name,
            )


def _keep_large(ctx: Context, tx: Transaction, records: Records, task: Task, name: str, value: Json) -> Json:
    """What stands for a value: itself, or the artifact version that holds it."""
    if not too_large(value):
        return value
    data = canonical_value(value).encode()
    digest = hashlib.sha256(data).hexdigest()
    key = f"state.{name}"
    known = [a for a in records.artifacts.values() if a.task == task.id and a.key == key and a.kind == "variable"]
    before = known[0] if known else Artifact(id=new_id(), task=task.id, key=key, kind="variable")
    newest = max(before.versions, key=lambda version: version.number, default=None)
    if newest is not None and newest.sha256 == digest:
        return f"{ARTIFACT}{before.id}@{newest.number}"
    number = newest.number + 1 if newest else 1
    version = ArtifactVersion(
        number=number,
        sha256=digest,
        size=len(data),
        attempt=task.running,
        worktree=ctx.location.worktree_name,
        kept=tx.put_blob(data) == digest,
        made=Stamp(by=ctx.actor.name, at=tx.now),
    )
    tx.put(before.with_(versions=(*before.versions, version)))
    return f"{ARTIFACT}{before.id}@{number}"
