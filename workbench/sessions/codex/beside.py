"""The files of a Codex session's sub-agents, which lie among all others by the day they began."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from workbench.sessions.codex.facts import born
from workbench.sessions.packed import is_packed


def children(path: Path, named: Sequence[str]) -> list[Path]:
    """The files of the sessions of these ids; ids that name no session here are left out."""
    root = next((folder for folder in path.parents if folder.name == "sessions"), None)
    found = []
    for identity in named:
        for folder in dict.fromkeys((path.parent, *_days(root, identity))):
            file = _file(folder, identity)
            if file is not None:
                found.append(file)
                break
    return found


def _days(root: Path | None, identity: str) -> list[Path]:
    """The folders of the day that an id was made on; names are in local time, so of the days around it as well."""
    moment = born(identity)
    if root is None or moment is None:
        return []
    try:
        day = datetime.fromtimestamp(moment / 1000, UTC)
        around = [day + timedelta(days=shift) for shift in (0, -1, 1)]
    except (OverflowError, ValueError, OSError):
        return []
    return [root / f"{one:%Y}" / f"{one:%m}" / f"{one:%d}" for one in around]


def _file(folder: Path, identity: str) -> Path | None:
    endings = (f"-{identity}.jsonl", f"-{identity}.jsonl.zst")
    try:
        files = [file for file in folder.iterdir() if file.name.endswith(endings)]
    except OSError:
        return None
    return min(files, key=is_packed, default=None)
