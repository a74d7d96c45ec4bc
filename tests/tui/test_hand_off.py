"""Handing off by keyboard: agent, package, launch, follow; nothing is sent before the last enter."""

from __future__ import annotations

from tests.tui import data
from tests.tui.seeing import says, sees, text_of, until
from workbench.domain.package import Difference
from workbench.tui.desk import Choice
from workbench.tui.screens.follow import FollowScreen
from workbench.tui.screens.launch import LaunchScreen
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
        assert ("prepare", Choice("codex"), None) in desk.done
        assert ("hand_over", "pk3new0000", "copy", None) in desk.done
        await sees(pilot, "✓ launched")
        assert "not observed yet" in text_of(app)
        desk.change(packages=(data.package("pk3new0000", "received", "codex"),))
        app.nudge()
        await sees(pilot, "✓ received")


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
