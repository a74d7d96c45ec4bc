"""The rows of a history as a picture of it shows them: each is made when it is asked for, and held by nobody."""

from __future__ import annotations

from abc import abstractmethod
from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate
from operator import eq
from typing import overload

from workbench.domain.message import Message
from workbench.domain.trimming import Rulings
from workbench.services.view import MessageView


class _Rows(Sequence[MessageView]):
    """What any rows can do; two are the same when each row is."""

    __hash__ = None  # type: ignore[assignment]  # equal by their rows, which a hash would have to make

    @abstractmethod
    def _row(self, number: int) -> MessageView:
        """The row of a number from 0."""

    @overload
    def __getitem__(self, number: int) -> MessageView: ...

    @overload
    def __getitem__(self, number: slice) -> tuple[MessageView, ...]: ...

    def __getitem__(self, number: int | slice) -> MessageView | tuple[MessageView, ...]:
        found = range(len(self))[number]
        return self._row(found) if isinstance(found, int) else tuple(map(self._row, found))

    def __iter__(self) -> Iterator[MessageView]:
        return map(self._row, range(len(self)))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))


class Rows(_Rows):
    """Rows of one session. Nothing in them changes any more.

    Args:
        messages: All of the session.
        places: Where those that have a row stand among them.
        tokens: What each message costs, by place.
        rulings: What was decided about them.
        cited: ``SESSION#ID`` of messages that records have as their source.
    """

    def __init__(
        self,
        messages: Sequence[Message] = (),
        places: array[int] | None = None,
        tokens: array[int] | None = None,
        rulings: Rulings | None = None,
        cited: Collection[str] = (),
    ) -> None:
        self._messages = messages
        self.places = places if places is not None else array("I")
        self._tokens = tokens if tokens is not None else array("i")
        self._rulings = rulings or Rulings(())
        self._cited = cited

    def __len__(self) -> int:
        return len(self.places)

    def _row(self, number: int) -> MessageView:
        place = self.places[number]
        message = self._messages[place]
        cited = bool(self._cited) and message.ref in self._cited
        return MessageView(message, self._rulings.fate(message), self._tokens[place], cited)

    @property
    def cost(self) -> int:
        """Tokens of all of them together."""
        return sum(map(self._tokens.__getitem__, self.places))

    def citing(self, cited: Collection[str]) -> Rows:
        """The same where these messages are some record's source."""
        return Rows(self._messages, self.places, self._tokens, self._rulings, cited)

    def in_context(self) -> Rows:
        """Those of the messages that the model has before it."""
        left = array("I", (place for place in self.places if self._messages[place].in_context))
        return Rows(self._messages, left, self._tokens, self._rulings, self._cited)

    def without(self, ids: Collection[str]) -> Rows:
        """The same without certain messages."""
        left = array("I", (place for place in self.places if self._messages[place].id not in ids))
        return Rows(self._messages, left, self._tokens, self._rulings, self._cited)


class Joined(_Rows):
    """The rows of several sessions, one after the other."""

    def __init__(self, parts: Sequence[Rows]) -> None:
        self._parts = parts
        self._begins = list(accumulate(map(len, parts), initial=0))

    def __len__(self) -> int:
        return self._begins[-1]

    def _row(self, number: int) -> MessageView:
        part = bisect_right(self._begins, number) - 1
        return self._parts[part][number - self._begins[part]]

    @property
    def cost(self) -> int:
        """Tokens of all of them together."""
        return sum(part.cost for part in self._parts)

    def in_context(self) -> Joined:
        """Those of the messages that the models have before them."""
        return Joined([part.in_context() for part in self._parts])


def in_context(rows: Sequence[MessageView]) -> Sequence[MessageView]:
    """The rows of the messages that the model of each session has before it now."""
    if isinstance(rows, Rows | Joined):
        return rows.in_context()
    return tuple(row for row in rows if row.message.in_context)


def cost(rows: Sequence[MessageView]) -> int:
    """What rows cost together, in tokens."""
    return rows.cost if isinstance(rows, Rows | Joined) else sum(row.tokens for row in rows)
