"""What the app makes of hints: readings, one at a time."""

from __future__ import annotations

import asyncio
import threading
import time

from tests.tui.fake import FakeDesk
from tests.tui.seeing import says, sees, until
from workbench.errors import StorageError
from workbench.tui import background, looking


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


async def test_while_much_is_heard_records_wait_a_line_of_a_session_and_a_person_do_not(opened, monkeypatch):
    monkeypatch.setattr(looking, "HEARING_SHOWN", 3600.0)
    desk = FakeDesk()
    heard = asyncio.Event()
    read: list[bool] = []

    def listen(pause):
        time.sleep(0.005)
        return not heard.is_set()

    def view(*, records=True):
        read.append(records)
        return desk.shown

    desk.listen, desk.view = listen, view
    async with opened(desk) as (app, pilot):
        await until(pilot, lambda: app._hearing)
        app.nudge(pressing=False)
        await until(pilot, lambda: read[-1:] == [True] and not app._records_too)
        read.clear()
        app.nudge(pressing=False)
        app.nudge(records=False, files=True, pressing=False)
        await until(pilot, lambda: bool(read))
        assert read == [False]
        app.nudge()
        await until(pilot, lambda: len(read) > 1)
        assert read == [False, True]
        heard.set()
        await until(pilot, lambda: not app._hearing)


def test_work_beside_the_screen_rests_until_what_is_new_is_painted(monkeypatch):
    monkeypatch.setattr(background, "PIECE", 0.0)
    monkeypatch.setattr(background, "PATIENCE", 60.0)
    quiet = threading.Event()
    work = threading.Thread(target=background.Pieces(quiet), daemon=True)
    work.start()
    work.join(0.05)
    assert work.is_alive()
    quiet.set()
    work.join(10)
    assert not work.is_alive()


async def test_who_leaves_waits_for_nothing_that_is_heard(opened):
    desk = FakeDesk()
    begun, given_up = threading.Event(), threading.Event()

    def listen(pause):
        begun.set()
        try:
            while True:
                pause()
        finally:
            given_up.set()

    desk.listen = listen
    async with opened(desk) as (_, pilot):
        await until(pilot, begun.is_set)
        await pilot.press("q")
    assert await asyncio.to_thread(given_up.wait, 10)
