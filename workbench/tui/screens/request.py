"""What the model saw: one request in four parts, then message by message, in the order in which it was sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Static

from workbench.services.request import PARTS, UNRECORDED, RequestView, Share
from workbench.tui import paint
from workbench.tui.keys import bindings
from workbench.tui.screens.modal import Modal
from workbench.tui.widgets.key_bar import BarKey
from workbench.tui.widgets.line_list import LineList

NAME, TOKENS, KIND, SEQ = 12, 8, 7, 5
WITH_KIND, WITH_SEQ = 60, 72
"""Cells from which the kind and the number have their columns."""
_PART = {"instructions": "$who-system", "person": "$who-human", "tools": "$who-tool", "agent": "$who-agent"}
EMPTY = Content.styled("The file holds nothing of what this request carried.", "$quiet")


@dataclass(frozen=True)
class Asked:
    """What the person wants to see next: another request, or a message in the history."""

    request: str = ""
    message: str = ""


@dataclass(frozen=True)
class Row:
    """One line: a message, a stated text, or what is not recorded."""

    id: str
    part: str
    what: str
    tokens: int | None
    text: str
    seq: str = ""
    new: bool = False
    recorded: bool = True


def rows_of(found: RequestView) -> Iterator[Row]:
    """The lines of a request: what stands before the conversation, then its messages."""
    missing = found.parts[0].not_recorded
    if missing != 0:
        yield Row("", "instructions", "", missing, f"not recorded: {UNRECORDED}", recorded=False)
    for stated in found.stated:
        yield Row("", "instructions", "states", stated.tokens, f"{stated.name}: {stated.text[:1600]}")
    for row in found.messages:
        message = row.message
        text = paint.gist(message) if message.call is not None or message.plan else row.text[:1600]
        yield Row(message.ref, row.part, paint.kind(message), row.tokens, text, str(message.seq), row.new)


class RequestList(LineList[Row]):
    """One line a message; what the request before did not carry has a plus."""

    def row_id(self, row: Row) -> str:
        """The message's id, with its session."""
        return row.id

    def row_lines(self, row: Row, width: int) -> Sequence[Content]:
        """New or not, number, part, kind, tokens, text; fewer columns where it is narrow."""
        parts: list[Content | str | tuple[str, str]] = [("+ ", "$good") if row.new else "  "]
        if width >= WITH_SEQ:
            parts += [paint.word(row.seq, SEQ, paint.QUIET, right=True), " "]
        parts += [paint.word(row.part, NAME, _PART[row.part]), " "]
        if width >= WITH_KIND:
            parts += [paint.word(row.what, KIND, paint.QUIET), " "]
        parts += [paint.word(paint.short(row.tokens), 6, paint.QUIET, right=True), "  "]
        parts.append(paint.line(row.text, "" if row.recorded else "$warn", max(8, width)))
        return (paint.join(parts),)


class RequestScreen(Modal[Asked]):
    """The parts of a request with their tokens, and its messages; enter goes to one in the history.

    Args:
        found: The request.
        now: For the time in the title.
    """

    WIDE = True
    KEY_LINES = 2
    BINDINGS: ClassVar[list[BindingType]] = bindings("request")

    def __init__(self, found: RequestView, now: datetime) -> None:
        super().__init__()
        self._found, self._now = found, now

    def content(self) -> ComposeResult:
        """Parts, then messages."""
        yield Static(Content(""), id="request-parts", markup=False)
        yield RequestList(id="request", empty=EMPTY)

    def on_mount(self) -> None:
        """Show the messages, from the newest on; the title is the request."""
        found = self._found
        number = f"request {self._place + 1} of {len(found.numbers)}"
        at = paint.clock(found.answer.at, self._now)
        facts = [number, found.session.partition(":")[0], found.model or "", at]
        title = paint.fit_parts((fact, paint.QUIET) for fact in facts if fact)
        self.box.border_title = Content.assemble((" what the model saw ", "bold"), title, " ")
        rows = self.query_one(RequestList)
        rows.show_rows(tuple(rows_of(found)))
        rows.cursor = len(rows.rows) - 1
        rows.focus()

    def on_resize(self) -> None:
        """A part takes one line, however wide that is; later, when the box has its size."""
        self.call_after_refresh(self._fit_parts)

    def _fit_parts(self) -> None:
        parts = self.query_one("#request-parts", Static)
        parts.update(paint.stack(self._parts(parts.size.width)))

    @property
    def _place(self) -> int:
        return self._found.numbers.index(self._found.number)

    def _parts(self, width: int) -> Iterator[Content]:
        found = self._found
        total = sum(part.recorded + (part.not_recorded or 0) for part in found.parts)
        for part in found.parts:
            yield paint.fit(self._part(part, total), width)
        ages = found.ages
        older = f"{ages['summary']:,} a summary, " if ages["summary"] else ""
        said = f"of the messages {ages['new']:,} tokens are new here (+), {older}{ages['history']:,} history"
        yield paint.fit(paint.line(said, paint.QUIET), width)
        yield paint.line(found.basis, paint.QUIET, 300)

    def _part(self, part: Share, total: int) -> Content:
        tokens = part.recorded + (part.not_recorded or 0)
        about = "\u2248" if self._found.estimated and tokens else ""
        share = f"{100 * tokens // total:>3}%" if total else ""
        facts: list[tuple[str, str]] = []
        if part.not_recorded != 0:
            missing = "an unknown number" if part.not_recorded is None else paint.count(part.not_recorded)
            facts.append((f"{missing} not recorded", "$warn"))
        if part.messages:
            facts.append((paint.plural(part.messages, "message"), paint.QUIET))
        if part.name == "instructions" and self._found.stated:
            facts.append((paint.plural(len(self._found.stated), "stated text"), paint.QUIET))
        facts.append((PARTS[part.name], paint.QUIET))
        figure = paint.word(f"{about}{tokens:,}", TOKENS, right=True)
        return Content.assemble(
            paint.word(part.name, NAME, _PART[part.name]), " ", figure, f" {share}  ", paint.fit_parts(facts)
        )

    def keys(self) -> list[BarKey]:
        """To the neighbours, and to a message."""
        place = self._place
        return [
            BarKey("enter", "go to it", "take"),
            BarKey("[", "request before", "step(-1)", place > 0),
            BarKey("]", "next request", "step(1)", place + 1 < len(self._found.numbers)),
        ]

    def action_step(self, by: int) -> None:
        """Ask for the request before or after."""
        place = self._place + by
        if 0 <= place < len(self._found.numbers):
            self.dismiss(Asked(request=f"{self._found.session}#{self._found.numbers[place]}"))

    def action_take(self) -> None:
        """Ask for the message under the cursor."""
        ref = self.query_one(RequestList).current_id
        if ref:
            self.dismiss(Asked(message=ref))
        elif ref is not None:
            self.notify("This is not a message of the history.", severity="warning", markup=False)

    def on_line_list_opened(self) -> None:
        """Enter."""
        self.action_take()
