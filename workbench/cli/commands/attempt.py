"""``workbench attempt``: who works, or worked, on a task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.cli.call import Call, damage
from workbench.cli.output import Answer, Line, Span, table
from workbench.cli.spec import WHY, Command, option, word

if TYPE_CHECKING:
    from workbench.domain.task import Attempt

COMMANDS = (
    Command("attempt list", "the attempts of a task", "Lists the attempts of a task, oldest first.",
            (word("TASK", "an id prefix, a slug, or @ for the current task (the default)", optional=True),),
            exits=("3 no such task, or an ambiguous prefix", "6 some records cannot be read"),
            keys="attempts[], damaged[]", run="attempt:listing"),
    Command("attempt show", "one attempt", "Prints who carries it out, where, from which package, in which sessions.",
            (word("ATTEMPT", "an attempt, by unique id prefix"),), exits=("3 no such attempt",), keys="attempt",
            run="attempt:show"),
    Command(
        "attempt end",
        "end a live attempt",
        "Ends an attempt; the task is free to be taken again. A person's act.",
        (
            word("ATTEMPT", "an attempt, by unique id prefix"),
            option("--status", value="S", help="how it ended (cancelled)", choices=("cancelled", "failed", "accepted"),
                   default="cancelled"),
            WHY,
        ),
        exits=("3 no such attempt", "5 a person is needed, or it has ended already"),
        keys="attempt",
        run="attempt:end",
    ),
)  # fmt: skip


def listing(call: Call) -> Answer:
    """All of a task."""
    from workbench.services import tasks
    from workbench.services.shapes import attempt_json

    context = call.context(read_only=True)
    found = tasks.attempts(context, tasks.resolve(context, call.args.task or "@"))
    rows = table([Span(a.id, "dim"), a.executor, Span(a.status, "bold"), a.started.at, _where(a)] for a in found)
    return damage(context, {"attempts": [attempt_json(a) for a in found]}, rows or ["no attempt yet"])


def show(call: Call) -> Answer:
    """One."""
    from workbench.services import tasks

    return _answer(tasks.find_attempt(call.context(read_only=True), call.args.attempt))


def end(call: Call) -> Answer:
    """End it."""
    from workbench.services import tasks

    context = call.context()
    attempt = tasks.find_attempt(context, call.args.attempt)
    return _answer(tasks.end_attempt(context, attempt, call.args.status, call.args.why or ""))


def _where(attempt: Attempt) -> str:
    return f"{attempt.worktree or 'main checkout'} on {attempt.branch or 'no branch'}"


def _answer(attempt: Attempt) -> Answer:
    from workbench.services.shapes import attempt_json

    lines: list[Line] = [
        [Span(attempt.id, "bold"), f"  {attempt.status}, by {attempt.executor}, of task {attempt.task}"],
        f"started {attempt.started.at} at plan revision {attempt.plan_revision}, in {_where(attempt)}",
    ]
    if attempt.ended:
        lines.append(f"ended {attempt.ended.at} by {attempt.ended.by} {attempt.ended.why}")
    if attempt.package:
        lines.append(f"from package {attempt.package}")
    lines += [f"session {ref.name}" for ref in attempt.sessions]
    return Answer({"attempt": attempt_json(attempt)}, lines)
