"""Which session a running agent is in: from what the programs themselves keep open or write down."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from workbench.sessions.claude import discovery as claude
from workbench.sessions.codex import discovery as codex
from workbench.sessions.codex.format import hints_of

_PROC = Path("/proc")
_MOST = 1 << 16
"""Bytes of a registry entry, and of an environment, that are read."""
_ROLLOUT = re.compile(r"/rollout-[^/]*\.jsonl$")
_PROGRAM = "codex"


class _Registered(msgspec.Struct, rename="camel"):
    """A running Claude Code, as it registers itself."""

    pid: Any = None
    session_id: Any = None
    proc_start: Any = None
    started_at: Any = None


_decode = msgspec.json.Decoder(_Registered).decode


@dataclass(frozen=True)
class Runner:
    """The program that is in a session."""

    process: str
    """Its id and the moment it started, since ids are used again."""
    pane: str = ""
    """The pane of a terminal multiplexer that it was started in; empty where there is none, or nobody tells."""


def running(env: Mapping[str, str]) -> dict[str, Runner]:
    """The running program of each session that one is in, by ``AGENT:ID``.

    Sessions of programs that do not let it be known are left out.
    """
    return {**_claude(env), **_codex(env)}


def _claude(env: Mapping[str, str]) -> dict[str, Runner]:
    found: dict[str, Runner] = {}
    for root in claude.roots(env):
        try:
            with os.scandir(root / "sessions") as entries:
                files = [entry.path for entry in entries if entry.name.endswith(".json")]
        except OSError:
            continue
        for file in sorted(files):
            entry = _registered(file)
            if entry is None or type(entry.pid) is not int or not isinstance(entry.session_id, str):
                continue
            started = _started(entry.pid)
            if started is not None and (not isinstance(entry.proc_start, str) or started in ("", entry.proc_start)):
                process = f"{entry.pid}@{started or entry.started_at}"
                found[f"claude:{entry.session_id}"] = Runner(process, _pane(entry.pid))
    return found


def _registered(file: str) -> _Registered | None:
    try:
        with open(file, "rb") as stream:
            return _decode(stream.read(_MOST))
    except (OSError, msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def _started(pid: int) -> str | None:
    """When a process started, in the system's own count; empty where that cannot be known, None where it is gone."""
    if pid <= 0:
        return None
    if not _PROC.is_dir():
        try:
            os.kill(pid, 0)
        except PermissionError:
            return ""
        except (OSError, OverflowError):
            return None
        return ""
    try:
        stat = (_PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return None
    fields = stat[stat.rfind(b")") + 1 :].split()
    return fields[19].decode() if len(fields) > 19 else ""


def _pane(pid: int) -> str:
    """The pane that tmux named in a process's environment when it started."""
    try:
        with (_PROC / str(pid) / "environ").open("rb") as file:
            variables = dict(part.partition(b"=")[::2] for part in file.read(_MOST).split(b"\0"))
    except OSError:
        return ""
    server, pane = variables.get(b"TMUX", b""), variables.get(b"TMUX_PANE", b"")
    # Panes are numbered anew by each server, which is told by its socket and its process.
    return b" ".join((*server.split(b",")[:2], pane)).decode("utf-8", "replace") if server and pane else ""


def _written(path: str) -> int:
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return 0


def _codex(env: Mapping[str, str]) -> dict[str, Runner]:
    """Codex keeps the files of its sessions open; where there is no ``/proc``, nobody tells."""
    home = f"{os.path.realpath(codex.home_folder(env))}/"
    found: dict[str, Runner] = {}
    try:
        with os.scandir(_PROC) as entries:
            pids = [entry.name for entry in entries if entry.name.isdigit()]
    except OSError:
        return found
    for pid in pids:
        folder = _PROC / pid
        try:
            if (folder / "comm").read_text("utf-8", "replace").strip() != _PROGRAM:
                continue
            open_files = [str(entry.readlink()) for entry in (folder / "fd").iterdir()]
        except OSError:
            continue
        # It may keep those open as well that it has left: the one written last is where it is.
        mine = [path for path in open_files if path.startswith(home) and _ROLLOUT.search(path)]
        if mine:
            session = hints_of(Path(max(mine, key=_written))).session
            found[f"codex:{session}"] = Runner(f"{pid}@{_started(int(pid))}", _pane(int(pid)))
    return found
