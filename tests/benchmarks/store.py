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
_TURNS = """
import json, sys, time

def turns(act, times, pause):
    print("ready", flush=True)
    sys.stdin.readline()
    found = []
    for number in range(times):
        time.sleep(pause * (0.5 + number * 37 % 100 / 100))
        began = time.perf_counter()
        act(number)
        found.append((began, time.perf_counter()))
    print(json.dumps(found))
"""
_WRITE = """
from pathlib import Path
from tests.benchmarks.data import context, fact
from workbench.store import primitives

folder, writer, times, pause, least = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), *map(float, sys.argv[4:])
real = primitives.sync

def slow(descriptor, path):
    until = time.perf_counter() + least
    real(descriptor, path)
    time.sleep(max(0, until - time.perf_counter()))

if least:
    primitives.sync = slow
store = context(folder).workspace

def write(number):
    with store.transaction("human:dev", "write") as tx:
        tx.put(fact(number, f"writer{writer}x"))

turns(write, times, pause)
"""
_FSYNC = """
import os
descriptor = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY | os.O_APPEND)

def fsync(number):
    os.write(descriptor, b"x" * 700)
    os.fsync(descriptor)

turns(fsync, int(sys.argv[3]), float(sys.argv[4]))
"""


SLOW = (0.0, 0.002, 0.005)
"""Seconds for an fsync at least: this disk's own, and as laptops take them; several at once take as long as one."""
PAUSES = (0.0, 0.1)
"""Seconds between two writes of one process."""
_COMMANDS = (("fact", "propose", "a.key{number}", "1"), ("note", "write", "a.note{number}", "1"))


def run(share: float) -> list[Row]:
    """Measure; ``share`` of 10,000 facts and 1,000 tasks."""
    many, tasks = max(20, int(10_000 * share)), max(5, int(1_000 * share))
    times = max(3, int(60 * min(1, share * 4)))
    with home() as folder:
        small = workspace(folder / "small", 10, 5)
        large = workspace(folder / "large", many, tasks)
        loads = [float(_python(_LOAD, folder / "large")) for _ in range(5)]
        few, lot = _writes(small.workspace, times), _writes(large.workspace, times)
        commands = {words[:2]: _commands(folder, words, max(2, times // 6)) for words in _COMMANDS}
        races = [
            _raced(folder, max(2, times // 2 if pause else times), pause, slow) for pause in PAUSES for slow in SLOW
        ]
    return [
        Row(
            f"cold load of {many:,} facts, {tasks:,} tasks",
            ms(statistics.median(loads)),
            "< 500 ms",
            statistics.median(loads) < 0.5,
        ),
        Row("a write among 10 facts", ms(few)),
        Row(f"a write among {many:,} facts", f"{ms(lot)}, {lot / few:.2f} x", "the same (< 1.5 x)", lot / few < 1.5),
        *(
            Row(
                f"{' '.join(name)}, whole process",
                f"{ms(few)} among 10, {ms(lot)} among {many:,}, {lot / few:.2f} x",
                "the same (< 1.3 x)",
                lot / few < 1.3,
            )
            for name, (few, lot) in commands.items()
        ),
        *(row for rows, _ in races for row in rows),
        Row("writes lost among them", str(lost := sum(lost for _, lost in races)), "0", lost == 0),
    ]


def _raced(folder: Path, times: int, pause: float, slow: float) -> tuple[list[Row], int]:
    """Eight writers beside one process that only writes a line and fsyncs it, and beside eight of these."""
    one = statistics.median(max(slow, took) for took in _fsyncs(folder, 2 * times))
    eight = [max(slow, took) for took in _at_once(_FSYNC, folder / f"log{pause}", times, pause)]
    writers, lost = _race(folder / "large", times, pause, slow)
    where = f"{ms(slow)} at least for each fsync" if slow else "this disk"
    how = "ten writes a second each" if pause else "one write after the other"
    took = high(writers)
    rows = [
        Row(
            f"8 writers, {how}, {where}: p95",
            f"{ms(took)} (median {ms(statistics.median(writers))}), {took / one:.1f} of one process: {ms(one)}",
            "<= 8 fsyncs",
            took <= 8 * one,
        ),
        Row(
            "  beside 8 processes at this pace that only fsync",
            f"{took / high(eight):.1f} x their p95 of {ms(high(eight))} (median {ms(statistics.median(eight))})",
            "<= 8 x",
            took <= 8 * high(eight),
        ),
    ]
    return rows, lost


def _commands(folder: Path, words: tuple[str, ...], times: int) -> tuple[float, float]:
    """A command line among few and among many records, in turn, so that both meet the same machine."""
    taken: dict[str, list[float]] = {"small": [], "large": []}
    for number in range(times):
        for name, found in taken.items():
            argv = [word.format(number=number) for word in words]
            call = [sys.executable, "-m", "workbench", *argv, "-w", str(folder / name)]
            found += each(lambda call=call: subprocess.run(call, stdout=subprocess.DEVNULL, check=True), 1)  # type: ignore[misc]
    return statistics.median(taken["small"]), statistics.median(taken["large"])


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
        return each(write, times)
    finally:
        os.close(descriptor)


def _race(folder: Path, times: int, pause: float, least: float) -> tuple[list[float], int]:
    """Eight processes that write, and how many of their writes are not there afterwards."""
    before = len(context(folder).workspace.load().facts)
    found = _at_once(_WRITE, folder, times, pause, least)
    return found, before + 8 * times - len(context(folder).workspace.load().facts)


def _at_once(code: str, where: Path, times: int, *more: float) -> list[float]:
    """Seconds of each turn of eight processes, as long as all of them take turns; a pause is about so long."""
    running = [
        subprocess.Popen(
            [sys.executable, "-c", _TURNS + code, *map(str, (where, number, times, *more))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(8)
    ]
    for process in running:
        assert process.stdout is not None
        process.stdout.readline()  # it has loaded everything
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    found = [json.loads(process.communicate()[0]) for process in running]
    first = min(turns[-1][1] for turns in found)
    return [end - began for turns in found for began, end in turns if began < first]


def _python(code: str, *words: object) -> str:
    done = subprocess.run([sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    main("Store", run)
