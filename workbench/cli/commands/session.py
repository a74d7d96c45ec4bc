"""``workbench session``: agents' sessions, found, attached and followed."""

from __future__ import annotations

from typing import Any

from workbench.cli.call import Call
from workbench.cli.output import Answer, Line, Span, table
from workbench.cli.spec import TASK, Command, flag, word
from workbench.errors import NotBuiltError

COMMANDS = (
    Command(
        "session list",
        "agents' sessions of this repository",
        "Lists the sessions that agents kept for this repository and its worktrees, newest first. Only the heads and "
        "tails of their files are read.",
        (flag("--all", help="of every repository on this machine (not built yet)"),),
        exits=("3 there is no workspace",),
        keys="sessions[]{agent,id,path,cwd,worktree,messages,started_at,updated_at,status,full,limited_until}",
        run="session:listing",
    ),
    Command(
        "session attach",
        "let a session belong to a task",
        "Attaches a session to the running attempt of a task; where none runs, the session's agent takes the task "
        "up. The session's file is read and never changed.",
        (TASK, word("S", "a session: id, path or latest")),
        exits=("3 no such task or session", "4 somebody else took it meanwhile", "5 it belongs to another task"),
        keys="attempt",
        examples=("workbench session attach @ latest",),
        run="session:attach",
    ),
    Command(
        "session follow",
        "messages as they are written",
        "Prints the messages of a task's sessions, and goes on as the agents write; Ctrl-C ends it. With --json "
        "one document a line.",
        (TASK, flag("--once", help="stop when nothing new is there")),
        exits=("3 no such task",),
        keys="a message a line",
        run="session:follow",
    ),
)


def listing(call: Call) -> Answer:
    """What was found."""
    if call.args.all:
        raise NotBuiltError("session list --all is not built yet", "without --all: the sessions of this repository")
    from workbench.services import sessions
    from workbench.services.shapes import session_json

    context = call.context(read_only=True)
    found = sessions.listing(context)
    extra: dict[str, Any] = {"worktree": None, "messages": None, "status": None, "full": None, "limited_until": None}
    document = {"sessions": [extra | session_json(s) for s in found]}
    lines = table(
        [Span(f"{s.agent}:{s.id}", "bold"), s.updated_at or "", f"{s.size:,} bytes", s.title or "", str(s.path)]
        for s in found
    )
    return Answer(document, lines or ["no session of this repository found; attach one by its path"])


def attach(call: Call) -> Answer:
    """Attach one."""
    from workbench.services import search, sessions, tasks
    from workbench.services.shapes import attempt_json

    context = call.context()
    task = tasks.resolve(context, call.args.task)
    attempt = sessions.attach(context, task, call.args.s)
    search.update(context)
    names = ", ".join(ref.name for ref in attempt.sessions)
    return Answer({"attempt": attempt_json(attempt)}, [f"attempt {attempt.id} of {task.slug} has the session {names}"])


def follow(call: Call) -> int:
    """Print as they come."""
    import json

    from workbench.services import sessions, tasks
    from workbench.services.shapes import builtins

    context = call.context(read_only=True)
    task = tasks.resolve(context, call.args.task)
    for message in sessions.follow(context, task, stop_when_idle=call.args.once):
        if call.options.json:
            call.out.row(json.dumps({"ref": message.ref, **builtins(message)}, ensure_ascii=True))
        elif not message.hidden:
            what = message.call.name if message.call else message.kind
            line: Line = [Span(f"{message.at or '':20}  ", "dim"), Span(f"{message.origin} {what}  ", "key"),
                          message.text[:300]]  # fmt: skip
            call.out.line(line)
    return 0
