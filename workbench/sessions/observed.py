"""What really happened in a session, read off its messages: commands and how they ended, files, the agent's plan.

Pure, and the same for every agent. Nothing of it is stored: it is there again whenever the session is read.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter, eq
from typing import overload

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
_SEQ = attrgetter("seq")
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


class Runs(Sequence[Run]):
    """Runs in their order. Only their messages are held: each run is made when it is asked for.

    Args:
        results: The messages of their results, to which more may be added.
        calls: Those of their calls.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, results: list[Message], calls: list[Message]) -> None:
        self._results = results
        self._calls = calls
        self._count = len(results)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> Run: ...

    @overload
    def __getitem__(self, place: slice) -> list[Run]: ...

    def __getitem__(self, place: int | slice) -> Run | list[Run]:
        places = range(self._count)[place]
        if isinstance(places, int):
            return Run(self._results[places], self._calls[places])
        return [Run(self._results[n], self._calls[n]) for n in places]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))

    def __repr__(self) -> str:
        return repr(list(self))


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

    runs: Sequence[Run] = ()
    touched: tuple[Touched, ...] = ()
    plan: Message | None = None
    """The message that set the agent's plan as it stands."""
    items: tuple[PlanItem, ...] = ()


class Observer:
    """Looks at a session message by message, and goes back to a place from which it is another."""

    def __init__(self) -> None:
        self._calls: dict[str, Message] = {}
        self._writes: dict[str, Message] = {}
        # Of the runs; where some are taken back, others take the place of these lists: a picture may hold them.
        self._results: list[Message] = []
        self._given: list[Message] = []
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
                    self._results.append(message)
                    self._given.append(given)
                if result.changes:
                    by = writes.get(result.call_id)
                    self._touched += (_touched(message, change, by) for change in result.changes)

    def back(self, place: int) -> None:
        """Forget what the messages from ``place`` of their session on showed."""
        left = bisect_left(self._results, place, key=_SEQ)
        if left < len(self._results):
            self._results, self._given = self._results[:left], self._given[:left]
        while self._touched and self._touched[-1].message.seq >= place:
            self._touched.pop()
        while self._plans and self._plans[-1].seq >= place:
            self._plans.pop()

    @property
    def found(self) -> Observed:
        """What they show so far."""
        plan = self._plans[-1] if self._plans else None
        items = plan.plan if plan is not None else ()
        return Observed(Runs(self._results, self._given), tuple(self._touched), plan, items)


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
