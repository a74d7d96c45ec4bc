"""Start-up: whole processes of the command line, and the app beside an empty one."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path

from tests.benchmarks.data import home, workspace
from tests.benchmarks.table import Row, main, median, ms
from tests.benchmarks.terminal import Terminal
from workbench.services.demo import copy_demo

_EMPTY = """
from textual.app import App
from textual.containers import Grid
from textual.widgets import Static

class Empty(App):
    CSS = "Grid { grid-size: 2 2; } Static { border: round white; height: 100%; }"
    def compose(self):
        with Grid():
            for number in range(4):
                yield Static(f"empty {number}")

Empty().run()
"""


def run(share: float) -> list[Row]:
    """Measure; ``share`` of 15 calls, and of 10 starts of either app."""
    times = max(1, int(15 * min(1, share)))
    with home() as folder:
        workspace(folder / "ws", 10, 2)
        bare = median(lambda: _call(sys.executable, "-c", "pass"), times)
        program = (sys.executable, "-m", "workbench")
        help_page = median(lambda: _call(*program, "--help"), times)
        propose = median(lambda: _call(*program, "fact", "propose", "one.key", "1", "-w", str(folder / "ws")), times)
        demo = copy_demo(None, folder / "demo", os.environ)
        starts: dict[str, list[float]] = {"empty": [], "app": []}
        for _ in range(max(1, int(10 * min(1, share)))):  # in turn, so that both meet the same machine
            starts["empty"].append(first_paint([sys.executable, "-c", _EMPTY], folder, "empty 3"))
            starts["app"].append(first_paint([*program], demo, "history"))
        empty, app = statistics.median(starts["empty"]), statistics.median(starts["app"])
    return [
        Row("python -c pass", ms(bare)),
        Row("workbench --help", ms(help_page), "< 100 ms", help_page < 0.1),
        Row("workbench fact propose", ms(propose), "< 150 ms", propose < 0.15),
        Row("empty Textual app with four panes, to first paint", ms(empty)),
        Row("the app on the sample, to first paint", f"{ms(app)}, {app / empty:.2f} x", "<= 1.5 x", app / empty <= 1.5),
    ]


def _call(*words: str) -> None:
    subprocess.run(words, stdout=subprocess.DEVNULL, check=True)


def first_paint(words: list[str], folder: Path, seen: str) -> float:
    """Seconds from the start of a program in a terminal of its own until ``seen`` is painted."""
    with Terminal(words, folder) as terminal:
        return terminal.sees(seen) - terminal.began


if __name__ == "__main__":
    main("Start-up", run)
