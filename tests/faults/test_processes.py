"""Many processes at once, some killed: nothing acknowledged is lost, nothing old is read after it, one wins."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.faults import commands, racers
from tests.faults.checks import ROOT
from tests.faults.workers import COUNTER
from workbench.domain.fact import Fact
from workbench.errors import LockTimeoutError
from workbench.store import Workspace, find_existing

Told = Callable[[str, object], None]
APPS, LINES = 9, 3


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    commands.prepare(place)
    with commands.opened(place).transaction("human:dev", "counter") as tx:
        tx.put(Fact(id=COUNTER, key="counter", value=0))
    return place


def history(logs: list[Path]) -> list[dict[str, Any]]:
    return [json.loads(line) for log in logs for line in log.read_text().splitlines()]


def test_twelve_processes_of_which_some_are_killed(folder: Path, tmp_path: Path, record_property: Told) -> None:
    waiting = [("app", seed, 6) for seed in range(APPS)] + [("cli", seed + APPS, 2) for seed in range(LINES)]
    logs: list[Path] = []
    running: list[tuple[subprocess.Popen[bytes], str, int, int]] = []
    killed = seeds = 0

    def start(kind: str, seed: int, operations: int) -> None:
        logs.append(tmp_path / f"log-{len(logs)}")
        words = [kind, str(folder), str(logs[-1]), str(operations), str(seed)]
        process = subprocess.Popen([sys.executable, "-m", "tests.faults.workers", *words], cwd=ROOT)
        running.append((process, kind, seed, operations))

    for kind, seed, operations in waiting:
        start(kind, seed, operations)
    while running:
        process, kind, seed, operations = running.pop(0)
        code = process.wait(timeout=120)
        assert code in (0, -signal.SIGKILL)
        if code != 0:
            killed += 1
            seeds += 1
            if seeds <= 12:
                start(kind, 100 + seed + seeds, max(1, operations // 2))
    assert killed
    check(folder, history(logs), killed)
    done = [line for line in history(logs) if "end" in line and line["what"] != "read" and line["found"]]
    record_property("told", f"12 processes: {len(done)} acknowledged writes, {killed} processes killed, none lost")


def check(folder: Path, lines: list[dict[str, Any]], killed: int) -> None:
    """What was acknowledged is there, once, and whoever read afterwards saw it."""
    records = Workspace.open(find_existing(folder), read_only=True).load()
    assert records.damaged == ()
    ended = [line for line in lines if "end" in line]
    counts = [line for line in ended if line["what"] == "count" and line["found"]]
    collected = [line for line in ended if line["what"] == "collect"]
    reads = [line for line in ended if line["what"] == "read"]
    assert len(counts) > 20
    values = [line["words"][0] for line in counts]
    assert len(set(values)) == len(values), "two of them counted the same number"
    final = records.facts[COUNTER].value
    assert max(values) <= final <= len(values) + killed
    keys = {fact.key for fact in records.facts.values()}
    assert {line["words"][0] for line in collected} <= keys
    for read in reads:
        value, _, seen = read["found"]
        before = [line["words"][0] for line in counts if line["end"] < read["begin"]]
        assert value >= max(before, default=0), "an old number was read after a newer one was acknowledged"
        assert {line["words"][0] for line in collected if line["end"] < read["begin"]} <= set(seen)
    for one in counts:
        assert all(one["words"][0] < other["words"][0] for other in counts if one["end"] < other["begin"])
    changes = list(commands.opened(folder).changes())
    assert len({change.id for change in changes}) == len(changes)


@pytest.mark.parametrize("race", racers.RACES)
def test_of_sixteen_exactly_one_wins(folder: Path, tmp_path: Path, race: str, record_property: Told) -> None:
    env = racers.environment(tmp_path)
    for _ in range(3):
        codes = racers.run(racers.RACES[race], folder, env)
        assert codes.count(0) == 1
        assert set(codes) <= {0, *racers.LOST}
    record_property("told", f"{race}: {racers.RACERS} racers, one winner in 3 of 3 rounds")


STARTER = """
import os, signal, subprocess, sys
from pathlib import Path
from workbench.store import Workspace, find_existing

workspace = Workspace.open(find_existing(Path(sys.argv[1])))
with workspace.transaction("human:dev", "launch"):
    nowhere = subprocess.DEVNULL
    child = subprocess.Popen(["sleep", "60"], close_fds=False, start_new_session=True, stdout=nowhere, stderr=nowhere)
    print(child.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_was_launched_does_not_hold_the_lock_after_its_parent_died(folder: Path) -> None:
    run = subprocess.run([sys.executable, "-c", STARTER, str(folder)], capture_output=True, text=True, check=False)
    assert run.returncode == -signal.SIGKILL
    sleeper = int(run.stdout)
    try:
        os.kill(sleeper, 0)
        with commands.opened(folder).transaction("human:dev", "next", timeout=0) as tx:
            tx.put(Fact(id="g" * 10, key="got.the.lock", value=True))
    finally:
        os.kill(sleeper, signal.SIGKILL)


def test_who_waits_too_long_is_told_who_holds_the_lock(folder: Path) -> None:
    with commands.opened(folder).transaction("human:dev", "long"):
        code = "import sys; from tests.faults.test_processes import told_who; told_who(sys.argv[1])"
        run = subprocess.run([sys.executable, "-c", code, str(folder)], cwd=ROOT, check=True, capture_output=True)
    assert f"process {os.getpid()}".encode() in run.stdout


def told_who(folder: str) -> None:
    """What another process prints that waits for the lock in vain."""
    try:
        with commands.opened(Path(folder)).transaction("human:dev", "late", timeout=0.05):
            pass
    except LockTimeoutError as problem:
        print(problem.message)
