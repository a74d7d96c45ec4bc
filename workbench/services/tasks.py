"""Tasks and attempts: making, changing, taking up and ending them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from workbench.domain.contract import Contract
from workbench.domain.fact import Act, Fact, Source, is_key
from workbench.domain.ids import is_id, new_id, slugify
from workbench.domain.record import Stamp
from workbench.domain.task import LIVE_ATTEMPT, Attempt, AttemptStatus, SessionRef, Task, TaskState, without_attempt
from workbench.errors import DamagedError, NotFoundError, RefusedError, StorageError, UsageError, VersionConflictError
from workbench.handoff.transfer import close_packages
from workbench.services import damage, scratch
from workbench.services.context import Context
from workbench.services.contracts import contract_from, needed
from workbench.store.git import head
from workbench.store.mask import mask
from workbench.store.records import Records


def current_task(ctx: Context, records: Records) -> Task | None:
    """The task that ``@`` means: this terminal's, this machine's, else the only open one or the newest.

    Raises:
        DamagedError: The record of the chosen one cannot be read; no other is taken in its place.
    """
    for chosen in (ctx.env.get("WORKBENCH_TASK"), ctx.workspace.local.current_task):
        if chosen:
            own = ("tasks", f"tasks/{chosen}.json")
            damage.refuse((d for d in records.damaged if d.path in own), "the current task")
            matches = [t for t in records.tasks.values() if t.id.startswith(chosen) or t.slug == chosen]
            if len(matches) == 1:
                return matches[0]
    open_ = [t for t in records.tasks.values() if t.status in ("open", "draft")]
    return max(open_ or records.tasks.values(), key=lambda t: (t.created.at, t.id), default=None)


def glance(ctx: Context, records: Records) -> Task | None:
    """The current task, for lists: none where its record cannot be read, which they say by themselves."""
    try:
        return current_task(ctx, records)
    except DamagedError:
        return None


def current_id(ctx: Context, records: Records) -> str | None:
    """The id of the current task, also where its record cannot be read: what is its own is still its own."""
    task = glance(ctx, records)
    chosen = ctx.workspace.local.current_task
    unread = {d.path for d in records.damaged} & {"tasks", f"tasks/{chosen}.json"}
    return task.id if task is not None else chosen if unread else None


def resolve(ctx: Context, text: str, records: Records | None = None) -> Task:
    """The task that ``text`` names: ``@``, a slug, or a unique id prefix.

    Raises:
        NotFoundError: None, or several (``details['candidates']``).
    """
    records = records or _as_few_as_tell(ctx, text)
    if text == "@":
        task = current_task(ctx, records)
        if task is None:
            raise NotFoundError("there is no task yet", "make one: workbench task new TITLE")
        return task
    found = records.find("tasks", text)
    assert isinstance(found, Task)
    return found


def _as_few_as_tell(ctx: Context, text: str) -> Records:
    """The one task that a whole id names, else all tasks; nothing but tasks."""
    named = (ctx.env.get("WORKBENCH_TASK") or ctx.workspace.local.current_task or "") if text == "@" else text
    one = ctx.workspace.look(f"tasks/{named}.json") if is_id(named) else None
    return one if one is not None and one.tasks else ctx.workspace.look("tasks")


def listing(ctx: Context) -> tuple[Task, ...]:
    """All tasks, open ones first, newest first."""
    order = {"open": 0, "draft": 1, "complete": 2, "cancelled": 3}
    tasks = sorted(ctx.workspace.load().tasks.values(), key=lambda t: (t.created.at, t.id), reverse=True)
    return tuple(sorted(tasks, key=lambda t: order[t.status]))


def use(ctx: Context, task: Task) -> None:
    """Make ``task`` the current one on this machine."""
    ctx.require_human("choosing the current task")
    ctx.require_writable()
    ctx.workspace.local.current_task = task.id


def new(ctx: Context, draft: Mapping[str, Any]) -> Task:
    """Make a task from a title and the fields of a contract; it becomes the current one.

    Args:
        ctx: Where and who.
        draft: ``title`` and, all optional, ``slug``, ``constraints`` (``[{key, value}]``) and the
            fields of :class:`Contract`. Acceptance items may be plain texts; ids are given here.

    Raises:
        UsageError: An unknown field or a wrong type; the message names the place.
    """
    ctx.require_human("making a task")
    ctx.require_writable()
    title = draft.get("title")
    if not isinstance(title, str) or not title.strip():
        raise UsageError("a task needs a title", "workbench task new TITLE")
    records = ctx.workspace.load()
    fields = {k: v for k, v in draft.items() if k not in ("title", "slug", "constraints")}
    contract = contract_from(fields, lambda name: resolve(ctx, name, records).id)
    slug = _free_slug(records, draft.get("slug") or slugify(mask(title)))
    created = Stamp(by=ctx.actor.name, at=ctx.stamp())
    task = Task(
        id=new_id(),
        slug=slug,
        title=title.strip(),
        contract=contract,
        created=created,
        state=TaskState(updated_at=created.at),
    )
    constraints = [_constraint(ctx, task, row) for row in draft.get("constraints", ())]
    with ctx.workspace.transaction(ctx.actor.name, f"task new {title}", now=ctx.now()) as tx:
        tx.put(task)
        for fact in constraints:
            tx.put(fact)
    try:
        ctx.workspace.local.current_task = task.id
    except StorageError as problem:
        # The task is made: reporting failure would make a script make it twice.
        ctx.workspace.notices.append(f"the task is made, but not the current one: {problem.message}")
    return task


def _free_slug(records: Records, wanted: str) -> str:
    if not re.fullmatch(r"[^\s/@#]{1,60}", wanted):
        raise UsageError(f"slug {wanted!r} may hold no blanks, '/', '@' or '#', and at most 60 characters")
    taken = {task.slug for task in records.tasks.values()}
    number, slug = 2, wanted
    while slug in taken:
        slug, number = f"{wanted}-{number}", number + 1
    return slug


def _constraint(ctx: Context, task: Task, row: Mapping[str, Any]) -> Fact:
    key, value = str(row.get("key", "")), row.get("value")
    if not is_key(key):
        raise UsageError(f"constraint key {key!r} is not a dotted name", "write --constraint ui.contrast=AA")
    at = ctx.stamp()
    return Fact(
        id=new_id(),
        key=key,
        value=value,
        kind="constraint",
        scope=task.id,
        trust="authoritative",
        observed_at=at,
        statement=str(row.get("statement", "")),
        sources=(Source(type="person", by=ctx.actor.name, at=at),),
        acts=(Act(act="accepted", by=ctx.actor.name, at=at),),
    )


def revise(ctx: Context, task: Task, changes: Mapping[str, Any], why: str = "") -> Task:
    """Change a contract; the plan revision counts up, and a running attempt becomes outdated."""
    ctx.require_human("revising a task")
    ctx.require_writable()
    with ctx.workspace.transaction(ctx.actor.name, f"task revise {task.slug}", why, now=ctx.now()) as tx:
        now = tx.records.tasks[task.id]
        title = changes.get("title", now.title)
        rest = {k: v for k, v in changes.items() if k not in ("title", "slug", "constraints")}
        contract = contract_from(rest, lambda name: resolve(ctx, name, tx.records).id, now.contract)
        _refuse_circle(now, contract, tx.records)
        revision = now.plan_revision + (contract != now.contract)
        saved = tx.put(now.with_(title=title, contract=contract, plan_revision=revision), expect=task.version)
        for row in changes.get("constraints", ()):
            tx.put(_constraint(ctx, saved, row))
    return saved


def _refuse_circle(task: Task, contract: Contract, records: Records) -> None:
    """A task that waits for itself, by however many steps, never begins.

    Raises:
        UsageError: Naming the way round.
    """
    ways: list[tuple[str, ...]] = [(name,) for name in needed(contract)]
    seen: set[str] = set()
    while ways:
        way = ways.pop()
        if way[-1] == task.id:
            steps = [records.tasks[name].slug for name in (task.id, *way)]
            raise UsageError(f"the task would wait for itself: {' -> '.join(steps)}", "leave one of these out")
        other = records.tasks.get(way[-1])
        if other is not None and other.id not in seen:
            seen.add(other.id)
            ways += [(*way, name) for name in needed(other.contract)]


def close(ctx: Context, task: Task, status: str, why: str) -> Task:
    """Cancel a task, or complete it with a person's recorded reason; its running attempt ends with it."""
    ctx.require_human(f"{'cancelling' if status == 'cancelled' else 'completing'} a task")
    ctx.require_writable()
    if not why.strip():
        raise UsageError("a reason is needed", "say it with --why TEXT")
    stamp = Stamp(by=ctx.actor.name, at=ctx.stamp(), why=why)
    with ctx.workspace.transaction(ctx.actor.name, f"task {status} {task.slug}", why, now=ctx.now()) as tx:
        now = tx.records.tasks[task.id]
        if now.status in ("complete", "cancelled"):
            raise RefusedError(f"task {now.slug} is {now.status} already", f"see: workbench log {now.slug}")
        if "running" in now.contests:
            raise RefusedError(f"who runs task {now.slug} is contested", "end all but one: workbench attempt end ID")
        if now.running and now.running in tx.records.attempts:
            attempt = tx.records.attempts[now.running]
            tx.put(attempt.with_(status="accepted" if status == "complete" else "cancelled", ended=stamp))
            close_packages(tx, attempt.id, ctx.actor.name)
        closed = tx.put(now.with_(status=status, running=None, closed=stamp), expect=task.version)
    scratch.sweep(ctx)
    return closed


