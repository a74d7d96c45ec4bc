"""What the model saw: a request in four parts, its neighbours, and the way back to a message."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tui import data
from tests.tui.fake import FakeDesk
from tests.tui.hostile import SHORT, poison
from tests.tui.seeing import says, sees, text_of, until
from workbench.errors import NotFoundError
from workbench.resources import data_folder
from workbench.text import safe
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.request import RequestList, RequestScreen
from workbench.tui.settings import Settings


@pytest.mark.parametrize("size", [(180, 50), (60, 24)])
async def test_the_request_of_the_message_under_the_cursor(opened, desk, size):
    async with opened(desk, size) as (app, pilot):
        stood = app.main.history.list.current_id
        await pilot.press("m")
        await sees(pilot, "what the model saw")
        assert desk.done[-1] == ("request", stood)
        for words in ("request 3 of 3", "instructions", "person", "14,180 not recorded", "by the request"):
            await sees(pilot, words)
        seen = text_of(app)
    assert "\u224814,614" in seen
    if size[0] > 100:
        assert "not recorded: system prompt and tool definitions" in seen
        assert "base instructions: Answer in the language" in seen


async def test_from_one_request_to_the_next_and_no_further(opened, desk):
    async with opened(desk) as (app, pilot):
        await pilot.press("m")
        await sees(pilot, "request 3 of 3")
        await pilot.press("right_square_bracket")
        await pilot.press("left_square_bracket")
        await sees(pilot, "request 2 of 3")
        assert desk.done[-1] == ("request", f"{data.SESSION}#3")
        await pilot.press("left")
        await sees(pilot, "request 1 of 3")
        await pilot.press("right")
        await sees(pilot, "request 2 of 3")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


async def test_enter_goes_to_the_message_in_the_history(opened, desk):
    async with opened(desk) as (app, pilot):
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, RequestScreen))
        rows = app.screen.query_one(RequestList)
        await pilot.press("g")
        assert "not recorded" in rows.current.text
        await pilot.press("enter")  # what is not recorded leads nowhere
        await says(pilot, "not a message")
        await pilot.press("j", "j", "j", "enter")
        await until(pilot, lambda: app.screen is app.main)
        assert app.main.history.list.current.message.seq == 2


async def test_only_what_is_new_has_a_plus(opened, desk):
    async with opened(desk) as (app, pilot):
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, RequestScreen))
        rows = {row.seq: row.new for row in app.screen.query_one(RequestList).rows if row.id}
    assert rows["2"] is False
    assert rows["15"] is True


async def test_it_says_why_there_is_none(opened, desk):
    def none(word):
        raise NotFoundError("no request to show: the file is not on this machine")

    desk.request = none
    async with opened(desk) as (_, pilot):
        await pilot.press("m")
        await says(pilot, "not on this machine")
    async with opened(FakeDesk(data.empty_view())) as (_, pilot):
        await pilot.press("m")
        await says(pilot, "attach a session first")


async def test_hostile_words_are_shown_as_stored(opened, desk, monkeypatch):
    plain = data.request(4)
    async with opened(desk) as (app, pilot):
        for text in SHORT:
            message = plain.messages[1]
            row = replace(message, text=text, message=poison(message.message, text))
            hostile = replace(plain, model=text, basis=text, stated=(), messages=(row,))
            monkeypatch.setattr(desk, "request", lambda _word, found=hostile: found)
            await pilot.press("m")
            await until(pilot, lambda: isinstance(app.screen, RequestScreen))
            await sees(pilot, " ".join(safe(text).split())[:12])
            seen = text_of(app)
            assert not {c for c in seen if (ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0}
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.main)


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
def test_looks(snap_compare, size):
    app = WorkbenchApp(FakeDesk(), Settings(theme_folders=(data_folder("themes"),)), lambda: data.NOW)

    async def ready(pilot):
        await until(pilot, lambda: app.view is not None)
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, RequestScreen))
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=ready)


async def test_every_key_is_named_where_it_is_narrow(opened, desk):
    async with opened(desk, (60, 24)) as (_, pilot):
        await pilot.press("m")
        await sees(pilot, "] next request")
        seen = text_of(pilot.app)
        assert "[ request before" in seen
        assert "esc close" in seen
