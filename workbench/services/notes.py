"""Notes: external memory by key, with a JSON value and its sources; the latest wins (``trimming.md``, Notes)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.domain.contested import refusal
from workbench.domain.fact import canonical_value, same_value
from workbench.domain.ids import new_id
from workbench.domain.note import Note
from workbench.domain.record import Json, Stamp
from workbench.domain.task import LIVE_ATTEMPT, Task
from workbench.domain.times import instant
from workbench.errors import NotFoundError, RefusedError, UsageError
from workbench.services.context import Context
from workbench.services.sessions import attached
from workbench.services.tasks import current_id, glance
from workbench.store.names import names_of
from workbench.store.records import Records

if TYPE_CHECKING:
    from workbench.services.search import Hit

VALUE_LIMIT = 64 << 10
"""Bytes of canonical JSON that a note holds."""
MOST_SOURCES = 8
"""Messages of a turn that stand as sources where none are given: a turn may make many calls."""
_LOOKED_THROUGH = 1_000
"""Hits of which trimmed messages and records are picked."""


@dataclass(frozen=True)
class Asked:
    """What a query found: whole notes, and one line for everything else."""

    notes: tuple[Note, ...]
    hits: tuple[Hit, ...]
    """Notes, facts, artifacts and trimmed messages, best first."""
    total: int


def _superseded(notes: Iterable[Note]) -> set[str]:
    return {old for note in notes for old in note.supersedes}


def heads(records: Records) -> tuple[Note, ...]:
    """The newest note of every key and task, by key."""
    old = _superseded(records.notes.values())
    newest: dict[tuple[str, str | None], Note] = {}
    for note in sorted(records.notes.values(), key=_age):
        if note.id not in old:
            newest[note.key, note.task] = note
    return tuple(sorted(newest.values(), key=lambda note: (note.key, note.task or "")))


def _age(note: Note) -> tuple[object, str]:
    return instant(note.written.at), note.id


def write(
    ctx: Context,
    key: str,
    value: Json,
    *,
    kind: str = "note",
    sources: Sequence[str] = (),
    task: Task | None = None,
) -> Note:
    """Write a note; what stood under the key before is superseded, and stays in the change log.

    Args:
        ctx: Where and who.
        key: Any name of printable characters.
        value: Any JSON; of a structure note an object.
        kind: ``note`` or ``structure``.
        sources: Messages, artifacts or addresses; of an agent its newest turn where none are given.
        task: Whose note it is; else that of the attempt which the agent runs, or the current task's.

    Raises:
        RefusedError: The value is over 64 KiB.
        UsageError: The key is none, or a structure note is no object.
        HumanNeededError: What stands under the key is contested, and no person writes.
    """
    ctx.require_writable()
    if not key.strip() or len(key) > 200 or not key.isprintable():
        raise UsageError(f"{key[:60]!r} is not a key", "a key is a printable text of at most 200 characters")
    size = len(canonical_value(value).encode())
    if size > VALUE_LIMIT:
        raise RefusedError(
            f"the value of {key} has {size:,} bytes; a note holds {VALUE_LIMIT:,}",
            "keep it as a file and record that: workbench artifact add TASK KEY PATH",
        )
    if kind == "structure" and not isinstance(value, dict):
        raise UsageError(
            "a structure note is a JSON object: what a step handled and settled",
            '{"fields": ["id", "price"], "rows": 120, "key": "id", "decisions": ["prices in USD"]}',
        )
    records = ctx.workspace.look("tasks", "attempts")
    task = task or own_task(ctx, records)
    given = tuple(dict.fromkeys(sources)) or newest_turn(ctx, records, task)
    with ctx.workspace.transaction(ctx.actor.name, f"note write {key}", now=ctx.now()) as tx:
        name = task.id if task is not None else current_id(ctx, records)
        places = (f"notes/{folder}" for folder in names_of(ctx.workspace.folders("notes"), [key]))
        notes = tx.look(*places).notes.values()
        old = _superseded(notes)
        before = [n for n in notes if n.key == key and n.task == name and n.id not in old]
        contested = [(note, field) for note in before for field in note.contests]
        if contested and not ctx.actor.human:  # it would put aside what a person has to decide
            note, field = contested[0]
            raise refusal("note", note.key, f"notes/{note.id}", field, human=False)
        if len(before) == 1 and before[0].kind == kind and same_value(before[0].value, value):
            if set(given) <= set(before[0].sources):
                return before[0]
            return tx.put(before[0].with_(sources=tuple(dict.fromkeys((*before[0].sources, *given)))))
        return tx.put(
            Note(
                id=new_id(),
                key=key,
                value=value,
                kind="structure" if kind == "structure" else "note",
                sources=given,
                task=name,
                supersedes=tuple(sorted(note.id for note in before)),
                written=Stamp(by=ctx.actor.name, at=tx.now),
            )
        )


def own_task(ctx: Context, records: Records) -> Task | None:
    """The task that the actor works on: whose attempt it runs, where that is one; else the current one."""
    mine = {a.task for a in records.attempts.values() if a.executor == ctx.actor.name and a.status in LIVE_ATTEMPT}
    if not ctx.actor.human and len(mine) == 1:
        return records.tasks.get(mine.pop())
    return glance(ctx, records)


def newest_turn(ctx: Context, records: Records, task: Task | None) -> tuple[str, ...]:
    """The messages of the agent's newest turn, as far as its session is known: what it has just read."""
    if ctx.actor.human or task is None:
        return ()
    agent = ctx.actor.name.removeprefix("agent:")
    for session in reversed(attached(ctx, records, task)):
        if session.ref.agent != agent or session.state is None:
            continue
        shown = [message for message in session.state.messages if not message.hidden]
        turn = max((message.turn for message in shown), default=0)
        return tuple(message.ref for message in shown if message.turn == turn)[-MOST_SOURCES:]
    return ()


