"""Whether an agent stands behind this process: by the marks in its environment, else among its parents.

This keeps honest programs honest: an agent that runs a command in a pseudo-terminal looks like a
person to ``isatty``. It is no protection against a program that means to deceive.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from workbench.agents.catalogue import KNOWN
from workbench.agents.processes import Process, ProcessTable, parents, proc_table, ps_table

OTHER_MARKS: Mapping[str, str] = {
    "CURSOR_AGENT": "cursor",
    "COPILOT_CLI": "copilot",
    "CLINE_ACTIVE": "cline",
    "GOOSE_TERMINAL": "goose",
    "AUGMENT_AGENT": "augment",
    "ANTIGRAVITY_AGENT": "antigravity",
    "CRUSH": "crush",
}
"""Marks of agents that are not started from here."""
OTHER_NAMES: Mapping[str, str] = {
    "cursor-agent": "cursor",
    "aider": "aider",
    "mini-swe-agent": "mini-swe-agent",
    "amp": "amp",
    "auggie": "augment",
    "cline": "cline",
    "copilot": "copilot",
    "crush": "crush",
    "droid": "droid",
    "goose": "goose",
    "kiro-cli": "kiro",
    "openhands": "openhands",
    "vibe": "vibe",
    "claude-agent-acp": "claude",
    "claude-code-acp": "claude",
    "codex-acp": "codex",
    "pi-acp": "pi",
}
_PROC = Path("/proc")
_SHARED_MARKS = ("AI_AGENT", "AGENT")
"""Variables in which agents of several makers name themselves."""
_INTERPRETERS = frozenset(
    {"node", "nodejs", "bun", "bunx", "deno", "python", "python3", "pypy3", "ruby", "sh", "bash", "zsh", "dash", "ksh"}
)
_SUFFIX = re.compile(r"\.(?:exe|[cm]?js|ts|py|sh|rb)$")


@dataclass(frozen=True)
class Presence:
    """Which agent stands behind this process, and how that was seen."""

    agent: str | None
    how: str = ""


def detect(env: Mapping[str, str], pid: int | None = None, table: ProcessTable | None = None) -> Presence:
    """Look for an agent: marks in ``env`` first, then the parents of ``pid``.

    Args:
        env: The environment of this process.
        pid: Whose parents are looked at; this process where not given.
        table: Where processes are looked up; the system's where not given.
    """
    by_mark = _by_mark(env)
    if by_mark is not None:
        return by_mark
    if table is None:
        table = proc_table if Path("/proc/self/stat").exists() else ps_table()
    for process in parents(os.getpid() if pid is None else pid, table):
        agent = _agent_of(process)
        if agent is not None:
            return Presence(agent, f"parent process {process.pid} is {_called(process)}")
    return Presence(None)


def programs_in(folder: Path, agent: str) -> int:
    """How many programs of an agent run in a folder or beneath it; one that another of them started is a part of it.

    None is counted where the system does not tell.
    """
    found: dict[int, Process] = {}
    top = os.path.realpath(folder)
    try:
        pids = [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]
    except OSError:
        return 0
    for pid in pids:
        process = proc_table(pid)
        if process is not None and _agent_of(process) == agent and _is_beneath(_PROC / str(pid) / "cwd", top):
            found[pid] = process
    return sum(all(parent.pid not in found for parent in parents(pid, proc_table)) for pid in found)


def _is_beneath(link: Path, top: str) -> bool:
    try:
        where = str(link.readlink())
    except OSError:
        return False
    return where == top or where.startswith(top.rstrip(os.sep) + os.sep)


def _by_mark(env: Mapping[str, str]) -> Presence | None:
    for program in KNOWN.values():
        for mark in program.marks:
            if env.get(mark):
                return Presence(program.name, f"{mark} is set")
    for mark, agent in OTHER_MARKS.items():
        if env.get(mark):
            return Presence(agent, f"{mark} is set")
    names = {*KNOWN, *OTHER_MARKS.values(), *OTHER_NAMES.values()}
    for mark in _SHARED_MARKS:
        said = re.split(r"[@/ ]", env.get(mark, "").strip().lower())[0].removesuffix("-code").removesuffix("-cli")
        if said in names or (mark == "AI_AGENT" and said) or (mark == "AGENT" and said == "1"):
            return Presence(said if said in names else "unknown", f"{mark} is set")
    launched = env.get("WORKBENCH_ACTOR", "")
    if launched.startswith("agent:") and env.get("WORKBENCH_ATTEMPT"):
        return Presence(launched.removeprefix("agent:"), "it was launched by the workbench")
    return None


def _agent_of(process: Process) -> str | None:
    """The agent that ``process`` is, by its own name or by the script that an interpreter runs."""
    words = process.argv or (process.name,)
    first = _base(words[0])
    named = _known_name([process.name, first], ())
    if named is not None or first not in _INTERPRETERS:
        return named
    script = _script(words[1:])
    return None if script is None else _known_name([_base(script)], (script,))


def _known_name(names: Iterable[str], paths: Iterable[str]) -> str | None:
    names = set(names)
    for program in KNOWN.values():
        for known in program.process_names:
            if known in names or ("/" in known and any(known in path for path in paths)):
                return program.name
    return next((agent for name, agent in OTHER_NAMES.items() if name in names), None)


def _base(word: str) -> str:
    """``/usr/bin/python3.11`` as ``python3``, ``cli.js`` as ``cli``; a login shell's dash goes."""
    name = _SUFFIX.sub("", PurePosixPath(word.removeprefix("-")).name)
    return re.sub(r"^(python3?|pypy3?)[\d.]+$", r"python3", name)


def _script(words: Iterable[str]) -> str | None:
    """The script among an interpreter's arguments: the first that is no option, or the module after ``-m``."""
    words = list(words)
    for number, word in enumerate(words):
        if word == "-m":
            return words[number + 1] if number + 1 < len(words) else None
        if word in ("-c", "-e", "-p", "--eval", "--print"):
            return None
        if word == "run" or word.startswith("-"):
            continue
        return word
    return None


def _called(process: Process) -> str:
    return _base(process.argv[0]) if process.argv and _base(process.argv[0]) not in _INTERPRETERS else process.name
