"""The whole message under the cursor, safe and bounded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from workbench.tui import paint
from workbench.tui.messages import BodyWanted
from workbench.tui.paint import within
from workbench.tui.widgets.framed import Framed
from workbench.tui.widgets.task_pane import TaskScroll

if TYPE_CHECKING:
    from workbench.domain.message import Message, ToolCall
    from workbench.services.view import MessageView

LINES = 1500
"""Lines shown; what is left off is said."""
WIDTH = 4000
ARGUMENT_LINES = 200


class MessagePane(TaskScroll, Framed):
    """One message: who, when, what became of it, and its text."""

    def __init__(self) -> None:
        super().__init__(id="message")
        self.row: MessageView | None = None
        self._full: str | None = None

    def compose(self) -> ComposeResult:
        """A text in the scroll."""
        yield Static(Content(""), markup=False)

    def on_mount(self) -> None:
        """A title before there is a message."""
        self.retitle(self._heading(self.row))
        self._want_body()

    def show(self, row: MessageView | None, full: str | None = None) -> None:
        """Show a message, with its whole text where that is known."""
        other = row is None or self.row is None or row.message.ref != self.row.message.ref
        if row == self.row and full is None:
            return
        self.row, self._full = row, full if full is not None or other else self._full
        self.retitle(self._heading(row))
        self.query_one(Static).update(paint.stack(self._rows(row)) if row else Content(""))
        if other:
            self.scroll_home(animate=False)
            self._want_body()

    def _want_body(self) -> None:
        """Ask for the rest of a message of which memory holds only the beginning."""
        if self.row is not None and self.row.message.clipped and self._full is None:
            # Later, from this widget's own turn: a message made in the app's turn does not bubble up to the app.
            self.call_later(self._ask_for, self.row.message)

    def _ask_for(self, message: Message) -> None:
        self.post_message(BodyWanted(message))

    def _heading(self, row: MessageView | None) -> Content:
        if row is None:
            return Content.styled(" message ", paint.QUIET)
        who, style = paint.speaker(row.message)
        return Content.assemble(
            (" message ", "bold"), (f"{row.message.seq} ", paint.QUIET), (who, style), f" {paint.kind(row.message)} "
        )

    def _rows(self, row: MessageView) -> Iterator[Content]:
        message = row.message
        yield paint.fit_parts(self._facts(row))
        body = self._full if self._full is not None else message.text
        call = message.call
        if call is not None:
            yield paint.line(call.name, "bold", 80)
            yield from arguments(call, message.cwd)
            body = "" if call.args is not None else body
        for item in message.plan:
            box = {"completed": "[x]", "in_progress": "[>]"}.get(item.status, "[ ]")
            yield Content.assemble((f"{box} ", paint.LABEL), paint.line(item.text))
        if body:
            text, left = paint.lines(body, LINES, width=WIDTH)
            yield text
            if left:
                yield Content.styled(f"… {paint.plural(left, 'line')} left off here", paint.QUIET)
        if message.clipped and self._full is None:
            missing = message.size - len(message.text)
            yield Content.styled(f"… {paint.plural(missing, 'character')} are being read", paint.QUIET)
        if row.fate.trim is not None and row.fate.trim.text:
            yield Content.styled("in its place:", paint.LABEL)
            yield paint.lines(row.fate.trim.text, 20)[0]

    def _facts(self, row: MessageView) -> Iterator[tuple[str, str]]:
        message, fate = row.message, row.fate
        how, style = paint.outcome(message)
        if how:
            yield how, style
        if message.at:
            yield message.at[:19].replace("T", " "), paint.QUIET
        yield f"{paint.count(row.tokens)} tokens", paint.QUIET
        yield fate.memory, paint.MEMORY[fate.memory][1]
        if fate.disposition != "kept":
            yield self._by(row), paint.DISPOSITION[fate.disposition][1]
        if fate.pinned:
            yield "pinned", "$warn"
        if row.cited:
            yield "cited", "$good"
        if not message.in_context:
            yield "no longer in the agent's context", "$warn"

    def _by(self, row: MessageView) -> str:
        trim = row.fate.trim
        return row.fate.disposition if trim is None else f"{row.fate.disposition} by {paint.who(trim.by)}"


def arguments(call: ToolCall, cwd: str | None) -> Iterator[Content]:
    """What a call was given: short values beside their names, long ones under them."""
    if not isinstance(call.args, dict):
        if call.command:
            yield paint.lines(call.command, ARGUMENT_LINES, width=WIDTH)[0]
        return
    for name, value in call.args.items():
        text = within(value, cwd) if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False)
        label = paint.line(str(name), paint.LABEL, 60)
        if "\n" not in text:
            yield Content.assemble(label, "  ", paint.lines(text, 1, width=WIDTH)[0])
            continue
        yield label
        shown, left = paint.lines(text, ARGUMENT_LINES, width=WIDTH)
        yield shown
        if left:
            yield Content.styled(f"… {paint.plural(left, 'line')} left off here", paint.QUIET)


def text_to_copy(message: Message) -> str:
    """What ``y`` copies of a message."""
    call = message.call
    return call.command if call is not None and call.command else message.text
