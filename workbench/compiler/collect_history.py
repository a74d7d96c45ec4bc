"""Candidates from the sessions: what the person said, the newest turns, summaries, guidelines, what search found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from workbench.compiler.candidates import Candidate, SourceType
from workbench.compiler.material import HistoryItem, Material
from workbench.compiler.request import Request
from workbench.domain.message import Message
from workbench.domain.times import instant
from workbench.domain.trimming import Trim
from workbench.text import one_line

RECENT_TURNS = 12
"""Turns whose messages are candidates at all."""
_BOOKKEEPING = frozenset({"meta", "mode_change", "notice", "attachment", "unknown"})


@dataclass(frozen=True, slots=True)
class Placed:
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


def newest_turns(request: Request) -> int:
    """Turns whose agents' words are still fresh, as the guard over trimming counts them."""
    window = request.to.window
    if request.strategy in ("recent", "summary_recent"):
        return RECENT_TURNS
    return 3 if window is not None and window <= 8000 else 4


def in_order(history: Iterable[HistoryItem]) -> list[tuple[int, HistoryItem]]:
    """Messages in the order of their sessions and files, each with its turn counted over all sessions."""
    sessions: dict[str, list[HistoryItem]] = {}
    for item in history:
        sessions.setdefault(item.message.session, []).append(item)
    for items in sessions.values():
        items.sort(key=lambda i: (i.message.seq, i.message.id))
    started = {name: next((i.message.at for i in items if i.message.at), "") for name, items in sessions.items()}
    ordered: list[tuple[int, HistoryItem]] = []
    before = 0
    for name in sorted(sessions, key=lambda n: (instant(started[n]), n)):
        items = sessions[name]
        ordered.extend((before + item.message.turn, item) for item in items)
        before = max(turn for turn, _ in ordered[-len(items) :])
    return ordered


def collect_history(material: Material, request: Request) -> Iterator[Candidate]:
    """What the sessions offer: see :mod:`workbench.compiler.collect` for what they do not."""
    ordered = in_order(material.history)
    last_turn = max((turn for turn, _ in ordered), default=0)
    fresh = last_turn - newest_turns(request)
    compacted = _last_compaction(ordered)
    retrieved = frozenset(material.retrieved)
    trims: dict[str, tuple[Trim, list[HistoryItem]]] = {}
    for place, (turn, item) in enumerate(ordered):
        message, fate = item.message, item.fate
        if fate.disposition == "summarised" and fate.trim is not None:
            trims.setdefault(fate.trim.id, (fate.trim, []))[1].append(item)
        compacted_at = compacted.get(message.session, -1)
        if _wanted(item, turn > last_turn - RECENT_TURNS, compacted_at, request.pins):
            yield _message(material, item, place, fresh=turn > fresh or last_turn == 0)
        elif message.ref in retrieved and agents_words(message) and not _abandoned(message, compacted_at):
            yield _message(material, item, place, fresh=False, kind="retrieved_history")
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


def _last_compaction(ordered: list[tuple[int, HistoryItem]]) -> dict[str, int]:
    last: dict[str, int] = {}
    for _, item in ordered:
        if item.message.kind == "compaction":
            last[item.message.session] = item.message.seq
    return last


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
    body = material.mask(item.body)
    if item.fate.memory == "guideline":
        kind = "guideline"
    elif message.kind == "compaction":
        kind = "summary"
    return Candidate(
        kind,
        message.ref,
        one_line(body, 80) or message.kind,
        body,
        Placed(item, place, fresh),
        paths=message.call.paths if message.call else (),
        observed_at=message.at or "",
        refs=(message.ref,),
    )
