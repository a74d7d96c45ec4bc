"""What is kept between two looks, so that the second reads only what is new."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from workbench.domain.message import Message
from workbench.errors import WorkbenchError
from workbench.store.git import changed_files, file_hash
from workbench.tokens import counter

if TYPE_CHECKING:  # many commands touch no session: start-up counts
    from workbench.services.history_rows import SessionRows
    from workbench.services.trail import Told, Trail
    from workbench.sessions import SessionInfo, SessionLog
    from workbench.sessions.observed import Observed, Run
    from workbench.sessions.picture import Messages
    from workbench.sessions.reader_index import ReaderIndex

K = TypeVar("K")
V = TypeVar("V")

_UNCOUNTED = 2000
"""Messages whose tokens are counted a second time at the next start at most."""


@dataclass(frozen=True)
class SessionState:
    """A session as last read."""

    info: SessionInfo
    messages: Messages
    log: SessionLog
    trail: Trail
    gone: bool = False
    """Whether its file was there before and is not any more; what it held stays."""

    @cached_property
    def observed(self) -> Observed:
        """What the messages show to have happened; worked out when it is first asked for."""
        return self._trail.observed

    @cached_property
    def lost(self) -> int:
        """Messages that the last compaction took out of the model's context."""
        return self._trail.lost if self.info.compactions else 0

    def latest_runs(self, most: int, argvs: Iterable[tuple[str, ...]]) -> list[Run]:
        """Of every command its newest run: the newest ``most`` that do more than look, and all of some commands."""
        return self._trail.runs.chosen(self.observed.runs, most, argvs)

    @property
    def rows(self) -> SessionRows:
        """The rows of the history."""
        return self._trail.rows

    @property
    def told(self) -> dict[str, Told]:
        """What its newest runs show, as it was last written; whoever writes it anew puts it here."""
        return self._trail.told

    @property
    def _trail(self) -> Trail:
        """The session's own trail, or where it went on meanwhile, a new one from the beginning."""
        if self.trail.messages is self.messages:
            return self.trail
        from workbench.services.trail import Trail

        alone = Trail()
        alone.moved(self.messages, 0)
        return alone


