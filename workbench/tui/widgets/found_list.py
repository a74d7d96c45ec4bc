"""Lines that were found in the sessions: what, in whose words, when, and what it would replace."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from textual.content import Content

from workbench.domain.fact import value_text
from workbench.tui import paint
from workbench.tui.widgets.line_list import LineList

if TYPE_CHECKING:
    from workbench.services.reviewing import Found

KIND = 10
SHORT = {"decision": "dec.", "constraint": "rule", "fact": "fact", "open": "open"}
"""Kinds where there is no room for the word."""
WITH_KIND = 66
"""Cells from which the kind has its whole word."""
QUOTE_LINES = 3
EMPTY = Content.assemble(
    ("Nothing was found yet.\n", "$label"),
    (
        "What you and the agents say in the sessions of this task is read as it is written: decisions, constraints, "
        "facts and open items appear here, with the sentence they stand in.",
        "$quiet",
    ),
)
NOT_FOUND = Content.styled("No line holds these words. esc clears the filter.", "$quiet")


class FoundList(LineList["Found"]):
    """What stands before the person with its sentence and source; under it, a line or two each, the rest."""

    def __init__(self, now: datetime) -> None:
        super().__init__(id="found", empty=EMPTY)
        self._now = now
        self._first_rest = ""
        self._number = 0

    def show_found(self, offered: Sequence[Found], rest: Sequence[Found]) -> None:
        """Show other lines; the one under the cursor stays where it is, though a heading comes or goes."""
        stands = self.stands
        self._first_rest = rest[0].id if rest else ""
        self._number = len(rest)
        self.show_rows([*offered, *rest], stands=stands)

    def row_id(self, row: Found) -> str:
        """The record's id."""
        return row.id

    def row_lead(self, row: Found) -> int:
        """A heading above the first line that is kept without asking."""
        return 2 * (row.id == self._first_rest)

    def row_height(self, row: Found) -> int:
        """As many lines as it has."""
        if not row.offered:
            return 2 + self.row_lead(row)
        return len(self.row_lines(row, max(0, self.scrollable_content_region.width - 1)))

    def row_lines(self, row: Found, width: int) -> Sequence[Content]:
        """What is stated; the sentence; who, when, where, and what becomes of it."""
        lead = [Content(""), self._heading(width)] if self.row_lead(row) else []
        shown = [self._head(row, width)]
        if row.offered:
            shown += self._quote(row, width)
            shown += [Content.assemble("  ", part) for part in self._meta(row, width)]
            shown.append(Content(""))
        else:
            shown.append(Content.assemble("  ", self._source(row, width)))
        return [*lead, *shown]

    def _heading(self, width: int) -> Content:
        words = " ── kept without asking, counted nowhere: " if width >= WITH_KIND else " ── kept without asking: "
        return Content.assemble((words, "$label"), (f"{self._number:,}", "$label"), (" ──", "$label"))

    def _head(self, row: Found, width: int) -> Content:
        symbol, style = paint.LIFECYCLE[row.fact.lifecycle] if row.fact else ("☐", paint.QUIET)
        wide = width >= WITH_KIND
        kind = paint.word(row.kind if wide else SHORT.get(row.kind, row.kind), KIND if wide else 4, "$label")
        return Content.assemble((f"{symbol} ", style), kind, " ", _stated(row)).truncate(width, ellipsis=True)

    def _quote(self, row: Found, width: int) -> list[Content]:
        if not row.quote or not _adds(row):
            return []
        wrapped = paint.line(f"“{row.quote}”", "italic", 600).wrap(max(8, width - 2))
        kept = wrapped[:QUOTE_LINES]
        if len(wrapped) > QUOTE_LINES:
            kept[-1] = kept[-1].rstrip().truncate(max(8, width - 3)) + Content("…")
        return [Content.assemble("  ", part.rstrip()) for part in kept]

    def _meta(self, row: Found, width: int) -> Collection[Content]:
        """Who, when and where; what confirming does. On one line where there is room."""
        source, becomes = self._source(row, width), self._becomes(row)
        if source.cell_length + becomes.cell_length + 5 <= width:
            return (Content.assemble(source, (" · ", paint.QUIET), becomes),)
        return source, becomes.truncate(max(8, width - 2), ellipsis=True)

    def _source(self, row: Found, width: int) -> Content:
        by = "you" if row.by.startswith("human:") else paint.who(row.by)
        parts = [
            (by, "$who-human" if row.by.startswith("human:") else "$who-agent"),
            (paint.clock(row.at, self._now), paint.QUIET),
            (row.language, paint.QUIET),
            (paint.short_ref(row.ref), paint.QUIET),
        ]
        return paint.fit_parts((text, style) for text, style in parts if text).truncate(width - 2, ellipsis=True)

    def _becomes(self, row: Found) -> Content:
        if row.fact is None:
            return Content.styled("listed already" if row.accepted else "not on the list yet", paint.QUIET)
        against = row.fact.against
        if against:
            words = ", ".join(value_text(fact.value) for fact in against)
            trust, style = paint.TRUST[against[0].trust]
            return Content.assemble(
                ("replaces ", "$life-proposed"), paint.line(words, "bold", 120), (f" ({trust})", style)
            )
        holds = row.fact.lifecycle == "active"
        return Content.styled("holds already, as reported" if holds else "nothing holds yet", paint.QUIET)


def _stated(row: Found) -> Content:
    """Key and value with what it would replace, or the sentence where no key was read off it."""
    if row.fact is None or not _keyed(row):
        return paint.line(row.text, "bold", 400)
    value = paint.line(value_text(row.fact.fact.value), "bold", 200)
    old = ", ".join(value_text(fact.value) for fact in row.fact.against)
    change = Content.assemble(paint.line(old, "$diff-removed", 120), " → ") if old else Content("")
    return Content.assemble(paint.line(row.fact.key, "$focus", 80), " = ", change, value)


def _keyed(row: Found) -> bool:
    return row.fact is not None and row.fact.fact.value != row.fact.fact.statement


def _adds(row: Found) -> bool:
    """Whether the sentence says more than the line above it."""
    return _keyed(row) or row.quote.strip(" .。") != row.text.strip(" .。")


def holds_words(row: Found, words: str) -> bool:
    """Whether a line holds all the words."""
    value = value_text(row.fact.fact.value) if row.fact else ""
    text = f"{row.kind} {row.text} {row.quote} {row.by} {row.fact.key if row.fact else ''} {value}".lower()
    return all(word in text for word in words.split())
