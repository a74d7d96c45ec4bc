"""What an agent program is, what a launch gives it, and the command line that comes of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from workbench.errors import UsageError

ARGUMENT_LIMIT = 131_071
"""Bytes that one argument may hold on Linux; more is refused by the kernel before the program starts."""
PROMPT_FILE = "prompt.md"
"""Name of the prompt in its folder, where a launch names no other."""


@dataclass(frozen=True)
class LaunchInput:
    """What a launch wants to hand over."""

    sentence: str
    """The fixed sentence that points to the prompt file and carries the snapshot id."""
    prompt_folder: Path
    """Owner-only, outside the repository."""
    cwd: Path
    session_id: str | None = None
    """Chosen by the launcher, for programs that allow it."""
    inline: str | None = None
    """The whole prompt, to stand in the argument list in place of the sentence."""
    headless: bool = False
    prompt_file: Path | None = None

    @property
    def first_prompt(self) -> str:
        """The text for the argument list.

        Raises:
            UsageError: It cannot be an argument.
        """
        text = self.sentence if self.inline is None else self.inline
        if len(text.encode("utf-8", "replace")) > ARGUMENT_LIMIT:
            raise UsageError(
                f"a text over {ARGUMENT_LIMIT} bytes cannot stand in an argument list", "launch without --inline"
            )
        if "\x00" in text or text.startswith("-"):
            raise UsageError(
                "a text with a NUL, or one that begins with a dash, cannot stand in an argument list",
                "launch without --inline",
            )
        return text

    @property
    def file(self) -> Path:
        """The prompt file."""
        return self.prompt_file or self.prompt_folder / PROMPT_FILE


@dataclass(frozen=True)
class LaunchLine:
    """An exact command: argument list, additions to the environment, and how the prompt gets in."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    stdin_prompt: bool = False
    """The bytes of the prompt go to standard input."""
    session_id: str | None = None
    """The receiver's session, where the launcher could choose it."""
    paste: str | None = None
    """What the person must paste, because the program takes no first prompt."""


@dataclass(frozen=True, kw_only=True)
class AgentProgram:
    """An agent program: data, and one method for each way of starting it."""

    name: str
    title: str
    executables: tuple[str, ...]
    window: int | None = None
    """Context window in tokens, where it is the same for all its models; None is unknown."""
    tokenizer: str = "o200k"
    estimated: bool = True
    """The counts are near, not exact: its own tokenizer is not public or depends on the model."""
    marks: tuple[str, ...] = ()
    """Environment variables that it sets for the commands it runs."""
    process_names: tuple[str, ...] = ()
    """Names under which it runs; with a slash, a part of its script's path."""
    leave: str = ""
    """What ends it when it is typed at its prompt."""
    prefix: tuple[str, ...] = ()
    """Executable and leading options that the person configured in place of the plain executable."""

    @property
    def start(self) -> tuple[str, ...]:
        """The beginning of every command line."""
        return self.prefix or self.executables[:1]

    def command(self, plan: LaunchInput) -> LaunchLine:
        """The command line for ``plan``; nothing is run or looked up.

        Raises:
            UsageError: The program cannot be started in this way, or the text cannot be an argument.
        """
        return self.headless(plan) if plan.headless else self.interactive(plan)

    def interactive(self, plan: LaunchInput) -> LaunchLine:
        """With a terminal of its own and a first prompt."""
        return LaunchLine((*self.start, plan.first_prompt))

    def headless(self, plan: LaunchInput) -> LaunchLine:
        """Without a terminal; the prompt comes on standard input."""
        raise UsageError(f"{self.title} cannot run headless", "launch without --headless")


def installed(program: AgentProgram, env: Mapping[str, str]) -> str | None:
    """Where the program's executable lies, by ``PATH`` of ``env``; None where it is not installed."""
    candidates = program.prefix[:1] or program.executables
    for name in candidates:
        if "/" in name:
            path = Path(name).expanduser()
            if path.is_file() and os.access(path, os.X_OK):
                return str(path)
            continue
        for folder in env.get("PATH", os.defpath).split(os.pathsep):
            path = Path(folder or ".") / name
            if path.is_file() and os.access(path, os.X_OK):
                return str(path)
    return None
