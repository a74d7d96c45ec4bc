"""Artifacts that sessions show by themselves: the files that agents wrote, one version a writing, stored nowhere.

A version is told by the hash of its content where the session holds that, or where the file is still as it was
left; else by the edit alone, which the message shows (``domain.md``, Artifacts).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.domain.ids import id_from
from workbench.domain.task import Attempt, Task
from workbench.domain.times import instant
from workbench.errors import NotFoundError, RefusedError
from workbench.services import tasks
from workbench.services.context import Context
from workbench.services.seen import SETTLES, Place, Seen, seen_sessions, written
from workbench.services.sessions import AttachedSession, attached
from workbench.sessions.observed import Touched
from workbench.sessions.written import content
from workbench.store.private import read_beneath


@dataclass(frozen=True)
class SeenVersion:
    """One writing of a file."""

    number: int
    op: str
    """``create``, ``update``, ``move`` or ``delete``."""
    source: str
    """``SESSION#MESSAGE`` that shows it."""
    at: str
    by: str
    """The executor of the attempt."""
    attempt: str
    path: str
    """Relative to its worktree."""
    worktree: Path
    sha256: str | None
    """None where the session holds only the edit, and the file is another by now."""
    size: int | None
    content: bytes | None
    """Where the session itself holds it."""


@dataclass(frozen=True)
class SeenArtifact:
    """A file that the sessions of a task wrote."""

    id: str
    task: str
    key: str
    """The output of the contract that it is, else its path."""
    versions: tuple[SeenVersion, ...]
    kind: str = "file"


def derive(
    ctx: Context, task: Task, sessions: Iterable[AttachedSession], attempts: Sequence[Attempt]
) -> tuple[SeenArtifact, ...]:
    """The files that the sessions of a task wrote, by key."""
    writings: dict[Place, list[tuple[Seen, Touched]]] = {}
    known: set[tuple[Place, str]] = set()
    for one in seen_sessions(ctx, sessions, attempts):
        for touched in one.observed.touched:
            place = one.place(touched.path)
            # A fork repeats what it began with under the same ids: that was written once.
            if place is not None and (place, touched.message.id) not in known:
                known.add((place, touched.message.id))
                writings.setdefault(place, []).append((one, touched))
    outputs = {output.path: output.key for output in task.contract.outputs if output.path}
    found = []
    for place, rows in writings.items():
        rows.sort(key=lambda row: instant(row[1].message.at))
        versions = tuple(
            _version(ctx, place, number, *row, newest=number == len(rows)) for number, row in enumerate(rows, 1)
        )
        key = outputs.get(place.path, place.path)
        found.append(SeenArtifact(id_from(task.id, "file", str(place.root), place.path), task.id, key, versions))
    return tuple(sorted(found, key=lambda one: (one.key, one.id)))


def _version(ctx: Context, place: Place, number: int, one: Seen, touched: Touched, *, newest: bool) -> SeenVersion:
    message, call = touched.message, touched.call
    held = content(one.state.log.body(call), touched.change.path) if call is not None else None
    sha256 = hashlib.sha256(held).hexdigest() if held is not None else None
    size = len(held) if held is not None else None
    if sha256 is None and newest and touched.change.op != "delete" and message.at:
        file = place.root / place.path
        left = written(file)
        if left is not None and left <= (instant(message.at) + SETTLES).timestamp():
            sha256 = ctx.hashes.sha256(place.root, place.path)
            size = file.stat().st_size if sha256 is not None else None
    return SeenVersion(
        number=number,
        op=touched.change.op,
        source=message.ref,
        at=message.at or "",
        by=one.attempt.executor,
        attempt=one.attempt.id,
        path=place.path,
        worktree=place.root,
        sha256=sha256,
        size=size,
        content=held,
    )


def listing(ctx: Context, task: Task) -> tuple[SeenArtifact, ...]:
    """The files that the sessions of a task wrote, read now."""
    records = ctx.workspace.load()
    mine = sorted((a for a in records.attempts.values() if a.task == task.id), key=lambda a: (a.started.at, a.id))
    with ctx.lock:
        return derive(ctx, task, attached(ctx, records, task), mine)


def of_current(ctx: Context) -> tuple[SeenArtifact, ...]:
    """Those of the current task; none where there is no such task."""
    try:
        return listing(ctx, tasks.resolve(ctx, "@"))
    except NotFoundError:
        return ()


def named(ctx: Context, prefix: str) -> SeenArtifact | None:
    """One of the current task by unique id prefix; None where it is not one of these, or a stored one.

    Raises:
        NotFoundError: Several.
    """
    wanted = prefix.strip().lower()
    if not wanted or any(name.startswith(wanted) for name in ctx.workspace.load().artifacts):
        return None
    found = [one for one in of_current(ctx) if one.id.startswith(wanted)]
    if len(found) > 1:
        names = [one.id for one in found]
        raise NotFoundError(f"{prefix[:60]!r} fits {len(found)} artifacts", "give more of the id", candidates=names)
    return found[0] if found else None


def read(artifact: SeenArtifact, number: int | None = None) -> tuple[SeenVersion, bytes]:
    """The content of a version; the newest where no number is given.

    Raises:
        NotFoundError: There is no such version.
        RefusedError: Nothing holds its content any more.
    """
    wanted = artifact.versions[-1].number if number is None else number
    version = next((one for one in artifact.versions if one.number == wanted), None)
    if version is None:
        raise NotFoundError(f"artifact {artifact.id} has no version {wanted}", f"it has {len(artifact.versions)}")
    data = version.content
    if data is None and version.sha256 is not None:
        data = read_beneath(version.worktree, version.path)
    if data is None or hashlib.sha256(data).hexdigest() != version.sha256:
        raise RefusedError(
            f"the session holds only the edit that made version {wanted} of {artifact.key}",
            f"look at it: workbench history show @ {version.source}",
        )
    return version, data
