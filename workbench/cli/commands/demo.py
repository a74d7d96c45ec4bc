"""``workbench demo``: a sample workspace in a folder of its own."""

from __future__ import annotations

from pathlib import Path

from workbench.cli.call import Call
from workbench.cli.output import Answer
from workbench.cli.spec import Command, flag, option, word
from workbench.errors import NotBuiltError

COMMANDS = (
    Command(
        "demo",
        "copy a sample workspace and open it",
        "Copies a sample workspace to a new folder and opens the app on it; the installed sample is never written "
        "to. Without a terminal, and with --json or --no-open, it only copies.",
        (
            word("NAME", "which sample; the first one where not given", optional=True),
            option("--dir", value="D", help="the folder to make; workbench-demo-NAME here where not given"),
            flag("--live", help="replay its agents, so that panes move (not built yet)"),
            option("--speed", value="X", help="how fast, with --live"),
            flag("--no-open", help="only copy"),
        ),
        exits=("3 no such sample", "5 the folder exists and is not empty"),
        keys="workspace",
        examples=("workbench demo", "workbench demo --dir /tmp/try --no-open"),
        run="demo:demo",
    ),
)


def demo(call: Call) -> Answer | int:
    """Copy, and open."""
    from workbench.services.demo import copy_demo

    if call.args.live or call.args.speed:
        raise NotBuiltError("workbench demo --live is not built yet", "workbench demo opens the sample as it stands")
    target = Path(call.args.dir).expanduser() if call.args.dir else None
    folder = copy_demo(call.args.name, target, call.env, call.options.now)
    if not call.args.no_open and not call.options.json and call.screen:
        from workbench.cli.commands.app import open_app

        call.out.note(f"demo copied to {folder}")
        return open_app(call, folder)
    document = {"workspace": str(folder / ".workbench"), "folder": str(folder)}
    return Answer(document, [f"demo copied to {folder}", f"open it: workbench {folder}"])
