"""The sessions that agents keep for this workspace: pick one to belong to the task."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input

from workbench.errors import WorkbenchError
from workbench.tui import paint
from workbench.tui.desk import SessionChoice
from workbench.tui.screens.modal import Modal
from workbench.tui.widgets.key_bar import BarKey
from workbench.tui.widgets.line_list import LineList

EVERY = 3.0
"""Seconds after which it is looked again who is live."""
NONE = Content.assemble(
    ("No agent has a session for this repository.\n", "$label"),
    ("Start one in it, in a terminal beside this one; it appears here by itself.\n", "$quiet"),
    ("Looked for in ~/.claude/projects and ~/.codex/sessions,\n", "$quiet"),
    ("or beneath CLAUDE_CONFIG_DIR and CODEX_HOME.", "$quiet"),
)
NO_HIT = Content.styled("No session holds these words.", "$quiet")
Load = Callable[[], Awaitable[Sequence[SessionChoice]]]


class SessionLines(LineList[SessionChoice]):
    """Sessions, two lines each."""

    def __init__(self, now: Callable[[], datetime], *, id: str) -> None:
        super().__init__(id=id, empty=paint.READING)
        self._now = now

    def row_id(self, row: SessionChoice) -> str:
        """The session's name."""
        return row.name

    def row_height(self, row: SessionChoice) -> int:
        """What it is about, and how it stands."""
        return 2

    def row_lines(self, row: SessionChoice, width: int) -> Sequence[Content]:
        """Live or not, agent, title; then age, size, worktree, whose it is."""
        dot = ("●", "$good") if row.live else ("○", paint.QUIET)
        title = paint.line(row.title, "bold", 300) if row.title else Content.styled("no prompt so far", paint.QUIET)
        first = Content.assemble(" ", dot, " ", paint.word(row.agent, 7, "$label"), " ", title)
        age = paint.ago(row.updated_at, self._now())
        parts = [("live" if row.live else "idle", "$good" if row.live else paint.QUIET)]
        parts += [(f"{age} ago" if age else "", paint.QUIET), (f"{paint.short(row.size)}B", paint.QUIET)]
        parts += [(f"{row.full:.0%} full" if row.full is not None else "", "$warn" if (row.full or 0) >= 0.8 else "")]
        parts += [(f"worktree {row.worktree}" if row.worktree else "", paint.QUIET)]
        parts += [(paint.plural(row.children, "sub-agent") if row.children else "", paint.QUIET)]
        belongs = [(whose(row), "$info" if row.here else paint.QUIET)]
        belongs += [(row.offered, "$warn")]
        shown = [part for part in (*belongs, *parts) if part[0]]
        return (first, Content.assemble("   ", paint.fit_parts(shown)))


def whose(row: SessionChoice) -> str:
    """Which task a session belongs to."""
    if row.here:
        return "belongs to this task" if row.running else "belonged to this task"
    return f"of task {row.task}" if row.task else ""


class SessionsScreen(Modal[SessionChoice]):
    """Type to narrow the list; enter takes the session under the cursor.

    Args:
        load: Reads the list.
        now: The moment, for ages.
    """

    TITLE_TEXT = "agents' sessions here"
    WIDE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,ctrl+n", "move(1)", "down", show=False),
        Binding("up,ctrl+p", "move(-1)", "up", show=False),
        Binding("pagedown", "move(10)", "further down", show=False),
        Binding("pageup", "move(-10)", "further up", show=False),
    ]

    def __init__(self, load: Load, now: Callable[[], datetime]) -> None:
        super().__init__()
        self._load, self._now = load, now
        self._rows: Sequence[SessionChoice] = ()
        self._read = False

    def content(self) -> ComposeResult:
        """The words, and the sessions that hold them."""
        yield Input(placeholder="words of the title, the agent, the task or the worktree", id="words", compact=True)
        yield SessionLines(self._now, id="sessions")

    def on_mount(self) -> None:
        """Read, now and again; type at once."""
        self.query_one(Input).focus()
        self._look()
        self.set_interval(EVERY, self._look)

    @property
    def lines(self) -> SessionLines:
        """The list."""
        return self.query_one(SessionLines)

    @work(exclusive=True, group="sessions", exit_on_error=False)
    async def _look(self) -> None:
        try:
            self._rows = await self._load()
        except WorkbenchError as error:
            self.lines.empty = paint.line(error.message, "$bad", 400)
            self.lines.show_rows(())
            return
        first, self._read = not self._read, True
        self._show()
        if first:
            # What waits for a word is what one came for, else the newest that belongs to nobody.
            wanted = next((row for row in self._rows if row.offered), None)
            wanted = wanted or next((row for row in self._rows if not row.task), None)
            self.lines.go_to(wanted.name if wanted else "")
            self.refresh_keys()

    def _show(self) -> None:
        words = self.query_one(Input).value.lower().split()
        rows = [row for row in self._rows if all(word in _text(row) for word in words)]
        if self._read:
            self.lines.empty = NO_HIT if words and self._rows else NONE
        self.lines.show_rows(rows)
        shown = paint.plural(len(self._rows), "session")
        shown = shown if len(rows) == len(self._rows) else f"{len(rows):,} of {shown}"
        self.box.border_title = Content.assemble(
            (f" {self.TITLE_TEXT} ", "bold"), (f"· {shown} " if self._rows else "", paint.QUIET)
        )
        self.refresh_keys()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow the list."""
        event.stop()
        self._show()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter."""
        event.stop()
        self.action_take()

    def on_line_list_opened(self) -> None:
        """Enter on the list, or a second click."""
        self.action_take()

    def keys(self) -> list[BarKey]:
        """What enter does with the session under the cursor."""
        row = self.lines.current
        label = "show" if row is not None and row.here and row.running else "attach and follow"
        return [BarKey("enter", label, "take", row is not None), BarKey("↑↓", "choose", "move(1)")]

    def action_move(self, by: int) -> None:
        """Move the cursor while typing."""
        self.lines.cursor += by
        self.refresh_keys()

    def action_take(self) -> None:
        """Take the one under the cursor."""
        if self.lines.current is not None:
            self.dismiss(self.lines.current)


def _text(row: SessionChoice) -> str:
    state = "live" if row.live else "idle"
    return f"{row.agent} {row.title} {row.task} {row.worktree} {state} {row.name}".lower()
