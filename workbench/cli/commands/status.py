"""``workbench status``: what a person would ask first."""

from __future__ import annotations

from typing import Any

from workbench.cli.call import Call
from workbench.cli.output import Answer, Line, Span, table
from workbench.cli.spec import Command, flag
from workbench.errors import NotBuiltError

COMMANDS = (
    Command(
        "status",
        "what a person would ask first",
        "Prints the current task, who works on it, facts by lifecycle, packages, attached sessions, and what needs "
        "you now. It writes nothing and runs nothing from the workspace.",
        (flag("--all", help="every repository and worktree where agents worked (not built yet)"),),
        exits=("3 there is no workspace", "6 some records cannot be read; the rest is printed"),
        keys="workspace, task, attempts, facts{active,proposed,challenged,contested,unreviewed}, "
        "packages{pending,stale}, sessions[], needs_you[], findings[], contested[], damaged[]",
        run="status:status",
    ),
)


def status(call: Call) -> Answer:
    """The workspace in a few lines."""
    if call.args.all:
        raise NotBuiltError("workbench status --all is not built yet", "workbench status shows this workspace")
    from workbench.services.status import status as look

    context = call.context(read_only=True)
    document = look(context)
    notes = [f"damaged: {d['path']}: {d['message']}" for d in document["damaged"]]
    lines = list(_lines(document, context.location.worktree_name))
    return Answer(document, lines, 6 if document["damaged"] else 0, notes)


def _elsewhere(attempt: dict[str, Any], here: str | None) -> str:
    """In which worktree an attempt runs, where it is not this one."""
    if attempt.get("worktree") == here:
        return ""
    return f" in worktree {attempt['worktree']}" if attempt.get("worktree") else " in the main checkout"


def _lines(document: dict[str, Any], here: str | None) -> list[Line]:
    from workbench.services.fact_view import LISTED_BY, in_words

    task = document["task"]
    running = next((a for a in document["attempts"] if task and a["id"] == task["running"]), None)
    where = document["branch"] or "no branch"
    dirty = document["dirty"]
    lines: list[Line] = [
        ["workspace  ", document["workspace"]],
        ["worktree   ", document["worktree"], f"  on {where}",
         "" if dirty is None else f", {dirty} changed file{'' if dirty == 1 else 's'}"],
    ]  # fmt: skip
    if task is None:
        lines.append(["task       ", "none; make one: workbench task new TITLE"])
    else:
        lines.append(["task       ", Span(task["slug"], "bold"), f"  {task['status']}, plan {task['plan_revision']}: ",
                      task["title"]])  # fmt: skip
        who = f"{running['executor']} ({running['status']}){_elsewhere(running, here)}" if running else "nobody"
        lines.append(["executor   ", who])
    facts, packages = document["facts"], document["packages"]
    lines.append(["facts      ", in_words(facts)])
    if any(facts.values()):
        lines.append(["           ", Span(f"each: {LISTED_BY}", "dim")])
    lines.append(["packages   ", f"{packages['pending']} pending, {packages['stale']} of them stale"])
    sessions = table(
        ["session    " if not number else "           ", f"{s['agent']}:{s['id']}", f"{s['messages']} messages",
         s["status"], _fill(s), s["title"] or ""]
        for number, s in enumerate(document["sessions"])
    )  # fmt: skip
    lines += sessions or [["sessions   ", "none attached; see: workbench session list"]]
    for number, need in enumerate(document["needs_you"]):
        lines.append(["needs you  " if not number else "           ", Span(need["text"], "warn")])
    lines += [["finding    ", text] for text in document["findings"]]
    return lines


def _fill(session: dict[str, Any]) -> str:
    """How full a session is, and how many requests still fit."""
    if session["full"] is None:
        return ""
    left = session["turns_left"]
    return f"{session['full']:.0%} full" + (f", about {left} requests left" if left is not None else "")
