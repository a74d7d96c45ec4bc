"""A desk in memory: it answers like the services and remembers what it was asked to do."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

from tests.tui import data
from workbench.domain.contested import Contest
from workbench.domain.message import Message
from workbench.domain.package import Difference, LaunchWay
from workbench.domain.record import Claim
from workbench.domain.trimming import Fate, GuardFinding, guard, with_partners
from workbench.errors import NotFoundError, UsageError
from workbench.services.request import RequestView
from workbench.services.reviewing import Found, Review
from workbench.services.rollback import Entry, Plan
from workbench.services.view import Step, View
from workbench.tui.desk import (
    AgentChoice,
    Choice,
    ClaimShown,
    Cut,
    CutAct,
    Draft,
    Handed,
    LaunchOffer,
    PackageRow,
    Pulse,
    SessionChoice,
    Settling,
    UndoPlan,
    Written,
)
from workbench.watching import Watched

ROWS = (
    ("contract", "Export invoices as PDF/A so that customers can file them", "required", 96, 0, None),
    ("guideline", "Amounts are integers in cents", "required", 12, 0, None),
    ("failure", "verapdf --flavour 2b out/ten-pages.pdf: exit 1", "required", 88, 0, None),
    ("fact", "pdf.font = Noto Sans", "high", 11, 1560, None),
    ("fact", "to settle: pdf.orientation landscape or portrait", "high", 34, 1490, None),
    ("state", "embed a subset of the font (blocks the goal)", "high", 16, 1400, None),
    ("file", "src/export/pdf.py, 214 lines", "high", 402, 1200, None),
    ("message", "Landscape looks odd in the archive. Make it portrait instead, A4.", "medium", 24, 940, None),
    ("evidence", "uv run pytest tests/export: exit 0", "medium", 22, 900, None),
    ("message", '{"licence": "OFL-1.1", "faces": [', "low", 1840, 120, "over_budget"),
    ("fact", "python.version = 3.12", "low", 9, 90, "past_review"),
)


class FakeDesk:
    """Everything a person can do, without a file."""

    def __init__(self, view: View | None = None, *, refusal: str = "") -> None:
        self.shown = view or data.view()
        self.done: list[tuple[object, ...]] = []
        self.differences: tuple[Difference, ...] = ()
        self.last: Choice | None = None
        self.failure = ""
        self.ways: tuple[LaunchWay, ...] = ("copy", "print")
        self.package_figures: tuple[str, int, int] | None = ("codex", 911, 911)
        self.stale_by_cut: tuple[str, ...] = ()
        self.left = "claude gave the task up"
        self.observed = True
        self.wrong = ""
        self.found = data.review()
        self.sessions_here: tuple[SessionChoice, ...] = data.SESSIONS
        self.joining: list[str] = []
        self._refusal = refusal
        self._beat = 0

    def change(self, **changes: object) -> None:
        """Let the workspace change behind the app's back."""
        self._beat += 1
        self.shown = replace(self.shown, revision=f"{self.shown.revision}+{self._beat}", **changes)  # type: ignore[arg-type]

    def view(self, *, records: bool = True) -> View:
        return self.shown

    def pulse(self, thorough: bool = False) -> Pulse:
        return Pulse(self.shown.revision)

    def watched(self) -> Watched:
        return Watched(())

    def keep_index(self, pause: Callable[[], None]) -> None:
        pass

    def refusal(self) -> str:
        return self._refusal

    def resume(self) -> list[str]:
        return []

    def body(self, message: Message) -> str:
        return message.text + "x" * (message.size - len(message.text))

    def sessions(self, task: str) -> tuple[SessionChoice, ...]:
        return self.sessions_here

    def attach(self, task: str, session: str) -> str:
        self.done.append(("attach", task, session))
        return "The session belongs to the task now."

    def join(self) -> list[str]:
        said, self.joining = self.joining, []
        return said

    def use_task(self, task: str) -> None:
        self.done.append(("use", task))

    def suggest(self, task: str) -> frozenset[str]:
        return frozenset(f"{data.SESSION}#{id_}" for id_ in ("m0004", "m0007", "m0006"))

    def plan_cut(self, task: str, ids: Collection[str], act: CutAct, text: str = "") -> Cut:
        rows = self.shown.history.messages
        messages = [row.message for row in rows]
        marked = {m.id for m in messages if m.ref in ids}
        chosen = with_partners(messages, marked)
        fates: dict[str, Fate] = {row.message.id: row.fate for row in rows}
        saved = sum(r.tokens for r in rows if r.message.id in chosen and r.fate.disposition == "kept")
        back = 24 * len(chosen) if act != "drop" else 0
        findings: tuple[GuardFinding, ...] = guard(messages, fates, chosen, {r.message.id for r in rows if r.cited})
        kept = self.shown.history.tokens_kept
        return Cut(
            act,
            tuple(sorted(f"{data.SESSION}#{one}" for one in chosen)),
            len(chosen) - len(marked),
            kept,
            kept - saved + back,
            "this history, as views and exports carry it; the running agent's own context does not change",
            findings,
            self.package_figures,
            self.stale_by_cut,
        )

    def cut(self, task: str, plan: Cut, text: str = "", yes: bool = False) -> str:
        self.done.append((plan.act, plan.ids, text, yes))
        rows = tuple(
            replace(row, fate=replace(row.fate, disposition="dropped")) if row.message.ref in plan.ids else row
            for row in self.shown.history.messages
        )
        self.change(history=replace(self.shown.history, messages=rows, tokens_kept=plan.after))
        return f"{len(plan.ids)} messages: {plan.act}."

    def restore(self, task: str, ids: Collection[str]) -> str:
        self.done.append(("restore", tuple(ids)))
        return "restored."

    def settlement(self, fact: str) -> Settling:
        rows = [row for row in self.shown.facts if row.fact.id == fact]
        if not rows:
            raise NotFoundError(f"no fact {fact}", "look again")
        row = rows[0]
        if row.lifecycle == "challenged":
            row = next(f for f in self.shown.facts if f.fact.id == row.against[0].id)
        active = row.against[0] if row.against else None
        expect = f"{active.id}@{active.version}" if active else "none"
        depends = ("task invoice-pdf", "package pk1stale00 for codex goes stale")
        task = data.TASK_ID if active else None
        return Settling(row, active, (), depends, expect, task, ("pdf.orientations",))

    def confirm(self, fact: str, expect: str | None, value: str | None = None) -> str:
        self.done.append(("confirm", fact, expect, value))
        self.change(facts=tuple(f for f in self.shown.facts if f.lifecycle == "active"))
        return "pdf.orientation is portrait."

    def keep_both(self, fact: str, expect: str | None, task: str) -> str:
        self.done.append(("keep_both", fact, expect, task))
        return "pdf.orientation is portrait for invoice-pdf alone."

    def join_keys(self, key: str, other: str) -> str:
        self.done.append(("join_keys", key, other))
        return f"{key} leads to {other}."

    def reject(self, fact: str, why: str) -> str:
        self.done.append(("reject", fact, why))
        return "rejected."

    def claims(self, contest: Contest) -> tuple[ClaimShown, ...]:
        return tuple(ClaimShown(c, str(c.value), f"said by {c.change}", contest.stands(c)) for c in contest.claims)

    def settle_contest(self, contest: Contest, claim: Claim) -> str:
        self.done.append(("settle_contest", contest.field, claim.value))
        self.change(contests=())
        return f"{contest.title} is {claim.value}."

    def _written(self, *act: object) -> Written:
        if self.wrong:
            raise UsageError(self.wrong, "write it otherwise")
        self.done.append(act)
        return Written("It is written.")

    def listen(self, pause: Callable[[], None]) -> bool:
        return False

    def review(self) -> Review:
        return self.found

    def _decided(self, what: str, one: Found, *more: object) -> str:
        self.done.append((what, one.id, *more))
        self.found = replace(
            self.found,
            offered=tuple(row for row in self.found.offered if row.id != one.id),
            rest=tuple(row for row in self.found.rest if row.id != one.id),
        )
        self.change(offered=len(self.found.offered))
        return f"{what}: {one.text}"

    def accept_found(self, one: Found, typed: str | None = None) -> str:
        return self._decided("accept_found", one, typed)

    def keep_both_found(self, one: Found) -> str:
        return self._decided("keep_both_found", one)

    def refuse_found(self, one: Found, why: str) -> str:
        return self._decided("refuse_found", one, why)

    def skip_found(self, one: Found) -> str:
        return self._decided("skip_found", one)

    def new_task(self, title: str, objective: str) -> Written:
        return self._written("new_task", title, objective)

    def new_fact(self, key: str, value: str, statement: str, constraint_of: str | None = None) -> Written:
        return self._written("new_fact", key, value, statement, constraint_of)

    def edit_fact(self, fact: str, version: int, value: str, statement: str) -> Written:
        return self._written("edit_fact", fact, version, value, statement)

    def edit_task(self, task: str, version: int, title: str, objective: str) -> Written:
        return self._written("edit_task", task, version, title, objective)

    def agents(self) -> tuple[AgentChoice, ...]:
        return (
            AgentChoice("claude", "Claude Code", None, 200_000, "o200k", True),
            AgentChoice("codex", "Codex", "/usr/local/bin/codex", 272_000, "o200k", False),
            AgentChoice("mine", "mine", "/home/dev/bin/mine", None, "bytes", True),
        )

    def remembered(self) -> Choice | None:
        return self.last

    def draft(self, task: str, choice: Choice) -> Draft:
        self.done.append(("draft", choice))
        budget = choice.budget or 1024
        rows: list[PackageRow] = []
        used = 0
        for number, (kind, title, tier, tokens, score, reason) in enumerate(ROWS):
            id_ = f"row{number}"
            fits = used + tokens <= budget
            included = tier == "required" or (
                id_ not in choice.without and fits and (reason is None or id_ in choice.pins)
            )
            used += tokens if included else 0
            why = None if included else "left_out_by_person" if id_ in choice.without else reason or "over_budget"
            parts = (("of_the_task", score - 60), ("recency", 60)) if score else ()
            form = "body" if included else None
            rows.append(PackageRow(id_, kind, title, tier, included, form, tokens, tokens, score, parts, why))
        blocked = "" if budget >= 200 else "what is required exceeds the budget by 84 tokens"
        prompt = "# Handoff\n\nObjective: Export invoices as PDF/A\n\n" + "\n".join(
            f"- {r.title}" for r in rows if r.included
        )
        return Draft(choice, used, budget, "o200k", True, 272_000, tuple(rows), prompt, "9d3f00aa17bc2e54", blocked)

    def prepare(self, task: str, choice: Choice, replaces: str | None = None) -> str:
        self.done.append(("prepare", choice, replaces))
        self.change(packages=(data.package("pk3new0000", "pending", choice.to), *self.shown.packages))
        return "pk3new0000"

    def stored(self, package: str) -> Draft:
        found = next(p for p in self.shown.packages if p.envelope.id == package)
        return replace(self.draft(data.TASK_ID, Choice(found.envelope.identity.to)), package=package)

    def check(self, package: str) -> tuple[Difference, ...]:
        found = [p for p in self.shown.packages if p.envelope.id == package]
        return self.differences or (found[0].differences if found else ())

    def offers(self, package: str) -> tuple[LaunchOffer, ...]:
        command = 'cd /repo/billing && codex "Read the file /out/prompt.md completely (handoff 9d3f00aa17bc2e54)."'
        notes = {"copy": "puts the command on the clipboard", "print": "shows where the prompt lies and the command"}
        offers = tuple(LaunchOffer(way, command, notes.get(way, way)) for way in self.ways)
        return (*offers, LaunchOffer("tmux", command, "a new pane", "this terminal is not in tmux"))

    def hand_over(self, package: str, way: LaunchWay, override: str | None = None) -> Handed:
        self.done.append(("hand_over", package, way, override))
        status = "failed" if self.failure else "launched"
        self.change(packages=(data.package(package, status, "codex", why=self.failure), *self.shown.packages[1:]))
        offer = self.offers(package)[0]
        return self._handed(package, way, offer.command)

    def handed(self, package: str) -> Handed:
        self.done.append(("handed", package))
        return self._handed(package, "print", self.offers(package)[0].command)

    def _handed(self, package: str, way: LaunchWay, command: str) -> Handed:
        made = Handed(package, way, command, Path("/out/prompt.md"), (), self.failure, f"run {command}")
        return replace(made, agent="Codex", left=self.left, observed=self.observed)

    def leaving(self, package: str) -> str:
        return "Claude Code is asked to stop: /exit in pane %3"

    def fallen(self, package: str) -> str:
        self.done.append(("fallen", package))
        return "failed: the old executor can be taken up again"

    def take_up_again(self, package: str) -> str:
        self.done.append(("again", package))
        return "claude runs the task again."

    def reject_package(self, package: str, why: str) -> str:
        self.done.append(("reject_package", package, why))
        return "rejected."

    def request(self, word: str) -> RequestView:
        self.done.append(("request", word))
        return data.request(int(word.rpartition("#")[2]) if word.rpartition("#")[2].isdigit() else data.REQUESTS[-1])

    def timeline(self, kind: str, record: str) -> tuple[Step, ...]:
        self.done.append(("timeline", kind, record))
        return data.STEPS

    def plan_rollback(self, record: str, change: str) -> Plan:
        self.done.append(("plan_rollback", record, change))
        if change == data.STEPS[0].change:
            return Plan("rollback", ())
        return Plan("rollback", (Entry("facts", record, 3, {}, {}, data.STEPS[0].differences),))

    def roll_back(self, plan: Plan) -> str:
        self.done.append(("roll_back", plan.entries[0].id))
        return "Done: rollback."

    def undo_plan(self) -> UndoPlan | None:
        return UndoPlan("ch1", "history drop invoice-pdf", "human:dev", data.at(11), ("2 messages of claude:7d1e",))

    def undo(self, change: str) -> str:
        self.done.append(("undo", change))
        return "Taken back: history drop invoice-pdf."
