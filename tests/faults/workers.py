"""Processes that count and collect at once, some of them killed while they write; what each did is written down.

``python -m tests.faults.workers KIND FOLDER LOG OPERATIONS SEED`` is one of them: ``app`` calls the functions that
app and command line share, ``cli`` runs the command line. Its own log has a line for every beginning and end.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from workbench.errors import VersionConflictError, WorkbenchError
from workbench.services import facts
from workbench.services.context import open_context
from workbench.store.primitives import watched

COUNTER = "c" * 10
KILLED = 0.05
"""The share of the operations that do not live to their end."""
CALLS = 12
"""A writing operation makes at most about so many calls, one of them is its last; fewer where others take its files."""
DOOMED = 4
"""One worker in so many is killed in any case, within the calls that every operation makes."""

DYING = """
import os, signal, sys
from tests.faults.workers import dying
from workbench.cli.run import main
with dying(int(sys.argv[1])):
    sys.exit(main(sys.argv[2:]))
"""


@contextmanager
def dying(call: int) -> Any:
    """The process is killed before its ``call``-th writing call."""
    seen = 0

    def hook(operation: str, path: str) -> None:
        nonlocal seen
        seen += 1
        if seen == call:
            os.kill(os.getpid(), signal.SIGKILL)

    with watched(hook):
        yield


class Log:
    """Lines of a worker, each on the disk's side of the process before anything follows."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def operation(self, name: str, act: Callable[..., Any], *words: Any, **more: Any) -> Any:
        """One operation, with when it began and ended; without an end it was killed or refused."""
        begin = time.monotonic()
        self._tell({"what": name, "begin": begin, "words": words})
        found = act(*words, **more)
        self._tell({"what": name, "begin": begin, "end": time.monotonic(), "words": words, "found": found})
        return found

    def _tell(self, line: dict[str, Any]) -> None:
        os.write(self._descriptor, json.dumps(line).encode() + b"\n")


class App:
    """Through the functions that app and command line share."""

    patience = 200
    """How often it tries to count once, while others count."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def _context(self) -> Any:
        return open_context(self._folder, env=os.environ)

    def read(self) -> list[Any]:
        """The counter, its version, and the keys that were collected."""
        records = self._context().workspace.load()
        counter = records.facts[COUNTER]
        return [counter.value, counter.version, sorted(f.key for f in records.facts.values() if f.id != COUNTER)]

    def write(self, value: int, version: int, *, call: int) -> bool:
        """Set the counter, where nobody did meanwhile."""
        with dying(call) if call else nullcontext():
            try:
                facts.edit(self._context(), COUNTER, expect=version, value=value)
            except VersionConflictError:
                return False
        return True

    def collect(self, key: str, *, call: int) -> bool:
        """Add to what is collected."""
        with dying(call) if call else nullcontext():
            facts.propose(self._context(), key, 1)
        return True


class CommandLine:
    """Through the program itself."""

    patience = 6

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def _run(self, *words: str, call: int = 0) -> subprocess.CompletedProcess[str]:
        start = ["-c", DYING, str(call)] if call else ["-m", "workbench"]
        words = ("-w", str(self._folder), *words)
        return subprocess.run([sys.executable, *start, *words], capture_output=True, text=True, check=False, timeout=60)

    def read(self) -> list[Any]:
        """The counter, its version, and the keys that were collected."""
        done = self._run("fact", "list", "--all", "--json")
        rows = json.loads(done.stdout)["facts"]
        (counter,) = [row for row in rows if row["id"] == COUNTER]
        return [counter["value"], counter["version"], sorted(row["key"] for row in rows if row["id"] != COUNTER)]

    def write(self, value: int, version: int, *, call: int) -> bool:
        """Set the counter, where nobody did meanwhile."""
        done = self._run("fact", "edit", COUNTER, "--value", str(value), "--expect", str(version), "--yes", call=call)
        return self._answer(done)

    def collect(self, key: str, *, call: int) -> bool:
        """Add to what is collected."""
        return self._answer(self._run("fact", "propose", key, "1", call=call))

    @staticmethod
    def _answer(done: subprocess.CompletedProcess[str]) -> bool:
        if done.returncode == -signal.SIGKILL:
            os.kill(os.getpid(), signal.SIGKILL)
        if done.returncode not in (0, 4):
            raise SystemExit(done.stderr or f"exit code {done.returncode}")
        return done.returncode == 0


def work(kind: str, folder: Path, log: Log, operations: int, seed: int) -> None:
    """Count and collect in turn."""
    way: App | CommandLine = App(folder) if kind == "app" else CommandLine(folder)
    chance = random.Random(seed)

    def last_call() -> int:
        return chance.randint(1, CALLS) if chance.random() < KILLED else 0

    last = operations // 2 if seed % DOOMED == 0 else -1
    for number in range(operations):
        call = chance.randint(1, 2) if number == last else last_call()
        log.operation("collect", way.collect, f"k{seed}.n{number}", call=call)
        for _ in range(way.patience):
            value, version, _ = log.operation("read", way.read)
            if log.operation("count", way.write, value + 1, version, call=last_call()):
                break


def main(kind: str, folder: str, log: str, operations: str, seed: str) -> None:
    """One worker."""
    try:
        work(kind, Path(folder), Log(Path(log)), int(operations), int(seed))
    except WorkbenchError as problem:
        raise SystemExit(f"{problem.code}: {problem.message}") from None


if __name__ == "__main__":
    main(*sys.argv[1:])
