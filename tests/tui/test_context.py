"""Of the history only what is in the model's context now: C, and back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tui import data
from tests.tui.fake import FakeDesk
from tests.tui.seeing import says, sees, text_of, until
from workbench.resources import data_folder
from workbench.services.view import HistoryView
from workbench.tui import paint
from workbench.tui.app import WorkbenchApp
from workbench.tui.settings import Settings

COMPACTED = 12
"""The number of the message from which on the model has everything before it."""


def compacted() -> HistoryView:
    history = data.history()
    rows = (replace(r, message=r.message.with_(in_context=r.message.seq >= COMPACTED)) for r in history.messages)
    return replace(history, messages=tuple(rows))


@pytest.fixture
def desk() -> FakeDesk:
    made = FakeDesk()
    made.change(history=compacted())
    return made


def numbers(app) -> list[int]:
    return [row.message.seq for row in app.main.history.list.rows]


async def test_the_key_shows_what_is_in_context_and_all_again(opened, desk):
    async with opened(desk) as (app, pilot):
        assert numbers(app)[0] == 1
        await pilot.press("1", "C")
        await sees(pilot, "in context 8 of 19 messages")
        assert numbers(app) == list(range(COMPACTED, 20))
        assert app.main.active == "history"
        await pilot.press("C")
        await sees(pilot, " 19 messages")
        assert "in context" not in text_of(app)
        await pilot.press("C", "escape")
        await sees(pilot, " 19 messages")
        assert len(numbers(app)) == 19


async def test_what_comes_and_what_leaves_the_context_is_followed(opened, desk):
    async with opened(desk) as (app, pilot):
        await pilot.press("C")
        await sees(pilot, "8 of 19")
        rows = desk.shown.history.messages
        new = replace(rows[-1], message=data.says(20, "after the compaction"))
        gone = (replace(row, message=row.message.with_(in_context=False)) for row in rows)
        desk.change(history=replace(desk.shown.history, messages=(*gone, new)))
        app.nudge()
        await sees(pilot, "in context 1 of 20 messages")
        assert numbers(app) == [20]
        desk.change(history=replace(desk.shown.history, messages=desk.shown.history.messages[:-1]))
        app.nudge()
        await sees(pilot, "No message is in the model's context now.")


async def test_a_filter_holds_beside_it(opened, desk):
    async with opened(desk) as (app, pilot):
        await pilot.press("C", "slash", *"the")
        await until(pilot, lambda: app.main.pane.words == "the")
        assert numbers(app)
        assert min(numbers(app)) >= COMPACTED


async def test_a_message_that_is_gone_to_shows_all_again(opened, desk):
    async with opened(desk) as (app, pilot):
        await pilot.press("C")
        await sees(pilot, "8 of 19")
        assert app.main.history.reveal(desk.shown.history.messages[2].message.ref)
        assert len(numbers(app)) == 19
        assert app.main.history.list.current.message.seq == 3


async def test_the_cursor_comes_back_to_where_it_was_left(opened, desk):
    async with opened(desk) as (app, pilot):
        rows = app.main.history.list
        await pilot.press("g", "C")
        await sees(pilot, "8 of 19")
        assert rows.current.message.seq == COMPACTED
        await pilot.press("C")
        await sees(pilot, " 19 messages")
        assert rows.current.message.seq == 1
        await pilot.press("C", "j", "C")
        await sees(pilot, " 19 messages")
        assert rows.current.message.seq == COMPACTED + 1
        await pilot.press("slash", *"no message holds this")
        await until(pilot, lambda: not rows.rows)
        await pilot.press("escape")
        await until(pilot, lambda: len(rows.rows) == 19)
        assert rows.current.message.seq == COMPACTED + 1


async def test_marks_outlast_what_hides_their_rows_and_are_cut(opened, desk):
    async with opened(desk) as (app, pilot):
        rows = app.main.history.list
        app.main.history.reveal(f"{data.SESSION}#m0010")
        await pilot.press("space")
        app.main.history.reveal(f"{data.SESSION}#m0017")
        await pilot.press("space")
        marked = frozenset(f"{data.SESSION}#m00{number}" for number in (10, 17, 18))
        assert rows.marks == marked
        assert "not shown" not in text_of(app)
        await pilot.press("C")
        await sees(pilot, "3 marked, 1 not shown · in context 8 of 19")
        await pilot.press("slash", *"no message holds this")
        await sees(pilot, "3 marked, 3 not shown")
        await pilot.press("enter")
        assert rows.marks == marked
        await pilot.press("t")
        await sees(pilot, "drop 3 messages")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        app.main.history.reveal(f"{data.SESSION}#m0010")
        await pilot.pause()
        assert rows.marks == marked
        assert "not shown" not in text_of(app)


async def test_without_messages_it_says_why_not(opened):
    async with opened(FakeDesk(data.empty_view())) as (_, pilot):
        await pilot.press("C")
        await says(pilot, "There are no messages yet")


@pytest.mark.parametrize("size", [(200, 60), (80, 24), (60, 24)])
def test_looks(snap_compare, size, desk):
    app = WorkbenchApp(desk, Settings(theme_folders=(data_folder("themes"),)), lambda: data.NOW)

    async def ready(pilot):
        await until(pilot, lambda: app.view is not None)
        await pilot.press("C")
        await sees(pilot, "in context")
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=ready)


@pytest.mark.parametrize(("width", "said"), [(80, "8 of 19 messages · {} tokens"), (50, "8 of 19 · {} tokens")])
async def test_the_tokens_are_those_of_what_is_shown(opened, desk, width, said):
    shown = sum(row.tokens for row in desk.view().history.messages if row.message.in_context)
    tokens = f"{shown:,}" if width == 80 else paint.short(shown)
    async with opened(desk, size=(width, 24)) as (_app, pilot):
        await pilot.press("2", "C")
        await sees(pilot, f"in context {said.format(tokens)}")
