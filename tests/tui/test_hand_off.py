"""Handing off by keyboard: agent, package, launch, follow; nothing is sent before the last enter."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import pytest

from tests.tui import data
from tests.tui.seeing import lines_of, says, sees, text_of, until
from workbench.domain.package import Difference
from workbench.tui.desk import Choice
from workbench.tui.screens.follow import FollowScreen
from workbench.tui.screens.launch import LaunchScreen, WayList
from workbench.tui.screens.package import PackageScreen
from workbench.tui.screens.pick import Pick
from workbench.tui.screens.settle import SettleScreen


async def screen(pilot, kind) -> None:
    await until(pilot, lambda: isinstance(pilot.app.screen, kind))
    await pilot.pause()


async def to_package(pilot) -> None:
    await pilot.press("H")
    await screen(pilot, Pick)
    await pilot.press("enter")
    await screen(pilot, PackageScreen)


async def test_four_keys_to_a_followed_launch(opened, desk):
    async with opened(desk) as (app, pilot):
        await to_package(pilot)
        await pilot.press("enter")
        await screen(pilot, LaunchScreen)
        assert 'codex "Read the file /out/prompt.md' in text_of(app)
        assert not [act for act in desk.done if act[0] == "hand_over"]
        await pilot.press("enter")
        await screen(pilot, FollowScreen)
        assert ("prepare", Choice("codex"), "pk1stale00") in desk.done
        assert ("hand_over", "pk3new0000", "copy", None) in desk.done
        await sees(pilot, "◔ waiting")
        seen = text_of(app)
        assert "for you to start Codex" in seen
        assert "was started" not in seen
        assert "not observed yet" in seen
        app.clear_notifications()
        await pilot.press("y")
        await says(pilot, "the command that starts Codex")
        assert app.clipboard.startswith("run cd /repo/billing")
        desk.change(packages=(data.package("pk3new0000", "received", "codex"),))
        app.nudge()
        await sees(pilot, "✓ received")
        assert "✓ launched" in text_of(app)


async def test_installed_agents_come_first_and_the_last_one_is_under_the_cursor(opened, desk):
    desk.last = Choice("mine", 2048)
    async with opened(desk) as (app, pilot):
        await pilot.press("H")
        await screen(pilot, Pick)
        seen = text_of(app)
        assert seen.index("Codex") < seen.index("mine") < seen.index("Claude Code")
        assert "not installed here" in seen
        await pilot.press("enter")
        await screen(pilot, PackageScreen)
        assert ("draft", Choice("mine", 2048)) in desk.done


async def test_rows_are_left_out_pinned_and_repacked_at_once(opened, desk):
    async with opened(desk) as (_app, pilot):
        await to_package(pilot)
        await pilot.press("space")
        await says(pilot, "What is required cannot be left out")
        await pilot.press("j", "j", "j", "space")
        await until(pilot, lambda: ("draft", Choice("codex", None, frozenset(), frozenset({"row3"}))) in desk.done)
        await sees(pilot, "left out by person")
        await pilot.press("G", "p")
        await until(pilot, lambda: desk.done[-1][1].pins == {"row10"})
        await sees(pilot, "[^]")
        await pilot.press("plus")
        await until(pilot, lambda: desk.done[-1][1].budget == 1280)
        await sees(pilot, "of 1,280 tokens")


async def test_the_prompt_is_read_before_it_goes(opened, desk):
    async with opened(desk) as (_, pilot):
        await to_package(pilot)
        await pilot.press("tab")
        await sees(pilot, "Objective: Export invoices as PDF/A")
        await pilot.press("tab")
        await sees(pilot, "compiled just now")


async def test_a_blocked_package_does_not_go_on(opened, desk):
    desk.last = Choice("codex", 100)
    async with opened(desk) as (app, pilot):
        await to_package(pilot)
        await sees(pilot, "blocked: what is required exceeds the budget")
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, PackageScreen)


async def test_what_is_challenged_is_settled_in_place(opened, desk):
    async with opened(desk) as (_app, pilot):
        await to_package(pilot)
        await sees(pilot, "1 fact to settle")
        await pilot.press("s")
        await screen(pilot, SettleScreen)
        await pilot.press("enter")
        await screen(pilot, PackageScreen)
        await until(pilot, lambda: any(act[0] == "confirm" for act in desk.done))


async def test_a_difference_stops_until_it_is_overridden_with_a_reason(opened, desk):
    desk.differences = (Difference(code="file_changed", subject="src/a.py", was="1", now="2"),)
    async with opened(desk) as (app, pilot):
        await to_package(pilot)
        await pilot.press("enter")
        await screen(pilot, LaunchScreen)
        assert "file changed  src/a.py" in text_of(app)
        await pilot.press("enter")
        await says(pilot, "o goes on all the same")
        await pilot.press("o")
        await sees(pilot, "it was overridden is recorded")
        await pilot.press(*"fine", "enter")
        await screen(pilot, FollowScreen)
        assert ("hand_over", "pk3new0000", "copy", "fine") in desk.done


async def test_a_stale_package_is_recompiled_in_its_place(opened, desk):
    async with opened(desk) as (_, pilot):
        await pilot.press("4", "j", "enter")
        await screen(pilot, PackageScreen)
        await sees(pilot, "2 differences since it was compiled")
        await pilot.press("r")
        await until(pilot, lambda: pilot.app.screen.query("#manifest") and not pilot.app.screen.stored)
        await pilot.press("enter")
        await screen(pilot, LaunchScreen)
        assert ("prepare", Choice("codex"), "pk1stale00") in desk.done


@pytest.mark.parametrize("size", [(180, 50), (60, 24)])
async def test_the_key_that_hands_off_renews_the_stale_package_under_the_cursor(opened, desk, size):
    async with opened(desk, size) as (app, pilot):
        await pilot.press("4", "j")
        await sees(pilot, "H renew it")
        await pilot.press("H")
        await screen(pilot, PackageScreen)
        await pilot.press("enter")
        await screen(pilot, LaunchScreen)
        assert ("prepare", Choice("codex"), "pk1stale00") in desk.done
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await pilot.press("2")
        await sees(pilot, "H hand off")


async def test_heads_keep_their_columns_when_the_rows_come_back(opened, desk):
    async with opened(desk, (80, 24)) as (app, pilot):
        await to_package(pilot)
        head = next(line for line in lines_of(app) if "tokens" in line and "what" in line)
        await pilot.press("tab", "tab", "tab")
        await sees(pilot, "[rows]")
        await pilot.pause()
        assert head in lines_of(app)


async def test_no_key_and_no_way_is_cut_where_it_is_narrow(opened, desk):
    async with opened(desk, (60, 24)) as (app, pilot):
        await to_package(pilot)
        for words in ("enter go on", "space take", "+/- budget", "tab prompt", "esc close"):
            assert words in text_of(app)
        await pilot.press("enter")
        await screen(pilot, LaunchScreen)
        await sees(pilot, "esc close")
        seen = " ".join(text_of(app).replace("┃", " ").replace("▌", " ").split())
        for offer in desk.offers("pk3new0000"):
            assert (offer.why_not or offer.note) in seen


async def test_a_failed_launch_is_explained_with_a_way_on(opened, desk):
    desk.failure = "codex was not started: HEAD moved"
    async with opened(desk) as (_, pilot):
        await to_package(pilot)
        await pilot.press("enter")
        await screen(pilot, LaunchScreen)
        await pilot.press("j", "enter")
        await screen(pilot, FollowScreen)
        await sees(pilot, "codex was not started: HEAD moved")
        await sees(pilot, "Nothing is lost")


async def test_a_way_that_is_not_there_says_why(opened, desk):
    async with opened(desk) as (app, pilot):
        await to_package(pilot)
        await pilot.press("enter")
        await screen(pilot, LaunchScreen)
        await pilot.press("G", "enter")
        await pilot.pause()
        assert isinstance(app.screen, LaunchScreen)
        assert "this terminal is not in tmux" in text_of(app)


async def test_leaving_the_launch_keeps_the_package(opened, desk):
    async with opened(desk) as (_, pilot):
        await to_package(pilot)
        await pilot.press("enter")
        await screen(pilot, LaunchScreen)
        await pilot.press("escape")
        await says(pilot, "The package waits in the packages pane")


async def test_rejecting_a_package_asks_why(opened, desk):
    async with opened(desk) as (_, pilot):
        await pilot.press("4", "enter")
        await screen(pilot, PackageScreen)
        await pilot.press("x")
        await sees(pilot, "It stays on record")
        await pilot.press(*"no", "enter")
        await until(pilot, lambda: ("reject_package", "pk2pending", "no") in desk.done)


async def test_only_what_was_started_is_called_so(opened, desk):
    desk.ways = ("foreground",)
    desk.left = "the attempt of codex, never seen to begin, was cancelled"
    desk.observed = False
    async with opened(desk) as (app, pilot):
        app.suspend = nullcontext
        await to_package(pilot)
        await pilot.press("enter")
        await screen(pilot, LaunchScreen)
        await pilot.press("enter")
        await screen(pilot, FollowScreen)
        await sees(pilot, "✓ launched")
        seen = text_of(app)
    assert "Codex was started" in seen
    assert "the attempt of codex, never seen to begin, was cancelled; the new attempt is reserved" in seen
    assert "Codex's sessions are not read yet: its arrival is not observed" in seen
    assert "found by itself" not in seen


async def test_the_first_way_that_works_is_under_the_cursor(opened, desk):
    offers = desk.offers("pk1stale00")
    desk.offers = lambda package: (replace(offers[0], way="tmux", why_not="not inside tmux"), *offers)
    async with opened(desk) as (app, pilot):
        await to_package(pilot)
        await pilot.press("enter")
        await screen(pilot, LaunchScreen)
        assert app.screen.query_one(WayList).current_id == "copy"


async def test_every_difference_can_be_seen_in_words(opened, desk):
    many = [Difference(code="file_changed", subject=f"src/file{n}.py", was="1ab", now="2cd") for n in range(20)]
    moved = Difference(
        code="attempt_not_current", subject="running attempt", was="at2rwns000 by agent:claude", now=None
    )
    desk.differences = (moved, *many)
    async with opened(desk, (80, 24)) as (app, pilot):
        await to_package(pilot)
        await pilot.press("enter")
        await screen(pilot, LaunchScreen)
        await sees(pilot, "more: ctrl+d and ctrl+u scroll")
        seen = text_of(app)
        assert "was claude's attempt → now absent" in seen
        assert "at2rwns000" not in seen
        assert "src/file19.py" not in seen
        await pilot.press(*["ctrl+d"] * 20)
        await sees(pilot, "src/file19.py")
        assert "copy" in text_of(app)


async def test_a_row_that_is_left_out_stays_where_it_is(opened, desk):
    real = desk.draft
    desk.draft = lambda task, choice: sorted_again(real(task, choice))
    async with opened(desk) as (app, pilot):
        await to_package(pilot)
        rows = app.screen.query_one("#manifest")
        before = [row.id for row in rows.rows]
        await pilot.press("j", "j", "j", "space")
        await sees(pilot, "left out by person")
        assert [row.id for row in rows.rows] == before
        assert rows.current_id == "row3"


def sorted_again(draft):
    return replace(draft, rows=tuple(sorted(draft.rows, key=lambda row: not row.included)))


@pytest.mark.parametrize("size", [(60, 24), (80, 24)])
async def test_window_score_and_reason_are_there_where_it_is_narrow(opened, desk, size):
    async with opened(desk, size) as (app, pilot):
        await to_package(pilot)
        await pilot.press("G", "k")
        await sees(pilot, "left out: over budget")
        seen = text_of(app)
    assert "score 120" in seen
    assert "window 272k" in seen


async def test_a_launched_package_is_followed_and_not_launched_again(opened, desk):
    desk.change(packages=(data.package("pk5launched", "launched", "codex"),))
    async with opened(desk) as (app, pilot):
        await pilot.press("4", "enter")
        await screen(pilot, PackageScreen)
        seen = text_of(app)
        assert "enter follow" in seen
        assert "enter launch" not in seen
        await pilot.press("enter")
        await screen(pilot, FollowScreen)
        assert ("handed", "pk5launched") in desk.done


async def test_a_launched_package_that_nobody_took_up_shows_what_changed_since(opened, desk):
    moved = Difference(code="file_changed", subject="src/export/pdf.py", was="3be1", now="90ac")
    desk.change(packages=(data.package("pk5launched", "launched", "codex", (moved,)),))
    async with opened(desk) as (app, pilot):
        await sees(pilot, "! launched")
        assert "file changed: src/export/pdf.py" in text_of(app)
        await pilot.press("4", "enter")
        await screen(pilot, PackageScreen)
        await sees(pilot, "1 difference since it was compiled")
        assert "enter follow" in text_of(app)


async def test_the_cursor_goes_on_to_what_replaced_its_package(opened, desk):
    async with opened(desk) as (app, pilot):
        await pilot.press("4", "j")
        rows = app.main.packages.list
        assert rows.current_id == "pk1stale00"
        heir = data.package("pk6heir000", "pending", "codex")
        heir = replace(heir, envelope=heir.envelope.with_(replaces="pk1stale00"))
        desk.change(packages=(heir, *desk.shown.packages))
        app.nudge()
        await until(pilot, lambda: rows.current_id == "pk6heir000")


async def test_a_program_that_ended_before_it_worked_is_taken_back(opened, desk):
    launched = data.package("pk5launched", "launched", "codex")
    card = desk.shown.task
    running = card.running.with_(package="pk5launched")
    desk.change(packages=(launched,), task=replace(card, running=running, program_ended="its program has ended"))
    async with opened(desk) as (_app, pilot):
        await pilot.press("4", "enter")
        await screen(pilot, PackageScreen)
        await pilot.press("enter")
        await screen(pilot, FollowScreen)
        await sees(pilot, "its program has ended: f takes it back")
        await pilot.press("f")
        await until(pilot, lambda: ("fallen", "pk5launched") in desk.done)


async def test_after_a_failed_handover_the_one_before_can_go_on(opened, desk):
    failed = data.package("pk5launched", "failed", "codex", why="its program ended")
    event = failed.events[-1].with_(details={"from_attempt": "at1"})
    failed = replace(failed, events=(*failed.events[:-1], event))
    desk.change(packages=(failed,), task=replace(desk.shown.task, running=None))
    async with opened(desk) as (_app, pilot):
        await pilot.press("4", "enter")
        await screen(pilot, PackageScreen)
        await pilot.press("enter")
        await screen(pilot, FollowScreen)
        await sees(pilot, "let the one before go on")
        await pilot.press("a")
        await until(pilot, lambda: ("again", "pk5launched") in desk.done)


async def test_who_leaves_is_said_before_it_is_launched(opened, desk):
    async with opened(desk) as (_, pilot):
        await to_package(pilot)
        await pilot.press("enter")
        await screen(pilot, LaunchScreen)
        await sees(pilot, "Claude Code is asked to stop: /exit in pane %3")


async def test_a_budget_step_up_and_one_down_come_back(opened, desk):
    async with opened(desk) as (_, pilot):
        await to_package(pilot)
        for key, budget in (("plus", 1280), ("minus", None), ("minus", 819), ("plus", None)):
            await pilot.press(key)
            await until(pilot, lambda budget=budget: desk.done[-1][1].budget == budget)
        await sees(pilot, "of 1,024 tokens")


async def test_what_space_took_in_space_leaves_out_again(opened, desk):
    async with opened(desk) as (_, pilot):
        await to_package(pilot)
        await pilot.press("G", "space")
        await until(pilot, lambda: desk.done[-1][1].pins == {"row10"})
        await sees(pilot, "[^]")
        await pilot.press("space")
        await until(pilot, lambda: desk.done[-1][1] == Choice("codex"))
