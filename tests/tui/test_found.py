"""The review list: read and decided by keyboard alone, at any size, and quiet while a person does something else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tui import data
from tests.tui.fake import FakeDesk
from tests.tui.hostile import SHORT
from tests.tui.seeing import lines_of, says, sees, text_of, until
from workbench.errors import VersionConflictError
from workbench.resources import data_folder
from workbench.services.reviewing import Review
from workbench.text import safe
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.found import FoundScreen
from workbench.tui.settings import Settings
from workbench.tui.widgets.found_list import FoundList
from workbench.tui.widgets.pane import FilterLine


async def at_the_list(app, pilot):
    await pilot.press("i")
    await until(pilot, lambda: isinstance(app.screen, FoundScreen) and app.screen.shown is not None)
    await pilot.pause()


@pytest.mark.parametrize("size", [(200, 60), (80, 24), (60, 24)])
async def test_what_who_when_where_and_what_it_would_replace(opened, desk, size):
    async with opened(desk, size) as (app, pilot):
        await at_the_list(app, pilot)
        seen = text_of(app)
        for words in ("2 to look at", "landscape → portrait", "“Make it portrait instead, A4.”", "you · 09:10 · en"):
            assert words in seen
        for words in ("replaces landscape", "holds already", "kept without asking", "14 sentences, 64% process"):
            assert words in seen
        await pilot.press("G")
        await pilot.pause()
        assert "subset the font" in text_of(app)
        assert all(len(line) <= size[0] for line in lines_of(app))


async def test_each_act_is_one_key_and_the_list_stays(opened, desk):
    async with opened(desk) as (app, pilot):
        await at_the_list(app, pilot)
        await pilot.press("enter")
        await until(pilot, lambda: ("accept_found", "f0portrait", None) in desk.done)
        await says(pilot, "u takes it back")
        await sees(pilot, "1 to look at")
        await pilot.press("x")
        await sees(pilot, "in other words either")
        await pilot.press(*"old", "enter")
        await until(pilot, lambda: ("refuse_found", "f0aligned0", "old") in desk.done)
        await sees(pilot, "nothing waits for you")
        assert text_of(app).lower().count("nothing waits for you") == 1
        await pilot.press("j", "e")
        await sees(pilot, "edit and keep")
        await pilot.press("space", "U", "I", "enter")
        await until(pilot, lambda: ("accept_found", "f0cents000", "integer cents UI") in desk.done)
        await pilot.press("u")
        await sees(pilot, "Takes back  history drop")
        await pilot.press("enter")
        await until(pilot, lambda: ("undo", "ch1") in desk.done)
        await until(pilot, lambda: isinstance(app.screen, FoundScreen))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


async def test_skip_keep_both_and_side_by_side(opened, desk):
    async with opened(desk) as (app, pilot):
        await at_the_list(app, pilot)
        await pilot.press("s")
        await sees(pilot, "what rests on it")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, FoundScreen) and not app.screen._busy)
        await pilot.press("b")
        await until(pilot, lambda: ("keep_both_found", "f0portrait") in desk.done)
        await sees(pilot, "1 to look at")
        await pilot.press("b")
        await says(pilot, "There is no other value")
        await pilot.press("space")
        await until(pilot, lambda: ("skip_found", "f0aligned0") in desk.done)
        await sees(pilot, "nothing waits")
        await pilot.press("space")
        await says(pilot, "Nobody asks about this line")


async def test_the_message_is_one_key_away(opened, desk):
    async with opened(desk) as (app, pilot):
        await at_the_list(app, pilot)
        await pilot.press("m")
        await until(pilot, lambda: app.main.history.list.current.message.id == "m0010")


async def test_words_narrow_the_rest_and_escape_clears_them_first(opened, desk):
    async with opened(desk) as (app, pilot):
        await at_the_list(app, pilot)
        await pilot.press("slash", *"金额", "enter")
        await pilot.pause()
        rows = app.screen.query_one(FoundList)
        assert [row.id for row in rows.rows] == ["f0cents000"]
        await pilot.press("escape")
        await pilot.pause()
        assert len(rows.rows) == 5
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


async def test_read_only_shows_and_decides_nothing(opened):
    desk = FakeDesk(refusal="This workspace was opened with --read-only.")
    async with opened(desk) as (app, pilot):
        await at_the_list(app, pilot)
        for key in ("enter", "e", "x", "space", "u"):
            app.clear_notifications()
            await pilot.press(key)
            await says(pilot, "--read-only")
        assert isinstance(app.screen, FoundScreen)
        assert not desk.done


async def test_a_line_that_changed_meanwhile_is_explained_and_the_list_stays(opened, desk):
    def late(one, typed=None):
        raise VersionConflictError("the active fact is square", "look again, then confirm")

    desk.accept_found = late
    async with opened(desk) as (app, pilot):
        await at_the_list(app, pilot)
        await pilot.press("enter")
        await says(pilot, "the active fact is square")
        assert isinstance(app.screen, FoundScreen)


async def test_nothing_moves_while_a_person_types_or_reads(opened, desk):
    async with opened(desk) as (app, pilot):
        await pilot.press("3", "G")
        await pilot.pause()
        rows = app.main.facts.list
        stood = rows.current_id
        await pilot.press("u")
        await sees(pilot, "Takes back")
        shown = text_of(app)
        new = replace(desk.shown.facts[0], fact=desk.shown.facts[0].fact.with_(id="f0new00000"), key="a.new.one")
        desk.change(facts=(new, *desk.shown.facts), offered=3)
        app.nudge()
        await until(pilot, lambda: app.view.offered == 3)
        await pilot.pause()
        assert "Takes back" in text_of(app)
        assert not app._notifications
        assert [text for text in shown.splitlines() if "Takes back" in text] == [
            text for text in text_of(app).splitlines() if "Takes back" in text
        ]
        await pilot.press("escape")
        await sees(pilot, "3 found")
        assert rows.current_id == stood


def arrives(desk, app, offered=(), rest=(), without=()):
    """Something is heard, or decided elsewhere, while the list is open."""
    kept = tuple(one for one in desk.found.offered if one.id not in without)
    desk.found = replace(desk.found, offered=(*offered, *kept), rest=(*rest, *desk.found.rest))
    desk.change(offered=len(desk.found.offered))
    app.nudge()


def line_of_cursor(app):
    return next(number for number, line in enumerate(lines_of(app)) if "▌" in line)


@pytest.mark.parametrize("size", [(120, 40), (60, 24)])
@pytest.mark.parametrize("down", [0, 1, 2, 4])
async def test_what_arrives_is_shown_and_the_line_under_the_cursor_stays(opened, desk, size, down):
    many = tuple(replace(one, id=f"{one.id}{n}") for n in range(12) for one in desk.found.rest)
    desk.found = replace(desk.found, rest=many)
    async with opened(desk, size) as (app, pilot):
        await at_the_list(app, pilot)
        await pilot.press(*["j"] * down)
        await pilot.pause()
        rows = app.screen.query_one(FoundList)
        stood, line = rows.current_id, line_of_cursor(app)
        new = replace(desk.found.offered[0], id="f0new00000", text="ink = black")
        arrives(desk, app, offered=(new,), rest=(replace(desk.found.rest[0], id="f0rest0000"),))
        await sees(pilot, "3 to look at")
        await pilot.pause()
        assert (rows.current_id, line_of_cursor(app)) == (stood, line)
        assert {"f0new00000", "f0rest0000"} <= {row.id for row in rows.rows}


async def test_what_arrives_disturbs_no_typing_and_no_decision(opened, desk):
    async with opened(desk) as (app, pilot):
        await at_the_list(app, pilot)
        first = desk.found.offered[0]
        new = replace(first, id="f0new00000", text="ink = black")
        await pilot.press("slash", *"forma")
        arrives(desk, app, offered=(new,))
        await sees(pilot, "3 to look at")
        await pilot.press("t")
        await pilot.pause()
        assert app.screen.query_one(FilterLine).value == "format"
        assert app.screen.query_one(FilterLine).has_focus
        await pilot.press("escape", "g", "e")
        await sees(pilot, "edit and keep")
        # Another process decides about the line that is being edited: the words are not put upon another line.
        arrives(desk, app, without=(first.id,))
        await until(pilot, lambda: first.id not in {one.id for one in app.screen_stack[-2].shown.offered})
        await pilot.press("X", "Y", "enter")
        await until(pilot, lambda: any(row[0] == "accept_found" for row in desk.done))
        (done,) = (row for row in desk.done if row[0] == "accept_found")
        assert done[1] == first.id
        assert str(done[2]).endswith("XY")


@pytest.mark.parametrize("size", [(200, 60), (80, 24), (60, 24)])
async def test_every_key_stands_in_the_footer(opened, desk, size):
    async with opened(desk, size) as (app, pilot):
        await at_the_list(app, pilot)
        footer = "\n".join(lines_of(app)[-6:])
        for key in ("enter keep", "e edit", "x refuse", "space skip", "u undo", "m message", "/ search", "esc close"):
            assert f" {key} " in footer
        assert any(word in footer for word in ("s side by side", "s compare"))
        assert any(word in footer for word in ("b keep both", "b both"))
        assert "times smaller" in footer


async def test_finds_that_nobody_is_asked_about_appear_only_for_their_words(opened, desk):
    rows = desk.shown.facts
    desk.change(facts=(*rows[:3], replace(rows[3], asked=False), *rows[4:]))
    async with opened(desk) as (app, pilot):
        assert "pdf.font" not in text_of(app)
        assert "5 facts" in text_of(app)
        await pilot.press("3", "slash", *"noto", "enter")
        await sees(pilot, "pdf.font")


async def test_an_empty_list_says_what_would_fill_it(opened, desk):
    desk.found = Review((), (), 0, replace(desk.found.heard, sentences=0))
    async with opened(desk, (60, 24)) as (app, pilot):
        await at_the_list(app, pilot)
        assert "is read as it is written" in text_of(app)


@pytest.mark.parametrize("size", [(120, 40), (40, 12), (1, 1)])
async def test_hostile_lines_are_shown_as_they_are(opened, desk, size):
    text = "".join(SHORT)
    offered = tuple(
        replace(one, quote=text, text=text, by=text, ref=f"{text}#{text}", kind="fact") for one in desk.found.offered
    )
    desk.found = replace(desk.found, offered=offered, rest=tuple(replace(one, text=text) for one in desk.found.rest))
    async with opened(desk, size) as (app, pilot):
        await at_the_list(app, pilot)
        await pilot.press("G", "g", "x", "escape", "e", "escape")
        await pilot.pause()
        seen = text_of(app)
    assert "\x1b" not in seen
    assert size[0] < 60 or safe("[red]")[:5] in seen


@pytest.mark.parametrize("size", [(200, 40), (80, 24), (60, 24)])
def test_looks(snap_compare, size):
    app = WorkbenchApp(FakeDesk(), Settings(theme_folders=(data_folder("themes"),)), lambda: data.NOW)

    async def ready(pilot):
        await until(pilot, lambda: app.view is not None)
        await at_the_list(app, pilot)

    assert snap_compare(app, terminal_size=size, run_before=ready)
