"""The store with one thing left out: each has to turn a check red, or the check shows nothing."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.domain.change import Change
from workbench.store import primitives
from workbench.store.commit import Committer
from workbench.store.lock import WriterLock
from workbench.store.pending import Pending
from workbench.store.private import open_private, read_beneath

Set = Callable[[Any, str, Any], None]
"""``setattr``, or a test's that takes it back."""


def no_file_fsync(put: Set) -> None:
    """Files are not brought to disk."""
    _fsync_only(put, folders=True)


def no_folder_fsync(put: Set) -> None:
    """The entries of folders are not brought to disk."""
    _fsync_only(put, folders=False)


def _fsync_only(put: Set, *, folders: bool) -> None:
    real = primitives.sync

    def sync(descriptor: int, path: str | Path) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode) == folders:
            real(descriptor, path)

    put(primitives, "sync", sync)


def journal_last(put: Set) -> None:
    """The record files are written before the change is in the log."""
    real = Committer.append

    def append(self: Committer, change: Change) -> None:
        tree, pending = self._tree, Pending([change])
        for path in pending.records:
            after = pending.over(path, read_beneath(tree.root, path))
            if after is None:
                tree.remove(path)
            else:
                tree.replace(path, after)
        for path in pending.appended:
            tree.append(path, b"".join(pending.missing_lines(path, b"")))
        real(self, change)

    put(Committer, "append", append)


def no_temporary_file(put: Set) -> None:
    """Files are written in their place."""

    class InPlace(primitives.Beside):
        def __init__(self, folder: int, name: str, data: bytes, shown: str | Path, *_: Any, **__: Any) -> None:
            self.shown = shown
            primitives.step("create", shown)
            self.descriptor = open_private(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, folder)
            primitives.write_all(self.descriptor, data, shown)

        def put(self) -> None:
            self.drop()

        def drop(self) -> None:
            if self.descriptor >= 0:
                os.close(self.descriptor)
                self.descriptor = -1

    put(primitives, "Beside", InPlace)


def no_lock(put: Set) -> None:
    """Everybody writes at once."""
    put(WriterLock, "__enter__", lambda self: self)
    put(WriterLock, "__exit__", lambda self, *_: None)


MUTANTS: dict[str, Callable[[Set], None]] = {
    "no file fsync": no_file_fsync,
    "no folder fsync": no_folder_fsync,
    "journal last": journal_last,
    "no temporary file": no_temporary_file,
    "no lock": no_lock,
}
