"""The ladder of a hand-over: each step is one recorded change, made before the next is tried.

``pending`` → ``confirmed`` → old attempt ``releasing`` → ``handed_over`` → reserved attempt ``starting``
and package ``transferring`` → (the launch) → ``launched`` and attempt ``running``. The task's ``running``
field is compared and swapped in one place (:func:`start`) and names the old attempt until then, so
nobody else can take the task in between, and never do two attempts run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from workbench.domain.ids import new_id
from workbench.domain.package import Difference, LaunchWay, PackageEvent, PackageStatus
from workbench.domain.record import Json, Stamp
from workbench.domain.task import LIVE_ATTEMPT, Attempt, AttemptStatus, SessionRef, without_attempt
from workbench.errors import RefusedError
from workbench.handoff.checks import (
    check_free,
    executor,
    expect,
    from_attempt,
    new_attempt,
    old_attempt,
    taken,
    task_of,
)
from workbench.store.records import Records, StoredPackage
from workbench.store.transaction import Transaction
from workbench.store.workspace import Workspace

if TYPE_CHECKING:
    from workbench.handoff.launch import Launched, Place  # which starts programs: what only writes does not load it

Judge = Callable[[Records], Sequence[Difference]]
"""Compares what a package rests on with the records as they are under the writer lock."""


def confirm(
    ws: Workspace,
    package_id: str,
    actor: str,
    now: datetime,
    *,
    way: LaunchWay,
    judge: Judge | None = None,
    override: str | None = None,
) -> StoredPackage:
    """A person's yes to a pending package; of several who say it at once, exactly one is taken.

    Args:
        ws: The workspace.
        package_id: The package.
        actor: Who confirms.
        now: The moment.
        way: How it is going to be launched.
        judge: What changed since it was prepared; it is asked under the lock and reads no files.
        override: Go on in spite of what stops; the reason, which may be empty.

    Raises:
        VersionConflictError: It is not pending any more; ``details`` says what is there now.
        RefusedError: Something that it rests on changed (``details['differences']``), or the task cannot
            be handed over now.
    """
    with ws.transaction(actor, f"handoff confirm {package_id}", override or "", now=now) as tx:
        package = expect(tx.records, package_id, "pending")
        task = task_of(tx.records, package)
        check_free(tx.records, package, task)
        differences = tuple(judge(tx.records)) if judge is not None else ()
        stopping = [d for d in differences if d.stops]
        if stopping and override is None:
            raise RefusedError(
                f"package {package_id} is stale: " + "; ".join(f"{d.code} {d.subject}" for d in stopping[:5]),
                "prepare it again and look, or confirm with --override WHY",
                differences=msgspec.to_builtins(differences),
            )
        details: dict[str, Json] = {"from_attempt": task.running}
        if differences:
            details["differences"] = msgspec.to_builtins(differences)
        if override is not None:
            details["override"] = override
        _tell(tx, package, actor, "confirmed", why=override or "", launch=way, details=details)
    return ws.load().packages[package_id]


def release(ws: Workspace, package_id: str, actor: str, now: datetime) -> Attempt | None:
    """The old attempt becomes ``releasing``: its executor may be asked to stop from here on.

    Returns:
        The attempt that is given up, or None where nobody runs the task any more.
    """
    with ws.transaction(actor, f"handoff release {package_id}", now=now) as tx:
        package = expect(tx.records, package_id, "confirmed")
        old = old_attempt(tx.records, package)
        if old is not None and old.status == "running":
            old = old.with_(status="releasing")
            tx.put(old)
    return old


def hand_over(ws: Workspace, package_id: str, actor: str, now: datetime) -> None:
    """The old attempt ends: ``handed_over``, or ``cancelled`` where it never began."""
    with ws.transaction(actor, f"handoff give {package_id}", now=now) as tx:
        package = expect(tx.records, package_id, "confirmed")
        old = old_attempt(tx.records, package)
        if old is not None and old.status in LIVE_ATTEMPT:
            began = old.status != "starting"
            why = f"handed over to {package.envelope.identity.to} by package {package_id}"
            ended = Stamp(by=actor, at=tx.now, why=why if began else "not seen to begin; " + why)
            tx.put(old.with_(status="handed_over" if began else "cancelled", ended=ended))


def start(ws: Workspace, package_id: str, actor: str, now: datetime, place: Place) -> Attempt:
    """The reserved attempt takes the old one's place in the task: the compare-and-swap.

    Raises:
        VersionConflictError: Somebody else runs the task by now.
        RefusedError: The old attempt has not ended.
    """
    with ws.transaction(actor, f"handoff start {package_id}", now=now) as tx:
        package = expect(tx.records, package_id, "confirmed")
        task = task_of(tx.records, package)
        old = old_attempt(tx.records, package)
        if old is not None and old.status in LIVE_ATTEMPT:
            raise RefusedError(f"attempt {old.id} of {old.executor} has not been given up", "release it first")
        attempt = Attempt(
            id=package.attempt or new_id(),
            task=task.id,
            executor=executor(package),
            status="starting",
            plan_revision=package.envelope.identity.plan_revision,
            worktree=place.worktree,
            branch=place.branch,
            head=place.head,
            package=package_id,
            started=Stamp(by=actor, at=tx.now, why=f"package {package_id}"),
        )
        tx.put(attempt)
        tx.put(task.with_(running=attempt.id), expect=task.version)
        if old is not None:
            close_packages(tx, old.id, actor)
        _tell(tx, package, actor, "transferring", attempt=attempt.id, launch=_way(package))
    return attempt


def launched(ws: Workspace, package_id: str, actor: str, now: datetime, result: Launched) -> StoredPackage:
    """The launch is done; the new attempt runs where the program was seen to start."""
    with ws.transaction(actor, f"handoff launched {package_id}", now=now) as tx:
        package = expect(tx.records, package_id, "transferring")
        attempt = new_attempt(tx.records, package)
        if result.started and attempt is not None and attempt.status == "starting":
            tx.put(attempt.with_(status="running"))
        known = {"pane": result.pane, "pid": result.pid, "session_id": result.session_id, "born": result.born}
        details: dict[str, Json] = {name: value for name, value in known.items() if value}
        _tell(tx, package, actor, "launched", attempt=package.attempt, launch=result.way, details=details)
    return ws.load().packages[package_id]


def failed(ws: Workspace, package_id: str, actor: str, now: datetime, why: str) -> StoredPackage:
    """The launch did not come about: the new attempt ends, and the task is free again."""
    with ws.transaction(actor, f"handoff failed {package_id}", why, now=now) as tx:
        package = expect(tx.records, package_id, "transferring")
        _end_new(tx, package, actor, why)
        _tell(tx, package, actor, "failed", why=why)
    return ws.load().packages[package_id]


def fell(ws: Workspace, package_id: str, actor: str, now: datetime, why: str) -> StoredPackage:
    """The program was started and ended before anything of it was seen: the launch counts as failed.

    Raises:
        RefusedError: Its attempt has ended already.
        VersionConflictError: The package is not launched, or was received by now.
    """
    with ws.transaction(actor, f"handoff failed {package_id}", why, now=now) as tx:
        package = expect(tx.records, package_id, "launched")
        attempt = new_attempt(tx.records, package)
        if attempt is None or attempt.status not in LIVE_ATTEMPT:
            raise RefusedError(f"the attempt of package {package_id} has ended", "take the task anew")
        _end_new(tx, package, actor, why)
        _tell(tx, package, actor, "failed", why=why)
    return ws.load().packages[package_id]


def joined(
    ws: Workspace,
    package_id: str,
    actor: str,
    now: datetime,
    session: SessionRef,
    *,
    proof: str | None = None,
    message: str | None = None,
) -> StoredPackage:
    """The receiver's session was seen, or a person said which one it is; with a proof the package is received.

    Args:
        ws: The workspace.
        package_id: A launched package.
        actor: Who saw it.
        now: The moment.
        session: The receiver's session.
        proof: How it is known that the package arrived (:mod:`workbench.handoff.receipt`); None where a
            person only says that this session is the one.
        message: The message that proves it.
    """
    with ws.transaction(actor, f"handoff received {package_id}", now=now) as tx:
        package = expect(tx.records, package_id, "launched")
        attempt = new_attempt(tx.records, package)
        if attempt is None or attempt.status not in LIVE_ATTEMPT:
            raise RefusedError(f"the attempt of package {package_id} has ended", "take the task anew")
        known = {s.name for s in attempt.sessions}
        sessions = attempt.sessions if session.name in known else (*attempt.sessions, session)
        status = "running" if attempt.status == "starting" else attempt.status
        if (sessions, status) != (attempt.sessions, attempt.status):
            tx.put(attempt.with_(sessions=sessions, status=status))
        if proof is not None:
            details: dict[str, Json] = {"proof": proof, "session": session.name, "message": message}
            _tell(tx, package, actor, "received", attempt=attempt.id, details=details)
    return ws.load().packages[package_id]


def reject(ws: Workspace, package_id: str, actor: str, now: datetime, why: str) -> StoredPackage:
    """A person's no to a pending package."""
    with ws.transaction(actor, f"handoff reject {package_id}", why, now=now) as tx:
        package = expect(tx.records, package_id, "pending")
        _tell(tx, package, actor, "rejected", why=why)
    return ws.load().packages[package_id]


