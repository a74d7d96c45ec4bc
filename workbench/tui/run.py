"""Opening the app over a workspace, and leaving the terminal as it was found."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, cast

from workbench.tui.app import WorkbenchApp
from workbench.tui.settings import settings_of
from workbench.tui.terminal import Manners

if TYPE_CHECKING:
    from workbench.services.context import Context
    from workbench.services.entrance import Entrance
    from workbench.tui.desk import Desk

TURN = 0.0005
"""Seconds after which a thread that reckons lets the one have its turn that paints, which needs many short ones."""

SOON = 1.0
"""Seconds that a signal which ends the app leaves to what is still being carried out."""


def run_app(entrance: Entrance, furnish: Callable[[], Context], now: datetime | None = None) -> int:
    """Open the app over a workspace that was found; returns the exit code.

    Args:
        entrance: Where the workspace lies and how it is set up.
        furnish: Opens it, once the panes are painted.
        now: The moment to act as at, instead of the present.
    """
    # The app itself knows the desk only as a protocol; here alone it is made of the services.
    from workbench.tui.late_desk import LateDesk

    clock = (lambda: now) if now is not None else None
    desk = LateDesk(furnish)
    sys.setswitchinterval(TURN)
    try:
        return run_guarded(WorkbenchApp(cast("Desk", desk), settings_of(entrance), clock))
    finally:
        desk.close()


def run_guarded(app: WorkbenchApp) -> int:
    """Run an app; whatever ends it, the terminal is left as it was found."""
    manners = Manners()
    ended: list[int] = []

    def leave(number: int) -> None:
        ended.append(128 + number)
        app.exit(128 + number)

    def end() -> None:
        manners.restore()
        os._exit(ended[0])

    last = threading.Timer(SOON, end)
    last.daemon = True

    async def run() -> int:
        with manners.guarding(leave):
            code = await app.run_async(mouse=app.settings.mouse) or 0
        if ended:
            last.start()  # a thread that waits for another writer's lock has written nothing, and is not waited for
        return code

    try:
        return asyncio.run(run())
    finally:
        last.cancel()
        manners.restore()
