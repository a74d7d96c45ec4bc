"""The agent in this terminal: its own process group, the terminal lent to it, waited for, stops included.

May run in a thread: nothing here sets a signal handler.
"""

from __future__ import annotations

import os
import signal
import subprocess
import termios
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class Terminal:
    """The controlling terminal, lent to a child and taken back; without one, nothing happens."""

    def __init__(self) -> None:
        try:
            self._fd: int | None = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
        except OSError:
            self._fd = None
        self._own: list[Any] | None = None if self._fd is None else termios.tcgetattr(self._fd)
        self._theirs: list[Any] | None = None

    def lend(self, group: int) -> None:
        """Give the terminal to a process group, as that group last had it."""
        if self._fd is None:
            return
        if self._theirs is not None:
            self._set(self._theirs)
        self._to(group)

    def take_back(self) -> None:
        """Take the terminal back, as it was before it was lent."""
        if self._fd is None or self._own is None:
            return
        self._to(os.getpgrp())
        self._theirs = termios.tcgetattr(self._fd)
        self._set(self._own)

    def close(self) -> None:
        """Let go of the descriptor."""
        if self._fd is not None:
            os.close(self._fd)

    def _to(self, group: int) -> None:
        assert self._fd is not None
        # Who is not in the foreground may take the terminal only with this signal blocked.
        with _blocked(signal.SIGTTOU):
            try:
                os.tcsetpgrp(self._fd, group)
            except (ProcessLookupError, PermissionError, OSError):
                return  # the group is gone, or the terminal is another session's by now

    def _set(self, attributes: list[Any]) -> None:
        assert self._fd is not None
        with _blocked(signal.SIGTTOU):
            try:
                termios.tcsetattr(self._fd, termios.TCSADRAIN, attributes)
            except termios.error:
                return  # the terminal hung up


@contextmanager
def _blocked(number: signal.Signals) -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def run(argv: Sequence[str], folder: Path, env: Mapping[str, str], began: Callable[[Callable[[], bool]], None]) -> int:
    """Run ``argv`` in the foreground until it ends.

    Args:
        argv: The program and its arguments.
        folder: Where it starts.
        env: Its environment.
        began: Called once with a way to ask whether the process still lives; what it raises ends the
            process and is raised here.

    Returns:
        The exit code, negative for a signal, as :mod:`subprocess` has it.
    """
    terminal = Terminal()
    process = subprocess.Popen(list(argv), cwd=folder, env=dict(env), process_group=0)
    try:
        terminal.lend(process.pid)
        try:
            began(lambda: process.poll() is None)
        except BaseException:
            _end(process)
            raise
        return _wait(process, terminal)
    finally:
        terminal.take_back()
        terminal.close()


def _wait(process: subprocess.Popen[bytes], terminal: Terminal) -> int:
    while process.returncode is None:
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            terminal.take_back()
            if _has_shell():
                # Ctrl-Z in the agent is Ctrl-Z for us: the shell gets the terminal, and fg comes back here.
                os.killpg(os.getpgrp(), signal.SIGSTOP)
            terminal.lend(process.pid)
            os.killpg(process.pid, signal.SIGCONT)
        else:
            process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode


def _has_shell() -> bool:
    """Whether a shell with job control stands above us, which can wake us after a stop."""
    parent = os.getppid()
    try:
        return os.getsid(parent) == os.getsid(0) and os.getpgid(parent) != os.getpgrp()
    except ProcessLookupError:
        return False


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    os.killpg(process.pid, signal.SIGTERM)
    os.killpg(process.pid, signal.SIGCONT)
    try:
        process.wait(2)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
