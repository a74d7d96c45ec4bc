"""The history of the task's sessions, and the message under the cursor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.tui import paint
from workbench.tui.widgets.framed import Framed
from workbench.tui.widgets.history_list import KIND, SEQ, TOKENS, WHO, WITH_KIND, WITH_SEQ, HistoryList, begins
from workbench.tui.widgets.message_pane import MessagePane
from workbench.tui.widgets.pane import FilteredPane, FilterLine
from workbench.tui.widgets.task_pane import session_standing

if TYPE_CHECKING:
    from workbench.services.view import HistoryView, MessageView, SessionView, View

EMPTY = Content.assemble(
    ("No session is attached to this task yet.\n", "$label"),
    ("S", "bold $focus"),
    (" shows those that agents keep for this repository; the messages of the one you take\n", "$quiet"),
    ("appear here as the agent works. From a shell: workbench session attach @ latest", "$quiet"),
)
IN_CONTEXT = "in context "
FRAME = 7
"""Cells of a frame's upper line that the detail of a title cannot have."""
AGE_EVERY = 60.0
"""Seconds after which ages are written anew."""
NONE_IN_CONTEXT = Content.styled("No message is in the model's context now. C shows all.", "$quiet")
_MANY = 1_000
"""Messages from which on a filter waits for the words."""
NOT_FOUND = Content.styled("No message holds these words. esc clears the filter.", "$quiet")


class _Box(Vertical, Framed):
    """The frame of the list."""


