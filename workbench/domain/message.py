"""The neutral form of one entry of an agent's session, whatever the agent."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal

import msgspec
from msgspec.structs import asdict, replace

from workbench.domain.record import Json, Part

MessageKind = Literal[
    "message",
    "thinking",
    "tool_call",
    "tool_result",
    "plan",
    "compaction",
    "mode_change",
    "error",
    "limit",
    "notice",
    "attachment",
    "meta",
    "unknown",
]
Role = Literal["system", "user", "assistant", "tool"]
Origin = Literal["human", "agent", "tool", "harness", "hook", "subagent"]
ToolKind = Literal[
    "read",
    "edit",
    "write",
    "delete",
    "move",
    "search",
    "execute",
    "fetch",
    "think",
    "task",
    "todo",
    "mcp",
    "other",
]
ExitFrom = Literal["field", "text", "none"]
ResultStatus = Literal["ok", "failed", "denied", "interrupted", "running", "orphan", "unknown"]

# The parts of a message are ``gc=False``: they come by the hundred thousand, hold nothing that could refer
# back to them, and need not be walked by the garbage collector. Those that come with nearly every message can be
# made by position, which takes half the time.

BODY_LIMIT = 16_384
"""Characters of a message kept in memory; the rest is read again from the file when asked for."""

OUTPUT_LIMIT = 1024
"""The same for what a tool brought back: most of a session is that, and hardly any of it is looked at again."""

LONG = 8_000
"""Messages after which a session is a long one, of whose outputs still less is kept."""

LATE_OUTPUT_LIMIT = 111
"""With what a string takes besides, an even 160 bytes."""

DIFF_LIMIT = 4096


def output_limits(limit: int) -> tuple[int, int]:
    """Characters kept of an output, and of one late in a long session, where ``limit`` are kept of other texts."""
    return (OUTPUT_LIMIT, LATE_OUTPUT_LIMIT) if limit == BODY_LIMIT else (limit, limit)


class FileChange(Part, frozen=True, kw_only=True, gc=False):
    """What a call did to one file, as the session says."""

    path: str
    op: Literal["create", "update", "delete", "move"] = "update"
    old_path: str | None = None
    added: int | None = None
    removed: int | None = None
    """Lines; None where the session does not say."""
    diff: str | None = None
    """At most ``DIFF_LIMIT`` characters."""


class ToolCall(Part, frozen=True, gc=False):
    """A call that the model made."""

    call_id: str
    name: str
    kind: ToolKind = "other"
    args: Json = None
    command: str | None = None
    """The command line, where the call runs one."""
    paths: tuple[str, ...] = ()

    def plain(self) -> ToolCall:
        """The same, holding all that it says."""
        return self


_held_args: Callable[[ToolCall], str] = vars(ToolCall)["args"].__get__
_held_command: Callable[[ToolCall], str | None] = vars(ToolCall)["command"].__get__
_decode = msgspec.json.Decoder().decode
AS_ARGUED = ""
"""Stands for a command that is told by the arguments."""


class WrittenCall(ToolCall, frozen=True, gc=False):
    """A call that holds its arguments as the JSON they are written in, which is the text of its message besides.

    In place of a command that is one of the arguments, ``cmd`` or else ``command``, it holds :data:`AS_ARGUED`.
    """

    @property  # type: ignore[misc]  # the field beneath holds the text
    def args(self) -> Json:
        """The arguments, made each time they are asked for: hardly any ever are."""
        return _decode(_held_args(self))

    @property  # type: ignore[misc]
    def command(self) -> str | None:
        """The command line, where the call runs one."""
        held = _held_command(self)
        if held != AS_ARGUED:
            return held
        args = self.args
        told: str = args["cmd"] if "cmd" in args else args["command"]
        return told

    def plain(self) -> ToolCall:
        """The same, holding all that it says."""
        return ToolCall(self.call_id, self.name, self.kind, self.args, self.command, self.paths)


class Outcome(Part, frozen=True, gc=False):
    """What became of a call. Most of a session's calls ended alike: one object for all of those, from :func:`ended`."""

    status: ResultStatus = "unknown"
    exit_code: int | None = None
    exit_from: ExitFrom = "none"
    truncated: bool = False
    changes: tuple[FileChange, ...] = ()
    child: str | None = None
    external: str | None = None


_alike = lru_cache(maxsize=1 << 8)(Outcome)


def ended(
    status: ResultStatus,
    exit_code: int | None,
    exit_from: ExitFrom,
    truncated: bool = False,
    changes: tuple[FileChange, ...] = (),
    child: str | None = None,
    external: str | None = None,
) -> Outcome:
    """The :class:`Outcome` that says this; the one that does, where it names nothing of this call alone."""
    if changes or child is not None or external is not None:
        return Outcome(status, exit_code, exit_from, truncated, changes, child, external)
    return _alike(status, exit_code, exit_from, truncated)


class ToolResult(Part, frozen=True, gc=False):
    """What came back. ``exit_code`` None is unknown, and never means success."""

    call_id: str
    outcome: Outcome = Outcome()
    duration: float | None = None
    """Seconds."""

    @property
    def status(self) -> ResultStatus:
        """Whether it was done."""
        return self.outcome.status

    @property
    def exit_code(self) -> int | None:
        """The command's."""
        return self.outcome.exit_code

    @property
    def exit_from(self) -> ExitFrom:
        """Where the exit code was read."""
        return self.outcome.exit_from

    @property
    def truncated(self) -> bool:
        """Whether the program cut it."""
        return self.outcome.truncated

    @property
    def changes(self) -> tuple[FileChange, ...]:
        """What was done to files."""
        return self.outcome.changes

    @property
    def child(self) -> str | None:
        """Id of the session of the sub-agent that the call started."""
        return self.outcome.child

    @property
    def external(self) -> str | None:
        """Name of the file beside the session that holds the whole output."""
        return self.outcome.external


