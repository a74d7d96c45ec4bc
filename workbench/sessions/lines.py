"""What every reader of line-by-line JSON does alike: decode, salvage what is damaged, account for every record."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, TypeVar

import msgspec

from workbench.domain.message import Message
from workbench.sessions.growing import Growing
from workbench.sessions.salvage import salvage

BAD = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)
"""What a decoder raises for a line that is no record."""
_NAMED_LINES = 5
"""Unreadable lines whose numbers are kept."""

L = TypeVar("L")
Bytes = bytes | memoryview
"""A line as it lies in the chunk that was read, or a copy of it."""
Stretch = Callable[[Sequence[Bytes], int, int], tuple[int, int, int]]
"""Takes the next lines as long as there is a short way for them.

Is given the lines, the place of the first in them and in the file; returns both of the first that is left, and how
many of the lines made messages. The others are known to carry none.
"""


def first_record(raw: bytes, decode: Callable[[bytes], L], is_record: Callable[[dict[str, Any]], bool]) -> L | None:
    """The record of a line, of a damaged one the first; None where nothing can be had from it."""
    try:
        return decode(raw)
    except BAD:
        found = salvage(raw, is_record).records
    try:
        return decode(found[0][0]) if found else None
    except BAD:
        return None


class LineReader(ABC, Generic[L]):
    """Feeds records to :meth:`_take` and counts: messages, metadata, unknown and unreadable make up the records."""

    BORN_WITH: ClassVar[frozenset[str]] = frozenset({"_decode", "_is_record", "_quick"})
    """What every reader has, whatever it read."""

    def __init__(
        self, decode: Callable[[Bytes], L], is_record: Callable[[dict[str, Any]], bool], state: Growing
    ) -> None:
        self._decode = decode
        self._is_record = is_record
        self._state = state
        self._quick: Stretch | None = None
        self._lines = 0
        self._records = self._with_messages = self._metadata = self._unknown = 0
        self._unreadable = self._oversized = 0
        self._bad_lines: list[int] = []

    @property
    def messages(self) -> list[Message]:
        """The messages so far; the reader appends to this list and replaces in it."""
        return self._state.messages

    @property
    def stale(self) -> bool:
        """Whether the file must be read again from its beginning, by a reader that knows what this one learned."""
        return self._state.stale

    def replaced(self) -> tuple[int, int]:
        """How many earlier messages were replaced since this was last asked, and the place of the first of them."""
        return self._state.replaced()

    def settle(self) -> None:
        """Bring what depends on later records up to date; called after every batch."""
        self._state.settle()

    def memory(self) -> dict[str, Any]:
        """What it knows besides its messages, to be kept."""
        return {name: value for name, value in vars(self).items() if name not in self.BORN_WITH}

    @abstractmethod
    def _take(self, line: L, raw: Bytes, start: int, end: int) -> None:
        """Take one record, which stands at bytes ``start`` to ``end`` of the file; ``raw`` is not to be kept."""

    def feed(self, lines: Sequence[Bytes], start: int) -> None:
        """Take complete lines without their newlines; the first begins at byte ``start``."""
        take, quick, decode = self._take, self._quick, self._decode
        at, count = 0, len(lines)
        while at < count:
            if quick is not None:
                before = at
                at, start, made = quick(lines, at, start)
                self._lines += at - before
                self._records += at - before
                self._with_messages += made
                self._metadata += at - before - made
                if at == count:
                    break
            raw = lines[at]
            end = start + len(raw)
            self._lines += 1
            try:
                line = decode(raw)
            except BAD:
                self._damaged(bytes(raw), start)
            else:
                # 125 is the brace that a record ends with; some writers put blanks after it.
                take(line, raw, start, end if raw[-1] == 125 else start + len(bytes(raw).rstrip()))
            start = end + 1
            at += 1

    def skip(self) -> None:
        """Count one line that is too long to be read."""
        self._lines += 1
        self._oversized += 1
        self._lost()

    def complete(self, line: bytes) -> bool:
        """Whether an unfinished last line is a whole record already."""
        try:
            self._decode(line)
        except BAD:
            found = salvage(line, self._is_record)
            return len(found.records) == 1 and not found.lost
        return True

    def _lost(self) -> None:
        self._records += 1
        self._unreadable += 1
        if len(self._bad_lines) < _NAMED_LINES:
            self._bad_lines.append(self._lines)

    def _damaged(self, raw: bytes, start: int) -> None:
        """Take what can be had from a line that is no record as it stands."""
        found = salvage(raw, self._is_record)
        lost = found.lost
        for clean, begin, end in found.records:
            try:
                line = self._decode(clean)
            except BAD:
                lost = True
                continue
            self._take(line, clean, start + begin, start + end)
        if lost:
            self._lost()

    def _count(self, made: bool | None) -> None:
        """Account for a record: it made messages, it is known to carry none, or its kind is unknown (None)."""
        if made is None:
            self._unknown += 1
        elif made:
            self._with_messages += 1
        else:
            self._metadata += 1

    def _counts(self, unfinished: int) -> dict[str, Any]:
        """The fields of :class:`~workbench.sessions.model.SessionInfo` that say how the records are accounted for."""
        return {
            "records": self._records,
            "with_messages": self._with_messages,
            "metadata": self._metadata,
            "unknown": self._unknown,
            "unreadable": self._unreadable,
            "unreadable_lines": tuple(self._bad_lines),
            "oversized": self._oversized,
            "unfinished": unfinished,
        }


class Occurrences:
    """Ids for what has none of its own: by session, content and occurrence, never by position."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}
        self._blank: dict[tuple[str, ...], str] = {}
        """Digests of what holds no text: of thoughts that cannot be read a session has thousands, all alike."""

    def name(self, *seed: str) -> str:
        """The id of the next occurrence of this content, which comes last in ``seed``."""
        digest = None if seed[-1] else self._blank.get(seed)
        if digest is None:
            digest = hashlib.sha256("\0".join(seed).encode("utf-8", "replace")).hexdigest()[:20]
            if not seed[-1]:
                self._blank[seed] = digest
        count = self._seen.get(digest, 0) + 1
        self._seen[digest] = count
        return digest if count == 1 else f"{digest}:{count}"
