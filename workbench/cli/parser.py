"""From words to a command, and from its table to a parser and a help page; only one command's is ever built."""

from __future__ import annotations

import argparse
import importlib
import textwrap
from collections.abc import Iterable, Sequence
from typing import NoReturn

from workbench.cli.globals import HELP
from workbench.cli.spec import Command
from workbench.errors import UsageError

NOUNS: dict[str, tuple[str, str]] = {
    "demo": ("demo", "copy a sample workspace and open it"),
    "init": ("workspace", "make the workspace of this repository or folder"),
    "home": ("", "every repository and worktree where agents worked"),
    "status": ("status", "what a person would ask first"),
    "line": ("", "one status segment for tmux"),
    "task": ("task", "tasks: make, list, change, take, close"),
    "attempt": ("attempt", "attempts: who works or worked on a task"),
    "state": ("state", "what holds now: variables, done, pending"),
    "fact": ("fact", "facts, decisions, constraints: propose, settle, look up"),
    "note": ("note", "notes by key: write, read, find"),
    "session": ("session", "agents' sessions: find, attach, follow"),
    "history": ("history", "messages of a task: look, trim, pin, restore"),
    "extract": ("extract", "facts, decisions, artifacts, open items from a text or session"),
    "artifact": ("artifact", "things produced, with versions and bindings"),
    "evidence": ("evidence", "recorded observations: run, list, add, confirm"),
    "compile": ("compile", "what a package for an agent would hold; writes nothing"),
    "compare": ("", "the compile strategies side by side"),
    "handoff": ("handoff", "packages: prepare, check, confirm, launch"),
    "review": ("", "let another agent judge what was done"),
    "consult": ("", "ask another agent for advice"),
    "back": ("", "hand a task back to an agent that worked on it before"),
    "change": ("", "tell every running task about one changed requirement"),
    "report": ("", "report a task's result with evidence"),
    "verify": ("", "the verdict on a task, from records"),
    "trace": ("", "what an attempt was given, received and read"),
    "stats": ("", "what came of past handoffs"),
    "search": ("search", "full text over history, notes, facts, artifacts"),
    "log": ("changes", "every change: who, when, what, why"),
    "undo": ("changes", "take your last change back"),
    "rollback": ("changes", "a record or a task as it was"),
    "schema": ("schema", "JSON Schema of the records"),
    "agents": ("agents", "which agent programs are here"),
    "connect": ("", "give an agent the workbench's tools"),
    "disconnect": ("", "take them away again"),
    "trust": ("trust", "what may run from this workspace"),
    "mcp": ("", "the workbench's tools for agents, over MCP"),
    "serve": ("", "the app in a browser"),
    "doctor": ("care", "check, and repair, the workspace"),
    "gc": ("care", "remove blobs that nothing refers to"),
    "purge": ("care", "remove a leaked secret from all records"),
    "merge": ("merge", "take in another copy of the workspace"),
    "settle": ("settle", "what merged copies say differently: list, decide"),
    "sync": ("", "carry the workspace between machines"),
    "forget": ("workspace", "remove all that was ever written here"),
    "eval": ("", "measure handoff quality on data"),
    "_exec": ("exec", ""),
}
"""First words: the file of ``commands/`` that has their built commands, and what they are about."""

EXITS = (
    "0 done",
    "1 internal failure",
    "2 wrong usage or input, or not built",
    "3 not found, or an ambiguous prefix (with the candidates)",
    "4 version conflict",
    "5 refused by a rule",
    "6 damaged data",
    "7 not trusted",
)
_WIDTH = 96
_NOT_BUILT = " (not built yet)"
APP = Command(
    words="",
    summary="the workbench: tasks, facts and packages beside your agents",
    about="Opens the app on the workspace of PATH's repository (of this folder's, without PATH). A first word that "
    "is a command is a command; a folder of that name is opened as ./NAME.",
    run="app:start",
)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong as an error of ours."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, f"see: {self.prog} --help")


def _built(noun: str) -> dict[str, Command]:
    module, _ = NOUNS[noun]
    found = importlib.import_module(f"workbench.cli.commands.{module}").COMMANDS if module else ()
    return {command.verb: command for command in found if command.noun == noun}


def commands_of(noun: str) -> dict[str, Command]:
    """Every command that begins with ``noun``, built or not, by its second word (empty: none)."""
    from workbench.cli.unbuilt import UNBUILT

    return _built(noun) | {command.verb: command for command in UNBUILT if command.noun == noun}


