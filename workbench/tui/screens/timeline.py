"""The timeline of a record: who changed what, when and why, field by field; and the way back to any of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from textual.app import ComposeResult
from textual.content import Content

from workbench.domain.fact import value_text
from workbench.services.view import Step
from workbench.tui import paint
from workbench.tui.screens.modal import Modal
from workbench.tui.widgets.key_bar import BarKey
from workbench.tui.widgets.line_list import LineList

MOST_FIELDS = 8
"""Fields of one change that are listed; how many more there are is said."""
FIRST = frozenset({"value", "statement", "title"})
"""Fields that stand before all others: of many they are not those that are left off."""
WIDE_FROM = 80
"""Cells from which fields stand under what was done, and not under the time."""
EMPTY = Content.styled("Nothing is recorded of it.", "$quiet")


class StepList(LineList[Step]):
    """One change a row: a line that says what was done, and one for each field."""

    def __init__(self, now: datetime) -> None:
        super().__init__(id="steps", empty=EMPTY)
        self._now = now

    def row_id(self, row: Step) -> str:
        """The change's id; one may have changed several records of a key."""
        return f"{row.change} {row.earlier.id}" if row.earlier is not None else row.change

    def row_height(self, row: Step) -> int:
        """The head and its fields."""
        fields = len(row.differences)
        return 1 + min(fields, MOST_FIELDS) + (fields > MOST_FIELDS) + bool(row.why)

    def row_lines(self, row: Step, width: int) -> Sequence[Content]:
        """What was done, why, and what became of each field."""
        fate = (" took it away", "$warn") if row.gone else ("", "")
        of = Content("")
        if row.earlier is not None:
            of = Content.assemble(paint.line(value_text(row.earlier.value), "bold", 40), (" before it  ", paint.QUIET))
        head = Content.assemble(
            (f"{paint.clock(row.at, self._now):>8} ", paint.QUIET),
            of,
            paint.line(paint.who(row.actor), "$label", 40),
            "  ",
            paint.line(row.command, "bold", 200),
            fate,
        )
        rows = [head]
        indent = " " * (9 if width >= WIDE_FROM else 2)
        if row.why:
            rows.append(Content.assemble((f"{indent}because ", paint.QUIET), paint.line(row.why, limit=300)))
        for field in sorted(row.differences, key=lambda field: field.field not in FIRST)[:MOST_FIELDS]:
            rows.append(Content.assemble(indent, paint.line(field.line, limit=max(20, width))))
        left = len(row.differences) - MOST_FIELDS
        if left > 0:
            rows.append(Content.styled(f"{indent}and {paint.plural(left, 'more field')}", paint.QUIET))
        return rows


class TimelineScreen(Modal[Step]):
    """Newest first; enter brings the record back to what it was after the change under the cursor.

    What a fact took the place of is told with it, and brought back by no rollback of it.

    Args:
        title: What the record is called.
        steps: Its changes, newest first.
        now: For the ages.
        why_not: Why nothing can be brought back here; empty where it can.
    """

    WIDE = True

    def __init__(self, title: str, steps: Sequence[Step], now: datetime, why_not: str = "") -> None:
        super().__init__()
        self._title, self._steps, self._now, self._why_not = title, steps, now, why_not

    def content(self) -> ComposeResult:
        """The changes."""
        yield StepList(self._now)

    def on_mount(self) -> None:
        """Show the changes; the title is the record."""
        title = paint.line(self._title, "$focus", 60)
        number = f" · {paint.plural(len(self._steps), 'change')} "
        self.box.border_title = Content.assemble((" timeline ", "bold"), title, (number, paint.QUIET))
        rows = self.query_one(StepList)
        rows.show_rows(self._steps)
        rows.focus()

    def keys(self) -> list[BarKey]:
        """Enter goes back to then."""
        own = sum(step.earlier is None for step in self._steps)
        return [BarKey("enter", "as it was then", "take", not self._why_not and own > 1)]

    def action_take(self) -> None:
        """Answer with the change under the cursor."""
        current = self.query_one(StepList).current
        if self._why_not:
            self.notify(self._why_not, severity="warning", markup=False)
        elif current is not None and current.earlier is not None:
            value = paint.line(value_text(current.earlier.value), limit=60).plain
            self.notify(f"{value} was another fact: e on the fact lets it hold again.", markup=False)
        elif current is not None:
            self.dismiss(current)

    def on_line_list_opened(self) -> None:
        """Enter."""
        self.action_take()
