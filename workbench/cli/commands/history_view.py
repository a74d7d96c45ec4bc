"""``workbench history view``: what the model saw in one request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.cli.call import Call
from workbench.cli.output import Answer, Line, Span, clip, table
from workbench.errors import NotBuiltError

if TYPE_CHECKING:
    from workbench.services.request import Carried, RequestView


def view(call: Call) -> Answer:
    """One request, in four parts and message by message."""
    if call.args.compacted:
        raise NotBuiltError(
            "workbench history view --compacted is not built yet", "without it: the messages that a request carried"
        )
    from workbench.services import request, tasks
    from workbench.services.shapes import request_json

    context = call.context(read_only=True)
    found = request.view(context, tasks.resolve(context, call.args.task), call.args.request)
    lines: list[Any] = [_head(found), *table(_parts(found)), _ages(found), found.basis, ""]
    lines += table([*_stated(found), *(_row(row) for row in found.messages)], last=100)
    return Answer(request_json(found), lines)


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
