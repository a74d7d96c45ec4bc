"""Handing off, over the real services."""

from __future__ import annotations

import threading
from typing import Any

import msgspec

from workbench.agents.program import installed
from workbench.compiler import Blocked
from workbench.domain.package import Difference, LaunchWay
from workbench.domain.record import Json
from workbench.domain.task import Task
from workbench.errors import RefusedError, WorkbenchError
from workbench.handoff import tmux
from workbench.handoff.launch import LaunchPlan, quoted
from workbench.services import handover, packages
from workbench.services.context import Context
from workbench.services.packages import CompileOptions, Preview
from workbench.store.records import StoredPackage
from workbench.tui.agents_read import agents_read
from workbench.tui.desk import AgentChoice, Choice, Draft, Handed, LaunchOffer, PackageRow
from workbench.tui.desk_base import DeskBase

Words = tuple[str, ...]
LAST_CHOICE = "last_handoff"
"""Name of the remembered choice in this machine's state."""
_NOTES: dict[LaunchWay, str] = {
    "tmux": "a new tmux pane beside this one, without taking the focus",
    "copy": "puts the command on the clipboard; you start it in another terminal",
    "print": "shows the command and where the prompt lies; you start it yourself",
    "foreground": "the agent takes this terminal; the workbench comes back when it ends",
}


