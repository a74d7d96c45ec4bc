"""Handoff packages: pending ones first, and why one is stale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.content import Content
from textual.widget import Widget

from workbench.domain.package import OPEN_PACKAGE
from workbench.tui import paint
from workbench.tui.agents_read import agents_read
from workbench.tui.differences import in_words
from workbench.tui.widgets.line_list import LineList
from workbench.tui.widgets.pane import Pane

if TYPE_CHECKING:
    from workbench.services.view import PackageView, View

EMPTY = Content.assemble(
    ("No packages yet.\n", "$label"),
    ("H", "bold"),
    (" hands the task to another agent: you see what goes into the package before anything is sent.", "$quiet"),
)


class PackageList(LineList["PackageView"]):
    """Two lines a package that is still open: how it stands, and what needs to be known."""

    pane: PackagesPane

    def row_id(self, row: PackageView) -> str:
        """The package's id."""
        return row.envelope.id

    def row_height(self, row: PackageView) -> int:
        """Closed ones take one line."""
        return 2 if row.status in OPEN_PACKAGE or row.status == "failed" else 1

    def row_lines(self, row: PackageView, width: int) -> Sequence[Content]:
        """Status, receiver, size, time; then why."""
        symbol, style = paint.PACKAGE.get(row.status, ("?", paint.QUIET))
        status = "stale" if row.stale and row.status == "pending" else row.status
        if row.stale:
            symbol, style = "!", "$life-challenged"
        at = row.events[-1].at if row.events else row.envelope.prepared_at
        first = paint.join(
            [
                (f"{symbol} ", style),
                paint.word(status, 10, style),
                ("→ ", paint.QUIET),
                paint.word(row.envelope.identity.to, 8, "bold"),
                paint.word(paint.count(row.envelope.tokens), 6, right=True),
                (" tok " if width >= 40 else " ", paint.QUIET),
                (paint.clock(at, self.pane.now), paint.QUIET),
            ]
        )
        return (first, Content.assemble("  ", self._why(row)))

    def _why(self, row: PackageView) -> Content:
        stops = [d for d in row.differences if d.stops]
        if stops:
            more = f"+{len(stops) - 1} " if len(stops) > 1 else ""
            words = stops[0].code.replace("_", " ")
            subject = paint.line(in_words(stops[0].subject))
            return Content.assemble((more, "$warn"), (f"{words}: ", "$life-challenged"), subject)
        last = row.events[-1] if row.events else None
        if last is not None and last.why:
            return paint.line(last.why, paint.QUIET)
        words = {
            "pending": "fresh; enter looks, then launches",
            "confirmed": "confirmed, not started yet",
            "transferring": "the task is going over",
            "launched": self._launched(row),
            "received": "proved from the receiver's session",
            "failed": "the launch failed",
        }.get(row.status, "")
        return Content.styled(words, paint.QUIET)

    def _launched(self, row: PackageView) -> str:
        """Whose turn it is, and whether it will be seen."""
        way = next((event.launch for event in reversed(row.events) if event.launch), None)
        seen = "" if row.envelope.identity.to in agents_read() else "; its arrival is not observed"
        if way in ("print", "copy"):
            return f"waiting for you to start it: enter{seen}"
        return "started; its session is not seen yet" if not seen else f"started{seen}"


class PackagesPane(Pane):
    """Packages of the current task."""

    NUMBER = "4"
    NAME = "packages"

    def compose(self) -> ComposeResult:
        """A list."""
        packages = PackageList(id="packages-list", empty=paint.READING)
        packages.pane = self
        yield packages

    @property
    def home(self) -> Widget:
        """The list."""
        return self.list

    @property
    def list(self) -> PackageList:
        """The packages."""
        return self.query_one(PackageList)

    def part(self, view: View) -> object:
        """The packages."""
        return view.packages

    def show(self, view: View) -> None:
        """Show the packages."""
        self.list.empty = EMPTY
        stood = self.list.current_id
        known = {row.envelope.id for row in self.list.rows}
        self.list.show_rows(view.packages)
        heir = next((p.envelope.id for p in view.packages if stood and p.envelope.replaces == stood), None)
        if heir is not None and heir not in known:
            self.list.go_to(heir)  # what took its place is what the person would open now
        pending = sum(p.status == "pending" for p in view.packages)
        stale = sum(p.stale and p.status == "pending" for p in view.packages)
        waiting = f"{pending} pending" if pending else ""
        # The stale are among the pending, never beside them; one that was launched says so in its own row.
        asks = ("stale" if stale == pending else f"{stale} stale") if stale else ""
        comma = ", " if waiting and asks else ""
        self.retitle(self.head(Content.assemble((waiting + comma, paint.QUIET), (asks, "$life-challenged"))))
