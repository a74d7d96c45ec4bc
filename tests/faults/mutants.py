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
from workbench.store.private import open_private

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
    """The record files are written before the change is committed."""

    def commit(self: Committer, change: Change) -> list[str]:
        self._journal.apply(change)
        self._append(change)
        self._journal.mark(change.id, self._position.file, self._position.offset)
        return []

    put(Committer, "commit_at_least", commit)


def no_temporary_file(put: Set) -> None:
    """Files are written in their place."""

    def replace(folder: int, name: str, data: bytes, shown: str | Path, *, durable: bool, **_: Any) -> None:
        primitives._step("create", shown)
        descriptor = open_private(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, folder)
        try:
            primitives._write(descriptor, data, shown)
            if durable:
                primitives.sync(descriptor, shown)
        finally:
            os.close(descriptor)

    put(primitives, "_replace", replace)


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
