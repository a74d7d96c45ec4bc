"""Typed messages from the workers to the app. Workers post these and touch no widget."""

from __future__ import annotations

from textual.message import Message

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
