"""Lines of a Codex session file to neutral messages."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from sys import intern
from typing import Any, Self

import msgspec

from workbench.domain.message import BODY_LIMIT, Message
from workbench.sessions.codex import prompts
from workbench.sessions.codex.events import event
from workbench.sessions.codex.facts import Facts
from workbench.sessions.codex.items import item
from workbench.sessions.codex.plain import plain
from workbench.sessions.codex.records import ENVELOPES, Line, Part, Past, Payload, decode, is_record
from workbench.sessions.codex.state import Hints, State
from workbench.sessions.lines import BAD, Bytes, LineReader
from workbench.sessions.model import SessionInfo
from workbench.sessions.salvage import salvage
from workbench.sessions.texts import text_of

_SILENT = frozenset({"world_state", "inter_agent_communication_metadata"})


class CodexReader(LineReader[Line]):
    """Reads one file; see :class:`workbench.sessions.model.Reader`."""

    _state: State

    def __init__(self, hints: Hints, limit: int = BODY_LIMIT) -> None:
        super().__init__(decode, is_record, State(hints, limit))
        self._facts = Facts()
        self._quick = plain(self._state, self._facts)

    def recall(self, memory: dict[str, Any], messages: list[Message]) -> None:
        """Know what another reader of the same file knew, and go on from there."""
        vars(self).update(memory)
        self._state.go_on(messages)
        self._quick = plain(self._state, self._facts)

    def renewed(self) -> Self:
        """An empty reader that knows from the start whose file it is."""
        return type(self)(self._state.hints, self._state.limit)

    def _take(self, line: Line, raw: Bytes, start: int, end: int) -> None:
        self._records += 1
        self._count(self._convert(line, raw, start, end))

    def _convert(self, line: Line, raw: Bytes, start: int, end: int) -> bool | None:
        """Let a record become messages; returns whether it did, None where its kind is unknown."""
        kind = line.type
        payload = line.payload
        if type(payload) is Payload and type(kind) is str:
            at = line.timestamp
            self._facts.note(at)
            self._state.enter(at, _name(kind, payload), payload.id, start, end)
            made = self._enveloped(kind, payload)
        else:
            made = self._bare(line, start, end)
        if made is None:
            self._unknown_record(raw)
        return made

    def _enveloped(self, kind: str, payload: Payload) -> bool | None:
        if kind == "response_item" or kind == "request_item":
            return item(self._state, payload)
        if kind == "event_msg":
            return event(self._state, self._facts, payload)
        if kind == "session_meta":
            self._facts.meta(payload, self._state)
        elif kind == "turn_context":
            return self._context(payload)
        elif kind == "token_usage_record":
            self._facts.used(payload.usage, payload.thread_token_usage, self._state)
        elif kind == "compacted":
            return self._compacted(payload)
        elif kind == "inter_agent_communication":
            payload.type = "agent_message"
            return item(self._state, payload)
        elif kind not in _SILENT:
            return None
        return False

    def _bare(self, line: Line, start: int, end: int) -> bool | None:
        """A line of the first versions: the item itself, or in the first line what the session is."""
        state = self._state
        if type(line.type) is not str and line.type is not None:
            line.type = "?"
        if line.type in ENVELOPES:
            state.enter(line.timestamp, line.type, None, start, end)
            return None
        self._facts.note(line.timestamp)
        state.enter(line.timestamp, str(line.type or line.role or ""), line.id, start, end)
        if line.record_type is not None:
            return False
        if line.type is None and line.role is None:
            if type(line.id) is not str:
                return None
            self._facts.meta(line, state)
            return False
        made = item(state, line)
        for part in line.content if type(line.content) is list else ():
            if type(part) is Part and type(part.text) is str:
                self._facts.moved(prompts.folder_in(part.text), state)
        return made

    def _context(self, payload: Payload) -> bool:
        """A turn's settings: the folder, and whether another model goes on."""
        state = self._state
        self._facts.moved(payload.cwd, state)
        model = payload.model
        if type(model) is not str or not model or model == state.model:
            return False
        old, state.model = state.model, model
        if old is None:
            return False
        state.base = None
        return state.emit("mode_change", "system", "harness", f"model {old} \u2192 {model}", seen=False) is not None

    def _compacted(self, payload: Payload) -> bool:
        """A summary takes the place of the conversation, but for what the record itself keeps of it."""
        state = self._state
        past = payload.replacement_history
        rows = [row for row in past if type(row) is Past] if type(past) is list else []
        texts = [("system" if row.role == "developer" else row.role, text) for row in rows for text in _texts(row)]
        summary = payload.message if type(payload.message) is str and payload.message else ""
        if not summary and texts:
            summary = texts[-1][1]
        state.cut({(str(role), text[: state.limit]) for role, text in texts if text != summary})
        state.base = None
        return state.emit("compaction", "user", "harness", summary) is not None

    def _unknown_record(self, raw: Bytes) -> None:
        """Keep a record of a kind that is not known, out of sight."""
        text = _sorted(bytes(raw))
        self._state.base = None
        self._state.emit("unknown", "system", "harness", text, hidden=True, seen=False)

    def whole(self, line: bytes, message: Message) -> str | None:
        """The unclipped text of ``message`` from the bytes it came from; None where they are not its own."""
        alone = type(self)(self._state.hints, sys.maxsize)
        try:
            record = decode(line)
        except BAD:
            found = salvage(line, is_record).records
            if not found:
                return None
            line = found[0][0]
            record = decode(line)
        alone._convert(record, line, 0, len(line))
        for made in alone.messages:
            same = made.kind == message.kind and made.size == message.size and made.text.startswith(message.text)
            if same:
                return made.text
        return None

    def info(self, path: Path, unfinished: int) -> SessionInfo:
        """What is known so far."""
        return replace(self._facts.info(path, self._state), **self._counts(unfinished))


def _sorted(raw: bytes) -> str:
    """A record as text that does not depend on the order of its keys, where it can be read at all."""
    try:
        return text_of(msgspec.json.decode(raw))
    except BAD:
        return raw.decode("utf-8", "replace")


def _name(kind: str, payload: Payload) -> str:
    return intern(f"{kind}.{payload.type}" if type(payload.type) is str else kind)


def _texts(row: Past) -> list[str]:
    if type(row.content) is str:
        return [row.content]
    parts = row.content if type(row.content) is list else []
    return [part.text for part in parts if type(part) is Part and type(part.text) is str]
