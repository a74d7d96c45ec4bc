"""What differs since a package was compiled, as a person reads it: words where the records have ids."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.content import Content

from workbench.domain.ids import ALPHABET, LENGTH
from workbench.tui import paint

if TYPE_CHECKING:
    from workbench.domain.package import Difference

_ID = rf"\b[{ALPHABET}]{{{LENGTH}}}\b"
_WORDS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"^{_ID} by (?:agent:|human:)?(\S+)$"), r"\1's attempt"),
    (re.compile(rf"^item {_ID}$"), "an item of the list"),
    (re.compile(rf" \(task {_ID}\)$"), " (another task)"),
    (re.compile(rf" \({_ID}\)$"), ""),
)
"""Where a value or a subject names a record by its id, and how it is said instead."""


def in_words(text: str) -> str:
    """A subject or value of a difference without the ids that mean nothing to a reader."""
    for form, words in _WORDS:
        text = form.sub(words, text)
    return paint.short_ref(text)


def head(difference: Difference) -> Content:
    """What it is that differs."""
    symbol, style = ("! ", "$life-challenged") if difference.stops else ("· ", paint.QUIET)
    return Content.assemble(
        (symbol, style),
        (difference.code.replace("_", " "), style),
        "  ",
        paint.line(in_words(difference.subject), "bold", 160),
        ("" if difference.stops else "  (does not stop)", paint.QUIET),
    )


def change(difference: Difference) -> Content:
    """What it was, and what it is now; empty where neither is known."""
    if difference.was is None and difference.now is None:
        return Content("")
    was, now = (in_words(value) if value is not None else "absent" for value in (difference.was, difference.now))
    return Content.assemble(
        ("was ", paint.QUIET),
        paint.line(was, "$diff-removed", 120),
        (" → now ", paint.QUIET),
        paint.line(now, "$diff-added", 120),
    )


def rows_of(difference: Difference) -> Iterator[Content]:
    """One difference in one or two lines."""
    yield head(difference)
    if changed := change(difference):
        yield Content.assemble("    ", changed)
