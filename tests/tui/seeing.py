"""What stands on the screen, as text; and waiting for it without counting seconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.app import App
from textual.pilot import Pilot

TRIES = 400


async def until(pilot: Pilot[Any], holds: Callable[[], bool]) -> None:
    """Let the app work until something holds."""
    for _ in range(TRIES):
        if holds():
            return
        await pilot.pause(0.01)
    raise AssertionError("it never held; on the screen:\n" + text_of(pilot.app))


async def sees(pilot: Pilot[Any], words: str) -> None:
    """Let the app work until these words stand on the screen."""
    await until(pilot, lambda: words in text_of(pilot.app))


async def says(pilot: Pilot[Any], words: str) -> None:
    """Let the app work until it said these words in a corner of the screen."""
    await until(pilot, lambda: any(words in note.message for note in pilot.app._notifications))


def lines_of(app: App[Any]) -> list[str]:
    """The lines of the screen."""
    strips = app.screen._compositor.render_strips(app.size)
    return ["".join(segment.text for segment in strip) for strip in strips]


def text_of(app: App[Any]) -> str:
    """The screen as one text."""
    return "\n".join(lines_of(app))
