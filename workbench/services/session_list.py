"""Which sessions of agents there are, and how they stand; of their files only the two ends are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.agents import programs
from workbench.config import load_config
from workbench.domain.task import Attempt, Task
from workbench.domain.times import EPOCH, instant
from workbench.errors import WorkbenchError
from workbench.services.context import Context
from workbench.services.finding import SessionFinder
from workbench.services.leaving import Stay, left
from workbench.store.location import locate
from workbench.store.records import Records
from workbench.store.worktrees import worktrees

if TYPE_CHECKING:
    from workbench.sessions import FoundSession

LIVE_FOR = timedelta(minutes=5)
"""A session in which something was said within this time counts as live, and so does one that a program is in."""


def listing(ctx: Context) -> list[FoundSession]:
    """Sessions of this repository, newest first.

    Those whose records name it or one of its worktrees, and those that were attached by their path.
    """
    from workbench.sessions.discovery import found_at
    from workbench.sessions.glance import newest_first

    folders = worktrees(ctx.location)
    found = ctx.finder.find(folders, ctx.env)
    known = {session.name for session in found}
    for name, path in ctx.workspace.local.session_paths.items():
        agent, _, session_id = name.partition(":")
        if name in known or (session := found_at(agent, Path(path), folders)) is None:
            continue
        if session.name not in known:  # else the file holds another session by now
            found.append(replace(session, id=session_id))
    return newest_first(found)


def looked_in(env: Mapping[str, str]) -> str:
    """The folders in which sessions are looked for, in words."""
    from workbench.sessions.claude.discovery import roots
    from workbench.sessions.codex.discovery import home_folder

    claude, codex = [root / "projects" for root in roots(env)], home_folder(env) / "sessions"
    home = Path(env.get("HOME") or Path.home())
    names = [f"~/{p.relative_to(home)}" if p.is_relative_to(home) else str(p) for p in (*claude, codex)]
    told = [one for one in ("CLAUDE_CONFIG_DIR", "CODEX_HOME") if env.get(one)]
    why = f" (as {' and '.join(told)} say{'s' if len(told) == 1 else ''})" if told else ""
    return f"{', '.join(names[:-1])} and {names[-1]}{why}"


def everywhere(env: Mapping[str, str], now: datetime | None = None) -> list[Listed]:
    """Sessions of every repository on this machine, newest first; no workspace is needed, and none is asked."""
    from workbench.sessions.processes import running

    held = running(env)
    moment = now or datetime.now(UTC)
    known = programs(load_config(None, env, lenient=True))
    tops: dict[Path, Path] = {}
    rows = []
    for session in SessionFinder().find(None, env):
        if session.folder is not None:
            if session.folder not in tops:
                tops[session.folder] = _top(session.folder)
            session = replace(session, folder=tops[session.folder])
        program = known.get(session.agent)
        rows.append(
            Listed(
                session,
                live=session.name in held or heard_lately(session.updated_at, moment),
                window=session.window or (program.window if program else None),
                limited_until=_until(session.limited_until, moment),
            )
        )
    return rows


def _top(folder: Path) -> Path:
    """The top folder of the worktree that a folder lies in; itself where it is in none, or no more."""
    try:
        return locate(folder).worktree if folder.is_dir() else folder
    except (WorkbenchError, OSError):
        return folder


@dataclass(frozen=True)
class Listed:
    """A session, and how it stands to this workspace."""

    session: FoundSession
    live: bool
    worktree: str | None = None
    """Name of the linked worktree that it works in; None for the main checkout, and where it is unknown."""
    attempt: Attempt | None = None
    """The attempt that it belongs to."""
    task: Task | None = None
    window: int | None = None
    """Tokens that the model can hold: what the file states, else its agent's usual ones."""

    limited_until: str | None = None
    """When a limit that is reached ends: a moment to come, or the words of the file."""
    follows: str = ""
    """Why it goes on, or may go on, from a session of a running attempt; empty where nothing tells so."""

    @property
    def full(self) -> float | None:
        """Share of the window that the last request took, where the end of the file shows it."""
        tokens = self.session.context
        return tokens / self.window if tokens and self.window else None


def standing(ctx: Context, found: Sequence[FoundSession], records: Records | None = None) -> list[Listed]:
    """What else is known of sessions without reading them: live or not, of which worktree, whose."""
    from workbench.services.successors import last_seen_in
    from workbench.sessions.processes import running

    records = records or ctx.workspace.load()
    owners = {ref.name: attempt for attempt in records.attempts.values() for ref in attempt.sessions}
    why = {ref.name: ref.joined.why for attempt in records.attempts.values() for ref in attempt.sessions}
    held = running(ctx.env)
    stays = [Stay(s.name, s.started_at, s.updated_at, why.get(s.name, "")) for s in found]
    gone = left(stays, {**last_seen_in(ctx), **held})
    names = worktree_names(ctx)
    rows = []
    for session in found:
        program, owner = ctx.programs.get(session.agent), owners.get(session.name)
        rows.append(
            Listed(
                session,
                live=session.name in held or (session.name not in gone and heard_lately(session.updated_at, ctx.now())),
                worktree=names.get(session.folder) if session.folder else None,
                attempt=owner,
                task=records.tasks.get(owner.task) if owner else None,
                window=session.window or (program.window if program else None),
                limited_until=_until(session.limited_until, ctx.now()),
            )
        )
    return rows


def _until(limited: str | None, now: datetime) -> str | None:
    return None if EPOCH < instant(limited) <= now else limited


def heard_lately(updated_at: str | None, now: datetime) -> bool:
    """Whether a session counts as live by its last record; a copy of its file says nothing new."""
    return now - instant(updated_at) < LIVE_FOR


@dataclass(frozen=True)
class Worktree:
    """A worktree of this repository."""

    folder: Path
    name: str | None
    """Git's own name; None for the main checkout, or a plain folder."""


def worktree_names(ctx: Context) -> dict[Path, str | None]:
    """Git's own names of the worktrees, by their top folders."""
    names: dict[Path, str | None] = {}
    for folder in worktrees(ctx.location):
        try:
            names[folder] = locate(folder).worktree_name if folder.is_dir() else None
        except WorkbenchError:
            names[folder] = None
    return names


def worktree_of_session(ctx: Context, cwds: Sequence[str]) -> Worktree | None:
    """The worktree that a session of these folders worked in last; None where it was in none of ours."""
    from workbench.sessions.places import Folders

    ours = worktree_names(ctx)
    places = Folders(list(ours))
    for cwd in reversed(cwds):
        folder = places.holding(cwd)
        if folder is not None:
            return Worktree(folder, ours[folder])
    return None
