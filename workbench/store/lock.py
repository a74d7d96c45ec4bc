"""The one writer lock of a workspace: ``flock``, released by the system when its holder dies."""

from __future__ import annotations

import fcntl
import os
import shlex
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from workbench.domain.times import stamp
from workbench.errors import LockTimeoutError, StorageError
from workbench.store.mask import mask
from workbench.store.primitives import Tree, write_holder
from workbench.store.refusals import explained
from workbench.text import one_line

LOCK = ".local/lock"
_FIRST_PAUSE = 0.0005
_LONGEST_PAUSE = 0.01


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
        pause = _FIRST_PAUSE
        while not self._try():
            if time.monotonic() >= until:
                raise self._refusal()
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
        try:
            command = " ".join(shlex.quote(part) for part in [Path(sys.argv[0]).name, *sys.argv[1:3]])
            holder = Holder(os.getpid(), one_line(mask(command), 80), stamp(datetime.now(UTC).replace(microsecond=0)))
            write_holder(self._descriptor, msgspec.json.encode(holder) + b"\n")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)  # closing releases it
            self._descriptor = -1

    def _try(self) -> bool:
        descriptor = self._tree.lock_file(self._relative)
        try:
            with explained(self._tree.root / self._relative):
                if not _locked(descriptor):
                    os.close(descriptor)
                    return False
        except StorageError:
            os.close(descriptor)
            raise
        # The file may have been removed (forget) between opening and locking: then this lock guards nothing.
        try:
            current = (self._tree.root / self._relative).stat()
        except FileNotFoundError:
            os.close(descriptor)
            return False
        if current.st_ino != os.fstat(descriptor).st_ino:
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

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


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def read_holder(path: Path) -> Holder | None:
    """Who holds (or last held) a lock; None where the file does not say."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Holder)
    except (OSError, msgspec.DecodeError):
        return None
