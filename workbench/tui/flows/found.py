"""The review list: what was found in the sessions, kept or refused line by line."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from workbench.errors import WorkbenchError
from workbench.tui.flows.other import undo
from workbench.tui.flows.settle import go_to_message, settle
from workbench.tui.screens.found import FoundAct, FoundScreen

if TYPE_CHECKING:
    from workbench.services.reviewing import Found, Review
    from workbench.tui.app import WorkbenchApp


async def found(app: WorkbenchApp) -> None:
    """Show what was found; each act is carried out at once, and the list stays open."""

    async def do(act: FoundAct) -> Review:
        try:
            await carry_out(app, act)
        except WorkbenchError as error:
            app.fail(error)
            app.nudge()
        return await read()

    async def read() -> Review:
        return await asyncio.to_thread(app.desk.review)

    message = await app.push_screen_wait(FoundScreen(await read(), do, read, app.clock(), app.refusal))
    if message is not None:
        go_to_message(app, message)


async def carry_out(app: WorkbenchApp, act: FoundAct) -> None:
    """Do what the person decided about a line, and say what was done."""
    one = act.one
    if act.what == "undo":
        await undo(app)
    elif one is not None and act.what == "settle":
        await settle(app, one.id)
    elif one is not None:
        said = await asyncio.to_thread(_do, app, act, one)
        app.changed(said if act.what == "skip" else said + "  u takes it back.")


def _do(app: WorkbenchApp, act: FoundAct, one: Found) -> str:
    if act.what == "accept":
        return app.desk.accept_found(one, act.text)
    if act.what == "both":
        return app.desk.keep_both_found(one)
    if act.what == "refuse":
        return app.desk.refuse_found(one, act.text or "")
    return app.desk.skip_found(one)
