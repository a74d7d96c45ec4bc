"""The desk over the real services: plain calls, reshaped for the screens."""

from __future__ import annotations

import threading
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from time import sleep

import msgspec

from workbench.agents.program import installed
from workbench.compiler import Blocked
from workbench.domain.fact import value_text
from workbench.domain.message import Message
from workbench.domain.package import Difference, LaunchWay
from workbench.domain.record import Json
from workbench.domain.task import Task
from workbench.errors import NotFoundError, RefusedError, WorkbenchError
from workbench.handoff import tmux
from workbench.handoff.fingerprint import files_of
from workbench.handoff.launch import quoted
from workbench.services import changes, facts, handover, history, packages, search, tasks
from workbench.services.context import Context
from workbench.services.packages import CompileOptions, Preview
from workbench.services.sessions import attached
from workbench.services.trust import git_trusted
from workbench.services.view import View
from workbench.services.viewing import build_view
from workbench.tui.desk import (
    AgentChoice,
    Choice,
    Cut,
    CutAct,
    Draft,
    Handed,
    LaunchOffer,
    PackageRow,
    Settling,
    UndoPlan,
)
from workbench.watching import Watched

MOST_FILES = 500
"""Files of the worktree that are looked at for changes."""
RECEIPT_LOOKS = 3
"""Every which look also looks for receipts of launched packages."""
STEP = 0.02
"""Seconds of rest between two steps of indexing."""
LAST_CHOICE = "last_handoff"
"""Name of the remembered choice in this machine's state."""
_NOTES: dict[LaunchWay, str] = {
    "tmux": "a new tmux pane beside this one, without taking the focus",
    "copy": "puts the command on the clipboard; you start it in another terminal",
    "print": "shows the command and where the prompt lies; you start it yourself",
    "foreground": "the agent takes this terminal; the workbench comes back when it ends",
}


