"""``workbench merge``: taking in another copy of the workspace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.call import Call
from workbench.cli.output import Answer, Line, Span
from workbench.cli.spec import Command, word

if TYPE_CHECKING:
    from workbench.services.merging import Contested

COMMANDS = (
    Command(
        "merge",
        "take in another copy of the workspace",
        "Takes in another copy of the workspace (a colleague's, another machine's, a backup), record by record: all "
        "records of both survive, what only one copy changed is taken, and what both changed keeps the value of the "
        "smaller change id and is listed as contested; in either order with the same result. While two attempts of a "
        "task run, nothing of it is confirmed or launched until a person ends one. The other copy is only read. "
        "A person's act; asks on the terminal unless --yes.",
        (word("PATH", "the other copy: a repository, or a .workbench folder"),),
        exits=(
            "3 there is no workspace at PATH",
            "5 a person is needed, or did not agree",
            "6 records that could not be read, in damaged[]; all others are merged",
        ),
        keys="merged{records,lines,changes,contents}, contested[]{record,field,claims[]}, damaged[]",
        examples=("workbench merge ../copy-of-the-repository", "workbench log --limit 5"),
        run="merge:merge",
    ),
)


def merge(call: Call) -> Answer:
    """Merge."""
    from workbench.services import merging
    from workbench.services.shapes import contested_json, damage_json

    context = call.context()
    path = call.cwd / Path(call.args.path).expanduser()
    other = merging.copy_at(context, path)
    call.confirm(context, "merging another copy", ["This takes in all records of:", f"  {other.root}"])
    done = merging.merge_copy(context, path)
    counts = {"records": done.records, "lines": done.lines, "changes": done.changes, "contents": done.contents}
    document = {
        "merged": counts,
        "contested": [contested_json(row) for row in done.contested],
        "damaged": [damage_json(damage) for damage in done.damaged],
    }
    lines: list[Line] = [f"{done.records} records, {done.lines} lines, {done.changes} entries of the log taken in"]
    for row in done.contested:
        lines.append([Span("contested", "warn"), f" {row.record} {row.field}: {len(row.claims)} values; {_way(row)}"])
    notes = [f"damaged: {damage.where}: {damage.message}" for damage in done.damaged]
    return Answer(document, lines, 6 if done.damaged else 0, notes)


def _way(row: Contested) -> str:
    """How a contest is ended: two values of a key by confirming one, a field by its own command."""
    if any("record" in claim for claim in row.claims):
        return f"settle it: workbench fact confirm {row.record.partition('/')[2]}"
    return "settle it: workbench settle"
