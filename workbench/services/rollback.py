"""A record, or a task, as it was: planned, shown, and then made as a change like any other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from workbench.domain.artifact import Artifact
from workbench.domain.change import Change
from workbench.domain.differences import FieldDifference, differences
from workbench.domain.schema import decode
from workbench.domain.task import Task
from workbench.domain.times import instant
from workbench.errors import NotFoundError, RefusedError, VersionConflictError
from workbench.services import damage
from workbench.services.changes import entry_of, find_record
from workbench.services.context import Context
from workbench.store.names import one_of, record_path
from workbench.store.records import Damage

Document = dict[str, Any]
STAYS = "attempts, evidence, cuts, packages and artifacts stay: they tell what happened"
_CLOSED = ("complete", "cancelled")
_NOT = {
    "attempts": ("the life of an attempt is what happened, and is not rolled back", "end it: workbench attempt end"),
    "packages": ("a package never changes once it is made", "cancel it: workbench handoff cancel"),
}


@dataclass(frozen=True)
class Entry:
    """One record, before and after a rollback."""

    kind: str
    id: str
    version: int | None
    """Its version as seen; None where it does not exist now."""
    before: Document | None
    document: Document | None
    """What it becomes; None where it goes."""
    differences: tuple[FieldDifference, ...]


@dataclass(frozen=True)
class Plan:
    """What a rollback would do; nothing is changed by making it."""

    command: str
    entries: tuple[Entry, ...]
    """Only records that would change."""
    stays: str = ""
    """What is not rolled back with them."""
    damaged: tuple[Damage, ...] = ()
    """What cannot be read elsewhere, and is left as it is."""


def plan_record(ctx: Context, record: str, to: str) -> Plan:
    """A record as it was right after a change.

    Args:
        ctx: Where and who.
        record: The record, by unique id prefix, or a task's slug.
        to: The change, by unique id prefix.

    Raises:
        NotFoundError: No such record or change.
        RefusedError: It did not exist then, or is of a kind that is not rolled back.
    """
    kind, name = find_record(ctx, record)
    if kind in _NOT:
        raise RefusedError(*_NOT[kind])
    change = _change(ctx, to)
    image: Document | None = None
    reached = known = False
    for candidate in ctx.workspace.changes():
        reached = reached or candidate.id == change.id
        entry = entry_of(candidate, kind, name) if reached else None
        if entry is not None:
            image, known = entry.after, True
            break
    if not known or image is None:
        raise RefusedError(
            f"{one_of(kind)} {name} did not exist after the change {change.id} ({change.command})",
            f"see since when it does: workbench log {name}",
        )
    return Plan(f"rollback {one_of(kind)} {name} --to {change.id}", _entries(ctx, {(kind, name): image}))


def plan_task(ctx: Context, task: Task, at: datetime) -> Plan:
    """A task with its own facts and notes as they were at a moment; what came later goes.

    Raises:
        RefusedError: The task did not exist then.
        DamagedError: One of the task's own records cannot be read.
    """
    now: dict[tuple[str, str], Document | None] = {}
    then: dict[tuple[str, str], Document | None] = {}
    for change in ctx.workspace.changes():
        for record in reversed(change.records):
            key = (record.kind, record.id)
            now.setdefault(key, record.after)
            if instant(change.at) <= at:
                then.setdefault(key, record.after)
    own = {key for key, image in (*now.items(), *then.items()) if image is not None and _belongs(key[0], image, task)}
    if then.get(("tasks", task.id)) is None:
        raise RefusedError(f"task {task.slug} did not exist at that time", f"it is from {task.created.at}")
    images = {key: then.get(key) for key in own}
    mine, others = _damaged(ctx, {key: now[key] or then[key] for key in own})
    damage.refuse(mine, f"rolling task {task.slug} back")
    return Plan(f"rollback --task {task.slug} --at {at.isoformat()}", _entries(ctx, images), STAYS, others)


def _damaged(
    ctx: Context, own: Mapping[tuple[str, str], Document | None]
) -> tuple[tuple[Damage, ...], tuple[Damage, ...]]:
    """What cannot be read: of these records, and elsewhere, unreadable lines of the log included."""
    paths = {record_path(kind, image) for (kind, _), image in own.items() if image is not None}
    found = ctx.workspace.load().damaged
    mine = tuple(row for row in found if row.path in paths)
    return mine, (*(row for row in found if row.path not in paths), *ctx.workspace.damaged_changes())


def _belongs(kind: str, document: Document, task: Task) -> bool:
    match kind:
        case "tasks":
            return bool(document.get("id") == task.id)
        case "facts":
            return bool(document.get("scope") == task.id)
        case "notes":
            return bool(document.get("task") == task.id)
        case _:
            return False


def carry_out(ctx: Context, plan: Plan, why: str = "") -> Change | None:
    """Make a plan so; a change like any other, that undo takes back.

    Returns:
        The change; None where nothing had to change.

    Raises:
        HumanNeededError: No person stands behind this process.
        VersionConflictError: A record changed since the plan was made.
    """
    ctx.require_human("rolling back")
    ctx.require_writable()
    if not plan.entries:
        return None
    with ctx.workspace.transaction(ctx.actor.name, plan.command, why, now=ctx.now()) as tx:
        for entry in plan.entries:
            current = tx.document(entry.kind, entry.id)
            found = int(current.get("version", 1)) if current is not None else None
            if found != entry.version:
                raise VersionConflictError(
                    f"{one_of(entry.kind)} {entry.id} changed meanwhile",
                    "look again, then repeat the command",
                    expected=entry.version,
                    found=found,
                )
            if entry.document is not None:
                tx.put_document(entry.kind, entry.document)
            else:
                tx.remove(entry.kind, entry.id)
    return next(change for change in ctx.workspace.changes() if change.id == tx.id)


def _change(ctx: Context, prefix: str) -> Change:
    wanted = prefix.strip().lower()
    found = [change for change in ctx.workspace.changes() if wanted and change.id.startswith(wanted)]
    exact = [change for change in found if change.id == wanted]
    if len(exact or found) != 1:
        many = f"{prefix[:40]!r} fits {len(found)} changes" if found else f"no change {prefix[:40]!r}"
        raise NotFoundError(many, "see: workbench log", candidates=[f"{c.id}  {c.command}" for c in found[:8]])
    return (exact or found)[0]


def _entries(ctx: Context, images: dict[tuple[str, str], Document | None]) -> tuple[Entry, ...]:
    entries = []
    for (kind, name), image in sorted(images.items()):
        current = ctx.workspace.document(kind, name)
        if image is not None:
            image = _fitting(ctx, kind, image, current)
        changed = differences(current, image)
        if (current is None and image is None) or (current is not None and image is not None and not changed):
            continue
        version = int(current.get("version", 1)) if current is not None else None
        entries.append(Entry(kind, name, version, current, image, changed))
    return tuple(entries)


def _fitting(ctx: Context, kind: str, image: Document, current: Document | None) -> Document:
    """An old document as it may stand today."""
    if kind == "tasks":
        return _task(ctx, image, current)
    if kind == "artifacts":
        for version in decode(Artifact, image).versions:
            if version.kept:
                _must_be_kept(ctx, version.sha256)
    return image


def _must_be_kept(ctx: Context, sha256: str) -> None:
    try:
        ctx.workspace.blob(sha256)
    except NotFoundError:
        raise RefusedError(f"the content {sha256[:12]} is not kept any more", "record the file again") from None


def _task(ctx: Context, image: Document, current: Document | None) -> Document:
    """A task's contract and state of then: which attempt runs is never rolled back, and revisions count up."""
    if current is None:
        return {**image, "running": None}
    now, then = decode(Task, current), decode(Task, image)
    if now.running is not None and then.status in _CLOSED:
        raise RefusedError(
            f"task {now.slug} was {then.status} then, and an attempt runs now", "end it first: workbench attempt end"
        )
    taken = {task.slug for task in ctx.workspace.load().tasks.values() if task.id != now.id}
    kept = {
        "running": now.running,
        "plan_revision": now.plan_revision + (now.contract != then.contract),
        "slug": now.slug if then.slug in taken else then.slug,
    }
    document = {**image, **kept}
    document.pop("contested", None)
    return {**document, "contested": current["contested"]} if "contested" in current else document