def undo_confirm(
    ws: Workspace, package_id: str, actor: str, now: datetime, why: str, *, cancel: bool = False
) -> Attempt | None:
    """Take back a confirmation from which nothing was started: the old attempt runs on.

    Returns:
        The old attempt, where it runs again. The package is pending again, or cancelled.
    """
    with ws.transaction(actor, f"handoff undo {package_id}", why, now=now) as tx:
        package = expect(tx.records, package_id, "confirmed")
        task = tx.records.tasks.get(package.envelope.task)
        old = tx.records.attempts.get(from_attempt(package) or "")
        again: Attempt | None = None
        # An attempt that had not begun was cancelled by the hand-over, and waits for its beginning again.
        before: dict[str, AttemptStatus] = {"releasing": "running", "handed_over": "running", "cancelled": "starting"}
        if old is not None and task is not None and task.running == old.id and old.status in before:
            again = old.with_(status=before[old.status], ended=None)
            tx.put(again)
        _tell(tx, package, actor, "cancelled" if cancel else "pending", why=why, attempt=package.attempt)
    return again


def abandon(ws: Workspace, package_id: str, actor: str, now: datetime, why: str) -> StoredPackage:
    """Cancel a package that waits, or whose program was never seen: its attempt ends, the task is free again."""
    with ws.transaction(actor, f"handoff cancel {package_id}", why, now=now) as tx:
        package = expect(tx.records, package_id, "pending", "transferring", "launched")
        attempt = new_attempt(tx.records, package)
        if attempt is not None and attempt.status == "running":
            raise RefusedError(f"package {package_id} is at work already", "end its attempt instead")
        _end_new(tx, package, actor, why or "the package was cancelled")
        _tell(tx, package, actor, "cancelled", why=why)
    return ws.load().packages[package_id]


