"""What changed, by whom, and taking the last change back."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from workbench.domain.change import Change, RecordChange
from workbench.domain.differences import differences
from workbench.domain.fact import value_text
from workbench.domain.ids import new_id
from workbench.domain.record import Json
from workbench.domain.schema import decode
from workbench.domain.trimming import Trim
from workbench.errors import NotFoundError, RefusedError, VersionConflictError
from workbench.services.context import Context
from workbench.services.view import Step
from workbench.store.names import one_of
from workbench.store.transaction import Transaction
from workbench.text import one_line

_STAY = {
    "doctor --fix": "a repair, which stays",
    "purge ": "a purge: nothing of what it took can come back",
    "merge ": "a merge, which is not taken back as one; roll single records back: workbench rollback",
}
"""Changes that are not undone, by how their command begins."""
_EVIDENCE = "evidence/"
"""Where lines of evidence are appended: what was observed or claimed then was so, and is never taken back."""
_INVERSE = {"drop": "restore", "summarise": "restore", "externalise": "restore", "pin": "unpin", "unpin": "pin"}


def log(ctx: Context, record: str | None = None, limit: int = 50) -> tuple[list[Change], int]:
    """Changes, newest first, and how many were left off; of what one word names (see :func:`named`) or of all."""
    names = named(ctx, record) if record is not None else ()
    found = [
        change
        for change in ctx.workspace.changes()
        if record is None
        or any(r.id.startswith(names) for r in change.records)
        or any(name in append.path for append in change.appends for name in names)
    ]
    if record is not None and not found:
        raise NotFoundError(f"no change names a record {record!r}", "see: workbench log")
    return found[:limit], max(0, len(found) - limit)


def named(ctx: Context, word: str) -> tuple[str, ...]:
    """What the ids of the records that a word names begin with: the word itself, as a beginning of an id.

    And the tasks of that slug, the facts and notes of that key, of all times.
    """
    records = ctx.workspace.load()
    key = records.registry.canonical(word)
    ids = [task.id for task in records.tasks.values() if task.slug == word]
    ids += [fact.id for fact in records.facts.values() if records.registry.canonical(fact.key) == key]
    ids += [note.id for note in records.notes.values() if note.key == word]
    return (word, *ids)


def timeline(ctx: Context, kind: str, identifier: str) -> tuple[Step, ...]:
    """What happened to a record, newest first, field by field; to a fact, with what it took the place of.

    Args:
        ctx: Where.
        kind: The name of its table, or of one record.
        identifier: Its id, or a unique beginning of it; records that were taken away are found, too.

    Raises:
        NotFoundError: No change names such a record.
    """
    table, name = find_record(ctx, identifier, kind)
    registry = ctx.workspace.load().registry
    fact = registry.facts.get(name) if table == "facts" else None
    earlier = {old.id: old for old in registry.replaced(fact)} if fact is not None and fact.accepted else {}
    told: list[tuple[Change, RecordChange]] = []
    for change in ctx.workspace.changes():
        told += [(change, entry) for one in (name, *earlier) if (entry := entry_of(change, table, one)) is not None]
    before: dict[str, dict[str, Json] | None] = {}
    steps: list[Step] = []
    for change, entry in reversed(told):
        steps.append(
            Step(
                change=change.id,
                at=change.at,
                actor=change.actor,
                command=change.command,
                why=change.why,
                version=entry.version,
                differences=differences(before.get(entry.id), entry.after) if entry.after is not None else (),
                gone=entry.after is None,
                undoes=change.undoes,
                earlier=earlier.get(entry.id),
            )
        )
        before[entry.id] = entry.after
    return tuple(reversed(steps))


def entry_of(change: Change, kind: str, identifier: str) -> RecordChange | None:
    """What a change left of a record; of a record whose file moved, the second of its two entries."""
    return next((r for r in reversed(change.records) if r.kind == kind and r.id == identifier), None)


def find_record(ctx: Context, prefix: str, kind: str | None = None) -> tuple[str, str]:
    """Table and id of the record that a prefix (or a task's slug) names, among all that ever were.

    Raises:
        NotFoundError: None, or several.
    """
    wanted = prefix.strip().lower()
    known = {(record.kind, record.id) for change in ctx.workspace.changes() for record in change.records}
    found = {(table, name) for table, name in known if wanted and name.startswith(wanted)}
    exact = {(table, name) for table, name in found if name == wanted}
    slugs = {("tasks", task.id) for task in ctx.workspace.load().tasks.values() if task.slug == prefix}
    found = exact or found or slugs
    if kind is not None:
        found = {(table, name) for table, name in found if kind in (table, one_of(table))}
    if len(found) != 1:
        many = f"{prefix[:40]!r} fits {len(found)} records" if found else f"no change names a record {prefix[:40]!r}"
        raise NotFoundError(many, "see: workbench log", candidates=sorted(f"{one_of(t)} {n}" for t, n in found))
    return found.pop()


def before_images(ctx: Context, change: Change) -> dict[tuple[str, str], dict[str, Json] | None]:
    """The documents of a change's records before it; None for one that did not exist.

    Raises:
        RefusedError: The log does not tell what a record was before.
    """
    wanted = {(record.kind, record.id): record for record in change.records}
    images: dict[tuple[str, str], dict[str, Json] | None] = {}
    reached = False
    for candidate in ctx.workspace.changes():
        if not reached:
            reached = candidate.id == change.id
            continue
        for record in reversed(candidate.records):
            if (record.kind, record.id) in wanted:
                images.setdefault((record.kind, record.id), record.after)
        if len(images) == len(wanted):
            break
    for key, record in wanted.items():
        existed = any(r.before is not None for r in change.records if (r.kind, r.id) == key)
        if key not in images and existed:
            raise RefusedError(
                f"the change log does not say what {one_of(record.kind)} {record.id} was before {change.command!r}",
                "change it by hand",
            )
        images.setdefault(key, None)
    return images


def undo_target(ctx: Context, wanted: str | None = None) -> Change:
    """The actor's last change that is not undone yet, or the one whose id begins with ``wanted``.

    Raises:
        NotFoundError: There is none, or several.
        RefusedError: It is of a kind that cannot be taken back this way; the message says what can be done.
    """
    mine = _not_undone(ctx)
    found = list(islice(mine, 1)) if wanted is None else [c for c in mine if c.id.startswith(wanted.lower())]
    if len(found) != 1:
        which = "change" if wanted is None else f"one change {wanted[:40]!r}"
        candidates = [change.id for change in found]
        raise NotFoundError(f"{ctx.actor.name} has no {which} that could be undone", candidates=candidates)
    _refuse_final(ctx, found[0], last=wanted is None)
    return found[0]


def undoable(ctx: Context) -> tuple[Change | None, tuple[Change, ...]]:
    """The actor's last change that can be taken back, and the newer ones that cannot, newest first."""
    passed: list[Change] = []
    for change in _not_undone(ctx):
        if _final(change) is None:
            return change, tuple(passed)
        passed.append(change)
    return None, tuple(passed)


def _not_undone(ctx: Context) -> Iterator[Change]:
    """The actor's changes that are not undone yet, newest first, as far back as undoing reaches."""
    undone: set[str] = set()
    for change in islice(ctx.workspace.changes(), 500):
        if change.undoes:
            undone.add(change.undoes)
        elif change.actor == ctx.actor.name and change.id not in undone:
            yield change


def why_final(change: Change) -> str:
    """Why a change cannot be taken back, as what goes on after its name; empty where it can."""
    return (_final(change) or ("", ""))[0]


def _final(change: Change) -> tuple[str, str] | None:
    """Why a change is not undone, and what can be done instead; None where it can be undone."""
    for beginning, why in _STAY.items():
        if change.command.startswith(beginning):
            return f"is {why}", "see: workbench log"
    paths = [append.path for append in change.appends]
    # The steps of a handover go together: the one that ends an attempt, and the one that begins the next, name no file.
    if change.command.startswith("handoff ") or any(path.startswith("packages/") for path in paths):
        return "concerns a package and is not undone this way", "cancel the package: workbench handoff cancel P"
    if paths and not change.records and all(path.startswith(_EVIDENCE) for path in paths):
        return "recorded evidence, which stays", ""
    return None


def _refuse_final(ctx: Context, change: Change, *, last: bool) -> None:
    final = _final(change)
    if final is None:
        return
    why, hint = final
    older = undoable(ctx)[0] if last else None
    if older is not None:
        reach = f"the one before it that can be undone is {older.command!r}: workbench undo {older.id}"
        hint = f"{hint}\n{reach}" if hint else reach
    raise RefusedError(f"the {'last ' if last else ''}change, {change.command!r}, {why}", hint)


def describe(change: Change) -> str:
    """What undoing a change would take back, in one line."""
    parts: list[str] = []
    for record in change.records:
        if record.kind == "facts" and record.after is not None:
            parts.append(f"{record.after['key']} = {value_text(record.after['value'])}")
    cut = [append.line for append in change.appends if append.path.startswith("trims/")]
    messages = sum(len(line.get("messages", ())) for line in cut)
    if messages:
        undone = "come back" if cut[0].get("act") in ("drop", "summarise", "externalise") else "as they were before"
        parts.append(f"{messages} message{'s' if messages != 1 else ''} {undone}")
    what = one_line("; ".join(parts), 120)
    with_facts = [r.after for r in change.records if r.kind == "tasks" and r.before and r.after] if parts else []
    also = [f"task {after['slug']} as it was before" for after in with_facts]
    what = "; ".join(part for part in (what, *also, stays(change)) if part)
    return f"{change.command}{': ' if what else ''}{what} (by {change.actor}, {change.at})"


def stays(change: Change) -> str:
    """What of a change an undo leaves: what was observed is not taken back; empty where nothing is left."""
    lines = [append.line for append in change.appends if append.path.startswith(_EVIDENCE)]
    claims = sum(line.get("kind") == "claim" for line in lines)
    seen = len(lines) - claims
    words = [f"{claims} claim{'s' if claims != 1 else ''}"] * bool(claims)
    words += [f"{seen} observation{'s' if seen != 1 else ''}"] * bool(seen)
    return f"{' and '.join(words)} on record {'stays' if len(lines) == 1 else 'stay'}" if words else ""


def undo(ctx: Context, expect: str | None = None, wanted: str | None = None) -> Change:
    """Take a change of the actor back; itself a change like any other.

    Args:
        ctx: Where and who.
        expect: Id of the change that was shown to the person.
        wanted: What the change's id begins with; the last one where not given.

    Raises:
        VersionConflictError: A record changed since, or another change is the last one now.
    """
    ctx.require_writable()
    target = undo_target(ctx, wanted)
    if expect is not None and target.id != expect:
        raise VersionConflictError(f"your last change is now {describe(target)}", "look again", found=target.id)
    images = before_images(ctx, target)
    with ctx.workspace.transaction(ctx.actor.name, f"undo: {target.command}", now=ctx.now(), undoes=target.id) as tx:
        for (kind, identifier), image in images.items():
            _take_back(tx, target, kind, identifier, image)
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


def _take_back(tx: Transaction, target: Change, kind: str, identifier: str, image: dict[str, Json] | None) -> None:
    """Bring one record to what it was before a change, unless somebody changed it since."""
    left = entry_of(target, kind, identifier)
    current = tx.document(kind, identifier)
    assert left is not None
    same = current is None if left.after is None else current is not None and current.get("version") == left.version
    if not same:
        raise VersionConflictError(
            f"{one_of(kind)} {identifier} changed since {target.command!r}",
            "see: workbench log " + identifier,
            found=current.get("version") if current is not None else None,
            expected=left.version,
        )
    if image is not None:
        tx.put_document(kind, image)
    elif current is not None:
        _refuse_needed(tx, target, kind, identifier)
        tx.remove(kind, identifier)


def _refuse_needed(tx: Transaction, target: Change, kind: str, identifier: str) -> None:
    """Refuse to take a fact away whose place another one took since."""
    if kind != "facts":
        return
    own = {record.id for record in target.records}
    heir = next((f for f in tx.records.facts.values() if identifier in f.supersedes and f.id not in own), None)
    if heir is not None:
        raise VersionConflictError(
            f"fact {identifier} of {target.command!r} was superseded since, by {heir.id}",
            f"take that back first: workbench fact retract {heir.id}, or see: workbench log {heir.id}",
            found=heir.id,
        )