class Usage(Part, frozen=True, gc=False):
    """Tokens of one request to the model; counted once per ``key``, however often the file repeats it."""

    key: str
    input: int = 0
    """Uncached input."""
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0

    @property
    def context(self) -> int:
        """Tokens that the request carried: everything but the output."""
        return self.input + self.cache_read + self.cache_write


class RawRef(Part, frozen=True, gc=False):
    """Where a message stands in its file: bytes ``start`` to ``end``, and which block of that record."""

    start: int
    end: int
    block: int = 0


SPAN_BITS = 27
"""Bits of a span for the length of a record: lines up to the reader's limit of 64 MB."""
_LENGTH_MASK = (1 << SPAN_BITS) - 1
_START_BITS = 48
_START_MASK = (1 << _START_BITS) - 1
_BLOCK_SHIFT = SPAN_BITS + _START_BITS


def span_of(start: int, end: int, block: int = 0) -> int:
    """The number that says where a message stands in its file."""
    return block << _BLOCK_SHIFT | start << SPAN_BITS | min(end - start, _LENGTH_MASK)


class PlanItem(Part, frozen=True, kw_only=True, gc=False):
    """One line of a plan that the agent keeps; ticked, it is a claim."""

    text: str
    status: Literal["pending", "in_progress", "completed"] = "pending"
    id: str | None = None


class Common(Part, frozen=True, gc=False):
    """What many messages of a session have in common: one object for all of them, from :func:`common`."""

    session: str
    kind: MessageKind = "message"
    role: Role = "user"
    origin: Origin = "agent"
    in_context: bool = True
    hidden: bool = False
    plan: tuple[PlanItem, ...] = ()
    model: str | None = None
    cwd: str | None = None
    branch: str | None = None
    raw_type: str = ""


common = lru_cache(maxsize=1 << 10)(Common)
"""The one :class:`Common` that says just this."""
_COMMON = frozenset(Common.__struct_fields__)


class Message(Part, frozen=True, gc=False):
    """One entry of a session. Its id is the producer's where it has one, else a hash, never a position.

    :meth:`of` makes one of everything that it says. Readers make it by position, with a :class:`Common` that it
    shares with others: memory for a long session is mostly the fields of its messages.
    """

    id: str
    common: Common
    seq: int
    """File order, which is the primary order; time stamps are not monotonic."""
    text: str = ""
    """At most ``BODY_LIMIT`` characters, of a tool's output what :func:`output_limits` says."""
    size: int = 0
    """Characters of the whole text."""
    at: str | None = None
    parent: str | None = None
    turn: int = 0
    """Counts the model's answers; 0 before the first."""
    call: ToolCall | None = None
    result: ToolResult | None = None
    usage: Usage | None = None
    span: int | None = None
    """:attr:`raw` as one number, which takes a quarter of the memory: see :func:`span_of`."""

    @classmethod
    def of(cls, id: str, session: str, seq: int, **said: Any) -> Message:
        """A message that says this, by the names of its own and of :class:`Common`'s fields."""
        own = {name: said.pop(name) for name in said.keys() - _COMMON}
        return cls(id, common(session, **said), seq, **own)

    def with_(self, **changes: Any) -> Message:
        """A copy with some fields replaced, those of :class:`Common` among them."""
        return replace(self, **self.fields(changes))

    def fields(self, changes: dict[str, Any]) -> dict[str, Any]:
        """The message's own fields where what it says is changed in this way."""
        if _COMMON.isdisjoint(changes):
            return changes
        own = dict(changes)
        shared = [own.pop(name, value) for name, value in asdict(self.common).items()]
        return own | {"common": common(*shared)}

    @property
    def session(self) -> str:
        """``AGENT:ID``."""
        return self.common.session

    @property
    def kind(self) -> MessageKind:
        """What it is."""
        return self.common.kind

    @property
    def role(self) -> Role:
        """Whose turn it is."""
        return self.common.role

    @property
    def origin(self) -> Origin:
        """Who really wrote it."""
        return self.common.origin

    @property
    def in_context(self) -> bool:
        """False once compacted away or on an abandoned branch."""
        return self.common.in_context

    @property
    def hidden(self) -> bool:
        """Bookkeeping that no person needs to see unless asked."""
        return self.common.hidden

    @property
    def plan(self) -> tuple[PlanItem, ...]:
        """The agent's plan as it stands with it."""
        return self.common.plan

    @property
    def model(self) -> str | None:
        """Which model wrote it."""
        return self.common.model

    @property
    def cwd(self) -> str | None:
        """The folder that it was written in."""
        return self.common.cwd

    @property
    def branch(self) -> str | None:
        """Git's branch there."""
        return self.common.branch

    @property
    def raw_type(self) -> str:
        """The type of its record."""
        return self.common.raw_type

    @property
    def raw(self) -> RawRef | None:
        """Where it stands in its file."""
        span = self.span
        if span is None:
            return None
        start = span >> SPAN_BITS & _START_MASK
        return RawRef(start, start + (span & _LENGTH_MASK), span >> _BLOCK_SHIFT)

    @property
    def ref(self) -> str:
        """``SESSION#ID``, the form in which sources cite it."""
        return f"{self.session}#{self.id}"

    @property
    def clipped(self) -> bool:
        """Whether ``text`` is only the beginning."""
        return self.size > len(self.text)
