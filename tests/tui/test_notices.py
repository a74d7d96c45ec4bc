"""Notices: one at a time, at the top, where no key line stands; and settings and workspace complain together."""

from __future__ import annotations

import pytest

from tests.tui.fake import FakeDesk
from tests.tui.seeing import lines_of, says, sees, text_of, until
from workbench.resources import data_folder
from workbench.tui.settings import Settings


@pytest.mark.parametrize("size", [(100, 30), (80, 24), (60, 24)])
async def test_a_notice_leaves_the_keys_of_the_open_dialog_in_sight(opened, desk, size):
    async with opened(desk, size) as (app, pilot):
        for key in ("u", "t", "H"):
            await pilot.press(key)
            await until(pilot, lambda: app.screen is not app.main and "esc close" in text_of(app))
            keys = next(line for line in lines_of(app) if "esc close" in line)
            app.say("A sentence that is said while a dialog is open, and takes its room.")
            await sees(pilot, "A sentence that is said")
            assert keys in lines_of(app)
            app.clear_notifications()
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.main)


async def test_what_was_said_before_goes_when_the_next_thing_is_said(opened, desk):
    async with opened(desk, (80, 24)) as (app, pilot):
        app.say("dropped 2 messages. u takes it back.")
        await sees(pilot, "u takes it back")
        app.say("Taken back.")
        await sees(pilot, "Taken back")
        await until(pilot, lambda: "u takes it back" not in text_of(app))
        assert [note.message for note in app._notifications] == ["Taken back."]


async def test_complaints_of_settings_and_of_the_workspace_stand_together(opened):
    desk = FakeDesk()
    desk.change(warnings=("one", "two", "three", "four"))
    settings = Settings(keymap={"nonsense": "x"}, theme_folders=(data_folder("themes"),))
    async with opened(desk, settings=settings) as (app, pilot):
        await says(pilot, "and 1 more warnings")
        (note,) = app._notifications
        assert note.message.startswith("keymap: there is no key named nonsense\none\ntwo\nthree\n")


async def test_each_notice_stands_where_the_one_before_it_stood(opened, desk):
    async with opened(desk, (80, 24)) as (app, pilot):
        for words in ("first of them", "second of them", "third of them"):
            app.say(words)
            await until(pilot, lambda words=words: words in lines_of(app)[0])
            await pilot.press("H", "escape")
            await until(pilot, lambda: app.screen is app.main)
