"""``workbench fact import``: many facts at once."""

from __future__ import annotations

from workbench.cli.call import Call
from workbench.cli.output import Answer

SHOWN = 20
"""Failed lines that are told to a person; the document has all of them."""


def take(call: Call) -> Answer:
    """Take them in, and say what became of them."""
    from workbench.services import fact_import

    # Only a newline ends a line: other separators may stand inside a value.
    lines = call.text(call.args.f).removeprefix("\ufeff").split("\n")
    context = call.context()
    done = fact_import.take(context, lines, settle=call.args.settle)
    counts = done.counts
    failed = [{"line": number, "message": message} for number, message in done.failed]
    notes = [f"line {number}: {message}" for number, message in done.failed[:SHOWN]]
    if len(failed) > SHOWN:
        notes.append(f"and {len(failed) - SHOWN} more lines that failed")
    said = ", ".join(f"{count} {name}" for name, count in counts.items())
    return Answer({**counts, "failed": failed}, [said], 2 if failed else 0, notes)
