"""What really happened in a session, read off its messages: commands and how they ended, files, the agent's plan.

Pure, and the same for every agent. Nothing of it is stored: it is there again whenever the session is read.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from workbench.domain.message import FileChange, Message, PlanItem
from workbench.sessions import tests_said
from workbench.sessions.commands import only_looks, plain

EXCERPT = 4000
"""Characters of an output that are kept: its end, where programs say what went wrong."""
_SKIPPED = frozenset({"denied", "running", "orphan"})
"""Results of commands that did not run, or have not ended."""
_HEAD = re.compile(
    r"\A(?:(?:Exit code:|Chunk ID:|Wall time|Command:|Process |Script |Original token)[^\n]*\n)+Output:\n"
)
"""The lines that an agent's program writes above a command's output."""
_STATED = re.compile(r"\A(?:Error: )?Exit code -?\d+\n")


@dataclass(frozen=True, slots=True)
class Run:
    """A command that was run: hardly more than its two messages, since a session may hold a hundred thousand."""

    message: Message
    """Its result."""
    call: Message
    whole: str | None = None
    """The output, where more of it was read than the message holds."""

    @property
    def command(self) -> str:
        """As the agent gave it."""
        call = self.call.call
        return (call.command or "").strip() if call is not None else ""

    @property
    def folder(self) -> str | None:
        """Where it was given."""
        return self.call.cwd

    @property
    def argv(self) -> tuple[str, ...]:
        """Its words; empty where it was more than one plain command."""
        return plain(self.command, self.folder).argv

    @property
    def cwd(self) -> str | None:
        """Where it ran."""
        return plain(self.command, self.folder).cwd

    @property
    def looks(self) -> bool:
        """It only looked at something, which proves nothing about the work."""
        return only_looks(self.command)

    @property
    def output(self) -> str:
        """All of it, or as much as the message holds."""
        return self.message.text if self.whole is None else self.whole

    @property
    def excerpt(self) -> str:
        """The end of the output, where programs say what went wrong."""
        return excerpt(self.output)

    @property
    def tests(self) -> str:
        """What the output says of tests."""
        return tests_said.summary(self.output)

    @property
    def exit_code(self) -> int | None:
        """None is unknown, and never success."""
        return self.message.result.exit_code if self.message.result is not None else None


@dataclass(frozen=True, slots=True)
class Touched:
    """A file that a call changed."""

    message: Message
    path: str
    """Absolute where the session says in which folder it worked."""
    old_path: str | None
    change: FileChange
    call: Message | None = None
    """The call that made the change; None where the session does not hold it."""


@dataclass(frozen=True)
class Observed:
    """All of a session, in its order."""

    runs: tuple[Run, ...] = ()
    touched: tuple[Touched, ...] = ()
    plan: Message | None = None
    """The message that set the agent's plan as it stands."""
    items: tuple[PlanItem, ...] = ()


class Observer:
    """Looks at a session message by message, and goes back to a place from which it is another."""

    def __init__(self) -> None:
        self._calls: dict[str, Message] = {}
        self._writes: dict[str, Message] = {}
        self._runs: list[Run] = []
        self._touched: list[Touched] = []
        self._plans: list[Message] = []

    def look(self, messages: Iterable[Message]) -> None:
        """Go on with further messages."""
        calls, writes = self._calls, self._writes
        for message in messages:
            call, result = message.call, message.result
            if message.plan and message.origin != "subagent":
                self._plans.append(message)
            if call is not None:
                if call.command:
                    calls[call.call_id] = message
                if call.paths:
                    writes[call.call_id] = message
            elif result is not None:
                given = calls.get(result.call_id)
                if given is not None and result.status not in _SKIPPED:
                    self._runs.append(Run(message, given))
                if result.changes:
                    by = writes.get(result.call_id)
                    self._touched += (_touched(message, change, by) for change in result.changes)

    def back(self, place: int) -> None:
        """Forget what the messages from ``place`` of their session on showed."""
        for rows in (self._runs, self._touched):
            while rows and rows[-1].message.seq >= place:
                rows.pop()
        while self._plans and self._plans[-1].seq >= place:
            self._plans.pop()

    @property
    def found(self) -> Observed:
        """What they show so far."""
        plan = self._plans[-1] if self._plans else None
        return Observed(tuple(self._runs), tuple(self._touched), plan, plan.plan if plan is not None else ())


def observe(messages: Iterable[Message]) -> Observed:
    """What the messages of one session show."""
    observer = Observer()
    observer.look(messages)
    return observer.found


def excerpt(output: str) -> str:
    """The end of a command's output, without what the agent's program wrote above it."""
    body = _STATED.sub("", _HEAD.sub("", output, count=1), count=1)
    return body[-EXCERPT:].strip("\n")


def with_output(run: Run, output: str) -> Run:
    """A run whose message held only the beginning of its output, with all of it."""
    return replace(run, whole=output)


def _touched(message: Message, change: FileChange, call: Message | None) -> Touched:
    def absolute(path: str) -> str:
        return posixpath.normpath(posixpath.join(message.cwd or "", path))

    old = absolute(change.old_path) if change.old_path else None
    return Touched(message, absolute(change.path), old, change, call)
