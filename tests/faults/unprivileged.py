"""Runs the command line as somebody to whom file modes apply: root may read everything, and tests often run as root."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_OVERRIDE, _SEARCH = 1, 2
"""Linux's numbers of the rights to pass over the modes of files and folders."""
_VERSION = 0x20080522
PROGRAM = """
import json, os, sys, tempfile
from tests.faults.unprivileged import drop
from workbench.cli.run import main
drop()
told = []
for words in json.loads(sys.argv[1]):
    files = [tempfile.TemporaryFile() for _ in range(2)]
    child = os.fork()
    if child == 0:
        for number, file in enumerate(files, 1):
            os.dup2(file.fileno(), number)
        os._exit(main(words))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    out, err = ((file.seek(0), file.read().decode())[1] for file in files)
    told.append([code, out, err])
print(json.dumps(told))
"""


@dataclass(frozen=True)
class Done:
    """What came of a call."""

    code: int
    out: str
    err: str


def drop() -> None:
    """Give up the right to pass over file modes, for this process and for good; nothing to do without it."""
    if os.geteuid() != 0 or not sys.platform.startswith("linux"):
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_VERSION, 0)
    held = (ctypes.c_uint32 * 6)()
    if libc.capget(ctypes.byref(header), ctypes.byref(held)) != 0:
        raise OSError(ctypes.get_errno(), "capget")
    for place in range(3):  # effective, permitted, inheritable; the lower half has both
        held[place] &= ~(1 << _OVERRIDE | 1 << _SEARCH)
    if libc.capset(ctypes.byref(header), ctypes.byref(held)) != 0:
        raise OSError(ctypes.get_errno(), "capset")


def why_not(folder: Path) -> str:
    """Why modes cannot be made to apply here; empty where they can."""
    file = folder / "unreadable"
    file.write_text("x")
    file.chmod(0)
    script = f"from tests.faults.unprivileged import drop; drop(); open({str(file)!r})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=root())
    file.unlink()
    return "" if "PermissionError" in done.stderr else f"modes of files do not apply here: {done.stderr[-200:]}"


def root() -> Path:
    """The checkout."""
    return Path(__file__).resolve().parents[2]


def run(folder: Path, *calls: tuple[str, ...]) -> list[Done]:
    """Calls of the command line in a folder, one after the other, each in a process of its own."""
    env = {**os.environ, "PYTHONPATH": str(root())}
    words = [sys.executable, "-c", PROGRAM, json.dumps(calls)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=folder, env=env, timeout=120, check=True)
    return [Done(*row) for row in json.loads(done.stdout)]
