"""Claude Code's session files on this machine, and what their two ends tell.

The name of a project's folder is a lossy encoding of a path and is never decoded. Only the head and
the tail of each file are read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from workbench.sessions.claude.facts import limit_of
from workbench.sessions.claude.format import names_session
from workbench.sessions.claude.prompts import is_notice, speaker, split
from workbench.sessions.claude.records import Block, Body, Line, Tokens, is_record
from workbench.sessions.glance import MOST_FOLDERS, Glance, Place, further, is_folder, of_size, tail_of
from workbench.sessions.lines import first_record
from workbench.sessions.model import are_counts
from workbench.sessions.texts import NO_TIME, title_from

_WINDOW = 32 * 1024
_LONG_LINES = 2
"""Lines that may be longer than the window, and are read whole all the same, before the first prompt is known."""
_MESSAGE = re.compile(rb',\s*"message"\s*:')
"""What stands between the envelope of a record and its content."""
_ENVELOPE = 4096
_AFTER_PROMPT = 12
"""Records that are looked at behind the first prompt: the first ones do not always stand in their order."""
_HEAD_LINES = 200
_FOLLOWED = 8
"""Records elsewhere that a session may be said to follow on."""
_TITLES = (b'"ai-title"', b'"custom-title"', b'"summary"')
_CLEAR = "<command-name>/clear</command-name>"


class _Line(Line, gc=False, rename="camel"):
    """A record with what only matters to where a session comes from."""

    logical_parent_uuid: Any = None


_decode = msgspec.json.Decoder(_Line).decode


def roots(env: Mapping[str, str]) -> list[Path]:
    """The program's own folders: the configured one, else the usual two."""
    configured = env.get("CLAUDE_CONFIG_DIR")
    if configured:
        return [Path(configured).expanduser()]
    home = Path(env.get("HOME") or Path.home())
    config = Path(env.get("XDG_CONFIG_HOME") or home / ".config")
    return [home / ".claude", config / "claude"]


def projects(env: Mapping[str, str]) -> Iterator[str]:
    """The folders that hold one project's sessions each."""
    for root in roots(env):
        try:
            with os.scandir(root / "projects") as entries:
                yield from sorted(entry.path for entry in entries if is_folder(entry))
        except OSError:
            continue


def places(env: Mapping[str, str]) -> Iterator[Place]:
    """All session files; of the sub-agents' own those that lie beside them."""
    for project in projects(env):
        try:
            with os.scandir(project) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        folders = {entry.name for entry in inside if not entry.name.endswith(".jsonl") and is_folder(entry)}
        for entry in inside:
            stem, dot, _ = entry.name.rpartition(".jsonl")
            if dot and entry.name.endswith(".jsonl"):
                place = Place.of(entry, f"{project}/{stem}" if stem in folders else "")
                if place is not None:
                    yield place


def children(place: Place) -> list[str]:
    """Ids of the sub-agents whose files lie in a session's own folder."""
    found: list[str] = []
    if place.beside:
        for _folder, _folders, names in os.walk(f"{place.beside}/subagents"):
            found += [name[: -len(".jsonl")] for name in names if name.startswith("agent-") and name.endswith(".jsonl")]
    return sorted(found)


