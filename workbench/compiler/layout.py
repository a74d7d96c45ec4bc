"""What a packed item is printed as: pieces of text, each in a section and perhaps under a common line.

Every piece is one or more whole lines and begins with ``-`` or a letter, never with white space, so
that the tokens of pieces add up to the tokens of the prompt (the encodings cut at such line starts).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from workbench.compiler.collect_contested import contested
from workbench.compiler.staleness import StaleValue
from workbench.compiler.values import value_line
from workbench.compiler.words import Words
from workbench.domain.record import Claim, Json
from workbench.domain.task import Task
from workbench.domain.times import EPOCH, instant
from workbench.text import one_line, safe

SECTIONS = (
    "do",
    "keep",
    "holds",
    "settle",
    "failed",
    "read",
    "done_when",
    "finished",
    "check",
    "background",
    "history",
    "last",
)
"""In the order of the long prompt; constraints are part of what holds, and stand before the rest of it."""
SHORT_SECTIONS = (
    "do",
    "holds",
    "settle",
    "failed",
    "read",
    "finished",
    "check",
    "background",
    "history",
    "done_when",
    "keep",
    "last",
)
"""In the short prompt acceptance and constraints stand once, where the long one repeats them."""
UNSAID = frozenset({"background", "history"})
"""Sections whose absence says nothing."""


class Group(msgspec.Struct, frozen=True, gc=False):
    """A line that stands once above all pieces that share it, or a fence around them."""

    key: str
    label: str
    fenced: bool = False

    def opening(self, fence: str) -> str:
        """The line above."""
        return f"<data-{fence} {self.label}>\n" if self.fenced else f"{self.label}\n"

    def closing(self, fence: str) -> str:
        """The line below, empty for a plain heading."""
        return f"</data-{fence}>\n" if self.fenced else ""


class Piece(msgspec.Struct, frozen=True, gc=False):
    """Whole lines for one section."""

    section: str
    order: tuple[str, ...]
    """Sorts pieces within a section; pieces of one group are neighbours."""
    text: str
    groups: tuple[Group, ...] = ()
    long_only: bool = False
    """Left out of the short prompt."""
    slot: str = ""
    """A later piece of the same slot takes the place of this one."""


class Form(msgspec.Struct, frozen=True, gc=False):
    """One way to carry an item."""

    name: str
    """``body``, ``excerpt`` or ``reference``."""
    pieces: tuple[Piece, ...]


def when(text: str | None, words: Words) -> str:
    """An absolute time: the day, and the minute where one is known."""
    moment = instant(text)
    if moment == EPOCH:
        return words["undated"]
    said = str(moment)
    return said[:10] if said[11:19] == "00:00:00" and not moment.microsecond else said[:16]


def clean(text: str) -> str:
    """Text of data for a prompt: no control character but newline and tab, no half of a character."""
    return safe(text, tab="\t")


def entry(text: str, stale: Sequence[StaleValue] = (), words: Words | None = None) -> str:
    """A list entry of one or more lines; what it states of old values is said in front."""
    lines = clean(text).strip("\n").replace("\n", "\n  ")
    mark = f"({stale_mark(stale, words)}) " if stale and words is not None else ""
    return f"- {mark}{lines}\n"


def marked(task: Task, place: str, text: str, words: Words) -> str:
    """What stands at a place of the task, with a mark where it is only what one of two merged copies says."""
    return words["settle.marked"].format(text=text) if contested(task, place) else text


def either(name: str, values: Iterable[Json | None], limit: int, words: Words) -> str:
    """A contested field with all that the copies say of it; None where one took it away."""
    said = [
        words["settle.gone"]
        if value is None
        else words["settle.quote"].format(quote=flat(value_line(value), limit))
        if isinstance(value, str)
        else flat(value_line(value), limit)
        for value in values
    ]
    return words["settle.field"].format(field=flat(name, 120), values=words["settle.or"].join(said))


def claimed(claims: Iterable[Claim]) -> list[Json | None]:
    """What the copies say of a field."""
    return [None if claim.gone else claim.value for claim in claims]


def flat(text: str, limit: int) -> str:
    """Text in one line of at most ``limit`` characters."""
    return one_line(text, limit)


def stale_mark(stale: Sequence[StaleValue], words: Words) -> str:
    """What a block that states old values is marked with: *was X, now Y since T*."""
    said = []
    for value in stale:
        name = "was_unsettled" if not value.settled else "was_now" if value.now is not None else "was"
        old, now = flat(value.old, 80), flat(value.now or "", 80)
        said.append(words[name].format(old=old, now=now, since=when(value.since, words)))
    return words["join"].join(said)
