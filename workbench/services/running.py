"""Runs one command without a shell: its output line by line, its exit code, an excerpt that is bounded."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import UsageError
from workbench.services.context import HUMAN_SHELL, Context

FIRST, LAST = 20, 80
"""Lines of the output that the excerpt keeps from its beginning and its end."""
LONGEST_LINE = 2_000
"""Characters of one line; what follows is left out."""
_PIECE = 65_536


@dataclass(frozen=True)
class Ran:
    """What came of a command."""

    exit_code: int
    """128 and the signal's number where a signal ended it, as shells say it."""
    excerpt: str
    seconds: float


def environment(ctx: Context) -> dict[str, str]:
    """The environment of a command: ours, without what would let it pass for a person."""
    return {name: value for name, value in ctx.env.items() if name not in (HUMAN_SHELL, "WORKBENCH_ACTOR")}


class _Excerpt:
    """The first and the last lines of an output, however long it is."""

    def __init__(self) -> None:
        self._first: list[str] = []
        self._last: deque[str] = deque(maxlen=LAST)
        self._lines = 0

    def add(self, line: str) -> None:
        self._lines += 1
        if len(self._first) < FIRST:
            self._first.append(line)
        else:
            self._last.append(line)

    def text(self) -> str:
        left = self._lines - len(self._first) - len(self._last)
        middle = [f"[{left} lines left out]"] if left else []
        return "\n".join([*self._first, *middle, *self._last])


def run(argv: Sequence[str], folder: Path, env: Mapping[str, str], told: Callable[[str], None]) -> Ran:
    """Run a command to its end, standard input closed, both outputs together.

    Its process group is ended when we are interrupted: nothing of it stays behind.

    Args:
        argv: The command and its arguments.
        folder: Where it runs.
        env: Its whole environment.
        told: Is given every line of output as it comes, without its newline.

    Raises:
        UsageError: There is no such program, or it may not be started.
    """
    begin = time.monotonic()
    try:
        process = subprocess.Popen(
            list(argv),
            cwd=folder,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        raise UsageError(f"{argv[0]!r} cannot be started in {folder}: {reason}") from None
    excerpt = _Excerpt()
    try:
        assert process.stdout is not None
        with process.stdout as stream:
            while piece := stream.readline(_PIECE):
                line = piece.decode("utf-8", "replace").rstrip("\r\n")[:LONGEST_LINE]
                excerpt.add(line)
                told(line)
        code = process.wait()
    finally:
        if process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return Ran(128 - code if code < 0 else code, excerpt.text(), time.monotonic() - begin)
