"""Typed messages: from workers, which touch no widget, and from screens, which touch no file, to the app."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from workbench.domain.message import Message as SessionMessage
    from workbench.errors import WorkbenchError
    from workbench.services.view import View


class ViewRead(Message):
    """A new view of the workspace; a burst of them collapses into the last."""

    def __init__(self, view: View) -> None:
        super().__init__()
        self.view = view

    def can_replace(self, message: Message) -> bool:
        """Only the newest view counts."""
        return isinstance(message, ViewRead)


class ReadFailed(Message):
    """The workspace could not be read this time; what is on screen stays."""

    def __init__(self, error: WorkbenchError) -> None:
        super().__init__()
        self.error = error


class WatchState(Message):
    """Whether file events arrive; where not, the slow rescan alone keeps the screen right."""

    def __init__(self, watching: bool, why: str = "") -> None:
        super().__init__()
        self.watching = watching
        self.why = why


class Act(Message):
    """The person wants something done."""

    def __init__(self, what: str, subject: str = "", refs: frozenset[str] = frozenset(), label: str = "") -> None:
        super().__init__()
        self.label = label
        """What the subject is, for people."""
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