class PackageDesk(DeskBase):
    """Agents, packages, launches; drafts are kept one at a time."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._lock = threading.Lock()
        self._preview: tuple[str, Preview] | None = None

    def agents(self) -> tuple[AgentChoice, ...]:
        """Every agent that is known, installed ones first."""
        rows = [
            AgentChoice(
                name=program.name,
                title=program.title,
                executable=installed(program, self.ctx.env),
                window=program.window,
                tokenizer=program.tokenizer,
                estimated=program.estimated,
            )
            for program in self.ctx.programs.values()
        ]
        return tuple(sorted(rows, key=lambda row: (row.executable is None, row.title)))

    def remembered(self) -> Choice | None:
        """The last agent and budget on this machine."""
        value = self.ctx.workspace.local.get(LAST_CHOICE)
        if not isinstance(value, dict) or value.get("to") not in self.ctx.programs:
            return None
        budget = value.get("budget")
        return Choice(to=str(value["to"]), budget=budget if isinstance(budget, int) else None)

    def draft(self, task: str, choice: Choice) -> Draft:
        """A package as it would be; only packed anew while records and agent stay the same."""
        with self._lock:
            looked = self._packed(self._task(task), choice)
            return self._draft(choice, looked)

    def _packed(self, task: Task, choice: Choice) -> Preview:
        mark = f"{choice.to}\n{self._marks()}"
        known = self._preview[1] if self._preview is not None and self._preview[0] == mark else None
        if known is None or (choice.budget is None and known.options.budget is not None):
            options = CompileOptions(budget=choice.budget, pins=choice.pins, without=choice.without)
            looked = packages.preview(self.ctx, task, choice.to, options)
        else:
            looked = known.pack(budget=choice.budget, pins=choice.pins, without=choice.without)
        self._preview = (mark, looked)
        return looked

    def _draft(self, choice: Choice, looked: Preview) -> Draft:
        program = self.ctx.programs[choice.to]
        result = looked.result
        if isinstance(result, Blocked):
            document = result.as_json()
            rows = tuple(
                PackageRow(str(r["id"]), "", str(r["id"]), "required", False, None, r["tokens"], r["smallest"], 0)
                for r in document["required"]
            )
            why = f"what is required exceeds the budget by {result.over_by} tokens; + gives a larger one"
            return Draft(
                choice=choice,
                tokens=0,
                budget=_room(result.budget),
                tokenizer=program.tokenizer,
                estimated=program.estimated,
                window=program.window,
                rows=rows,
                prompt="",
                snapshot="",
                blocked=why,
                asked=_asked(result.budget),
            )
        return Draft(
            choice=choice,
            tokens=result.tokens,
            budget=_room(result.budget),
            tokenizer=result.tokenizer,
            estimated=program.estimated,
            window=program.window,
            rows=tuple(_row(msgspec.to_builtins(row)) for row in result.manifest),
            prompt=result.prompt,
            snapshot=result.snapshot,
            asked=_asked(result.budget),
        )

    def prepare(self, task: str, choice: Choice, replaces: str | None = None) -> str:
        """Store the package that was looked at as pending, and remember the choice.

        Where what it rests on changed meanwhile, nothing is stored and the next draft is made anew.
        """
        with self._lock:
            looked = self._seen(task, choice) or self._packed(self._task(task), choice)
            try:
                stored = packages.store(self.ctx, looked, replaces=replaces)
            except WorkbenchError:
                self._preview = None
                raise
        self.ctx.workspace.local.set(LAST_CHOICE, {"to": choice.to, "budget": choice.budget})
        return stored.envelope.id

    def _seen(self, task: str, choice: Choice) -> Preview | None:
        """The preview that the person looked at, whatever changed since."""
        known = self._preview[1] if self._preview is not None else None
        if known is None or (known.task.id, known.to) != (task, choice.to):
            return None
        return known.pack(budget=choice.budget, pins=choice.pins, without=choice.without)

    def stored(self, package: str) -> Draft:
        """A stored package, to look at."""
        shown, prompt = packages.show(self.ctx, package)
        envelope = shown.envelope
        program = self.ctx.programs.get(envelope.identity.to)
        options = CompileOptions.from_json(envelope.options)
        choice = Choice(envelope.identity.to, options.budget, options.pins, options.without)
        return Draft(
            choice=choice,
            tokens=envelope.tokens,
            budget=_room(envelope.content.get("budget", {})) or envelope.tokens,
            tokenizer=envelope.tokenizer,
            estimated=program.estimated if program else True,
            window=program.window if program else None,
            rows=tuple(_row(row) for row in envelope.content.get("manifest", ())),
            prompt=prompt,
            snapshot=envelope.snapshot,
            package=envelope.id,
        )

    def check(self, package: str) -> tuple[Difference, ...]:
        """What a package rests on that is no longer so."""
        return packages.check(self.ctx, package)

    def offers(self, package: str) -> tuple[LaunchOffer, ...]:
        """Ways to launch: tmux first where we are in it, else copy; those that cannot be taken last."""
        inside = tmux.program(self.ctx.env) is not None
        first: tuple[LaunchWay, ...] = ("tmux", "copy") if inside else ("copy", "tmux")
        found = [self._offer(package, way) for way in (*first, "print", "foreground")]
        return tuple(sorted(found, key=lambda offer: bool(offer.why_not)))

    def _offer(self, package: str, way: LaunchWay) -> LaunchOffer:
        try:
            plan = handover.launch_plan(self.ctx, package, way)
        except WorkbenchError as error:
            return LaunchOffer(way, "", _NOTES[way], error.message)
        return LaunchOffer(way, plan.by_hand, _NOTES[way])

    def hand_over(self, package: str, way: LaunchWay, override: str | None = None) -> Handed:
        """Confirm a package and carry out the transfer; a failed launch is an answer, not an error."""
        try:
            done = handover.confirm(self.ctx, package, way, override=override)
        except RefusedError as error:
            found = packages.find(self.ctx, package)
            if found.status == "pending":
                raise
            looked = self._offer(package, way)
            failure = "\n".join(filter(None, (error.message, error.hint)))
            return Handed(package, way, looked.command, None, (), failure, left=self._left(found))
        steps = [] if way == "print" or not done.launched.said else [done.launched.said]
        steps = [done.left, *steps] if done.left else steps
        if done.replaced:
            steps.insert(0, f"recompiled as {done.package.envelope.id}: the executor's own work had moved on")
        return self._handed(done.package, done.plan, way, tuple(steps), done.launched.text)

    def handed(self, package: str) -> Handed:
        """A package that was handed over before."""
        found = packages.find(self.ctx, package)
        way: LaunchWay = next((e.launch for e in reversed(found.events) if e.launch), "print")
        plan = handover.launch_plan(self.ctx, package, "print")
        return self._handed(found, plan, way, (), plan.text if way in ("print", "copy") else "")

    def _handed(self, package: StoredPackage, plan: LaunchPlan, way: LaunchWay, steps: Words, text: str) -> Handed:
        to = package.envelope.identity.to
        program = self.ctx.programs.get(to)
        return Handed(
            package=package.envelope.id,
            way=way,
            command=text or plan.by_hand,
            prompt_file=plan.prompt_file,
            steps=steps,
            to_copy=" ".join(map(quoted, plan.command)),
            agent=program.title if program else to,
            left=self._left(package),
            observed=to in agents_read(),
        )

    def _left(self, package: StoredPackage) -> str:
        """What became of the attempt that the package took the task from."""
        confirmed = next((e for e in reversed(package.events) if e.status == "confirmed"), None)
        records = self.ctx.workspace.load()
        old = records.attempts.get(str(confirmed.details.get("from_attempt"))) if confirmed is not None else None
        if old is None:
            return ""
        who = old.executor.partition(":")[2] or old.executor
        if old.status == "cancelled":
            return f"the attempt of {who}, never seen to begin, was cancelled"
        return f"{who} gave the task up" if old.ended is not None else f"{who} is giving the task up"

    def leaving(self, package: str) -> str:
        """What a hand-over does about the executor that runs the task now."""
        return handover.leaving(self.ctx, package)

    def fallen(self, package: str) -> str:
        """A launched program that has ended counts as failed."""
        return "; ".join(handover.resume(self.ctx, package))

    def take_up_again(self, package: str) -> str:
        """Let the executor before a failed hand-over go on."""
        attempt = handover.take_up_again(self.ctx, package)
        return f"{attempt.executor.partition(':')[2]} runs the task again."

    def reject_package(self, package: str, why: str) -> str:
        """Reject a pending package."""
        handover.reject(self.ctx, package, why)
        return f"Package {package} is rejected."


def _row(row: Json) -> PackageRow:
    return PackageRow(
        id=str(row["id"]),
        source_type=str(row["source_type"]),
        title=str(row.get("title") or row["id"]),
        tier=str(row["tier"]),
        included=bool(row["included"]),
        form=row.get("form"),
        tokens=int(row.get("tokens") or 0),
        wanted=int(row.get("wanted") or 0),
        score=int(row.get("score") or 0),
        parts=tuple((str(name), int(value)) for name, value in (row.get("parts") or {}).items()),
        reason=row.get("reason"),
    )


def _room(budget: Json) -> int:
    value = budget.get("tokens") or budget.get("given") if isinstance(budget, dict) else 0
    return value if isinstance(value, int) else 0


def _asked(budget: dict[str, Any]) -> int:
    """What was asked for, before margin; where nobody asked, what the default came to."""
    given: int | None = budget["given"]
    return given or round(budget["tokens"] / max(0.01, 1 - budget["margin"]))
