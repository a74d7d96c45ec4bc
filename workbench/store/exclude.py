"""Keeps git from seeing the workspace: one line in ``info/exclude``, taken away again without a trace."""

from __future__ import annotations

import errno
from pathlib import Path

from workbench.errors import StorageError
from workbench.store.location import FOLDER, Location
from workbench.store.primitives import Tree, make_private_folder, remove_file, replace_shared
from workbench.store.refusals import explained

LINE = f"/{FOLDER}/".encode()
_NOT_OURS = (errno.EACCES, errno.EPERM, errno.EROFS)


def exclude_file(location: Location) -> Path | None:
    """The exclude file, when it holds our line."""
    path = _path(location)
    return path if path is not None and path.is_file() and LINE in path.read_bytes().split(b"\n") else None


def add_wanted(location: Location) -> bool:
    """Whether git would see the workspace."""
    if exclude_file(location) is not None or location.git_dir is None:
        return False
    return not (location.root / ".gitignore").exists() and location.root.parent != location.common_dir


def add_exclude(location: Location) -> None:
    """Add the line where it is missing.

    Where git's exclude file is not surely this repository's own (a link, a git folder that does not
    point back), or is not ours to write, the folder keeps itself out of sight with an ignore file of its own.
    """
    path = _path(location)
    if path is None:
        if location.git_dir is not None:
            _hide(location)
        return
    try:
        _add(path)
    except StorageError as problem:
        if problem.details.get("errno") not in _NOT_OURS:
            raise
        _hide(location)


def _hide(location: Location) -> None:
    Tree(location.root).replace(".gitignore", b"*\n")


def _add(path: Path) -> None:
    with explained(path):
        content = path.read_bytes() if path.exists() else b""
    if LINE in content.split(b"\n"):
        return
    if not path.parent.is_dir():
        make_private_folder(path.parent)
    # A file without a final newline gets the line in front: removing it again restores every byte.
    replace_shared(path, content + LINE + b"\n" if content.endswith(b"\n") or not content else LINE + b"\n" + content)


def remove_exclude(location: Location) -> Path | None:
    """Remove the line; the file too when nothing else is in it and we may have made it.

    Returns:
        The file that was changed.
    """
    path = exclude_file(location)
    if path is None:
        return None
    lines = path.read_bytes().split(b"\n")
    lines.remove(LINE)
    content = b"\n".join(lines)
    if content:
        replace_shared(path, content)
    else:
        remove_file(path)
    return path


def _path(location: Location) -> Path | None:
    """Git's exclude file, where it is this repository's own and the workspace lies in a work tree."""
    if location.common_dir is None or location.root.parent == location.common_dir:
        return None
    info = location.common_dir / "info"
    path = info / "exclude"
    return None if info.is_symlink() or path.is_symlink() else path