def look(place: Place) -> Glance | None:
    """What the two ends of a file tell; None where it cannot be read."""
    try:
        descriptor = os.open(place.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            head = os.pread(descriptor, _WINDOW, 0)
            ends = _begun(head, place.size)
            for _line in range(_LONG_LINES):
                # A pasted picture, or page, in the first prompt fills the window before its record ends.
                if ends.told or len(head) >= place.size:
                    break
                head = further(descriptor, head, place.size)
                ends = _begun(head, place.size)
            ends.end(tail_of(descriptor, place.size, _WINDOW) if len(head) < place.size else head)
        finally:
            os.close(descriptor)
    except OSError:
        return None
    return ends.glance(place)


def _begun(head: bytes, size: int) -> _Ends:
    """What a head tells; of a record that it breaks off in, what stands before its content."""
    ends = _Ends()
    lines = head.split(b"\n", _HEAD_LINES)
    if len(head) < size:
        cut = lines.pop()
        found = _MESSAGE.search(cut, 0, _ENVELOPE) if len(lines) < _HEAD_LINES else None
        if found is not None:
            lines.append(cut[: found.start()] + b"}")
    ends.begin(lines)
    return ends


class _Ends:
    """What a few records of the beginning, and a few of the end, tell."""

    def __init__(self) -> None:
        self._cwds: dict[str, None] = {}
        self._last_cwd: str | None = None
        self._sessions: dict[str, None] = {}
        self._started: str | None = None
        self._updated: str | None = None
        self._title = ""
        self._early_title = ""
        self._summary = ""
        self._prompt = ""
        self._command = ""
        self._forked_from: str | None = None
        self._child = False
        self._root = ""
        self._ids: set[str] = set()
        self._follows: dict[str, None] = {}
        self._cleared = False
        self._context: int | None = None
        self._limited: str | None = None
        self._spoke = False

    @property
    def told(self) -> bool:
        """Whether all is known that only a beginning tells."""
        return self._child or bool(self._prompt and self._cwds)

    def begin(self, lines: Sequence[bytes]) -> None:
        """Look at the head, until it has told all that only a beginning can tell."""
        left = _AFTER_PROMPT
        for raw in lines:
            line = first_record(raw, _decode, is_record)
            if line is None:
                continue
            self._common(line)
            self._early_title = _title(line) or self._early_title
            self._origin(line)
            if self._prompt and self._cwds:
                left -= 1
                if not left:
                    break

    def end(self, tail: bytes) -> None:
        """Look at the tail from its end backwards: the last word counts."""
        self._updated = None
        place: str | None = None
        titled = any(mark in tail for mark in _TITLES)
        for raw in reversed(tail.split(b"\n")):
            if self._spoke and place is not None:
                if not titled:
                    break
                if not any(mark in raw for mark in _TITLES):
                    continue
            line = first_record(raw, _decode, is_record)
            if line is None:
                continue
            if isinstance(line.timestamp, str) and line.timestamp < NO_TIME:
                self._updated = line.timestamp if self._updated is None else max(self._updated, line.timestamp)
            place = place or of_size(line.cwd)
            self._of(line)
            self._titled(line)
            if line.type == "assistant" and not self._spoke and line.is_sidechain is not True:
                self._answer(line)
        if place is not None:
            self._cwds.pop(place, None)
            self._cwds[place] = None

    def _common(self, line: _Line) -> None:
        cwd = of_size(line.cwd)
        if cwd is not None:
            self._cwds.setdefault(cwd)
        self._of(line)
        if isinstance(line.timestamp, str) and line.timestamp < NO_TIME:
            self._started = self._started or line.timestamp

    def _of(self, line: _Line) -> None:
        session = of_size(line.session_id)
        if session is not None:
            self._sessions.setdefault(session)

    def _titled(self, line: _Line) -> None:
        """The last title, or the last summary."""
        self._title = self._title or _title(line)
        if line.type == "summary" and isinstance(line.summary, str):
            self._summary = self._summary or line.summary

    def _origin(self, line: _Line) -> None:
        """Where the conversation comes from, and what it began with."""
        if isinstance(line.forked_from, dict):
            self._forked_from = self._forked_from or of_size(line.forked_from.get("sessionId"))
        uuid = of_size(line.uuid)
        if uuid is None or line.type == "progress":
            return
        self._child = self._child or isinstance(line.agent_id, str)
        if line.is_sidechain is True:
            return
        self._ids.add(uuid)
        if line.parent_uuid is None and not self._root:
            self._root = uuid
        for other in (of_size(line.parent_uuid), of_size(line.logical_parent_uuid)):
            if other is not None:
                self._follows.setdefault(other)
        if line.type == "user" and not self._prompt:
            self._asked(line)

    def _asked(self, line: _Line) -> None:
        text = _text(line)
        if _CLEAR in text:
            self._cleared = True
        if speaker(line) == "human" and line.is_compact_summary is not True:
            self._prompt = " ".join(split(part)[0] for part in _texts(line) if not is_notice(part)).strip()
            named = text.partition("<command-name>")[2].partition("</command-name>")[0]
            self._command = self._command or named

    def _answer(self, line: _Line) -> None:
        """Tokens of the last request, or that there was none because a limit is reached."""
        body = line.message
        if not isinstance(body, Body):
            return
        if line.error == "rate_limit":
            self._limited = self._limited or limit_of(_text(line), None).resets_at
        elif isinstance(body.usage, Tokens) and line.is_api_error_message is not True:
            parts = (
                body.usage.input_tokens,
                body.usage.cache_read_input_tokens,
                body.usage.cache_creation_input_tokens,
            )
            total = sum(part or 0 for part in parts) if are_counts(*parts, body.usage.output_tokens) else 0
            if total:
                self._context, self._spoke = total, True

    def glance(self, place: Place) -> Glance:
        """All of it."""
        stem = Path(place.path).name.removesuffix(".jsonl")
        child = self._child or stem.startswith("agent-")
        said = next(iter(self._sessions), None)
        # A file that holds no record of the session that its name says holds another one.
        own = said is None or (names_session(stem) and (child or stem.lower() in map(str.lower, self._sessions)))
        return Glance(
            agent="claude",
            id=stem if own else said or stem,
            cwds=tuple(self._cwds)[-MOST_FOLDERS:],
            title=title_from(self._title or self._early_title or self._prompt or self._summary or self._command),
            started_at=self._started,
            updated_at=self._updated,
            child=child,
            parent=said if child else None,
            forked_from=self._forked_from,
            root=self._root,
            after=tuple(other for other in self._follows if other not in self._ids)[:_FOLLOWED],
            cleared=self._cleared,
            context=self._context,
            limited_until=self._limited,
        )


def _title(line: _Line) -> str:
    return next((name for name in (line.custom_title, line.ai_title) if isinstance(name, str)), "")


def _texts(line: _Line) -> list[str]:
    content = line.message.content if isinstance(line.message, Body) else line.message
    if isinstance(content, list):
        return [block.text for block in content if isinstance(block, Block) and isinstance(block.text, str)]
    return [content] if isinstance(content, str) else []


def _text(line: _Line) -> str:
    return "\n".join(_texts(line))
