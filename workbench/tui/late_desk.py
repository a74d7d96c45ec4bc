"""The desk at start: its services are loaded and its workspace is opened after the first paint, in a thread.

That takes a fraction of a second, and a start has to be quicker than that.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.services.context import Context
    from workbench.tui.services_desk import ServicesDesk


class LateDesk:
    """Answers like a :class:`~workbench.tui.services_desk.ServicesDesk`, which it makes when first asked."""

    def __init__(self, furnish: Callable[[], Context]) -> None:
        self._furnish = furnish
        self._guard = threading.Lock()
        self._desk: ServicesDesk | None = None

    def open(self) -> ServicesDesk:
        """The desk itself, made now where it is not there yet; blocking.

        Raises:
            WorkbenchError: The workspace cannot be opened.
        """
        with self._guard:
            if self._desk is None:
                self._desk = self._made()
            return self._desk

    def _made(self) -> ServicesDesk:
        try:
            from workbench.tui.services_desk import ServicesDesk

            return ServicesDesk(self._furnish())
        finally:
            gc.freeze()  # what was loaded stays until the end and need not be walked again and again
            gc.enable()

    def refusal(self) -> str:
        """Why acting is refused; before the workspace is open there is nothing to act on."""
        return self._desk.refusal() if self._desk is not None else ""

    def close(self) -> None:
        """Keep for the next start what was read; quick, and nothing where no workspace was opened."""
        if self._desk is not None:
            with self._desk.ctx.lock:
                self._desk.ctx.sessions.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.open(), name)
