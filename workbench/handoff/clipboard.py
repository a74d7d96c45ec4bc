"""The person's clipboard: the first way that proves itself; without proof nothing is called copied."""

from __future__ import annotations

import base64
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from workbench.errors import RefusedError
from workbench.handoff import tmux

_LIMIT = 5
_MOST_OSC52 = 74_994
"""Bytes of text that terminals with the smallest known limit (100,000 of base64) still take."""
_TOOLS: tuple[tuple[str, str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("", "pbcopy", (), ("pbpaste",)),
    ("WAYLAND_DISPLAY", "wl-copy", (), ("wl-paste", "--no-newline")),
    ("DISPLAY", "xclip", ("-selection", "clipboard"), ("xclip", "-selection", "clipboard", "-o")),
)
"""Variable that must be set, tool, its options, and how its work is read back."""


@dataclass(frozen=True)
class Copied:
    """What became of a text that was to be copied."""

    proven: bool
    """It was read back equal."""
    where: str
    """``the clipboard``, ``tmux's buffer``, ``the terminal``; empty where nothing took it."""
    sequence: str = ""
    """What a caller who owns the terminal may write to it (OSC 52): no terminal says whether it obeyed."""


def copy(text: str, env: Mapping[str, str]) -> Copied:
    """Put ``text`` where the person can paste it from."""
    for variable, tool, options, back in _TOOLS:
        program = shutil.which(tool, path=env.get("PATH")) if not variable or env.get(variable) else None
        if program and _fed([program, *options], text, env) and _read([*back], env) == text:
            return Copied(True, "the clipboard")
    if tmux.program(env):
        try:
            tmux.run(env, "load-buffer", "-w", "-", data=text.encode("utf-8", "surrogateescape"))
            if tmux.run(env, "show-buffer") == text:
                return Copied(True, "tmux's buffer")
        except RefusedError:
            pass  # an old tmux without -w, or one that is gone: the terminal is asked next
    data = text.encode("utf-8", "surrogateescape")
    if len(data) > _MOST_OSC52:
        return Copied(False, "")
    return Copied(False, "the terminal", f"\x1b]52;c;{base64.b64encode(data).decode()}\x07")


def _fed(argv: list[str], text: str, env: Mapping[str, str]) -> bool:
    """Runs a tool that may stay behind to serve the selection: its outputs are not waited for."""
    try:
        done = subprocess.run(
            argv,
            input=text.encode("utf-8", "surrogateescape"),
            env=dict(env),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_LIMIT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _read(argv: list[str], env: Mapping[str, str]) -> str | None:
    program = shutil.which(argv[0], path=env.get("PATH"))
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, *argv[1:]],
            env=dict(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_LIMIT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "surrogateescape") if done.returncode == 0 else None
