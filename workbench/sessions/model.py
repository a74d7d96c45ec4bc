"""What a session file is to the rest of the house, and what a reader of one format must offer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

from workbench.domain.message import Message, PlanItem, Usage

_NO_USAGE = Usage(key="total")
MOST_TOKENS = 1 << 27
"""More than any model holds: a number that large, or a negative one, says nothing of a request."""


@dataclass(frozen=True)
class Limit:
    """One allowance of the account, as the session file last stated it."""

    name: str
    """``5 h``, ``7 d``, or what the file calls it."""
    used: float | None = None
    """Share that is used, 0 to 1; None where the file only says that it is reached."""
    resets_at: str | None = None
    """Stamp, or the words of the file where they are none."""
    reached: bool = False
    at: str | None = None
    """When the file said so."""


@dataclass(frozen=True)
class SessionInfo:
    """What is known of a session as far as its file has been read.

    ``records`` is always the sum of ``with_messages``, ``metadata``, ``unknown`` and ``unreadable``.
    """

    agent: str
    id: str
    path: Path
    title: str = ""
    cwd: str | None = None
    """Where it began."""
    cwds: tuple[str, ...] = ()
    """Every folder it worked in, in order of first sight."""
    branch: str | None = None
    model: str | None = None
    started_at: str | None = None
    updated_at: str | None = None
    version: str | None = None
    """Of the agent program."""
    parent: str | None = None
    """Id of the session that started this one as its sub-agent."""
    forked_from: str | None = None
    """Id of the session whose history this one began with."""
    usage: Usage = _NO_USAGE
    """All requests together, each counted once."""
    last_context: int | None = None
    """Tokens that the last request carried."""
    window: int | None = None
    """Tokens that the model can hold, where the file states it."""
    limits: tuple[Limit, ...] = ()
    """Allowances as last stated; empty where the file never spoke of any."""
    compactions: int = 0
    """How often the conversation was cut short by a summary."""
    children: tuple[str, ...] = ()
    """Ids of the sessions of sub-agents that its calls started."""
    plan: tuple[PlanItem, ...] = ()
    """The agent's own plan as it stands."""
    open_calls: tuple[str, ...] = ()
    """Ids of calls that have no result so far."""
    records: int = 0
    with_messages: int = 0
    metadata: int = 0
    """Known records that carry no message, and exact repetitions of earlier records."""
    unknown: int = 0
    """Records of a kind that this version does not know; kept as hidden messages."""
    unreadable: int = 0
    unreadable_lines: tuple[int, ...] = ()
    """Numbers of the first few lines that could not be read."""
    oversized: int = 0
    """Of the unreadable lines, those skipped for their size."""
    unfinished: int = 0
    """Bytes of a last line that is not complete yet."""

    @property
    def name(self) -> str:
        """``AGENT:ID``, as messages name their session."""
        return f"{self.agent}:{self.id}"


@dataclass(frozen=True)
class Refresh:
    """What one look at the file brought."""

    appended: int = 0
    """Messages that are new at the end of the list."""
    changed: int = 0
    """Earlier messages that were replaced in place: context left, a result paired, usage grown."""
    reset: bool = False
    """The file was replaced, cut or rewritten: the whole list was made anew."""
    since: int = 0
    """Place of the first message that is new or was replaced, where any is."""


@dataclass(frozen=True)
class FoundSession:
    """A session on this machine, known from the head and tail of its file alone."""

    agent: str
    id: str
    path: Path
    cwd: str | None
    title: str
    size: int
    updated_at: str
    started_at: str | None = None
    folder: Path | None = None
    """Which of the folders that were asked for it worked in last."""
    parent: str | None = None
    """Id of the session that started this one as its sub-agent."""
    children: tuple[str, ...] = ()
    """Ids of the sessions that it started as its sub-agents."""
    forked_from: str | None = None
    """Id of the session whose history this one began with, where the file names it."""
    root: str = ""
    """Id of the record that its conversation begins with; a session and its forks share it."""
    after: tuple[str, ...] = ()
    """Ids of records that its first ones follow on and that do not stand at its beginning."""
    cleared: bool = False
    """It begins with the command that ended the conversation before it."""
    context: int | None = None
    """Tokens of its last request."""
    window: int | None = None
    """Tokens that the model can hold, where the file states it."""
    limited_until: str | None = None
    """When a limit that is reached ends: a moment, or the words of the file."""

    @property
    def name(self) -> str:
        """``AGENT:ID``."""
        return f"{self.agent}:{self.id}"


def are_counts(*values: Any) -> bool:
    """Whether all can be counts of tokens of one request; what is not given is none of them."""
    return all(value is None or (type(value) is int and 0 <= value < MOST_TOKENS) for value in values)


class Reader(Protocol):
    """Turns the lines of one session file into messages; fed in file order, whole lines only."""

    @property
    def messages(self) -> list[Message]:
        """The messages so far; the reader appends to this list and replaces in it."""
        ...

    @property
    def stale(self) -> bool:
        """It learned something that makes its messages wrong from the start: read again with :meth:`renewed`."""
        ...

    def feed(self, lines: Sequence[bytes | memoryview], start: int) -> None:
        """Take complete lines without their newlines; the first begins at byte ``start``.

        Their bytes are good only during the call.
        """
        ...

    def skip(self) -> None:
        """Count one line that is too long to be read."""
        ...

    def settle(self) -> None:
        """Bring what depends on later records up to date; called after every batch."""
        ...

    def replaced(self) -> tuple[int, int]:
        """How many earlier messages were replaced since this was last asked, and the place of the first of them."""
        ...

    def complete(self, line: bytes) -> bool:
        """Whether an unfinished last line is a whole record already."""
        ...

    def renewed(self) -> Self:
        """An empty reader that knows from the start what this one learned late."""
        ...

    def memory(self) -> dict[str, Any]:
        """What it knows besides its messages, to be kept."""
        ...

    def recall(self, memory: dict[str, Any], messages: list[Message]) -> None:
        """Know what another reader of the same file knew, and go on from there."""
        ...

    def whole(self, line: bytes, message: Message) -> str | None:
        """The unclipped text of ``message`` from the bytes it came from; None where they are not its own."""
        ...

    def info(self, path: Path, unfinished: int) -> SessionInfo:
        """What is known so far."""
        ...


class Format(Protocol):
    """One agent's session files."""

    @property
    def agent(self) -> str:
        """The agent's name, as the program table has it."""
        ...

    def recognises(self, lines: Sequence[bytes]) -> bool:
        """Whether the first lines of a file are this agent's."""
        ...

    def reader(self, path: Path) -> Reader:
        """An empty reader for the file at ``path``."""
        ...

    def children(self, path: Path, named: Sequence[str]) -> list[Path]:
        """The files of the sub-agents of the session at ``path``, of which its results name some by id."""
        ...

    def outside(self, path: Path, name: str) -> Path | None:
        """The file of that name that holds an output too large for the session at ``path``."""
        ...

    def given(self, path: Path) -> Sequence[tuple[str, str]]:
        """Instructions and tools that the file records as given before the conversation, each with its name."""
        ...
