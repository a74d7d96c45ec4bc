"""Sessions that go on where one of a running attempt stopped (``domain.md``, *session*).

After clearing, resuming or forking, an agent goes on in another session. What is certain to be the same work
joins the attempt by itself: its records point back, it repeats the old one's history, the same process, or one in
the same pane, is in it now, or it begins by clearing where there was but one session, just now, that could be cleared.
What only looks like it is offered. One that was taken back stays away.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.domain.record import Stamp
from workbench.domain.task import Attempt, SessionRef, Task
from workbench.domain.times import instant
from workbench.services.context import Context
from workbench.services.leaving import CLEARED, PANE, PROCESS
from workbench.services.session_list import LIVE_FOR, Listed, listing, standing, worktree_names
from workbench.store.records import Records

if TYPE_CHECKING:
    from workbench.sessions import FoundSession
    from workbench.sessions.processes import Runner

FORKED = "forked from"
REPEATS = "begins with the history of"
POINTS = "goes on from a message of"
BEGAN = "begun in the same worktree after"
_SHORT = 8
_HELD = "session_processes"
"""The process, and the pane, in which each attached session was last seen."""


@dataclass(frozen=True)
class Successor:
    """A session that goes on, or may go on, from one of a running attempt."""

    session: FoundSession
    task: Task
    attempt: Attempt
    after: SessionRef
    how: str
    sure: bool
    change: str = ""
    """Id of the change by which it joined."""

    @property
    def why(self) -> str:
        """How that is known, in words."""
        return f"{self.how} {self.after.name}"

    @property
    def briefly(self) -> str:
        """The same with as much of the id as tells sessions apart for a person."""
        return f"{self.how} {self.after.agent} …{self.after.id[-_SHORT:]}"


def successors(ctx: Context, records: Records, found: Sequence[FoundSession], *, read: bool = True) -> list[Successor]:
    """What goes on, or may go on, from sessions of running attempts; at most one row a session. Nothing is written.

    Args:
        ctx: Where.
        records: The records.
        found: All sessions of the repository.
        read: Whether attached sessions may be read for it; else only the two ends of files count.
    """
    from workbench.sessions.processes import running

    attempts = [a for t in records.tasks.values() if (a := records.attempts.get(t.running or "")) and a.sessions]
    taken = {ref.name for attempt in records.attempts.values() for ref in attempt.sessions}
    # The path of a session that was attached once is kept: attached nowhere, it was taken back.
    once = ctx.workspace.local.session_paths.keys()
    free = [s for s in found if s.name not in taken and s.name not in once and s.folder is not None]
    if not attempts or not free:
        return []
    names = worktree_names(ctx)
    alive = running(ctx.env)
    runners = {**last_seen_in(ctx), **alive}
    by_name = {session.name: session for session in found}
    rows = []
    for session in free:
        worktree = names.get(session.folder) if session.folder else None
        claims = [
            claim
            for attempt in attempts
            if attempt.worktree == worktree
            and (claim := _claim(ctx if read else None, records, attempt, session, by_name, runners, alive)) is not None
        ]
        sure = [claim for claim in claims if claim.sure]
        if len(sure) == 1:
            rows.append(sure[0])
        elif claims:
            best = (sure or claims)[0]
            rows.append(Successor(session, best.task, best.attempt, best.after, best.how, sure=False))
    return rows


def listed(ctx: Context) -> list[Listed]:
    """Sessions of this repository, newest first; of no file more than its two ends is read."""
    records = ctx.workspace.load()
    found = listing(ctx)
    follows = {row.session.name: row.why for row in successors(ctx, records, found, read=False)}
    return [replace(row, follows=follows.get(row.session.name, "")) for row in standing(ctx, found, records)]


def _claim(
    ctx: Context | None,
    records: Records,
    attempt: Attempt,
    session: FoundSession,
    by_name: Mapping[str, FoundSession],
    runners: Mapping[str, Runner],
    alive: Mapping[str, Runner],
) -> Successor | None:
    """How a free session follows on one of an attempt's, by the best sign there is; None where it does not."""
    task = records.tasks[attempt.task]
    refs = [ref for ref in reversed(attempt.sessions) if ref.agent == session.agent]
    if not refs or instant(session.updated_at) < instant(attempt.started.at):
        return None

    def claim(ref: SessionRef, how: str, sure: bool = True) -> Successor:
        return Successor(session, task, attempt, ref, how, sure)

    for ref in refs:
        old = by_name.get(ref.name)
        if session.forked_from == ref.id:
            return claim(ref, FORKED)
        if old is not None and session.root and session.root == old.root:
            return claim(ref, REPEATS) if instant(session.updated_at) > instant(old.updated_at) else None
        if ctx is not None and session.after and _holds(ctx, ref, session.after):
            return claim(ref, POINTS)
    runner = runners.get(session.name)
    # What an agent starts in its own pane while it runs works for it, and does not follow it.
    working = any(ref.name in alive for ref in refs)
    for ref in refs:
        before = runners.get(ref.name)
        if runner is not None and before is not None:
            if before.process == runner.process:
                return claim(ref, PROCESS)
            if before.pane and before.pane == runner.pane and not working:
                return claim(ref, PANE)
    last = refs[0]
    old = by_name.get(last.name)
    if last.name in alive:
        return None  # its agent is in it still: whatever begins meanwhile is not what follows it
    if old is None or instant(session.started_at or session.updated_at) < instant(attempt.started.at):
        return None
    if instant(session.started_at or session.updated_at) < instant(old.updated_at):
        return None  # the old one went on: this is somebody else's
    if not session.cleared:
        return claim(last, BEGAN, False)
    before = runners.get(last.name)
    elsewhere = runner is not None and before is not None and before.process != runner.process
    return claim(last, CLEARED, not elsewhere and _only(attempt, old, session, by_name.values(), alive))


