"""Contents that nothing refers to: found by looking for their hashes in everything that is kept."""

from __future__ import annotations

import os
import re
from pathlib import Path

from workbench.store.primitives import TEMPORARY
from workbench.store.private import read_beneath
from workbench.store.refusals import explained
from workbench.store.workspace import Workspace

_HASH = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_CHUNK = 1 << 20


def referenced(root: Path) -> set[str]:
    """The hashes that stand in any file but the contents themselves and the log.

    Files are searched as bytes: also one that is damaged keeps what it names.
    """
    found: set[str] = set()
    for folder, folders, files in os.walk(root):
        if Path(folder) == root:
            folders[:] = [name for name in folders if name not in ("blobs", "changes")]
        for name in files:
            path = Path(folder) / name
            if path.is_file() and not path.is_symlink() and not name.startswith("search.sqlite"):
                found.update(match.decode() for match in _hashes(path))
    return found


def _hashes(path: Path) -> list[bytes]:
    found: list[bytes] = []
    with explained(path), path.open("rb") as file:
        before = b""
        while chunk := file.read(_CHUNK):
            found += _HASH.findall(before + chunk)
            before = chunk[-64:]
    return found


def collect(workspace: Workspace, actor: str) -> tuple[int, int]:
    """Remove the contents that nothing refers to.

    Under the writer lock: a content is written before the change that refers to it is committed, by
    one and the same holder of the lock, so none is on its way.

    Returns:
        How many were removed, and their bytes.
    """
    from workbench.store.examine import refuse_unreadable

    removed = freed = 0
    with workspace.transaction(actor, "gc", alone=True):
        refuse_unreadable(workspace.root, "removing contents")
        wanted = referenced(workspace.root)
        for name in workspace.blobs():
            if name not in wanted:
                freed += len(read_beneath(workspace.root, f"blobs/{name}") or b"")
                workspace.tree.remove(f"blobs/{name}", sync_folder=False)
                removed += 1
        if removed:
            workspace.tree.sync_all(["blobs"])
        for folder in leftovers(workspace.root):
            workspace.tree.sweep(folder)
        _clear_packages(workspace)
    return removed, freed


def _clear_packages(workspace: Workspace) -> None:
    """Prompts of packages that were never committed."""
    folder = workspace.root / "packages"
    for name in sorted(os.listdir(folder)) if folder.is_dir() else ():  # noqa: PTH208
        inner = folder / name
        if inner.is_dir() and not inner.is_symlink() and set(os.listdir(inner)) <= {"prompt.md"}:  # noqa: PTH208
            workspace.tree.remove(f"packages/{name}/prompt.md")
            workspace.tree.remove_folder(f"packages/{name}")


def leftovers(root: Path) -> list[str]:
    """The folders in which a killed writer left temporary files, relative to the root (which is empty)."""
    found = set()
    for folder, _, files in os.walk(root):
        if any(name.startswith(".") and name.endswith(TEMPORARY) for name in files):
            found.add("" if Path(folder) == root else Path(folder).relative_to(root).as_posix())
    return sorted(found)
