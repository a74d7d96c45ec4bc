"""What has been read of one Claude Code session so far, and how a record's messages come to be in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from workbench.domain.message import (
    BODY_LIMIT,
    LONG,
    Message,
    MessageKind,
    Origin,
    PlanItem,
    Role,
    ToolCall,
    ToolKind,
    ToolResult,
    Usage,
    common,
    span_of,
)
from workbench.sessions.bulk import index_of
from workbench.sessions.claude.records import CHAIN, Body, Line, Tokens
from workbench.sessions.claude.tree import PROMPT, ROOT, SIDE, Tree
from workbench.sessions.growing import Growing
from workbench.sessions.lines import Occurrences
from workbench.sessions.model import MOST_TOKENS, are_counts

_TYPES = {name: name for name in CHAIN}
"""One string for each type of record, instead of one for each record."""


@dataclass(frozen=True)
class Hints:
    """What must be known before the first message is made."""

    session: str
    fixed: bool
    """Whether the id is certain, whatever further records name."""
    name: str = ""
    """The id by which the file is named, where its name is one: its own as soon as one record says so too."""
    named: bool = False
    """Whether a record named it."""
    main: bool | None = None
    """Whether the file is a main conversation; None while nothing was said, False for a sub-agent's own file."""


class Group(msgspec.Struct, gc=False):
    """The lines of one answer of the model: one request, however many lines the file gives it."""

    key: str
    turn: int
    node: int = ROOT
    """Its last line."""
    ordinal: int = 0
    """Messages made of it, for lines without an id of their own."""
    carrier: int = ROOT
    """Place of the message that carries the usage."""
    usage: Usage | None = None


