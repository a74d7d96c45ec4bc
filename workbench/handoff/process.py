"""Which process a number means: numbers come again, so the moment of its beginning is part of its name."""

from __future__ import annotations

import os
from pathlib import Path

_BEGAN = 19
"""Where the moment of its beginning stands in what the system says of a process."""
_ENDED = (b"Z", b"X")
"""States of a process that has ended."""


def born(pid: int | None) -> str:
    """When a process began, as the system counts; empty where it has ended, or the system does not say."""
    fields = _stat(pid) if pid is not None else []
    return fields[_BEGAN].decode() if len(fields) > _BEGAN and fields[0] not in _ENDED else ""


def _stat(pid: int) -> list[bytes]:
    """What the system says of a process after its name, its state first; empty where it says nothing."""
    try:
        stat = (Path("/proc") / str(pid) / "stat").read_bytes()
    except OSError:
        return []
    return stat[stat.rfind(b")") + 1 :].split()  # the name stands in parentheses and may itself hold some


def lives(pid: int, began: object = None) -> bool:
    """Whether a process is there; one of another user counts, another one that got its number does not.

    One that has ended and waits for its parent to ask how has ended.
    """
    fields = _stat(pid)
    if fields[:1] and fields[0] in _ENDED:
        return False
    if began and born(pid) not in ("", began):
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