def find(words: Sequence[str]) -> tuple[Command | None, str, list[str]]:
    """The command that ``words`` begin with.

    Returns:
        The command (None where only a noun is given that has several), the noun, and the words left.

    Raises:
        UsageError: The noun has no such command.
    """
    noun = words[0]
    rest = list(words[1:])
    verbs = _built(noun)
    if not verbs or (rest and rest[0] not in verbs):
        # The table of what is not built is read only where it may matter: start-up counts.
        verbs = commands_of(noun)
    if rest and rest[0] and rest[0] in verbs:
        return verbs[rest[0]], noun, rest[1:]
    if "" in verbs:
        return verbs[""], noun, rest
    if not rest or rest[0].startswith("-"):
        return None, noun, rest
    near = _near(rest[0], [verb for verb, command in verbs.items() if command.run], verbs)
    raise UsageError(
        f"there is no command {noun + ' ' + rest[0]!r}",
        (f"did you mean: workbench {noun} {near}" if near else f"one of: {', '.join(verbs)}"),
        candidates=sorted(f"workbench {noun} {verb}" for verb in verbs),
    )


def unknown(first: str) -> UsageError:
    """The error for a first word that is neither a command nor a folder."""
    shown = [noun for noun in NOUNS if not noun.startswith("_")]
    near = _near(first, [noun for noun in shown if NOUNS[noun][0]], shown)
    hint = f"did you mean: workbench {near}" if near else "see: workbench --help; a folder is opened as ./NAME"
    return UsageError(f"{first!r} is neither a command nor a folder", hint)


def _near(word: str, *known: Iterable[str]) -> str:
    """The nearest spelling: among what is built where something there is near, else among all."""
    import difflib

    found = (difflib.get_close_matches(word, list(some), n=1) for some in known)
    return next((near[0] for near in found if near), "")


def parser_of(command: Command) -> argparse.ArgumentParser:
    """The parser of one command, with its whole help page."""
    parser = _Parser(
        prog=f"workbench {command.words}".rstrip(),
        description=_wrapped(command.about),
        epilog=_epilog(command),
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, max_help_position=26, width=_WIDTH),
        add_help=False,
        allow_abbrev=False,
    )
    for arg in command.args:
        parser.add_argument(*arg.names, help=arg.help, **arg.settings)
    return parser


def help_page(command: Command) -> str:
    """The help of one command."""
    return parser_of(command).format_help()


def noun_page(noun: str) -> str:
    """The help of a first word that has several commands."""
    verbs = commands_of(noun)
    rows = [(f"workbench {c.words}", c.summary + ("" if c.run else _NOT_BUILT)) for c in verbs.values()]
    head = f"usage: workbench {noun} COMMAND ...\n\n{NOUNS[noun][1]}\n\ncommands:\n"
    return head + _columns(rows) + f"\nsee: workbench {noun} COMMAND --help\n\n" + HELP


def main_page() -> str:
    """The help of the program."""
    rows = [(noun, about + ("" if module else _NOT_BUILT)) for noun, (module, about) in NOUNS.items() if about]
    return (
        "usage: workbench [PATH] [--read-only]\n       workbench COMMAND ...\n\n"
        + _wrapped(APP.about)
        + "\n\noptions of the app:\n  --read-only           look, and change nothing\n\ncommands:\n"
        + _columns(rows)
        + "\nsee: workbench COMMAND --help\n\n"
        + HELP
        + "\nexit codes:\n"
        + "".join(f"  {line}\n" for line in EXITS)
    )


def _epilog(command: Command) -> str:
    parts = []
    if not command.run:
        parts.append("This command is not built yet: it says so and exits 2.")
    if command.keys:
        parts.append(f"--json prints at least: {command.keys}")
    if command.examples:
        parts.append("examples:\n" + "\n".join(f"  {line}" for line in command.examples))
    known = {line.split(" ", 1)[0]: line for line in EXITS}
    special: dict[str, list[str]] = {}
    for line in command.exits:
        special.setdefault(line.split(" ", 1)[0], []).append(line.split(" ", 1)[1])
    codes = {code: known[code] for code in ("0", "1", "2")} | {c: f"{c} {'; '.join(t)}" for c, t in special.items()}
    parts.append("exit codes:\n" + "\n".join(f"  {codes[code]}" for code in sorted(codes)))
    parts.append(HELP.rstrip("\n"))
    return "\n\n".join(parts)


def _wrapped(text: str) -> str:
    return "\n\n".join(textwrap.fill(part, _WIDTH) for part in text.split("\n\n"))


def _columns(rows: Sequence[tuple[str, str]]) -> str:
    left = min(max(len(a) for a, _ in rows), 30) + 2
    lines = []
    for a, b in rows:
        wrapped = textwrap.wrap(b, _WIDTH - left - 2) or [""]
        lines.append(f"  {a:<{left}}{wrapped[0]}")
        lines += [" " * (left + 2) + more for more in wrapped[1:]]
    return "\n".join(lines) + "\n"