def take_up_again(ws: Workspace, package_id: str, actor: str, now: datetime) -> Attempt:
    """After a failed or cancelled hand-over: a new attempt of the old executor, with its sessions.

    Raises:
        VersionConflictError: Somebody runs the task by now.
        RefusedError: The hand-over is under way or came about, or there was no executor before it.
    """
    with ws.transaction(actor, f"handoff take-up {package_id}", now=now) as tx:
        package = expect(tx.records, package_id, "failed", "cancelled")
        task = task_of(tx.records, package)
        old = tx.records.attempts.get(from_attempt(package) or "")
        if old is None:
            raise RefusedError(f"nobody ran the task before package {package_id}", "take it: workbench task take")
        if task.running is not None:
            raise taken(tx.records, task)
        begun = Stamp(by=actor, at=tx.now, why=f"taken up again after attempt {old.id}")
        attempt = old.with_(
            id=new_id(),
            version=1,
            status="running",
            package=None,
            plan_revision=task.plan_revision,
            started=begun,
            ended=None,
        )
        tx.put(attempt)
        tx.put(task.with_(running=attempt.id), expect=task.version)
    return attempt


def close_packages(tx: Transaction, attempt_id: str, actor: str) -> None:
    """Within a change that ends an attempt: the package that it came from is ``closed``."""
    for package in tx.records.packages.values():
        if package.attempt == attempt_id and package.status in ("launched", "received"):
            _tell(tx, package, actor, "closed", attempt=attempt_id)


def _way(package: StoredPackage) -> LaunchWay | None:
    return next((event.launch for event in reversed(package.events) if event.launch), None)


def _tell(
    tx: Transaction,
    package: StoredPackage,
    by: str,
    status: PackageStatus,
    *,
    why: str = "",
    attempt: str | None = None,
    launch: LaunchWay | None = None,
    details: dict[str, Json] | None = None,
) -> None:
    event = PackageEvent(
        id=new_id(),
        status=status,
        by=by,
        at=tx.now,
        why=why,
        attempt=attempt,
        launch=launch,
        details=details or {},
    )
    tx.append_status(package.envelope.id, event)


def _end_new(tx: Transaction, package: StoredPackage, actor: str, why: str) -> None:
    attempt = new_attempt(tx.records, package)
    if attempt is None:
        return
    if attempt.status in LIVE_ATTEMPT:
        tx.put(attempt.with_(status="cancelled", ended=Stamp(by=actor, at=tx.now, why=why)))
    task = tx.records.tasks.get(package.envelope.task)
    if task is not None:
        live = {a.id for a in tx.records.attempts.values() if a.status in LIVE_ATTEMPT}
        tx.put(without_attempt(task, attempt.id, live))
