"""The same few operations for files of ours outside a workspace, and for git's exclude file."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path

from workbench.errors import StorageError, UsageError
from workbench.store.primitives import Tree, put_in_place, step, sync, write_all
from workbench.store.private import FOLDER_MODE, folder_beneath, open_private
from workbench.store.refusals import explained


def write_private(path: Path, data: bytes) -> None:
    """Put ``data`` in the place of a file anywhere, owner-only, durably; its folder is made owner-only too."""
    make_private_folder(path.parent)
    Tree(path.parent).replace(path.name, data)


def create_private(path: Path, data: bytes) -> None:
    """Put ``data`` in a new file of a folder that there is, owner-only; what is there already stays.

    Raises:
        UsageError: Something of this name exists.
        StorageError: There is no such folder, or it may not be written to; nothing is left behind.
    """
    step("create", path)
    try:
        with explained(path):
            descriptor = open_private(str(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    except StorageError as problem:
        if problem.details.get("errno") == errno.EEXIST:
            raise UsageError(f"{path} exists already", "name a new file") from None
        raise
    try:
        with explained(path):
            write_all(descriptor, data, path)
            sync(descriptor, path)
    except BaseException:
        path.unlink()
        raise
    finally:
        os.close(descriptor)


def make_private_folder(path: Path) -> None:
    """Make a folder of ours outside a workspace; those that are missing become owner-only."""
    with explained(path):
        for folder in reversed((path, *path.parents)):
            if not folder.is_dir():
                step("mkdir", folder)
                with contextlib.suppress(FileExistsError):
                    folder.mkdir(FOLDER_MODE)
                    folder.chmod(FOLDER_MODE)


def replace_shared(path: Path, data: bytes) -> None:
    """Put ``data`` in the place of a file that is not ours (git's exclude file), with the mode it had."""
    with explained(path):
        mode = stat.S_IMODE(path.lstat().st_mode) if path.exists() else 0o644
        with folder_beneath(path.parent) as folder:
            put_in_place(folder, path.name, data, path, durable=True, mode=mode)
            sync(folder, path)


def remove_file(path: Path) -> None:
    """Remove one file of ours outside a workspace; one that is not there is no error."""
    with explained(path):
        step("unlink", path)
        path.unlink(missing_ok=True)
