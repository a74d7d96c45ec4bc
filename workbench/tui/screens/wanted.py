"""What screens ask of the app. They bubble up; the app alone knows the workspace."""

from __future__ import annotations

from textual.message import Message

from workbench.domain.message import Message as SessionMessage


class Act(Message):
    """The person wants something done."""

    def __init__(self, what: str, subject: str = "", refs: frozenset[str] = frozenset()) -> None:
        super().__init__()
        self.what = what
        self.subject = subject
        self.refs = refs


class BodyWanted(Message):
    """The whole text of a message is to be read."""

    def __init__(self, message: SessionMessage) -> None:
        super().__init__()
        self.message = message

    def can_replace(self, message: Message) -> bool:
        """Only the last one asked for counts."""
        return isinstance(message, BodyWanted)
