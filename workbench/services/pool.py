"""What is kept between two looks, so that the second reads only what is new."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from workbench.domain.message import Message
from workbench.errors import WorkbenchError
from workbench.sessions import SessionInfo, SessionLog, open_session
from workbench.store.git import file_hash
from workbench.tokens import counter


@dataclass(frozen=True)
class SessionState:
    """A session as last read."""

    info: SessionInfo
    messages: tuple[Message, ...]
    log: SessionLog


class SessionPool:
    """The session files that are followed, one reader each."""

    def __init__(self) -> None:
        self._logs: dict[Path, SessionLog] = {}
        self._states: dict[Path, SessionState] = {}

    def read(self, path: Path, agent: str | None = None) -> SessionState | None:
        """The session at ``path`` as it is now; None where the file is gone or no reader knows it."""
        try:
            log = self._logs.get(path) or self._logs.setdefault(path, open_session(path, agent))
            news = log.refresh()
        except (OSError, WorkbenchError):
            return self._states.get(path) if path.exists() else None
        known = self._states.get(path)
        if known is None or news.appended or news.changed or news.reset:
            known = self._states[path] = SessionState(log.info, tuple(log.messages), log)
        return known


class TokenCache:
    """Token counts of messages, counted once each over the whole text."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str, str, int], int] = {}

    def count(self, tokenizer: str, message: Message, log: SessionLog | None = None) -> int:
        """Tokens of a message's whole text in ``tokenizer``."""
        key = (tokenizer, message.session, message.id, message.size)
        found = self._counts.get(key)
        if found is None:
            body = log.body(message) if log is not None and message.clipped else message.text
            found = self._counts[key] = counter(tokenizer).count(body) if body else 0
        return found


class HashCache:
    """Content hashes of worktree files; a file is read again only when its status changed."""

    def __init__(self) -> None:
        self._hashes: dict[tuple[str, str], tuple[tuple[int, int, int, int], str | None]] = {}

    def sha256(self, base: Path, relative: str) -> str | None:
        """SHA-256 of a file beneath ``base``; None where there is none."""
        try:
            status = os.lstat(base / relative)
        except (OSError, ValueError):
            return None
        mark = (status.st_ino, status.st_ctime_ns, status.st_mtime_ns, status.st_size)
        known = self._hashes.get((str(base), relative))
        if known is None or known[0] != mark:
            known = (mark, file_hash(base, relative))
            self._hashes[str(base), relative] = known
        return known[1]