class ServicesDesk:
    """Answers the app from one workspace. Calls come from several threads; drafts are kept one at a time."""

    def __init__(self, context: Context) -> None:
        self.ctx = context
        self._lock = threading.Lock()
        self._files: frozenset[Path] = frozenset()
        self._rests_on: frozenset[Path] = frozenset()
        self._looks = 0
        self._indexed = ""
        # A view is read in answer to file events; the git program is run by the clock instead.
        context.changed_files.by_clock = True
        self._preview: tuple[str, Preview] | None = None
        self._launched: tuple[str, ...] = ()

    # Looking.

    def view(self, task: str | None = None) -> View:
        """Everything there is to show, read now."""
        view = build_view(self.ctx, task)
        self._files = frozenset(Path(s.path) for s in view.sessions if s.path)
        self._rests_on = self._files_under(view)
        self._launched = tuple(p.envelope.id for p in view.packages if p.status == "launched")
        return view

    def _files_under(self, view: View) -> frozenset[Path]:
        """Files of the worktree that evidence and waiting packages rest on."""
        named = [file.path for row in (view.task.evidence if view.task else ()) for file in row.evidence.files]
        for package in view.packages:
            if package.status == "pending":
                named += files_of(package.envelope.fingerprints)
        top = self.ctx.location.worktree
        return frozenset(top / name for name in sorted(set(named))[:MOST_FILES])

    def pulse(self) -> str:
        """The records' revision, the state of the files behind the view, branch and commit; a look for receipts."""
        self._looks += 1
        if self._looks % RECEIPT_LOOKS == 0:
            self._look_for_receipts()
        if git_trusted(self.ctx):
            self.ctx.changed_files.tick(self.ctx.location.worktree)
        return self._marks()

    def _marks(self) -> str:
        marks = [self.ctx.workspace.load().revision, str(self.ctx.workspace.local.current_task)]
        marks.append(str(self.ctx.changed_files.runs))
        marks += [_mark(path) for path in sorted(self._files | self._rests_on | self._heads())]
        return "\n".join(marks)

    def _heads(self) -> frozenset[Path]:
        """Files of git that change with branch, commit and index."""
        git = self.ctx.location.git_dir
        return frozenset((git / "HEAD", git / "index", git / "logs" / "HEAD")) if git is not None else frozenset()

    def _look_for_receipts(self) -> None:
        """A launched package waits for its receiver's session, which may appear anywhere."""
        if self.refusal():
            return
        for package in self._launched:
            with suppress(WorkbenchError):
                handover.look_for_receipt(self.ctx, package)

    def keep_index(self) -> None:
        """Bring the search index up to date, in steps between which the screen has its turn."""
        now = self._marks()
        if not self.ctx.workspace.read_only and now != self._indexed and search.update(self.ctx, lambda: sleep(STEP)):
            self._indexed = now

    def watched(self) -> Watched:
        """The workspace, session files, files that something rests on, and what git says of branch and commit."""
        watch = self.ctx.config.watch
        files = self._files | self._rests_on | self._heads()
        return Watched((self.ctx.location.root,), files, watch.poll, watch.ignore, watch.step)

    def refusal(self) -> str:
        """Why acting is refused: read-only, or no person at the keys."""
        if self.ctx.workspace.read_only:
            return "This workspace was opened with --read-only."
        if not self.ctx.actor.human:
            return f"This runs as {self.ctx.actor.name}; only a person may decide."
        return f"Refused here: {self.ctx.actor.refused}." if self.ctx.actor.refused else ""

    def resume(self) -> list[str]:
        """Bring handovers into order that a crash left in the middle."""
        return [] if self.refusal() else handover.resume(self.ctx)

    def body(self, message: Message) -> str:
        """The whole text of a message."""
        for session in attached(self.ctx, self.ctx.workspace.load(), self._current()):
            if session.state is not None and session.ref.name == message.session:
                with self.ctx.lock:
                    return session.state.log.body(message)
        return message.text

    def use_task(self, task: str) -> None:
        """Make a task the current one on this machine."""
        tasks.use(self.ctx, self._task(task))

    # Trimming.

    def suggest(self, task: str) -> frozenset[str]:
        """Messages that may go by the rules."""
        return history.suggest(self.ctx, history.show(self.ctx, self._task(task)))

    def plan_cut(self, task: str, ids: Collection[str], act: CutAct, text: str = "") -> Cut:
        """What a cut would do."""
        plan = history.plan_cut(self.ctx, self._task(task), ids, act, text=text)
        return Cut(
            act=act,
            ids=tuple(row.message.ref for row in plan.messages),
            partners=max(0, len(plan.messages) - len(ids)),
            before=plan.tokens_before,
            after=plan.tokens_after,
            in_what=plan.in_what,
            findings=plan.findings,
        )

    def cut(self, task: str, plan: Cut, text: str = "", yes: bool = False) -> str:
        """Carry out a cut, planned anew so that what changed meanwhile counts."""
        done = history.cut(
            self.ctx,
            self._task(task),
            history.plan_cut(self.ctx, self._task(task), plan.ids, plan.act, text=text),
            yes=yes,
        )
        words = {"drop": "dropped", "summarise": "summarised", "externalise": "externalised"}
        number = len(done.messages)
        saved = done.tokens_before - done.tokens_after
        return f"{number} message{'' if number == 1 else 's'} {words[plan.act]}, {saved:,} tokens less to carry."

    def restore(self, task: str, ids: Collection[str]) -> str:
        """Keep messages again."""
        rows = history.mark(self.ctx, self._task(task), ids, "restore")
        return f"{len(rows)} message{'' if len(rows) == 1 else 's'} kept again."

    # Settling.

    def settlement(self, fact: str) -> Settling:
        """A proposal and all that a person needs to settle it."""
        found = facts.settlement(self.ctx, fact)
        active = found.active.fact if found.active else None
        others = tuple(f for f in found.proposal.against if active is None or f.id != active.id)
        return Settling(found.proposal, active, others, found.depends_on, found.expect)

    def confirm(self, fact: str, expect: str | None, value: str | None = None) -> str:
        """Accept a proposal, with another value where one is given."""
        edits: dict[str, Json] = {}
        if value is not None:
            before = facts.find(self.ctx, fact)
            edits["value"] = value if isinstance(before.value, str) else _json(value)
            if before.statement:
                edits["statement"] = ""
        done = facts.confirm(self.ctx, fact, expect=expect, **edits)
        return f"{done.key} is {value_text(done.value)}."

    def reject(self, fact: str, why: str) -> str:
        """Reject a proposal."""
        done = facts.reject(self.ctx, fact, why)
        return f"{done.key}: {value_text(done.value)} is rejected."

    # Handing off.

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
            budget = _room(result.budget)
            return Draft(choice, 0, budget, program.tokenizer, program.estimated, program.window, rows, "", "", why)
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
        )

    def prepare(self, task: str, choice: Choice, replaces: str | None = None) -> str:
        """Store a package as pending, and remember the choice."""
        options = CompileOptions(budget=choice.budget, pins=choice.pins, without=choice.without)
        stored = packages.prepare(self.ctx, self._task(task), choice.to, options, replaces=replaces)
        self.ctx.workspace.local.set(LAST_CHOICE, {"to": choice.to, "budget": choice.budget})
        return stored.envelope.id

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
            return Handed(package, way, looked.command, None, (), "\n".join(filter(None, (error.message, error.hint))))
        steps = [done.launched.said] if done.launched.said else []
        if done.replaced:
            steps.insert(0, f"recompiled as {done.package.envelope.id}: the executor's own work had moved on")
        return Handed(
            package=done.package.envelope.id,
            way=way,
            command=done.launched.text or done.plan.by_hand,
            prompt_file=done.plan.prompt_file,
            steps=tuple(steps),
            to_copy=" ".join(map(quoted, done.plan.command)),
        )

    def reject_package(self, package: str, why: str) -> str:
        """Reject a pending package."""
        handover.reject(self.ctx, package, why)
        return f"Package {package} is rejected."

    # Taking back.

    def undo_plan(self) -> UndoPlan | None:
        """What the next undo takes back."""
        try:
            change = changes.undo_target(self.ctx)
        except NotFoundError:
            return None
        touched = [f"{r.kind} {r.id}" for r in change.records] + [a.path for a in change.appends]
        return UndoPlan(change.id, change.command, change.actor, change.at, tuple(touched))

    def undo(self, change: str) -> str:
        """Take back the change that was shown."""
        done = changes.undo(self.ctx, expect=change)
        return f"Taken back: {done.command}."

    def _task(self, task: str) -> Task:
        return tasks.resolve(self.ctx, task)

    def _current(self) -> Task:
        return tasks.resolve(self.ctx, "@")


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


def _json(text: str) -> Json:
    """A typed value as JSON where it is that, else the words themselves."""
    try:
        return msgspec.json.decode(text.encode())
    except msgspec.DecodeError:
        return text


def _mark(path: Path) -> str:
    """Size and time of a file; enough to see that it is another."""
    try:
        status = path.stat()
    except OSError:
        return f"{path} absent"
    return f"{path} {status.st_ino} {status.st_size} {status.st_mtime_ns}"
