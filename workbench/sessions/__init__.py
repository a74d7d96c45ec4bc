"""Sessions of coding agents: files found, read and followed as neutral messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.domain.times import instant
from workbench.sessions.claude import discovery as claude_files
from workbench.sessions.codex import discovery as codex_files
from workbench.sessions.follow import SessionLog
from workbench.sessions.formats import open_session
from workbench.sessions.model import FoundSession, Refresh, SessionInfo

__all__ = ["FoundSession", "Refresh", "SessionInfo", "SessionLog", "discover", "open_session"]


def discover(folders: Sequence[Path], env: Mapping[str, str]) -> list[FoundSession]:
    """Sessions of every agent whose records name a folder in one of ``folders``, newest first.

    Args:
        folders: Top folders of a repository and its worktrees.
        env: Where the agents keep their files.
    """
    found = [*claude_files.discover(folders, env), *codex_files.discover(folders, env)]
    return sorted(found, key=lambda session: (instant(session.updated_at), session.id), reverse=True)
