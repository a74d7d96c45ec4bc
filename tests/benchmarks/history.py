"""The history pane: many rows ready, and one frame while scrolling."""

from __future__ import annotations

import asyncio
import statistics
import time

from textual.app import App, ComposeResult

from tests.benchmarks.data import Texts
from tests.benchmarks.table import Row, main, ms, timed
from workbench.domain.message import Message
from workbench.domain.trimming import Fate, default_class, fates
from workbench.services.view import MessageView
from workbench.tui import themes
from workbench.tui.widgets.history_list import HistoryList


class _OneList(App[None]):
    def compose(self) -> ComposeResult:
        yield HistoryList(id="list")

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return dict(themes.VARIABLES)


def messages(number: int) -> list[Message]:
    """So many messages of every usual kind."""
    texts = Texts(3)
    found = []
    for seq in range(number):
        kind, origin = [("message", "human"), ("message", "agent"), ("tool_result", "tool")][seq % 3]
        text = texts.text(14)
        found.append(
            Message.of(
                id=f"m{seq}", session="claude:bench", seq=seq, kind=kind, origin=origin, text=text, size=len(text)
            )  # type: ignore[arg-type]
        )
    return found


def run(share: float) -> list[Row]:
    """Measure; ``share`` of 100,000 rows."""
    number = max(60, int(100_000 * share))
    found = messages(number)
    fate = timed(lambda: fates(found, ()))
    rows = tuple(MessageView(m, Fate(memory=default_class(m)), 20, False) for m in found)
    ready, frames = asyncio.run(_scroll(rows, max(5, int(60 * min(1, share)))))
    frame = statistics.median(frames)
    return [
        Row(f"fates of {number:,} messages", ms(fate)),
        Row(f"{number:,} rows ready", ms(ready), "< 200 ms", ready < 0.2),
        Row("a frame while scrolling, median", ms(frame), "< 16 ms", frame < 0.016),
        Row("the slowest of them", ms(max(frames))),
    ]


async def _scroll(rows: tuple[MessageView, ...], times: int) -> tuple[float, list[float]]:
    app = _OneList()
    async with app.run_test(size=(140, 45)) as pilot:
        listed = app.query_one(HistoryList)
        began = time.perf_counter()
        listed.show_rows(rows)
        await pilot.pause(0)
        ready = time.perf_counter() - began
        listed.scroll_home(animate=False)
        await pilot.pause(0)
        frames = []
        for step in range(times):
            began = time.perf_counter()
            # Rows that were never painted, as when somebody scrolls on.
            listed.scroll_to(y=(step + 1) * len(rows) // (times + 2), animate=False, immediate=True)
            for line in range(listed.size.height):
                listed.render_line(line)
            frames.append(time.perf_counter() - began)
    return ready, frames


if __name__ == "__main__":
    main("History list", run)
