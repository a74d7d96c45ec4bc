"""The one writer lock of a workspace: ``flock``, released by the system when its holder dies."""

from __future__ import annotations

import _thread
import fcntl
import itertools
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path

import msgspec

from workbench.domain.times import stamp
from workbench.errors import LockTimeoutError, RefusedError, StorageError
from workbench.store.aside import aside
from workbench.store.mask import mask
from workbench.store.primitives import Tree, write_holder
from workbench.store.private import folder_beneath, open_reading
from workbench.store.refusals import explained
from workbench.text import one_line

LOCK = ".local/lock"
_LOCKS = Path("/proc/locks")


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
        self._path = f"{tree.root}/{relative}"
        self._descriptor = -1

    def __enter__(self) -> WriterLock:
        until = time.monotonic() + self._timeout
        while True:
            descriptor = self._wait(until)
            if descriptor is None:
                raise self._refusal()
            if self._hold(descriptor):
                return self

    def at_once(self) -> bool:
        """Take it where nobody holds it, without waiting; whether it was taken."""
        descriptor = self._opened()
        if descriptor[1]:
            return self._hold(descriptor[0])
        os.close(descriptor[0])
        return False

    def _hold(self, descriptor: int) -> bool:
        """Write our name into the file, whose lock we have; False where it is not there any more (forget)."""
        try:
            state = os.fstat(descriptor)
            if not self._is_current(state.st_ino):
                os.close(descriptor)
                return False
            with suppress(StorageError):  # it is held all the same, and only those who wait in vain read the name
                write_holder(descriptor, _name_since(os.getpid(), int(time.time())), state.st_size)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        return True

    def __exit__(self, *_: object) -> None:
        if self._descriptor >= 0:
            # In this order: an interrupt between the two would have it closed twice.
            descriptor, self._descriptor = self._descriptor, -1
            os.close(descriptor)  # closing releases it

    def _wait(self, until: float) -> int | None:
        """A descriptor that holds the lock; None when the time is over."""
        descriptor, held = self._opened()
        return descriptor if held else _waited(descriptor, until - time.monotonic())

    def _opened(self) -> tuple[int, bool]:
        """A descriptor of the file, and whether it holds the lock already."""
        descriptor = self._tree.lock_file(self._relative)
        try:
            with explained(self._path):
                return descriptor, _at_once(descriptor)
        except BaseException:
            os.close(descriptor)
            raise

    def _is_current(self, inode: int) -> bool:
        """Whether the file is still there: a lock on one that was removed guards nothing."""
        try:
            return os.stat(self._path).st_ino == inode  # noqa: PTH116 - asked for every write
        except FileNotFoundError:
            return False

    def _refusal(self) -> LockTimeoutError:
        path = self._tree.root / self._relative
        holder = read_holder(path)
        if holder is None or not _holds(holder.pid, path):
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


@lru_cache(maxsize=1)
def _name_since(pid: int, second: int) -> bytes:
    """What a holder writes into the file."""
    return msgspec.json.encode(Holder(pid, _command(), stamp(datetime.fromtimestamp(second, UTC)))) + b"\n"


@cache
def _command() -> str:
    """What runs, by the words of the command alone: anything else in an argument list may be a secret."""
    words = itertools.takewhile(re.compile(r"[a-z]{2,12}").fullmatch, sys.argv[1:3])
    return one_line(mask(" ".join([Path(sys.argv[0]).name, *words])), 80)


@contextmanager
def looking(root: Path, relative: str, seconds: float) -> Iterator[None]:
    """Keep a lock from being taken for a while, without writing anything, not even a name; other readers may, too.

    Args:
        root: The workspace folder.
        relative: The lock file.
        seconds: How long to wait for its holder; then the caller looks all the same.
    """
    try:
        with folder_beneath(root, relative.rpartition("/")[0]) as folder:
            descriptor = open_reading(relative.rpartition("/")[2], folder)
    except (OSError, RefusedError):
        yield  # nobody ever took it, or it is not ours to read
        return
    try:
        got = _at_once(descriptor, fcntl.LOCK_SH)
    except BaseException:
        os.close(descriptor)
        raise
    held = descriptor if got else _waited(descriptor, seconds, fcntl.LOCK_SH)
    try:
        yield
    finally:
        if held is not None:
            os.close(held)


