"""Hints that something on disk changed: file events, coalesced, and never trusted to be complete.

Who gets a hint reads everything again that it may be about. What events miss (storms, a stopped
process, folders made meanwhile, mounts without events) is caught by a slow look beside this, so few
folders need a watch: the workspace and the folders in it, every change leaving a line in one of the
first, and the folders of single files, since a watch on a file dies when the file is replaced.
Nothing is descended into further, and no link is followed.
"""

from __future__ import annotations

import asyncio
import os
import re
import stat
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path
from typing import NamedTuple

DEBOUNCE_MS = 50
QUIET_AFTER = 0.05
"""Seconds of rest after each hint, so that a storm costs a bounded number of reads."""
MOST_FOLDERS = 512
"""Folders that are watched; the rest is left to the slow look."""
_TREES = (
    "node_modules .git .hg .svn .venv venv __pycache__ .mypy_cache .ruff_cache .pytest_cache .tox .nox .gradle .next "
    ".nuxt .cache dist build target out coverage vendor"
)
BUILD_TREES = frozenset(_TREES.split())
"""Folders that programs fill: files in them wake nobody."""
_WITHOUT_EVENTS = re.compile(r"9p|nfs\d?|cifs|smb\w*|fuse(\..*)?|fuseblk|sshfs|virtiofs|vboxsf|afs|ncpfs|prl_fs|drvfs")
_MOUNTS = Path("/proc/self/mountinfo")
_QUIET_NAMES = (".lock", ".tmp", "-journal")
_MADE_HERE = ".local"
"""The folder of what concerns this machine: of it only small values count, and neither locks nor caches."""
_SHOWN_NOWHERE = "heard.json"
"""Of those, how far sessions were heard: it is written with every line, and no view says it."""


@dataclass(frozen=True)
class Watched:
    """What to watch, and how."""

    folders: tuple[Path, ...]
    """Workspaces: everything in them and directly beneath counts."""
    files: frozenset[Path] = field(default_factory=frozenset)
    """Single files, anywhere; only they count of their folders."""
    poll: bool | None = None
    """True: no events at all; False: events whatever the file system; None: as the file system is."""
    ignore: tuple[str, ...] = ()
    """Globs of paths that wake nobody."""
    step: int = 8
    """Milliseconds between two looks at the queue of events: a change is told after one to two of them."""


class Hint(NamedTuple):
    """What a burst of changes may have been about."""

    inside: bool
    """Something in the workspaces."""
    files: bool
    """Single files."""


class NoEventsError(Exception):
    """Events cannot be had; the slow look alone keeps the view right."""


Arms = dict[Path, tuple[int, int]]
"""Folders with device and inode, by which one that was replaced or made again is told."""


def arms(watched: Watched) -> Arms:
    """The folders that can be watched now: those that are there and no links, two levels deep where they are few."""
    found: Arms = {}
    for file in sorted(watched.files):
        if len(found) < MOST_FOLDERS and not _ignored(watched, file):
            _add(found, file.parent)
    for root in watched.folders:
        if _add(found, root):
            for folder in _folders_in(root):
                if _add(found, folder):
                    inner = _folders_in(folder)
                    for one in inner if len(found) + len(inner) < MOST_FOLDERS else ():
                        _add(found, one)
    return found


def _folders_in(folder: Path) -> list[Path]:
    """The folders in a folder, links left out; no more than may be watched at all."""
    try:
        with os.scandir(folder) as entries:
            inner = [e.name for e in islice(entries, MOST_FOLDERS) if e.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return [folder / name for name in sorted(inner)]


def _add(found: Arms, folder: Path) -> bool:
    try:
        state = folder.lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(state.st_mode):
        return False
    found[folder] = state.st_dev, state.st_ino
    return True


def _ignored(watched: Watched, path: Path) -> bool:
    """Whether a file is one that programs write by themselves."""
    if not BUILD_TREES.isdisjoint(path.parts[:-1]) and ".git" not in path.parts:
        return True
    return any(fnmatch(str(path), glob) or fnmatch(path.name, glob) for glob in watched.ignore)


def sieve(watched: Watched) -> Callable[[str], bool]:
    """A quick test of whether a change of a path may change the view."""
    files = frozenset(str(file) for file in watched.files if not _ignored(watched, file))
    roots = tuple(f"{folder}/" for folder in watched.folders)
    ignore = watched.ignore

    def counts(path: str) -> bool:
        if path in files:
            return True
        if not path.startswith(roots) or path.endswith(_QUIET_NAMES):
            return False
        above, _, name = path.rpartition("/")
        if above.endswith(f"/{_MADE_HERE}"):
            return name.endswith(".json") and name != _SHOWN_NOWHERE
        return not any(fnmatch(path, glob) or fnmatch(name, glob) for glob in ignore)

    return counts


def without_events(folders: Iterable[Path], mounts: Path = _MOUNTS) -> str:
    """The kind of file system, among those of ``folders``, that gives no events of other machines' changes."""
    try:
        lines = mounts.read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    kinds: dict[str, str] = {}
    for line in lines:
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) > 4 and after:
            place = re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), fields[4])
            kinds[place.rstrip("/") or "/"] = after.split(" ")[0]
    for folder in folders:
        at = Path(os.path.realpath(folder))
        kind = next((kinds[str(place)] for place in (at, *at.parents) if str(place) in kinds), "")
        if _WITHOUT_EVENTS.fullmatch(kind):
            return kind
    return ""


async def hints(watched: Watched, stop: asyncio.Event, folders: Arms | None = None) -> AsyncIterator[Hint]:
    """Yield after each burst of changes, until ``stop`` is set; the first after a rest at once.

    Args:
        watched: What to watch.
        stop: Ends it.
        folders: What :func:`arms` said, where that was asked for already.

    Yields:
        What may have changed.

    Raises:
        NoEventsError: Events cannot be had here, are not wanted, or ran into a limit of the system.
    """
    folders = arms(watched) if folders is None else folders
    if watched.poll:
        raise NoEventsError("")
    kind = without_events(folders) if watched.poll is None else ""
    if kind:
        raise NoEventsError(f"{kind} file systems do not send them")
    if not folders:
        return
    counts, single = sieve(watched), frozenset(map(str, watched.files))
    from watchfiles import awatch

    try:
        async for changes in awatch(
            *folders,
            watch_filter=None,
            debounce=DEBOUNCE_MS,
            step=watched.step,
            stop_event=stop,
            force_polling=False,
            recursive=False,
            ignore_permission_denied=True,
        ):
            told = [path for _change, path in changes if counts(path)]
            if told:
                yield Hint(inside=not single.issuperset(told), files=not single.isdisjoint(told))
                await asyncio.sleep(QUIET_AFTER)
    except FileNotFoundError:
        return  # a folder went between the look and the watch
    except (OSError, RuntimeError) as error:
        raise NoEventsError(f"the system gives no more watches: {error}") from error


async def until_other(
    look: Callable[[], Watched], watched: Watched, folders: Arms, stop: asyncio.Event, every: float
) -> None:
    """Set ``stop`` when something else is to be watched, or a folder is not the one it was.

    Args:
        look: Says what is to be watched now.
        watched: What is watched.
        folders: The folders as they were when the watch began.
        stop: Is set.
        every: Seconds between two looks.
    """

    def same() -> bool:
        return look() == watched and arms(watched) == folders

    while await asyncio.to_thread(same):
        await asyncio.sleep(every)
    stop.set()
