"""From stored text to what a widget shows: safe, never markup, styled by the theme's variables.

Every text of the view goes through here. A style is a name of a theme variable such as
``$trust-verified``; meaning never rests on it alone, so each comes with a word or a symbol.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from workbench.domain.times import EPOCH, instant
from workbench.text import clip_lines, one_line

if TYPE_CHECKING:
    from workbench.domain.message import Message

QUIET = "$quiet"
LABEL = "$label"
READING = Content.styled("reading …", QUIET)
"""Stands in a list until the first view is there."""

LIFECYCLE: dict[str, tuple[str, str]] = {
    "proposed": ("?", "$life-proposed"),
    "active": ("●", "$life-active"),
    "challenged": ("!", "$life-challenged"),
    "contested": ("≠", "$life-contested"),
    "superseded": ("↶", "$life-superseded"),
    "rejected": ("×", "$life-rejected"),
    "retracted": ("-", "$life-rejected"),
}
"""Symbol and style of each lifecycle."""

TRUST: dict[str, tuple[str, str]] = {
    "reported": ("reported", "$trust-reported"),
    "verified": ("verified", "$trust-verified"),
    "authoritative": ("authority", "$trust-authoritative"),
}
"""Word and style of each degree of trust."""

DISPOSITION: dict[str, tuple[str, str]] = {
    "kept": (" ", ""),
    "dropped": ("×", "$disposition-dropped"),
    "summarised": ("≈", "$disposition-summarised"),
    "externalised": ("→", "$disposition-externalised"),
}
"""Symbol and style of what was decided about a message."""

MEMORY: dict[str, tuple[str, str]] = {
    "guideline": ("§", "$memory-guideline"),
    "project": ("◆", "$memory-project"),
    "working": ("·", "$quiet"),
}
"""Symbol and style of each memory class."""

VERDICT: dict[str, tuple[str, str]] = {
    "passed": ("[x]", "$good"),
    "failed": ("[!]", "$bad"),
    "stale": ("[~]", "$warn"),
    "claimed": ("[?]", "$warn"),
    "waiting": ("[ ]", "$quiet"),
}
"""Box and style of an acceptance verdict."""

PACKAGE: dict[str, tuple[str, str]] = {
    "draft": ("·", "$quiet"),
    "pending": ("◔", "$warn"),
    "confirmed": ("◑", "$info"),
    "transferring": ("◑", "$info"),
    "launched": ("◕", "$info"),
    "received": ("●", "$good"),
    "closed": ("✓", "$quiet"),
    "rejected": ("×", "$quiet"),
    "cancelled": ("×", "$quiet"),
    "failed": ("!", "$bad"),
}
"""Symbol and style of a package's status."""


def line(text: str, style: str = "", limit: int = 400) -> Content:
    """``text`` as one safe line."""
    return Content.styled(one_line(text, limit), style)


def lines(text: str, count: int, style: str = "", width: int = 2000) -> tuple[Content, int]:
    """The first ``count`` safe lines of ``text``, and how many were left off."""
    kept, left = clip_lines(text, count, width)
    return Content.styled(kept, style), left


def fit(content: Content, width: int, *, right: bool = False) -> Content:
    """``content`` in exactly ``width`` cells, cut with an ellipsis or padded."""
    if width <= 0:
        return Content("")
    if right and content.cell_length < width:
        return content.pad_left(width - content.cell_length)
    return content.truncate(width, ellipsis=True, pad=True)


def word(text: str, width: int, style: str = "", *, right: bool = False) -> Content:
    """One safe line of ``text`` in exactly ``width`` cells."""
    return fit(line(text, style, max(4, width + 1)), width, right=right)


def join(parts: Iterable[Content | str | tuple[str, str]]) -> Content:
    """Parts one after the other; tuples are text and style."""
    return Content.assemble(*parts)


_LEAD = re.compile(r"\s*(?:\[.\] |[^\w\s] )?")
"""What stands before the words of a row: blanks, then a box or a symbol."""


def hang(rows: Iterable[Content], width: int) -> Content:
    """Rows under each other; where one wraps, it goes on under its words, not under its symbol."""
    shown: list[Content] = []
    for row in rows:
        for part in row.split("\n", allow_blank=True):
            shown.extend(_hung(part, width))
    return stack(shown)