class State(Growing):
    """The growing list of messages with everything that later records are related to.

    The fields of the record in hand are set by :meth:`enter` and used by :meth:`emit`.
    """

    def __init__(self, hints: Hints, limit: int = BODY_LIMIT) -> None:
        super().__init__(limit)
        self.hints = hints
        self.session = f"claude:{hints.session}"
        self.tree = Tree()
        self.groups: dict[str, Group] = index_of(())
        self.calls: dict[str, int] = index_of(())
        """Call id to node."""
        self.open: dict[str, None] = {}
        """Calls without a result, in order."""
        self.early: dict[str, tuple[int, Callable[[ToolKind], ToolResult]]] = {}
        """Results that came before their call: place of the message, and how to judge it once the kind is known."""
        self.background: dict[str, str] = {}
        """Commands that went on in the background, by the id of their task."""
        self.children: dict[str, None] = {}
        """Sessions of sub-agents that calls started."""
        self.compactions = 0
        self.model = ""
        self.limited: tuple[str, str | None] | None = None
        """What the program said of a limit that is reached, and when; None once the model answered again."""
        self.plan: tuple[PlanItem, ...] = ()
        self.turn = 0
        self.last_request: Group | None = None
        self.tails: dict[str, int] = {}
        """Last record of a stretch that a compaction kept, to the boundary it now hangs on."""
        self.boundary = ROOT
        self._occurrences = Occurrences()
        self._sums = [0, 0, 0, 0]
        """Of all requests: uncached input, read from and written to the cache, output."""
        self.uncounted: list[Usage] = []
        """What the sums do not know yet."""
        self._outdated: list[Usage] = []
        """What they may know, and is known better now."""
        # The record in hand.
        self.node = ROOT
        self.side = False
        self.outside = False
        self.base: str | None = None
        self.at: str | None = None
        self.parent: str | None = None
        self.cwd: str | None = None
        self.branch: str | None = None
        self.raw_type = ""
        self.start = self.end = self.block = 0
        self.origin_session: str | None = None
        self.suffix = ""

    def enter(self, line: Line, role: int, start: int, end: int, link: int = ROOT) -> None:
        """Take up a record: give it its node, and set what its messages have in common."""
        tree = self.tree
        uuid: str | None = line.uuid if type(line.uuid) is str else None
        parent = tree.index.get(line.parent_uuid, ROOT) if type(line.parent_uuid) is str else ROOT
        self.side = line.is_sidechain is True
        if self.hints.main is not True:
            self._kind_of_file()
        if self.side:
            role = SIDE
        elif parent == ROOT or parent != tree.leaf or line.is_compact_summary is True:
            parent = self._parent(line, role, parent)
        else:
            tree.chained = True
        self.node = tree.add(None if self.suffix else uuid, parent, role, len(self.messages), link)
        self.outside = role >= SIDE and not tree.kept(self.node)
        self.base = uuid
        if line.forked_from is not None:
            self._forked(line.forked_from)
        self.at = line.timestamp if type(line.timestamp) is str else None
        self.parent = tree.names[parent] if parent >= 0 else None
        self.raw_type = _TYPES.get(line.type, line.type)
        self.start = start
        self.end = end
        self.block = 0

    def leave(self) -> bool:
        """Put down the record in hand; returns whether it made messages."""
        if not self.block:
            self.tree.nameless(self.node)
            return False
        if self.base is not self.tree.names[self.node] or self.suffix:
            self.tree.names[self.node] = self.messages[-self.block].id
        return True

    def _kind_of_file(self) -> None:
        """Settle whether this is a main conversation; until one is seen, a sub-agent's records are the file's own."""
        if not self.side:
            # A sub-agent's record came first, so everything before was read as if this were its own file.
            self.stale = self.stale or self.hints.main is False
            self.hints = replace(self.hints, main=True)
        elif self.hints.main is None:
            self.hints = replace(self.hints, main=False)
        self.side = False

    def _forked(self, origin: Any) -> None:
        """A record copied from another session keeps the id it had there."""
        if isinstance(origin, dict):
            if isinstance(origin.get("messageUuid"), str):
                self.base = origin["messageUuid"]
            if self.origin_session is None and isinstance(origin.get("sessionId"), str):
                self.origin_session = origin["sessionId"]

    def _parent(self, line: Line, role: int, found: int) -> int:
        """The node that a record hangs on, where that is not simply the one before."""
        tree = self.tree
        uuid = line.parent_uuid
        if line.type == "system" and line.subtype == "compact_boundary":
            return ROOT
        if type(uuid) is str:
            if uuid in self.tails:
                return max(self.tails[uuid], tree.leaf)
            if found != ROOT:
                tree.chained = True
                return self._after_compaction(line, tree.main(found))
        elif uuid is None and role == PROMPT and tree.chained:
            return self._after_compaction(line, ROOT)
        # The parent was never written, as happens often: what was written before stands in for it.
        return self._after_compaction(line, tree.newest)

    def _after_compaction(self, line: Line, parent: int) -> int:
        """A summary hangs on its boundary; without one it begins the context anew itself."""
        if line.is_compact_summary is not True:
            return parent
        return max(parent, self.boundary) if self.boundary >= 0 else ROOT

    def emit(
        self,
        kind: MessageKind,
        role: Role,
        origin: Origin,
        text: str,
        hidden: bool = False,
        turn: int | None = None,
        model: str | None = None,
        call: ToolCall | None = None,
        result: ToolResult | None = None,
        plan: tuple[PlanItem, ...] = (),
        usage: Usage | None = None,
    ) -> None:
        """Append one message of the record in hand."""
        size = len(text)
        messages = self.messages
        output_limit = self.output_limit if len(messages) < LONG else self.late_limit
        limit = self.limit if result is None else output_limit
        block = self.block
        identity = self.base
        if identity is None:
            identity = self._hashed(kind, role, text)
        elif block or self.suffix:
            identity = f"{identity}{self.suffix}:{block}" if block else identity + self.suffix
        shared = common(
            self.session,
            kind,
            role,
            origin,
            not self.outside,
            hidden,
            plan,
            model,
            self.cwd,
            self.branch,
            self.raw_type,
        )
        message = Message(
            identity,
            shared,
            len(messages),
            text if size <= limit else text[:limit],
            size,
            self.at,
            self.parent,
            self.turn if turn is None else turn,
            call,
            result,
            usage,
            span_of(self.start, self.end, block),
        )
        messages.append(message)
        self.block = block + 1

    def _hashed(self, kind: str, role: str, text: str) -> str:
        """An id for a record that has none."""
        return self._occurrences.name(self.origin_session or self.hints.session, self.raw_type, role, kind, text)

    def group(self, line: Line, body: Body) -> Group:
        """The answer that an ``assistant`` record belongs to; a new one counts up the turns."""
        key = body.id if type(body.id) is str else line.request_id if type(line.request_id) is str else line.uuid
        if type(key) is not str:
            key = f"\0{len(self.groups)}"
        group = self.groups.get(key)
        if group is None:
            if line.is_sidechain is not True or self.hints.main is not True:
                self.turn += 1
            group = self.groups[key] = Group(key, self.turn)
        return group

    def use(self, group: Group, tokens: Tokens) -> None:
        """Count a request once, with the largest figures that any of its lines gives; none where one is no count."""
        old = group.usage
        fresh, read = tokens.input_tokens, tokens.cache_read_input_tokens
        write, output = tokens.cache_creation_input_tokens, tokens.output_tokens
        plain = type(fresh) is type(read) is type(write) is type(output) is int
        plain = plain and 0 <= (fresh | read | write | output) < MOST_TOKENS
        if not (plain or are_counts(fresh, read, write, output)):
            return
        fresh, read, write, output = fresh or 0, read or 0, write or 0, output or 0
        if old is None:
            if not (fresh or read or write or output):
                return
            if not self.side:
                self.last_request = group
                self.limited = None
        elif output == old.output and fresh == old.input and read == old.cache_read and write == old.cache_write:
            return
        if old is not None:
            self._outdated.append(old)
            fresh, read = max(fresh, old.input), max(read, old.cache_read)
            write, output = max(write, old.cache_write), max(output, old.output)
        group.usage = Usage(group.key, fresh, read, write, output)
        self.uncounted.append(group.usage)
        if group.carrier >= 0:
            self.replace_at(group.carrier, usage=group.usage)

    def named(self, model: str) -> str:
        """The name of a model, as one string however often the file repeats it."""
        if model != self.model:
            self.model = model
        return self.model

    def total(self) -> Usage:
        """All requests together."""
        for sign, usages in ((1, self.uncounted), (-1, self._outdated)):
            for usage in usages:
                more = usage.input, usage.cache_read, usage.cache_write, usage.output
                self._sums = [known + sign * count for known, count in zip(self._sums, more, strict=True)]
            usages.clear()
        return Usage("total", *self._sums)

    def called(self, call: ToolCall, turn: int) -> None:
        """Note a call; a result that came before it finds it now."""
        if call.call_id in self.calls:
            return
        self.calls[call.call_id] = self.node
        early = self.early.pop(call.call_id, None) if self.early else None
        if early is None:
            self.open[call.call_id] = None
        else:
            self.replace_at(early[0], result=early[1](call.kind), turn=turn)

    def call_of(self, call_id: Any) -> Message | None:
        """The message of a call."""
        node = self.calls.get(call_id) if type(call_id) is str else None
        if node is None:
            return None
        messages = self.messages
        first = self.tree.first(node)
        message = messages[first]
        if message.call is not None and message.call.call_id == call_id:
            return message
        for place in range(first + 1, self.tree.end(node, len(messages))):
            message = messages[place]
            if message.call is not None and message.call.call_id == call_id:
                return message
        return None

    def settle(self) -> None:
        """Bring ``in_context`` up to date where the path through the tree has changed."""
        for node, kept in self.tree.settle():
            for place in range(self.tree.first(node), self.tree.end(node, len(self.messages))):
                self.replace_at(place, in_context=kept)
        super().settle()
