"""The history: one line a message, with marks for trimming."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, overload

from textual.binding import BindingType
from textual.content import Content
from textual.message import Message as Event

from workbench.domain.trimming import with_partners
from workbench.tui import paint
from workbench.tui.keys import bindings
from workbench.tui.widgets.line_list import LineList

if TYPE_CHECKING:
    from workbench.services.view import MessageView

SEQ, WHO, KIND, TOKENS = 5, 5, 7, 6
WITH_SEQ, WITH_KIND = 48, 54
"""Cells from which the number and the kind have their columns."""


class _Tops(Sequence[int]):
    """Where rows of one line begin, some of which have a heading above them; nothing is added up.

    Args:
        count: How many rows.
        led: Which of them have a heading, in their order.
    """

    def __init__(self, count: int, led: Sequence[int]) -> None:
        self._count = count
        self._led = led

    def __len__(self) -> int:
        return self._count + 1

    @overload
    def __getitem__(self, row: int) -> int: ...

    @overload
    def __getitem__(self, row: slice) -> list[int]: ...

    def __getitem__(self, row: int | slice) -> int | list[int]:
        found = range(len(self))[row]
        return found + bisect_left(self._led, found) if isinstance(found, int) else [self[n] for n in found]


def begins(rows: Sequence[MessageView]) -> list[int]:
    """Where each session begins in rows that come session after session; few of them are looked at."""
    found: list[int] = []
    session = ""

    def beyond(row: MessageView) -> bool:
        return row.message.session != session

    start = 0
    while start < len(rows):
        found.append(start)
        session = rows[start].message.session
        start = bisect_left(rows, True, lo=start, key=beyond)
    return found


class HistoryList(LineList["MessageView"]):
    """Messages in file order; the cursor follows the end if it stood there."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("history")
    FOLLOW = True
    LASTING = True

    class Marked(Event):
        """Other messages are marked; ``refused`` says why some were not."""

        def __init__(self, refused: str = "") -> None:
            super().__init__()
            self.refused = refused

    class SuggestionWanted(Event):
        """The person asks which messages may go."""

    def __init__(self, *, id: str | None = None, empty: Content | None = None) -> None:
        super().__init__(id=id, empty=empty)
        self.known: Sequence[MessageView] = ()
        """All rows of the history, of which those shown may be a few."""
        self._marks: frozenset[str] = frozenset()
        self._shown: frozenset[str] = frozenset()
        self._anchor: str | None = None
        self._heads: Mapping[str, Content] = {}

    @property
    def heads(self) -> Mapping[str, Content]:
        """Headings by the message that they stand above: where another session begins."""
        return self._heads

    @heads.setter
    def heads(self, heads: Mapping[str, Content]) -> None:
        if heads != self._heads:
            self._heads = heads
            self.repaint()

    def row_id(self, row: MessageView) -> str:
        """The message's id, with its session."""
        return row.message.ref

    def instead_of(self, row_id: str) -> int:
        """The row nearest to one that is hidden, the later of two."""
        places = {self.row_id(row): place for place, row in enumerate(self.known)}
        if row_id not in places or not self.rows:
            return self.cursor
        at = places[row_id]
        after = bisect_left(self.rows, at, key=lambda row: places.get(self.row_id(row), at))
        near = [n for n in (after, after - 1) if 0 <= n < len(self.rows)]
        return min(near, key=lambda n: abs(places.get(self.row_id(self.rows[n]), at) - at))

    @property
    def uniform(self) -> bool:
        """Only headings take lines of their own."""
        return not self.heads

    def row_lead(self, row: MessageView) -> int:
        """A heading, where a session begins."""
        return int(row.message.ref in self.heads)

    def row_height(self, row: MessageView) -> int:
        """The message, and the heading above it."""
        return 1 + self.row_lead(row)

    def tops(self) -> Sequence[int]:
        """By the headings alone: a history may have a hundred thousand rows."""
        return _Tops(len(self.rows), [place for place in begins(self.rows) if self.row_lead(self.rows[place])])

    @property
    def marks(self) -> frozenset[str]:
        """Refs of marked messages, hidden ones and the open range included."""
        return self._shown

    @property
    def hidden_marks(self) -> int:
        """How many of the marked messages are not shown."""
        if not self._shown or len(self.rows) == len(self.known):
            return 0
        return len(self._shown.difference(map(self.row_id, self.rows)))

    def row_lines(self, row: MessageView, width: int) -> Sequence[Content]:
        """Mark, number, who, kind, tokens, class and disposition, what; fewer columns where it is narrow."""
        message, fate = row.message, row.fate
        gone = fate.disposition != "kept"
        who, who_style = paint.speaker(message)
        text_style = "$quiet strike" if fate.disposition == "dropped" else "$quiet" if gone else ""
        if not message.in_context and not gone:
            text_style = "$quiet"
        marked = row.message.ref in self._shown
        parts: list[Content | str | tuple[str, str]] = [("■ ", "$warn") if marked else "  "]
        if width >= WITH_SEQ:
            parts += [paint.word(str(message.seq), SEQ, paint.QUIET, right=True), " "]
        parts += [paint.word(who, WHO, who_style), " "]
        if width >= WITH_KIND:
            parts += [paint.word(paint.kind(message), KIND, paint.QUIET), " "]
        parts += [paint.word(paint.short(row.tokens), TOKENS, paint.QUIET, right=True), " "]
        parts += [paint.MEMORY[fate.memory], paint.DISPOSITION[fate.disposition]]
        parts += [("^", "$warn") if fate.pinned else " ", " "]
        how, how_style = paint.outcome(message)
        if how:
            parts.append((f"{how}  ", how_style))
        parts.append(paint.line(paint.gist(message), text_style, max(8, width)))
        head = self.heads.get(message.ref)
        return (paint.join(parts),) if head is None else (head, paint.join(parts))

    def row_style(self, row: MessageView) -> str:
        """Marked rows have their own background."""
        return "$marked" if row.message.ref in self._shown else ""

    def clear_marks(self) -> bool:
        """Take all marks away; whether there were any."""
        had = bool(self._shown)
        self._marks, self._anchor = frozenset(), None
        self._changed()
        return had

    def set_marks(self, refs: frozenset[str]) -> None:
        """Mark exactly these, and their partners; guidelines stay unmarked."""
        self._mark(refs, frozenset())

    def keep_known(self) -> None:
        """Forget marks on messages that are no longer there; one that is merely hidden keeps its mark."""
        if self._marks:
            self._marks &= {self.row_id(row) for row in self.known}
        shown = self._marks | self._span()
        if shown != self._shown:
            self._shown = shown
            self.repaint()

    def action_mark(self) -> None:
        """Mark or unmark the message under the cursor, and go on to the next."""
        if self._anchor is not None:
            self._close_range()
            return
        ref = self.current_id
        if ref is None:
            return
        if ref in self._marks:
            self._marks -= self._with_partners(frozenset((ref,)))
            self._changed()
        else:
            self._mark(frozenset((ref,)), self._marks)
        self.cursor += 1

    def action_range(self) -> None:
        """Begin a range at the cursor, or end it there."""
        if self._anchor is not None:
            self._close_range()
            return
        self._anchor = self.current_id
        self._changed()

    def action_suggested(self) -> None:
        """Ask for the suggestion."""
        self.post_message(self.SuggestionWanted())

    def watch_cursor(self, old: int, new: int) -> None:
        """An open range grows with the cursor."""
        super().watch_cursor(old, new)
        if self._anchor is not None:
            self._changed()

    def _close_range(self) -> None:
        span, self._anchor = self._span(), None
        self._mark(span, self._marks)

    def _span(self) -> frozenset[str]:
        if self._anchor is None:
            return frozenset()
        start = self._find(self._anchor)
        low, high = sorted((start, self.cursor))
        return frozenset(r.message.ref for r in self.rows[low : high + 1] if r.fate.memory != "guideline")

    def _mark(self, refs: frozenset[str], before: frozenset[str]) -> None:
        wanted = self._with_partners(refs)
        guidelines = {r.message.ref for r in self.known if r.fate.memory == "guideline"} & wanted
        self._marks = before | (wanted - guidelines)
        self._changed("A guideline is never trimmed: it is not marked." if guidelines else "")

    def _with_partners(self, refs: frozenset[str]) -> frozenset[str]:
        """A call goes with its result, within their session, be it shown or not."""
        messages = [row.message for row in self.known]
        chosen = with_partners(messages, {m.id for m in messages if m.ref in refs})
        return frozenset(m.ref for m in messages if m.id in chosen)

    def _changed(self, refused: str = "") -> None:
        self._shown = self._marks | self._span()
        self.repaint()
        self.post_message(self.Marked(refused))
