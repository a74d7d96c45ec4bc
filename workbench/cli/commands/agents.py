"""``workbench agents``: which agent programs are here."""

from __future__ import annotations

from typing import Any

from workbench.cli.call import Call
from workbench.cli.output import Answer, Span, table
from workbench.cli.spec import Command

COMMANDS = (
    Command(
        "agents",
        "which agent programs are here",
        "Lists the agent programs that the workbench knows or that you defined in [agents.NAME], installed ones "
        "first, with their context window where it is known. Runs none of them, so it names no versions. Needs no "
        "workspace.",
        keys="agents[]{name,executable,version,window,sessions_dir,connected}",
        run="agents:listing",
    ),
)


def listing(call: Call) -> Answer:
    """What is installed."""
    from workbench.agents import installed, programs
    from workbench.config import load_config
    from workbench.errors import NotFoundError
    from workbench.store.location import find_existing

    named = call.options.workspace or call.env.get("WORKBENCH_WORKSPACE")
    try:
        root = find_existing(call.cwd, call.cwd / named if named else None).root
    except NotFoundError:
        root = None
    config = load_config(root, call.env, lenient=True)
    for warning in config.warnings:
        call.out.note(f"warning: {warning}")
    rows: list[dict[str, Any]] = []
    for name, program in programs(config).items():
        settings = config.agents.get(name)
        rows.append(
            {
                "name": name,
                "title": program.title,
                "executable": installed(program, call.env),
                "version": None,
                "window": program.window,
                "tokenizer": program.tokenizer,
                "estimated": program.estimated,
                "sessions_dir": settings.sessions if settings else None,
                "connected": None,
            }
        )
    rows.sort(key=lambda row: row["executable"] is None)
    lines = table(
        [
            Span(row["name"], "bold"),
            Span("installed", "good") if row["executable"] else Span("not installed", "dim"),
            f"{row['window']:,} tokens" if row["window"] else "window unknown",
            ("\u2248" if row["estimated"] else "") + row["tokenizer"],
            row["executable"] or "",
        ]
        for row in rows
    )
    return Answer({"agents": rows}, lines, notes=[f"warning: {text}" for text in config.warnings])
