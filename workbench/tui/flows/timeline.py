"""Look at what happened to a record, and bring it back to what it was; first what would change, then enter."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual.content import Content

from workbench.tui import paint
from workbench.tui.screens.ask import Confirm
from workbench.tui.screens.timeline import TimelineScreen

if TYPE_CHECKING:
    from workbench.services.rollback import Plan
    from workbench.tui.app import WorkbenchApp

FIELDS_SHOWN = 14


async def timeline(app: WorkbenchApp, subject: str) -> None:
    """Show the timeline of ``KIND/ID``; where a change is picked, offer to go back to it."""
    kind, _, record = subject.partition("/")
    steps = await asyncio.to_thread(app.desk.timeline, kind, record)
    screen = TimelineScreen(_name(app, record), steps, app.clock(), app.refusal)
    picked = await app.push_screen_wait(screen)
    if picked is None:
        return
    plan = await asyncio.to_thread(app.desk.plan_rollback, record, picked.change)
    if not plan.entries:
        app.say("It is so already.")
    elif await app.push_screen_wait(Confirm("as it was then", _shown(plan), "bring it back")):
        app.changed(await asyncio.to_thread(app.desk.roll_back, plan) + "  u takes it back.")


def _name(app: WorkbenchApp, record: str) -> str:
    view = app.view
    for row in view.facts if view is not None else ():
        if row.fact.id == record:
            return row.key
    return view.task.task.title if view is not None and view.task is not None else record


def _shown(plan: Plan) -> Content:
    rows = [Content("This changes, by a change that is itself recorded:")]
    lines = [field.line for entry in plan.entries for field in entry.differences]
    rows += [Content.assemble(("· ", paint.QUIET), paint.line(line, limit=300)) for line in lines[:FIELDS_SHOWN]]
    if len(lines) > FIELDS_SHOWN:
        rows.append(Content.styled(f"and {paint.plural(len(lines) - FIELDS_SHOWN, 'more field')}", paint.QUIET))
    return paint.stack(rows)
