"""Panes of the tmux server that this process runs in: opened without taking the focus, from argument lists only.

No argument is a format or a shell command: tmux runs several arguments directly, the folder is that
of the client process, and a trailing ``;``, which tmux would take for itself, is escaped.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workbench.errors import RefusedError
from workbench.text import one_line

Where = Literal["split", "window"]
WIDE = 160
"""Columns from which a pane is split side by side."""
_LIMIT = 10
"""Seconds for any one answer of the server."""


@dataclass(frozen=True)
class Pane:
    """A pane that was opened here."""

    id: str
    """As ``%7``."""
    where: Where


def program(env: Mapping[str, str]) -> str | None:
    """The tmux program, where this process runs inside tmux; else None."""
    return shutil.which("tmux", path=env.get("PATH")) if env.get("TMUX") else None


def run(env: Mapping[str, str], *args: str, folder: Path | None = None, data: bytes | None = None) -> str:
    """One tmux command; its output.

    Raises:
        RefusedError: tmux is not there, or said no; its words are in the message.
    """
    tmux = program(env)
    if tmux is None:
        raise RefusedError("this terminal is not inside tmux", "start tmux, or launch with foreground, print or copy")
    escaped = [arg[:-1] + "\\;" if arg.endswith(";") else arg for arg in args]
    try:
        done = subprocess.run(
            [tmux, *escaped],
            env=dict(env),
            cwd=folder,
            capture_output=True,
            timeout=_LIMIT,
            check=False,
            input=data or b"",
        )
    except subprocess.TimeoutExpired:
        raise RefusedError(f"tmux did not answer within {_LIMIT} s") from None
    if done.returncode != 0:
        raise RefusedError("tmux: " + one_line(done.stderr.decode("utf-8", "replace")))
    return done.stdout.decode("utf-8", "replace")


def open_pane(env: Mapping[str, str], argv: Sequence[str], folder: Path, where: Where, name: str) -> Pane:
    """Run ``argv`` in a new pane or window beside ours; a pane too small to split becomes a window.

    Raises:
        RefusedError: tmux refused.
    """
    own = env.get("TMUX_PANE")
    target = ["-t", own] if own else []
    form = ["-d", "-P", "-F", "#{pane_id}"]
    if where == "split":
        try:
            width = int(run(env, "display-message", "-p", *target, "#{pane_width}"))
            side = "-h" if width >= WIDE else "-v"
            return Pane(run(env, "split-window", side, *form, *target, *argv, folder=folder).strip(), "split")
        except RefusedError as problem:
            if "no space" not in problem.message:
                raise
    after: list[str] = []
    if own:
        here = run(env, "display-message", "-p", *target, "#{session_id}:#{window_index}").strip()
        after = ["-a", "-t", here]
    title = "".join(c for c in name if c.isalnum() or c in "-_") or "agent"
    return Pane(run(env, "new-window", *form, *after, "-n", title, *argv, folder=folder).strip(), "window")


def alive(env: Mapping[str, str], pane: Pane) -> bool:
    """Whether the pane still runs something."""
    rows = run(env, "list-panes", "-a", "-F", "#{pane_id} #{pane_dead}").splitlines()
    return f"{pane.id} 0" in rows


def close(env: Mapping[str, str], pane: Pane) -> None:
    """End a pane that was opened here; one that is gone already is fine."""
    if alive(env, pane):
        run(env, "kill-pane", "-t", pane.id)
