"""Settling by keyboard: both values are seen, then one of three things is decided."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tui import data
from tests.tui.fake import FakeDesk
from tests.tui.seeing import says, sees, text_of, until
from workbench.domain.contested import Contest
from workbench.domain.record import Claim
from workbench.errors import VersionConflictError
from workbench.tui.screens.settle import SettleScreen


@pytest.mark.parametrize("size", [(180, 50), (60, 30)])
async def test_old_and_new_with_source_and_what_rests_on_it(opened, desk, size):
    async with opened(desk, size) as (app, pilot):
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, SettleScreen))
        await pilot.pause()
        seen = text_of(app)
    for words in ("- landscape", "+ portrait", "Make it portrait instead", "human:dev", "authority", "goes stale"):
        assert words in seen


async def test_confirm(opened, desk):
    async with opened(desk) as (app, pilot):
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, SettleScreen))
        await pilot.press("enter")
        await until(pilot, lambda: ("confirm", "f0portrait", "f0landscap@1", None) in desk.done)
        await says(pilot, "pdf.orientation is portrait.")
        await until(pilot, lambda: "to settle" not in text_of(app))


async def test_edit_and_confirm(opened, desk):
    async with opened(desk) as (app, pilot):
        await pilot.press("3", "enter")
        await until(pilot, lambda: isinstance(app.screen, SettleScreen))
        await pilot.press("e")
        await sees(pilot, "This value is confirmed")
        await pilot.press("space", "A", "4", "enter")
        await until(pilot, lambda: ("confirm", "f0portrait", "f0landscap@1", "portrait A4") in desk.done)


async def test_reject_needs_a_reason(opened, desk):
    async with opened(desk) as (app, pilot):
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, SettleScreen))
        await pilot.press("x")
        await sees(pilot, "The reason is kept")
        await pilot.press("enter")
        await says(pilot, "It may not be empty")
        await pilot.press(*"old", "enter")
        await until(pilot, lambda: ("reject", "f0portrait", "old") in desk.done)


async def test_both_are_kept_by_scope(opened, desk):
    async with opened(desk) as (app, pilot):
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, SettleScreen))
        await pilot.press("b")
        await until(pilot, lambda: ("keep_both", "f0portrait", "f0landscap@1", data.TASK_ID) in desk.done)
        await says(pilot, "for invoice-pdf alone")


async def test_a_key_that_is_the_same_as_another_is_joined_and_settled_again(opened, desk):
    async with opened(desk) as (app, pilot):
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, SettleScreen))
        assert "looks like pdf.orientations" in text_of(app)
        first = app.screen
        await pilot.press("equals_sign")
        await sees(pilot, "leads to this key from now on")
        await pilot.press("enter")
        await until(pilot, lambda: ("join_keys", "pdf.orientation", "pdf.orientations") in desk.done)
        await until(pilot, lambda: isinstance(app.screen, SettleScreen) and app.screen is not first)


async def test_the_message_it_was_said_in_is_one_key_away(opened, desk):
    async with opened(desk) as (app, pilot):
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, SettleScreen))
        await pilot.press("m")
        await until(pilot, lambda: app.main.history.list.current.message.id == "m0010")
        await sees(pilot, "message 10 you says")


async def test_a_fact_that_changed_meanwhile_is_explained(opened, desk):
    def late(fact, expect, value=None):
        raise VersionConflictError("the active fact is square, not landscape", "look again, then confirm")

    desk.confirm = late
    async with opened(desk) as (app, pilot):
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, SettleScreen))
        await pilot.press("enter")
        await says(pilot, "the active fact is square")
        await says(pilot, "look again, then confirm")


async def test_a_settled_fact_shows_where_it_comes_from(opened, desk):
    async with opened(desk) as (_, pilot):
        await pilot.press("3", "G", "enter")
        await sees(pilot, "where it comes from")
        await pilot.press("q")


@pytest.mark.parametrize("size", [(180, 50), (60, 24)])
async def test_what_merged_copies_say_differently_is_on_the_card_and_settled(opened, size):
    claims = (Claim(change="c1", value=8080), Claim(change="c2", value="9090[/]"))
    row = Contest(
        kind="tasks",
        id=data.TASK_ID,
        version=3,
        name="invoice-pdf",
        title="task invoice-pdf: state.variables.port",
        field="state.variables.port",
        claims=claims,
        present=8080,
        gone=False,
        task=data.TASK_ID,
    )
    desk = FakeDesk(replace(data.view(), contests=(row,)))
    async with opened(desk, size) as (app, pilot):
        await pilot.press("1")
        await sees(pilot, "9090[/]")
        await pilot.press("s")
        await sees(pilot, "said by c2")
        assert "stands now" in text_of(app)
        await pilot.press("j", "enter")
        await until(pilot, lambda: ("settle_contest", "state.variables.port", "9090[/]") in desk.done)
        await until(pilot, lambda: "contested (s settles)" not in text_of(app))
