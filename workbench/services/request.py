"""What the model saw: the messages that one request carried, as its session file tells it.

A request carries four kinds of things: instructions (the system prompt, the tools, what the program slips in),
the person's words, what tools brought back, and what the agent itself said, thought and called. What a file does
not hold of them is *not recorded*; how large it was follows from the tokens that the request is recorded to have
used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from workbench.domain.message import Message, Usage
from workbench.domain.task import Task
from workbench.errors import NotFoundError
from workbench.services.context import Context
from workbench.services.pool import SessionState
from workbench.services.sessions import attached
from workbench.tokens import counter

if TYPE_CHECKING:
    from workbench.sessions import SessionLog

PartName = Literal["instructions", "person", "tools", "agent"]
PARTS: Mapping[PartName, str] = {
    "instructions": "system prompt, tools, what the program adds",
    "person": "what was asked",
    "tools": "what tools brought back",
    "agent": "what the agent said, thought and called; summaries",
}
"""The parts, each with what it holds."""
UNRECORDED = "system prompt and tool definitions"
"""What a session file usually does not hold."""
_NEVER = frozenset({"error", "limit", "mode_change", "meta"})
"""Kinds that the program keeps for itself."""


@dataclass(frozen=True)
class Carried:
    """One message of a request."""

    message: Message
    part: PartName
    tokens: int
    new: bool
    """The request before this one did not carry it."""
    text: str
    """Whole, or where only the beginning was asked for, as much as memory holds."""


@dataclass(frozen=True)
class Stated:
    """Instructions or tools that the file states outside of its messages."""

    name: str
    text: str
    tokens: int


@dataclass(frozen=True)
class Share:
    """One of the four parts."""

    name: PartName
    messages: int
    recorded: int
    """Tokens, counted."""
    not_recorded: int | None = 0
    """Tokens that the file does not hold; None where they cannot be told."""


@dataclass(frozen=True)
class RequestView:
    """One request and all that it carried."""

    session: str
    """``AGENT:ID``."""
    number: int
    """Counts the answers of the session, from 1: the ``turn`` of its messages."""
    numbers: tuple[int, ...]
    """Of all requests of the session."""
    answer: Message
    """The first message of its answer."""
    model: str | None
    usage: Usage | None
    tokenizer: str
    estimated: bool
    """The tokenizer is near the model's own, not the same."""
    parts: tuple[Share, ...]
    stated: tuple[Stated, ...]
    messages: tuple[Carried, ...]
    basis: str
    """How what is not recorded was sized."""

    @property
    def counted(self) -> int:
        """Tokens of all that is recorded."""
        return sum(part.recorded for part in self.parts)

    @property
    def ages(self) -> dict[str, int]:
        """Tokens of its messages by age: a summary of what was before, history, and what is new in this request."""
        found = {"summary": 0, "history": 0, "new": 0}
        for row in self.messages:
            summary = row.message.kind == "compaction"
            found["summary" if summary else "new" if row.new else "history"] += row.tokens
        return found

    @property
    def name(self) -> str:
        """``SESSION#N``, by which it is found again."""
        return f"{self.session}#{self.number}"


@dataclass(frozen=True)
class Held:
    """What the context of a session holds at one moment."""

    state: SessionState
    messages: tuple[Carried, ...]
    tokenizer: str
    estimated: bool
    window: int | None
    """Tokens that the model can hold, where that is known."""


def held(ctx: Context, task: Task, word: str | None = None) -> Held:
    """What the newest session of a task holds now, or where a request is named, what that one carried.

    Raises:
        NotFoundError: As :func:`view`.
    """
    with ctx.lock:
        states = _states(ctx, task)
        if word is None:
            state = list(states.values())[-1]
            log, before = state.log, max((m.seq for m in requests(state).values()), default=-1)
        else:
            state, answer = _find(states, task, word)
            log, before = _as_of(state, answer)
        program = ctx.programs.get(state.info.agent)
        tokenizer = program.tokenizer if program is not None else "o200k"
        return Held(
            state=state,
            messages=tuple(_carried(ctx, log, tokenizer, before, whole=True)),
            tokenizer=tokenizer,
            estimated=program.estimated if program is not None else True,
            window=state.info.window or (program.window if program is not None else None),
        )


def view(ctx: Context, task: Task, word: str | None = None, *, whole: bool = True) -> RequestView:
    """What a request of a task's sessions carried.

    Args:
        ctx: Where and who.
        task: Whose sessions.
        word: The request: its number in the newest session (or ``SESSION#N``), or a message: the request that
            gave it as its answer, or the first that carried it. The newest request where not given.
        whole: With the whole texts, of which memory may hold only the beginning.

    Raises:
        NotFoundError: No such request, or the file of its session is gone.
    """
    with ctx.lock:
        states = _states(ctx, task)
        state, answer = _find(states, task, word)
        return _read(ctx, state, answer, whole=whole)


def _states(ctx: Context, task: Task) -> dict[str, SessionState]:
    """The sessions of a task that are here, by name; the newest main session last, sub-agents' before it."""
    sessions = attached(ctx, ctx.workspace.load(), task)
    mine = [session for session in sessions if session.state is not None]
    if not mine:
        gone = [session.ref.name for session in sessions]
        why = f"the file of {', '.join(gone)} is not on this machine" if gone else f"{task.slug} has no session"
        hint = "copies of single messages say nothing of a request" if gone else "workbench session attach @ latest"
        raise NotFoundError(f"no request to show: {why}", hint, candidates=[])
    children = {child.info.name: child for session in mine for child in session.children}
    return children | {s.state.info.name: s.state for s in mine if s.state is not None}


