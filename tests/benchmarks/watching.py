"""Watching: the app at rest, a storm of file events, and a pause, in a terminal of its own (Linux)."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from tests.benchmarks.data import context, home, session_file, workspace
from tests.benchmarks.table import Row, main, ms
from tests.benchmarks.terminal import Terminal
from workbench.services import facts, sessions, tasks

_APP = [sys.executable, "-m", "workbench"]


def run(share: float) -> list[Row]:
    """Measure; ``share`` of 100,000 events and of 30 seconds at rest."""
    if not Path("/proc/self/stat").exists():
        return [Row("left out", "needs /proc")]
    events, seconds = max(100, int(100_000 * share)), max(0.3, 30 * share)
    with home() as base:
        few = _project(base / "few", 20, 3)
        many = _project(base / "many", max(20, int(10_000 * share)), max(3, int(1_000 * share)))
        rows = [_idle("idle, 20 facts", few, seconds)]
        rows.append(_idle(f"idle, {max(20, int(10_000 * share)):,} facts", many, seconds))
        with Terminal(_APP, few) as app:
            app.sees("a.sea")
            app.rest(min(5.0, seconds))
            before = app.memory
            took = _storm(few.parent, events, app)
            late = _shown(app, few, "a.storm")
            app.rest(min(5.0, seconds))
            spent, began = app.cpu, time.perf_counter()
            app.rest(seconds / 3)
            share_of_core = (app.cpu - spent) / (time.perf_counter() - began)
            after = app.memory
            rows += [
                Row(f"{events:,} events beside the session, within", ms(took)),
                Row("a fact proposed then is on screen after", ms(late), "< 5 s", late < 5),
                Row("memory before and after", f"{before} MB, {after} MB", "flat (+ 20 MB)", after - before <= 20),
                Row("at rest again", f"{share_of_core:.1%} of a core", "< 2%", share_of_core < 0.02),
            ]
            with context(few).workspace.transaction("person", "watching", alone=True):  # so that it holds no lock
                app.stop()
            _storm(few.parent, max(100, events // 3), None)
            facts.propose(context(few), "a.stopped", "yes")
            app.go_on()
            went_on = time.perf_counter()
            late = app.sees("a.stopped") - went_on
            rows.append(Row("stopped, a fact, continued: on screen after", ms(late), "< 5 s", late < 5))
            (few / ".workbench").rename(few / "moved")
            workspace(few, 3, 1)
            late = _shown(app, few, "a.again")
            rows.append(Row("root made again, a fact: on screen after", ms(late), "< 5 s", late < 5))
    return rows


def _project(folder: Path, number: int, others: int) -> Path:
    """A workspace with a task whose session lies in a folder of many files to come."""
    ctx = workspace(folder, number, others)
    task = tasks.new(ctx, {"title": "Storm", "objective": "stay calm"})
    sessions.attach(ctx, task, str(session_file(folder.parent / f"{folder.name}.jsonl", 50)))
    facts.propose(ctx, "a.sea", "yes")
    return folder


def _idle(what: str, folder: Path, seconds: float) -> Row:
    with Terminal(_APP, folder) as app:
        app.sees("a.sea")
        app.rest(min(8.0, seconds))  # the index is made in these
        spent, began = app.cpu, time.perf_counter()
        app.rest(seconds)
        share = (app.cpu - spent) / (time.perf_counter() - began)
    return Row(what, f"{share:.1%} of a core", "< 2%", share < 0.02)


def _storm(folder: Path, events: int, app: Terminal | None) -> float:
    """Files made, written and removed in a watched folder."""
    began = time.perf_counter()
    for number in range(events // 4):  # make, write, close, remove
        path = folder / f"junk{number % 500}"
        path.write_bytes(b"x")
        path.unlink()
        if app is not None and number % 500 == 0:
            app.rest(0.001)
    return time.perf_counter() - began


def _shown(app: Terminal, folder: Path, key: str) -> float:
    facts.propose(context(folder), key, "yes")
    began = time.perf_counter()
    return app.sees(key) - began


if __name__ == "__main__":
    main("Watching", run)
