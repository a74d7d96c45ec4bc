"""The terminal comes back as it was found, and nothing in the data speaks to it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE = 30.0


class Terminal:
    """A program in a terminal of its own, and all that it wrote."""

    def __init__(self, view: str) -> None:
        self.fd, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 160, 0, 0))
        self.before = termios.tcgetattr(inner)
        self.seen = b""
        # A test runner's COLUMNS would speak louder than the size of this terminal.
        inherited = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        env = {**inherited, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.tui.look", view],
            stdin=inner,
            stdout=inner,
            stderr=inner,
            cwd=ROOT,
            env=env,
            start_new_session=True,
        )
        self.inner = inner

    def read_until(self, words: bytes) -> None:
        """Read what the program writes until these words were among it."""
        end = time.monotonic() + PATIENCE
        while words not in self.seen:
            assert time.monotonic() < end, self.seen[-2000:]
            if select.select([self.fd], [], [], 0.1)[0]:
                self.seen += os.read(self.fd, 65536)

    def read_to_the_end(self) -> int:
        """Read until the program ended; its exit code."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None or select.select([self.fd], [], [], 0)[0]:
            assert time.monotonic() < end
            if select.select([self.fd], [], [], 0.05)[0]:
                self.seen += os.read(self.fd, 65536)
        return self.process.returncode


@contextmanager
def opened(view: str) -> Iterator[Terminal]:
    terminal = Terminal(view)
    try:
        yield terminal
    finally:
        if terminal.process.poll() is None:
            terminal.process.kill()
        terminal.process.wait()
        os.close(terminal.inner)
        os.close(terminal.fd)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_signals_give_the_terminal_back(number):
    with opened("full") as terminal:
        terminal.read_until(b"tokens kept")
        terminal.process.send_signal(number)
        assert terminal.read_to_the_end() == 128 + number
        assert termios.tcgetattr(terminal.inner)[:4] == terminal.before[:4]
        for on, off in ((b"\x1b[?1049h", b"\x1b[?1049l"), (b"\x1b[?1003h", b"\x1b[?1003l")):
            assert terminal.seen.rindex(off) > terminal.seen.rindex(on)
        assert b"Traceback" not in terminal.seen


def test_a_signal_ends_it_while_it_waits_for_another_that_writes():
    with opened("stuck") as terminal:
        terminal.read_until(b"tokens kept")
        os.write(terminal.fd, b"uu")
        terminal.read_until(b"Something")
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.read_to_the_end() == 128 + signal.SIGTERM
        assert termios.tcgetattr(terminal.inner)[:4] == terminal.before[:4]


def test_q_gives_the_terminal_back():
    with opened("full") as terminal:
        terminal.read_until(b"tokens kept")
        os.write(terminal.fd, b"q")
        assert terminal.read_to_the_end() == 0
        assert termios.tcgetattr(terminal.inner)[:4] == terminal.before[:4]


def test_no_escape_of_the_data_reaches_the_terminal():
    with opened("hostile") as terminal:
        terminal.read_until(b"reported")
        os.write(terminal.fd, b"g")
        os.write(terminal.fd, b"3")
        os.write(terminal.fd, b"q")
        terminal.read_to_the_end()
    for bad in (b"\x1b]52", b"\x1b[2J", b"\xc2\x9b", b"\x00", b"\x08", b"\xe2\x80\xae"):
        assert bad not in terminal.seen
