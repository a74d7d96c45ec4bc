"""Hints that something on disk changed: file events, coalesced, and never trusted to be complete.

The one consumer re-reads whatever a hint may be about; a slow pulse beside this catches what events
miss (storms, new folders, network mounts).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from workbench.tui.desk import Watched

STEP_MS = 20
"""How long the watcher gathers events before it hands them on."""
DEBOUNCE_MS = 50
QUIET_AFTER = 0.05
"""Seconds of rest after each hint, so that a storm costs a bounded number of reads."""


def existing(watched: Watched) -> tuple[Path, ...]:
    """The folders of ``watched`` that are there now; only these can be watched."""
    folders = dict.fromkeys((*watched.folders, *sorted(file.parent for file in watched.files)))
    return tuple(folder for folder in folders if folder.is_dir())


def counts(watched: Watched, path: str) -> bool:
    """Whether a change of ``path`` may change the view."""
    where = Path(path)
    if where in watched.files:
        return True
    beneath = any(where.is_relative_to(folder) for folder in watched.folders)
    return beneath and not where.name.endswith((".lock", ".tmp"))


async def hints(watched: Watched, stop: asyncio.Event) -> AsyncIterator[int]:
    """Yield the number of changes in each burst, until ``stop`` is set.

    Raises:
        OSError: The system gives no watch (its limit, or a folder that went away).
    """
    from watchfiles import awatch

    folders = existing(watched)
    if not folders:
        return
    async for changes in awatch(
        *folders,
        watch_filter=lambda _change, path: counts(watched, path),
        debounce=DEBOUNCE_MS,
        step=STEP_MS,
        stop_event=stop,
        force_polling=watched.poll or None,
        recursive=True,
        ignore_permission_denied=True,
    ):
        yield len(changes)
        await asyncio.sleep(QUIET_AFTER)
