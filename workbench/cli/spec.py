"""What a command is: words, arguments and help as data, from which parsers and help pages are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Arg:
    """One positional argument or option of a command."""

    names: tuple[str, ...]
    help: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    """For ``add_argument``."""


VERBATIM = "\0"
"""Stands before a word that followed ``--``, so that it is taken for no option, and for an empty one."""
_MAY_BE_EMPTY = frozenset(
    ("--why", "--reason", "--statement", "--objective", "--quote", "--override", "--role", "--skill", "--take")
)
"""Options whose empty text says something: no reason, no wording, no role."""


def word(
    name: str, help: str, *, optional: bool = False, many: bool = False, least: int = 1, empty: bool = False
) -> Arg:
    """A positional argument, shown in capitals; ``many`` takes ``least`` (0 or 1) or more."""
    nargs = ("*" if least == 0 else "+") if many else ("?" if optional else None)
    settings: dict[str, Any] = {"metavar": name, "type": _any_text if empty else _text}
    if nargs:
        settings["nargs"] = nargs
    return Arg((name.lower().replace("-", "_").strip("."),), help, settings)


def option(
    *names: str,
    value: str,
    help: str,
    many: bool = False,
    choices: tuple[str, ...] = (),
    required: bool = False,
    default: Any = None,
    number: bool = False,
) -> Arg:
    """An option with a value; ``many`` may be given several times, ``number`` is a whole one above 0."""
    settings: dict[str, Any] = {"required": required}
    if choices:
        settings["choices"] = choices
    else:
        settings["metavar"] = value
    if many:
        settings.update(action="append", default=[])
    elif default is not None:
        settings["default"] = default
    if number:
        settings["type"] = whole_number
    elif not choices:
        settings["type"] = _any_text if _MAY_BE_EMPTY & set(names) else _text
    return Arg(names, help, settings)


def _any_text(text: str) -> str:
    return text.removeprefix(VERBATIM)


def _text(text: str) -> str:
    """A text that is one: an empty one is a variable that was not set, and would be taken for nothing given."""
    import argparse

    if not text.removeprefix(VERBATIM).strip():
        raise argparse.ArgumentTypeError("it is empty")
    return _any_text(text)


def whole_number(text: str) -> int:
    """A whole number above 0 that every program reads as it was written."""
    import argparse
    import re

    text = text.removeprefix(VERBATIM)
    number = int(text) if re.fullmatch("[0-9]{1,16}", text) else 0
    if not 1 <= number < 2**53:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a whole number above 0")
    return number


def flag(*names: str, help: str) -> Arg:
    """An option without a value."""
    return Arg(names, help, {"action": "store_true"})


WHY = option("--why", value="TEXT", help="the reason; it is kept with the act")
TASK = word("TASK", "an id prefix, a slug, or @ for the current task")
PACKAGE = word("P", "a package, by unique id prefix")


@dataclass(frozen=True)
class Command:
    """One command of the contract."""

    words: str
    """``fact propose``."""
    summary: str
    """One line, for lists of commands."""
    about: str
    """What it does, in full sentences."""
    args: tuple[Arg, ...] = ()
    exits: tuple[str, ...] = ()
    """Exit codes beyond the common ones, as ``CODE meaning``."""
    keys: str = ""
    """What ``--json`` has at least."""
    examples: tuple[str, ...] = ()
    run: str = ""
    """``module:function`` under ``workbench.cli.commands``; empty: not built yet."""

    @property
    def noun(self) -> str:
        """The first word."""
        return self.words.split()[0] if self.words else ""

    @property
    def verb(self) -> str:
        """The second word, if any."""
        return self.words.partition(" ")[2]
