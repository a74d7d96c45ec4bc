"""Trim: what the cut saves and in what, what stands against it, and which of the three it is to be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static

from workbench.domain.message import Message
from workbench.tui import paint
from workbench.tui.desk import Cut, CutAct
from workbench.tui.screens.modal import Modal
from workbench.tui.widgets.key_bar import BarKey
from workbench.tui.widgets.task_pane import TaskScroll

ACTS: tuple[tuple[CutAct, str, str], ...] = (
    ("drop", "d", "a line says what was here; it can be restored"),
    ("summarise", "m", "your sentence, or a digest by rules, stands in its place"),
    ("externalise", "x", "the content goes to a file; a line says how to read it"),
)
FINDINGS_SHOWN = 14


@dataclass(frozen=True)
class TrimAnswer:
    """What the person decided."""

    act: CutAct
    text: str = ""
    yes: bool = False


class TrimScreen(Modal[TrimAnswer]):
    """One cut, in three ways."""

    TITLE_TEXT = "trim"
    BINDINGS = [  # noqa: RUF012
        ("d", "choose('drop')", "drop"),
        ("m", "choose('summarise')", "summarise"),
        ("x", "choose('externalise')", "externalise"),
        ("j,down", "step(1)", "next"),
        ("k,up", "step(-1)", "before"),
        ("enter", "go", "do it"),
    ]

    def __init__(self, plans: Mapping[CutAct, Cut], messages: Mapping[str, Message]) -> None:
        super().__init__()
        self._plans, self._messages = plans, messages
        self._act: CutAct = "drop"

    @property
    def plan(self) -> Cut:
        """The plan of the act chosen."""
        return self._plans[self._act]

    def content(self) -> ComposeResult:
        """Figures, acts, findings, and the lines to type into."""
        yield Static(Content(""), id="figures", markup=False)
        yield Static(Content(""), id="acts", markup=False, classes="gap")
        yield Input(placeholder="a sentence of your own, or leave empty for a digest", compact=True, id="sentence")
        with TaskScroll(id="findings", classes="gap"):
            yield Static(Content(""), id="finding-text", markup=False)
        yield Input(placeholder="type yes to cut these all the same", compact=True, id="yes")

    def on_mount(self) -> None:
        """Show the first act."""
        self._write()
        self.query_one("#findings").focus()

    def keys(self) -> list[BarKey]:
        """Which act; enter does it."""
        return [
            BarKey("d", "drop", "choose('drop')"),
            BarKey("m", "summarise", "choose('summarise')"),
            BarKey("x", "externalise", "choose('externalise')"),
            BarKey("enter", "cut", "go", not self.plan.blocked),
        ]

    def _write(self) -> None:
        plan = self.plan
        self.query_one("#figures", Static).update(paint.stack(self._figures(plan)))
        self.query_one("#acts", Static).update(paint.stack(self._act_rows()))
        self.query_one("#sentence").display = self._act == "summarise"
        self.query_one("#finding-text", Static).update(paint.stack(self._findings(plan)))
        self.query_one("#findings").display = bool(plan.findings)
        self.query_one("#yes").display = plan.needs_yes and not plan.blocked
        self.refresh_keys()

    def _figures(self, plan: Cut) -> Iterator[Content]:
        partners = f", {plan.partners} of them because a call and its result go together" if plan.partners else ""
        yield Content.assemble((paint.plural(len(plan.ids), "message"), "bold"), (partners, paint.QUIET))
        saved = plan.before - plan.after
        share = f"  -{saved / plan.before:.0%}" if plan.before else ""
        yield Content.assemble(
            paint.count(plan.before),
            (" → ", paint.QUIET),
            (paint.count(plan.after), "bold $good"),
            f" tokens  (-{paint.count(saved)}{share})",
        )
        yield Content.assemble(("in ", paint.QUIET), paint.line(plan.in_what, paint.QUIET))

    def _act_rows(self) -> Iterator[Content]:
        for act, key, what in ACTS:
            chosen = act == self._act
            after = self._plans[act].after
            yield Content.assemble(
                ("▸ " if chosen else "  ", "$focus"),
                (f"{key} ", "$focus"),
                paint.word(act, 13, "bold" if chosen else ""),
                paint.word(paint.short(after), 7, "" if chosen else paint.QUIET, right=True),
                ("  ", ""),
                (what, paint.QUIET),
            )

    def _findings(self, plan: Cut) -> Iterator[Content]:
        stops = Counter(f.stops for f in plan.findings)
        if stops["always"]:
            yield Content.styled("This cannot be cut:", "$bad bold")
        elif stops["unless_yes"]:
            yield Content.styled("Kept unless you type yes:", "$warn bold")
        else:
            yield Content.styled("Before it goes:", "$label bold")
        order = {"always": 0, "unless_yes": 1, "warns": 2}
        shown = sorted(plan.findings, key=lambda f: order[f.stops])
        for finding in shown[:FINDINGS_SHOWN]:
            symbol, style = {"always": ("×", "$bad"), "unless_yes": ("!", "$warn"), "warns": ("·", paint.QUIET)}[
                finding.stops
            ]
            message = self._messages.get(finding.message)
            words = paint.line(paint.gist(message), limit=56) if message else paint.line(finding.message)
            yield Content.assemble((f"{symbol} ", style), paint.line(finding.text, style), ("  ", ""), words)
        if len(shown) > FINDINGS_SHOWN:
            yield Content.styled(f"… and {len(shown) - FINDINGS_SHOWN} more", paint.QUIET)

    def action_choose(self, act: CutAct) -> None:
        """Another of the three."""
        self._act = act
        self._write()
        if act == "summarise":
            self.query_one("#sentence").focus()

    def action_step(self, by: int) -> None:
        """The next of the three."""
        names = [act for act, _, _ in ACTS]
        self.action_choose(names[(names.index(self._act) + by) % len(names)])

    def action_go(self) -> None:
        """Do it, where nothing stands against it."""
        plan, typed = self.plan, self.query_one("#yes", Input).value.strip().lower()
        if plan.blocked:
            self.notify("A guideline is never trimmed: take it out of the marks.", severity="warning", markup=False)
            return
        if plan.needs_yes and typed != "yes":
            self.query_one("#yes").focus()
            self.notify("These are kept unless you type yes.", severity="warning", markup=False)
            return
        text = self.query_one("#sentence", Input).value.strip() if self._act == "summarise" else ""
        self.dismiss(TrimAnswer(self._act, text, plan.needs_yes))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter in a line does the cut."""
        event.stop()
        self.action_go()
