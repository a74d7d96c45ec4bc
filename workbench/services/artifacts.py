"""Artifacts: recording what was produced, and reading exactly the version that was meant."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from workbench.domain.artifact import Artifact, ArtifactVersion
from workbench.domain.evidence import Evidence
from workbench.domain.ids import new_id
from workbench.domain.record import Stamp
from workbench.domain.task import Task
from workbench.errors import NotFoundError, RefusedError
from workbench.services.context import Context
from workbench.store.git import file_hash
from workbench.store.private import read_beneath

KEPT_UNDER = 1 << 20
"""Bytes under which the content itself is kept, not only hash, size and path."""


@dataclass(frozen=True)
class Reading:
    """The content of one version."""

    artifact: Artifact
    version: ArtifactVersion
    content: bytes
    newest: int
    """Number of the newest version, which may be another."""


def listing(ctx: Context) -> tuple[Artifact, ...]:
    """All artifacts, by key."""
    return tuple(sorted(ctx.workspace.load().artifacts.values(), key=lambda a: (a.key, a.id)))


def find(ctx: Context, name: str) -> Artifact:
    """The artifact of a unique id prefix.

    Raises:
        NotFoundError: None; where the name is a key, the message says which id is bound to it.
    """
    records = ctx.workspace.load()
    keyed = [a.id for a in records.artifacts.values() if a.key == name or any(b.key == name for b in a.bindings)]
    if keyed:
        raise NotFoundError(
            f"{name!r} is a key, not an id: the key may come to mean another artifact",
            "read it by id: " + ", ".join(sorted(keyed)),
            candidates=sorted(keyed),
        )
    found = records.find("artifacts", name)
    assert isinstance(found, Artifact)
    return found


def add(ctx: Context, task: Task, key: str, path: str, kind: str = "file") -> Artifact:
    """Record a version of what a task produced; the same content again adds nothing.

    Raises:
        NotFoundError: There is no such file beneath the worktree.
    """
    ctx.require_writable()
    digest = file_hash(ctx.location.worktree, path)
    if digest is None:
        raise NotFoundError(f"no file {path!r} beneath {ctx.location.worktree}", "name it relative to the worktree")
    size = (ctx.location.worktree / path).stat().st_size
    data = read_beneath(ctx.location.worktree, path) if size < KEPT_UNDER else None
    with ctx.workspace.transaction(ctx.actor.name, f"artifact add {task.slug} {key} {path}", now=ctx.now()) as tx:
        known = [a for a in tx.records.artifacts.values() if a.task == task.id and a.key == key]
        before = known[0] if known else Artifact(id=new_id(), task=task.id, key=key, kind=kind)
        newest = max(before.versions, key=lambda v: v.number, default=None)
        if newest is not None and newest.sha256 == digest:
            return before
        version = ArtifactVersion(
            number=newest.number + 1 if newest else 1,
            sha256=digest,
            size=size,
            path=path,
            attempt=tx.records.tasks[task.id].running,
            worktree=ctx.location.worktree_name,
            # What the mask would change is not the content of this hash any more: it stays where it is.
            kept=data is not None and tx.put_blob(data) == digest,
            made=Stamp(by=ctx.actor.name, at=tx.now),
        )
        return tx.put(before.with_(versions=(*before.versions, version)))


def read(ctx: Context, name: str, number: int | None = None) -> Reading:
    """The content of a version, and a record that it was read.

    Args:
        ctx: Where and who.
        name: Unique id prefix.
        number: Which version; else the bound one, else the newest.

    Raises:
        NotFoundError: No such artifact or version.
        RefusedError: The content is not kept, and the file is another by now.
    """
    artifact = find(ctx, name)
    if not artifact.versions:
        raise NotFoundError(f"artifact {artifact.id} has no version yet")
    newest = max(v.number for v in artifact.versions)
    wanted = number or (artifact.bindings[-1].version if artifact.bindings else newest)
    version = next((v for v in artifact.versions if v.number == wanted), None)
    if version is None:
        numbers = ", ".join(str(v.number) for v in artifact.versions)
        raise NotFoundError(f"artifact {artifact.id} has no version {wanted}", f"versions: {numbers}")
    content = _content(ctx, version)
    if content is None:
        raise RefusedError(
            f"the content of {artifact.key} version {wanted} is not here: {version.path} is another file by now",
            "ask for it, or record the present file as a new version",
        )
    _record(ctx, artifact, version)
    return Reading(artifact, version, content, newest)


def _content(ctx: Context, version: ArtifactVersion) -> bytes | None:
    if version.kept:
        return ctx.workspace.blob(version.sha256)
    data = read_beneath(ctx.location.worktree, version.path) if version.path else None
    return data if data is not None and hashlib.sha256(data).hexdigest() == version.sha256 else None


def _record(ctx: Context, artifact: Artifact, version: ArtifactVersion) -> None:
    """That this version was given out; shows nothing about its use."""
    if ctx.workspace.read_only:
        return
    records = ctx.workspace.load()
    task = records.tasks.get(ctx.env.get("WORKBENCH_TASK") or artifact.task or "")
    if task is None:
        return
    command = f"artifact read {artifact.id} --version {version.number}"
    with ctx.workspace.transaction(ctx.actor.name, command, now=ctx.now()) as tx:
        tx.append_evidence(
            Evidence(
                id=new_id(),
                kind="call",
                task=task.id,
                attempt=task.running,
                executor=ctx.actor.name,
                plan_revision=task.plan_revision,
                worktree=ctx.location.worktree_name,
                text="artifact read",
                artifact=artifact.id,
                version=version.number,
                run_by="workbench",
                trust="verified",
                at=tx.now,
            )
        )
