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


class FollowScreen(Modal[str]):
    """The steps of one package, live; the answer is how to go on where it failed: ``fallen`` or ``again``."""

    TITLE_TEXT = "handover"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "close", "close"),
        Binding("y", "copy_command", "copy"),
        Binding("f", "fallen", "it failed"),
        Binding("a", "again", "let the one before go on"),
    ]

    view: reactive[View | None] = reactive(None, always_update=True, repaint=False)

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
        """Copy the command, or close; what can be done where it failed."""
        keys = [BarKey("enter", "done", "close"), BarKey("y", "copy the command", "copy_command")]
        if self._program_ended:
            keys.append(BarKey("f", "it failed", "fallen"))
        if self._can_go_back:
            keys.append(BarKey("a", "let the one before go on", "again"))
        return keys

    def watch_view(self) -> None:
        """The package may have gone on."""
        if self._ready:
            self._write()
            self.refresh_keys()

    def on_resize(self) -> None:
        """Lines wrap at another place."""
        self._write()

    @property
    def _package(self) -> PackageView | None:
        if self.view is None:
            return None
        return next((p for p in self.view.packages if p.envelope.id == self._handed.package), None)

    @property
    def _program_ended(self) -> str:
        """That the program was seen to end before anything of it was seen to work; empty where it was not."""
        card, package = (self.view.task if self.view else None), self._package
        if card is None or package is None or card.running is None or package.status != "launched":
            return ""
        return card.program_ended if card.running.package == package.envelope.id else ""

    @property
    def _can_go_back(self) -> bool:
        card, package = (self.view.task if self.view else None), self._package
        if card is None or package is None or card.running is not None or package.status not in ("failed", "cancelled"):
            return False
        return package.envelope.task == card.task.id and any(e.details.get("from_attempt") for e in package.events)

    def _write(self) -> None:
        width = self.query_one("#story").size.width or 90
        self.query_one("#story", Static).update(paint.hang(self._rows(), width))

    def _rows(self) -> Iterator[Content]:
        package = self._package
        reached = {event.status for event in package.events} if package else set()
        status = package.status if package else ""
        for step in LADDER:
            done = step in reached or (status in LADDER and LADDER.index(step) <= LADDER.index(status))
            yield self._waits() if step == "launched" and self._to_start(status) else self._rung(step, done)
        if status in ("failed", "rejected", "cancelled"):
            yield Content.assemble(("! ", "$bad"), (status, "$bad bold"), "  ", self._why(package))
        if self._program_ended:
            yield Content.assemble(("! ", "$warn"), paint.line(self._program_ended, "$warn", 80), ": f takes it back")
        for step_text in self._handed.steps:
            yield Content.assemble(("  ", ""), paint.line(step_text, limit=300))
        yield from self._failure()
        yield Content("")
        yield Content.styled("the command, for you to start" if self._handed.by_hand else "the command", "$label bold")
        yield paint.lines(self._handed.command, 20)[0]
        if self._handed.prompt_file is not None and not self._handed.by_hand:
            yield Content.assemble(("the prompt lies in ", paint.QUIET), paint.line(str(self._handed.prompt_file)))
        yield Content("")
        start = "Start it in a terminal of its own; " if self._handed.by_hand and not self._handed.failure else ""
        if self._handed.observed:
            seen = "its session is found by itself, and this shows it." if start else "Its session is found by itself."
            yield Content.styled(start + seen, paint.QUIET)
        else:
            yield Content.assemble((start, paint.QUIET), self._unobserved())

    def _unobserved(self) -> Content:
        return paint.line(f"{self._agent}'s sessions are not read yet: its arrival is not observed.", "$warn", 200)

    @property
    def _agent(self) -> str:
        package = self._package
        return self._handed.agent or (package.envelope.identity.to if package else "") or "the receiver"

    def _to_start(self, status: str) -> bool:
        """Whether it is the person's turn: the command is there, and nothing was seen to run."""
        return self._handed.by_hand and status == "launched" and not self._handed.failure

    def _waits(self) -> Content:
        return Content.assemble(
            ("◔ ", "$warn"),
            paint.word("waiting", 14, "bold $warn"),
            ("for you to start ", ""),
            paint.line(self._agent, limit=40),
            (": y copies the command below", ""),
        )

    def _rung(self, step: str, done: bool) -> Content:
        """One step of the ladder, and what it means here."""
        left = self._handed.left or "nobody ran the task"
        meaning = {
            "confirmed": "you confirmed it",
            "transferring": f"{left}; the new attempt is reserved" if done else "the new attempt takes the task",
            "launched": f"{self._agent} was started",
            "received": "proved from the receiver's own session file",
        }[step]
        note = "" if done else "  not yet"
        if step == "received" and not done:
            note = "  not observed yet" if self._handed.observed else "  cannot be observed"
        symbol, style = ("✓ ", "$good") if done else ("· ", paint.QUIET)
        return Content.assemble(
            (symbol, style),
            paint.word(step, 14, "bold" if done else paint.QUIET),
            paint.line(meaning, paint.QUIET, 200),
            (note, paint.QUIET),
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
        named = f"the command that starts {self._agent}"
        self.post_message(Act("copy", self._handed.to_copy or self._handed.command, label=named))

    def action_fallen(self) -> None:
        """Its program ended before it worked: take the launch back."""
        if self._program_ended:
            self.dismiss("fallen")

    def action_again(self) -> None:
        """Let the executor before go on."""
        if self._can_go_back:
            self.dismiss("again")
