"""Candidates from the sessions: what the person said, the newest turns, summaries, guidelines, what search found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from workbench.compiler.candidates import Candidate, SourceType
from workbench.compiler.material import HistoryItem, Material
from workbench.compiler.request import Request
from workbench.domain.message import Message
from workbench.domain.times import instant
from workbench.domain.trimming import Fate, Trim
from workbench.text import one_line

RECENT_TURNS = 12
"""Turns whose messages are candidates at all."""
_BOOKKEEPING = frozenset({"meta", "mode_change", "notice", "attachment", "unknown"})
_SPOKEN = frozenset({"message", "compaction"})
"""Kinds that may be candidates whatever their age; most of a long history is of others."""


class Placed(msgspec.Struct, frozen=True, gc=False):
    """A message with its place among all messages, and whether it is of the newest turns."""

    item: HistoryItem
    place: int
    fresh: bool


def own_words(message: Message) -> bool:
    """Whether a person wrote it."""
    return message.origin == "human" and message.kind == "message"


def agents_words(message: Message) -> bool:
    """Whether it is something an agent said, and no call, result or thought of it."""
    return message.kind == "message" and message.origin in ("agent", "subagent") and not message.hidden


def may_be_carried(message: Message, fate: Fate) -> bool:
    """Whether a package may ever carry a message, or what stands in its place, unless it is pinned for that package.

    Used-up traffic of tools never is, however new: to cut it makes no package another one. A pin for one package
    brings a message back whether it was cut or not.
    """
    if fate.pinned or fate.memory != "working" or fate.disposition == "summarised":
        return True
    return message.kind == "compaction" or own_words(message) or agents_words(message)


def newest_turns(request: Request) -> int:
    """Turns whose agents' words are still fresh, as the guard over trimming counts them."""
    window = request.to.window
    if request.strategy in ("recent", "summary_recent"):
        return RECENT_TURNS
    return 3 if window is not None and window <= 8000 else 4


class _Session:
    """The messages of one session, with what a walk over them finds out at once: there may be very many."""

    def __init__(self) -> None:
        self.items: list[HistoryItem] = []
        self.last_turn = 0
        self.compacted_at = -1
        """Number of the last compaction."""
        self._in_order = True

    def take(self, item: HistoryItem) -> None:
        """Add a message."""
        message = item.message
        if self.items and message.seq <= self.items[-1].message.seq:
            self._in_order = False
        if message.turn > self.last_turn:
            self.last_turn = message.turn
        if message.kind == "compaction" and message.seq > self.compacted_at:
            self.compacted_at = message.seq
        self.items.append(item)

    def put_in_order(self) -> None:
        """As they stand in the file."""
        if not self._in_order:
            self.items.sort(key=lambda i: (i.message.seq, i.message.id))

    @property
    def started(self) -> str | None:
        """The first moment that it names."""
        return next((item.message.at for item in self.items if item.message.at), None)


def _in_order(history: Iterable[HistoryItem]) -> list[_Session]:
    """Sessions, the older first."""
    sessions: dict[str, _Session] = {}
    for item in history:
        name = item.message.session
        session = sessions.get(name)
        if session is None:
            session = sessions[name] = _Session()
        session.take(item)
    for session in sessions.values():
        session.put_in_order()
    return [sessions[name] for name in sorted(sessions, key=lambda n: (instant(sessions[n].started), n))]


def collect_history(material: Material, request: Request) -> Iterator[Candidate]:
    """What the sessions offer: see :mod:`workbench.compiler.collect` for what they do not."""
    sessions = _in_order(material.history)
    last_turn = sum(session.last_turn for session in sessions)
    oldest, fresh = last_turn - RECENT_TURNS, last_turn - newest_turns(request)
    retrieved, pins = frozenset(material.retrieved), request.pins
    trims: dict[str, tuple[Trim, list[HistoryItem]]] = {}
    place, before = -1, 0
    for session in sessions:
        compacted_at = session.compacted_at
        for item in session.items:
            place += 1
            message, fate = item.message, item.fate
            recent = before + message.turn > oldest
            if fate.disposition == "summarised" and fate.trim is not None:
                trims.setdefault(fate.trim.id, (fate.trim, []))[1].append(item)
            if not recent and message.kind not in _SPOKEN and not (fate.pinned or fate.memory == "guideline" or pins):
                continue
            if _wanted(item, recent, compacted_at, pins):
                new = before + message.turn > fresh or last_turn == 0
                yield _message(material, item, place, fresh=new)
            elif message.ref in retrieved and agents_words(message) and not _abandoned(message, compacted_at):
                yield _message(material, item, place, fresh=False, kind="retrieved_history")
        before += session.last_turn
    for trim, items in trims.values():
        if trim.text:
            yield Candidate(
                "summary",
                trim.id,
                one_line(trim.text, 80),
                material.mask(trim.text),
                trim,
                observed_at=max((i.message.at or "" for i in items), key=instant),
                refs=tuple(i.message.ref for i in items),
            )


def _wanted(item: HistoryItem, recent: bool, compacted_at: int, pins: frozenset[str]) -> bool:
    message, fate = item.message, item.fate
    if fate.pinned or (pins and (message.id in pins or message.ref in pins)):
        return True
    if message.hidden or message.kind in _BOOKKEEPING:
        return False
    if _abandoned(message, compacted_at):
        return False
    if fate.memory == "guideline":
        # An agent program's own instructions are no rule for the next executor.
        return message.origin != "harness"
    if message.kind == "compaction" or own_words(message):
        return True
    return recent and message.in_context


def _abandoned(message: Message, compacted_at: int) -> bool:
    """Neither seen by the model nor compacted away: it stands on a branch that was abandoned."""
    return not message.in_context and message.seq > compacted_at


def _message(
    material: Material, item: HistoryItem, place: int, *, fresh: bool, kind: SourceType = "recent_message"
) -> Candidate:
    message = item.message
    body, ref = material.mask(item.body), message.ref
    if item.fate.memory == "guideline":
        kind = "guideline"
    elif message.kind == "compaction":
        kind = "summary"
    return Candidate(
        kind,
        ref,
        one_line(body, 80) or message.kind,
        body,
        Placed(item, place, fresh),
        paths=message.call.paths if message.call else (),
        observed_at=message.at or "",
        refs=(ref,),
    )
