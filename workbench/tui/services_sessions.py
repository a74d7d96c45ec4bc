"""Agents' sessions, over the real services: which there are, attaching one, and those that join by themselves."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from time import monotonic

from workbench.domain.times import instant
from workbench.errors import WorkbenchError
from workbench.services import session_list, sessions, successors
from workbench.services.context import Context
from workbench.services.successors import Successor
from workbench.services.view import Need, View
from workbench.tui.desk import SessionChoice
from workbench.tui.desk_base import DeskBase

EVERY = 30.0
"""Seconds after which sessions are looked for whether or not something is new."""
EAGER = 4
"""Looks that follow one which found something new: a file says only after its first lines whose it is."""


class SessionDesk(DeskBase):
    """Looks for sessions of the workspace, cheaply where nothing is new."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._places: object = None
        self._eager = 0
        self._again = 0.0
        self._offers: tuple[Successor, ...] = ()

    def sessions(self, task: str) -> tuple[SessionChoice, ...]:
        """Sessions of this workspace, newest first."""
        records = self.ctx.workspace.load()
        found = session_list.listing(self.ctx)
        offered = {row.session.name: row for row in successors.successors(self.ctx, records, found)}
        return tuple(
            SessionChoice(
                name=row.session.name,
                agent=row.session.agent,
                title=row.session.title,
                live=row.live,
                updated_at=row.session.updated_at,
                size=row.session.size,
                worktree=row.worktree or "",
                task=row.task.slug if row.task else "",
                here=row.task is not None and row.task.id == task,
                running=row.task is not None and row.attempt is not None and row.task.running == row.attempt.id,
                offered=offered[row.session.name].briefly if row.session.name in offered else "",
                children=len(row.session.children),
                full=row.full,
            )
            for row in session_list.standing(self.ctx, found, records)
        )

    def attach(self, task: str, session: str) -> str:
        """Let a session belong to a task's running attempt; says what was done."""
        record = self._task(task)
        before = record.running
        attempt = sessions.attach(self.ctx, record, session)
        self._places = None  # what goes on from it may be there already
        if before is None:
            return f"{attempt.executor.partition(':')[2]} takes {record.title} up. u takes it back."
        return f"The session belongs to {record.title} now. u takes it back."

    def join(self) -> list[str]:
        """Let sessions that go on from those of running attempts join; a line for each."""
        from workbench.sessions.discovery import marks

        now = monotonic()
        places = marks(self.ctx.env)
        if places != self._places:
            self._places, self._eager = places, EAGER
        if not self._eager and now < self._again:
            return []
        self._eager, self._again = max(0, self._eager - 1), now + EVERY
        joined: list[Successor] = []
        with suppress(WorkbenchError):  # another process writes; the next look tries again
            joined, offered = successors.join(self.ctx)
            moment = self.ctx.now()
            self._offers = tuple(row for row in offered if session_list.heard_lately(row.session.updated_at, moment))
        return [f"joined: {_named(row)}, {row.briefly}. u takes it back." for row in joined]

    @property
    def offered(self) -> str:
        """A text that differs whenever other sessions are offered."""
        return " ".join(row.session.name for row in self._offers)

    def with_offers(self, view: View) -> View:
        """A view that says which sessions may belong to the task, too."""
        mine = [row for row in self._offers if view.task is not None and row.task.id == view.task.task.id]
        if not mine:
            return view
        newest = max(mine, key=lambda row: instant(row.session.updated_at))
        more = f" and {len(mine) - 1} more" if len(mine) > 1 else ""
        need = Need("session", f"{_named(newest)}{more} may belong to this task", "S", newest.session.name)
        revision = f"{view.revision}+{abs(hash(self.offered)):x}"
        return replace(view, needs_you=(*view.needs_you, need), revision=revision)


def _named(row: Successor) -> str:
    title = row.session.title
    return f"{row.session.agent}'s new session" + (f" “{title[:60]}”" if title else "")
