"""Trimming by keyboard: mark, see what it saves and in what, cut, take back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tui import data
from tests.tui.seeing import says, sees, text_of, until
from workbench.tui.screens.trim import ACTS, TrimScreen


def refs(*ids: str) -> frozenset[str]:
    return frozenset(f"{data.SESSION}#{id_}" for id_ in ids)


async def test_marking_a_call_marks_its_result_and_shows_the_saving(opened, desk):
    async with opened(desk) as (app, pilot):
        app.main.history.reveal(f"{data.SESSION}#m0017")
        await pilot.press("space")
        await sees(pilot, "2 messages marked")
        assert app.main.history.list.marks == refs("m0017", "m0018")
        assert "2,122 → 270 tokens of this history" in text_of(app)


async def test_a_range_leaves_guidelines_out(opened, desk):
    rows = desk.shown.history.messages
    ruled = (replace(rows[0], fate=replace(rows[0].fate, memory="guideline")), *rows[1:])
    desk.change(history=replace(desk.shown.history, messages=ruled))
    async with opened(desk) as (app, pilot):
        await pilot.press("g", "v", "j", "j", "v")
        await pilot.pause()
        assert app.main.history.list.marks == refs("m0002", "m0003")
        await pilot.press("g", "space")
        await says(pilot, "A guideline is never trimmed")


async def test_the_suggestion_is_marked_with_one_key(opened, desk):
    async with opened(desk) as (app, pilot):
        await pilot.press("a")
        await until(pilot, lambda: app.main.history.list.marks == refs("m0004", "m0005", "m0006", "m0007", "m0008"))
        await pilot.press("escape")
        assert not app.main.history.list.marks


async def test_cutting_the_persons_own_words_needs_a_yes(opened, desk):
    async with opened(desk) as (app, pilot):
        app.main.history.reveal(f"{data.SESSION}#m0010")
        await pilot.press("space", "t")
        await sees(pilot, "A guard stops this unless you type yes: 1 message")
        await pilot.press("enter", "enter")
        await pilot.pause()
        assert isinstance(app.screen, TrimScreen)
        assert not [act for act in desk.done if act[0] == "drop"]
        await pilot.press(*"yes", "enter")
        await until(pilot, lambda: bool(desk.done) and desk.done[-1] == ("drop", tuple(refs("m0010")), "", True))
        await until(pilot, lambda: not app.main.history.list.marks)
        await says(pilot, "u takes it back")


async def test_a_sentence_of_ones_own_takes_the_place(opened, desk):
    async with opened(desk) as (app, pilot):
        app.main.history.reveal(f"{data.SESSION}#m0003")
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, TrimScreen))
        await sees(pilot, "no fact, note or item cites it")
        assert "A warning, which stops nothing" in text_of(app)
        await pilot.press("m", *"short", "enter")
        await until(
            pilot, lambda: bool(desk.done) and desk.done[-1] == ("summarise", tuple(refs("m0003")), "short", False)
        )


async def test_escape_cuts_nothing(opened, desk):
    async with opened(desk) as (app, pilot):
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, TrimScreen))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        assert not desk.done


async def test_undo_says_what_before_it_does(opened, desk):
    async with opened(desk) as (_, pilot):
        await pilot.press("u")
        await sees(pilot, "Takes back  history drop invoice-pdf")
        assert not desk.done
        await pilot.press("enter")
        await until(pilot, lambda: ("undo", "ch1") in desk.done)


async def test_what_was_cut_is_kept_again_with_the_same_key(opened, desk):
    async with opened(desk) as (app, pilot):
        app.main.history.reveal(f"{data.SESSION}#m0005")
        await pilot.press("t")
        await sees(pilot, "of this history stand whole again")
        await pilot.press("enter")
        await until(pilot, lambda: ("restore", (f"{data.SESSION}#m0005",)) in desk.done)


async def test_both_figures_are_told_apart_and_what_goes_is_listed(opened, desk):
    async with opened(desk) as (app, pilot):
        app.main.history.reveal(f"{data.SESSION}#m0017")
        await pilot.press("space", "t")
        await sees(pilot, "2,122 → 270 tokens of this history")
        seen = text_of(app)
        assert "next package for codex, made anew: still 911 tokens" in seen
        assert "1 tool result 1.8k · 1 agent calls 12" in seen
        assert seen.index("1,840  tool") < seen.index("12  agent")
        assert "d m x choose how" in seen
        assert "enter cut: drop 2 messages" in seen
        await pilot.press("x")
        await sees(pilot, "enter cut: externalise 2 messages")


async def test_a_package_that_changes_shows_by_how_much(opened, desk):
    desk.package_figures = ("codex", 1817, 1790)
    async with opened(desk) as (_, pilot):
        await pilot.press("t")
        await sees(pilot, "next package for codex, made anew: 1,817 → 1,790 tokens")


async def test_pending_packages_that_the_cut_makes_stale_are_named_beside_the_same_figure(opened, desk):
    desk.stale_by_cut = ("codex", "gemini", "codex")
    async with opened(desk, (80, 24)) as (app, pilot):
        await pilot.press("t")
        await sees(pilot, "pending packages for codex, gemini count as stale then")
        assert "made anew: still 911 tokens" in text_of(app)


async def test_a_package_that_cannot_be_made_is_said(opened, desk):
    desk.package_figures = None
    async with opened(desk) as (_, pilot):
        await pilot.press("t")
        await sees(pilot, "next package: none can be made as things are")


@pytest.mark.parametrize("size", [(80, 24), (60, 24)])
async def test_what_goes_and_the_three_ways_stand_in_full_on_a_small_screen(opened, desk, size):
    async with opened(desk, size) as (app, pilot):
        app.main.history.reveal(f"{data.SESSION}#m0017")
        await pilot.press("space", "t")
        await sees(pilot, "tokens of this history")
        await sees(pilot, "esc close")
        seen = " ".join(text_of(app).replace("┃", " ").split())
        assert "more," not in seen
        assert "d m x choose how" in seen
        for _act, _key, what in ACTS:
            assert what in seen
