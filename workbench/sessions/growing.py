"""The list of messages that a reader makes, adds to, and changes where a later record says more of an earlier one."""

from __future__ import annotations

import sys
from typing import Any

from msgspec.structs import force_setattr as complete

from workbench.domain.message import Message, output_limits


class Growing:
    """Messages of one session, as far as they were read.

    Args:
        limit: Characters of a text that are kept.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.output_limit, self.late_limit = output_limits(limit)
        self.stale = False
        """What was learned since makes the messages wrong from the start."""
        self.messages: list[Message] = []
        self.shown = 0
        """Messages that the reader's owner has seen: those up to the last time that they were settled."""
        self.changed = 0
        """Messages replaced of those."""
        self.lowest = sys.maxsize
        """Place of the first of them."""

    def replace_at(self, place: int, **fields: Any) -> None:
        """Change a message that is in the list already; one that somebody may hold is replaced, never altered."""
        if place < self.shown:
            self.messages[place] = self.messages[place].with_(**fields)
            self.changed += 1
            self.lowest = min(self.lowest, place)
            return
        message = self.messages[place]
        for name, value in message.fields(fields).items():
            complete(message, name, value)

    def replaced(self) -> tuple[int, int]:
        """How many messages were replaced since this was last asked, and the place of the first of them."""
        found = self.changed, self.lowest
        self.changed, self.lowest = 0, sys.maxsize
        return found

    def settle(self) -> None:
        """The owner is about to see everything up to here."""
        self.shown = len(self.messages)
