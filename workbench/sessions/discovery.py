"""Every agent's sessions on this machine, found by the folders that their records name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from stat import S_ISREG

from workbench.sessions.claude import discovery as claude
from workbench.sessions.codex import discovery as codex
from workbench.sessions.glance import Glance, Place, SessionIndex, found_session, newest_first
from workbench.sessions.model import FoundSession
from workbench.sessions.places import Folders

AGENTS = {"claude": claude, "codex": codex}
"""What finds the files of each agent, and looks at their two ends."""


def discover(
    folders: Sequence[Path] | None, env: Mapping[str, str], index: SessionIndex | None = None
) -> list[FoundSession]:
    """Sessions whose records name a folder in one of ``folders``, newest first.

    Sub-agents' sessions are named by those that started them, and not listed themselves.

    Args:
        folders: Top folders of a repository and its worktrees; None for every session there is.
        env: Where the agents keep their files.
        index: What earlier looks told; it learns what this one does.
    """
    index = index if index is not None else SessionIndex()
    seen: set[str] = set()
    wanted = Folders(folders) if folders is not None else None
    found: list[tuple[Place, FoundSession]] = []
    started: dict[str, list[str]] = defaultdict(list)
    for agent in AGENTS.values():
        places = list(agent.places(env))
        seen.update(place.path for place in places)
        for place, glance in index.glances(places, agent.look):
            if glance.child:
                if glance.parent:
                    started[f"{glance.agent}:{glance.parent}"].append(glance.id)
                continue
            folder = _folder(glance, wanted)
            if folder is not None or (wanted is None and glance.started_at is not None):
                found.append((place, found_session(place, glance, folder)))
    index.forget_gone(seen)
    return newest_first(_with_children(place, session, started) for place, session in _each_once(found))


def found_at(agent: str, path: Path, folders: Sequence[Path]) -> FoundSession | None:
    """The session in a file that lies elsewhere than its agent keeps them; None where there is none to be read.

    Args:
        agent: Whose it is.
        path: The file.
        folders: Top folders of a repository and its worktrees.
    """
    try:
        status = path.stat()
    except OSError:
        return None
    place = Place(str(path), status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    glance = AGENTS[agent].look(place) if agent in AGENTS and S_ISREG(status.st_mode) else None
    return None if glance is None else found_session(place, glance, _folder(glance, Folders(folders)))


def _each_once(found: Iterable[tuple[Place, FoundSession]]) -> list[tuple[Place, FoundSession]]:
    """Sessions to whose file several ways lead, or of which there are copies, once: what was written last counts.

    Of links and the file itself it is the file.
    """
    ways: dict[str, list[tuple[Place, FoundSession]]] = defaultdict(list)
    for row in found:
        ways[row[1].name].append(row)
    return [rows[0] if len(rows) == 1 else max(rows, key=_standing) for rows in ways.values()]


def _standing(row: tuple[Place, FoundSession]) -> tuple[int, int, bool]:
    place, session = row
    return place.mtime_ns, place.size, session.path.resolve() == session.path.absolute()


def _folder(glance: Glance, wanted: Folders | None) -> Path | None:
    """The folder among those that are wanted in which a session worked last; its own one where all are."""
    if wanted is None:
        return Path(glance.cwds[-1]) if glance.cwds else None
    for cwd in reversed(glance.cwds):
        folder = wanted.holding(cwd)
        if folder is not None:
            return folder
    return None


def _with_children(place: Place, session: FoundSession, started: Mapping[str, Sequence[str]]) -> FoundSession:
    beside = claude.children(place) if session.agent == "claude" else []
    ids = tuple(dict.fromkeys((*beside, *started.get(session.name, ()))))
    return replace(session, children=ids) if ids else session


def marks(env: Mapping[str, str]) -> tuple[tuple[str, int], ...]:
    """Folders in which a new session would show, with their times: as long as they are equal, there is none."""
    registries = [str(root / "sessions") for root in claude.roots(env)]
    return tuple((path, _time(path)) for path in (*registries, *claude.projects(env), *codex.newest_folders(env)))


def _time(path: str) -> int:
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return 0
