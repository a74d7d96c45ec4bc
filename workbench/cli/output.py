"""Everything that is printed: one JSON document, or lines for people; data is made harmless on the way."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TextIO

from workbench.text import safe

_STYLES = {"bold": "1", "dim": "2", "good": "32", "bad": "31", "warn": "33", "key": "36"}
# JSON escapes C0 itself; DEL, C1, bidi and invisible characters would reach a terminal as they are.
_DRIVES_TERMINALS = re.compile(
    "[\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
)
CELL = 60
"""Widest cell of a table but for its last column."""
UNKNOWN_WIDTH = 80
"""Cells of a terminal that does not tell how many it has."""


class Span(NamedTuple):
    """Text with the name of a style; the style never carries meaning alone."""

    text: str
    style: str = ""


Line = str | Span | Sequence[str | Span]


@dataclass(frozen=True)
class Block:
    """Text of several lines, shown as stored."""

    text: str


class Column(NamedTuple):
    """How a column gives way where a terminal is narrow."""

    least: int
    """Cells that it keeps on a line; where there is less room it goes to the next one."""
    whole: bool = False
    """Whether it is never cut, as an id is; a row in which it is longer than ``least`` is laid out by itself."""


@dataclass(frozen=True)
class Table:
    """Rows that fit a terminal: what has no room stands on an indented line beneath. Elsewhere a :func:`table`."""

    rows: Sequence[Sequence[str | Span]]
    columns: Sequence[Column]

    def fitted(self, room: int) -> list[Line]:
        """The rows in so many cells."""
        longest = [sys.maxsize if column.whole else max(room, CELL) for column in self.columns]
        rows = [[_cut(*both) for both in zip(row, longest, strict=True)] for row in self.rows]
        usual = [[width(cell.text) for cell in row] for row in rows if not self._odd(row)]
        wanted = [max(cells, default=0) for cells in zip(*usual, strict=True)] or [0] * len(self.columns)
        lines: list[Line] = []
        for row in rows:
            own = [width(cell.text) for cell in row]
            lines += self._lines(row, own, own if self._odd(row) else wanted, room)
        return lines

    def _odd(self, row: Sequence[Span]) -> bool:
        cells = zip(self.columns, row, strict=True)
        return any(column.whole and width(cell.text) > column.least for column, cell in cells)

    def _lines(self, row: Sequence[Span], own: Sequence[int], wanted: Sequence[int], room: int) -> Iterator[Line]:
        first, *more = _places(wanted, self.columns, room)
        aligned = [(_cut(row[i], cells), cells + _GAP) for i, cells in _widened(first, wanted, room).items()]
        yield [part for cell, cells in aligned for part in (cell, " " * (cells - width(cell.text)))]
        for place in more:
            cells = _widened({i: min(least, own[i]) for i, least in place.items() if own[i]}, own, room - _INDENT)
            if cells:
                said = [part for i, most in cells.items() for part in (" " * _GAP, _cut(row[i], most))]
                yield [" " * (_INDENT - _GAP), *said]


_GAP, _INDENT = 2, 4


def _cut(cell: str | Span, cells: int) -> Span:
    return Span(clip(cell, cells)) if isinstance(cell, str) else cell._replace(text=clip(cell.text, cells))


def _places(wanted: Sequence[int], columns: Sequence[Column], room: int) -> list[dict[int, int]]:
    """For each line of a row its columns, with the least they take; empty columns are left out."""
    places: list[dict[int, int]] = [{}]
    left = room
    for i, (want, column) in enumerate(zip(wanted, columns, strict=True)):
        least = want if column.whole else min(want, column.least, room - _INDENT)
        if places[-1] and least + _GAP > left:
            places.append({})
            left = room - _INDENT
        if want:
            left -= least + _GAP * bool(places[-1])
            places[-1][i] = least
    return places


def _widened(least: Mapping[int, int], wanted: Sequence[int], room: int) -> dict[int, int]:
    """What is left of a line goes first to the columns that lack the least."""
    widths = dict(least)
    left = room - sum(widths.values()) - _GAP * (len(widths) - 1)
    for i in sorted(widths, key=lambda i: wanted[i] - widths[i]):
        more = max(0, min(left, wanted[i] - widths[i]))
        widths[i] += more
        left -= more
    return widths


@dataclass(frozen=True)
class Answer:
    """What a command has to say: the document for scripts, the lines for people, the exit code."""

    document: Any
    lines: Sequence[Line | Block | Table] = ()
    exit_code: int = 0
    notes: Sequence[str] = field(default_factory=tuple)
    """For standard error, in both forms: what was left off, what to do next."""


def width(text: str) -> int:
    """Cells that ``text`` takes on a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def clip(text: str, cells: int) -> str:
    """``text`` on one line, cut to ``cells`` with an ellipsis."""
    flat = " ".join(safe(text).split())
    if width(flat) <= cells:
        return flat
    from rich.cells import set_cell_size

    return set_cell_size(flat, max(0, cells - 1)).rstrip() + "\u2026"


