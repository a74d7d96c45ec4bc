"""The live task card: what is asked, what shows it, what holds, what is left, who is at it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.domain.contested import claim_text, field_words
from workbench.domain.fact import value_text
from workbench.tui import paint
from workbench.tui.keys import bindings
from workbench.tui.widgets.pane import Pane

if TYPE_CHECKING:
    from workbench.domain.task import Attempt
    from workbench.services.view import AcceptanceView, SessionView, TaskView, View

EXCERPT_LINES = 6
DONE_SHOWN = 12
AGE_EVERY = 60.0
"""Seconds after which ages are written anew."""
ODD_SHOWN = 4
CONTESTS_SHOWN = 5
_SHOWN_ELSEWHERE = ("interrupted", "variable_missing", "not_accepted")


class TaskScroll(VerticalScroll, can_focus=True):
    """The card's text, scrolled with the keys of the lists."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("list", without=("list.open",))

    def action_move(self, by: int) -> None:
        """Scroll by lines."""
        self.scroll_relative(y=by, animate=False)

    def action_half(self, direction: int) -> None:
        """Scroll by half a page."""
        self.scroll_relative(y=direction * max(1, self.size.height // 2), animate=False)

    def action_top(self) -> None:
        """To the beginning."""
        self.scroll_home(animate=False)

    def action_bottom(self) -> None:
        """To the end."""
        self.scroll_end(animate=False)


class TaskPane(Pane):
    """The card of the current task."""

    NUMBER = "1"
    NAME = "task"

    _rest: object = None
    """What the lower part of the card was written from."""

    def compose(self) -> ComposeResult:
        """A scrolled text."""
        with TaskScroll():
            yield Static(Content(""), id="card-top", markup=False)
            yield Static(Content(""), id="card-rest", markup=False)

    def on_mount(self) -> None:
        """Ages grow by themselves."""
        self.query_one("#card-rest").display = False
        self.set_interval(AGE_EVERY, lambda: self.show(self.view) if self.view is not None else None)

    @property
    def home(self) -> Widget:
        """The scrolled text."""
        return self.query_one(TaskScroll)

    def part(self, view: View) -> object:
        """The card and the sessions in it."""
        return view.task, view.sessions, view.damaged, view.contests

    def show(self, view: View) -> None:
        """Write the card anew."""
        card = view.task
        detail = paint.line(card.task.slug, paint.QUIET, 40) if card else ""
        self.retitle(self.head(detail))
        width = self.home.scrollable_content_region.width
        if width < 1:
            return  # not laid out yet; wrapping now would make the first picture jump
        top = self._top(card, view) if card else [self._empty(view)]
        self._write(self.query_one("#card-top", Static), paint.hang(top, max(20, width)))
        # What a line of a session changes stands at the top; the rest may be long, and is written when it differs.
        rest = (replace(card, evidence=()), width, self.now.replace(second=0, microsecond=0)) if card else None
        if rest != self._rest:
            self._rest = rest
            body = paint.hang(self._lower(card), max(20, width)) if card else Content("")
            self.query_one("#card-rest").display = bool(body)
            self._write(self.query_one("#card-rest", Static), body)

    def _write(self, text: Static, content: Content) -> None:
        before = text.content
        same = isinstance(before, Content) and before.plain.count("\n") == content.plain.count("\n")
        text.update(content, layout=not same or not text.size.height)

    def on_resize(self) -> None:
        """Lines wrap at another place."""
        if self.view is not None:
            self.call_after_refresh(self.show, self.view)

    def _empty(self, view: View) -> Content:
        rows = [Content.styled("No task is open.", "$label")]
        if view.tasks:
            rows.append(Content.assemble("w", " picks one of ", paint.plural(len(view.tasks), "task"), "."))
        else:
            rows.append(
                Content.assemble(
                    ("+", "bold"), (" makes the first one; so does workbench task new TITLE,", paint.QUIET)
                )
            )
            rows.append(Content.styled("and it shows here by itself.", paint.QUIET))
        return paint.stack(rows)

    def _top(self, card: TaskView, view: View) -> Iterator[Content]:
        task = card.task
        yield paint.line(task.title, "bold")
        revision = f"{task.status} · plan {task.plan_revision}"
        yield Content.styled(revision, paint.QUIET)
        if task.contract.objective and task.contract.objective != task.title:
            yield paint.line(task.contract.objective, limit=1200)
        yield from self._contested(card, view)
        yield from self._people(card, view)

    def _lower(self, card: TaskView) -> Iterator[Content]:
        yield from self._acceptance(card)
        yield from self._failure(card)
        yield from self._items(card)
        yield from self._variables(card)
        yield from self._attempts(card)

    def _section(self, title: str, rows: Iterable[Content]) -> Iterator[Content]:
        listed = list(rows)
        if listed:
            yield Content("")
            yield Content.styled(title, "$label bold")
            yield from listed

    def _contested(self, card: TaskView, view: View) -> Iterator[Content]:
        """What merged copies say differently."""
        whose = {attempt.id: paint.who(attempt.executor) for attempt in card.attempts}

        def rows() -> Iterator[Content]:
            for row in view.contests[:CONTESTS_SHOWN]:
                title = field_words(row.field) if row.id == card.task.id else row.title
                yield Content.assemble(("≠ ", "$life-contested"), paint.line(title, limit=200))
                for claim in row.claims:
                    stands = ("  stands now", paint.QUIET) if row.stands(claim) else ("", "")
                    said = claim_text(claim)
                    yield Content.assemble("  ", paint.line(whose.get(said, said), limit=200), stands)
            if len(view.contests) > CONTESTS_SHOWN:
                yield Content.styled(f"… and {len(view.contests) - CONTESTS_SHOWN} more", paint.QUIET)

        yield from self._section("contested (s settles)", rows())

    def _people(self, card: TaskView, view: View) -> Iterator[Content]:
        def rows() -> Iterator[Content]:
            if card.running is not None:
                ended = (
                    Content.assemble("  ", paint.line(card.program_ended, "$warn", 80)) if card.program_ended else ""
                )
                yield Content.assemble(self._attempt(card.running, card.task.plan_revision), ended)
            else:
                yield Content.styled("nobody runs it", paint.QUIET)
            for session in view.sessions:
                yield self._session(session)

        yield from self._section("who", rows())

    def _session(self, session: SessionView) -> Content:
        marks = {"live": ("●", "$good"), "idle": ("○", "$quiet"), "absent": ("×", "$warn")}
        symbol, style = marks.get(session.status, ("?", "$quiet"))
        standing, standing_style = session_standing(session, self.now)
        parts: list[Content | str | tuple[str, str]] = [
            (f"{symbol} ", style),
            paint.line(session.agent, limit=20),
            " ",
            paint.line(standing, standing_style, 40),
        ]
        if session.full is not None:
            parts.append((f" · {session.full:.0%} full", "$warn" if session.full >= 0.8 else paint.QUIET))
        parts.append((f" · {paint.plural(session.messages, 'message')}", paint.QUIET))
        if session.unreadable:
            parts.append((f" · {paint.plural(session.unreadable, 'line')} unreadable", "$warn"))
        return paint.join(parts)

    def _acceptance(self, card: TaskView) -> Iterator[Content]:
        def rows() -> Iterator[Content]:
            for item in card.acceptance:
                box, style = paint.VERDICT.get(item.verdict, ("[ ]", paint.QUIET))
                optional = ("", "") if item.required else (" (optional)", paint.QUIET)
                yield Content.assemble((f"{box} ", style), paint.line(item.text), optional)
                shown = shown_by(item)
                dot = (" · ", paint.QUIET) if shown else ("", "")
                yield Content.assemble((f"    {item.verdict}", style), dot, paint.line(shown, paint.QUIET))

        yield from self._section("acceptance", rows())

    def _failure(self, card: TaskView) -> Iterator[Content]:
        failure = card.failure
        if failure is None:
            return

        def rows() -> Iterator[Content]:
            command = " ".join(failure.argv) or failure.command
            code = "exit unknown" if failure.exit_code is None else f"exit {failure.exit_code}"
            yield Content.assemble(("! ", "$bad"), paint.line(command), (f"  {code}", "$bad"))
            excerpt, left = paint.lines(failure.excerpt.strip(), EXCERPT_LINES, paint.QUIET, 200)
            if excerpt:
                yield excerpt
            if left:
                yield Content.styled(f"… {paint.plural(left, 'line')} left off", paint.QUIET)

        yield from self._section("last failure", rows())

    def _items(self, card: TaskView) -> Iterator[Content]:
        state = card.task.state
        interrupted = set(card.interrupted)

        def pending() -> Iterator[Content]:
            for item in sorted((i for i in state.pending if i.accepted), key=lambda i: i.priority):
                started = item.text in interrupted
                symbol = ("‖ ", "$warn") if started else (("▸ ", "$info") if item.started else ("☐ ", paint.QUIET))
                note = (" interrupted", "$warn") if started else (" begun", "$info") if item.started else ("", "")
                blocks = (" blocks the goal", "$warn") if item.priority == 1 else ("", "")
                yield Content.assemble(symbol, paint.line(item.text), note, blocks)

        def done() -> Iterator[Content]:
            for item in state.done[-DONE_SHOWN:]:
                known = ("✓ ", "$good") if item.known == "verified" else ("✓ ", paint.QUIET)
                claim = ("", "") if item.known == "verified" else (" (claimed)", paint.QUIET)
                yield Content.assemble(known, paint.line(item.text), claim)
            if len(state.done) > DONE_SHOWN:
                yield Content.styled(f"… and {len(state.done) - DONE_SHOWN} before", paint.QUIET)

        yield from self._section("to do", pending())
        yield from self._section("to put right", self._findings(card))
        yield from self._section("done", done())

    def _findings(self, card: TaskView) -> Iterator[Content]:
        """What is odd about the state and not shown by the items themselves."""
        for found in [found for found in card.findings if found.code not in _SHOWN_ELSEWHERE][:ODD_SHOWN]:
            yield Content.assemble(("! ", "$warn"), paint.line(found.text))
            yield Content.assemble("  ", paint.line(found.offer, paint.QUIET))

    def _variables(self, card: TaskView) -> Iterator[Content]:
        values = card.task.state.variables
        declared = card.task.contract.variables

        def rows() -> Iterator[Content]:
            for name in sorted(set(values) | set(declared)):
                value = paint.line(value_text(values[name]), limit=120) if name in values else ("not set", "$warn")
                yield Content.assemble(paint.line(name, "$label", 60), (" = ", paint.QUIET), value)

        yield from self._section("variables", rows())

    def _attempts(self, card: TaskView) -> Iterator[Content]:
        running = card.running.id if card.running else None
        past = [attempt for attempt in reversed(card.attempts) if attempt.id != running]
        rows = (self._attempt(attempt, card.task.plan_revision) for attempt in past[:8])
        yield from self._section("attempts before", rows)

    def _attempt(self, attempt: Attempt, revision: int) -> Content:
        since = paint.clock(attempt.started.at, self.now)
        ended = paint.clock(attempt.ended.at, self.now) if attempt.ended else ""
        outdated = attempt.plan_revision < revision and attempt.ended is None
        span = f" {since}–{ended}" if ended else f" since {since}"
        return Content.assemble(
            ("▸ ", "$info") if attempt.ended is None else ("· ", paint.QUIET),
            paint.line(paint.who(attempt.executor), "bold" if attempt.ended is None else "", 30),
            (f" {attempt.status.replace('_', ' ')}", paint.QUIET),
            (span, paint.QUIET),
            (" outdated: the plan changed", "$warn") if outdated else ("", ""),
        )


def session_standing(session: SessionView, now: datetime) -> tuple[str, str]:
    """Whether a session is live, or for how long it has not been; with its style."""
    since = paint.ago(session.updated_at, now) if session.status == "idle" else ""
    words = {"absent": "not on this machine"}.get(session.status, session.status)
    return (f"{words} {since}".rstrip(), "$good" if session.status == "live" else paint.QUIET)


_CHECKS = {"command": "shown by command ", "output": "shown by output ", "file": "shown by file "}


def shown_by(item: AcceptanceView) -> str:
    """What shows an acceptance item, or would show it, as a person says it."""
    check, found, name = item.evidence.removeprefix("needs ").partition(":")
    if item.verdict == "waiting" and found and check in _CHECKS:
        return _CHECKS[check] + name
    if item.verdict == "waiting" and check == "manual":
        return "a person confirms it"
    return item.evidence.removeprefix("claim ") if item.verdict == "claimed" else item.evidence
