"""Trim: what the cut saves and in what, what stands against it, and which of the three it is to be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static

from workbench.services.view import MessageView
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
LISTED = 6, 2
"""Lines for the messages that go, the largest first: at most, and where there is hardly room."""
TALL = 32
"""Lines of the screen from which there are blank lines between the parts."""
FRAME, GAPS = 4, 7
"""Lines of the frame and the keys, and those that stay blank where there are such."""
GROUPS = (
    ("always", "×", "$bad", "A guard stops this: it cannot be cut"),
    ("unless_yes", "!", "$warn", "A guard stops this unless you type yes"),
    ("warns", "·", "$label", "A warning, which stops nothing: these conclusions are not saved"),
)
"""How strong what stands against a cut is, with a sign, a style and words."""


@dataclass(frozen=True)
class TrimAnswer:
    """What the person decided."""

    act: CutAct
    text: str = ""
    yes: bool = False


class TrimScreen(Modal[TrimAnswer]):
    """One cut, in three ways."""

    TITLE_TEXT = "trim"
    KEY_LINES = 2
    VERTICAL_BREAKPOINTS = [(0, "-low"), (20, "-short"), (TALL, "-tall")]  # noqa: RUF012
    BINDINGS = [  # noqa: RUF012
        ("d", "choose('drop')", "drop"),
        ("m", "choose('summarise')", "summarise"),
        ("x", "choose('externalise')", "externalise"),
        ("j,down", "step(1)", "next"),
        ("k,up", "step(-1)", "before"),
        ("enter", "go", "do it"),
    ]

    def __init__(self, plans: Mapping[CutAct, Cut], rows: Sequence[MessageView]) -> None:
        super().__init__()
        self._plans = plans
        self._messages = {row.message.id: row.message for row in rows}
        going = {*next(iter(plans.values())).ids}
        self._going = sorted((row for row in rows if row.message.ref in going), key=lambda row: -row.tokens)
        self._act: CutAct = "drop"

    @property
    def plan(self) -> Cut:
        """The plan of the act chosen."""
        return self._plans[self._act]

    @property
    def able(self) -> bool:
        """Whether nothing that nobody can overrule stands against it."""
        return not self.plan.blocked

    def content(self) -> ComposeResult:
        """Figures, what goes, acts, findings, and the lines to type into."""
        yield Static(Content(""), id="figures", markup=False)
        yield Static(Content(""), id="going", markup=False, classes="gap")
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
            BarKey("d m x", "choose how", "step(1)"),
            BarKey("enter", f"cut: {self._act} {paint.plural(len(self.plan.ids), 'message')}", "go", self.able, -1),
        ]

    def on_resize(self) -> None:
        """Rows are cut at the width, once the box has its own; the findings take what is left of the height."""
        self.call_after_refresh(self._write)

    def _write(self) -> None:
        plan = self.plan
        width = self.query_one("#figures").size.width or 94
        tall = self.app.size.height >= TALL
        figures, acts, findings = list(self._figures(plan)), list(self._act_rows(width)), list(self._findings(plan))
        used = FRAME + GAPS * tall + plan.needs_yes + (self._act == "summarise") + len(figures) + len(acts) + 1
        most, least = LISTED
        going = list(self._going_rows(max(least, min(most, self.app.size.height - used - len(findings)))))
        for name, rows in (("figures", figures), ("going", going), ("acts", acts)):
            shown = [row.truncate(width, ellipsis=True) for row in rows]
            self.query_one(f"#{name}", Static).update(paint.stack(shown))
        self.query_one("#findings").styles.max_height = max(3, self.app.size.height - used - len(going) + 1)
        self.query_one("#sentence").display = self._act == "summarise"
        self.query_one("#finding-text", Static).update(paint.stack(findings))
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
            f" tokens of this history  (-{paint.count(saved)}{share})",
        )
        yield self._package(plan)
        if plan.stale:
            whose = paint.line(", ".join(dict.fromkeys(plan.stale)), "bold", 40)
            several = len(plan.stale) > 1
            yield Content.assemble(
                f"pending package{'s' * several} for ", whose, (f" count{'s' * (not several)} as stale then", "$warn")
            )
        what, _, rest = plan.in_what.partition("; ")
        yield Content.assemble(("the first figure is of ", paint.QUIET), paint.line(what, paint.QUIET))
        if rest:
            yield paint.line(rest, paint.QUIET)

    def _package(self, plan: Cut) -> Content:
        """The other figure: a package carries little of a history, so it may not change at all."""
        if plan.package is None:
            return Content.styled("next package: none can be made as things are", paint.QUIET)
        to, before, after = plan.package
        lead = Content.assemble("next package for ", paint.line(to, "bold", 30), ", made anew: ")
        if before == after:
            return Content.assemble(lead, "still ", (paint.count(before), "bold"), " tokens")
        style = "bold $good" if after < before else "bold $warn"
        return Content.assemble(lead, paint.count(before), (" → ", paint.QUIET), (paint.count(after), style), " tokens")

    def _going_rows(self, most: int) -> Iterator[Content]:
        """What goes: kinds with their numbers, then the largest messages, on at most so many lines."""
        kinds: dict[str, list[int]] = {}
        for row in self._going:
            kinds.setdefault(f"{paint.speaker(row.message)[0]} {paint.kind(row.message)}", []).append(row.tokens)
        order = sorted(kinds.items(), key=lambda item: -sum(item[1]))
        yield Content.assemble(
            ("goes  ", "$label bold"),
            Content(" · ").join(
                Content.assemble(f"{len(tokens)} {name} ", (paint.short(sum(tokens)), paint.QUIET))
                for name, tokens in order
            ),
        )
        listed = len(self._going) if len(self._going) <= most else most - 1
        for row in self._going[:listed]:
            who, style = paint.speaker(row.message)
            yield Content.assemble(
                paint.word(paint.count(row.tokens), 8, right=True),
                "  ",
                paint.word(who, 6, style),
                paint.line(paint.gist(row.message), limit=70),
            )
        left = self._going[listed:]
        if left:
            tokens = paint.count(sum(row.tokens for row in left))
            yield Content.styled(f"          and {len(left)} more, {tokens} tokens", paint.QUIET)

    def _act_rows(self, width: int) -> Iterator[Content]:
        for act, key, what in ACTS:
            chosen = act == self._act
            after = self._plans[act].after
            head = Content.assemble(
                ("▸ " if chosen else "  ", "$focus"),
                (f"{key} ", "$focus"),
                paint.word(act, 13, "bold" if chosen else ""),
                paint.word(paint.short(after), 7, "" if chosen else paint.QUIET, right=True),
                ("  ", ""),
            )
            for line in Content.styled(what, paint.QUIET).wrap(max(12, width - head.cell_length)):
                yield Content.assemble(head, line.rstrip())
                head = Content(" " * head.cell_length)

    def _findings(self, plan: Cut) -> Iterator[Content]:
        room = FINDINGS_SHOWN
        for stops, symbol, style, title in GROUPS:
            found = [finding for finding in plan.findings if finding.stops == stops]
            if not found:
                continue
            yield Content.styled(f"{title}: {paint.plural(len(found), 'message')}", f"{style} bold")
            for finding in found[: max(0, room)]:
                message = self._messages.get(finding.message)
                words = paint.line(paint.gist(message), limit=56) if message else paint.line(finding.message)
                yield Content.assemble((f"{symbol} ", style), paint.line(finding.text, style), ("  ", ""), words)
            if len(found) > max(0, room):
                yield Content.styled(f"… and {len(found) - max(0, room)} more", paint.QUIET)
            room -= len(found)

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