def _hung(row: Content, width: int) -> list[Content]:
    if row.cell_length <= width:
        return [row]
    lead = _LEAD.match(row.plain)
    indent = min(len(lead.group()) if lead else 0, width // 3)
    first = row.wrap(max(8, width))[0]
    rest = row.plain[len(first.plain) :]
    start = len(row) - len(rest.lstrip())
    return [first.rstrip(), *(Content(" " * indent) + line for line in row[start:].wrap(max(8, width - indent)))]


def stack(rows: Iterable[Content]) -> Content:
    """Rows under each other."""
    return Content("\n").join(list(rows))


def count(number: int | None) -> str:
    """A whole number for people: ``12,480``; unknown is a question mark."""
    return "?" if number is None else f"{number:,}"


def short(number: int | None) -> str:
    """A number in at most five cells: ``999``, ``12.4k``, ``1.2M``."""
    if number is None:
        return "?"
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            value = number / size
            return f"{value:.1f}{unit}" if value < 99.95 else f"{value:.0f}{unit}"
    return str(number)


def plural(number: int, noun: str) -> str:
    """``1 message``, ``3 messages``."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def clock(at: str | None, now: datetime, zone: tzinfo | None = None) -> str:
    """A stored time in the person's zone: ``10:04`` today, ``Mar 01 10:04`` else, empty where unknown."""
    moment = instant(at)
    if moment == EPOCH:
        return ""
    moment, today = moment.astimezone(zone), now.astimezone(zone).date()
    if moment.date() == today:
        return moment.strftime("%H:%M")
    return moment.strftime("%b %d %H:%M" if moment.year == today.year else "%Y-%m-%d")


def ago(at: str | None, now: datetime) -> str:
    """How long a stored time lies back: ``4 min``, ``3 h``, ``2 days``; empty where unknown or not past."""
    moment = instant(at)
    minutes = int((now - moment).total_seconds() // 60)
    if moment == EPOCH or minutes < 0:
        return ""
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 48 * 60 else plural(minutes // (24 * 60), "day")


def who(actor: str) -> str:
    """An actor or origin without its prefix: ``human:dev`` is ``dev``."""
    return actor.partition(":")[2] or actor


_SPEAKERS: dict[str, tuple[str, str]] = {
    "human": ("you", "$who-human"),
    "agent": ("agent", "$who-agent"),
    "subagent": ("sub", "$who-agent"),
    "tool": ("tool", "$who-tool"),
    "harness": ("app", "$who-system"),
    "hook": ("hook", "$who-system"),
}
_KINDS: dict[str, str] = {
    "message": "says",
    "thinking": "thinks",
    "tool_call": "calls",
    "tool_result": "result",
    "compaction": "compact",
    "mode_change": "mode",
    "attachment": "attach",
}


def speaker(message: Message) -> tuple[str, str]:
    """Who a message comes from, in at most five cells, and the style of it."""
    if message.role == "system" and message.origin == "human":
        return "app", "$who-system"
    return _SPEAKERS.get(message.origin, ("?", "$who-system"))


def kind(message: Message) -> str:
    """What kind of entry it is, in at most seven cells."""
    return _KINDS.get(message.kind, message.kind)


def outcome(message: Message) -> tuple[str, str]:
    """How a tool result ended, and its style; empty for anything else."""
    result = message.result
    if result is None:
        return "", ""
    if result.exit_code is not None:
        return f"exit {result.exit_code}", "$good" if result.exit_code == 0 else "$bad"
    styles = {"ok": "$good", "failed": "$bad", "denied": "$warn", "interrupted": "$warn", "orphan": "$warn"}
    return (result.status, styles[result.status]) if result.status in styles else ("", "")


def gist(message: Message) -> str:
    """What a message is about, as one line of raw text; callers make it safe."""
    if message.plan:
        done = sum(item.status == "completed" for item in message.plan)
        return f"plan {done}/{len(message.plan)}: " + "; ".join(item.text for item in message.plan[:6])
    call = message.call
    if call is not None:
        detail = call.command or ", ".join(within(path, message.cwd) for path in call.paths[:3]) or message.text[:400]
        return f"{call.name}  {detail}" if detail else call.name
    return message.text[:1600] or message.raw_type


def short_ref(ref: str) -> str:
    """``AGENT:SESSION#MESSAGE`` with the ids cut to what tells them apart; anything else as it is."""
    session, mark, message = ref.partition("#")
    agent, colon, name = session.partition(":")
    return f"{agent}:{name[:8]}#{message[:8]}" if mark and colon else ref


def within(path: str, folder: str | None) -> str:
    """A path without the folder that it lies in, where that is known."""
    return path.removeprefix(folder.rstrip("/") + "/") if folder else path


def width_of(text: str) -> int:
    """Cells that a safe text takes."""
    return cell_len(text)


def fit_parts(parts: Iterable[tuple[str, str]]) -> Content:
    """Short facts in one line, with dots between; each made safe."""
    shown = [line(text, style, 160) for text, style in parts]
    return Content.styled(" · ", QUIET).join(shown)