def _at_once(descriptor: int, kind: int = fcntl.LOCK_EX) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _waited(descriptor: int, seconds: float, kind: int = fcntl.LOCK_EX) -> int | None:
    """A descriptor that holds the lock; None when the time was over first. The given one is closed then."""
    if seconds <= 0:
        os.close(descriptor)
        return None
    state = os.fstat(descriptor)
    place = state.st_dev, state.st_ino, kind
    waiter = _taken_over(place)
    if waiter is not None:
        os.close(descriptor)
    else:
        waiter = _Waiter(descriptor, place)
        if not aside(waiter.block):
            return _asked_again(descriptor, kind, time.monotonic() + seconds)
    return waiter.result(seconds)


def _asked_again(descriptor: int, kind: int, until: float) -> int | None:
    """See :func:`_waited`: without a thread, by asking time and again."""
    try:
        while not _at_once(descriptor, kind):
            if time.monotonic() >= until:
                os.close(descriptor)
                return None
            time.sleep(_AGAIN)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


class _Waiter:
    """Waits in another thread: the system wakes waiters in turn, and a hung mount hangs only the thread.

    The thread of one whose time was over goes on waiting; whoever waits for the same file next takes it over, and with
    it the place among those that wait. So there are never more of them than wait at one time.
    """

    def __init__(self, descriptor: int, place: _Place) -> None:
        self.descriptor = descriptor
        self._place = place
        self._over = _thread.allocate_lock()
        self._over.acquire()
        self._held: bool | None = None
        """Whether the lock was had; None while it is waited for."""
        self.wanted = True

    def result(self, seconds: float) -> int | None:
        """See :func:`_waited`."""
        try:
            self._over.acquire(timeout=min(seconds, _thread.TIMEOUT_MAX))
        except BaseException:
            if self._outcome() is not None:
                os.close(self.descriptor)
            raise
        held = self._outcome()
        if held:
            return self.descriptor
        if held is not None:
            os.close(self.descriptor)
        return None

    def _outcome(self) -> bool | None:
        """Whether the lock was had; None where nobody waits for it any more, and the thread closes the file."""
        with _guard:
            if self._held is None:
                self.wanted = False
                _left.setdefault(self._place, []).append(self)
            return self._held

    def block(self) -> None:
        """What the thread does."""
        try:
            fcntl.flock(self.descriptor, self._place[2])
            held = True
        except OSError:
            held = False
        with _guard:
            if self.wanted:
                self._held = held
            else:
                _drop(self._place, self)
        if self._held is None:
            os.close(self.descriptor)
        self._over.release()


_Place = tuple[int, int, int]
"""Device and number of a lock file, and the kind of lock."""
_AGAIN = 0.005
"""Seconds between two looks at a lock where there is no thread to wait for it."""
_guard = _thread.allocate_lock()
_left: dict[_Place, list[_Waiter]] = {}
"""Those that wait although nobody wants the lock any more."""


def _taken_over(place: _Place) -> _Waiter | None:
    """One that waits for a lock already, for us from here on."""
    with _guard:
        for waiter in _left.get(place, ()):
            waiter.wanted = True
            _drop(place, waiter)
            return waiter
    return None


def _drop(place: _Place, waiter: _Waiter) -> None:
    _left[place].remove(waiter)
    if not _left[place]:
        del _left[place]


def _forget_threads() -> None:
    """In a child: threads do not go along, and a file that they held open would hold the lock."""
    global _guard
    _guard = _thread.allocate_lock()
    for waiter in [waiter for waiters in _left.values() for waiter in waiters]:
        os.close(waiter.descriptor)
    _left.clear()


os.register_at_fork(after_in_child=_forget_threads)


def _holds(pid: int, path: Path) -> bool:
    """Whether a process holds the lock on a file, as the system says; where it does not say, whether it runs."""
    try:
        rows = [row.split() for row in _LOCKS.read_text("utf-8", "replace").splitlines()]
        number = f":{path.stat().st_ino}"
        return any(row[1] == "FLOCK" and row[4] == str(pid) and row[5].endswith(number) for row in rows)
    except (OSError, IndexError):
        with suppress(OSError, OverflowError):
            os.kill(pid, 0)
            return True
        return False


def read_holder(path: Path) -> Holder | None:
    """Who holds (or last held) a lock; None where the file does not say."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Holder)
    except (OSError, msgspec.DecodeError):
        return None
