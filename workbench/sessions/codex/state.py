"""What has been read of one Codex session so far, and how a record's messages come to be in it."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
from msgspec.structs import force_setattr as complete

from workbench.domain.message import (
    BODY_LIMIT,
    LONG,
    Message,
    MessageKind,
    Origin,
    PlanItem,
    ToolCall,
    ToolKind,
    ToolResult,
    Usage,
    output_limits,
    span_of,
)
from workbench.sessions.codex.outputs import OUTPUT_HEAD, Outcome, Output, judged
from workbench.sessions.lines import Occurrences

Role = Literal["system", "user", "assistant", "tool"]
_REMEMBERED = 16
"""Texts that may still come a second time from the other family of records."""


@dataclass(frozen=True)
class Hints:
    """What must be known before the first message is made."""

    session: str
    fixed: bool
    """Whether the id is certain, whatever further records name."""
    name: str = ""
    """The id by which the file is named, where its name holds one: its own as soon as one record says so too."""
    root: str | None = None
    """The first session of its fork line, whose messages this one began with."""
    child: bool = False
    """Whether another agent started it."""


@dataclass
class Said:
    """A text that the file may repeat, and where its message stands."""

    text: str
    place: int


class State:
    """The growing list of messages with everything that later records are related to.

    The fields of the record in hand are set by :meth:`enter` and used by :meth:`emit`.
    """

    def __init__(self, hints: Hints, limit: int = BODY_LIMIT) -> None:
        self.hints = hints
        self._session = "", ""
        self.limit = limit
        self.output_limit, self.late_limit = output_limits(limit)
        self.stale = False
        self.messages: list[Message] = []
        self.shown = 0
        """Messages that the reader's owner has seen: those up to the last :meth:`settle`."""
        self.changed = 0
        """Messages replaced of those."""
        self.lowest = sys.maxsize
        """Place of the first of them."""
        self.ids: dict[str, int] = {}
        self.context: list[int] = []
        """Places of the messages that the model has before it."""
        self.prompts: list[int] = []
        """Places of the person's prompts among them."""
        self.calls: dict[str, int] = {}
        self.open: dict[str, None] = {}
        """Calls without a result, in order."""
        self.outcomes: dict[str, Outcome] = {}
        self.outputs: dict[str, tuple[int, Output]] = {}
        """Where each call's result stands, and what it says by itself."""
        self.processes: dict[str, str] = {}
        """Processes that went on running, and the command of each."""
        self.scripts: dict[str, bool] = {}
        """Calls of the script runtime: whether the one command of it has been seen yet."""
        self.plan: tuple[PlanItem, ...] = ()
        self.heard: dict[str, list[Said]] = {}
        self.turn = 0
        self.answering = False
        self.carrier: int | None = None
        """The first message of the answer whose usage is not known yet."""
        self.compactions = 0
        self.names = Occurrences()
        self.replay: Occurrences | None = None
        """Set while history that stands further up is written a second time."""
        # The record in hand.
        self.at: str | None = None
        self.cwd: str | None = None
        self.branch: str | None = None
        self.model: str | None = None
        self.raw_type = ""
        self.start = self.end = self.block = 0
        self.base: str | None = None
        self.repeated = 0
        """Where the message stands that :meth:`emit` last found to be there already."""

    def __getstate__(self) -> dict[str, Any]:
        """All but the messages, which are kept apart, and their ids, which are theirs."""
        own = {name: place for name, place in self.ids.items() if self.messages[place].id != name}
        return vars(self) | {"messages": None, "ids": own}

    def go_on(self, messages: list[Message]) -> None:
        """Go on with the messages that this state belongs to."""
        self.messages = messages
        self.ids |= {message.id: place for place, message in enumerate(messages)}

    @property
    def session(self) -> str:
        """``AGENT:ID``, one string as long as it is the same."""
        if self._session[1] is not self.hints.session:
            self._session = f"codex:{self.hints.session}", self.hints.session
        return self._session[0]

    def enter(self, at: Any, raw_type: str, base: Any, start: int, end: int) -> None:
        """Take up a record: set what its messages have in common."""
        self.at = at if type(at) is str else None
        self.raw_type = raw_type
        self.base = base if type(base) is str and base else None
        self.start = start
        self.end = end
        self.block = 0

    def here(self) -> int:
        """Where the record in hand stands."""
        return span_of(self.start, self.end, self.block)

    def emit(
        self,
        kind: MessageKind,
        role: Role,
        origin: Origin,
        text: str,
        *,
        hidden: bool = False,
        call: ToolCall | None = None,
        result: ToolResult | None = None,
        plan: tuple[PlanItem, ...] = (),
        seen: bool = True,
        turn: int | None = None,
    ) -> int | None:
        """Append one message of the record in hand; returns its place, None where it stands there already.

        ``seen`` is False for what the model itself was never given.
        """
        size = len(text)
        output_limit = self.output_limit if len(self.messages) < LONG else self.late_limit
        limit = self.limit if result is None else output_limit
        name = self._name(kind, role, text)
        block = self.block
        self.block += 1
        if name in self.ids:
            name = self._variant(name, kind, role, text)
            if name in self.ids:
                self.repeated = self.ids[name]
                return None
        if role == "assistant" and seen:
            self._answer()
        messages = self.messages
        place = len(messages)
        self.ids[name] = place
        messages.append(
            Message(
                name,
                self.session,
                place,
                kind,
                role,
                origin,
                text if size <= limit else text[:limit],
                size,
                self.at,
                messages[-1].id if place else None,
                self.turn if turn is None else turn,
                seen,
                hidden,
                call,
                result,
                plan,
                None,
                self.model if role == "assistant" and seen else None,
                self.cwd,
                self.branch,
                self.raw_type,
                span_of(self.start, self.end, block),
            )
        )
        if seen:
            self.context.append(place)
            if role == "assistant" and self.carrier is None:
                self.carrier = place
        return place

    def _answer(self) -> None:
        if not self.answering:
            self.answering = True
            self.turn += 1
            # What an interrupted answer used was never said: it is not what the next one uses.
            self.carrier = None

    def _name(self, kind: str, role: str, text: str) -> str:
        if self.base is not None:
            return f"{self.base}:{self.block}" if self.block else self.base
        names = self.replay or self.names
        return names.name(self.hints.root or self.hints.session, role, kind, text)

    def _variant(self, name: str, kind: str, role: str, text: str) -> str:
        """``name`` again for a repetition; another name for another content under the same id."""
        old = self.messages[self.ids[name]]
        if (old.kind, old.role, old.size) == (kind, role, len(text)) and text.startswith(old.text):
            return name
        digest = hashlib.sha256(f"{kind}\0{role}\0{text}".encode("utf-8", "replace")).hexdigest()
        return f"{name}~{digest[:8]}"

    def replace_at(self, place: int, **fields: Any) -> None:
        """Change a message that is in the list already; one that somebody may hold is replaced, never altered."""
        if place < self.shown:
            self.messages[place] = self.messages[place].with_(**fields)
            self.changed += 1
            self.lowest = min(self.lowest, place)
            return
        for name, value in fields.items():
            complete(self.messages[place], name, value)

    # What the two families of records say twice.

    def remember(self, voice: str, text: str, place: int) -> None:
        """A text that the other family of records may bring again."""
        said = self.heard.setdefault(voice, [])
        said.append(Said(text.strip(), place))
        del said[:-_REMEMBERED]

    def recall(self, voice: str, text: str, *, within: bool = False) -> int | None:
        """Where a text stands that was remembered, each once.

        Args:
            voice: Whose.
            text: The text as it comes now.
            within: Whether the remembered one may be longer on either side.
        """
        wanted = text.strip()
        said = self.heard.get(voice, [])
        for number, row in enumerate(said):
            if row.text == wanted or (within and wanted and wanted in row.text):
                del said[number]
                return row.place
        return None

    # Calls and results.

    def called(self, call: ToolCall, place: int) -> None:
        """Note a call; a result that came before it finds it now."""
        self.calls[call.call_id] = place
        early = self.outputs.get(call.call_id)
        if early is None:
            self.open[call.call_id] = None
        else:
            self._judge(call.call_id)

    def kind_of(self, call_id: str) -> ToolKind | None:
        """The kind of a call; None where it is not in the file."""
        place = self.calls.get(call_id)
        call = self.messages[place].call if place is not None else None
        return call.kind if call is not None else None

    def outcome(self, call_id: str) -> Outcome:
        """What is known of a call besides its output; changed by what learns more, see :meth:`learned`."""
        return self.outcomes.setdefault(call_id, Outcome())

    def learned(self, call_id: str) -> None:
        """Something more is known of a call: its result says so too."""
        if call_id in self.outputs:
            self._judge(call_id)

    def _judge(self, call_id: str) -> None:
        place, output = self.outputs[call_id]
        result = judged(call_id, self.kind_of(call_id), output, self.outcome(call_id))
        called = self.calls.get(call_id)
        turn = self.messages[called].turn if called is not None else self.messages[place].turn
        if self.messages[place].result != result or self.messages[place].turn != turn:
            self.replace_at(place, result=result, turn=turn)

    def answered(self, call_id: str, output: Output) -> bool:
        """Append the result of a call; returns whether it was new."""
        kind = self.kind_of(call_id)
        result = judged(call_id, kind, output, self.outcome(call_id))
        called = self.calls.get(call_id)
        turn = self.messages[called].turn if called is not None else None
        place = self.emit("tool_result", "tool", "tool", output.text, result=result, turn=turn)
        if place is None:
            return False
        # The text decides only where no exit code does, and then by its beginning.
        text = "" if output.exit_code is not None else output.text[:OUTPUT_HEAD]
        self.outputs[call_id] = (place, msgspec.structs.replace(output, text=text))
        self.open.pop(call_id, None)
        self.answering = False
        if output.process is not None and called is not None:
            call = self.messages[called].call
            if call is not None and call.command:
                self.processes[output.process] = call.command
        return True

    def script(self) -> str | None:
        """The call of the script runtime that is being carried out: the last one without a result."""
        return next((call for call in reversed(self.open) if call in self.scripts), None)

    # What the model has before it.

    def cut(self, kept: set[tuple[str, str]]) -> None:
        """A summary took the place of everything before but what ``kept`` holds, by role and text."""
        left = []
        for place in self.context:
            message = self.messages[place]
            if (message.role, message.text) in kept:
                left.append(place)
            else:
                self.replace_at(place, in_context=False)
        self.context = left
        self.prompts = [place for place in self.prompts if self.messages[place].in_context]
        self.compactions += 1

    def roll_back(self, turns: int) -> None:
        """The last ``turns`` prompts and all that followed each were taken back."""
        if turns < 1 or not self.prompts:
            return
        first = self.prompts[-turns] if turns <= len(self.prompts) else self.prompts[0]
        for place in self.context:
            if place >= first:
                self.replace_at(place, in_context=False)
        self.context = [place for place in self.context if place < first]
        self.prompts = [place for place in self.prompts if place < first]

    def carry(self, usage: Usage) -> None:
        """Give the usage of a request to the first message of its answer."""
        if self.carrier is not None:
            self.replace_at(self.carrier, usage=usage)
            self.carrier = None
        self.answering = False

    def settle(self) -> None:
        """The owner has seen everything up to here."""
        self.shown = len(self.messages)
