"""``workbench log`` and ``workbench undo``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from workbench.cli.call import Call
from workbench.cli.output import Answer, Span, table
from workbench.cli.spec import Command, option, word
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.domain.change import Change

COMMANDS = (
    Command(
        "log",
        "every change: who, when, what, why",
        "Prints changes, newest first: of one record, or of all.",
        (
            word("RECORD", "a record, by id prefix", optional=True),
            option("--limit", value="N", help="how many at most (50)", number=True, default=50),
        ),
        exits=("3 no change names this record",),
        keys="changes[]{id,time,actor,record,version,before,after,why}, total, left_off",
        run="changes:log",
    ),
    Command(
        "undo",
        "take your last change back",
        "Takes back the last change of whoever asks; that is a change like any other, survives a restart, and is "
        "refused where a record changed since.",
        exits=("3 nothing to undo", "4 a record changed since", "5 it is of a kind that is taken back another way"),
        keys="changes[]{id,time,actor,record,version,before,after,why}",
        run="changes:undo",
    ),
)


def log(call: Call) -> Answer:
    """The change log."""
    from workbench.services import changes

    if call.args.limit < 1:
        raise UsageError("--limit wants a number above 0")
    record = call.args.record
    found, _ = changes.log(call.context(read_only=True), record, sys.maxsize)
    rows = _rows(found)
    if record is not None:
        rows = [row for row in rows if record in row["record"]]
    shown, left_off = rows[: call.args.limit], max(0, len(rows) - call.args.limit)
    document = {"changes": shown, "total": len(rows), "left_off": left_off}
    lines = table(
        [row["time"], row["actor"], Span(row["id"], "dim"), row["record"], row["command"], row["why"]] for row in shown
    )
    notes = [f"{left_off} older changes left off; see --limit"] if left_off else []
    return Answer(document, lines, notes=notes)


def undo(call: Call) -> Answer:
    """Undo."""
    from workbench.services import changes

    change = changes.undo(call.context())
    return Answer({"changes": _rows([change])}, [f"taken back: {changes.describe(change)}"])


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
