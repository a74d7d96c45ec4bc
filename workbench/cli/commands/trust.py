"""``workbench trust``: what may run from this workspace, and a person's yes to exactly that."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.call import Call
from workbench.cli.output import Answer, Line, Span
from workbench.cli.spec import Command, word
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.services.trust import Runnable

_KEYS = "commands[]{what,argv,folder,trusted}, granted"
COMMANDS = (
    Command(
        "trust",
        "show what may run, and ask",
        "Shows every command that the workbench would run for this worktree (git, with everything switched off that "
        "a repository could make it run, and the required commands of open tasks), and asks on the terminal unless "
        "--yes. Trust is kept outside the workspace and bound to command, arguments and folder: a changed command "
        "asks again. A person's act.",
        (word("PATH", "a folder of the worktree; this one where not given", optional=True),),
        exits=("3 there is no workspace", "5 a person is needed, or did not agree"),
        keys=_KEYS,
        examples=("workbench trust", "workbench trust list", "workbench trust revoke"),
        run="trust:grant",
    ),
    Command(
        "trust list",
        "what would run, and what of it is trusted",
        "Shows every command that the workbench would run for this worktree, and whether it is trusted.",
        exits=("3 there is no workspace",),
        keys=_KEYS,
        run="trust:listing",
    ),
    Command(
        "trust revoke",
        "take trust back",
        "Takes back what is trusted for this worktree. A person's act.",
        exits=("3 there is no workspace", "5 a person is needed"),
        keys="revoked",
        run="trust:revoke",
    ),
)


def grant(call: Call) -> Answer:
    """Show and ask."""
    from workbench.services import trust

    start = call.cwd / Path(call.args.path).expanduser() if call.args.path else call.cwd
    if not start.is_dir():
        raise UsageError(f"{start} is not a folder")
    context = call.context(start=start)
    rows = trust.plan(context)
    if rows and not all(row.trusted for row in rows):
        call.confirm(context, "trusting commands", ["These may run from now on:", *_lines(rows)])
    granted = trust.grant(context, rows)
    return Answer(
        {"commands": [_json(row) for row in trust.plan(context)], "granted": granted},
        [f"{granted} command{'' if granted == 1 else 's'} trusted", *(_lines(rows) if not granted else ())],
    )


def listing(call: Call) -> Answer:
    """Show."""
    from workbench.services import trust

    rows = trust.plan(call.context(read_only=True))
    return Answer({"commands": [_json(row) for row in rows], "granted": 0}, _lines(rows) or ["nothing would run"])


def revoke(call: Call) -> Answer:
    """Take back."""
    from workbench.services import trust

    count = trust.revoke(call.context())
    return Answer({"revoked": count}, [f"{count} command{'' if count == 1 else 's'} no longer trusted"])


def _lines(rows: tuple[Runnable, ...]) -> list[Line]:
    lines: list[Line] = []
    for row in rows:
        lines.append([Span("trusted    " if row.trusted else "not trusted", "good" if row.trusted else "warn"),
                      "  ", row.what])  # fmt: skip
        lines.append(["             ", shlex.join(row.argv), Span(f"  in {row.folder}", "dim")])
    return lines


def _json(row: Runnable) -> dict[str, Any]:
    return {"what": row.what, "argv": list(row.argv), "folder": str(row.folder), "trusted": row.trusted}
