"""Memory classes, dispositions, and the guard over what may go from a package (``trimming.md``)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from workbench.domain.lines import causal_order
from workbench.domain.message import Message
from workbench.domain.record import Part

MemoryClass = Literal["working", "project", "guideline"]
Disposition = Literal["kept", "dropped", "summarised", "externalised"]
TrimAct = Literal["drop", "summarise", "externalise", "restore", "pin", "unpin", "class"]


class Trim(Part, frozen=True, kw_only=True):
    """One act on messages of a session; a line of ``trims/<session>.jsonl``, by message id."""

    id: str
    after: str | None = None
    """The line it was appended after."""
    act: TrimAct
    messages: tuple[str, ...]
    by: str
    at: str
    why: str = ""
    text: str = ""
    """What stands in their place, for ``summarise``."""
    blobs: dict[str, str] = {}
    """Message id to the hash of its externalised content."""
    memory: MemoryClass | None = None


@dataclass(frozen=True, slots=True)
class Fate:
    """What is decided about one message."""

    disposition: Disposition = "kept"
    memory: MemoryClass = "working"
    pinned: bool = False
    trim: Trim | None = None
    """The act that made it so."""


DISPOSITIONS: dict[str, Disposition] = {
    "drop": "dropped",
    "summarise": "summarised",
    "externalise": "externalised",
    "restore": "kept",
}


_BY_CLASS: dict[MemoryClass, Fate] = {
    "working": Fate(),
    "project": Fate(memory="project"),
    "guideline": Fate(memory="guideline"),
}
"""The fates of messages about which nothing was decided: a few for all of them."""


def default_class(message: Message) -> MemoryClass:
    """The memory class a message has by its kind and origin until somebody changes it."""
    if message.role == "system" and message.kind == "message":
        return "guideline"
    if message.origin == "human" and message.kind == "message":
        return "project"
    return "working"


class Rulings:
    """What was decided about the messages of a session, after all acts in causal order."""

    def __init__(self, trims: Iterable[Trim]) -> None:
        self._acts: dict[str, tuple[Disposition, Trim]] = {}
        self._pinned: dict[str, bool] = {}
        self._memory: dict[str, MemoryClass] = {}
        self._ids: set[str] = set()
        for trim in causal_order(trims):
            self._ids.update(trim.messages)
            for message_id in trim.messages:
                if trim.act in DISPOSITIONS:
                    self._acts[message_id] = (DISPOSITIONS[trim.act], trim)
                elif trim.act in ("pin", "unpin"):
                    self._pinned[message_id] = trim.act == "pin"
                elif trim.memory is not None:
                    self._memory[message_id] = trim.memory

    def fate(self, message: Message) -> Fate:
        """The fate of one message."""
        plain = _BY_CLASS[default_class(message)]
        if message.id not in self._ids:
            return plain
        memory, pinned = self._memory.get(message.id, plain.memory), self._pinned.get(message.id, False)
        ruled = self._acts.get(message.id)
        return Fate(memory=memory, pinned=pinned) if ruled is None else Fate(ruled[0], memory, pinned, ruled[1])


def fates(messages: Iterable[Message], trims: Iterable[Trim]) -> dict[str, Fate]:
    """The fate of every message id."""
    rulings = Rulings(trims)
    return {message.id: rulings.fate(message) for message in messages}


def with_partners(messages: Sequence[Message], marked: Collection[str]) -> frozenset[str]:
    """The marked ids with what goes together with them: a call and its result."""
    touched = {part.call_id for m in messages if m.id in marked and (part := m.call or m.result) is not None}
    if not touched:
        return frozenset(marked)
    partners = (m.id for m in messages if (part := m.call or m.result) is not None and part.call_id in touched)
    return frozenset(marked).union(partners)


@dataclass(frozen=True)
class GuardFinding:
    """Why a message may not go, or not without more."""

    message: str
    rule: Literal["guideline", "pinned", "own_words", "newest_turns", "not_saved"]
    stops: Literal["always", "unless_yes", "warns"]
    text: str


def newest_turns(window: int | None) -> int:
    """How many of the last turns stay, by the executor's context window in tokens (``trimming.md``, The guard)."""
    return 3 if window is not None and window <= 8000 else 4


def guard(
    messages: Sequence[Message],
    state: Mapping[str, Fate],
    marked: Collection[str],
    cited: Collection[str],
    *,
    window: int | None = None,
    newest_session: bool = True,
) -> tuple[GuardFinding, ...]:
    """What stands against cutting ``marked`` (``trimming.md``, The guard).

    Args:
        messages: The whole history, in file order.
        state: Fate of every message.
        marked: Ids about to go, partners included.
        cited: Ids of messages that a fact, note, evidence or item cites as its source.
        window: The executor's context window in tokens, where known; see :func:`newest_turns`.
        newest_session: Whether the task's history ends with these messages; in a session that
            another one followed no turn counts as new.

    Returns:
        Findings in message order. ``always`` cannot be overridden by anybody; ``unless_yes`` is
        refused to agents and asks a person to type yes; ``warns`` is said beside the figures.
    """
    newest = newest_turns(window)
    last_turn = max((m.turn for m in messages), default=0)
    own = [m.id for m in messages if m.origin == "human" and m.kind == "message"]
    findings: list[GuardFinding] = []
    for message in messages:
        if message.id not in marked:
            continue
        fate = state.get(message.id, Fate())
        if fate.memory == "guideline":
            findings.append(GuardFinding(message.id, "guideline", "always", "a guideline is never trimmed"))
        elif fate.pinned:
            findings.append(GuardFinding(message.id, "pinned", "unless_yes", "pinned"))
        elif newest_session and own and message.id == own[-1]:
            findings.append(GuardFinding(message.id, "own_words", "unless_yes", "the person's last message"))
        elif message.origin == "human" and message.kind == "message":
            findings.append(GuardFinding(message.id, "own_words", "unless_yes", "the person's own words"))
        elif newest_session and message.turn > last_turn - newest and message.turn > 0:
            findings.append(GuardFinding(message.id, "newest_turns", "unless_yes", f"one of the newest {newest} turns"))
        elif message.origin in ("agent", "subagent") and message.kind == "message" and message.id not in cited:
            findings.append(
                GuardFinding(message.id, "not_saved", "warns", "no fact, note or item cites it as its source")
            )
    return tuple(findings)
