"""``workbench [PATH] [--read-only]``: the app."""

from __future__ import annotations

import gc
from pathlib import Path

from workbench.cli.call import Call
from workbench.cli.parser import unknown
from workbench.errors import NotFoundError, UsageError

_BEGIN = """\
three ways to begin:
  workbench init, then workbench task new TITLE    a task of your own
  workbench demo                                   a sample workspace to try everything on
  workbench session list                           agents' sessions found for this folder, once there is a workspace"""


def start(call: Call) -> int:
    """Open the app on a folder's workspace."""
    words = list(call.args.words)
    read_only = "--read-only" in words
    folders = [w for w in words if w not in ("--read-only", "--")]
    for word in folders:
        if word.startswith("-") and not Path(word).is_dir():
            raise UsageError(f"unknown option {word!r}", "see: workbench --help")
    if len(folders) > 1 and not Path(folders[0]).is_dir():
        raise unknown(folders[0])
    if len(folders) > 1:
        raise UsageError("the app opens one folder", "see: workbench --help")
    if folders and not (call.cwd / Path(folders[0]).expanduser()).is_dir():
        raise unknown(folders[0])
    if call.options.json:
        raise UsageError("the app prints no JSON", "for scripts: workbench status --json")
    return open_app(call, call.cwd / Path(folders[0]).expanduser() if folders else call.cwd, read_only=read_only)


def open_app(call: Call, folder: Path, *, read_only: bool = False) -> int:
    """The app on ``folder``; returns its exit code.

    Raises:
        NotFoundError: There is no workspace; the hint names the ways to begin.
        UsageError: There is no terminal.
    """
    try:
        entrance = call.enter(folder, read_only=read_only)
    except NotFoundError as problem:
        raise NotFoundError(problem.message, _BEGIN) from None
    if not call.screen:
        raise UsageError("the app needs a terminal", "for scripts: workbench status --json")
    # Nothing of what is loaded now is garbage; the collector begins again once the panes are painted.
    gc.disable()
    from workbench.tui.run import run_app

    return run_app(entrance, lambda: call.furnish(entrance, app=True), call.options.now)
