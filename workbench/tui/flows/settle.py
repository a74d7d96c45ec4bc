"""Settle: show old and new, carry out what the person decided."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual.content import Content

from workbench.domain.contested import RUNNING
from workbench.text import one_line
from workbench.tui import paint
from workbench.tui.screens.pick import Option, Pick
from workbench.tui.screens.settle import SettleScreen

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp


async def settle(app: WorkbenchApp, fact: str) -> bool:
    """Settle one fact; whether something was decided."""
    settling = await asyncio.to_thread(app.desk.settlement, fact)
    answer = await app.push_screen_wait(SettleScreen(settling, app.clock()))
    if answer is None:
        return False
    if answer.message:
        go_to_message(app, answer.message)
        return False
    if answer.same_as:
        app.changed(await asyncio.to_thread(app.desk.join_keys, settling.proposal.key, answer.same_as))
        return await settle(app, fact)
    if answer.task is not None:
        said = await asyncio.to_thread(app.desk.keep_both, answer.fact, settling.expect, answer.task)
    elif answer.confirm:
        said = await asyncio.to_thread(app.desk.confirm, answer.fact, settling.expect, answer.value)
    else:
        said = await asyncio.to_thread(app.desk.reject, answer.fact, answer.why)
    app.changed(said + "  u takes it back.")
    return True


async def settle_contest(app: WorkbenchApp, title: str) -> None:
    """Show what merged copies say of a field; the one that is picked stands from then on."""
    row = next((row for row in app.view.contests if row.title == title), None) if app.view else None
    if row is None:
        return
    claims = await asyncio.to_thread(app.desk.claims, row)
    options = [
        Option(
            str(number),
            Content.assemble(
                paint.line(shown.text, "bold", 300), ("  stands now", paint.QUIET) if shown.stands else ""
            ),
            paint.line(shown.said or "changed by hand", paint.QUIET, 300),
        )
        for number, shown in enumerate(claims)
    ]
    ends = " The attempts of the others end." if row.field == RUNNING else ""
    note = Content.styled(f"Two merged copies had changed it, each in its way.{ends}", paint.QUIET)
    picked = await app.push_screen_wait(Pick(f"settle {one_line(row.title, 60)}", options, note=note))
    if picked is not None:
        app.changed(await asyncio.to_thread(app.desk.settle_contest, row, claims[int(picked)].claim))


def go_to_message(app: WorkbenchApp, ref: str) -> None:
    """Put the cursor of the history on a message, where the task's sessions hold it."""
    if app.main.history.reveal(ref):
        app.main.action_pane("history")
    else:
        app.say("That message is in a session that is not attached to this task, or not on this machine.")
