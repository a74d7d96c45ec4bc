"""How the receiver is started: each way with the exact command line, and what differs since the compile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from workbench.domain.package import Difference, LaunchWay
from workbench.tui import paint
from workbench.tui.desk import LaunchOffer
from workbench.tui.keys import bindings
from workbench.tui.screens.ask import AskText
from workbench.tui.screens.modal import Modal
from workbench.tui.widgets.difference_list import DifferenceList
from workbench.tui.widgets.key_bar import BarKey
from workbench.tui.widgets.line_list import LineList
from workbench.tui.widgets.task_pane import TaskScroll

ENTER: Mapping[LaunchWay, str] = {"copy": "hand over, copy it", "print": "hand over, show it"}
"""What enter does where the person starts the receiver herself; else it launches."""
LEAST_BELOW = 14
"""Lines that frame, ways, command and keys need beside the differences."""
Step = Literal["launch", "recompile", "settle", "reject"]


@dataclass(frozen=True)
class LaunchAnswer:
    """What the person decided."""

    step: Step
    way: LaunchWay | None = None
    override: str | None = None
    """The reason for going on in spite of differences; may be empty."""


class WayList(LineList[LaunchOffer]):
    """Ways to launch, the best one first; paging scrolls what stands above it."""

    class Paged(Message):
        """The person wants to see more of the differences."""

        def __init__(self, direction: int) -> None:
            super().__init__()
            self.direction = direction

    def action_half(self, direction: int) -> None:
        """There is no more than a handful of ways: paging is for the differences."""
        self.post_message(self.Paged(direction))

    def row_id(self, row: LaunchOffer) -> str:
        """The way."""
        return row.way

    def row_height(self, row: LaunchOffer) -> int:
        """As many lines as its words need."""
        return len(self.row_lines(row, max(0, self.scrollable_content_region.width - 1)))

    def row_lines(self, row: LaunchOffer, width: int) -> Sequence[Content]:
        """The way and what it does, or why not."""
        head = Content.assemble(" ", paint.word(row.way, 11, paint.QUIET if row.why_not else "bold"))
        words = paint.line(row.why_not or row.note, "$warn" if row.why_not else paint.QUIET, 400)
        wrapped = words.wrap(max(20, width - head.cell_length))
        blank = Content(" " * head.cell_length)
        return [Content.assemble(blank if n else head, line.rstrip()) for n, line in enumerate(wrapped)]


class LaunchScreen(Modal[LaunchAnswer]):
    """Choose the way, read the command, go."""

    KEY_LINES = 2
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "launch", "launch"), *bindings("launch")]

    def __init__(
        self, to: str, offers: Sequence[LaunchOffer], differences: Sequence[Difference], leaving: str = ""
    ) -> None:
        super().__init__()
        self._to, self._offers, self._differences, self._leaving = to, offers, differences, leaving

    @property
    def stops(self) -> bool:
        """Whether something differs that stops the handover."""
        return any(d.stops for d in self._differences)

    def content(self) -> ComposeResult:
        """Differences first, where there are any; then the ways and the command."""
        yield Static(self._difference_head(), id="differences-head", markup=False)
        yield DifferenceList(id="differences")
        yield Static(Content(""), id="more", markup=False)
        yield WayList(id="ways", empty=Content.styled("There is no way to launch here.", paint.QUIET))
        if self._leaving:
            yield Static(Content.assemble(("before it  ", "$label bold"), paint.line(self._leaving, limit=200)),
                         markup=False, classes="gap")  # fmt: skip
        yield Static(Content.styled("runs exactly", "$label bold"), markup=False, classes="gap")
        with TaskScroll(id="command"):
            yield Static(Content(""), id="command-text", markup=False)

    def on_mount(self) -> None:
        """The best way that works here is under the cursor."""
        self.box.border_title = Content.assemble(
            (" hand over to ", "bold"), paint.line(self._to, "$focus bold", 30), " "
        )
        differences = self.query_one(DifferenceList)
        for part in (differences, self.query_one("#differences-head"), self.query_one("#more")):
            part.display = bool(self._differences)
        differences.show_rows(self._differences)
        self.watch(differences, "scroll_y", self._more)
        ways = self.query_one(WayList)
        ways.show_rows(self._offers)
        ways.cursor = next((n for n, offer in enumerate(self._offers) if not offer.why_not), 0)
        ways.focus()
        self._command()
        self._share()

    def on_resize(self) -> None:
        """The differences take what they need, and leave room for the ways and the command."""
        self.call_after_refresh(self._share)

    def _share(self) -> None:
        rows, ways = self.query_one(DifferenceList), self.query_one(WayList)
        taken = max(1, sum(ways.row_height(offer) for offer in self._offers))
        ways.styles.height = taken
        needed = sum(rows.row_height(row) for row in self._differences)
        rows.styles.height = max(2, min(needed, self.app.size.height - taken - LEAST_BELOW))
        self.call_after_refresh(self._more)

    def _more(self) -> None:
        self.query_one("#more", Static).update(self.query_one(DifferenceList).more())

    @on(WayList.Paged)
    def _paged(self, event: WayList.Paged) -> None:
        rows = self.query_one(DifferenceList)
        rows.scroll_relative(y=event.direction * max(2, rows.size.height // 2), animate=False)

    def keys(self) -> list[BarKey]:
        """Launch, or what to do about differences."""
        offer = self.query_one(WayList).current
        able = not self.stops and offer is not None and not offer.why_not
        label = ENTER.get(offer.way, "launch") if offer is not None else "launch"
        keys = [BarKey("enter", label, "launch", able, -1)]
        if self._differences:
            keys += [BarKey("r", "recompile", "recompile"), BarKey("s", "settle", "settle")]
        if self.stops:
            keys.append(BarKey("o", "override", "override"))
        return [*keys, BarKey("x", "reject", "reject")]

    def _difference_head(self) -> Content:
        number = paint.plural(len(self._differences), "difference")
        if self.stops:
            return Content.styled(f"{number} since it was compiled. It stops the handover:", "$life-challenged bold")
        return Content.styled(f"{number} since it was compiled:", "$label bold")

    def on_line_list_moved(self) -> None:
        """The command of the way under the cursor."""
        self._command()

    def _command(self) -> None:
        offer = self.query_one(WayList).current
        text = paint.lines(offer.command, 40)[0] if offer else Content("")
        self.query_one("#command-text", Static).update(text)
        self.refresh_keys()

    def on_line_list_opened(self, event: LineList.Opened) -> None:
        """Enter."""
        event.stop()
        self.action_launch()

    def action_launch(self) -> None:
        """Go, where nothing stops it."""
        if self.stops:
            self._say("Something changed: r compiles again, s settles, o goes on all the same.")
            return
        self._go(None)

    def _go(self, override: str | None) -> None:
        offer = self.query_one(WayList).current
        if offer is None or offer.why_not:
            self._say(offer.why_not if offer else "There is no way to launch here.")
            return
        self.dismiss(LaunchAnswer("launch", offer.way, override))

    def action_override(self) -> None:
        """Go on in spite of the differences; the reason is recorded."""
        if not self.stops:
            return

        def done(why: str | None) -> None:
            if why is not None:
                self._go(why)

        about = Content("The package goes as it is. That it was overridden is recorded, with your reason.")
        self.app.push_screen(AskText("override", about, optional=True, hint="why (may be empty)"), done)

    def action_recompile(self) -> None:
        """Compile again, and look."""
        self.dismiss(LaunchAnswer("recompile"))

    def action_settle(self) -> None:
        """Settle what is challenged."""
        self.dismiss(LaunchAnswer("settle"))

    def action_reject(self) -> None:
        """Reject the package."""
        self.dismiss(LaunchAnswer("reject"))

    def _say(self, text: str) -> None:
        self.notify(text, severity="warning", markup=False)
