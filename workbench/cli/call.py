"""One call of a command: its arguments, and the few things every command needs from the outside."""

from __future__ import annotations

import gc
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from workbench.cli.globals import Globals
from workbench.cli.output import Answer, Block, Line, Output, Table
from workbench.errors import HumanNeededError, RefusedError, UsageError

if TYPE_CHECKING:
    from workbench.services.context import Context
    from workbench.services.entrance import Entrance

_DIGITS = 400
"""Of a number that is read at all: no longer one can be kept, and Python refuses to turn very long ones into one."""
TEXT_LIMIT = 16 << 20
"""Bytes that ``--file`` takes."""


@dataclass
class Call:
    """What a command's function is given."""

    args: Namespace
    options: Globals
    out: Output
    env: Mapping[str, str]
    cwd: Path = field(default_factory=Path.cwd)
    opened: list[Context] = field(default_factory=list)
    """The workspaces that the command opened."""

    @property
    def tty(self) -> bool:
        """Whether there is a terminal to ask on."""
        return _is_terminal(sys.stdin) and (_is_terminal(sys.stderr) or _is_terminal(sys.stdout))

    @property
    def screen(self) -> bool:
        """Whether there is a terminal to open the app on."""
        return _is_terminal(sys.stdin) and _is_terminal(sys.stdout)

    def context(self, *, start: Path | None = None, read_only: bool = False, app: bool = False) -> Context:
        """The workspace and who acts in it; what is wrong in the configuration is said once."""
        context = self.furnish(self.enter(start or self.cwd, read_only=read_only), app=app)
        if not gc.isenabled():  # as the program starts: what was loaded stays until the end
            gc.freeze()
            gc.enable()
        return context

    def enter(self, start: Path, *, read_only: bool = False) -> Entrance:
        """Where the workspace lies and how it is set up; what is wrong in the configuration is said."""
        from workbench.services.entrance import enter

        entrance = enter(start, workspace=self.options.workspace, env=self.env, read_only=read_only)
        for warning in entrance.config.warnings:
            self.out.note(f"warning: {warning}")
        return entrance

    def furnish(self, entrance: Entrance, *, app: bool = False) -> Context:
        """Open a workspace that was found."""
        from workbench.services.context import furnish

        options = self.options
        context = furnish(entrance, as_=options.actor, now=options.now, tty=self.tty, app=app, yes=options.yes)
        self.opened.append(context)
        return context

    def say_notices(self) -> None:
        """What went wrong without harm while the command wrote."""
        for context in self.opened:
            for notice in context.workspace.notices:
                self.out.note(f"warning: {notice}")

    def confirm(self, context: Context, what: str, shown: Sequence[Line | Block], *, typed: str = "") -> None:
        """Ask the person on the terminal, unless ``--yes`` was given.

        Args:
            context: Who acts.
            what: The act, as in *confirming a fact*.
            shown: What it is about.
            typed: The word that has to be typed out, where a mere ``y`` is too little.

        Raises:
            HumanNeededError: No person stands behind this process, or there is nothing to ask on.
            RefusedError: The person did not agree.
        """
        context.require_human(what)
        if self.options.yes:
            return
        if not self.tty:
            raise HumanNeededError(
                f"{what} asks on the terminal, and there is none", "give --yes where you have decided already"
            )
        for line in shown:
            self.out.ask(line)
        self.out.ask(f"Type {typed} to go on:" if typed else "Go on? [y/N]")
        said = sys.stdin.readline().strip().lower()
        if said != (typed or "y") and not (not typed and said == "yes"):
            raise RefusedError("not confirmed; nothing was changed")

    def text(self, name: str) -> str:
        """The text of ``--file NAME``; ``-`` is standard input.

        Raises:
            UsageError: No such file, not UTF-8, or too large.
        """
        try:
            data = self._standard_input() if name == "-" else self._file(name)
        except OSError as problem:
            raise UsageError(f"{name}: {problem.strerror}") from None
        if len(data) > TEXT_LIMIT:
            raise UsageError(f"{name} is larger than {TEXT_LIMIT} bytes")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as problem:
            line = data.count(b"\n", 0, problem.start) + 1
            raise UsageError(f"{name}:{line}: not UTF-8", file=name, line=line) from None

    def document(self, name: str) -> Any:
        """The JSON document of ``--file NAME``.

        Raises:
            UsageError: It is not JSON; file, line and column are named.
        """
        import json

        text = self.text(name)
        try:
            return _parsed(text, name)
        except json.JSONDecodeError as problem:
            line, column = problem.lineno, problem.colno
            raise UsageError(f"{name}:{line}:{column}: {problem.msg}", file=name, line=line, column=column) from None
        except (RecursionError, ValueError):
            raise UsageError(f"{name}: nested too deeply, or NaN, or a number too long", file=name) from None

    @staticmethod
    def _standard_input() -> bytes:
        if sys.stdin is None:
            raise UsageError("standard input is closed", "name a file in place of -")
        return sys.stdin.buffer.read(TEXT_LIMIT + 1)

    def _file(self, name: str) -> bytes:
        path = self.cwd / Path(name).expanduser()
        with open(path, "rb") as file:
            return file.read(TEXT_LIMIT + 1)


def _is_terminal(stream: TextIO | None) -> bool:
    """A stream that was closed before the start is None."""
    return stream is not None and stream.isatty()


def _no_twins(pairs: list[tuple[str, Any]], name: str) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        twice = next(key for number, (key, _) in enumerate(pairs) if key in dict(pairs[:number]))
        raise UsageError(f"{name}: the key {twice!r} stands twice in one object", file=name)
    return result


def _parsed(text: str, name: str) -> Any:
    """A document of which everything can be stored.

    Raises:
        ValueError: It is no JSON; NaN and Infinity are none.
        UsageError: An object has a key twice, a text holds half of a character, a number is too large.
    """
    import json

    def no_number(word: str) -> Any:
        raise ValueError(f"{word} is no JSON")

    def whole(digits: str) -> int:
        if len(digits) > _DIGITS:
            raise UsageError(f"{name}: a number is too large", file=name)
        return int(digits)

    document = json.loads(
        text, object_pairs_hook=lambda pairs: _no_twins(pairs, name), parse_constant=no_number, parse_int=whole
    )
    try:
        json.dumps(document, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except UnicodeEncodeError:
        raise UsageError(f"{name}: a text holds half of a character (a lone surrogate)", file=name) from None
    except ValueError:  # 1e999 is read as infinity
        raise UsageError(f"{name}: a number is too large", file=name) from None
    return document


def json_or_text(value: str) -> Any:
    """A VALUE of the command line: JSON where it is JSON, else the text itself.

    Raises:
        UsageError: An object has the same key twice, and which of the two was meant is not for us to guess; or
            something in it cannot be stored.
    """
    try:
        return _parsed(value, "VALUE")
    except (ValueError, RecursionError):
        return value


def damage(context: Context, document: dict[str, Any], lines: Sequence[Line | Block | Table]) -> Answer:
    """A list with what could not be read: ``damaged[]``, a line each on standard error, and exit code 6."""
    from workbench.services.shapes import damage_json

    damaged = context.workspace.load().damaged
    document["damaged"] = [damage_json(d) for d in damaged]
    notes = [f"damaged: {d.path}{f':{d.line}' if d.line else ''}: {d.message}" for d in damaged]
    return Answer(document, lines, 6 if damaged else 0, notes)
