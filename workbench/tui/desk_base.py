"""What the parts of the desk over the real services share."""

from __future__ import annotations

import msgspec

from workbench.domain.record import Json
from workbench.domain.task import Task
from workbench.services import tasks
from workbench.services.context import Context


class DeskBase:
    """One workspace, asked from several threads."""

    def __init__(self, context: Context) -> None:
        self.ctx = context

    def _task(self, task: str) -> Task:
        return tasks.resolve(self.ctx, task)

    def _marks(self) -> str:
        """A text that differs whenever something that a view rests on does."""
        raise NotImplementedError


def typed_value(text: str) -> Json:
    """A typed value as JSON where it is that, else the words themselves."""
    try:
        return msgspec.json.decode(text.encode())
    except msgspec.DecodeError:
        return text
