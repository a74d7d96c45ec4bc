"""What lies beside a Claude Code session file: its sub-agents' own files, and outputs too large for it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from workbench.sessions.packed import is_there

_MOST = 500
"""Files of sub-agents that are looked at."""
_NAME = re.compile(r"tool-results[/\\]([\w.-]{1,200})")


def children(path: Path, named: Sequence[str]) -> list[Path]:
    """The files of a session's sub-agents: in its own folder, or, of older versions, beside it and named by it."""
    found: list[Path] = []
    for folder, folders, names in os.walk(path.with_suffix("") / "subagents"):
        folders.sort()
        found += [Path(folder, name) for name in sorted(names) if name.startswith("agent-") and name.endswith(".jsonl")]
        if len(found) >= _MOST:
            break
    known = {file.name for file in found}
    for name in named:
        file = path.with_name(f"{name}.jsonl")
        if file.name not in known and is_there(file):
            found.append(file)
    return found[:_MOST]


def name_of(text: str, stated: object) -> str | None:
    """The name of the file that holds the whole of an output, where the result is only its beginning."""
    where = stated if isinstance(stated, str) else text[:2000]
    found = _NAME.search(where)
    return found[1] if found and found[1] not in (".", "..") else None


def outside(path: Path, name: str) -> Path:
    """Where that file lies: in the session's own folder, wherever the record says that this was."""
    return path.with_suffix("") / "tool-results" / name
