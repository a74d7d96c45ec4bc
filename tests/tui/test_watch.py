"""What the app makes of hints: readings, one at a time."""

from __future__ import annotations

import asyncio

from tests.tui.fake import FakeDesk
from tests.tui.seeing import says, sees, until
from workbench.errors import StorageError


async def test_a_read_that_fails_keeps_what_is_on_screen_and_says_why(opened):
    desk = FakeDesk()
    async with opened(desk) as (app, pilot):

        def broken(*, records=True):
            raise StorageError("the disk is full", "make room")

        real, desk.view = desk.view, broken
        app.nudge()
        await says(pilot, "the disk is full")
        await sees(pilot, "Invoices as PDF")
        desk.view = real
        desk.change(facts=())
        app.nudge()
        await until(pilot, lambda: not app.view.facts)


async def test_a_burst_of_hints_is_read_one_at_a_time(opened):
    desk = FakeDesk()
    busy: list[int] = []
    overlaps: list[int] = []
    real = desk.view

    def slow(*, records=True):
        busy.append(1)
        if len(busy) > 1:
            overlaps.append(1)
        view = real(records=records)
        busy.pop()
        return view

    desk.view = slow
    async with opened(desk) as (app, pilot):
        for _ in range(200):
            app.nudge()
            await asyncio.sleep(0)
        desk.change(facts=())
        app.nudge()
        await until(pilot, lambda: not app.view.facts)
    assert not overlaps