def take(ctx: Context, task: Task, executor: str | None = None, session: SessionRef | None = None) -> Attempt:
    """Make the running attempt of a task by compare-and-swap: of several takers exactly one wins.

    Raises:
        VersionConflictError: Somebody runs it already; ``details`` names the attempt.
    """
    ctx.require_writable()
    executor = executor or ctx.actor.name
    where = head(ctx.location)
    with ctx.workspace.transaction(ctx.actor.name, f"task take {task.slug}", now=ctx.now()) as tx:
        now = tx.look(f"tasks/{task.id}.json").tasks[task.id]
        if now.status not in ("open", "draft"):
            raise RefusedError(f"task {now.slug} is {now.status}", "only an open task can be taken")
        if now.running is not None:
            other = tx.look(f"attempts/{now.running}.json").attempts.get(now.running)
            by = other.executor if other else "an attempt that cannot be read"
            raise VersionConflictError(
                f"task {now.slug} is run by {by} (attempt {now.running})",
                "hand it over, or end that attempt first",
                running=now.running,
                executor=by,
            )
        attempt = Attempt(
            id=new_id(),
            task=task.id,
            executor=executor,
            plan_revision=now.plan_revision,
            worktree=ctx.location.worktree_name,
            branch=where.branch,
            head=where.commit,
            sessions=(session,) if session else (),
            started=Stamp(by=ctx.actor.name, at=ctx.stamp()),
        )
        tx.put(attempt)
        tx.put(now.with_(running=attempt.id, status="open"))
    return attempt