class HistoryPane(FilteredPane):
    """List above, message below."""

    NUMBER = "2"
    NAME = "history"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._filtered = False
        self.narrowed = False
        """Whether only what is in the model's context now is shown."""
        self._before = False
        """The same, when rows were last shown."""
        self._home: str | None = None
        """The message that the cursor belongs on; what hides it puts the cursor elsewhere for a while."""
        self._put: str | None = None
        """Where it was put; as long as the person leaves it there, it goes back home."""

    def compose(self) -> ComposeResult:
        """List, figure, filter line, message."""
        with _Box(id="history-box"):
            yield Static(Content(""), id="history-head", markup=False)
            yield HistoryList(id="history", empty=paint.READING)
            yield Static(Content(""), id="figure", markup=False)
            yield from self.compose_filter()
        yield MessagePane()

    def on_mount(self) -> None:
        """Nothing is marked yet; how long ago a session ended grows by itself."""
        self.query_one("#figure").display = False
        self.set_interval(AGE_EVERY, self._age)

    def _age(self) -> None:
        if self.view is not None and self.list.heads:
            self.list.heads = self._heads(self.view, self.list.rows)

    @property
    def frame(self) -> Framed:
        """The frame of the list."""
        return self.query_one("#history-box", Framed)

    @property
    def home(self) -> Widget:
        """The list."""
        return self.list

    @property
    def list(self) -> HistoryList:
        """The messages."""
        return self.query_one(HistoryList)

    @property
    def message(self) -> MessagePane:
        """The message under the list."""
        return self.query_one(MessagePane)

    def part(self, view: View) -> object:
        """What its mark tells of the history, or without one the history, and how its sessions stand."""
        history = view.history
        return history.mark or history, history.cited, history.absent, view.sessions

    @property
    def has_many(self) -> bool:
        """Whether looking through all messages takes longer than a key."""
        return self.view is not None and len(self.view.history.messages) > _MANY

    def show(self, view: View) -> None:
        """Show the rows that hold the words, of all or of those in context."""
        history, words = view.history, self.words
        rows = self._in_context(history) if self.narrowed else history.messages
        self.list.empty = EMPTY if not history.messages else NOT_FOUND if words else NONE_IN_CONTEXT
        rows = rows if not words else tuple(m for m in rows if holds(m, words))
        self.list.heads = self._heads(view, rows)
        self._place(history, rows)
        self.list.keep_known()
        self._write_title(history, rows)
        self._figure(history)
        self.message.show(self.list.current)

    def _place(self, history: HistoryView, rows: Sequence[MessageView]) -> None:
        """Show rows, the cursor on the message on which the person left it, or the nearest to that."""
        filtered, stood = self._filtered, self.list.current_id
        self._filtered, before, self._before = bool(self.words), self._before, self.narrowed
        # A hit stays under the cursor when the filter goes: the last hit is not the end of the history.
        hit = filtered and not self._filtered and stood is not None
        home = self._home if stood == self._put and not hit else stood
        alike = not filtered and not self._filtered and before == self.narrowed
        follow = alike and home == stood
        followed = follow and self.list.at_end
        self.list.known = history.messages
        self.list.show_rows(rows, follow=follow, home=home)
        self._put = self.list.current_id
        self._home = self._put if followed else home

    def _in_context(self, history: HistoryView) -> Sequence[MessageView]:
        from workbench.services.rows import in_context  # loaded with the services, after the first picture

        return in_context(history.messages)

    def narrow(self, on: bool) -> None:
        """Show only what is in the model's context now, or all messages."""
        self.narrowed = on
        if self.view is not None:
            self.show(self.view)

    def _heads(self, view: View, rows: Sequence[MessageView]) -> dict[str, Content]:
        """A heading where each session begins, where there are several: numbers begin anew with each."""
        every = view.history.messages
        # Session after session: where the first and the last row are of one, all are.
        if not every or every[0].message.session == every[-1].message.session:
            return {}
        known = {f"{s.agent}:{s.id}": s for s in view.sessions}
        starts = begins(rows)
        ends = [start - 1 for start in (*starts[1:], len(rows))]
        return {
            (first := rows[start]).message.ref: self._head(first, rows[end], known.get(first.message.session))
            for start, end in zip(starts, ends, strict=True)
        }

    def _head(self, begin: MessageView, end: MessageView, session: SessionView | None) -> Content:
        agent, _, id_ = begin.message.session.partition(":")
        first, last = (paint.clock(row.message.at, self.now) for row in (begin, end))
        when = f"{first}–{last}" if first != last else first
        title = session.title if session is not None and session.title else id_[:8]
        standing = session_standing(session, self.now) if session is not None else ("", "")
        # The title comes last: it is what may be cut.
        parts = [(agent, "$label bold"), standing, (when, paint.QUIET), (title, paint.LABEL)]
        return Content.assemble(
            ("── ", "$rule"), paint.fit_parts([part for part in parts if part[0]]), (" ──", "$rule")
        )

    def _write_title(self, history: HistoryView, rows: Sequence[MessageView]) -> None:
        detail = self._narrowed(history, rows) if self.narrowed else self._detail(history, len(rows))
        self.frame.retitle(self.head(Content.assemble(self._hidden_marks(), detail)))

    def _narrowed(self, history: HistoryView, rows: Sequence[MessageView]) -> Content:
        """What is shown of a history that is narrowed to what the model has, and its tokens; shorter where it must."""
        from workbench.services.rows import cost

        total, tokens = len(history.messages), cost(rows)
        if not total:
            return Content("")
        room = self.frame.outer_size.width - self.head().cell_length - FRAME - self._hidden_marks().cell_length
        numbers = f"{len(rows):,} of {paint.plural(total, 'message')} · {paint.count(tokens)} tokens"
        if len(numbers) > room - len(IN_CONTEXT):
            numbers = f"{len(rows):,} of {total:,} · {paint.short(tokens)} tokens"
        return Content.assemble((IN_CONTEXT, "$info"), (numbers, paint.QUIET), self._gone(history))

    def _detail(self, history: HistoryView, shown: int) -> Content:
        total = len(history.messages)
        if not total:
            return Content("")
        number = paint.plural(total, "message") if shown == total else f"{shown:,} of {paint.plural(total, 'message')}"
        kept = f"{paint.count(history.tokens_kept)} of {paint.count(history.tokens_all)} tokens kept"
        return Content.assemble((f"{number} · {kept}", paint.QUIET), self._gone(history))

    def _hidden_marks(self) -> Content:
        """How many are marked, where some of them are not shown: a trim takes those too."""
        hidden = self.list.hidden_marks
        text = f"{len(self.list.marks):,} marked, {hidden:,} not shown · " if hidden else ""
        return Content.styled(text, "$warn")

    def _gone(self, history: HistoryView) -> Content:
        gone = f" · {paint.plural(len(history.absent), 'session')} not on this machine" if history.absent else ""
        return Content.styled(gone, "$warn")

    def on_resize(self) -> None:
        """The heads stand above their columns; a title fits its frame."""
        if self.narrowed and self.view is not None:
            self._write_title(self.view.history, self.list.rows)
        width = self.list.scrollable_content_region.width - 1
        parts: list[Content | str | tuple[str, str]] = ["   "]
        if width >= WITH_SEQ:
            parts += [paint.word("#", SEQ, right=True), " "]
        parts += [paint.word("who", WHO), " "]
        if width >= WITH_KIND:
            parts += [paint.word("kind", KIND), " "]
        parts += [paint.word("tokens", TOKENS, right=True), " ", "mem  ", "what"]
        self.query_one("#history-head", Static).update(paint.fit(paint.join(parts), max(0, width)))

    @on(HistoryList.Moved)
    def _moved(self) -> None:
        self.message.show(self.list.current)

    @on(HistoryList.Marked)
    def _marked(self) -> None:
        if self.view is not None:
            self._write_title(self.view.history, self.list.rows)
            self._figure(self.view.history)

    def _figure(self, history: HistoryView) -> None:
        marks = self.list.marks
        figure = self.query_one("#figure", Static)
        figure.display = bool(marks)
        if marks:
            figure.update(figure_line(history, marks))

    def reveal(self, ref: str) -> bool:
        """Put the cursor on a message, what hides it taken away; whether it is here."""
        if self.list.go_to(ref):
            return True
        if self.narrowed:
            self.narrow(False)
        if self.words:
            self.query_one(FilterLine).value = ""
            if self.view is not None:
                self.show(self.view)
        return self.list.go_to(ref)


def holds(row: MessageView, words: str) -> bool:
    """Whether a row holds all the words, in any order."""
    message = row.message
    text = f"{paint.gist(message)} {message.kind} {paint.speaker(message)[0]}".lower()
    return all(word in text for word in words.split())


def figure_line(history: HistoryView, marks: frozenset[str]) -> Content:
    """What marking saves so far, and in what: most of a history is carried by no package anyway."""
    saved = sum(r.tokens for r in history.messages if r.message.ref in marks and r.fate.disposition == "kept")
    after = history.tokens_kept - saved
    return Content.assemble(
        (f" {paint.plural(len(marks), 'message')} marked ", "bold"),
        (paint.count(history.tokens_kept), ""),
        (" → ", paint.QUIET),
        (f"{paint.count(after)} tokens", "bold $good"),
        (" of this history", ""),
    )
