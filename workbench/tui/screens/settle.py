"""Settle a proposal: old and new beside each other, where each comes from, and what rests on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from workbench.domain.fact import Fact, Source, value_text
from workbench.tui import paint
from workbench.tui.desk import Settling
from workbench.tui.keys import bindings
from workbench.tui.screens.ask import AskText
from workbench.tui.screens.modal import Modal
from workbench.tui.widgets.key_bar import BarKey
from workbench.tui.widgets.task_pane import TaskScroll

SOURCES_SHOWN = 3


@dataclass(frozen=True)
class SettleAnswer:
    """What the person decided."""

    fact: str
    confirm: bool
    value: str | None = None
    """Another value to confirm instead."""
    why: str = ""
    task: str | None = None
    """The task for which alone it shall hold."""
    same_as: str = ""
    """Another key that this one is the same as; settled again after joining them."""
    message: str = ""
    """A message to go to instead of deciding."""


class SettleScreen(Modal[SettleAnswer]):
    """Confirm, edit and confirm, reject, or look at the message first."""

    WIDE = False
    KEY_LINES = 2
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "confirm", "confirm"), *bindings("settle")]

    def __init__(self, settling: Settling, now: datetime) -> None:
        super().__init__()
        self._it, self._now = settling, now

    def content(self) -> ComposeResult:
        """Two columns, one under the other where it is narrow; then what rests on it."""
        fact = self._it.proposal.fact
        with TaskScroll(id="settle-scroll"):
            yield Static(paint.stack(self._head(fact)), markup=False)
            with Container(id="sides", classes="gap"):
                yield Static(paint.stack(self._old()), markup=False, classes="side -old")
                yield Static(paint.stack(self._side(fact, "new", "$diff-added")), markup=False, classes="side -new")
            yield Static(paint.stack(self._rests()), markup=False, classes="gap")

    def on_mount(self) -> None:
        """The title is the key."""
        self.box.border_title = Content.assemble(
            (" settle ", "bold"), paint.line(self._it.proposal.key, "$life-proposed", 60), " "
        )
        self.query_one("#settle-scroll").focus()

    def keys(self) -> list[BarKey]:
        """What can be decided."""
        return [
            BarKey("enter", "confirm", "confirm"),
            BarKey("e", "edit", "edit"),
            BarKey("x", "reject", "reject"),
            BarKey("b", "keep both", "both", self._it.task is not None, 2),
            BarKey("=", "same key", "same", spare=3),
            BarKey("m", "its message", "message", bool(self._message())),
        ]

    def _head(self, fact: Fact) -> Iterator[Content]:
        scope = "holds for every task" if fact.scope == "workspace" else "holds for this task"
        yield Content.styled(f"{fact.kind} · {scope}", paint.QUIET)

    def _old(self) -> Iterator[Content]:
        if self._it.active is None:
            yield Content.styled("now", "$label bold")
            yield Content.styled("nothing holds yet for this key", paint.QUIET)
        else:
            yield from self._side(self._it.active, "now", "$diff-removed")
        for other in self._it.others:
            yield Content("")
            yield from self._side(other, "also", "$life-contested")

    def _side(self, fact: Fact, title: str, style: str) -> Iterator[Content]:
        sign = "+ " if title == "new" else "- "
        yield Content.styled(title, "$label bold")
        yield Content.assemble((sign, style), paint.line(value_text(fact.value), f"{style} bold", 600))
        if fact.statement:
            yield paint.line(fact.statement, limit=600)
        word, trust_style = paint.TRUST[fact.trust]
        yield Content.assemble((word, trust_style), (f" · version {fact.version}", paint.QUIET))
        for source in fact.sources[-SOURCES_SHOWN:]:
            yield from self._source(source)
        if len(fact.sources) > SOURCES_SHOWN:
            yield Content.styled(f"… and {len(fact.sources) - SOURCES_SHOWN} sources before", paint.QUIET)
        if fact.reason:
            yield Content.assemble(("because ", paint.QUIET), paint.line(fact.reason, limit=400))

    def _source(self, source: Source) -> Iterator[Content]:
        if source.quote:
            yield Content.assemble(("“", paint.QUIET), paint.line(source.quote, "italic", 600), ("”", paint.QUIET))
        at = paint.clock(source.at, self._now)
        by = paint.line(source.by or "unknown", "$who-human" if source.by.startswith("human:") else "", 40)
        yield Content.assemble(("said by ", paint.QUIET), by, (f" {at}" if at else "", paint.QUIET))
        if source.ref:
            yield Content.assemble(
                (f"{source.type} ", paint.QUIET), paint.line(paint.short_ref(source.ref), paint.QUIET, 120)
            )

    def _rests(self) -> Iterator[Content]:
        yield Content.styled("what rests on it", "$label bold")
        for row in self._it.depends:
            yield Content.assemble(("· ", paint.QUIET), paint.line(row, limit=200))
        if not self._it.depends:
            yield Content.styled("nothing that is open", paint.QUIET)

        if self._it.look_alikes:
            names = ", ".join(self._it.look_alikes)
            yield Content.assemble(
                ("looks like ", "$warn"), paint.line(names, limit=200), (": = joins them", paint.QUIET)
            )

    def _message(self) -> str:
        fact = self._it.proposal.fact
        return next((s.ref for s in reversed(fact.sources) if s.type == "session" and s.ref), "")

    def action_confirm(self) -> None:
        """The new value holds."""
        self.dismiss(SettleAnswer(self._it.proposal.fact.id, True))

    def action_both(self) -> None:
        """It holds for this task alone."""
        if self._it.task is None:
            self.notify("There is no second value, or no task that it could hold for alone.", markup=False)
        else:
            self.dismiss(SettleAnswer(self._it.proposal.fact.id, True, task=self._it.task))

    def action_same(self) -> None:
        """It is another key's value; say whose."""
        fact = self._it.proposal.fact

        def done(key: str | None) -> None:
            if key:
                self.dismiss(SettleAnswer(fact.id, False, same_as=key))

        about = Content.assemble(paint.line(self._it.proposal.key, "bold"), " leads to this key from now on:")
        near = self._it.look_alikes[0] if self._it.look_alikes else ""
        self.app.push_screen(AskText("same key as another", about, value=near, hint="the other key"), done)

    def action_message(self) -> None:
        """Look at the message it was said in."""
        ref = self._message()
        if ref:
            self.dismiss(SettleAnswer(self._it.proposal.fact.id, False, message=ref))
        else:
            self.notify("It was not said in a session.", markup=False)

    def action_edit(self) -> None:
        """Change the value, then confirm."""
        fact = self._it.proposal.fact

        def done(value: str | None) -> None:
            if value is not None:
                self.dismiss(SettleAnswer(fact.id, True, value=value))

        about = Content.styled("This value is confirmed in place of the proposed one.", paint.QUIET)
        self.app.push_screen(AskText("edit and confirm", about, value=value_text(fact.value)), done)

    def action_reject(self) -> None:
        """The old value stays; say why."""
        fact = self._it.proposal.fact

        def done(why: str | None) -> None:
            if why is not None:
                self.dismiss(SettleAnswer(fact.id, False, why=why))

        about = Content.assemble("What holds now stays. ", ("The reason is kept with the proposal.", paint.QUIET))
        self.app.push_screen(AskText("reject", about, hint="why"), done)
