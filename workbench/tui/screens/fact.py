"""One fact: value, statement, sources, what was decided about it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from workbench.domain.fact import value_text
from workbench.services.view import FactView
from workbench.tui import paint
from workbench.tui.screens.modal import Modal
from workbench.tui.widgets.task_pane import TaskScroll


class FactScreen(Modal[None]):
    """Read only."""

    def __init__(self, row: FactView, now: datetime) -> None:
        super().__init__()
        self._row, self._now = row, now

    def content(self) -> ComposeResult:
        """A text."""
        with TaskScroll():
            yield Static(paint.stack(self._rows()), markup=False)

    def on_mount(self) -> None:
        """The title is the key."""
        self.box.border_title = Content.assemble((" fact ", "bold"), paint.line(self._row.key, "$focus", 60), " ")

    def _rows(self) -> Iterator[Content]:
        fact = self._row.fact
        symbol, style = paint.LIFECYCLE[self._row.lifecycle]
        word, trust_style = paint.TRUST[fact.trust]
        yield Content.assemble(
            (f"{symbol} {self._row.lifecycle}", style),
            (" · ", paint.QUIET),
            (word, trust_style),
            (f" · {fact.kind} · version {fact.version}", paint.QUIET),
        )
        yield paint.lines(value_text(fact.value), 30, "bold")[0]
        if fact.statement:
            yield paint.line(fact.statement, limit=1000)
        if self._row.replaced:
            values = ", ".join(value_text(old.value) for old in self._row.replaced)
            yield Content.assemble(("replaced ", paint.QUIET), paint.line(values, limit=300))
        if fact.reason:
            yield Content.assemble(("because ", paint.QUIET), paint.line(fact.reason, limit=600))
        yield Content("")
        yield Content.styled("where it comes from", "$label bold")
        for source in fact.sources[-20:]:
            at = paint.clock(source.at, self._now)
            yield Content.assemble(
                ("· ", paint.QUIET),
                paint.line(source.by or source.type, limit=60),
                (f" {at} ", paint.QUIET),
                paint.line(paint.short_ref(source.ref or ""), paint.QUIET, 160),
            )
            if source.quote:
                yield Content.assemble("  “", paint.line(source.quote, "italic", 600), "”")
        if fact.acts:
            yield Content("")
            yield Content.styled("what was decided", "$label bold")
        for act in fact.acts[-20:]:
            yield Content.assemble(
                (f"· {act.act} ", ""),
                ("by ", paint.QUIET),
                paint.line(act.by, limit=60),
                (f" {paint.clock(act.at, self._now)} ", paint.QUIET),
                paint.line(act.why, paint.QUIET, 300),
            )
