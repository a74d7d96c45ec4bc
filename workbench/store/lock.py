"""The one writer lock of a workspace: ``flock``, released by the system when its holder dies."""

from __future__ import annotations

import _thread
import fcntl
import itertools
import os
import re
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import msgspec

from workbench.domain.times import stamp
from workbench.errors import LockTimeoutError, StorageError
from workbench.store.mask import mask
from workbench.store.primitives import Tree, write_holder
from workbench.store.refusals import explained
from workbench.text import one_line

LOCK = ".local/lock"


class Holder(msgspec.Struct, frozen=True):
    """Who holds the lock, as the lock file says."""

    pid: int
    command: str
    since: str


class WriterLock:
    """Holds the lock between ``with`` and its end; children that are started do not inherit it.

    Args:
        tree: The workspace folder.
        timeout: Seconds to wait for another holder.
        relative: The lock file.
    """

    def __init__(self, tree: Tree, timeout: float = 10.0, relative: str = LOCK) -> None:
        self._tree = tree
        self._timeout = timeout
        self._relative = relative
        self._descriptor = -1

    def __enter__(self) -> WriterLock:
        until = time.monotonic() + self._timeout
        holder = Holder(os.getpid(), _command(), stamp(datetime.now(UTC).replace(microsecond=0)))
        while (descriptor := self._wait(until)) is not None and not self._is_current(descriptor):
            os.close(descriptor)
        if descriptor is None:
            raise self._refusal()
        self._descriptor = descriptor
        try:
            with suppress(StorageError):  # it is held all the same, and only those who wait in vain read the name
                write_holder(self._descriptor, msgspec.json.encode(holder) + b"\n")
        except BaseException:
            self.__exit__()
            raise
        return self

    def at_once(self) -> bool:
        """Take it where nobody holds it, without waiting and without a name; whether it was taken."""
        descriptor = self._tree.lock_file(self._relative)
        if _at_once(descriptor) and self._is_current(descriptor):
            self._descriptor = descriptor
        else:
            os.close(descriptor)
        return self._descriptor >= 0

    def __exit__(self, *_: object) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)  # closing releases it
            self._descriptor = -1

    def _wait(self, until: float) -> int | None:
        """A descriptor that holds the lock; None when the time is over."""
        descriptor = self._tree.lock_file(self._relative)
        try:
            with explained(self._tree.root / self._relative):
                if _at_once(descriptor):
                    return descriptor
        except StorageError:
            os.close(descriptor)
            raise
        return _Waiter(descriptor).result(until - time.monotonic())

    def _is_current(self, descriptor: int) -> bool:
        """Whether the file is still there: a lock on one that was removed (forget) guards nothing."""
        try:
            return (self._tree.root / self._relative).stat().st_ino == os.fstat(descriptor).st_ino
        except FileNotFoundError:
            return False

    def _refusal(self) -> LockTimeoutError:
        holder = read_holder(self._tree.root / self._relative)
        if holder is None:
            return LockTimeoutError(
                f"another process writes to {self._tree.root} since before {self._timeout:g} s", "try again"
            )
        return LockTimeoutError(
            f"process {holder.pid} ({one_line(holder.command, 80)}) writes to this workspace since {holder.since}",
            "wait for it or end it, then try again",
            pid=holder.pid,
            command=holder.command,
            since=holder.since,
        )


@cache
def _command() -> str:
    """What runs, by the words of the command alone: anything else in an argument list may be a secret."""
    words = itertools.takewhile(re.compile(r"[a-z]{2,12}").fullmatch, sys.argv[1:3])
    return one_line(mask(" ".join([Path(sys.argv[0]).name, *words])), 80)


def _at_once(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class _Waiter:
    """Waits in a thread of its own: the system wakes waiters in turn, and a hung mount hangs only the thread."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._guard = _thread.allocate_lock()
        self._over = _thread.allocate_lock()
        self._over.acquire()
        self._held = self._given_up = False

    def result(self, seconds: float) -> int | None:
        """The descriptor, holding the lock; None when the time was over first (it is then closed)."""
        if seconds > 0:
            _thread.start_new_thread(self._block, ())  # a whole Thread waits for its own start, too
            over = self._over.acquire(timeout=min(seconds, _thread.TIMEOUT_MAX))
            with self._guard:
                if self._held:
                    return self._descriptor
                self._given_up = True
            if not over:
                return None  # the thread closes it when it comes back
        os.close(self._descriptor)
        return None

    def _block(self) -> None:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        except OSError:
            self._over.release()
            return
        with self._guard:
            if self._given_up:
                os.close(self._descriptor)
                return
            self._held = True
        self._over.release()


def read_holder(path: Path) -> Holder | None:
    """Who holds (or last held) a lock; None where the file does not say."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Holder)
    except (OSError, msgspec.DecodeError):
        return None
