"""The files a package rests on, hashed beneath the worktree: bounded, and without following a link."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from workbench.domain.artifact import Artifact
from workbench.domain.task import Task
from workbench.errors import RefusedError
from workbench.handoff.fingerprint import Held
from workbench.store.git import file_hash

MOST_FILES = 5_000
"""Files taken beneath the targets; what is left off is named."""
SKIPPED = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".workbench",
        "node_modules",
        "__pycache__",
        ".venv",
        "venv",
        ".tox",
        ".nox",
        ".mypy_cache",
        ".ruff_cache",
        ".pytest_cache",
        "target",
        "dist",
        "build",
    }
)
"""Folders made by tools: which files git ignores is not known before the person trusts the folder."""


@dataclass(frozen=True)
class Watched:
    """The files beneath the targets, by path relative to the worktree."""

    paths: tuple[str, ...]
    left_off: tuple[str, ...] = ()
    """Targets that hold more files than are looked at."""


def beneath(base: Path, targets: Iterable[str]) -> Watched:
    """The files that ``targets`` name: a file itself, or all files beneath a folder.

    A target that leaves ``base``, or that a link leads to, counts as a file of that name.
    """
    paths: dict[str, None] = {}
    left_off: list[str] = []
    for target in targets:
        relative = _relative(target)
        if relative is None:
            continue
        place = base / relative
        if not _is_folder(base, relative):
            paths[relative] = None
            continue
        for found in _walk(place):
            if len(paths) >= MOST_FILES:
                left_off.append(target)
                break
            paths[found.relative_to(base).as_posix()] = None
    return Watched(tuple(sorted(paths)), tuple(left_off))


def rests_on(
    base: Path, task: Task, evidence: Iterable[Held] = (), artifacts: Iterable[Artifact] = (), more: Iterable[str] = ()
) -> Watched:
    """Every file that a package of ``task`` rests on.

    Args:
        base: The worktree.
        task: Its contract's targets are walked.
        evidence: The files it depends on.
        artifacts: The paths of their newest versions.
        more: Changed files, and those of an earlier fingerprint (which may lie there no longer).
    """
    watched = beneath(base, task.contract.targets)
    named = {file.path for held in evidence for file in held.evidence.files}
    for artifact in artifacts:
        newest = max(artifact.versions, key=lambda v: v.number, default=None)
        if newest is not None and newest.path:
            named.add(newest.path)
    kept = {path for path in map(_relative, (*named, *more)) if path is not None}
    return Watched(tuple(sorted(kept.union(watched.paths))), watched.left_off)


def hashes(
    base: Path, paths: Iterable[str], sha256: Callable[[Path, str], str | None] = file_hash
) -> dict[str, str | None]:
    """Path to content hash; None where there is no such file beneath ``base``.

    ``sha256`` may remember what it read.
    """
    found: dict[str, str | None] = {}
    for path in paths:
        try:
            found[path] = sha256(base, path)
        except RefusedError:  # a link that leads out: nothing of the worktree's
            found[path] = None
    return found


def _relative(path: str) -> str | None:
    """``path`` in its plain form (``.`` for the folder itself); None where it is none beneath a base."""
    pure = PurePosixPath(path)
    if not path or pure.is_absolute() or ".." in pure.parts or "\0" in path:
        return None
    return pure.as_posix()


def _open_beneath(base: Path, relative: str) -> int:
    """Opens part by part, so that no link on the way leads out of ``base``."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    folder = os.open(base, os.O_RDONLY | os.O_DIRECTORY)
    *above, name = PurePosixPath(relative).parts or (".",)
    try:
        for part in above:
            inner = os.open(part, flags | os.O_DIRECTORY, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(name, flags, dir_fd=folder)
    finally:
        os.close(folder)


def _is_folder(base: Path, relative: str) -> bool:
    try:
        fd = _open_beneath(base, relative)
    except (OSError, ValueError):
        return False
    try:
        return stat.S_ISDIR(os.fstat(fd).st_mode)
    finally:
        os.close(fd)


def _walk(folder: Path) -> Iterator[Path]:
    """Regular files in name order, depth first; links are not followed, tools' folders skipped."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in SKIPPED:
                yield from _walk(Path(entry.path))
        elif entry.is_file(follow_symlinks=False):
            yield Path(entry.path)
