"""Agents' sessions: which there are, and which belong to a task's attempts."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.domain.message import Message
from workbench.domain.record import Stamp
from workbench.domain.task import Attempt, SessionRef, Task
from workbench.domain.times import instant, stamp
from workbench.errors import NotFoundError, RefusedError, UsageError
from workbench.services import tasks
from workbench.services.context import Context
from workbench.services.kept import copies
from workbench.services.pool import SessionState
from workbench.store.records import Records
from workbench.store.worktrees import worktrees

if TYPE_CHECKING:
    from workbench.sessions import FoundSession


@dataclass(frozen=True)
class AttachedSession:
    """A session of a task, and what its file holds; ``state`` is None where the file is not on this machine."""

    ref: SessionRef
    attempt: str
    path: Path | None
    state: SessionState | None
    children: tuple[SessionState, ...] = ()
    """What its sub-agents did, where that lies in files of its own."""
    kept: tuple[Message, ...] = ()
    """Copies of some of its messages, where its file is not here."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """All of its messages, or those of which there are copies."""
        return self.state.messages if self.state is not None else self.kept


def listing(ctx: Context) -> list[FoundSession]:
    """Sessions of this repository, newest first.

    Those whose records name it or one of its worktrees, and those that were attached by their path.
    """
    from workbench.sessions import discover

    found = discover(worktrees(ctx.location), ctx.env)
    known = {session.name for session in found}
    for name, path in ctx.workspace.local.session_paths.items():
        if name not in known and (session := _by_path(name, Path(path))) is not None:
            found.append(session)
    return sorted(found, key=lambda session: (instant(session.updated_at), session.id), reverse=True)


def _by_path(name: str, path: Path) -> FoundSession | None:
    """An attached session as its file's status tells it; None where the file is gone."""
    from workbench.sessions import FoundSession

    try:
        status = path.stat()
    except OSError:
        return None
    agent, _, session_id = name.partition(":")
    written = stamp(datetime.fromtimestamp(status.st_mtime, UTC))
    return FoundSession(agent, session_id, path, None, "", status.st_size, written)


def attached(ctx: Context, records: Records, task: Task) -> list[AttachedSession]:
    """The sessions of all attempts of a task, in the order in which they joined, each once."""
    paths = ctx.workspace.local.session_paths
    found: dict[str, AttachedSession] = {}
    mine = sorted((a for a in records.attempts.values() if a.task == task.id), key=lambda a: (a.started.at, a.id))
    for attempt in mine:
        for ref in attempt.sessions:
            if ref.name in found:
                continue
            path = Path(paths[ref.name]) if ref.name in paths else None
            with ctx.lock:
                state = ctx.sessions.read(path, ref.agent) if path is not None else None
                if state is not None and (state.info.name != ref.name or not state.messages):
                    state = None  # the file holds another session by now, or nothing that is one
                children = ctx.sessions.children(state) if state is not None else ()
            kept = copies(ctx.workspace, ref.name) if state is None else ()
            found[ref.name] = AttachedSession(ref, attempt.id, path, state, children, kept)
    return list(found.values())


def locate(ctx: Context, name: str) -> tuple[str, Path]:
    """The agent and the file that ``name`` means: a path, a session id (prefix), or ``latest``.

    Raises:
        NotFoundError: No such file or session, or several.
    """
    path = Path(name).expanduser()
    if path.is_file():
        return "", path.resolve()
    found = listing(ctx)
    if name == "latest" and found:
        return found[0].agent, found[0].path
    wanted = name.partition(":")[2] or name
    matches = [s for s in found if s.id.startswith(wanted)]
    if len(matches) == 1:
        return matches[0].agent, matches[0].path
    if matches:
        ids = [f"{s.agent}:{s.id}" for s in matches]
        raise NotFoundError(f"{name!r} fits {len(ids)} sessions", "give more of the id", candidates=ids)
    raise NotFoundError(
        f"no session {name!r} of this repository",
        "give the path of its file, or see: workbench session list",
        candidates=[f"{s.agent}:{s.id}" for s in found[:5]],
    )


def attach(ctx: Context, task: Task, name: str) -> Attempt:
    """Let a session belong to the running attempt of a task; where none runs, it takes the task up.

    Returns:
        The attempt that the session belongs to now.
    """
    ctx.require_writable()
    agent, path = locate(ctx, name)
    with ctx.lock:
        state = ctx.sessions.read(path, agent or None)
    if state is None:
        raise UsageError(f"{path}: no agent's session that this version reads", "it reads Claude Code and Codex")
    info = state.info
    ref = SessionRef(agent=info.agent, id=info.id, joined=Stamp(by=ctx.actor.name, at=ctx.stamp()))
    ctx.workspace.local.set_session_path(ref.name, str(path))
    records = ctx.workspace.load()
    for attempt in records.attempts.values():
        if any(s.name == ref.name for s in attempt.sessions):
            if attempt.task == task.id:
                return attempt
            other = records.tasks.get(attempt.task)
            raise RefusedError(
                f"session {ref.name} belongs to task {other.slug if other else attempt.task} already",
                "a session belongs to one task",
            )
    if records.tasks[task.id].running is None:
        return tasks.take(ctx, records.tasks[task.id], f"agent:{info.agent}", ref)
    with ctx.workspace.transaction(ctx.actor.name, f"session attach {task.slug} {ref.name}", now=ctx.now()) as tx:
        running = tx.records.tasks[task.id].running
        if running is None or running not in tx.records.attempts:
            raise RefusedError("the running attempt ended meanwhile", "attach it again")
        attempt = tx.records.attempts[running]
        return tx.put(attempt.with_(sessions=(*attempt.sessions, ref)))


def follow(ctx: Context, task: Task, *, every: float = 0.2, stop_when_idle: bool = False) -> Iterator[Message]:
    """Messages of a task's sessions as they are written, those there already first.

    Args:
        ctx: Where and who.
        task: Whose sessions.
        every: Seconds between two looks.
        stop_when_idle: End when a look brings nothing new, instead of waiting for more.
    """
    seen: set[str] = set()
    while True:
        fresh = [
            message
            for session in attached(ctx, ctx.workspace.load(), task)
            if session.state is not None
            for message in session.state.messages
            if message.ref not in seen
        ]
        seen.update(message.ref for message in fresh)
        yield from fresh
        if stop_when_idle and not fresh:
            return
        time.sleep(every)