def attempts(ctx: Context, task: Task) -> tuple[Attempt, ...]:
    """The attempts of a task, oldest first."""
    found = (a for a in ctx.workspace.load().attempts.values() if a.task == task.id)
    return tuple(sorted(found, key=lambda a: (a.started.at, a.id)))


def find_attempt(ctx: Context, text: str) -> Attempt:
    """An attempt by unique id prefix."""
    found = ctx.workspace.load().find("attempts", text)
    assert isinstance(found, Attempt)
    return found


def end_attempt(ctx: Context, attempt: Attempt, status: AttemptStatus, why: str) -> Attempt:
    """End a live attempt; a person's act. The task is free to be taken again."""
    ctx.require_human("ending an attempt")
    ctx.require_writable()
    with ctx.workspace.transaction(ctx.actor.name, f"attempt end {attempt.id}", why, now=ctx.now()) as tx:
        now = tx.records.attempts[attempt.id]
        if now.status not in LIVE_ATTEMPT:
            raise RefusedError(f"attempt {attempt.id} has ended already ({now.status})")
        ended = tx.put(now.with_(status=status, ended=Stamp(by=ctx.actor.name, at=ctx.stamp(), why=why)))
        close_packages(tx, attempt.id, ctx.actor.name)
        task = tx.records.tasks.get(attempt.task)
        if task is not None:
            live = {a.id for a in tx.records.attempts.values() if a.status in LIVE_ATTEMPT}
            tx.put(without_attempt(task, attempt.id, live))
    scratch.sweep(ctx)
    return ended
