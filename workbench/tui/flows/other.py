"""Smaller interactions: undo, another task, a fact to look at."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual.content import Content

from workbench.tui import paint
from workbench.tui.flows.settle import settle
from workbench.tui.screens.ask import Confirm
from workbench.tui.screens.fact import FactScreen
from workbench.tui.screens.pick import Option, Pick

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp

RECORDS_SHOWN = 12
PASSED_SHOWN = 3


async def undo(app: WorkbenchApp) -> None:
    """Say what the last change was; take it back on enter."""
    plan = await asyncio.to_thread(app.desk.undo_plan)
    if plan is None:
        app.say("There is nothing of yours to take back.")
        return
    rows = [
        Content.assemble("Takes back  ", paint.line(plan.command, "bold", 300)),
        Content.assemble(("done by ", paint.QUIET), paint.line(plan.by), f"  {paint.clock(plan.at, app.clock())}"),
    ]
    rows += [Content.assemble(("· ", paint.QUIET), paint.line(record)) for record in plan.records[:RECORDS_SHOWN]]
    rows += [Content.assemble(("newer  ", "$warn"), paint.line(one)) for one in plan.passed[:PASSED_SHOWN]]
    if len(plan.passed) > PASSED_SHOWN:
        rows.append(Content.styled(f"and {len(plan.passed) - PASSED_SHOWN} more that stay", "$warn"))
    rows.append(Content.styled("The undo is itself recorded, and can be seen in the log.", paint.QUIET))
    if await app.push_screen_wait(Confirm("undo", paint.stack(rows), "take it back")):
        app.changed(await asyncio.to_thread(app.desk.undo, plan.change))


async def switch_task(app: WorkbenchApp) -> None:
    """Pick the task to look at."""
    if app.view is None:
        return
    current = app.view.task.task.id if app.view.task else ""
    options = [
        Option(
            task.id,
            Content.assemble(paint.word(task.status, 10, paint.QUIET), paint.line(task.title, "bold", 200)),
            paint.line(task.contract.objective or task.slug, paint.QUIET, 200),
        )
        for task in app.view.tasks
    ]
    picked = await app.push_screen_wait(Pick("switch to a task", options, at=current))
    if picked is not None and picked != current:
        await asyncio.to_thread(app.desk.use_task, picked)
        app.changed("")


async def look_at_fact(app: WorkbenchApp, fact: str) -> None:
    """Open a fact: settle it where it waits, else show where it comes from."""
    row = next((f for f in app.view.facts if f.fact.id == fact), None) if app.view else None
    if row is None:
        return
    if row.lifecycle in ("proposed", "contested", "challenged") and not app.refusal:
        await settle(app, fact)
    else:
        await app.push_screen_wait(FactScreen(row, app.clock()))
