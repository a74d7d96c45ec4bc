"""A task: a contract, an explicit state, and which attempt runs."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import msgspec

from workbench.domain.contract import Contract
from workbench.domain.record import Json, Part, Record, Stamp

TaskStatus = Literal["draft", "open", "complete", "cancelled"]
Known = Literal["reported", "verified"]


class PendingItem(Part, frozen=True, kw_only=True):
    """Something still to do."""

    id: str
    text: str
    qualifiers: tuple[str, ...] = ()
    priority: Literal[1, 2, 3] = 2
    """1 blocks the goal, 2 needed, 3 nice."""
    paths: tuple[str, ...] = ()
    parent: str | None = None
    by: str = ""
    at: str = ""
    source: str | None = None
    """``SESSION#MESSAGE`` it was read from."""
    started: Started | None = None
    accepted: bool = True
    """False for an open item that extraction found and no person took: neither packed nor counted."""


class Started(Part, frozen=True, kw_only=True):
    """The action of a pending item has begun; unfinished when its attempt ends, it is *interrupted*."""

    by: str
    at: str
    attempt: str | None = None


class DoneItem(Part, frozen=True, kw_only=True):
    """Something done, and how that is known: a to-do ticked by an agent is a claim (``reported``)."""

    id: str
    text: str
    known: Known = "reported"
    evidence: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    by: str = ""
    at: str = ""
    source: str | None = None


class TaskState(Part, frozen=True, kw_only=True):
    """What holds now: typed variables, done and pending, all dated."""

    updated_at: str = ""
    variables: dict[str, Json] = {}
    variables_set: dict[str, Stamp] = {}
    """Who set each variable, and when."""
    done: tuple[DoneItem, ...] = ()
    pending: tuple[PendingItem, ...] = ()


class Task(Record, frozen=True, kw_only=True):
    """A unit of work. Only this record says which attempt runs: ``running`` is compared and swapped."""

    slug: str
    title: str
    status: TaskStatus = "open"
    plan_revision: int = 1
    """Counts up whenever the contract changes."""
    running: str | None = None
    contract: Contract = Contract()
    state: TaskState = TaskState()
    created: Stamp
    closed: Stamp | None = None
    """Who completed or cancelled it, and the reason."""


AttemptStatus = Literal["starting", "running", "releasing", "accepted", "failed", "handed_over", "cancelled"]
LIVE_ATTEMPT: frozenset[str] = frozenset({"starting", "running", "releasing"})


def without_attempt(task: Task, attempt: str, live: Collection[str]) -> Task:
    """A task after one of its attempts ended: free, or run by the one that a merge left beside it.

    Args:
        task: The task as it is.
        attempt: The attempt that ended.
        live: The attempts that have not ended.
    """
    claims = task.contests.get("running")
    if claims is None:
        return task.with_(running=None) if task.running == attempt else task
    left = tuple(claim for claim in claims if claim.value != attempt and claim.value in live)
    others = {name: rows for name, rows in task.contests.items() if name != "running"}
    if len(left) > 1:
        others["running"] = left
    return task.with_(running=left[0].value if left else None, contested=others or msgspec.UNSET)


class SessionRef(Part, frozen=True, kw_only=True):
    """A session that belongs to an attempt, by agent and id; its path is known only to this machine."""

    agent: str
    id: str
    joined: Stamp

    @property
    def name(self) -> str:
        """``AGENT:ID``, the form in which sources cite it."""
        return f"{self.agent}:{self.id}"


class Attempt(Record, frozen=True, kw_only=True):
    """One execution of a task by one executor."""

    task: str
    executor: str
    """Actor who carries it out."""
    model: str | None = None
    status: AttemptStatus = "running"
    plan_revision: int = 1
    """The revision of the contract it started from; behind the task's, it is ``outdated``."""
    worktree: str | None = None
    """Git's own name for the worktree; ``None`` for the main checkout or a plain folder."""
    branch: str | None = None
    head: str | None = None
    package: str | None = None
    """The package it was started from."""
    sessions: tuple[SessionRef, ...] = ()
    started: Stamp
    ended: Stamp | None = None