class SessionPool:
    """The session files that are followed, one reader each.

    Args:
        cache: The user's cache folder, where what is known of long sessions is kept for the next start.
    """

    def __init__(self, cache: Path | None = None) -> None:
        self._cache = cache
        self._logs: dict[Path, SessionLog] = {}
        self._states: dict[Path, SessionState] = {}
        self._kept: dict[Path, tuple[int, int]] = {}
        """Bytes and counted messages that the next start will know."""
        self._saved: set[Path] = set()
        """What this process kept: the first time it is done for little that is new, then only for much."""
        self._told: dict[Path, int] = {}
        """Up to which byte each was read when its state was made."""
        self._trails: dict[Path, Trail] = {}
        """Of sessions that were opened and not read yet."""
        self.by_and_by = False
        """Whether :meth:`catch_up` is called regularly: then nobody who reads waits for what is kept."""

    def read(self, path: Path, agent: str | None = None) -> SessionState | None:
        """The session at ``path`` as it is now; None where the file is gone or no reader knows it."""
        from workbench.services.trail import Trail
        from workbench.sessions.packed import is_there, present
        from workbench.sessions.picture import Messages

        if path not in self._logs and not is_there(present(path)):
            return None
        try:
            log = self._logs.get(path) or self._open(path, agent)
            news = log.refresh()
        except (OSError, WorkbenchError):
            return self._states.get(path) if is_there(present(path)) else None
        known = self._states.get(path)
        if known is None or news.appended or news.changed or news.reset:
            before = known.trail if known is not None else self._trails.pop(path, None)
            trail = before if before is not None and not news.reset else Trail()
            same = None if known is None or news.reset else known.messages
            picture = Messages(log.messages, same, news.since)
            known = self._states[path] = SessionState(log.info, picture, log, trail)
            trail.moved(picture, news.since)
            self._keep(path, known)
        elif (gone := not is_there(present(path))) != known.gone or self._told.get(path) != log.read_to:
            # What says nothing may still say how the session stands: a limit that is reached, another title.
            known = self._states[path] = replace(known, info=log.info, gone=gone)
        self._told[path] = log.read_to
        return known

    def _open(self, path: Path, agent: str | None) -> SessionLog:
        from workbench.services.trail import Trail
        from workbench.sessions import open_session

        log = self._logs[path] = open_session(path, agent)
        if self._index is not None:
            tokens = self._index.restore(log)
            self._kept[path] = log.read_to, len(tokens)
            self._trails[path] = Trail(tokens)
        return log

    @cached_property
    def _index(self) -> ReaderIndex | None:
        from workbench.sessions.reader_index import ReaderIndex

        return ReaderIndex(self._cache) if self._cache is not None else None

    def keep(self, state: SessionState) -> None:
        """Keep for the next start what is known of a session, where much of it is new; called when it was counted."""
        if self._states.get(path := state.log.path) is state:
            self._keep(path, state)

    def catch_up(self, lock: AbstractContextManager[object], pause: Callable[[], None]) -> None:
        """Keep for the next start what is due, in pieces between which others have their turn.

        Args:
            lock: Held only while a picture is taken of what a reader knows.
            pause: Called between the pieces.
        """
        from workbench.sessions.reader_index import known_of

        for path, state in tuple(self._states.items()):
            if self._is_due(path, state) and self._index is not None:
                with lock:
                    known, stood = known_of(state.log, state.trail.rows.tokens), _stands(state)
                if known is not None:
                    self._index.write(known, pause)
                self._saved.add(path)
                self._kept[path] = stood

    def close(self) -> None:
        """Keep for the next start what is not kept yet, where it is worth it."""
        for path, state in self._states.items():
            self._keep(path, state, last=True)

    def _keep(self, path: Path, state: SessionState, last: bool = False) -> None:
        if (last or not self.by_and_by) and self._is_due(path, state, last) and self._index is not None:
            self._saved.add(path)
            self._kept[path] = _stands(state)
            self._index.save(state.log, state.trail.rows.tokens)

    def _is_due(self, path: Path, state: SessionState, last: bool = False) -> bool:
        from workbench.sessions.reader_index import LEAST, SHARE, UNSAVED

        (read, counted), (before, had) = _stands(state), self._kept.get(path, (0, 0))
        first = path not in self._saved
        enough = UNSAVED if first or last else max(UNSAVED, read // SHARE)
        uncounted = max(_UNCOUNTED, counted // SHARE)
        return read >= LEAST and (abs(read - before) >= enough or counted - had >= uncounted)

    def children(self, state: SessionState) -> tuple[SessionState, ...]:
        """The sub-agents' sessions of a session, as they are now."""
        found = (self.read(path, state.info.agent) for path in state.log.children(state.info))
        return tuple(child for child in found if child is not None)


def _stands(state: SessionState) -> tuple[int, int]:
    """Bytes that were read of a session, and messages that were counted."""
    return state.log.read_to, state.trail.rows.counted


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
        """SHA-256 of a file beneath ``base``; None where there is none that may be read."""
        try:
            status = os.lstat(base / relative)
        except (OSError, ValueError):
            return None
        mark = (status.st_ino, status.st_ctime_ns, status.st_mtime_ns, status.st_size)
        known = self._hashes.get((str(base), relative))
        if known is None or known[0] != mark:
            try:
                known = (mark, file_hash(base, relative))
            except WorkbenchError:
                return None  # a path that leads out of the worktree, or what may not be read, is not that content
            self._hashes[str(base), relative] = known
        return known[1]


class _ByClock(Generic[K, V]):
    """What is dear to find. Everybody who asks has it looked for, unless a clock looks beside them."""

    AT_MOST = 100
    """How many times as long as a look takes the rest after it lasts."""
    LEAST = 3.0
    """Seconds between two looks at least."""

    def __init__(self) -> None:
        self.by_clock = False
        """Whether ``tick`` is called regularly."""
        self.runs = 0
        """Counts looks that found something other than the one before."""
        self._found: dict[K, V] = {}
        self._next = 0.0

    def _read(self, key: K, look: Callable[[], V], glance: bool) -> V:
        """As it is now, or, for a glance beside a clock, as last found."""
        if glance and self.by_clock and key in self._found:
            return self._found[key]
        began = time.monotonic()
        now = look()
        ended = time.monotonic()
        self._next = ended + max(self.LEAST, (ended - began) * self.AT_MOST)
        if self._found.get(key) != now:
            self.runs += 1
            self._found[key] = now
        return now

    @property
    def _due(self) -> bool:
        return time.monotonic() >= self._next


class ChangedFiles(_ByClock[Path, tuple[str, ...]]):
    """Which files git calls changed; it is run for that."""

    def read(self, worktree: Path, *, glance: bool = False) -> tuple[str, ...]:
        """The changed files of a worktree."""
        return self._read(worktree, lambda: changed_files(worktree), glance)

    def tick(self, worktree: Path) -> None:
        """Look again, where it is time to."""
        if self._due:
            self.read(worktree)


class HeldSessions(_ByClock[None, frozenset[str]]):
    """Which sessions a program is in; all processes of the machine are looked at for that."""

    def read(self, env: Mapping[str, str], *, glance: bool = False) -> frozenset[str]:
        """``AGENT:ID`` of each."""
        from workbench.sessions.processes import running

        return self._read(None, lambda: frozenset(running(env)), glance)

    def tick(self, env: Mapping[str, str]) -> None:
        """Look again, where it is time to and anybody has ever asked."""
        if self._found and self._due:
            self.read(env)
