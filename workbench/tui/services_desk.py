"""The desk over the real services: plain calls, reshaped for the screens."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from time import monotonic

from workbench.domain.change import Change
from workbench.domain.message import Message
from workbench.domain.task import Task
from workbench.errors import WorkbenchError
from workbench.handoff.fingerprint import files_of
from workbench.services import changes, cutting, handover, history, kept, request, rollback, search, tasks
from workbench.services.context import Context
from workbench.services.request import RequestView
from workbench.services.rollback import Plan
from workbench.services.sessions import attached
from workbench.services.trust import git_trusted
from workbench.services.view import Step, View
from workbench.services.viewing import build_view, due
from workbench.sessions.bulk import give_back, keep_little, leave_alone
from workbench.store.names import one_of
from workbench.store.records import Records
from workbench.tui.desk import Cut, CutAct, Pulse, UndoPlan
from workbench.tui.services_packages import PackageDesk
from workbench.tui.services_review import ReviewDesk
from workbench.tui.services_sessions import SessionDesk
from workbench.tui.services_writing import WritingDesk
from workbench.watching import Watched

MOST_FILES = 500
"""Files of the worktree that are looked at for changes."""
RECEIPT_LOOKS = 3
"""Every which look also looks for receipts of launched packages."""
SELDOM, SLOWEST = 100, 10.0
"""A look at all records rests so many times as long as it took, and at most so many seconds."""
PAUSE = 8.0
"""Seconds without a look after which the process must have been stopped."""
MUCH_HEARD = 2
"""Steps of listening that leave memory behind which is worth giving back once all is heard."""
VERY_MUCH_HEARD = 8
"""The same before all is heard, each time so many more."""


class ServicesDesk(PackageDesk, SessionDesk, WritingDesk, ReviewDesk):
    """Answers the app from one workspace. Calls come from several threads."""

    def __init__(self, context: Context) -> None:
        keep_little()
        super().__init__(context)
        self._records: Records | None = None
        self._as_of = ""
        self._last: View | None = None
        self._files: frozenset[Path] = frozenset()
        self._kept: object = None
        """Records, task and sessions of which everything that has to be is copied."""
        self._rests_on: frozenset[Path] = frozenset()
        self._heard = 0
        """Steps of listening since it last came to an end."""
        self._looks = 0
        self._looked = self._scan_at = 0.0
        self._revision = ""
        self._indexed = ""
        # A view is read in answer to file events; git is run, and programs are looked for, by the clock instead.
        context.changed_files.by_clock = context.held.by_clock = context.sessions.by_and_by = True
        self._launched: tuple[str, ...] = ()
        self._due: tuple[datetime, ...] = ()
        """When the last view gets out of date by itself."""

    # Looking.

    def view(self, *, records: bool = True) -> View:
        """Everything there is to show, read now; without ``records``, only sessions changed since the last one."""
        view = self.with_offers(build_view(self.ctx, records=self._records_now(records)))
        self._files = frozenset(Path(s.path) for s in view.sessions if s.path)
        self._rests_on = self._files_under(view)
        self._launched = tuple(p.envelope.id for p in view.packages if p.status == "launched")
        self._due = due(view)
        self._last = view
        return view

    def _records_now(self, again: bool) -> Records:
        """All records; where none was touched, or only more is heard just now, as they were last read."""
        mark = self.ctx.workspace.mark()
        if again or self._records is None or (mark != self._as_of and not self._heard):
            self._records, self._as_of = self.ctx.workspace.load(), mark
        return self._records

    def listen(self, pause: Callable[[], None]) -> bool:
        """Keep what is known of the sessions and what records rest on, and take in what was said."""
        self.ctx.sessions.catch_up(self.ctx.lock, pause)
        if not self._heard:  # much is heard in many steps, each of which adds to what records rest on
            self._keep()
        more = super().listen(pause)
        self._heard += more
        if not more and self._heard > MUCH_HEARD:
            leave_alone()
            give_back()
        elif more and not self._heard % VERY_MUCH_HEARD:
            give_back()
        self._heard *= more
        return more

    def _keep(self) -> None:
        """Copy what records rest on while the agents' files are there, when something of it is new."""
        view = self._last
        if view is None or view.task is None:
            return
        here = tuple((session.id, session.status == "absent") for session in view.sessions)
        rests_on = self.ctx.workspace.mark(), view.task.task.id, here
        if rests_on != self._kept:
            records = self.ctx.workspace.load()
            with suppress(WorkbenchError):  # it is no reason to show nothing, and is tried again
                kept.catch_up(self.ctx, records, view.task.task, attached(self.ctx, records, view.task.task))
                self._kept = rests_on

    def _files_under(self, view: View) -> frozenset[Path]:
        """Files of the worktree that evidence and waiting packages rest on."""
        named = [file.path for row in (view.task.evidence if view.task else ()) for file in row.evidence.files]
        for package in view.packages:
            if package.status == "pending":
                named += files_of(package.envelope.fingerprints)
        top = self.ctx.location.worktree
        return frozenset(top / name for name in sorted(set(named))[:MOST_FILES])

    def pulse(self, thorough: bool = False) -> Pulse:
        """The end of the journal, the state of the files behind the view, branch and commit; a look for receipts.

        All records are looked at as well, which finds edits by hand: whenever it is asked for, after a
        pause of the whole process, and else so seldom that it takes a small share of the time.
        """
        began = monotonic()
        self._looks += 1
        if self._looks % RECEIPT_LOOKS == 0:
            self._look_for_receipts()
        if git_trusted(self.ctx):
            self.ctx.changed_files.tick(self.ctx.location.worktree)
        self.ctx.held.tick(self.ctx.env)
        if thorough or began >= self._scan_at or began - self._looked > PAUSE:
            self._revision = self.ctx.workspace.load().revision
            took = monotonic() - began
            self._scan_at = began + min(took * SELDOM, SLOWEST)
        self._looked = monotonic()
        return Pulse(f"{self._records_mark()}\n{self._revision}", self._files_mark())

    def _marks(self) -> str:
        return f"{self._records_mark()}\n{self._files_mark()}"

    def _records_mark(self) -> str:
        marks = [self.ctx.workspace.mark(), str(self.ctx.workspace.local.current_task)]
        marks += [str(self.ctx.changed_files.runs), str(self.ctx.held.runs), self.offered]
        return "\n".join(marks)

    def _files_mark(self) -> str:
        files = sorted(self._files | self._rests_on | self._heads())
        passed = sum(at <= self.ctx.now() for at in self._due)
        return "\n".join([*map(_mark, files), f"{passed} moments passed"])

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

    def keep_index(self, pause: Callable[[], None]) -> None:
        """Bring the search index up to date, in pieces between which the screen has its turn."""
        now = self._marks()
        if not self.ctx.workspace.read_only and now != self._indexed and search.update(self.ctx, pause):
            self._indexed = now
            give_back()

    def watched(self) -> Watched:
        """The workspace, session files, files that something rests on, and what git says of branch and commit."""
        watch = self.ctx.config.watch
        files = self._files | self._rests_on | self._heads()
        return Watched((self.ctx.location.root,), files, watch.poll, watch.ignore, watch.step)

    def refusal(self) -> str:
        """Why acting is refused: read-only, or no person at the keys."""
        return self.ctx.refusal

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
        plan = cutting.plan_cut(self.ctx, self._task(task), ids, act, text=text)
        return Cut(
            act=act,
            ids=tuple(row.message.ref for row in plan.messages),
            partners=max(0, len(plan.messages) - len(ids)),
            before=plan.tokens_before,
            after=plan.tokens_after,
            in_what=plan.in_what,
            findings=plan.findings,
            package=plan.package,
            stale=tuple(to for _, to in plan.stale),
        )

    def cut(self, task: str, plan: Cut, text: str = "", yes: bool = False) -> str:
        """Carry out a cut, planned anew so that what changed meanwhile counts."""
        done = cutting.cut(
            self.ctx,
            self._task(task),
            cutting.plan_cut(self.ctx, self._task(task), plan.ids, plan.act, text=text),
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

    # Looking at a request.

    def request(self, word: str) -> RequestView:
        """What a request carried."""
        return request.view(self.ctx, self._current(), word or None, whole=False)

    # Taking back.

    def timeline(self, kind: str, record: str) -> tuple[Step, ...]:
        """What happened to a record, newest first."""
        return changes.timeline(self.ctx, kind, record)

    def plan_rollback(self, record: str, change: str) -> Plan:
        """What bringing a record back to what it was after a change would change."""
        return rollback.plan_record(self.ctx, record, change)

    def roll_back(self, plan: Plan) -> str:
        """Carry out what was shown."""
        change = rollback.carry_out(self.ctx, plan)
        return f"Done: {change.command}." if change is not None else "It is so already."

    def undo_plan(self) -> UndoPlan | None:
        """What the next undo takes back; newer changes that stay do not stand in its way.

        Raises:
            RefusedError: There are only such that stay; the message is about the newest.
        """
        change, stay = changes.undoable(self.ctx)
        if change is None:
            if stay:
                changes.undo_target(self.ctx)
            return None
        touched = [_comes_back(change)] if _comes_back(change) else [f"{one_of(r.kind)} {r.id}" for r in change.records]
        passed = tuple(f"{one.command}: {changes.why_final(one)}" for one in stay)
        return UndoPlan(change.id, change.command, change.actor, change.at, tuple(touched), passed)

    def undo(self, change: str) -> str:
        """Take back the change that was shown."""
        done = changes.undo(self.ctx, expect=change, wanted=change)
        what = _comes_back(done)
        return f"Taken back: {done.command}{': ' if what else ''}{what}."

    def _current(self) -> Task:
        return tasks.resolve(self.ctx, "@")


def _comes_back(change: Change) -> str:
    """What an undo brings back, in words: the part of its description between the command and who gave it."""
    return changes.describe(change).removeprefix(change.command).rpartition(" (by ")[0].removeprefix(": ")


def _mark(path: Path) -> str:
    """Size and time of a file; enough to see that it is another."""
    try:
        status = path.stat()
    except OSError:
        return f"{path} absent"
    return f"{path} {status.st_ino} {status.st_size} {status.st_mtime_ns}"
