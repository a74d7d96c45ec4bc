"""The review list: what was found in the sessions, the few that stand before the person first."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Input, Static

from workbench.domain.fact import value_text
from workbench.errors import WorkbenchError
from workbench.tui import paint
from workbench.tui.keys import bindings
from workbench.tui.screens.ask import AskText
from workbench.tui.screens.modal import Modal
from workbench.tui.widgets.found_list import EMPTY, NOT_FOUND, FoundList, holds_words
from workbench.tui.widgets.key_bar import BarKey
from workbench.tui.widgets.pane import FilterLine

if TYPE_CHECKING:
    from workbench.services.following import Heard
    from workbench.services.reviewing import Found, Review

What = Literal["accept", "refuse", "both", "skip", "settle", "undo"]


@dataclass(frozen=True)
class FoundAct:
    """What the person does about a line."""

    what: What
    one: Found | None = None
    text: str | None = None
    """Another value or wording; of a refusal, why."""


Do = Callable[[FoundAct], Awaitable["Review"]]
Read = Callable[[], Awaitable["Review"]]


class FoundScreen(Modal[str]):
    """Lines to keep or refuse, one key each; the answer is a message to go to.

    Args:
        review: What there is.
        do: Carries an act out, and gives what there is then.
        read: Gives what there is now; asked whenever the app has a new view.
        now: For the ages.
        refusal: Why nothing can be decided here; empty where it can.
    """

    WIDE = True
    KEY_LINES = 2
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "accept", "keep"), *bindings("found")]

    shown: reactive[Review | None] = reactive(None, always_update=True)

    def __init__(self, review: Review, do: Do, read: Read, now: datetime, refusal: str = "") -> None:
        super().__init__()
        self._first, self._do, self._read, self._now, self._refusal = review, do, read, now, refusal
        self._busy = False
        self._acts = 0
        """Counts up when an act begins and when it ends: what was read before is old then."""
        self._news = asyncio.Event()
        self._places: dict[str, int] = {}
        """Where the lines that stand before the person stood first: what arrives comes behind them."""

    def content(self) -> ComposeResult:
        """The lines, the words to look for, and what it saves."""
        yield FoundList(self._now)
        yield FilterLine()
        yield Static(Content(""), id="gain", markup=False)

    def on_mount(self) -> None:
        """Show what was given."""
        self.shown = self._first
        self.query_one(FoundList).focus()
        self.watch(self.app, "view", self._news.set, init=False)
        self._keep_up()

    @work(group="look", exit_on_error=False)
    async def _keep_up(self) -> None:
        """Show what arrives while the list is open; what the person types, and the line she is on, stay."""
        while True:
            await self._news.wait()
            self._news.clear()
            acts = self._acts
            try:
                review = await self._read()
            except WorkbenchError:
                continue  # the app says so, and looks again
            if acts == self._acts and not self._busy and review != self.shown:
                self.shown = review

    def keys(self) -> list[BarKey]:
        """What can be done about the line under the cursor."""
        one = self._one
        able = one is not None and not self._refusal
        return [
            BarKey("enter", "keep", "accept", able),
            BarKey("e", "edit", "edit", able),
            BarKey("x", "refuse", "refuse", able),
            BarKey("space", "skip", "skip", able and bool(one and one.offered), 1),
            BarKey("s", "side by side", "settle", able and bool(one and one.fact and one.fact.against), 4, "compare"),
            BarKey("b", "keep both", "both", able and bool(one and one.apart), 3, "both"),
            BarKey("m", "message", "message", bool(one and one.ref), 2),
            BarKey("u", "undo", "undo", not self._refusal, 1),
            BarKey("/", "search", "search", spare=3),
        ]

    @property
    def _one(self) -> Found | None:
        return self.query_one(FoundList).current if self.is_mounted else None

    def watch_shown(self) -> None:
        """Other lines; the cursor stays where it stood."""
        if self.shown is None:
            return
        words = self.query_one(FilterLine).value.strip().lower()
        rows = self.query_one(FoundList)
        for one in self.shown.offered:
            self._places.setdefault(one.id, len(self._places))
        offered, rest = (
            [one for one in part if not words or holds_words(one, words)]
            for part in (sorted(self.shown.offered, key=lambda one: self._places[one.id]), self.shown.rest)
        )
        rows.empty = NOT_FOUND if words else EMPTY
        rows.show_found(offered, rest)
        self._heads(self.shown)
        self.refresh_keys()

    def _heads(self, shown: Review) -> None:
        number = len(shown.offered)
        more = f", {shown.held} more after {'it' if number == 1 else 'them'}" if shown.held else ""
        waits = f"{number} to look at{more}" if number or shown.held else "nothing waits for you"
        self.box.border_title = Content.assemble(
            (" found in your sessions ", "bold"), (f"{waits} ", "$life-proposed" if number else paint.QUIET)
        )
        line = self.query_one("#gain", Static)
        line.update(gain(shown.heard, line.size.width or self.app.size.width))

    def on_resize(self) -> None:
        """Another width holds more or less."""
        if self.shown is not None:
            self._heads(self.shown)

    # Keys.

    def on_line_list_moved(self) -> None:
        """Other keys for another line."""
        self.refresh_keys()

    def on_line_list_opened(self, event: FoundList.Opened) -> None:
        """Enter keeps it."""
        event.stop()
        self.action_accept()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow the lines while words are typed."""
        event.stop()
        self.watch_shown()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Back to the lines."""
        event.stop()
        line = self.query_one(FilterLine)
        line.display = bool(line.value.strip())
        self.query_one(FoundList).focus()

    def action_search(self) -> None:
        """Type the words that lines must hold."""
        self.query_one(FilterLine).open()

    def action_close(self) -> None:
        """First the filter, then the list."""
        line = self.query_one(FilterLine)
        if line.display:
            line.display, line.value = False, ""
            self.query_one(FoundList).focus()
        else:
            self.dismiss(None)

    def _act(self, what: What, text: str | None = None, one: Found | None = None) -> None:
        one = one or self._one
        if self._refusal:
            self.notify(self._refusal, severity="warning", markup=False)
        elif not self._busy and (one is not None or what == "undo"):
            self._carry_out(FoundAct(what, one, text))

    @work(group="found", exit_on_error=False)
    async def _carry_out(self, act: FoundAct) -> None:
        self._busy, self._acts = True, self._acts + 1
        try:
            self.shown = await self._do(act)
        finally:
            self._busy, self._acts = False, self._acts + 1

    def action_accept(self) -> None:
        """It is so."""
        self._act("accept")

    def action_skip(self) -> None:
        """Leave it as it is, and ask no more."""
        one = self._one
        if one is not None and one.offered:
            self._act("skip")
        else:
            self.notify("Nobody asks about this line.", markup=False)

    def action_settle(self) -> None:
        """Old and new side by side."""
        self._if(self._one is not None and self._one.fact is not None and bool(self._one.fact.against), "settle")

    def action_both(self) -> None:
        """For this task alone."""
        self._if(self._one is not None and self._one.apart is not None, "both")

    def _if(self, can: bool, what: What) -> None:
        if can:
            self._act(what)
        else:
            self.notify("There is no other value beside this one.", markup=False)

    def action_undo(self) -> None:
        """Take back the last change."""
        self._act("undo")

    def action_edit(self) -> None:
        """Change the value or the wording, then keep it."""
        one = self._one
        if one is None or self._refusal:
            self._act("accept")  # says why not
            return

        def done(text: str | None) -> None:
            if text is not None:
                self._act("accept", text, one)

        stands = value_text(one.fact.fact.value) if one.fact else one.text
        what = Content.assemble(paint.line(one.fact.key, "bold", 80), " is:") if one.fact else Content("The open item:")
        self.app.push_screen(AskText("edit and keep", what, value=stands), done)

    def action_refuse(self) -> None:
        """It is not so; why may stay empty."""
        one = self._one
        if one is None or self._refusal:
            self._act("refuse")  # says why not
            return

        def done(why: str | None) -> None:
            if why is not None:
                self._act("refuse", why, one)

        about = Content.assemble(
            paint.line(one.text, "bold", 300), "\n", ("It is not asked again, in other words either.", paint.QUIET)
        )
        self.app.push_screen(AskText("refuse", about, optional=True, hint="why (may stay empty)"), done)

    def action_message(self) -> None:
        """Go to the message it was said in."""
        one = self._one
        if one is not None and one.ref:
            self.dismiss(one.ref)
        else:
            self.notify("It was not said in a session.", markup=False)


def gain(told: Heard, width: int) -> Content:
    """What the sessions held and what carrying only that would save, measured; shorter where it is narrow."""
    if not told.sentences:
        return Content("")
    smaller = f"{told.ratio} times smaller" if told.after and told.ratio > 1 else "no smaller"
    figures = f"{paint.short(told.before)} → {paint.short(told.after)} tokens"
    advice = ": carry the whole where it fits" if told.saves_little else ""
    share = f"{paint.plural(told.sentences, 'sentence')}, {told.process / told.sentences:.0%} process"
    ways = (
        f"read as {told.form} · {share} · {figures} ({told.tokenizer}), {smaller}{advice}",
        f"{share} · {figures}, {smaller}",
        f"{share}, {smaller}",
    )
    return Content.styled(next((way for way in ways if len(way) <= width), ways[-1]), paint.QUIET)
