"""What the records say of the session as a whole: names, folders, times, titles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from workbench.domain.message import Message
from workbench.domain.times import stamp
from workbench.sessions.claude.records import Line
from workbench.sessions.claude.state import State
from workbench.sessions.model import Limit, SessionInfo
from workbench.sessions.texts import NO_TIME, title_from

_MOMENT = re.compile(r"\|(\d{9,10})\b")
_RESETS = re.compile(r"\bresets? (?:at )?([^\n.]{1,60})")
_COMMAND = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)


class Facts:
    """Collected record by record; the last word counts, except for the beginning."""

    def __init__(self) -> None:
        self.place: tuple[Any, ...] | None = None
        self._cwds: dict[str, None] = {}
        self._branch: str | None = None
        self._version: str | None = None
        self._session: str | None = None
        self._parent: str | None = None
        self._started: str | None = None
        self.updated: str | None = None
        self._custom_title = ""
        self._ai_title = ""
        self._summaries: list[tuple[str, str]] = []

    def note(self, line: Line, state: State) -> None:
        """Take what any record carries."""
        at = line.timestamp
        if type(at) is str and at and (self.updated is None or at > self.updated) and at < NO_TIME:
            self.updated = at
            if self._started is None:
                self._started = at
        place = (line.cwd, line.git_branch, line.version, line.session_id)
        if place != self.place:
            self.place = place
            self._moved(line, state)

    def _moved(self, line: Line, state: State) -> None:
        """Something of what most records repeat is new."""
        if type(line.cwd) is str and line.cwd != state.cwd:
            state.cwd = line.cwd
            self._cwds.setdefault(line.cwd)
        if type(line.git_branch) is str and line.git_branch != state.branch:
            state.branch = self._branch = line.git_branch
        if type(line.version) is str:
            self._version = line.version
        if type(line.session_id) is str and line.session_id != self._session:
            self._named(line, state)

    def _named(self, line: Line, state: State) -> None:
        """A session id: the first one names a file whose own name is none of them, and a sub-agent's its parent."""
        self._session = line.session_id
        if self._parent is None:
            self._parent = line.session_id
        hints = state.hints
        own = bool(hints.name) and line.session_id.lower() == hints.name.lower()
        if not hints.fixed and (own or not hints.named):
            session = hints.name if own else line.session_id
            state.stale = state.stale or (bool(state.messages) and hints.session != session)
            state.hints = replace(hints, session=session, fixed=own or not hints.name, named=True)
            state.session = f"claude:{session}"

    def titled(self, line: Line) -> None:
        """Take a title."""
        if type(line.custom_title) is str and line.custom_title:
            self._custom_title = line.custom_title
        if type(line.ai_title) is str and line.ai_title:
            self._ai_title = line.ai_title
        if type(line.summary) is str and line.summary:
            self._summaries.append((line.leaf_uuid if type(line.leaf_uuid) is str else "", line.summary))

    def info(self, path: Path, state: State) -> SessionInfo:
        """The session, without the counts of its lines."""
        cwds = tuple(self._cwds)
        last = state.last_request
        models = (message.model for message in reversed(state.messages) if message.model)
        return SessionInfo(
            agent="claude",
            id=state.hints.session,
            path=path,
            title=self._title(state),
            cwd=cwds[0] if cwds else None,
            cwds=cwds,
            branch=self._branch,
            model=next(models, None),
            started_at=self._started,
            updated_at=self.updated,
            version=self._version,
            parent=self._parent if self._parent != state.hints.session and state.hints.main is False else None,
            forked_from=state.origin_session,
            usage=state.total(),
            last_context=last.usage.context if last is not None and last.usage is not None else None,
            limits=_limits(state),
            compactions=state.compactions,
            children=tuple(state.children),
            plan=state.plan,
            open_calls=tuple(state.open),
        )

    def _title(self, state: State) -> str:
        if self._custom_title or self._ai_title:
            return title_from(self._custom_title or self._ai_title)
        # Summaries of other conversations stand in a file as well: theirs name a record that is not here.
        for leaf, summary in reversed(self._summaries):
            if leaf in state.tree.index or not len(state.tree):
                return title_from(summary)
        for message in _prompts(state):
            if message.kind == "message" and message.origin in ("human", "agent"):
                return title_from(message.text)
        for message in _prompts(state):
            if message.kind == "message" or message.text.startswith("<command-"):
                named = _COMMAND.search(message.text)
                return title_from(named[1] if named else message.text)
        return ""


def _prompts(state: State) -> Iterator[Message]:
    return (message for message in state.messages if message.role == "user" and not message.hidden)


def _limits(state: State) -> tuple[Limit, ...]:
    """The limit that the program said is reached."""
    return () if state.limited is None else (limit_of(*state.limited),)


def limit_of(text: str, at: str | None) -> Limit:
    """A limit that is reached, from what the program said: with the moment or the words for when it ends."""
    moment = _MOMENT.search(text)
    words = _RESETS.search(text)
    resets = stamp(datetime.fromtimestamp(int(moment[1]), UTC)) if moment else words[1].strip() if words else None
    return Limit(title_from(text.partition("|")[0]), None, resets, True, at)
