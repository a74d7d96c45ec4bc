"""The store: cold load, a write among few and many records, and eight writers at once."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from tests.benchmarks.data import context, fact, home, put_facts, workspace
from tests.benchmarks.table import Row, each, high, main, median, ms
from workbench.services import facts

_LOAD = """
import sys, time
from pathlib import Path
from workbench.store.location import find_existing
from workbench.store.workspace import Workspace
began = time.perf_counter()
records = Workspace.open(find_existing(Path(sys.argv[1])), read_only=True).load()
records.registry
print(time.perf_counter() - began)
"""
_WRITE = """
import json, sys, time
from pathlib import Path
from tests.benchmarks.data import context, fact
store = context(Path(sys.argv[1])).workspace
times = []
for number in range(int(sys.argv[3])):
    began = time.perf_counter()
    with store.transaction("human:dev", "write") as tx:
        tx.put(fact(number, f"writer{sys.argv[2]}x"))
    times.append(time.perf_counter() - began)
print(json.dumps(times))
"""


def run(share: float) -> list[Row]:
    """Measure; ``share`` of 10,000 facts and 1,000 tasks."""
    many, tasks = max(20, int(10_000 * share)), max(5, int(1_000 * share))
    times = max(3, int(60 * min(1, share * 4)))
    with home() as folder:
        small = workspace(folder / "small", 10, 5)
        large = workspace(folder / "large", many, tasks)
        loads = [float(_python(_LOAD, folder / "large")) for _ in range(5)]
        few, lot = _writes(small.workspace, times), _writes(large.workspace, times)
        # A new context each time, as a command line has: what it reads first is part of the price.
        propose = {
            name: median(lambda name=name: facts.propose(context(folder / name), "one.key", "x"), 5)  # type: ignore[misc]
            for name in ("small", "large")
        }
        fsync = statistics.median(_fsyncs(folder, times))
        writers, lost = _race(folder / "large", max(2, times // 3))
    return [
        Row(
            f"cold load of {many:,} facts, {tasks:,} tasks",
            ms(statistics.median(loads)),
            "< 500 ms",
            statistics.median(loads) < 0.5,
        ),
        Row("a write among 10 facts", ms(few)),
        Row(f"a write among {many:,} facts", f"{ms(lot)}, {lot / few:.2f} x", "the same (< 1.5 x)", lot / few < 1.5),
        Row(
            "a proposal in a new process, read included",
            f"{ms(propose['small'])} among 10, {ms(propose['large'])} among {many:,}",
        ),
        Row("one fsync of this disk", ms(fsync)),
        Row(
            "8 writers, p95 of a write",
            f"{ms(high(writers))}, {high(writers) / fsync:.1f} fsyncs",
            "<= 8 fsyncs",
            high(writers) <= 8 * fsync,
        ),
        Row("writes lost among them", str(lost), "0", lost == 0),
    ]


def _writes(store: object, times: int) -> float:
    put_facts(store, 3, "warm")  # type: ignore[arg-type]

    def write() -> None:
        with store.transaction("human:dev", "write") as tx:  # type: ignore[attr-defined]
            tx.put(fact(1, "one"))

    return median(write, times)


def _fsyncs(folder: Path, times: int) -> list[float]:
    descriptor = os.open(folder / "probe", os.O_CREAT | os.O_WRONLY | os.O_APPEND)

    def write() -> None:
        os.write(descriptor, b"x" * 700)
        os.fsync(descriptor)

    try:
        return each(write, times * 2)
    finally:
        os.close(descriptor)


def _race(folder: Path, times: int) -> tuple[list[float], int]:
    before = len(context(folder).workspace.load().facts)
    words = [sys.executable, "-c", _WRITE, str(folder)]
    running = [subprocess.Popen([*words, str(n), str(times)], stdout=subprocess.PIPE, text=True) for n in range(8)]
    found = [json.loads(process.communicate()[0]) for process in running]
    after = len(context(folder).workspace.load().facts)
    return [value for values in found for value in values], before + 8 * times - after


def _python(code: str, *words: object) -> str:
    done = subprocess.run([sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    main("Store", run)
