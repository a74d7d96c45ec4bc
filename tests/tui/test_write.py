"""Writing by keyboard: a few lines, what is wrong with them in place, and the workspace asked once."""

from __future__ import annotations

import threading

from tests.tui import data
from tests.tui.fake import FakeDesk
from tests.tui.seeing import says, sees, text_of, until
from workbench.tui.screens.form import FormScreen
from workbench.tui.screens.pick import Pick


async def form(pilot, *keys) -> None:
    await pilot.press(*keys)
    await until(pilot, lambda: isinstance(pilot.app.screen, FormScreen))
    await pilot.pause()


async def test_a_new_fact(opened, desk):
    async with opened(desk) as (_, pilot):
        await form(pilot, "plus", "enter")
        await pilot.press(*"port", "tab", *"80", "tab", *"ours", "enter")
        await until(pilot, lambda: ("new_fact", "port", "80", "ours", None) in desk.done)
        await says(pilot, "It is written. u takes it back.")


async def test_a_constraint_belongs_to_the_task(opened, desk):
    async with opened(desk) as (_, pilot):
        await form(pilot, "plus", "j", "enter")
        await pilot.press(*"a.b", "down", *"1", "enter")
        await until(pilot, lambda: ("new_fact", "a.b", "1", "", data.TASK_ID) in desk.done)


async def test_the_first_task(opened):
    desk = FakeDesk(data.empty_view())
    async with opened(desk) as (_, pilot):
        await form(pilot, "plus", "enter")
        await pilot.press(*"Fix", "enter")
        await until(pilot, lambda: ("new_task", "Fix", "") in desk.done)


async def test_what_is_refused_stays_to_be_put_right(opened, desk):
    desk.wrong = "'a b' is not a key"
    async with opened(desk) as (app, pilot):
        await form(pilot, "plus", "enter")
        await pilot.press("x", "tab", "1", "enter")
        await sees(pilot, "× 'a b' is not a key")
        assert "write it otherwise" in text_of(app)
        desk.wrong = ""
        await pilot.press("enter")
        await until(pilot, lambda: ("new_fact", "x", "1", "", None) in desk.done)


async def test_a_fact_is_edited_as_it_was_seen(opened, desk):
    async with opened(desk) as (_, pilot):
        await form(pilot, "3", "e")
        await pilot.press(*"s", "tab", "enter")
        wanted = ("edit_fact", "f0portrait", 1, "portraits", "Invoices are exported in portrait, A4")
        await until(pilot, lambda: wanted in desk.done)


async def test_the_task_is_edited(opened, desk):
    async with opened(desk) as (_, pilot):
        await form(pilot, "1", "e")
        await sees(pilot, "counts as a new plan revision")
        await pilot.press("s", "enter")
        objective = data.task().contract.objective
        await until(pilot, lambda: ("edit_task", data.TASK_ID, 1, "Invoices as PDFs", objective) in desk.done)


async def test_there_is_nothing_to_edit_in_the_history(opened, desk):
    async with opened(desk) as (app, pilot):
        await pilot.press("e")
        await says(pilot, "e edits a fact")
        assert app.screen is app.main


async def test_escape_writes_nothing(opened, desk):
    async with opened(desk) as (app, pilot):
        await pilot.press("plus")
        await until(pilot, lambda: isinstance(app.screen, Pick))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        assert not desk.done


async def test_a_key_while_another_writes_is_not_lost_without_a_word(opened, desk, monkeypatch):
    free = threading.Event()
    monkeypatch.setattr(desk, "undo", lambda change: free.wait(30) and "Taken back.")
    async with opened(desk) as (app, pilot):
        await pilot.press("u")
        await sees(pilot, "take it back")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main)
        await pilot.press("u")
        await says(pilot, "press the key again after it")
        await pilot.press("q")
        await says(pilot, "the workbench ends after it")
        assert app.is_running
        free.set()
        await until(pilot, lambda: app._exit)
        assert app.return_value == 0