def table(rows: Iterable[Sequence[str | Span]], last: int = 120) -> list[Line]:
    """Rows as aligned columns, without a heading: every cell says what it is by its words."""
    cells = [
        [Span(clip(c if isinstance(c, str) else c.text, CELL), "" if isinstance(c, str) else c.style) for c in row[:-1]]
        + [Span(clip(c if isinstance(c, str) else c.text, last), "" if isinstance(c, str) else c.style)
           for c in row[-1:]]
        for row in rows
    ]  # fmt: skip
    widths = [max((width(row[i].text) for row in cells if len(row) > i), default=0) for i in range(32)]
    lines: list[Line] = []
    for row in cells:
        spans: list[str | Span] = []
        for i, cell in enumerate(row):
            pad = "" if i == len(row) - 1 else " " * (widths[i] - width(cell.text) + 2)
            spans += [cell, pad]
        lines.append(spans)
    return lines


class Output:
    """Standard output and standard error of one command."""

    def __init__(self, *, json: bool, env: Mapping[str, str], out: TextIO | None = None, err: TextIO | None = None):
        self.json = json
        # A stream that was closed before the start is None; what is said there is lost, and nothing else.
        self._out = out or sys.stdout or io.StringIO()
        self._err = err or sys.stderr or io.StringIO()
        self._plain = bool(env.get("NO_COLOR")) or env.get("TERM") == "dumb"

    def answer(self, answer: Answer) -> None:
        """The document or the lines on standard output, the notes on standard error."""
        if self.json:
            self.document(answer.document)
        else:
            for line in answer.lines:
                for row in self._rows(line) if isinstance(line, Table) else (line,):
                    self.line(row)
        for note in answer.notes:
            self.note(note)

    def _rows(self, rows: Table) -> list[Line]:
        """At the width of the terminal, where this is one."""
        if not self._out.isatty():
            return table(rows.rows)
        try:
            columns = os.get_terminal_size(self._out.fileno()).columns
        except OSError:  # a stream that says it is one, with nothing beneath it
            columns = 0
        return rows.fitted(columns or UNKNOWN_WIDTH)

    def document(self, document: Any) -> None:
        """One JSON document, keys in the order in which they were put, always UTF-8."""
        self._bytes(self._out, to_json(document))

    def line(self, line: Line | Block) -> None:
        """One line for people, on standard output."""
        self._text(self._out, line)

    def row(self, text: str) -> None:
        """One line of a stream of JSON documents."""
        self._bytes(self._out, (text + "\n").encode())

    def exact(self, text: str) -> None:
        """Text byte for byte into a pipe or file; made harmless where a terminal would show it."""
        self._bytes(self._out, (safe(text) if self._out.isatty() else text).encode("utf-8", "surrogatepass"))

    def note(self, text: str) -> None:
        """A warning or a hint on standard error."""
        self._text(self._err, text)

    def ask(self, line: Line | Block) -> None:
        """What a person has to see before deciding; on standard error, so that documents stay alone."""
        self._text(self._err, line)

    def error(self, document: Mapping[str, Any]) -> None:
        """An error: for scripts ``{"error": ...}``, for people a line and what to do; on standard error."""
        if self.json:
            self._bytes(self._err, to_json({"error": document}))
            return
        self._text(self._err, [Span("workbench: ", "bad"), str(document["message"])])
        for line in str(document["hint"]).split("\n") if document["hint"] else ():
            self._text(self._err, [Span("  " + line, "dim")])
        for candidate in document["details"].get("candidates", ()):
            self._text(self._err, f"  {candidate}")

    def _text(self, stream: TextIO, line: Line | Block) -> None:
        if isinstance(line, Block):
            self._bytes(stream, (safe(line.text).rstrip("\n") + "\n").encode("utf-8", "replace"))
            return
        parts = [line] if isinstance(line, (str, Span)) else line
        painted = "".join(self._paint(p, stream) for p in parts).rstrip(" ")
        self._bytes(stream, (painted + "\n").encode("utf-8", "replace"))

    def _paint(self, part: str | Span, stream: TextIO) -> str:
        text = safe(part if isinstance(part, str) else part.text).replace("\n", "\u23ce")
        code = _STYLES.get(part.style, "") if isinstance(part, Span) else ""
        return text if not code or self._plain or not stream.isatty() else f"\x1b[{code}m{text}\x1b[0m"

    @staticmethod
    def _bytes(stream: TextIO, data: bytes) -> None:
        """UTF-8 whatever the locale; a stream without bytes beneath (a test's) gets text."""
        stream.flush()
        beneath = getattr(stream, "buffer", None)
        if beneath is None:
            stream.write(data.decode("utf-8", "replace"))
        else:
            beneath.write(data)
        stream.flush()


def to_json(document: Any) -> bytes:
    """Indented JSON that no terminal takes for a command; text that is no Unicode is replaced."""
    import orjson

    try:
        text = orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()
    except orjson.JSONEncodeError:
        import json

        text = json.dumps(document, indent=2, ensure_ascii=True) + "\n"
    return _DRIVES_TERMINALS.sub(lambda m: f"\\u{ord(m.group()):04x}", text).encode()
