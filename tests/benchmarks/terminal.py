"""A program in a terminal of its own, whose screen is read and thrown away but for the words looked for."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from pathlib import Path
from types import TracebackType

PATIENCE = 30.0
_TICKS = os.sysconf("SC_CLK_TCK")


class Terminal:
    """Runs ``words`` in ``folder``; to be used in a ``with`` block, which ends it."""

    def __init__(self, words: list[str], folder: Path) -> None:
        self.began = time.perf_counter()
        self.pid, self._file = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.environ |= {"TERM": "xterm-256color", "COLUMNS": "160", "LINES": "45"}
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 45, 160, 0, 0))
            os.execvp(words[0], words)
        self._text = b""

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._file)

    def sees(self, words: str) -> float:
        """Wait until ``words`` are painted; the moment.

        Raises:
            RuntimeError: They never are.
        """
        until = time.perf_counter() + PATIENCE
        while words.encode() not in self._text:
            self._text = self._text[-2000:] + self._read(until - time.perf_counter())
        self._text = b""
        return time.perf_counter()

    def rest(self, seconds: float) -> None:
        """Let time pass, reading what is painted."""
        until = time.perf_counter() + seconds
        while (left := until - time.perf_counter()) > 0:
            if select.select([self._file], [], [], left)[0]:
                os.read(self._file, 1 << 16)

    def settle(self, most: float) -> None:
        """Let it come to rest: until it takes little of the processor, and at most so many seconds (Linux)."""
        until = time.perf_counter() + most
        while time.perf_counter() < until:
            before = self.cpu
            self.rest(min(1.0, most))
            if self.cpu - before < 0.1:
                return

    def stop(self) -> None:
        """Stop it, as the system does on request; it stands still when this returns."""
        os.kill(self.pid, signal.SIGSTOP)
        os.waitpid(self.pid, os.WUNTRACED)

    def go_on(self) -> None:
        """Let a stopped program go on."""
        os.kill(self.pid, signal.SIGCONT)

    def _read(self, patience: float) -> bytes:
        if patience <= 0 or not select.select([self._file], [], [], patience)[0]:
            raise RuntimeError(f"it was not painted; last: {self._text[-300:]!r}")
        try:
            return os.read(self._file, 1 << 16)
        except OSError as error:
            raise RuntimeError(f"the program ended; last: {self._text[-300:]!r}") from error

    @property
    def cpu(self) -> float:
        """Seconds of processor time that the program used so far (Linux)."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    @property
    def memory(self) -> int:
        """MiB that it holds (Linux)."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith("VmRSS"))) >> 10
