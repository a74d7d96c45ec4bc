"""``workbench evidence``: what was observed, by whom, and whether it still holds."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from workbench.cli.call import Call, damage, json_or_text
from workbench.cli.output import Answer, Span, table
from workbench.cli.spec import TASK, Command, option, word
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.compiler import EvidenceItem
    from workbench.domain.task import Task
    from workbench.services.context import Context

_NO_TASK = "3 no such task, or an ambiguous prefix"
_KEYS = "evidence{id,kind,argv,exit_code,excerpt,valid,files[]}"
COMMANDS = (
    Command(
        "evidence run",
        "run a command and record what came of it",
        "Runs a command without a shell, streams its output and records arguments, exit code, excerpt, duration and "
        "the files it depends on. An agent may run a trusted command of the contract only; a person is asked about "
        "a command that nobody trusted yet. That the command failed is recorded as well, and is no failure of this "
        "one.",
        (TASK, word("CMD", "the command and its arguments, after --", many=True, empty=True)),
        exits=(_NO_TASK, "5 not a command of the contract, for an agent", "7 nobody has trusted this command"),
        keys=_KEYS,
        examples=("workbench evidence run @ -- npm run build",),
        run="evidence:run",
    ),
    Command(
        "evidence list",
        "what was observed for a task",
        "Prints the evidence of a task, newest first, and whether it still holds.",
        (TASK,),
        exits=(_NO_TASK, "6 some evidence cannot be read; the rest is listed"),
        keys="evidence[]{id,kind,argv,exit_code,excerpt,valid,files[]}",
        run="evidence:listing",
    ),
    Command(
        "evidence add",
        "hand in an observation",
        "Adds evidence from a file: a text, or an object with any of text, argv, command, cwd, exit_code, excerpt, "
        "duration, source, item, artifact, version, files (paths; their hashes are taken here). From an agent it is "
        "a claim until a session or an own run shows it.",
        (
            TASK,
            option(
                "--kind",
                value="K",
                help="which kind",
                required=True,
                choices=("command", "file_change", "artifact", "call", "check", "confirmation", "claim"),
            ),
            option("--file", value="F", help="the observation; - is standard input", required=True),
        ),
        exits=("3 no such task, item or file", "5 a confirmation is a person's: evidence confirm"),
        keys=_KEYS,
        run="evidence:add",
    ),
    Command(
        "evidence confirm",
        "a person's yes to an acceptance item",
        "Records that this person accepted an item now; it holds until a file beneath the targets changes. Asks on "
        "the terminal unless --yes.",
        (TASK, word("ITEM", "an acceptance item, by unique id prefix")),
        exits=("3 no such task or item", "5 a person is needed, or did not agree"),
        keys=_KEYS,
        run="evidence:confirm",
    ),
)


def run(call: Call) -> Answer:
    """Run."""
    from workbench.errors import NotTrustedError
    from workbench.services import evidence

    context, task = _task(call)
    argv = list(call.args.cmd)
    asked = False
    try:
        evidence.refuse_run(context, task, argv, asked=False)
    except NotTrustedError:
        person = context.actor.human and not context.actor.refused
        if not (person and (call.options.yes or call.tty)):
            raise
        where = str(context.location.worktree)
        call.confirm(context, "running a command", [["It runs  ", shlex.join(argv)], ["in       ", where]])
        asked = True
    told = call.out.note if call.options.json else call.out.line
    item = evidence.run(context, task, argv, asked=asked, told=told)
    line = item.evidence
    said = f"exit {line.exit_code} after {line.duration:.1f} s, recorded as {line.id}, with {len(line.files)} files"
    return Answer({"evidence": _json(item)}, [said])


def listing(call: Call) -> Answer:
    """All of a task."""
    from workbench.services import evidence, tasks

    context = call.context(read_only=True)
    rows = evidence.listing(context, tasks.resolve(context, call.args.task))
    lines = table(
        [
            Span(row.evidence.id, "bold"),
            row.evidence.kind,
            row.evidence.trust,
            _holds(row),
            row.evidence.at,
            row.evidence.executor,
            _what(row),
        ]
        for row in rows
    )
    return damage(context, {"evidence": [_json(row) for row in rows]}, lines or ["no evidence"])


def add(call: Call) -> Answer:
    """Hand in."""
    from workbench.services import evidence

    text = call.text(call.args.file).strip()
    told = json_or_text(text)
    if not isinstance(told, dict | str):
        raise UsageError(f"{call.args.file}: an observation is a text or a JSON object")
    context, task = _task(call)
    item = evidence.add(context, task, call.args.kind, told)
    worth = "the hashes were taken here" if item.evidence.trust == "verified" else "it is worth a claim"
    return Answer({"evidence": _json(item)}, [f"{item.evidence.id} is recorded; {worth}"])


def confirm(call: Call) -> Answer:
    """A person's yes."""
    from workbench.services import evidence

    context, task = _task(call)
    item = evidence.acceptance_item(task, call.args.item)
    call.confirm(context, "confirming an acceptance item", [["It holds now:  ", item.text]])
    done = evidence.confirm(context, task, item.id)
    return Answer({"evidence": _json(done)}, [f"{done.evidence.executor} accepted {item.text} ({done.evidence.id})"])


def _task(call: Call) -> tuple[Context, Task]:
    from workbench.services import tasks

    context = call.context()
    return context, tasks.resolve(context, call.args.task)


def _json(row: EvidenceItem) -> dict[str, Any]:
    from workbench.domain.evidence import DOES_NOT_SHOW
    from workbench.services.shapes import builtins

    document: dict[str, Any] = builtins(row.evidence)
    more = {"valid": row.valid, "changed": list(row.changed), "does_not_show": DOES_NOT_SHOW[row.evidence.kind]}
    return document | more


def _holds(row: EvidenceItem) -> Span:
    return Span("holds", "good") if row.valid else Span(f"stale: {', '.join(row.changed[:2])} changed", "warn")


def _what(row: EvidenceItem) -> str:
    line = row.evidence
    if line.kind == "command":
        code = "unknown" if line.exit_code is None else line.exit_code
        return f"{shlex.join(line.argv) if line.argv else line.command}: exit {code}"
    return line.text or ", ".join(file.path for file in line.files[:3])
