"""What the records say of the session as a whole: names, folders, times, title, tokens, limits."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from workbench.domain.message import Usage
from workbench.domain.times import instant, stamp
from workbench.sessions.codex.outputs import number
from workbench.sessions.codex.records import Payload, Source
from workbench.sessions.codex.shapes import MOST_PERCENT, Allowances, Counts, Sums
from workbench.sessions.codex.state import State
from workbench.sessions.lines import Occurrences
from workbench.sessions.model import MOST_TOKENS, Limit, SessionInfo, are_counts
from workbench.sessions.texts import NO_TIME, title_from

_V7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_COUNTS = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens")
_WINDOWS = {300: "5 h", 1440: "24 h", 10080: "7 d"}


def _settle(state: State) -> None:
    """The file holds something of the session that its name says: that is its own, and what came before is copied."""
    if state.hints.name and not state.hints.fixed:
        state.stale = state.stale or state.hints.session != state.hints.name
        state.be(session=state.hints.name, fixed=True, root=None)


def earlier(session: str, other: str) -> bool:
    """Whether a session is known to have begun no later than another, which may therefore begin with its history."""
    first, second = born(session), born(other)
    return first is not None and second is not None and first <= second


def born(identity: Any) -> int | None:
    """Milliseconds since 1970 that an id of version 7 was made at."""
    if type(identity) is not str or _V7.fullmatch(identity) is None:
        return None
    return int(identity[:8] + identity[9:13], 16)


class Facts:
    """Collected record by record; the last word counts, except for the beginning."""

    def __init__(self) -> None:
        self.inherited = False
        """Whether what is being read was the parent's, copied when this session was forked from it."""
        self.forked_from: str | None = None
        self.requests: set[str] = set()
        """Keys of those that were counted."""
        self._sums = 0, 0, 0, 0
        """Of all requests: uncached input, read from and written to the cache, output."""
        self.last: Usage | None = None
        self.window: int | None = None
        self.turns: set[str] = set()
        self._cwds: dict[str, None] = {}
        self._version: str | None = None
        self._parent: str | None = None
        self._started: str | None = None
        self.updated: str | None = None
        self._name = ""
        self._metas = 0
        self._limits: tuple[Limit, ...] = ()
        self.told: tuple[Allowances, str] | None = None
        """What a plain record said of the allowances last, and when, as long as nobody asked."""

    def note(self, at: Any) -> None:
        """Take what any record carries."""
        if type(at) is str and at and (self.updated is None or at > self.updated) and at < NO_TIME:
            self.updated = at
            self._started = self._started or at

    def moved(self, cwd: Any, state: State) -> None:
        """The folder that what follows happens in."""
        if type(cwd) is str and cwd and cwd != state.cwd:
            state.cwd = cwd
            self._cwds.setdefault(cwd)

    def meta(self, payload: Payload, state: State) -> None:
        """A ``session_meta``: the first is the session's own, others are copies of those that it began from."""
        identity = payload.id if type(payload.id) is str and payload.id else None
        self._metas += 1
        self.moved(payload.cwd, state)
        if identity in (None, state.hints.name):
            _settle(state)
        own = self._metas == 1 and (not state.hints.fixed or identity in (None, state.hints.session))
        if own:
            self._own(payload, identity, state)
        elif state.messages:
            if identity != state.hints.session or payload.forked_from_id is not None:
                state.replay = Occurrences()
        elif identity is not None and identity != state.hints.session:
            self.inherited = True
            self.forked_from = self.forked_from or identity
            origin = payload.forked_from_id if type(payload.forked_from_id) is str else identity
            state.be(root=origin)

    def _own(self, payload: Payload, identity: str | None, state: State) -> None:
        if identity is not None and not state.hints.fixed:
            state.stale = state.stale or (bool(state.messages) and state.hints.session != identity)
            state.be(session=identity, fixed=not state.hints.name)
        if type(payload.cli_version) is str:
            self._version = payload.cli_version
        if isinstance(payload.git, dict) and isinstance(payload.git.get("branch"), str):
            state.branch = payload.git["branch"]
        if type(payload.forked_from_id) is str:
            self.forked_from = payload.forked_from_id
            state.be(root=payload.forked_from_id)
        parent = parent_of(payload)
        if parent is not None or is_child(payload):
            state.stale = state.stale or (bool(state.messages) and not state.hints.child)
            state.be(child=True)
            self._parent = parent
        if type(payload.timestamp) is str and self._started is not None:
            self._started = min(self._started, payload.timestamp)

    def turn(self, payload: Payload, state: State) -> None:
        """A turn begins: whether it is the session's own, or was taken over from its parent."""
        self._size(payload.model_context_window)
        turn = payload.turn_id
        if type(turn) is not str:
            return
        if turn not in self.turns:
            state.replay = None
            self.turns.add(turn)
        made, begun = born(turn), born(state.hints.name)
        if made is not None and begun is not None and made >= begun and earlier(state.hints.session, state.hints.name):
            _settle(state)
        begun = born(state.hints.session)
        # Turns older than the session can only have been copied into it.
        self.inherited = self.forked_from is not None and made is not None and begun is not None and made < begun

    def _size(self, window: Any) -> None:
        if type(window) is int and 0 < window < MOST_TOKENS:
            self.window = window

    def named(self, name: Any) -> None:
        """The name that the person, or the program, gave the conversation."""
        if type(name) is str and name:
            self._name = name

    def counted(self, payload: Payload, state: State) -> None:
        """A ``token_count`` event: one request, said again whenever the program sees fit."""
        info = payload.info if isinstance(payload.info, dict) else {}
        self._size(info.get("model_context_window"))
        self._limits = allowances(payload.rate_limits, state.at) or self.limits()
        self.told = None
        last, total = info.get("last_token_usage"), info.get("total_token_usage")
        if not isinstance(last, dict):
            old = {"input_tokens": info.get("prompt"), "output_tokens": info.get("completion")}
            last = old if any(type(value) is int for value in old.values()) else total
        self.used(last, total, state)

    def used(self, last: Any, total: Any, state: State) -> None:
        """Count a request once; its key is what the whole session had used after it."""
        if isinstance(last, dict) and is_usage(last):
            key = _key(total) or f"n{len(self.requests)}"
            if key not in self.requests:
                given, read, write, output = (last.get(name) or 0 for name in _COUNTS)
                self._request(key, given, read, write, output, state)

    def took(self, last: Counts, total: Sums, state: State) -> None:
        """The same, where all of it is plain."""
        key = f"{total.input_tokens}/{total.cached_input_tokens}/{total.output_tokens}/{total.total_tokens}"
        if key not in self.requests:
            given, read, write = last.input_tokens, last.cached_input_tokens, last.cache_write_input_tokens
            self._request(key, given, read, write, last.output_tokens, state)

    def _request(self, key: str, given: int, read: int, write: int, output: int, state: State) -> None:
        """One request; what was cached is part of the input in these files, and apart from it here."""
        if not (given or output):
            return
        if read > given:
            read = given
        fresh = given - read
        if write > fresh:
            write = fresh
        fresh -= write
        self.last = usage = Usage(key, fresh, read, write, output)
        if not self.inherited:
            self.requests.add(key)
            before = self._sums
            self._sums = before[0] + fresh, before[1] + read, before[2] + write, before[3] + output
        state.carry(usage)

    def limits(self) -> tuple[Limit, ...]:
        """The allowances as last stated."""
        if self.told is not None:
            limits, at = self.told
            self._limits = allowances(msgspec.to_builtins(limits), at)
            self.told = None
        return self._limits

    def limited(self, text: str, at: str | None) -> None:
        """The program said that the allowance is used up."""
        limits = self.limits()
        if not any(limit.reached for limit in limits):
            fullest = max(limits, key=lambda limit: limit.used or 0, default=None)
            reset = fullest.resets_at if fullest is not None else None
            self._limits = (*limits, Limit(title_from(text), None, reset, True, at))

    def info(self, path: Path, state: State) -> SessionInfo:
        """The session, without the counts of its lines."""
        cwds = tuple(self._cwds)
        return SessionInfo(
            agent="codex",
            id=state.hints.session,
            path=path,
            title=self._title(state),
            cwd=cwds[0] if cwds else None,
            cwds=cwds,
            branch=state.branch,
            model=state.model,
            started_at=self._started,
            updated_at=self.updated,
            version=self._version,
            parent=self._parent,
            forked_from=self.forked_from,
            usage=Usage("total", *self._sums),
            last_context=self.last.context if self.last is not None else None,
            window=self.window,
            limits=self.limits(),
            compactions=state.compactions,
            children=tuple(state.children),
            plan=state.plan,
            open_calls=state.open_calls(),
        )

    def _title(self, state: State) -> str:
        if self._name:
            return title_from(self._name)
        for message in state.messages:
            if message.role == "user" and message.kind == "message" and not message.hidden:
                return title_from(message.text)
        return ""


