"""Trim: plan the three ways, let the person look, cut."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, get_args

from textual.content import Content

from workbench.tui import paint
from workbench.tui.desk import CutAct
from workbench.tui.screens.ask import Confirm
from workbench.tui.screens.trim import TrimScreen

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp


async def trim(app: WorkbenchApp, refs: frozenset[str]) -> None:
    """Cut the messages, after the person saw what it saves and what stands against it."""
    view = app.view
    if view is None or view.task is None or not refs:
        app.say("Mark messages first: space, v for a range, a for all suggested.")
        return
    task = view.task.task.id
    rows = [row for row in view.history.messages if row.message.ref in refs]
    if rows and all(row.fate.disposition != "kept" for row in rows):
        await restore(app, task, refs)
        return
    acts: tuple[CutAct, ...] = get_args(CutAct)
    plans = {act: await asyncio.to_thread(app.desk.plan_cut, task, refs, act) for act in acts}
    answer = await app.push_screen_wait(TrimScreen(plans, view.history.messages))
    if answer is None:
        return
    said = await asyncio.to_thread(app.desk.cut, task, plans[answer.act], answer.text, answer.yes)
    app.main.history.list.clear_marks()
    app.changed(said + "  u takes it back.")


async def restore(app: WorkbenchApp, task: str, refs: frozenset[str]) -> None:
    """Keep messages again that were cut: the same key, on messages that are gone already."""
    number = paint.plural(len(refs), "message")
    about = Content(f"{number} of this history stand whole again. The record of the cut stays.")
    if await app.push_screen_wait(Confirm("keep again", about, "keep them")):
        app.changed(await asyncio.to_thread(app.desk.restore, task, refs))
        app.main.history.list.clear_marks()


async def suggest(app: WorkbenchApp) -> None:
    """Mark all messages that may go by the rules."""
    view = app.view
    if view is None or view.task is None:
        return
    refs = await asyncio.to_thread(app.desk.suggest, view.task.task.id)
    if refs:
        app.main.history.list.set_marks(refs)
    else:
        app.say("Nothing is used up: there is nothing to suggest.")
