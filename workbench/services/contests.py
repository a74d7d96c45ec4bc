"""What merged copies say differently, field by field, and a person's word on it (``workspace.md``, promise 7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from workbench.domain.contested import GONE, RUNNING, VARIABLES, Contest, at, claim_text, field_words, taken
from workbench.domain.fact import Fact, canonical_value, value_text
from workbench.domain.record import Claim, Record, Stamp
from workbench.domain.schema import TABLES, decode
from workbench.domain.task import LIVE_ATTEMPT, Task, without_attempt
from workbench.errors import NotFoundError, RefusedError
from workbench.handoff.transfer import close_packages
from workbench.services import scratch
from workbench.services.context import Context
from workbench.store.names import one_of
from workbench.store.records import Records
from workbench.store.transaction import Transaction

SHORTEST = 4
"""Characters of a change's id that name it; fewer are a value."""


def contests(records: Records) -> tuple[Contest, ...]:
    """Every contested field there is: tasks first, then by kind and name."""
    found = [row for kind in TABLES for record in records.table(kind).values() for row in _of(kind, record)]
    return tuple(sorted(found, key=lambda row: (row.kind != "tasks", row.kind, row.name, row.id, row.field)))


def contested_keys(records: Records) -> tuple[tuple[Fact, ...], ...]:
    """The facts of each key and scope of which several hold, by key."""
    registry = records.registry
    heads = [fact for fact in registry.facts.values() if registry.lifecycle(fact.id) == "contested"]
    places = sorted({(registry.canonical(fact.key), fact.scope) for fact in heads})
    return tuple(registry.heads(key, scope) for key, scope in places)


def _of(kind: str, record: Record) -> Iterator[Contest]:
    if not record.contests:
        return
    document = msgspec.to_builtins(record)
    name = next((str(document[key]) for key in ("slug", "key", "alias") if key in document), record.id)
    belongs = record.id if kind == "tasks" else document.get("task")
    for field, claims in record.contests.items():
        present = at(document, field)
        gone = present is GONE
        yield Contest(
            kind=kind,
            id=record.id,
            version=record.version,
            name=name,
            title=f"{one_of(kind)} {name}: {field_words(field)}",
            field=field,
            claims=claims,
            present=None if gone else present,
            gone=gone,
            task=belongs,
        )


def find(ctx: Context, record: str, field: str | None = None) -> Contest:
    """The contested field that is meant.

    Args:
        ctx: Where.
        record: Its record: an id by unique prefix, ``KIND/ID``, a slug or a key.
        field: The field; not needed where only one of the record is contested.

    Raises:
        NotFoundError: None is, or several; ``details['candidates']`` lists them.
    """
    kind, _, rest = record.rpartition("/")
    known = contests(ctx.workspace.load())
    rows = [
        row
        for row in known
        if (not kind or kind in (row.kind, one_of(row.kind)))
        and rest
        and (row.id.startswith(rest.lower()) or rest == row.name)
        and field in (None, row.field)
    ]
    if len(rows) != 1:
        what = f"{record[:60]} {field or ''}".rstrip()
        names = [f"{row.record} {row.field}" for row in rows or known]
        said = f"{what!r} fits {len(rows)} contested fields" if rows else f"nothing contested is called {what!r}"
        raise NotFoundError(said, "see: workbench settle", candidates=names)
    return rows[0]


def choose(contest: Contest, said: str) -> Claim:
    """The claim that a person means: by its value (JSON or text), or by the change it came with (unique prefix).

    Raises:
        NotFoundError: No copy says so, or several do.
    """
    exact, text = _canonical(said), [claim for claim in contest.claims if not claim.gone]
    ways = (
        [claim for claim in text if canonical_value(claim.value) == exact],
        [claim for claim in text if value_text(claim.value) == said],
        [claim for claim in contest.claims if len(said) >= SHORTEST and claim.change.startswith(said)],
    )
    found = next((rows for rows in ways if len(rows) == 1), None)
    if found is None:
        raise NotFoundError(
            f"none of the copies said {said[:60]!r} of {contest.field}",
            "name the value, or the change beside it",
            candidates=[f"{claim.change}  {claim_text(claim)}" for claim in contest.claims],
        )
    return found[0]


