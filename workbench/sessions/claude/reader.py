"""Lines of a Claude Code session file to neutral messages."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

import msgspec

from workbench.domain.message import BODY_LIMIT, Message
from workbench.sessions.claude.answers import answer
from workbench.sessions.claude.events import attachment, system
from workbench.sessions.claude.facts import Facts
from workbench.sessions.claude.records import CHAIN, METADATA, TITLES, Line, decode, is_record, raw_text
from workbench.sessions.claude.state import Hints, State
from workbench.sessions.claude.tree import AUXILIARY
from workbench.sessions.claude.turns import user
from workbench.sessions.model import SessionInfo
from workbench.sessions.salvage import salvage

_BAD = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)
_NAMED_LINES = 5
"""Unreadable lines whose numbers are kept."""


class ClaudeReader:
    """Reads one file; see :class:`workbench.sessions.model.Reader`."""

    def __init__(self, hints: Hints, limit: int = BODY_LIMIT) -> None:
        self._state = State(hints, limit)
        self._facts = Facts()
        self._variants: set[str] = set()
        self._lines = 0
        self._records = self._with_messages = self._metadata = self._unknown = 0
        self._unreadable = self._oversized = 0
        self._bad_lines: list[int] = []

    @property
    def messages(self) -> list[Message]:
        """The messages so far; the reader appends to this list and replaces in it."""
        return self._state.messages

    @property
    def changed(self) -> int:
        """Earlier messages replaced since this was last set to 0."""
        return self._state.changed

    @changed.setter
    def changed(self, value: int) -> None:
        self._state.changed = value

    @property
    def stale(self) -> bool:
        """Whether the file must be read again with :meth:`renewed`."""
        return self._state.stale

    def renewed(self) -> Self:
        """An empty reader that knows the session's id and kind from the start."""
        return type(self)(self._state.hints, self._state.limit)

    def feed(self, lines: Sequence[bytes], start: int) -> None:
        """Take complete lines without their newlines; the first begins at byte ``start``."""
        take = self._take
        for raw in lines:
            end = start + len(raw)
            self._lines += 1
            try:
                line = decode(raw)
            except _BAD:
                self._damaged(raw, start)
            else:
                take(line, raw, start, end if raw[-1:] == b"}" else start + len(raw.rstrip()))
            start = end + 1

    def skip(self) -> None:
        """Count one line that is too long to be read."""
        self._lines += 1
        self._oversized += 1
        self._lost()

    def settle(self) -> None:
        """Bring ``in_context`` up to date."""
        self._state.settle()

    def complete(self, line: bytes) -> bool:
        """Whether an unfinished last line is a whole record already."""
        try:
            decode(line)
        except _BAD:
            found = salvage(line, is_record)
            return len(found.records) == 1 and not found.lost
        return True

    def _lost(self) -> None:
        self._records += 1
        self._unreadable += 1
        if len(self._bad_lines) < _NAMED_LINES:
            self._bad_lines.append(self._lines)

    def _damaged(self, raw: bytes, start: int) -> None:
        """Take what can be had from a line that is no record as it stands."""
        found = salvage(raw, is_record)
        lost = found.lost
        for clean, begin, end in found.records:
            try:
                line = decode(clean)
            except _BAD:
                lost = True
                continue
            self._take(line, clean, start + begin, start + end)
        if lost:
            self._lost()

    def _take(self, line: Line, raw: bytes, start: int, end: int) -> None:
        self._records += 1
        state = self._state
        kind = line.type
        self._facts.note(line, state)
        if kind == "assistant" or kind == "user":
            if type(line.uuid) is str and line.uuid in state.tree.index:
                self._repeated(line, raw, start, end)
            elif (answer if kind == "assistant" else user)(state, line, raw, start, end):
                self._with_messages += 1
            else:
                self._metadata += 1
        elif type(kind) is not str:
            line.type = "?"
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

    def _count(self, made: bool | None) -> None:
        if made is None:
            self._unknown += 1
        elif made:
            self._with_messages += 1
        else:
            self._metadata += 1

    def _repeated(self, line: Line, raw: bytes, start: int, end: int) -> None:
        """A record whose id was there before: a replay is dropped, another content under the same id is kept."""
        state = self._state
        node = state.tree.index[line.uuid]
        old = state.messages[state.tree.first(node) : state.tree.end(node, len(state.messages))]
        new = self._replay(raw, state.limit)
        digest = hashlib.sha256(repr([(m.kind, m.text, m.call, m.result) for m in new]).encode("utf-8", "replace"))
        suffix = "~" + digest.hexdigest()[:8]
        name = f"{line.uuid}{suffix}"
        if [_gist(message) for message in old] == [_gist(message) for message in new] or name in self._variants:
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
        except _BAD:
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
        except _BAD:
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
            records=self._records,
            with_messages=self._with_messages,
            metadata=self._metadata,
            unknown=self._unknown,
            unreadable=self._unreadable,
            unreadable_lines=tuple(self._bad_lines),
            oversized=self._oversized,
            unfinished=unfinished,
        )


def _gist(message: Message) -> tuple[object, ...]:
    """What of a message is the same when its record is read without its neighbours."""
    call = message.call.call_id if message.call is not None else None
    result = message.result.call_id if message.result is not None else None
    return message.kind, message.role, message.text, message.size, call, result
