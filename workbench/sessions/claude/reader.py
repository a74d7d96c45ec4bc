"""Lines of a Claude Code session file to neutral messages."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from workbench.domain.message import BODY_LIMIT, Message
from workbench.sessions.claude.answers import answer
from workbench.sessions.claude.events import attachment, system
from workbench.sessions.claude.facts import Facts
from workbench.sessions.claude.keeping import go_on, kept
from workbench.sessions.claude.plain import plain
from workbench.sessions.claude.records import CHAIN, METADATA, TITLES, Line, decode, is_record, raw_text
from workbench.sessions.claude.state import Hints, State
from workbench.sessions.claude.tree import AUXILIARY
from workbench.sessions.claude.turns import user
from workbench.sessions.lines import BAD, Bytes, LineReader
from workbench.sessions.model import SessionInfo
from workbench.sessions.salvage import salvage


class ClaudeReader(LineReader[Line]):
    """Reads one file; see :class:`workbench.sessions.model.Reader`."""

    _state: State

    def __init__(self, hints: Hints, limit: int = BODY_LIMIT) -> None:
        super().__init__(decode, is_record, State(hints, limit))
        self._facts = Facts()
        self._quick = plain(self._state, self._facts)
        self._variants: set[str] = set()

    def memory(self) -> dict[str, Any]:
        """What it knows besides its messages, to be kept."""
        return super().memory() | {"_state": kept(self._state)}

    def recall(self, memory: dict[str, Any], messages: list[Message]) -> None:
        """Know what another reader of the same file knew, and go on from there."""
        go_on(self._state, memory.pop("_state"), messages)
        vars(self).update(memory)
        self._quick = plain(self._state, self._facts)

    def renewed(self) -> Self:
        """An empty reader that knows the session's id and kind from the start."""
        return type(self)(self._state.hints, self._state.limit)

    def _take(self, line: Line, raw: Bytes, start: int, end: int) -> None:
        self._records += 1
        raw = bytes(raw)
        state = self._state
        self._facts.note(line, state)
        kind = line.type
        if kind == "assistant" or kind == "user":
            if type(line.uuid) is str and line.uuid in state.tree.index:
                self._repeated(line, raw, start, end)
            elif (answer if kind == "assistant" else user)(state, line, raw, start, end):
                self._with_messages += 1
            else:
                self._metadata += 1
        elif type(kind) is not str:
            self._count(self._convert(line, raw, start, end))
        elif kind == "progress":
            if type(line.uuid) is not str or line.uuid not in state.tree.index:
                state.enter(line, AUXILIARY, start, end)
                state.tree.nameless(state.node)
            self._metadata += 1
        elif kind in METADATA:
            if kind in TITLES:
                self._facts.titled(line)
            self._metadata += 1
        elif kind in CHAIN and type(line.uuid) is str and line.uuid in state.tree.index:
            self._repeated(line, raw, start, end)
        else:
            self._count(self._convert(line, raw, start, end))

    def _convert(self, line: Line, raw: bytes, start: int, end: int) -> bool | None:
        """Let a record become messages; returns whether it did, None where its kind is unknown."""
        if type(line.type) is not str:
            line.type = "?"
        kind = line.type
        if kind == "assistant":
            return answer(self._state, line, raw, start, end)
        if kind == "user":
            return user(self._state, line, raw, start, end)
        made: bool | None = None
        if kind == "attachment":
            made = attachment(self._state, line, start, end)
        elif kind == "system":
            made = system(self._state, line, start, end)
        if made is None:
            self._unknown_record(line, raw, start, end)
        return made

    def _unknown_record(self, line: Line, raw: bytes, start: int, end: int) -> None:
        """Keep a record of a kind that is not known, out of sight."""
        state = self._state
        if line.type != "system":
            state.enter(line, AUXILIARY, start, end)
        state.raw_type = line.type
        state.emit("unknown", "system", "harness", raw_text(raw), hidden=True)
        state.leave()
        if type(line.uuid) is not str:
            # Nothing can name this record: what follows hangs on what was there before it.
            state.tree.nameless(state.node)

    def _repeated(self, line: Line, raw: bytes, start: int, end: int) -> None:
        """A record whose id was there before: a replay is dropped, another content under the same id is kept."""
        state = self._state
        node = state.tree.index[line.uuid]
        old = state.messages[state.tree.first(node) : state.tree.end(node, len(state.messages))]
        new = self._replay(raw, state.limit)
        content = repr([(m.kind, m.text, m.call and m.call.plain(), m.result) for m in new])
        digest = hashlib.sha256(content.encode("utf-8", "replace"))
        suffix = "~" + digest.hexdigest()[:8]
        name = f"{line.uuid}{suffix}"
        if name in self._variants or (len(old) == len(new) and all(map(_alike, old, new))):
            self._metadata += 1
            return
        self._variants.add(name)
        state.suffix = suffix
        self._count(self._convert(line, raw, start, end))
        state.suffix = ""

    def _replay(self, raw: bytes, limit: int) -> list[Message]:
        """The messages of one record taken alone."""
        hints = replace(self._state.hints, fixed=True)
        alone = type(self)(hints, limit)
        try:
            line = decode(raw)
        except BAD:
            found = salvage(raw, is_record).records
            if not found:
                return []
            raw = found[0][0]
            line = decode(raw)
        alone._convert(line, raw, 0, len(raw))
        return alone.messages

    def whole(self, line: bytes, message: Message) -> str | None:
        """The unclipped text of ``message`` from the bytes it came from; None where they are not its own."""
        try:
            made = self._replay(line, sys.maxsize)
        except BAD:
            return None
        block = message.raw.block if message.raw is not None else 0
        if block >= len(made):
            return None
        found = made[block]
        same = found.kind == message.kind and found.size == message.size and found.text.startswith(message.text)
        return found.text if same else None

    def info(self, path: Path, unfinished: int) -> SessionInfo:
        """What is known so far."""
        return replace(
            self._facts.info(path, self._state),
            **self._counts(unfinished),
        )


def _alike(old: Message, new: Message) -> bool:
    """Whether a message is one that was there before, as far as its record tells without its neighbours."""
    return (
        (old.kind, old.role, old.size) == (new.kind, new.role, new.size)
        and new.text.startswith(old.text)  # late in a long session less is kept
        and _partner(old) == _partner(new)
    )


def _partner(message: Message) -> tuple[str | None, str | None]:
    call, result = message.call, message.result
    return call.call_id if call is not None else None, result.call_id if result is not None else None