def requests(state: SessionState) -> dict[int, Message]:
    """The first message of every answer of a session, by number; answers of sub-agents within it are left out."""
    main = any(m.role == "assistant" and m.origin == "agent" for m in state.messages)
    found: dict[int, Message] = {}
    for message in state.messages:
        if message.role == "assistant" and message.turn and message.origin == ("agent" if main else "subagent"):
            found.setdefault(message.turn, message)
    return found


def _find(states: Mapping[str, SessionState], task: Task, word: str | None) -> tuple[SessionState, Message]:
    name, mark, inner = (word or "").rpartition("#")
    wanted = list(states.values())
    if mark:
        wanted = [state for key, state in states.items() if key == name or key.startswith(name)]
    newest = wanted[-1:]
    if word is None:
        asked = [(state, answer) for state in newest for answer in list(requests(state).values())[-1:]]
    elif inner.isascii() and inner.isdigit() and len(inner) < 9:
        asked = [(state, answer) for state in newest if (answer := requests(state).get(int(inner))) is not None]
    else:
        asked = [found for state in wanted if (found := _of_message(state, inner)) is not None]
    if len(asked) == 1:
        return asked[0]
    numbers = [f"{state.info.name}#{n}" for state in newest for n in list(requests(state))[-5:]]
    what = "no request" if word is None else f"{word[:80]!r} names {len(asked) or 'no'} request{'s' * (len(asked) > 1)}"
    raise NotFoundError(
        f"{what} in the sessions of {task.slug}", "messages: workbench history show", candidates=numbers
    )


def _of_message(state: SessionState, prefix: str) -> tuple[SessionState, Message] | None:
    """The request that a message is the answer of, or the first after it."""
    exact = [m for m in state.messages if m.id == prefix]
    found = exact or [m for m in state.messages if prefix and m.id.startswith(prefix)]
    if not found or (len(found) > 1 and len({m.turn for m in found}) > 1):
        return None
    message = found[0]
    asked = requests(state)
    if message.role == "assistant" and message.turn in asked:
        return state, asked[message.turn]
    later = next((answer for answer in asked.values() if answer.seq > message.seq), None)
    return (state, later) if later is not None else None


def _read(ctx: Context, state: SessionState, answer: Message, *, whole: bool) -> RequestView:
    past, before = _as_of(state, answer)
    program = ctx.programs.get(state.info.agent)
    tokenizer = program.tokenizer if program is not None else "o200k"
    asked = requests(state)
    carried = tuple(_carried(ctx, past, tokenizer, before, whole=whole))
    count = counter(tokenizer).count
    stated = tuple(Stated(name, text, count(text)) for name, text in state.log.given())
    same = [message for message in state.messages if message.turn == answer.turn and message.origin == answer.origin]
    usage = next((message.usage for message in same if message.usage is not None), None)
    counted = sum(row.tokens for row in carried) + sum(row.tokens for row in stated)
    missing, basis = _missing(usage, counted, tokenizer)
    return RequestView(
        session=state.info.name,
        number=answer.turn,
        numbers=tuple(asked),
        answer=answer,
        model=next((message.model for message in same if message.model), None),
        usage=usage,
        tokenizer=tokenizer,
        estimated=program.estimated if program is not None else True,
        parts=tuple(_share(name, carried, stated, missing) for name in PARTS),
        stated=stated,
        messages=carried,
        basis=basis,
    )


def _as_of(state: SessionState, answer: Message) -> tuple[SessionLog, int]:
    """The session as it was when a request was made, and the place of the answer before it."""
    before = max((first.seq for first in requests(state).values() if first.seq < answer.seq), default=-1)
    return state.log.as_of(answer.raw.start if answer.raw is not None else 0), before


def _carried(ctx: Context, past: SessionLog, tokenizer: str, before: int, *, whole: bool) -> Iterable[Carried]:
    for message in past.messages:
        if message.in_context and was_given(message):
            tokens = ctx.tokens.count(tokenizer, message, past)
            text = past.body(message) if whole and message.clipped else message.text
            yield Carried(message, part_of(message), tokens, message.seq >= before, text)


def was_given(message: Message) -> bool:
    """Whether a message that is in context is one that the model is given, and not the program's own note."""
    if message.kind in _NEVER or message.raw_type == "system":
        return False
    if message.kind in ("notice", "unknown"):
        return message.role == "user" or message.raw_type.startswith("response_item")
    return True


def part_of(message: Message) -> PartName:
    """Which of the four parts a message belongs to."""
    if message.kind == "tool_result":
        return "tools"
    if message.role == "assistant" or message.kind == "compaction":
        return "agent"
    return "instructions" if message.origin in ("harness", "hook") or message.role == "system" else "person"


def _share(name: PartName, carried: Sequence[Carried], stated: Sequence[Stated], missing: int | None) -> Share:
    rows = [row for row in carried if row.part == name]
    tokens = sum(row.tokens for row in rows)
    if name != "instructions":
        return Share(name, len(rows), tokens)
    return Share(name, len(rows), tokens + sum(row.tokens for row in stated), missing)


def _missing(usage: Usage | None, counted: int, tokenizer: str) -> tuple[int | None, str]:
    """Tokens that the file does not hold, and how that is known."""
    if usage is None:
        return None, "the file states no usage of this request: what is not recorded cannot be sized"
    rest = usage.context - counted
    basis = f"{usage.context:,} input tokens by the request's usage record, less {counted:,} counted here ({tokenizer})"
    if rest < 0:
        return 0, f"{basis}: counted in another vocabulary than the model's, it comes to {-rest:,} more than was used"
    return rest, f"{basis}; pictures, signed reasoning and differences in counting are in it"
