"""``workbench session``: agents' sessions, found, attached and followed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.cli.call import Call
from workbench.cli.output import Answer, Column, Line, Span, Table
from workbench.cli.spec import TASK, Command, flag, word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.services.context import Context
    from workbench.services.session_list import Listed
    from workbench.services.successors import Successor

_LISTED = (
    Column(4), Column(48, whole=True), Column(16), Column(12), Column(16), Column(20), Column(12), Column(40),
)  # fmt: skip
COMMANDS = (
    Command(
        "session list",
        "agents' sessions of this repository",
        "Lists the sessions that agents kept for this repository and its worktrees, newest first: live or idle, title, "
        "size, which task it belongs to. Only the heads and tails of their files are read, and what they told is kept "
        "in your cache. With --all the sessions of every repository on this machine; no workspace is needed for that.",
        (flag("--all", help="of every repository on this machine"),),
        exits=("3 there is no workspace",),
        keys="sessions[]{agent,id,path,cwd,worktree,messages,started_at,updated_at,status,full,limited_until}",
        run="session:listing",
    ),
    Command(
        "session attach",
        "let a session belong to a task",
        "Attaches a session to the running attempt of a task; where none runs, the session's agent takes the task "
        "up. The session's file is read and never changed. Sessions that go on from one of the attempt (after "
        "clearing, resuming, forking) join it by themselves, and are taken back with undo.",
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
        "one document a line. Where you run it, what is said in the sessions is taken in as in the app: proposals and "
        "open items appear, and what wants your word waits for it (workbench status).",
        (TASK, flag("--once", help="stop when nothing new is there")),
        exits=("3 no such task",),
        keys="a message a line",
        run="session:follow",
    ),
)


def listing(call: Call) -> Answer:
    """What was found."""
    from workbench.services import session_list
    from workbench.services.shapes import session_json

    if call.args.all:
        rows = session_list.everywhere(call.env, call.options.now)
    else:
        from workbench.services import successors

        context = call.context(read_only=True)
        rows = successors.listed(context)
    document = {"sessions": [session_json(row) for row in rows]}
    if rows:
        return Answer(document, [Table([_row(row, everywhere=call.args.all) for row in rows], _LISTED)])
    where = session_list.looked_in(call.env)
    said = f"no session found in {where}; attach one by the path of its file: workbench session attach @ PATH"
    return Answer(document, [said])


def _row(row: Listed, *, everywhere: bool) -> list[str | Span]:
    session = row.session
    cells: list[str | Span] = [
        Span("live" if row.live else "idle", "good" if row.live else "dim"),
        Span(session.name, "bold"),
        session.updated_at[:16].replace("T", " "),
        f"{session.size:,} bytes",
        str(session.folder or "?") if everywhere else row.worktree or "",
        Span(f"task {row.task.slug}" if row.task else "", "key"),
    ]
    if session.children:
        cells.append(f"{len(session.children)} sub-agent{'' if len(session.children) == 1 else 's'}")
    else:
        cells.append("")
    title = session.title or "-"
    return [*cells, f"{title} ({row.follows})" if row.follows else title]


def attach(call: Call) -> Answer:
    """Attach one."""
    from workbench.services import search, sessions, tasks
    from workbench.services.shapes import attempt_json

    context = call.context()
    task = tasks.resolve(context, call.args.task)
    attempt = sessions.attach(context, task, call.args.s)
    notes = catch_up(context)
    attempt = context.workspace.load().attempts.get(attempt.id, attempt)
    search.update(context)
    names = ", ".join(ref.name for ref in attempt.sessions)
    said = [f"attempt {attempt.id} of {task.slug} has the session{'s' * (len(attempt.sessions) > 1)} {names}"]
    return Answer({"attempt": attempt_json(attempt)}, said, notes=notes)


def catch_up(context: Context) -> list[str]:
    """Before a command writes what rests on sessions: those that go on from attached ones join; a line for each."""
    from workbench.services import successors

    return said(*successors.join(context))


def said(joined: Sequence[Successor], offered: Sequence[Successor]) -> list[str]:
    """What joined, and what a person may want to attach."""
    lines = [f"joined: {row.session.name} ({row.why}); workbench undo {row.change} takes it back" for row in joined]
    return lines + [
        f"perhaps: {row.session.name} ({row.why}); "
        f"workbench session attach {row.task.slug} {row.session.id} lets it belong to {row.task.slug}"
        for row in offered
        if not row.sure
    ]


def follow(call: Call) -> int:
    """Print as they come."""
    import json

    from workbench.services import sessions, tasks
    from workbench.services.following import Follower
    from workbench.services.shapes import followed_json

    context = call.context()
    follower = Follower(context)

    def hear() -> None:
        while follower.step():
            pass

    task = tasks.resolve(context, call.args.task)
    if not sessions.attached(context, context.workspace.load(), task):
        call.out.note(f"no session is attached to {task.slug} so far: workbench session attach {task.slug} latest")
    for message in sessions.follow(context, task, stop_when_idle=call.args.once, at_rest=hear):
        if call.options.json:
            call.out.row(json.dumps(followed_json(message), ensure_ascii=True))
        elif not message.hidden:
            what = message.call.name if message.call else message.kind
            line: Line = [Span(f"{message.at or '':20}  ", "dim"), Span(f"{message.origin} {what}  ", "key"),
                          message.text[:300]]  # fmt: skip
            call.out.line(line)
    return 0