def parent_of(payload: Payload) -> str | None:
    """The session that started this one as its sub-agent."""
    source = payload.source.subagent if type(payload.source) is Source else None
    spawn = source.get("thread_spawn") if isinstance(source, dict) else None
    named = spawn.get("parent_thread_id") if isinstance(spawn, dict) else None
    for parent in (named, payload.parent_thread_id):
        if type(parent) is str and parent:
            return parent
    return None


def is_child(payload: Payload) -> bool:
    """Whether a session says of itself that another agent started it."""
    return payload.thread_source == "subagent" or (
        type(payload.source) is Source and payload.source.subagent is not None
    )


def allowances(limits: Any, at: str | None) -> tuple[Limit, ...]:
    """The allowances of a ``rate_limits`` object that was written at a moment."""
    if not isinstance(limits, dict):
        return ()
    reached = limits.get("rate_limit_reached_type")
    found = []
    for place in ("primary", "secondary"):
        row = limits.get(place)
        used = number(row.get("used_percent")) if isinstance(row, dict) else None
        if not isinstance(row, dict) or used is None or not 0 <= used <= MOST_PERCENT:
            continue
        share = used / 100
        minutes = row.get("window_minutes")
        name = (_WINDOWS.get(minutes) or f"{minutes} min") if isinstance(minutes, int) else place
        hit = share >= 1 or (isinstance(reached, str) and reached.startswith(place))
        found.append(Limit(name, share, _moment(row, at), hit, at))
    return tuple(found)


def _moment(row: dict[str, Any], at: str | None) -> str | None:
    """When an allowance is full again: a moment, or in older files seconds from then."""
    when, wait = row.get("resets_at"), row.get("resets_in_seconds")
    moment, seconds = number(when), number(wait)
    try:
        if moment is not None:
            return stamp(datetime.fromtimestamp(moment, UTC))
        if seconds is not None and at is not None:
            return stamp(instant(at) + timedelta(seconds=seconds))
    except (ValueError, OverflowError, OSError):
        return None
    return when if type(when) is str else None


def _key(total: Any) -> str | None:
    if not isinstance(total, dict):
        return None
    get = total.get
    given, read = _tokens(get("input_tokens")), _tokens(get("cached_input_tokens"))
    return f"{given}/{read}/{_tokens(get('output_tokens'))}/{_tokens(get('total_tokens'))}"


def _tokens(value: Any) -> int:
    return value if type(value) is int and 0 <= value < 1 << 62 else 0


def is_usage(last: dict[str, Any]) -> bool:
    """Whether what an object states of a request are counts of tokens."""
    return are_counts(*(last.get(name) for name in _COUNTS))
