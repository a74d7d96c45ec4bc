"""Agents' sessions that belong to a task's attempts: attached, read, followed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.domain.message import Message
from workbench.domain.record import Stamp
from workbench.domain.task import Attempt, SessionRef, Task
from workbench.errors import NotFoundError, RefusedError, UsageError
from workbench.services import tasks
from workbench.services.context import Context
from workbench.services.kept import copies
from workbench.services.places import in_worktree
from workbench.services.pool import SessionState
from workbench.services.session_list import listing, looked_in, worktree_of_session
from workbench.store.records import Records

if TYPE_CHECKING:
    from workbench.sessions import SessionInfo

_BEGINNING = 64
"""Messages by which it is told whether a session begins as another does."""


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
    repeated: frozenset[str] = frozenset()
    """Ids of its messages that are an earlier session's: what a fork begins with is shown, and carried, once."""

    @property
    def messages(self) -> Sequence[Message]:
        """All of its messages, or those of which there are copies."""
        return self.state.messages if self.state is not None else self.kept


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
            before = [s.state for s in found.values() if s.state is not None and s.ref.agent == ref.agent]
            repeated = _repeated(state, before) if state is not None and before else frozenset()
            found[ref.name] = AttachedSession(ref, attempt.id, path, state, children, kept, repeated)
    return list(found.values())


def _repeated(state: SessionState, before: Iterable[SessionState]) -> frozenset[str]:
    """What a session took over from earlier ones when it was forked from them: a fork begins with the history."""
    begins = [message.id for message in state.messages[:_BEGINNING]]
    repeated: set[str] = set()
    for earlier in before:
        if not {message.id for message in earlier.messages[:_BEGINNING]}.isdisjoint(begins):
            repeated |= {m.id for m in earlier.messages} & {m.id for m in state.messages}
    return frozenset(repeated)


def locate(ctx: Context, name: str) -> tuple[str, Path]:
    """The agent and the file that ``name`` means: a path, a session id (prefix), or ``latest``.

    Raises:
        NotFoundError: No such file or session, or several.
    """
    from workbench.sessions.packed import is_there

    with suppress(RuntimeError):  # nobody of that name has a home here
        path = Path(name).expanduser()
        if is_there(path):
            return "", path.resolve()
    found = listing(ctx)
    if name == "latest" and found:
        return found[0].agent, found[0].path
    matches = [s for s in found if name in (s.id, s.name)]
    matches = matches or [s for s in found if name and (s.id.startswith(name) or s.name.startswith(name))]
    if len(matches) == 1:
        return matches[0].agent, matches[0].path
    if matches:
        ids = [f"{s.agent}:{s.id}" for s in matches]
        raise NotFoundError(f"{name!r} fits {len(ids)} sessions", "give more of the id", candidates=ids)
    raise NotFoundError(
        f"no session {name!r} of this repository",
        f"looked in {looked_in(ctx.env)}; give the path of its file, or see: workbench session list",
        candidates=[f"{s.agent}:{s.id}" for s in found[:5]],
    )


def attach(ctx: Context, task: Task, name: str) -> Attempt:
    """Let a session belong to the running attempt of a task; where none runs, it takes the task up.

    Returns:
        The attempt that the session belongs to now.
    """
    ctx.require_writable()
    agent, path = locate(ctx, name)
    info = _read(ctx, path, agent or None)
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
        where = worktree_of_session(ctx, info.cwds)
        there = in_worktree(ctx, where.name) if where is not None else ctx
        return tasks.take(there, records.tasks[task.id], f"agent:{info.agent}", ref)
    with ctx.workspace.transaction(ctx.actor.name, f"session attach {task.slug} {ref.name}", now=ctx.now()) as tx:
        running = tx.records.tasks[task.id].running
        if running is None or running not in tx.records.attempts:
            raise RefusedError("the running attempt ended meanwhile", "attach it again")
        attempt = tx.records.attempts[running]
        return tx.put(attempt.with_(sessions=(*attempt.sessions, ref)))


def _read(ctx: Context, path: Path, agent: str | None) -> SessionInfo:
    """What a file says of its session.

    Raises:
        NotFoundError: It is gone.
        StorageError: It cannot be read.
        UsageError: It is no session that can be read, or an empty one.
    """
    from workbench.sessions import open_session

    with ctx.lock:
        state = ctx.sessions.read(path, agent)
        if state is None:
            open_session(path, agent).refresh()  # it says what is wrong
    if state is None or not state.messages:
        raise UsageError(f"{path}: no message in it so far", "attach it once the agent has begun to work")
    return state.info


def follow(
    ctx: Context,
    task: Task,
    *,
    every: float = 0.2,
    stop_when_idle: bool = False,
    at_rest: Callable[[], None] = lambda: None,
) -> Iterator[Message]:
    """Messages of a task's sessions as they are written, those there already first.

    Args:
        ctx: Where and who.
        task: Whose sessions.
        every: Seconds between two looks.
        stop_when_idle: End when a look brings nothing new, instead of waiting for more.
        at_rest: Called after each look, once what it brought was taken.
    """
    seen: set[str] = set()
    known: dict[str, SessionState] = {}
    while True:
        fresh = []
        for session in attached(ctx, ctx.workspace.load(), task):
            state = session.state
            if state is not None and known.get(session.ref.name) is not state:
                known[session.ref.name] = state
                fresh += [m for m in state.messages if m.ref not in seen and m.id not in session.repeated]
        seen.update(message.ref for message in fresh)
        yield from fresh
        at_rest()
        if stop_when_idle and not fresh:
            return
        time.sleep(every)
