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
_WRITE = """
import json, sys, time
from pathlib import Path
from tests.benchmarks.data import context, fact
from workbench.store import primitives

least = float(sys.argv[4])
real = primitives.sync

def slow(descriptor, path):
    until = time.perf_counter() + least
    real(descriptor, path)
    time.sleep(max(0, until - time.perf_counter()))

if least:
    primitives.sync = slow
store = context(Path(sys.argv[1])).workspace
times = []
for number in range(int(sys.argv[3])):
    time.sleep(float(sys.argv[5]) * (0.5 + number * 37 % 100 / 100))
    began = time.perf_counter()
    with store.transaction("human:dev", "write") as tx:
        tx.put(fact(number, f"writer{sys.argv[2]}x"))
    times.append(time.perf_counter() - began)
print(json.dumps(times))
"""


SLOW = (0.002, 0.005)
"""Seconds for an fsync as laptops take them; several at once take as long as one."""
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
        fsync = statistics.median(_fsyncs(folder, times))
        races = {
            (pause, least): _race(folder / "large", max(2, times // 3), least, pause)
            for pause in (0.0, 0.1)
            for least in (0.0, *SLOW)
        }
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
        Row("one fsync of this disk", ms(fsync)),
        *(_raced(writers, least, least or fsync, pause) for (pause, least), (writers, _) in races.items()),
        Row("writes lost among them", str(lost := sum(lost for _, lost in races.values())), "0", lost == 0),
    ]


def _raced(writers: list[float], least: float, fsync: float, pause: float) -> Row:
    where = "this disk" if not least else f"{ms(least)} for each fsync"
    how = "ten writes a second each" if pause else "one write after the other"
    return Row(
        f"8 writers, {how}, {where}: p95",
        f"{ms(high(writers))}, {high(writers) / fsync:.1f} fsyncs (median {ms(statistics.median(writers))})",
        "<= 8 fsyncs",
        high(writers) <= 8 * fsync,
    )


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
        return each(write, times * 2)
    finally:
        os.close(descriptor)


def _race(folder: Path, times: int, least: float, pause: float) -> tuple[list[float], int]:
    """Eight processes that write; each fsync takes at least so many seconds, and a pause is about so long."""
    before = len(context(folder).workspace.load().facts)
    words = [sys.executable, "-c", _WRITE, str(folder)]
    running = [
        subprocess.Popen([*words, str(n), str(times), str(least), str(pause)], stdout=subprocess.PIPE, text=True)
        for n in range(8)
    ]
    found = [json.loads(process.communicate()[0]) for process in running]
    after = len(context(folder).workspace.load().facts)
    return [value for values in found for value in values], before + 8 * times - after


def _python(code: str, *words: object) -> str:
    done = subprocess.run([sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    main("Store", run)
