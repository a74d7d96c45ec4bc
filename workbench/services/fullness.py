"""How full an agent's window is, how many turns are left in it, what its limits are: from its session file alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from workbench.domain.message import Message
from workbench.domain.times import EPOCH, instant

if TYPE_CHECKING:
    from workbench.sessions import SessionInfo

_RECENT = 10
"""Requests over which growth is measured."""
_ENOUGH = 3
"""Fewer steps of growth than this say nothing."""
NEARLY_USED = 0.9
"""Share of an allowance from which it is said to be nearly used up."""
STATED, USUAL = "last request over the window that the session states", "last request over the agent's usual window"


@dataclass(frozen=True)
class Allowance:
    """A limit of the account, as the session last stated it."""

    name: str
    used: float | None
    """Share, 0 to 1; None where only that it is reached is known."""
    resets_at: str | None
    """Stamp, or the words of the file."""
    reached: bool


@dataclass(frozen=True)
class Fullness:
    """How a session stands."""

    window: int | None = None
    basis: str = ""
    """What the share is of what; empty where nothing is known."""
    turns_left: int | None = None
    """About how many requests still fit, if they grow as the last ones did."""
    allowances: tuple[Allowance, ...] = ()
    compactions: int = 0
    lost: int = 0
    """Messages that the last compaction took out of the model's context."""


def fullness(
    info: SessionInfo, messages: Sequence[Message], usual: int | None, now: datetime, lost: int = 0
) -> Fullness:
    """Read off a session.

    Args:
        info: What is known of it.
        messages: Its messages.
        usual: The window that its agent has where the file states none.
        now: The moment: an allowance whose reset has passed is no longer reached.
        lost: Messages that the last compaction took out of the model's context, see :func:`lost`.
    """
    window = info.window or usual
    known = bool(window and info.last_context)
    return Fullness(
        window=window,
        basis="" if not known else STATED if info.window else USUAL,
        turns_left=_turns_left(messages, info.last_context, window),
        allowances=_allowances(info, now),
        compactions=info.compactions,
        lost=lost,
    )


def _turns_left(messages: Sequence[Message], last: int | None, window: int | None) -> int | None:
    if not last or not window:
        return None
    steps: list[int] = []
    after: int | None = None
    # From the newest backwards, and not past a compaction: what came before says nothing of how it grows now.
    for message in reversed(messages):
        if message.kind == "compaction" and not message.hidden:
            break
        if message.usage is None or message.origin == "subagent":
            continue
        if after is not None:
            steps.append(after - message.usage.context)
        after = message.usage.context
        if len(steps) == _RECENT:
            break
    from statistics import median  # slow to load, and needed only here

    growth = median(steps) if len(steps) >= _ENOUGH else 0
    return max(0, int((window - last) / growth)) if growth > 0 else None


def _allowances(info: SessionInfo, now: datetime) -> tuple[Allowance, ...]:
    found = []
    for limit in info.limits:
        over = EPOCH < instant(limit.resets_at) <= now
        used = None if over else limit.used
        found.append(Allowance(limit.name, used, limit.resets_at, limit.reached and not over))
    return tuple(found)


def compactions(messages: Sequence[Message], since: int = 0) -> list[int]:
    """Places from ``since`` on at which the conversation was cut short by a summary."""
    places = range(since, len(messages))
    return [n for n in places if messages[n].kind == "compaction" and not messages[n].hidden]


def lost(messages: Sequence[Message], places: Sequence[int]) -> int:
    """Messages before the last compaction that are no longer in context, and were until the one before it."""
    if not places:
        return 0
    first = places[-2] if len(places) > 1 else 0
    said = ("message", "tool_call", "tool_result", "thinking", "compaction")
    return sum(not m.in_context and not m.hidden and m.kind in said for m in messages[first : places[-1]])