def read(ctx: Context, key: str) -> Note:
    """The newest note of a key: the actor's task's own, else that of the whole workspace, else any.

    Raises:
        NotFoundError: There is none; the nearest keys are candidates.
    """
    records = ctx.workspace.load()
    found = [note for note in heads(records) if note.key == key]
    if not found:
        import difflib

        keys = sorted({note.key for note in records.notes.values()})
        near = difflib.get_close_matches(key, keys, n=5, cutoff=0.5)
        raise NotFoundError(f"no note {key[:60]!r}", "see: workbench note list", candidates=near)
    task = own_task(ctx, records)
    mine = task.id if task is not None else None
    return max(found, key=lambda note: (note.task == mine, note.task is None, _age(note)))


def earlier(ctx: Context, note: Note) -> int:
    """How many earlier values of a note the records hold."""
    notes = ctx.workspace.load().notes
    seen: set[str] = set()
    waiting = list(note.supersedes)
    while waiting:
        name = waiting.pop()
        if name in notes and name not in seen:
            seen.add(name)
            waiting += notes[name].supersedes
    return len(seen)


def query(ctx: Context, words: str, limit: int = 20) -> Asked:
    """Find it again: notes, facts, artifacts and trimmed messages that hold these words.

    Messages that still are in the history are left out: the agent has them before it.

    Raises:
        UsageError: There is nothing to look for.
    """
    from workbench.services import search  # loads much that no other command on notes needs: start-up counts

    found = search.search(ctx, words, limit=_LOOKED_THROUGH)
    kept = [hit for hit in found.hits if hit.source_type != "message" or hit.state not in ("", "kept")]
    notes = ctx.workspace.load().notes
    shown = tuple(kept[:limit])
    whole = tuple(notes[hit.source_id] for hit in shown if hit.source_type == "note" and hit.source_id in notes)
    return Asked(whole, shown, len(kept))
