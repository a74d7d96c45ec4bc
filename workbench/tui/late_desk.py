"""The desk at start: it is made when it is first asked, which is after the first paint and in a thread.

What the services need is loaded in a fraction of a second, but a start has to be quicker than that.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from workbench.services.context import Context

if TYPE_CHECKING:
    from workbench.tui.services_desk import ServicesDesk


class LateDesk:
    """Answers like a :class:`~workbench.tui.services_desk.ServicesDesk`, which it makes when needed."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._guard = threading.Lock()
        self._desk: ServicesDesk | None = None

    def refusal(self) -> str:
        """Why acting is refused: asked before anything is painted."""
        return self._context.refusal

    def __getattr__(self, name: str) -> Any:
        with self._guard:
            if self._desk is None:
                from workbench.tui.services_desk import ServicesDesk

                self._desk = ServicesDesk(self._context)
        return getattr(self._desk, name)