def origins(ctx: Context, rows: Iterable[Contest]) -> dict[str, str]:
    """Who said it, when and by which command, by change; what no log tells is left out."""
    wanted = {claim.change for row in rows for claim in row.claims}
    told: dict[str, str] = {}
    for change in ctx.workspace.changes() if wanted else ():
        if len(told) == len(wanted):
            break
        if change.id in wanted:
            told[change.id] = f"{change.actor}, {change.at}: {change.command}"
    return told


def standing(contest: Contest) -> Claim:
    """What stands in the field now, as a claim."""
    now = Claim(change="", value=contest.present, gone=contest.gone)
    return next((claim for claim in contest.claims if contest.stands(claim)), now)


def _canonical(said: str) -> str | None:
    """A text as canonical JSON; None where it is none."""
    try:
        return canonical_value(msgspec.json.decode(said))
    except msgspec.DecodeError:
        return None


def settle(ctx: Context, contest: Contest, claim: Claim, why: str = "") -> None:
    """Decide a contested field; a person's act, and a change like any other.

    Of two attempts that run a task since two copies were merged, the one that is named goes on and the
    others end.

    Raises:
        HumanNeededError: No person stands behind this process.
        VersionConflictError: The record changed since it was looked at.
        RefusedError: The task would be closed under its running attempt.
    """
    ctx.require_human("settling what is contested")
    ctx.require_writable()
    command = f"settle {one_of(contest.kind)} {contest.name} {contest.field}"
    with ctx.workspace.transaction(ctx.actor.name, command, why, now=ctx.now()) as tx:
        before = tx.document(contest.kind, contest.id)
        if before is None:
            raise NotFoundError(f"{contest.record} is gone", "see: workbench settle", candidates=[])
        if contest.kind == "tasks" and contest.field == RUNNING:
            _go_on(tx, contest, claim, Stamp(by=ctx.actor.name, at=tx.now, why=why or "another attempt goes on"))
        else:
            document = taken(before, contest.field, claim)
            if contest.kind == "tasks":
                document = _task(before, document, contest.field, Stamp(by=ctx.actor.name, at=tx.now))
            tx.put_document(contest.kind, document, expect=contest.version)
    scratch.sweep(ctx)


def _go_on(tx: Transaction, contest: Contest, claim: Claim, stamp: Stamp) -> None:
    """One attempt goes on; the others that run end."""
    task: Task = tx.records.tasks[contest.id]
    live = {a.id for a in tx.records.attempts.values() if a.status in LIVE_ATTEMPT}
    for other in task.contests.get(RUNNING, ()):
        if other.value == claim.value or other.value not in live:
            continue
        tx.put(tx.records.attempts[other.value].with_(status="cancelled", ended=stamp))
        close_packages(tx, other.value, stamp.by)
        live.discard(other.value)
        task = without_attempt(task, other.value, live)
    tx.put(task, expect=contest.version)


def _task(before: dict[str, Any], document: dict[str, Any], field: str, stamp: Stamp) -> dict[str, Any]:
    """A task with what follows from the field: the stamp of a variable, the revision of a contract."""
    now = decode(Task, document)
    if now.status in ("complete", "cancelled") and now.running is not None:
        raise RefusedError(
            f"an attempt of task {now.slug} runs, so it cannot become {now.status}", "end it: workbench attempt end"
        )
    if document.get("contract") != before.get("contract"):
        document = {**document, "plan_revision": now.plan_revision + 1}
    if not field.startswith("state."):
        return document
    state = {**document["state"], "updated_at": stamp.at}
    if field.startswith(VARIABLES):
        name = field.removeprefix(VARIABLES)
        stamps = {key: value for key, value in state.get("variables_set", {}).items() if key != name}
        state["variables_set"] = stamps | ({name: msgspec.to_builtins(stamp)} if name in now.state.variables else {})
    return {**document, "state": state}
