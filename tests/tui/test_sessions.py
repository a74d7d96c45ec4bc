"""The sessions of agents: found while typing, attached with enter, joined by themselves with a line that says so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tui import data
from tests.tui.fake import FakeDesk
from tests.tui.hostile import SHORT
from tests.tui.seeing import lines_of, says, sees, text_of, until
from workbench.errors import RefusedError
from workbench.text import safe
from workbench.tui import looking
from workbench.tui.screens.sessions import SessionsScreen


async def picker(app, pilot):
    await pilot.press("S")
    await until(pilot, lambda: isinstance(app.screen, SessionsScreen) and bool(app.screen.lines.rows))
    await pilot.pause()
    return app.screen


@pytest.mark.parametrize("size", [(200, 60), (80, 24), (60, 24)])
async def test_each_session_is_told_at_any_size(opened, desk, size):
    async with opened(desk, size) as (app, pilot):
        await picker(app, pilot)
        seen = text_of(app)
        for words in (
            "agents' sessions here",
            "● claude",
            "○ codex",
            "Export invoices as PDF/A",
            "belongs to this task",
            "begun in the same worktree after",
            "of task archive-fonts",
            "no prompt so far",
            "4 sessions",
            "enter",
        ):
            assert words in seen
        assert all(len(line) <= size[0] for line in lines_of(app))


async def test_typing_narrows_and_enter_attaches_and_follows(opened, desk):
    async with opened(desk) as (app, pilot):
        screen = await picker(app, pilot)
        await pilot.press(*"portrait")
        await sees(pilot, "1 of 4 sessions")
        assert [row.name for row in screen.lines.rows] == ["claude:9a2b"]
        await pilot.press("enter")
        await until(pilot, lambda: ("attach", data.TASK_ID, "claude:9a2b") in desk.done)
        await says(pilot, "The session belongs to the task now")
        rows = app.main.history.list
        await until(pilot, lambda: rows.has_focus and rows.cursor == len(rows.rows) - 1)


async def test_what_is_offered_is_under_the_cursor_and_esc_changes_nothing(opened, desk):
    async with opened(desk) as (app, pilot):
        screen = await picker(app, pilot)
        assert screen.lines.current_id == "claude:9a2b"
        await pilot.press("down")
        assert screen.lines.current_id == "codex:019a"
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        assert not desk.done


async def test_one_of_this_task_is_shown_and_one_of_another_is_left_to_it(opened, desk):
    async with opened(desk) as (app, pilot):
        await picker(app, pilot)
        await pilot.press("up")
        await sees(pilot, "enter show")
        await pilot.press("enter")
        await until(pilot, lambda: app.main.history.list.has_focus)
        assert app.main.history.list.current.message.session == data.SESSION
        await picker(app, pilot)
        await pilot.press("down", "enter")
        await says(pilot, "belongs to the task archive-fonts")
        assert not desk.done


async def test_words_that_no_session_holds_say_so(opened, desk):
    async with opened(desk) as (app, pilot):
        await picker(app, pilot)
        await pilot.press(*"zzz")
        await sees(pilot, "No session holds these words")
        await pilot.press("enter")
        assert isinstance(app.screen, SessionsScreen)


async def test_an_empty_list_says_what_would_fill_it(opened, desk):
    desk.sessions_here = ()
    async with opened(desk, (60, 24)) as (_app, pilot):
        await pilot.press("S")
        await sees(pilot, "No agent has a session for this repository")


async def test_a_failure_is_said_in_the_list(opened, desk):
    def fail(task):
        raise RefusedError("the cache is a door", "close it")

    desk.sessions = fail
    async with opened(desk) as (_app, pilot):
        await pilot.press("S")
        await sees(pilot, "the cache is a door")


@pytest.mark.parametrize("text", SHORT)
async def test_titles_are_data(opened, desk, text):
    desk.sessions_here = tuple(
        replace(row, title=text + "T", worktree=text, task=row.task and text) for row in data.SESSIONS
    )
    async with opened(desk, (120, 40)) as (app, pilot):
        await picker(app, pilot)
        seen = text_of(app)
        assert not set("\x1b\x9b\x07\x08\u202e\udc80\x00") & set(seen)
        assert " ".join(safe(text + "T").split()) in seen.replace("\n", " ")


async def test_read_only_shows_them_and_attaches_none(opened):
    desk = FakeDesk(refusal="This workspace was opened with --read-only.")
    async with opened(desk) as (app, pilot):
        await picker(app, pilot)
        await pilot.press("enter")
        await says(pilot, "opened with --read-only")
        assert not desk.done


async def test_without_a_task_it_says_what_to_do(opened):
    async with opened(FakeDesk(data.empty_view())) as (app, pilot):
        await pilot.press("S")
        await says(pilot, "+ makes one")
        assert app.screen is app.main


async def test_one_that_joins_by_itself_is_said(opened, desk, monkeypatch):
    monkeypatch.setattr(looking, "PULSE", 0.01)
    desk.joining = ["joined: claude's new session “[b]x”, begun by /clear after claude:7d1e. u takes it back."]
    async with opened(desk) as (_app, pilot):
        await says(pilot, "joined: claude's new session “[b]x”")
