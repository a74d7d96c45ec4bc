"""Whatever stands in a session, a fact or a file: it is shown as stored, and drives nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from tests.tui import data
from tests.tui.fake import FakeDesk
from tests.tui.hostile import SHORT, poison
from tests.tui.seeing import sees, text_of, until
from workbench.domain.package import Difference
from workbench.errors import RefusedError
from workbench.text import safe
from workbench.tui.desk import Handed, LaunchOffer
from workbench.tui.screens.fact import FactScreen
from workbench.tui.screens.follow import FollowScreen
from workbench.tui.screens.launch import LaunchScreen
from workbench.tui.screens.package import PackageInput, PackageScreen
from workbench.tui.screens.settle import SettleScreen
from workbench.tui.screens.trim import TrimScreen


def harmless(app: Any) -> str:
    """The text on the screen, after looking that nothing in it can drive a terminal."""
    seen = text_of(app)
    bad = {c for c in seen if (ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0 or "\u202a" <= c <= "\u202e"}
    assert not bad
    assert "\ud800" not in seen
    return seen


def shown(text: str) -> str:
    return " ".join(safe(text).split())


@pytest.mark.parametrize("texts", [SHORT[:7], SHORT[7:]], ids=["markup", "control"])
async def test_every_pane_shows_it_as_stored(opened, texts):
    desk = FakeDesk()
    async with opened(desk, (150, 60)) as (app, pilot):
        for number, text in enumerate(texts):
            desk.shown = dataclasses.replace(poison(data.view(), text), revision=f"h{number}")
            app.nudge()
            await until(pilot, lambda: app.view is desk.shown)
            await pilot.pause()
            seen = harmless(app)
            assert seen.count(shown(text)) > 12
            for pane in app.main.query(".pane"):
                area = pane.region
                rows = [row[area.x : area.right] for row in seen.split("\n")[area.y : area.bottom]]
                assert any(shown(text)[:12] in row for row in rows), pane
            app.say(text)
            app.fail(RefusedError(text, text))
            await pilot.pause()
            harmless(app)
            app.clear_notifications()


def modals(text: str) -> list[Callable[[FakeDesk], Any]]:
    difference = Difference(code="file_changed", subject=text, was=text, now=text)
    offer = LaunchOffer("print", text, text)

    async def pack(_choice: Any) -> Any:
        raise AssertionError

    async def settle(_fact: str) -> bool:
        return False

    def draft(desk: FakeDesk) -> PackageInput:
        made = poison(desk.stored("pk2pending"), text)
        return PackageInput(made, (difference,), desk.shown.facts[:1])

    return [
        lambda desk: TrimScreen(
            {
                a: desk.plan_cut("", {r.message.ref for r in desk.shown.history.messages}, a)
                for a in ("drop", "summarise", "externalise")
            },
            desk.shown.history.messages,
        ),
        lambda desk: SettleScreen(poison(desk.settlement("f0portrait"), text), data.NOW),
        lambda desk: FactScreen(desk.shown.facts[2], data.NOW),
        lambda desk: PackageScreen(draft(desk), pack, settle),
        lambda desk: LaunchScreen(text, (offer,), (difference,)),
        lambda desk: FollowScreen(Handed("pk2pending", "print", text, None, (text,), text)),
    ]


@pytest.mark.parametrize("text", ["[@click=app.bell]go[/]", "\x1b]2;EVIL\x1b\\", "nul\x00[/nope]lone\udc80"])
async def test_every_modal_shows_it_as_stored(opened, text):
    desk = FakeDesk(poison(data.view(), text))
    async with opened(desk, (150, 50)) as (app, pilot):
        for make in modals(text):
            await app.push_screen(make(desk))
            await pilot.pause()
            assert shown(text) in harmless(app)
            await pilot.press("tab")
            await pilot.pause()
            harmless(app)
            app.pop_screen()
            await pilot.pause()


async def test_lines_from_the_collection_of_hostile_texts(opened, shared_dir):
    folder = shared_dir / "cases" / "text"
    lines = [
        line.decode("utf-8", "surrogateescape")
        for file in sorted(folder.iterdir())
        for line in file.read_bytes().split(b"\n")
        if line
    ]
    view = data.view()
    rows = tuple(
        dataclasses.replace(
            view.history.messages[1], message=data.says(number, line), fate=view.history.messages[2].fate
        )
        for number, line in enumerate(lines)
    )
    facts = tuple(
        dataclasses.replace(view.facts[3], fact=data.fact(f"h{number}", "k", line), key=line[:40])
        for number, line in enumerate(lines)
    )
    history = dataclasses.replace(view.history, messages=rows)
    desk = FakeDesk(dataclasses.replace(view, history=history, facts=facts))
    async with opened(desk, (160, 50)) as (app, pilot):
        await pilot.press("g")
        for _ in lines[::9]:
            await pilot.press("ctrl+d")
            harmless(app)
        await pilot.press("3", "G", "enter")
        await sees(pilot, "where it comes from")
        harmless(app)
