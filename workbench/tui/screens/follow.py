"""Follow a handover: what was done, where it stands, what failed and how to go on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static

from workbench.services.view import PackageView, View
from workbench.tui import paint
from workbench.tui.desk import Handed
from workbench.tui.messages import Act
from workbench.tui.screens.modal import Modal
from workbench.tui.widgets.key_bar import BarKey
from workbench.tui.widgets.task_pane import TaskScroll

LADDER = ("confirmed", "transferring", "launched", "received")
MEANING = {
    "confirmed": "you confirmed it",
    "transferring": "the old executor left, the new attempt is reserved",
    "launched": "the receiver was started, or told how to start",
    "received": "proved from the receiver's own session file",
}


class FollowScreen(Modal[None]):
    """The steps of one package, live."""

    TITLE_TEXT = "handover"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "close", "close"),
        Binding("y", "copy_command", "copy"),
    ]

    view: reactive[View | None] = reactive(None, always_update=True)

    def __init__(self, handed: Handed) -> None:
        super().__init__()
        self._handed = handed
        self._ready = False

    def content(self) -> ComposeResult:
        """One text that changes with the view."""
        with TaskScroll():
            yield Static(Content(""), id="story", markup=False)

    def on_mount(self) -> None:
        """Show what is known."""
        self._ready = True
        self._write()
        self.query_one(TaskScroll).focus()

    def keys(self) -> list[BarKey]:
        """Copy the command, or close."""
        return [BarKey("enter", "done", "close"), BarKey("y", "copy the command", "copy_command")]

    def watch_view(self) -> None:
        """The package may have gone on."""
        if self._ready:
            self._write()

    @property
    def _package(self) -> PackageView | None:
        if self.view is None:
            return None
        return next((p for p in self.view.packages if p.envelope.id == self._handed.package), None)

    def _write(self) -> None:
        self.query_one("#story", Static).update(paint.stack(self._rows()))

    def _rows(self) -> Iterator[Content]:
        package = self._package
        reached = {event.status for event in package.events} if package else set()
        status = package.status if package else ""
        for step in LADDER:
            done = step in reached or (status in LADDER and LADDER.index(step) <= LADDER.index(status))
            symbol, style = ("✓ ", "$good") if done else ("· ", paint.QUIET)
            note = "" if done else "  not yet" if step != "received" else "  not observed yet"
            yield Content.assemble(
                (symbol, style),
                paint.word(step, 14, "bold" if done else paint.QUIET),
                (MEANING[step], paint.QUIET),
                (note, paint.QUIET),
            )
        if status in ("failed", "rejected", "cancelled"):
            yield Content.assemble(("! ", "$bad"), (status, "$bad bold"), "  ", self._why(package))
        for step_text in self._handed.steps:
            yield Content.assemble(("  ", ""), paint.line(step_text, limit=300))
        yield from self._failure()
        yield Content("")
        yield Content.styled("the command", "$label bold")
        yield paint.lines(self._handed.command, 20)[0]
        if self._handed.prompt_file is not None:
            yield Content.assemble(("the prompt lies in ", paint.QUIET), paint.line(str(self._handed.prompt_file)))
        if self._handed.way in ("print", "copy"):
            yield Content.styled(
                "Start it in a terminal of its own; its session is found by itself, and this shows it.", paint.QUIET
            )

    def _why(self, package: PackageView | None) -> Content:
        why = package.events[-1].why if package and package.events else ""
        return paint.line(why, limit=300)

    def _failure(self) -> Iterator[Content]:
        if not self._handed.failure:
            return
        yield Content("")
        yield Content.assemble(("! ", "$bad"), paint.lines(self._handed.failure, 12, "$bad")[0])
        yield Content.styled(
            "Nothing is lost: H starts again from here, and the package says how far it came.", paint.QUIET
        )

    def action_copy_command(self) -> None:
        """Copy the command line."""
        self.post_message(Act("copy", self._handed.to_copy or self._handed.command))
