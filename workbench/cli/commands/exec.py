"""``workbench _exec FILE``: become the agent program, exactly as a person confirmed it; for launchers only."""

from __future__ import annotations

from pathlib import Path

from workbench.cli.call import Call
from workbench.cli.spec import Command, word

COMMANDS = (
    Command(
        "_exec",
        "start a launched agent",
        "For launchers only: reads an owner-only file, checks folder, branch, HEAD and the prompt's hash, and "
        "becomes the program that it names.",
        (word("FILE", "the order"),),
        exits=("5 the folder, branch, HEAD or prompt is not the package's",),
        run="exec:start",
    ),
)


def start(call: Call) -> int:
    """Never returns when all is well: the process is the agent from then on."""
    from workbench.handoff.exec_file import run_exec

    return run_exec(Path(call.args.file), call.env)
