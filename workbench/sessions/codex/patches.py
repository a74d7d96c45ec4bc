"""Patches: which files one names, and what became of them."""

from __future__ import annotations

import re
from typing import Any, Literal

from workbench.domain.message import DIFF_LIMIT, FileChange

_HEADER = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+?)\s*$|^\*\*\* Move to: (.+?)\s*$", re.MULTILINE)
Op = Literal["create", "update", "delete", "move"]
_OPS: dict[str, Op] = {"Add": "create", "Update": "update", "Delete": "delete", "add": "create", "delete": "delete"}


def paths(patch: str) -> tuple[str, ...]:
    """The files that a patch names, each once, in its order."""
    return tuple(dict.fromkeys(found[2] or found[3] for found in _HEADER.finditer(patch)))


def changes_in(patch: str) -> tuple[FileChange, ...]:
    """The changes that a patch makes where it is applied; for files whose program does not say what it applied."""
    found = list(_HEADER.finditer(patch))
    made: list[FileChange] = []
    for number, header in enumerate(found):
        end = found[number + 1].start() if number + 1 < len(found) else len(patch)
        if header[3] is not None:
            if made:
                # The rows that follow a new name belong to the file before it.
                moved = made.pop()
                made.append(_change(header[3], "move", moved.path, patch[header.end() : end]))
            continue
        made.append(_change(header[2], _OPS[header[1]], None, patch[header.end() : end]))
    return tuple(made)


def _change(path: str, op: Op, old: str | None, rows: str) -> FileChange:
    rows = rows.partition("*** End Patch")[0].strip("\n")
    lines = [row for row in rows.split("\n") if row[:1] in ("+", "-")]
    added = sum(row[0] == "+" for row in lines)
    return FileChange(
        path=path,
        op=op,
        old_path=old,
        added=added if op != "delete" else None,
        removed=len(lines) - added if op != "delete" else None,
        diff=(rows[:DIFF_LIMIT] or None) if op in ("update", "move") else None,
    )


def reported(changes: Any) -> tuple[FileChange, ...]:
    """The changes that the program reports as applied, by path."""
    if not isinstance(changes, dict):
        return ()
    made = []
    for path, change in changes.items():
        fields = change if isinstance(change, dict) else {}
        kind = fields.get("type")
        target = fields.get("move_path")
        if kind == "add" or kind == "delete":
            content = fields.get("content")
            count = _lines(content) if isinstance(content, str) else None
            added, removed = (count, 0) if kind == "add" else (0, count)
            made.append(FileChange(path=path, op=_OPS[kind], added=added, removed=removed))
            continue
        diff = fields.get("unified_diff")
        rows = diff.split("\n") if isinstance(diff, str) else []
        moved = target if isinstance(target, str) and target not in ("", path) else None
        made.append(
            FileChange(
                path=moved or path,
                op="move" if moved else "update",
                old_path=path if moved else None,
                added=sum(r[:1] == "+" and r[:3] != "+++" for r in rows) if rows else None,
                removed=sum(r[:1] == "-" and r[:3] != "---" for r in rows) if rows else None,
                diff=diff[:DIFF_LIMIT] if isinstance(diff, str) and diff else None,
            )
        )
    return tuple(made)


def _lines(content: str) -> int:
    return content.count("\n") + (content[-1:] not in ("", "\n"))
