"""What has been read of one Codex session so far, and how a record's messages come to be in it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

from msgspec.structs import force_setattr as complete

from workbench.domain.message import (
    BODY_LIMIT,
    LONG,
    SPAN_BITS,
    Message,
    MessageKind,
    Origin,
    PlanItem,
    Role,
    ToolCall,
    ToolResult,
    Usage,
    common,
    span_of,
)
from workbench.sessions.bulk import index_of
from workbench.sessions.codex.calls import OUTPUT_HEAD, Known, judged
from workbench.sessions.codex.outputs import Output
from workbench.sessions.growing import Growing
from workbench.sessions.lines import Occurrences

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


class State(Growing):
    """The growing list of messages with everything that later records are related to.

    The fields of the record in hand are set by :meth:`enter` and used by :meth:`emit`.
    """

    def __init__(self, hints: Hints, limit: int = BODY_LIMIT) -> None:
        super().__init__(limit)
        self.hints = hints
        self.session = f"codex:{hints.session}"
        """``AGENT:ID``."""
        self.ids: dict[str, int] = index_of(())
        self.context: list[int] = []
        """Places of the messages that the model has before it."""
        self.prompts: list[int] = []
        """Places of the person's prompts among them."""
        self.calls: dict[str, Known] = index_of(())
        """By id, in the order in which the file first speaks of them."""
        self._open: dict[str, Known] = {}
        """Those without a result, of as many as were looked at."""
        self._looked = 0
        self.children: dict[str, None] = {}
        """Sessions of sub-agents that calls started."""
        self.processes: dict[str, str] = {}
        """Processes that went on running, and the command of each."""
        self.scripts: dict[str, bool] = {}
        """Calls of the script runtime without a result: whether the one command of it has been seen yet."""
        self.plan: tuple[PlanItem, ...] = ()
        self.heard: dict[str, list[tuple[str, int]]] = {}
        """Texts that the file may repeat, by whose they are, and where the message of each stands."""
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
        self.ids = index_of(chain(self.ids.items(), ((message.id, message.seq) for message in messages)))
        self.calls = index_of(self.calls.items())
        self.context = [messages[place].seq for place in self.context]

    def be(self, **known: Any) -> None:
        """Know more of whose session this is: fields of :class:`Hints`."""
        self.hints = replace(self.hints, **known)
        self.session = f"codex:{self.hints.session}"

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
        messages, size, block, name = self.messages, len(text), self.block, self.base
        place = len(messages)
        limit = self.limit if result is None else self.output_limit if place < LONG else self.late_limit
        self.block = block + 1
        if name is None:
            names = self.replay or self.names
            name = names.name(self.hints.root or self.hints.session, role, kind, text)
        elif block:
            name = f"{name}:{block}"
        if name in self.ids:
            name = self._variant(name, kind, role, text)
            if name in self.ids:
                self.repeated = self.ids[name]
                return None
        answer = seen and role == "assistant"
        if answer and not self.answering:
            self.answering = True
            self.turn += 1
            # What an interrupted answer used was never said: it is not what this one uses.
            self.carrier = place
        self.ids[name] = place
        shared = common(
            self.session,
            kind,
            role,
            origin,
            seen,
            hidden,
            plan,
            self.model if answer else None,
            self.cwd,
            self.branch,
            self.raw_type,
        )
        messages.append(
            Message(
                name,
                shared,
                place,
                text if size <= limit else text[:limit],
                size,
                self.at,
                messages[-1].id if place else None,
                self.turn if turn is None else turn,
                call,
                result,
                None,
                span_of(self.start, self.end, block) if block else self.start << SPAN_BITS | (self.end - self.start),
            )
        )
        if seen:
            self.context.append(place)
        return place

    def _variant(self, name: str, kind: str, role: str, text: str) -> str:
        """``name`` again for a repetition; another name for another content under the same id."""
        old = self.messages[self.ids[name]]
        if (old.kind, old.role, old.size) == (kind, role, len(text)) and text.startswith(old.text):
            return name
        digest = hashlib.sha256(f"{kind}\0{role}\0{text}".encode("utf-8", "replace")).hexdigest()
        return f"{name}~{digest[:8]}"

    # What the two families of records say twice.

    def remember(self, voice: str, text: str, place: int) -> None:
        """A text that the other family of records may bring again."""
        said = self.heard.setdefault(voice, [])
        said.append((text.strip(), place))
        if len(said) > _REMEMBERED:
            del said[0]

    def recall(self, voice: str, text: str, *, within: bool = False) -> int | None:
        """Where a text stands that was remembered, each once.

        Args:
            voice: Whose.
            text: The text as it comes now.
            within: Whether the remembered one may be longer on either side.
        """
        said = self.heard.get(voice)
        if not said:
            return None
        wanted = text.strip()
        for number, (known, place) in enumerate(said):
            if known == wanted or (within and wanted and wanted in known):
                del said[number]
                return place
        return None

    # Calls and results.

    def known(self, call_id: str) -> Known:
        """What is known of a call; changed by what learns more, see :meth:`learned`."""
        known = self.calls.get(call_id)
        if known is None:
            known = self.calls[call_id] = Known()
        return known

    def has(self, call_id: str) -> bool:
        """Whether a call is in the file."""
        known = self.calls.get(call_id)
        return known is not None and known.place >= 0

    def called(self, call: ToolCall, place: int) -> Known:
        """Note a call; a result that came before it finds it now."""
        known = self.known(call.call_id)
        known.place, known.kind, known.turn = place, call.kind, self.messages[place].turn
        known.patching = call.name != "exec" and (call.kind == "edit" or bool(call.paths))
        self.learned(call.call_id, known)
        return known

    def learned(self, call_id: str, known: Known) -> None:
        """Something more is known of a call: its result says so too."""
        place, output = known.answer, known.output
        if output is None:
            return
        result = judged(call_id, output, known)
        turn = known.turn if known.place >= 0 else self.messages[place].turn
        if self.messages[place].result != result or self.messages[place].turn != turn:
            self.replace_at(place, result=result, turn=turn)

    def answered(self, call_id: str, output: Output, known: Known) -> None:
        """Append the result of a call, unless it stands there already."""
        result = judged(call_id, output, known)
        turn = known.turn if known.place >= 0 else None
        place = self.emit("tool_result", "tool", "tool", output.text, result=result, turn=turn)
        if place is None:
            return
        # The text decides only where no exit code does, and then by its beginning.
        output.text = "" if output.exit_code is not None else output.text[:OUTPUT_HEAD]
        known.answer, known.output = place, output
        self.scripts.pop(call_id, None)
        self.answering = False
        if output.process is not None and known.place >= 0:
            call = self.messages[known.place].call
            if call is not None and call.command:
                self.processes[output.process] = call.command

    def open_calls(self) -> tuple[str, ...]:
        """Calls without a result. Nearly all have one soon: it takes less to look for those that are new now and then
        than to note each when it comes and when it is answered."""
        self._open |= islice(self.calls.items(), self._looked, None)
        self._looked = len(self.calls)
        self._open = {name: known for name, known in self._open.items() if known.answer < 0}
        return tuple(name for name, known in self._open.items() if known.place >= 0)

    def script(self) -> str | None:
        """The call of the script runtime that is being carried out: the last one without a result."""
        return next(reversed(self.scripts), None)

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
        place, self.carrier = self.carrier, None
        if place is not None:
            if place < self.shown:
                self.replace_at(place, usage=usage)
            else:
                complete(self.messages[place], "usage", usage)
        self.answering = False
