"""The worktrees of a repository, from git's files."""

from __future__ import annotations

import os
from pathlib import Path

from workbench.store.location import Location, read_small


def worktrees(location: Location) -> list[Path]:
    """The top folders of all worktrees, the main checkout first; of a plain folder, the folder itself."""
    found = [location.base, location.worktree]
    if location.common_dir is not None:
        try:
            linked = sorted(entry.name for entry in (location.common_dir / "worktrees").iterdir())
        except OSError:
            linked = []
        for name in linked:
            own = location.common_dir / "worktrees" / name
            mark = read_small(own / "gitdir")
            if mark.endswith("/.git"):  # absolute, or relative to the worktree's git folder
                found.append(Path(os.path.normpath(own / mark)).parent)
    return list(dict.fromkeys(found))
