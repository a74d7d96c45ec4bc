"""A long session in the app: what is appended comes onto the screen, in how much memory, and how it opens again."""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from pathlib import Path

from tests.benchmarks.data import home, workspace
from tests.benchmarks.reading import SESSION, make_claude
from tests.benchmarks.table import Row, high, main, ms
from tests.benchmarks.terminal import Terminal
from workbench.services import following, sessions, tasks
from workbench.services.context import Context

_APP = [sys.executable, "-m", "workbench"]


def run(share: float) -> list[Row]:
    """Measure; ``share`` of 500 MB."""
    if not Path("/proc/self/stat").exists():
        return [Row("left out", "needs /proc")]
    times = max(3, int(40 * min(1, share)))
    with home() as base:
        small, _, _ = _project(base / "small", 200_000)
        with Terminal(_APP, small) as app:
            app.sees("tokens kept")
            app.settle(min(20.0, 200 * share))
            idle = app.memory
        folder, path, ctx = _project(base / "long", int(500_000_000 * share))
        with Terminal(_APP, folder) as app:
            first = app.sees("tokens kept") - app.began
            early = [_shown(app, path, number) for number in range(max(3, times // 4))]
            heard = _heard(app, ctx, 30 + 900 * share) - app.began
            app.settle(20.0)
            late = [_shown(app, path, number) for number in range(len(early), len(early) + times)]
            app.settle(20.0)
            taken = app.memory - idle
        with Terminal(_APP, folder) as app:
            app.sees("facts")
            painted = time.perf_counter() - app.began
            again = app.sees("tokens kept") - app.began
    most = 200 * share / 2
    return [
        Row(f"a session of {path_size(share)} opened: its history on screen after", ms(first)),
        Row("a line appended while it is heard for the first time, median", ms(statistics.median(early))),
        Row("p95", ms(high(early))),
        Row("heard to its end, the first time, after", f"{heard:,.0f} s"),
        Row("a line appended then, on screen after, median", ms(statistics.median(late))),
        Row("p95", ms(high(late)), "< 100 ms", high(late) < 0.1),
        Row("memory over the app with a small one", f"{taken} MB", f"<= {most:,.0f} MB (200 for 1 GB)", taken <= most),
        Row("opened again: first paint after", ms(painted), "< 1 s", painted < 1),
        Row("its history on screen after", ms(again)),
    ]


def _project(folder: Path, size: int) -> tuple[Path, Path, Context]:
    """A workspace with a task whose session has so many bytes, and the session."""
    ctx = workspace(folder)
    path = folder / f"{SESSION}.jsonl"
    make_claude(size, path)
    sessions.attach(ctx, tasks.new(ctx, {"title": "Long", "objective": "go on"}), str(path))
    return folder, path, ctx


def _heard(app: Terminal, ctx: Context, most: float) -> float:
    """Wait until all that was said is heard, at most so many seconds; the moment."""
    until = time.perf_counter() + most
    while time.perf_counter() < until and not any(row.mark for row in following.heard(ctx).values()):
        app.rest(0.5)
    return time.perf_counter()


def path_size(share: float) -> str:
    """The size of the file, for people."""
    return f"{500 * share:,.0f} MB" if share >= 0.01 else f"{500_000 * share:,.0f} KB"


def _shown(app: Terminal, path: Path, number: int) -> float:
    """Append a line; seconds until it is painted."""
    app.rest(0.3)
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 300_000))
        last = json.loads(file.read().rstrip(b"\n").rpartition(b"\n")[2])
    words = f"line-{number:04}-{os.getpid()}"
    uuid = f"{number:08x}-0000-4000-8000-{os.getpid():012x}"
    record = {name: last[name] for name in ("sessionId", "cwd", "version", "isSidechain", "gitBranch", "timestamp")}
    record |= {"type": "user", "uuid": uuid, "parentUuid": last["uuid"]}
    line = json.dumps(record | {"message": {"role": "user", "content": words}}).encode() + b"\n"
    began = time.perf_counter()
    with path.open("ab") as file:
        file.write(line)
    return app.sees(words) - began


if __name__ == "__main__":
    main("A long session, live", run)
