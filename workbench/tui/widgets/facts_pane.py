"""The fact registry: what needs a decision first, with what it would replace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.content import Content
from textual.widget import Widget

from workbench.domain.fact import value_text
from workbench.tui import paint
from workbench.tui.questions import open_questions
from workbench.tui.widgets.line_list import LineList
from workbench.tui.widgets.pane import FilteredPane

if TYPE_CHECKING:
    from workbench.services.view import FactView, View

EMPTY = Content.assemble(
    ("No facts yet.\n", "$label"),
    ("+", "bold"),
    (" records what holds; so does ", "$quiet"),
    ("workbench fact propose KEY VALUE", "bold"),
    (". Agents propose theirs that way, and you settle them here with s.", "$quiet"),
)
NOT_FOUND = Content.styled("No fact holds these words. esc clears the filter.", "$quiet")
TRUST_WIDTH = 9
SHORT_TRUST = {"reported": "rep.", "verified": "ver.", "authoritative": "auth"}
"""Trust where there is no room for the word; the fact itself (enter) has it in full."""
WITH_TRUST, WITH_SHORT_TRUST = 46, 34
"""Cells from which trust has a column."""
VALUE_LINES = 4
"""Lines that a value may take which does not fit beside its key."""


INDENT = Content("    ")
"""Before what goes on below."""


class FactList(LineList["FactView"]):
    """One line a fact; more where a decision is due, or where a value does not fit beside its key."""

    URGENT_FIRST = True
    key_width = 18

    def row_id(self, row: FactView) -> str:
        """The fact's id."""
        return row.fact.id

    def row_height(self, row: FactView) -> int:
        """As many lines as it has."""
        return len(self.row_lines(row, max(0, self.scrollable_content_region.width - 1)))

    def row_lines(self, row: FactView, width: int) -> Sequence[Content]:
        """Lifecycle, key, value, trust; under them what did not fit, and what stands against it."""
        symbol, style = paint.LIFECYCLE[row.lifecycle]
        trust, trust_style = paint.TRUST[row.fact.trust]
        if width < WITH_TRUST:
            trust = SHORT_TRUST[row.fact.trust] if width >= WITH_SHORT_TRUST else ""
        tail = TRUST_WIDTH + 1 if width >= WITH_TRUST else len(trust) + bool(trust)
        key_width = max(6, min(self.key_width, (width - tail) // 2))
        room = max(4, width - key_width - 3 - tail)
        value = self._value(row)
        head: list[Content | str | tuple[str, str]] = [
            (f"{symbol} ", style),
            paint.word(row.key, key_width, style if row.against else ""),
            " ",
        ]
        beside = value.wrap(room)[0].rstrip() if value.cell_length > room else value
        first: list[Content | str | tuple[str, str]] = [*head, paint.fit(beside, room)]
        if tail:
            first += [" ", paint.word(trust, tail - 1, trust_style)]
        rest = value[len(beside) :]
        wrapped = rest[len(rest) - len(rest.plain.lstrip()) :].wrap(max(8, width - len(INDENT))) if rest else []
        below = [INDENT + line.rstrip() for line in wrapped[: VALUE_LINES - 1]]
        if len(wrapped) >= VALUE_LINES:
            below[-1] = below[-1].truncate(width - 1) + Content("…")
        if row.against and row.lifecycle != "challenged":
            below.append(self._against(row, width))
        return (paint.join(first), *below)

    def _value(self, row: FactView) -> Content:
        quiet = row.lifecycle in ("superseded", "rejected", "retracted") or row.shadowed
        note = " shadowed" if row.shadowed else " review due" if row.past_review else ""
        return Content.assemble(
            paint.line(value_text(row.fact.value), "$quiet" if quiet else "bold", 200), (note, "$warn")
        )

    def _against(self, row: FactView, width: int) -> Content:
        words = {"proposed": "would replace", "contested": "stands against"}
        _, style = paint.LIFECYCLE[row.lifecycle]
        values = ", ".join(value_text(fact.value) for fact in row.against)
        trust, trust_style = paint.TRUST[row.against[0].trust]
        lead, tail = f"  {words.get(row.lifecycle, row.lifecycle)} ", f" ({trust})"
        room = max(8, width - len(lead) - len(tail))
        return Content.assemble((lead, style), paint.line(values).truncate(room, ellipsis=True), (tail, trust_style))


class FactsPane(FilteredPane):
    """Facts in scope of the current task."""

    NUMBER = "3"
    NAME = "facts"

    def compose(self) -> ComposeResult:
        """A list and its filter line."""
        yield FactList(id="facts-list", empty=paint.READING)
        yield from self.compose_filter()

    @property
    def home(self) -> Widget:
        """The list."""
        return self.list

    @property
    def list(self) -> FactList:
        """The facts."""
        return self.query_one(FactList)

    def part(self, view: View) -> object:
        """The facts, and how many finds wait."""
        return view.facts, view.offered

    def show(self, view: View) -> None:
        """Show the facts that hold the words; without words, those that concern the person."""
        words = self.words
        mine = tuple(f for f in view.facts if f.asked)
        rows = mine if not words else tuple(f for f in view.facts if holds(f, words))
        self.list.empty = NOT_FOUND if words and view.facts else EMPTY
        self.list.key_width = max((min(28, paint.width_of(f.key)) for f in rows), default=12)
        self.list.show_rows(rows)
        due = len(open_questions(view.facts))
        number = paint.plural(len(mine), "fact") if mine else ""
        asks = (f"{' · ' * bool(number)}{due} to settle", "$life-proposed") if due else ("", "")
        found = (f"{' · ' * bool(number or due)}{view.offered} found", "$info") if view.offered else ("", "")
        self.retitle(self.head(Content.assemble((number, paint.QUIET), asks, found)))


def holds(row: FactView, words: str) -> bool:
    """Whether a fact holds all the words."""
    fact = row.fact
    text = f"{row.key} {value_text(fact.value)} {fact.statement} {row.lifecycle} {fact.trust} {fact.kind}".lower()
    return all(word in text for word in words.split())
