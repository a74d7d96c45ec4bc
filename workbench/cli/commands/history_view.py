"""``workbench history view``: what the model saw in one request, and what it would see after a compaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.cli.call import Call
from workbench.cli.output import Answer, Line, Span, clip, table
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.services.compacting import Sent
    from workbench.services.request import Carried, RequestView


def view(call: Call) -> Answer:
    """One request, in four parts and message by message; or the messages that a compaction would send."""
    from workbench.services import request, tasks
    from workbench.services.shapes import request_json

    if call.args.compacted:
        return _compacted(call)
    if call.args.turns or call.args.budget or call.args.note:
        raise UsageError("--turns, --budget and --note say what a compaction sends", "give --compacted, too")
    context = call.context(read_only=True)
    found = request.view(context, tasks.resolve(context, call.args.task), call.args.request)
    lines: list[Any] = [_head(found), *table(_parts(found)), _ages(found), found.basis, ""]
    lines += table([*_stated(found), *(_row(row) for row in found.messages)], last=100)
    return Answer(request_json(found), lines)


def _compacted(call: Call) -> Answer:
    from workbench.services import compacting, tasks
    from workbench.services.shapes import compacted_json

    context = call.context(read_only=True)
    args = call.args
    found = compacting.compact(
        context,
        tasks.resolve(context, args.task),
        args.request,
        turns=args.turns,
        budget=args.budget,
        notes=args.note,
    )
    about = "\u2248" if found.estimated else ""
    turns = f"the last {found.turns} turns" if found.turns != 1 else "the last turn"
    size = f"{about}{found.tokens:,} tokens in place of {about}{found.before:,}"
    budget = "" if found.budget is None else f" of {found.budget:,}"
    lines: list[Any] = [[Span(found.session, "bold"), f"  compacted: {turns}, {size}"]]
    lines.append(f"in {compacting.IN_WHAT}; budget{budget}: {found.basis}")
    if found.over:
        lines.append(Span(f"{found.over:,} tokens over the budget: guidelines and the last turn need them", "warn"))
    if found.turns < found.wanted:
        lines.append(Span(f"of {found.wanted} turns the budget holds {found.turns}", "warn"))
    if found.named:
        lines.append(Span(f"notes that are only named, for lack of room: {', '.join(found.named)}", "warn"))
    lines += [Span(f"no note: {key}", "warn") for key in found.absent]
    if found.waiting:
        lines.append(f"calls without a result cannot be sent: {len(found.waiting)}")
    lines += ["", *table([_sent(row) for row in found.messages], last=100)]
    return Answer(compacted_json(found), lines)


def _sent(row: Sent) -> list[str | Span]:
    message = row.message
    what = "guidelines and notes" if message is None else message.call.name if message.call else message.kind
    form = Span("" if row.form == "whole" else row.form, "dim")
    name = Span(message.id if message is not None else "", "dim")
    return [row.role, name, what, form, f"{row.tokens:,}", clip(row.text[:400], 100)]


def _head(found: RequestView) -> Line:
    at = found.answer.at or "at an unknown time"
    place = f"request {found.numbers.index(found.number) + 1} of {len(found.numbers)}"
    head: Line = [Span(found.name, "bold"), f"  {place}  {at}"]
    return [*head, f"  {found.model}"] if found.model else head


def _parts(found: RequestView) -> list[list[str | Span]]:
    from workbench.services.request import PARTS, UNRECORDED

    about = "\u2248" if found.estimated else ""
    rows: list[list[str | Span]] = []
    for part in found.parts:
        size = f"{about * bool(part.recorded)}{part.recorded:,} tokens in {part.messages} messages"
        rows.append([Span(f"  {part.name}", "bold"), size, PARTS[part.name]])
        if part.not_recorded != 0:
            missing = "?" if part.not_recorded is None else f"{about}{part.not_recorded:,}"
            rows.append(["", Span(f"{missing} tokens not recorded", "warn"), UNRECORDED])
    return rows


def _ages(found: RequestView) -> Line:
    ages = found.ages
    older = f"{ages['summary']:,} a summary of what was before, " if ages["summary"] else ""
    return f"of the messages {ages['new']:,} tokens are new in this request (+), {older}{ages['history']:,} history"


def _stated(found: RequestView) -> list[list[str | Span]]:
    return [
        ["", Span(stated.name, "dim"), "", "instructions", f"{stated.tokens:,}", clip(stated.text[:400], 100)]
        for stated in found.stated
    ]


def _row(row: Carried) -> list[str | Span]:
    message = row.message
    what = message.call.name if message.call else message.kind
    new = Span("+", "good") if row.new else " "
    return [new, Span(message.id, "dim"), what, row.part, f"{row.tokens:,}", clip(row.text[:400], 100)]
