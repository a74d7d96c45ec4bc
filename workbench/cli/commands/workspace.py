"""``workbench init`` and ``workbench forget``: making a workspace, and leaving no trace of it."""

from __future__ import annotations

from pathlib import Path

from workbench.cli.call import Call
from workbench.cli.output import Answer
from workbench.cli.spec import Command, word
from workbench.errors import UsageError

COMMANDS = (
    Command(
        "init",
        "make the workspace of this repository or folder",
        "Makes the folder .workbench in the main checkout of PATH's repository (of this folder's, without PATH), one "
        "for all its worktrees; outside git in the folder itself. It is excluded from git without changing any "
        "tracked file. An existing workspace stays as it is.",
        (word("PATH", "a folder of the repository", optional=True),),
        exits=("5 this is your home folder",),
        keys="workspace",
        run="workspace:init",
    ),
    Command(
        "forget",
        "remove all that was ever written here",
        "Lists what the product wrote for this workspace (the workspace itself, the exclude line, cache, trust), "
        "asks on the terminal unless --yes, and removes it. A person's act; there is no way back.",
        exits=("3 there is no workspace", "5 a person is needed, or did not agree"),
        keys="removed[]",
        run="workspace:forget",
    ),
)


def init(call: Call) -> Answer:
    """Make a workspace."""
    from workbench.services import workspaces

    start = call.cwd / Path(call.args.path).expanduser() if call.args.path else call.cwd
    if not start.is_dir():
        raise UsageError(f"{start} is not a folder")
    explicit = call.options.workspace
    location = workspaces.init(start, env=call.env, explicit=explicit)
    return Answer({"workspace": str(location.root)}, [f"workspace {location.root}"])


def forget(call: Call) -> Answer:
    """Remove a workspace."""
    from workbench.services import workspaces

    context = call.context()
    plan = workspaces.forget_plan(context)
    call.confirm(context, "forgetting a workspace", ["This removes, for good:", *(f"  {path}" for path in plan)],
                 typed="forget")  # fmt: skip
    removed = workspaces.forget(context)
    return Answer({"removed": removed}, [f"removed {path}" for path in removed])
