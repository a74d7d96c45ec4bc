"""Write and edit: a new task, fact or constraint; another wording or value of what is there."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual.content import Content

from workbench.domain.fact import value_text
from workbench.tui import paint
from workbench.tui.desk import Written
from workbench.tui.flows.settle import settle
from workbench.tui.screens.form import Field, FormScreen, Submit
from workbench.tui.screens.pick import Option, Pick

if TYPE_CHECKING:
    from workbench.services.view import FactView
    from workbench.tui.app import WorkbenchApp

KINDS = (
    ("fact", "a fact", "what holds here: a key and its value"),
    ("constraint", "a constraint", "what the current task has to keep to, in every package"),
    ("task", "a task", "a title is enough; the rest can come later"),
)


async def new(app: WorkbenchApp) -> None:
    """Pick what to make, then fill it in."""
    task = app.view.task.task if app.view and app.view.task else None
    options = [
        Option(name, Content.styled(title, "bold"), Content.styled(what, paint.QUIET))
        for name, title, what in KINDS
        if task is not None or name != "constraint"
    ]
    # Where there is no task yet, a task is what is wanted first.
    picked = await app.push_screen_wait(Pick("new", options, at="fact" if task is not None else "task"))
    if picked == "task":
        await _new_task(app)
    elif picked is not None:
        await _new_fact(app, task.id if task is not None and picked == "constraint" else None)


async def _new_task(app: WorkbenchApp) -> None:
    async def submit(typed: Mapping[str, str]) -> Written:
        return await asyncio.to_thread(app.desk.new_task, typed["title"], typed["objective"])

    fields = (
        Field("title", "title", hint="what it is called"),
        Field("objective", "objective", hint="what must be true at the end (may be empty)"),
    )
    await _fill_in(app, "new task", fields, submit)


async def _new_fact(app: WorkbenchApp, task: str | None) -> None:
    async def submit(typed: Mapping[str, str]) -> Written:
        return await asyncio.to_thread(app.desk.new_fact, typed["key"], typed["value"], typed["statement"], task)

    fields = (
        Field("key", "key", hint="a dotted name, like server.port"),
        Field("value", "value", hint="a word, a number, or any JSON"),
        Field("statement", "statement", hint="one readable line (may be empty)"),
    )
    about = "It holds for the current task, and every package states it." if task else ""
    await _fill_in(app, "new constraint" if task else "new fact", fields, submit, about)


async def edit(app: WorkbenchApp, subject: str) -> None:
    """Edit a fact, ``facts/ID``, or a task, ``tasks/ID``, as they stand in the view."""
    kind, _, id_ = subject.partition("/")
    view = app.view
    if view is None:
        return
    if kind == "facts":
        row = next((f for f in view.facts if f.fact.id == id_), None)
        if row is not None:
            await _edit_fact(app, row)
    elif view.task is not None:
        await _edit_task(app)


async def _edit_fact(app: WorkbenchApp, row: FactView) -> None:
    fact = row.fact

    async def submit(typed: Mapping[str, str]) -> Written:
        return await asyncio.to_thread(app.desk.edit_fact, fact.id, fact.version, typed["value"], typed["statement"])

    fields = (Field("value", "value", value_text(fact.value)), Field("statement", "statement", fact.statement))
    about = "It holds: another value is a new fact, which you settle next." if fact.acts else ""
    await _fill_in(app, f"edit {row.key}", fields, submit, about)


async def _edit_task(app: WorkbenchApp) -> None:
    assert app.view is not None
    assert app.view.task is not None
    card = app.view.task
    task = card.task

    async def submit(typed: Mapping[str, str]) -> Written:
        return await asyncio.to_thread(app.desk.edit_task, task.id, task.version, typed["title"], typed["objective"])

    fields = (Field("title", "title", task.title), Field("objective", "objective", task.contract.objective))
    about = "Another objective counts as a new plan revision, and who runs the task now is outdated." * (
        card.running is not None
    )
    await _fill_in(app, f"edit {task.slug}", fields, submit, about)


async def _fill_in(app: WorkbenchApp, title: str, fields: tuple[Field, ...], submit: Submit, about: str = "") -> None:
    written = await app.push_screen_wait(FormScreen(paint.line(title, limit=60).plain, fields, submit, about))
    if written is None:
        return
    app.changed(written.said + ("" if written.settle else "  u takes it back."))
    if written.settle:
        await settle(app, written.settle)
