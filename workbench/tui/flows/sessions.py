"""Sessions: pick one that agents keep here, let it belong to the task, and follow it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.tui.desk import SessionChoice
from workbench.tui.screens.sessions import SessionsScreen

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp


LARGE = 50 << 20
"""Bytes of a session from which on reading it for the first time takes seconds."""


async def pick(app: WorkbenchApp) -> None:
    """Show the sessions; the one taken is attached, and the history goes to its end."""
    if app.view is None or app.view.task is None:
        return
    task = app.view.task.task.id

    async def load() -> Sequence[SessionChoice]:
        return await asyncio.to_thread(app.desk.sessions, task)

    taken = await app.push_screen_wait(SessionsScreen(load, app.clock))
    if taken is None:
        return
    if taken.here and taken.running:
        _show(app, taken.name)
    elif taken.task and not taken.here:
        app.say(f"It belongs to the task {taken.task}: w switches to that.", kind="warning")
    elif app.refusal:
        app.say(app.refusal, kind="warning")
    else:
        if taken.size > LARGE:
            app.say(f"Reading {taken.size >> 20:,} MB …")
        said = await asyncio.to_thread(app.desk.attach, task, taken.name)
        app.main.action_pane("history")
        app.main.history.list.action_bottom()
        app.changed(said)


def _show(app: WorkbenchApp, session: str) -> None:
    """Go to the last message of a session."""
    rows = app.view.history.messages if app.view is not None else ()
    last = next((row.message.ref for row in reversed(rows) if row.message.session == session), None)
    app.main.action_pane("history")
    if last is None or not app.main.history.reveal(last):
        app.say("It has no message so far.")
