"""Global options: taken before and after the command by one pre-parser, up to a lone ``--``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from workbench.domain.times import parse_now
from workbench.errors import UsageError

HELP = """\
global options, before or after the command:
  -w, --workspace PATH  a repository, a folder or a .workbench; else WORKBENCH_WORKSPACE, else the
                        workspace of the repository you are in, the same from every worktree
  --as ACTOR            human, human:NAME or agent:NAME; else WORKBENCH_ACTOR, else whoever stands
                        behind this shell
  --json                one JSON document on standard output and nothing else there
  -y, --yes             do not ask; you have decided already
  --now TIME            act as at this time, like 2026-03-01T10:00:00Z
  --debug               tracebacks, and a log in your state folder
  -h, --help            this page
  --                    what follows it is no option: a title or a value that begins with a dash
"""
_FLAGS = {
    "--json": "json",
    "--debug": "debug",
    "--yes": "yes",
    "-y": "yes",
    "--help": "help",
    "-h": "help",
    "--version": "version",
}
_VALUES = {"--workspace": "workspace", "-w": "workspace", "--as": "actor", "--now": "now"}
_ACTOR = re.compile(r"(?:(?:human|agent):)?[^\s:\x00-\x1f\x7f]{1,64}")


@dataclass(frozen=True)
class Globals:
    """The global options as given."""

    workspace: Path | None = None
    actor: str | None = None
    json: bool = False
    now: datetime | None = None
    debug: bool = False
    yes: bool = False
    help: bool = False
    version: bool = False


def split(argv: Sequence[str]) -> tuple[Globals, list[str]]:
    """Global options and the words that are left, in their order; what follows ``--`` is left alone.

    Raises:
        UsageError: A value is missing or wrong. ``json_wanted`` tells beforehand in which form to say so.
    """
    found: dict[str, Any] = {}
    rest: list[str] = []
    words = iter(argv)
    for item in words:
        if item == "--":
            rest += [item, *words]
            break
        name, equals, value = item.partition("=")
        if item in _FLAGS and not (item == "--version" and rest):  # a command may have a --version of its own
            found[_FLAGS[item]] = True
        elif name in _VALUES and equals:
            found[_VALUES[name]] = _read(name, value)
        elif item in _VALUES:
            found[_VALUES[item]] = _read(item, next(words, None))
        elif item.startswith("-w") and not item.startswith("--"):
            found["workspace"] = _read("-w", item[2:])
        else:
            rest.append(item)
    return replace(Globals(), **found), rest


def json_wanted(argv: Sequence[str]) -> bool:
    """Whether ``--json`` stands among the global options, even where others are wrong."""
    before = list(argv)[: list(argv).index("--")] if "--" in argv else argv
    return "--json" in before


def _read(name: str, value: str | None) -> Any:
    if not value:
        raise UsageError(f"{name} needs a value", "see: workbench --help")
    if name == "--now":
        return parse_now(value)
    if name == "--as":
        if not _ACTOR.fullmatch(value):
            raise UsageError(f"--as {value!r} is no actor", "write human, human:NAME or agent:NAME")
        return value
    if "\x00" in value:
        raise UsageError("a path cannot hold a NUL")
    return Path(value)
