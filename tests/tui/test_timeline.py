"""The timeline: what happened to a record, and the way back to any of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tui import data
from tests.tui.fake import FakeDesk
from tests.tui.hostile import SHORT
from tests.tui.seeing import says, sees, text_of, until
from workbench.domain.differences import FieldDifference
from workbench.errors import VersionConflictError
from workbench.text import safe
from workbench.tui.screens.timeline import TimelineScreen


@pytest.mark.parametrize("size", [(180, 50), (60, 24)])
async def test_each_change_is_told_field_by_field(opened, desk, size):
    async with opened(desk, size) as (app, pilot):
        await pilot.press("3", "L")
        await until(pilot, lambda: isinstance(app.screen, TimelineScreen))
        await sees(pilot, "Pages are wide -> Pages are landscape")
        seen = text_of(app)
        assert desk.done[-1] == ("timeline", "facts", app.main.facts.list.current.fact.id)
    for words in ("pdf.orientation", "3 changes", "because the archive asked", "fact edit f0", "and 3 more fields"):
        assert words in seen


async def test_going_back_is_shown_first_and_then_one_key(opened, desk):
    async with opened(desk) as (app, pilot):
        await pilot.press("1", "L")
        await until(pilot, lambda: isinstance(app.screen, TimelineScreen))
        await pilot.press("j", "enter")
        await sees(pilot, "This changes, by a change that is itself recorded")
        assert "reason: A4" in text_of(app)
        assert not any(done[0] == "roll_back" for done in desk.done)
        await pilot.press("enter")
        await until(pilot, lambda: desk.done[-1] == ("roll_back", data.TASK_ID))
        await says(pilot, "u takes it back")


async def test_what_is_so_already_says_so_and_esc_changes_nothing(opened, desk):
    async with opened(desk) as (app, pilot):
        await pilot.press("1", "L")
        await until(pilot, lambda: isinstance(app.screen, TimelineScreen))
        await pilot.press("enter")
        await says(pilot, "It is so already")
        await pilot.press("L")
        await until(pilot, lambda: isinstance(app.screen, TimelineScreen))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        assert not any(done[0] == "roll_back" for done in desk.done)


async def test_read_only_shows_and_does_not_go_back(opened):
    desk = FakeDesk(refusal="This workspace was opened with --read-only.")
    async with opened(desk) as (app, pilot):
        await pilot.press("1", "L")
        await until(pilot, lambda: isinstance(app.screen, TimelineScreen))
        await pilot.press("j", "enter")
        await says(pilot, "--read-only")
        assert isinstance(app.screen, TimelineScreen)


async def test_a_record_that_changed_meanwhile_is_explained(opened, desk):
    def late(plan):
        raise VersionConflictError("fact changed meanwhile", "look again")

    desk.roll_back = late
    async with opened(desk) as (app, pilot):
        await pilot.press("1", "L")
        await until(pilot, lambda: isinstance(app.screen, TimelineScreen))
        await pilot.press("j", "enter")
        await sees(pilot, "This changes")
        await pilot.press("enter")
        await says(pilot, "look again")


async def test_hostile_words_are_shown_as_stored(opened, desk, monkeypatch):
    plain = data.STEPS[1]
    async with opened(desk) as (app, pilot):
        for text in SHORT:
            step = replace(plain, command=text, why=text, differences=(FieldDifference(text, text, text),))
            monkeypatch.setattr(data, "STEPS", (step,))
            await pilot.press("1", "L")
            await until(pilot, lambda: isinstance(app.screen, TimelineScreen))
            await sees(pilot, " ".join(safe(text).split())[:12])
            seen = text_of(app)
            assert not {c for c in seen if (ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0}
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.main)


async def test_what_a_fact_replaced_is_told_and_not_rolled_back(opened, desk, monkeypatch):
    blue = data.fact("f0blue0000", "pdf.orientation", "blue")
    steps = (data.STEPS[0], replace(data.STEPS[1], earlier=blue))
    monkeypatch.setattr(desk, "timeline", lambda kind, record: steps)
    rows = desk.shown.facts
    desk.change(facts=(replace(rows[3], replaced=(blue,)),))
    async with opened(desk) as (app, pilot):
        await pilot.press("3", "L")
        await sees(pilot, "blue before it")
        await pilot.press("j", "enter")
        await says(pilot, "blue was another fact")
        assert isinstance(app.screen, TimelineScreen)
        await pilot.press("escape", "enter")
        await sees(pilot, "replaced blue")


async def test_of_many_fields_the_value_is_never_left_off(opened, desk, monkeypatch):
    many = tuple(FieldDifference(f"field{n}", None, n) for n in range(12))
    step = replace(data.STEPS[0], differences=(*many, FieldDifference("value", None, "portrait")))
    monkeypatch.setattr(desk, "timeline", lambda kind, record: (step,))
    async with opened(desk) as (_, pilot):
        await pilot.press("3", "L")
        await sees(pilot, "value: portrait")
