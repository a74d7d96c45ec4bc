"""Hints from the file system: what counts, and that they come."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.tui.fake import FakeDesk
from tests.tui.seeing import says, sees, until
from workbench.errors import StorageError
from workbench.tui.desk import Watched
from workbench.tui.watch import counts, existing, hints


def test_only_the_workspace_and_the_session_files_count(tmp_path):
    session = tmp_path / "sessions" / "one.jsonl"
    watched = Watched((tmp_path / "ws",), frozenset({session}))
    assert counts(watched, str(session))
    assert counts(watched, str(tmp_path / "ws" / "facts" / "f.json"))
    assert not counts(watched, str(session.with_name("other.jsonl")))
    assert not counts(watched, str(tmp_path / "ws" / "writer.lock"))


def test_folders_that_are_not_there_are_not_watched(tmp_path):
    (tmp_path / "ws").mkdir()
    watched = Watched((tmp_path / "ws", tmp_path / "gone"), frozenset({tmp_path / "away" / "x.jsonl"}))
    assert existing(watched) == (tmp_path / "ws",)


async def test_a_replaced_session_file_is_a_hint(tmp_path):
    session = tmp_path / "one.jsonl"
    session.write_text("{}\n")
    stop = asyncio.Event()
    seen = asyncio.Event()

    async def watch() -> None:
        async for _ in hints(Watched((), frozenset({session})), stop):
            seen.set()

    task = asyncio.create_task(watch())
    for number in range(100):
        other = tmp_path / "new"
        other.write_text("{}\n" * number)
        other.replace(session)
        try:
            await asyncio.wait_for(seen.wait(), 0.1)
            break
        except TimeoutError:
            continue
    stop.set()
    await task
    assert seen.is_set()


async def test_nothing_to_watch_ends_at_once():
    assert [n async for n in hints(Watched((Path("/nowhere/at/all"),)), asyncio.Event())] == []


async def test_a_read_that_fails_keeps_what_is_on_screen_and_says_why(opened):
    desk = FakeDesk()
    async with opened(desk) as (app, pilot):

        def broken(task=None):
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

    def slow(task=None):
        busy.append(1)
        if len(busy) > 1:
            overlaps.append(1)
        view = real(task)
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
