"""The processes above this one: read from ``/proc``, else from one call of ``ps``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

MAX_DEPTH = 64
"""Parents looked at; real chains are a dozen long."""


@dataclass(frozen=True)
class Process:
    """One running program."""

    pid: int
    parent: int
    name: str
    """What the system calls it; the kernel cuts it at 15 characters."""
    argv: tuple[str, ...] = ()


ProcessTable = Callable[[int], Process | None]
"""A process by its id; None where it is gone or may not be looked at."""


def proc_table(pid: int) -> Process | None:
    """From Linux's ``/proc``."""
    folder = Path("/proc") / str(pid)
    try:
        stat = (folder / "stat").read_bytes()
        argv = (folder / "cmdline").read_bytes()
    except OSError:
        return None
    # The name stands in parentheses and may itself hold parentheses and blanks.
    begin, end = stat.find(b"("), stat.rfind(b")")
    fields = stat[end + 1 :].split()
    if begin < 0 or len(fields) < 2 or not fields[1].isdigit():
        return None
    words = tuple(word.decode("utf-8", "replace") for word in argv.split(b"\0") if word)
    return Process(pid, int(fields[1]), stat[begin + 1 : end].decode("utf-8", "replace"), words)


def ps_table(listing: str | None = None) -> ProcessTable:
    """From the output of ``ps``, for systems without ``/proc``; run once where it is not given."""
    processes: dict[int, Process] = {}
    for line in (_run_ps() if listing is None else listing).splitlines():
        fields = line.split(None, 2)
        if len(fields) == 3 and fields[0].isdigit() and fields[1].isdigit():
            words = tuple(fields[2].split())
            processes[int(fields[0])] = Process(int(fields[0]), int(fields[1]), words[0] if words else "", words)
    return processes.get


def _run_ps() -> str:
    import subprocess

    command = ["/bin/ps", "-A", "-ww", "-o", "pid=,ppid=,args="]
    try:
        done = subprocess.run(command, capture_output=True, timeout=5, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace")


def parents(pid: int, table: ProcessTable) -> Iterator[Process]:
    """The ancestors of ``pid``, nearest first."""
    seen = {pid}
    here = table(pid)
    while here is not None and here.parent > 0 and here.parent not in seen and len(seen) < MAX_DEPTH:
        seen.add(here.parent)
        here = table(here.parent)
        if here is not None:
            yield here