def _only(
    attempt: Attempt,
    old: FoundSession,
    session: FoundSession,
    found: Iterable[FoundSession],
    alive: Collection[str],
) -> bool:
    """Whether no session but the old one can be the one that was cleared when this one began.

    Clearing leaves no trace of what was cleared: the old one must have been written just before, no other session of
    the agent in this worktree since it began, and no other program of the agent may run here.
    """
    from workbench.agents.presence import programs_in

    start, first = instant(session.started_at or session.updated_at), instant(old.started_at or old.updated_at)
    if instant(old.updated_at) < start - LIVE_FOR:
        return False
    mine = {session.name, *(ref.name for ref in attempt.sessions)}
    since = min(first, start - LIVE_FOR)
    for other in found:
        if other.agent != session.agent or other.folder != session.folder or other.name in mine:
            continue
        written = instant(other.updated_at) >= since and instant(other.started_at or other.updated_at) <= start
        if written or other.name in alive:
            return False
    return session.folder is None or programs_in(session.folder, session.agent) < 2


def _holds(ctx: Context, ref: SessionRef, ids: Collection[str]) -> bool:
    """Whether one of these records stands in an attached session."""
    path = ctx.workspace.local.session_paths.get(ref.name)
    if path is None:
        return False
    with ctx.lock:
        state = ctx.sessions.read(Path(path), ref.agent)
    if state is None or state.info.name != ref.name:
        return False
    return any(message.id.partition(":")[0] in ids for message in state.messages)


def join(ctx: Context, found: Sequence[FoundSession] | None = None) -> tuple[list[Successor], list[Successor]]:
    """Let sessions that go on from those of running attempts join them; one after the other, until none is left.

    Args:
        ctx: Where and who; nothing is done where writing is refused.
        found: All sessions of the repository, where they are known already.

    Returns:
        Those that joined, and those that may go on but are left for a person to judge.
    """
    records = ctx.workspace.load()
    if not any(t.running for t in records.tasks.values()):
        return [], []
    found = listing(ctx) if found is None else found
    joined: list[Successor] = []
    writes = may_write(ctx)
    if writes:
        remember_processes(ctx, records)
    while True:
        rows = successors(ctx, records, found)
        # The oldest first: each may itself have been gone on from.
        sure = sorted((row for row in rows if row.sure), key=lambda row: instant(row.session.started_at))
        fresh = [replace(row, change=change) for row in sure if (change := _join(ctx, row))] if writes else []
        joined += fresh
        if not fresh:
            return joined, rows
        records = ctx.workspace.load()
        remember_processes(ctx, records)


def may_write(ctx: Context) -> bool:
    """Whether this process may write at all; for letting a session join no person is needed."""
    return not ctx.workspace.read_only and not (ctx.actor.human and ctx.actor.refused)


def _join(ctx: Context, row: Successor) -> str:
    """Attach one, if nothing has changed meanwhile; the id of that change, or nothing."""
    session = row.session
    ref = SessionRef(agent=session.agent, id=session.id, joined=Stamp(by=ctx.actor.name, at=ctx.stamp(), why=row.why))
    ctx.workspace.local.set_session_path(ref.name, str(session.path))
    command = f"session join {row.task.slug} {ref.name}"
    with ctx.workspace.transaction(ctx.actor.name, command, row.why, now=ctx.now()) as tx:
        attempt = tx.records.attempts.get(row.attempt.id)
        task = tx.records.tasks.get(row.task.id)
        everybody = {ref.name for one in tx.records.attempts.values() for ref in one.sessions}
        if attempt is None or task is None or task.running != attempt.id or ref.name in everybody:
            ctx.workspace.local.set_session_path(ref.name, None)
            return ""
        tx.put(attempt.with_(sessions=(*attempt.sessions, ref)))
    return tx.id


def remember_processes(ctx: Context, records: Records) -> None:
    """Keep in which process each session of a running attempt is: its successor is known by that."""
    from workbench.sessions.processes import running

    mine = {
        ref.name
        for task in records.tasks.values()
        if (attempt := records.attempts.get(task.running or "")) is not None
        for ref in attempt.sessions
    }
    known = last_seen_in(ctx)
    wanted = {name: runner for name, runner in {**known, **running(ctx.env)}.items() if name in mine}
    if wanted != known:
        rows = {name: [runner.process, runner.pane] for name, runner in wanted.items()}
        ctx.workspace.local.change(_HELD, lambda _: rows or None)


def last_seen_in(ctx: Context) -> dict[str, Runner]:
    """The program that was last seen in each session of a running attempt."""
    from workbench.sessions.processes import Runner

    value = ctx.workspace.local.get(_HELD)
    rows = value.items() if isinstance(value, dict) else ()
    return {
        name: Runner(*row)
        for name, row in rows
        if isinstance(row, list) and len(row) == 2 and all(isinstance(part, str) for part in row)
    }
