"""``workbench log``, ``workbench undo`` and ``workbench rollback``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from workbench.cli.call import Call
from workbench.cli.output import Answer, Column, Line, Span, Table
from workbench.cli.spec import WHY, Command, option, word
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.domain.change import Change
    from workbench.services.rollback import Entry

_LOGGED = (Column(20), Column(12), Column(10, whole=True), Column(32, whole=True), Column(24), Column(40))
COMMANDS = (
    Command(
        "log",
        "every change: who, when, what, why",
        "Prints changes, newest first: of one record, or of all.",
        (
            word("RECORD", "a record by id prefix, a task by slug, facts or notes by key", optional=True),
            option("--limit", value="N", help="how many at most (50)", number=True, default=50),
        ),
        exits=("3 no change names this record",),
        keys="changes[]{id,time,actor,record,version,before,after,why}, total, left_off",
        run="changes:log",
    ),
    Command(
        "undo",
        "take your last change back",
        "Takes back the last change of whoever asks, or the one that is named; that is a change like any other, "
        "survives a restart, and is refused where a record changed since. Evidence and claims that came with it "
        "stay on record.",
        (word("CHANGE", "a change of yours, by unique id prefix; the last one where not given", optional=True),),
        exits=("3 nothing to undo", "4 a record changed since", "5 it is of a kind that is taken back another way"),
        keys="changes[]{id,time,actor,record,version,before,after,why}",
        run="changes:undo",
    ),
    Command(
        "rollback",
        "a record, or a task, as it was",
        "Brings a record back to what it was after a change, or a task with its own facts and notes to a point in "
        "time; itself a change like any other, that undo takes back. On a terminal it shows what would change and "
        "asks, unless --yes. Which attempt runs is never rolled back, and a revised contract counts as a new "
        "revision. A person's act.",
        (
            word("RECORD", "a record, by unique id prefix", optional=True),
            option("--to", value="CHANGE", help="the change after which it was so"),
            option("--task", value="T", help="a whole task"),
            option("--at", value="TIME", help="the moment, for --task"),
            WHY,
        ),
        exits=(
            "3 no such record or change",
            "4 the record changed meanwhile",
            "5 a person is needed, or it cannot be so again",
            "6 a record of the task cannot be read; what is damaged elsewhere is named and left",
        ),
        keys="changes[]{id,time,actor,record,version,before,after,why}",
        examples=(
            "workbench rollback m1c9ty4e6p --to 8k2d0v7rsn",
            "workbench rollback --task @ --at 2026-03-01T10:00:00Z --why 'the wrong branch'",
        ),
        run="changes:rollback",
    ),
)


def log(call: Call) -> Answer:
    """The change log."""
    from workbench.services import changes
    from workbench.services.shapes import damage_json

    record = call.args.record
    context = call.context(read_only=True)
    found, _ = changes.log(context, record, sys.maxsize)
    rows = _rows(found)
    if record is not None:
        names = changes.named(context, record)
        rows = [row for row in rows if any(name in row["record"] for name in names)]
    shown, left_off = rows[: call.args.limit], max(0, len(rows) - call.args.limit)
    document = {"changes": shown, "total": len(rows), "left_off": left_off}
    cells = [
        [row["time"], row["actor"], Span(row["id"], "dim"), row["record"], row["command"], row["why"]] for row in shown
    ]
    damaged = context.workspace.damaged_changes()
    document["damaged"] = [damage_json(d) for d in damaged]
    notes = [f"damaged: {d.path}:{d.line}: {d.message}" for d in damaged]
    notes += [f"{left_off} older changes left off; see --limit"] if left_off else []
    return Answer(document, [Table(cells, _LOGGED)], 6 if damaged else 0, notes)


def undo(call: Call) -> Answer:
    """Undo."""
    from workbench.services import changes

    context = call.context()
    target = changes.undo_target(context, call.args.change)
    if call.tty and context.actor.human:
        call.confirm(context, "taking this back", [changes.describe(target)])
    change = changes.undo(context, target.id, target.id)
    return Answer({"changes": _rows([change])}, [f"taken back: {changes.describe(change)}"])


def rollback(call: Call) -> Answer:
    """As it was."""
    from workbench.domain.times import parse_time
    from workbench.services import rollback as rolling
    from workbench.services import tasks

    args = call.args
    of_record = args.record is not None and args.to is not None and args.task is None and args.at is None
    of_task = args.task is not None and args.at is not None and args.record is None and args.to is None
    if not (of_record or of_task):
        raise UsageError("either RECORD --to CHANGE, or --task T --at TIME", "see: workbench rollback --help")
    context = call.context()
    context.require_human("rolling back")
    if of_record:
        plan = rolling.plan_record(context, args.record, args.to)
    else:
        plan = rolling.plan_task(context, tasks.resolve(context, args.task), parse_time(args.at, "--at"))
    shown = [line for entry in plan.entries for line in _entry_lines(entry)]
    notes = [plan.stays] if plan.stays else []
    notes += [f"damaged, and left as it is: {row.where}: {row.message}" for row in plan.damaged]
    if plan.entries and call.tty:
        call.confirm(context, "rolling back", [*shown, *notes])
    change = rolling.carry_out(context, plan, args.why or "")
    if change is None:
        return Answer({"changes": []}, ["it is so already; nothing was changed"], notes=notes)
    rows = _rows([change])
    before = {f"{entry.kind}/{entry.id}": entry.before for entry in plan.entries}
    for row in rows:
        row["before"] = before.get(row["record"])
    return Answer({"changes": rows}, [*shown, f"done, as change {change.id}"], notes=notes)


def _entry_lines(entry: Entry) -> list[Line]:
    fate = "goes: it came later" if entry.document is None else "comes back" if entry.version is None else ""
    return [[Span(f"{entry.kind}/{entry.id}", "bold"), f"  {fate}"], *(f"  {d.line}" for d in entry.differences)]


def _rows(found: list[Change]) -> list[dict[str, Any]]:
    """One row for each record and each appended line, newest first.

    ``before`` is what the next older change in ``found`` left, so ``found`` should reach back far enough.
    """
    rows: list[dict[str, Any]] = []
    waiting: dict[tuple[str, str], dict[str, Any]] = {}
    for change in found:
        head = {"id": change.id, "time": change.at, "actor": change.actor}
        tail = {"why": change.why, "command": change.command, "undoes": change.undoes}
        for record in change.records:
            key = (record.kind, record.id)
            if key in waiting:
                waiting.pop(key)["before"] = record.after
            row = head | {"record": f"{record.kind}/{record.id}", "version": record.version, "before": None,
                          "after": record.after} | tail  # fmt: skip
            waiting[key] = row
            rows.append(row)
        for append in change.appends:
            rows.append(head | {"record": append.path, "version": None, "before": None, "after": append.line} | tail)
    return rows
