"""The rows of a history, kept between two looks: what a message costs, what becomes of it, what they add up to."""

from __future__ import annotations

import zlib
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from workbench.domain.message import Message
from workbench.domain.trimming import Fate, Rulings, Trim
from workbench.services.rows import Rows
from workbench.services.view import MessageView
from workbench.tokens import counter

if TYPE_CHECKING:
    from workbench.sessions import SessionLog

TOKENIZER = "o200k"
"""What the history's figures are counted in."""
REFERENCE_TOKENS = 24
"""About what the line costs that stands for an externalised message."""
_TOGETHER = 4 << 20
"""Characters that are counted at once."""
_MANY = 10_000
"""Rows that are many to be made at once."""


class Tally:
    """Tokens of a history before and after its cuts: kept messages whole, a summary once, a reference line each."""

    def __init__(self, rows: Iterable[MessageView] = ()) -> None:
        self.all = 0
        self._plain = 0
        self._summaries: dict[str, str] = {}
        self._replaced: dict[str, int] = {}
        for row in rows:
            self.add(row.tokens, row.fate)

    def add(self, price: int, fate: Fate, sign: int = 1) -> None:
        """Count a row that costs so much; with -1, count it no longer."""
        tokens = price * sign
        self.all += tokens
        match fate.disposition:
            case "kept":
                self._plain += tokens
            case "externalised":
                self._plain += sign * min(price, REFERENCE_TOKENS)
            case "summarised" if fate.trim is not None:
                self._summaries[fate.trim.id] = fate.trim.text
                self._replaced[fate.trim.id] = self._replaced.get(fate.trim.id, 0) + tokens
            case _:
                pass

    @property
    def kept(self) -> int:
        """Tokens after the cuts."""
        # A summary never costs more than what it stands for, of which a cut-off file may hold only a part.
        count = counter(TOKENIZER).count
        return self._plain + sum(min(count(text), self._replaced[name]) for name, text in self._summaries.items())


class SessionRows:
    """The visible messages of one session."""

    def __init__(self, tokens: array[int] | None = None) -> None:
        self.rows = Rows()
        self.tally = Tally()
        self._messages: Sequence[Message] = ()
        self._trims: tuple[Trim, ...] = ()
        self._cited: frozenset[str] = frozenset()
        self._since = 0
        # By place: tokens, -1 where they were not counted; by row: a check over all rows up to it.
        self.tokens = tokens if tokens is not None else array("i")
        self._known = len(self.tokens)
        """Of them, those that are known without the messages that they were counted of."""
        self._checks = array("I")

    def moved(self, since: int) -> None:
        """From this place on the session's messages are others."""
        self._since = min(self._since, since)

    @property
    def counted(self) -> int:
        """Messages whose tokens are known."""
        return len(self.tokens)

    @property
    def mark(self) -> str:
        """Differs whenever what is shown of the rows does."""
        return f"{len(self.rows)} {self._checks[-1] if self._checks else 0} {self.tally.all} {self.tally.kept}"

    def look(
        self, messages: Sequence[Message], trims: Iterable[Trim], cited: frozenset[str], log: SessionLog | None
    ) -> None:
        """Bring the rows up to date.

        Args:
            messages: All of the session.
            trims: What was decided about them.
            cited: ``SESSION#ID`` of messages that records have as their source.
            log: Where the whole text of a message is had from.
        """
        trims = tuple(trims)
        since = 0 if trims != self._trims else min(self._since, len(self._messages))
        if cited != self._cited:
            self.rows, self._cited = self.rows.citing(cited), cited
        if since == len(messages) == len(self._messages):
            return
        from workbench.sessions.bulk import undisturbed

        with undisturbed(len(messages) - since > _MANY):
            self._count(messages, min(self._since, len(self._messages)), log)
            self._make(messages, since, Rulings(trims), cited)
        self._messages, self._trims, self._since = messages, trims, len(messages)

    def _make(self, messages: Sequence[Message], since: int, rulings: Rulings, cited: Collection[str]) -> None:
        """Make the rows of the messages from ``since`` on."""
        before = self.rows.places
        first = bisect_left(before, since)
        for row in self.rows[first:]:
            self.tally.add(row.tokens, row.fate, -1)
        del self._checks[first:]
        places, tokens = before[:first], self.tokens[:]
        check = self._checks[-1] if self._checks else 0
        for place, message in enumerate(messages[since:], since):
            if message.hidden:
                continue
            fate = rulings.fate(message)
            shown = f"{message.ref}\0{message.size}\0{fate.disposition}\0{fate.pinned}\0{fate.memory}"
            check = zlib.crc32(shown.encode("utf-8", "replace"), check)
            self._checks.append(check)
            self.tally.add(tokens[place], fate)
            places.append(place)
        self.rows = Rows(messages, places, tokens, rulings, cited)

    def _count(self, messages: Sequence[Message], since: int, log: SessionLog | None) -> None:
        """Count the tokens of what is new from ``since`` on; what was counted and is still the same keeps its count."""
        before, known = self._messages, min(self._known, len(messages))
        self._known = 0
        del self.tokens[len(messages) :]
        self.tokens.extend([-1] * (len(messages) - len(self.tokens)))
        places: list[int] = []
        texts: list[str] = []
        length = 0
        first = max(since, known)
        for place, (message, was) in enumerate(zip_longest(messages[first:], before[first : len(messages)]), first):
            if was is not None and was.id == message.id and was.size == message.size:
                continue
            text = "" if message.hidden else message.text
            if text and message.clipped and log is not None:
                text = log.body(message)
            places.append(place)
            texts.append(text)
            length += len(text)
            if length >= _TOGETHER:
                self._put(places, texts)
                places, texts, length = [], [], 0
        self._put(places, texts)

    def _put(self, places: list[int], texts: list[str]) -> None:
        if not any(texts):
            counts = [0] * len(texts)
        elif len(texts) == 1:
            counts = [counter(TOKENIZER).count(texts[0])]
        else:
            counts = counter(TOKENIZER).count_all(texts)
        for place, count in zip(places, counts, strict=True):
            self.tokens[place] = count
