"""The promises as checks: each runs the store as it is (or as a mutant left it) and fails where one is broken."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.faults import commands, powercut
from tests.faults.commands import COMMANDS, FACT, opened, said, works_again
from workbench.domain.fact import Fact
from workbench.errors import LockTimeoutError, StorageError
from workbench.store.journal import Journal
from workbench.store.lock import WriterLock
from workbench.store.primitives import Hook, Tree, watched
from workbench.store.settle import LOCK, QUEUE

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Copies:
    """Fresh copies of a prepared workspace."""

    folder: Path
    count: int = 0

    def __post_init__(self) -> None:
        commands.prepare(self.folder / "template")

    def one(self) -> Path:
        self.count += 1
        target = self.folder / str(self.count)
        shutil.copytree(self.folder / "template", target)
        return target


def calls_of(copies: Copies, command: str) -> int:
    """How many writing calls a command makes."""
    seen: list[str] = []
    with watched(lambda operation, path: seen.append(operation)):
        COMMANDS[command](opened(copies.one()))
    return len(seen)


def refused_at(folder: Path, command: str, k: int, number: int) -> StorageError | None:
    """Run a command of which the ``k``-th writing call is refused by the system."""
    seen = 0

    def hook(operation: str, path: str) -> None:
        nonlocal seen
        seen += 1
        if seen == k:
            raise OSError(number, os.strerror(number))

    return _error(lambda: COMMANDS[command](opened(folder)), hook)


def _error(run: Callable[[], None], hook: Hook) -> StorageError | None:
    try:
        with watched(hook):
            run()
    except StorageError as error:
        return error
    return None


def old_and_new(copies: Copies, command: str) -> tuple[str, str]:
    folder = copies.one()
    before = said(folder).records
    COMMANDS[command](opened(folder))
    return before, said(folder).records


def every_call_refused(copies: Copies, command: str, number: int = errno.ENOSPC) -> int:
    """Each writing call fails in turn: an error with a way out and the old state, or the new state."""
    old, new = old_and_new(copies, command)
    k = calls_of(copies, command)
    for call in range(1, k + 1):
        folder = copies.one()
        error = refused_at(folder, command, call, number)
        now = said(folder)
        assert now.damaged == (), call
        assert now.records == (old if error is not None else new), call
        assert error is None or (os.strerror(number) in error.message and error.hint), call
        works_again(folder)
        assert commands.leftovers(folder) == [], call
    return k


def every_call_killed(copies: Copies, command: str, mutant: str = "none") -> int:
    """The process dies before each writing call in turn: old or new, and what was acknowledged is new."""
    old, new = old_and_new(copies, command)
    k = calls_of(copies, command)
    # A mutant may make some more or fewer calls: the last one runs through.
    folders = [copies.one() for _ in range(k + 12)]
    run = subprocess.run(
        [sys.executable, "-m", "tests.faults.killer", command, mutant, *map(str, folders)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        timeout=120,
    )
    codes = [int(line) for line in run.stdout.split()]
    assert codes[0] == 9
    assert codes[-1] == 0
    seen = set()
    for call, (folder, code) in enumerate(zip(folders, codes, strict=True), 1):
        now = said(folder)
        assert now.damaged == (), call
        assert now.records == new or (code == 9 and now.records == old), call
        works_again(folder)
        after = said(folder)
        assert after.damaged == (), call
        assert after.records.replace("('After', None), ", "") == now.records, call
        seen.add(now.records)
    assert seen == {old, new}
    assert [name for folder in folders for name in commands.leftovers(folder)] == []
    return codes.count(9)


def power_cuts(copies: Copies, put: Callable[[Any, str, Any], None], beside: str = "") -> int:
    """The power goes at any moment of three commands: what was acknowledged is there, nothing is half.

    Args:
        copies: Workspaces.
        put: Sets an attribute and takes it back.
        beside: What others do: one writes files and one ``waits`` to, and the commands bring the log to disk and no
            more; or ``wrote`` meanwhile, and the folders are left to them.
    """
    folder = copies.one()
    states = [said(folder).records]
    acknowledged = cuts = 0
    expected: list[str] = []
    rehearsal = copies.one()
    for command in (*COMMANDS, "growing"):
        COMMANDS[command](opened(rehearsal))
        expected.append(said(rehearsal).records)
    states += expected

    def look() -> None:
        nonlocal cuts
        for kind in powercut.KINDS:
            cuts += 1
            target = copies.folder / "cut"
            target.mkdir()
            disk.after(kind, target / ".workbench")
            now = said(target)
            assert now.damaged == (), kind
            assert now.records in states[acknowledged : acknowledged + 2], (kind, acknowledged)
            works_again(target)
            assert said(target).damaged == (), kind
            shutil.rmtree(target)

    disk = powercut.Disk(folder / ".workbench", look)
    others = contextlib.ExitStack()
    for lock in (QUEUE, LOCK) if beside == "waits" else ():
        others.enter_context(WriterLock(Tree(folder / ".workbench"), 1.0, lock))
    if beside == "wrote":
        put(Journal, "end", lambda self: ("z", 0))
    with powercut.watching(disk, put), others:
        for command in (*COMMANDS, "growing"):
            COMMANDS[command](opened(folder))
            acknowledged += 1
            disk.look()
    return cuts


class Died(BaseException):
    """A process ends here."""


def power_cuts_after_a_death(copies: Copies, command: str, put: Callable[[Any, str, Any], None]) -> int:
    """A process dies at each writing call in turn; a next command is acknowledged; then the power goes."""
    cuts = 0
    for call in range(1, calls_of(copies, command) + 1):
        folder, target = copies.one(), copies.folder / "cut"
        seen = 0

        def dies(operation: str, path: str, call: int = call) -> None:
            nonlocal seen
            seen += 1
            if seen >= call:
                raise Died

        disk = powercut.Disk(folder / ".workbench", lambda: None)
        with powercut.watching(disk, put):
            with contextlib.suppress(Died), watched(dies):
                COMMANDS[command](opened(folder))
            works_again(folder)
            expected = said(folder)
            for kind in ("strict", "noted"):
                target.mkdir()
                disk.after(kind, target / ".workbench")
                assert said(target) == expected, (call, kind)
                shutil.rmtree(target)
                cuts += 1
    return cuts


def no_lost_update(copies: Copies) -> None:
    """Of two writers that would work on the same record at once the second waits, or is told to."""
    folder = copies.one()
    with opened(folder).transaction("human:dev", "count") as tx:
        tx.put(Fact(id="c" * 10, key="counter", value=0))
    acknowledged = 0

    def second() -> None:
        nonlocal acknowledged
        try:
            with opened(folder).transaction("human:dev", "count", timeout=0.05) as inner:
                counter = inner.get("facts", "c" * 10)
                inner.put(counter.with_(value=counter.value + 1))
        except LockTimeoutError:
            return
        acknowledged += 1

    with opened(folder).transaction("human:dev", "count") as tx:
        counter = tx.get("facts", "c" * 10)
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
        tx.put(counter.with_(value=counter.value + 1))
    acknowledged += 1
    assert opened(folder).load().facts["c" * 10].value == acknowledged
    assert FACT in opened(folder).load().facts
