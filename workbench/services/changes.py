"""What changed, by whom, and taking the last change back."""

from __future__ import annotations

from itertools import islice

from workbench.domain.change import Change, RecordChange
from workbench.domain.ids import new_id
from workbench.domain.record import Json
from workbench.domain.schema import decode
from workbench.domain.trimming import Trim
from workbench.errors import NotFoundError, RefusedError, VersionConflictError
from workbench.services.context import Context

_INVERSE = {"drop": "restore", "summarise": "restore", "externalise": "restore", "pin": "unpin", "unpin": "pin"}


def log(ctx: Context, record: str | None = None, limit: int = 50) -> tuple[list[Change], int]:
    """Changes, newest first, and how many were left off; of one record (id prefix) or of all."""
    found = [
        change
        for change in ctx.workspace.changes()
        if record is None
        or any(r.id.startswith(record) for r in change.records)
        or any(record in append.path for append in change.appends)
    ]
    if record is not None and not found:
        raise NotFoundError(f"no change names a record {record!r}", "see: workbench log")
    return found[:limit], max(0, len(found) - limit)


def before_image(ctx: Context, change: Change, record: RecordChange) -> dict[str, Json] | None:
    """A record's document before a change: what the change before it left; None where it did not exist."""
    older = iter(ctx.workspace.changes())
    for candidate in older:
        if candidate.id == change.id:
            break
    for candidate in older:
        for entry in candidate.records:
            if entry.kind == record.kind and entry.id == record.id:
                return entry.after
    return None


def undo_target(ctx: Context) -> Change:
    """The actor's last change that is not undone yet.

    Raises:
        NotFoundError: There is none.
        RefusedError: It is of a kind that cannot be taken back this way; the message says what can be done.
    """
    undone: set[str] = set()
    for change in islice(ctx.workspace.changes(), 500):
        if change.undoes:
            undone.add(change.undoes)
        elif change.actor == ctx.actor.name and change.id not in undone:
            _refuse_final(change)
            return change
    raise NotFoundError(f"{ctx.actor.name} has no change that could be undone")


def _refuse_final(change: Change) -> None:
    for append in change.appends:
        if append.path.startswith("packages/"):
            raise RefusedError(
                f"the last change, {change.command!r}, concerns a package and is not undone this way",
                "cancel the package: workbench handoff cancel P",
            )
        if append.path.startswith("evidence/"):
            raise RefusedError(f"the last change, {change.command!r}, recorded evidence, which stays")


def describe(change: Change) -> str:
    """What undoing a change would take back, in one line."""
    return f"{change.command} (by {change.actor}, {change.at})"


def undo(ctx: Context, expect: str | None = None) -> Change:
    """Take the actor's last change back; itself a change like any other.

    Args:
        ctx: Where and who.
        expect: Id of the change that was shown to the person.

    Raises:
        VersionConflictError: A record changed since, or another change is the last one now.
    """
    ctx.require_writable()
    target = undo_target(ctx)
    if expect is not None and target.id != expect:
        raise VersionConflictError(f"your last change is now {describe(target)}", "look again", found=target.id)
    images = [(record, before_image(ctx, target, record)) for record in target.records]
    with ctx.workspace.transaction(ctx.actor.name, f"undo: {target.command}", now=ctx.now(), undoes=target.id) as tx:
        for record, image in images:
            current = tx.get(record.kind, record.id)
            if current is None or current.version != record.version:
                raise VersionConflictError(
                    f"{record.kind} {record.id} changed since {target.command!r}",
                    "see: workbench log " + record.id,
                    found=current.version if current else None,
                    expected=record.version,
                )
            if image is None:
                tx.remove(record.kind, record.id)
            else:
                tx.put_document(record.kind, image | {"version": current.version})
        for append in target.appends:
            if append.path.startswith("trims/"):
                line = decode(Trim, append.line)
                if line.act not in _INVERSE:
                    raise RefusedError(f"{target.command!r} is undone by giving the messages their class again")
                session = str(append.line["session"])
                tx.append_trim(
                    session,
                    line.with_(
                        id=new_id(),
                        after=None,
                        act=_INVERSE[line.act],
                        by=ctx.actor.name,
                        at=tx.now,
                        why="undo",
                        blobs={},
                    ),
                )
    return target
