"""Look at what the model saw: the request of a message, and from there the ones before and after."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from workbench.tui.screens.request import RequestScreen

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp


async def saw(app: WorkbenchApp, message: str) -> None:
    """Show the request that a message belongs to; go to the message that is picked in it."""
    word = message
    while True:
        found = await asyncio.to_thread(app.desk.request, word)
        answer = await app.push_screen_wait(RequestScreen(found, app.clock()))
        if answer is None:
            return
        if answer.request:
            word = answer.request
            continue
        app.main.action_pane("history")
        if not app.main.history.list.go_to(answer.message):
            app.say("This message is not in the list: it is the program's own, or the filter hides it.")
        return
