"""Carries a confirmed package up the ladder, and after a crash brings what was left into order.

Whoever carries a package holds a lock named after it, which the system releases when the process dies:
so the next start knows which hand-overs were left in the middle, and leaves those alone that another
process is busy with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from workbench.domain.task import Attempt
from workbench.errors import LockTimeoutError, RefusedError, VersionConflictError, WorkbenchError
from workbench.handoff import transfer
from workbench.handoff.checks import UNDER_WAY, expect
from workbench.handoff.launch import Launched, LaunchPlan, carry_out, check_ready
from workbench.handoff.outbox import Outbox
from workbench.handoff.process import lives
from workbench.store.lock import WriterLock
from workbench.store.primitives import Tree
from workbench.store.records import StoredPackage
from workbench.store.workspace import Workspace

Clock = Callable[[], datetime]
Stop = Callable[[Attempt], None]
"""Asks the old executor to stop, or asks the person; raises where the hand-over must not go on."""


class _BusyError(RefusedError):
    """Another process carries the package."""


@contextmanager
def alone(ws: Workspace, package_id: str) -> Iterator[None]:
    """Hold the right to carry a package, until the end of the block or of the process.

    Raises:
        RefusedError: Another process carries it; the message names that process.
    """
    relative = f".local/handoff/{package_id}.lock"
    tree = Tree(ws.root)
    try:
        lock = WriterLock(tree, timeout=0, relative=relative).__enter__()
    except LockTimeoutError as busy:
        raise _BusyError(
            f"package {package_id} is being handed over by process {busy.details.get('pid', 'unknown')}",
            "wait for it, or end that process",
            **busy.details,
        ) from None
    try:
        yield
    finally:
        try:
            tree.remove(relative)
        finally:
            lock.__exit__()


def hand(
    ws: Workspace,
    package_id: str,
    plan: LaunchPlan,
    actor: str,
    clock: Clock,
    env: Mapping[str, str],
    *,
    judge: transfer.Judge | None = None,
    override: str | None = None,
    stop: Stop | None = None,
    began: Callable[[Launched], None] | None = None,
) -> Launched:
    """A person's yes and everything after it, until the receiver runs: each step recorded before the next.

    Args:
        ws: The workspace.
        package_id: A pending package.
        plan: How to launch it.
        actor: Who confirms.
        clock: The present moment.
        env: The environment that the receiver gets.
        judge: What changed since the package was prepared (see :func:`transfer.confirm`).
        override: Go on in spite of what changed; the reason.
        stop: Called with the old attempt while it is ``releasing``.
        began: Called when the launch is recorded; for the foreground that is before this returns.

    Raises:
        VersionConflictError: Somebody else confirmed the package or took the task.
        RefusedError: It may not be confirmed; or the launch failed: then the new attempt is ended and
            the old one may be taken up again.
    """
    try:
        with alone(ws, package_id):
            transfer.confirm(ws, package_id, actor, clock(), way=plan.way, judge=judge, override=override)
            return _carry(ws, package_id, plan, actor, clock, env, stop, began)
    except _BusyError as busy:
        expect(ws.load(), package_id, "pending")
        raise busy from None


def _carry(
    ws: Workspace,
    package_id: str,
    plan: LaunchPlan,
    actor: str,
    clock: Clock,
    env: Mapping[str, str],
    stop: Stop | None,
    began: Callable[[Launched], None] | None,
) -> Launched:
    try:
        # Before anything is given up: what can fail by itself, and what the receiver is to read.
        check_ready(plan, env)
        plan.outbox.put_prompt(ws.prompt(package_id), plan.prompt_sha256)
        old = transfer.release(ws, package_id, actor, clock())
        if old is not None and stop is not None:
            stop(old)
        transfer.hand_over(ws, package_id, actor, clock())
        transfer.start(ws, package_id, actor, clock(), plan.place)
    except WorkbenchError as problem:
        package = ws.load().packages.get(package_id)
        if package is not None and package.status == "confirmed":
            transfer.undo_confirm(ws, package_id, actor, clock(), problem.message)
        raise
    return _launch(ws, package_id, plan, actor, clock, env, began)


def _launch(
    ws: Workspace,
    package_id: str,
    plan: LaunchPlan,
    actor: str,
    clock: Clock,
    env: Mapping[str, str],
    began: Callable[[Launched], None] | None,
) -> Launched:
    reached: list[Launched] = []

    def record(result: Launched) -> None:
        reached.append(result)
        transfer.launched(ws, package_id, actor, clock(), result)
        if began is not None:
            began(result)

    try:
        return carry_out(plan, env, record)
    except (WorkbenchError, OSError) as problem:
        why = problem.message if isinstance(problem, WorkbenchError) else str(problem)
        # What runs in a pane runs, even where that could not be recorded: the next start finds it and does so.
        runs = bool(reached) and plan.way == "tmux"
        if not runs and ws.load().packages[package_id].status == "transferring":
            transfer.failed(ws, package_id, actor, clock(), why)
        if isinstance(problem, WorkbenchError):
            raise
        raise RefusedError(f"{plan.agent} could not be started: {why}") from problem


def resume(ws: Workspace, state: Path, actor: str, now: datetime, package_id: str | None = None) -> list[str]:
    """Bring hand-overs that a crash left in the middle into order; nothing is launched.

    Args:
        ws: The workspace.
        state: The user's state folder.
        actor: Who starts the program that looks.
        now: The moment.
        package_id: Only this one, also where it was launched and its program has ended since; None: all that
            are under way.

    Returns:
        One line for each: what was resumed, what was undone, what is left to another process.
    """
    lines: list[str] = []
    for package in sorted(ws.load().packages.values(), key=lambda p: p.id):
        asked = package_id == package.id
        if package.status not in UNDER_WAY and not (asked and package.status == "launched"):
            continue
        if package_id is not None and not asked:
            continue
        try:
            with alone(ws, package.id):
                lines.append(_settle(ws, state, actor, now, package.id))
        except (RefusedError, VersionConflictError) as problem:
            lines.append(f"package {package.id}: left as it is: {problem.message}")
    return lines


def _settle(ws: Workspace, state: Path, actor: str, now: datetime, package_id: str) -> str:
    package = ws.load().packages[package_id]
    name = f"package {package_id} for {package.envelope.identity.to}"
    if package.status == "confirmed":
        old = transfer.undo_confirm(ws, package_id, actor, now, "the process that handed it over ended")
        runs = f"; attempt {old.id} of {old.executor} goes on" if old else ""
        return f"{name}: confirmation undone, nothing had been started{runs}"
    if package.status == "launched":
        return _fallen(ws, actor, now, package, name)
    if package.status != "transferring":
        return f"{name}: {package.status} meanwhile"
    outbox = Outbox.of(state, package_id)
    way = package.events[-1].launch or "tmux"
    if way in ("print", "copy") and outbox.order.is_file():
        transfer.launched(ws, package_id, actor, now, Launched(way, started=False))
        return f"{name}: resumed, its command lies ready"
    outcome = outbox.take_back()
    if outcome is not None and outcome.state == "exec":
        transfer.launched(ws, package_id, actor, now, Launched(way, started=True, pid=outcome.pid))
        return f"{name}: resumed, its program had started (process {outcome.pid})"
    why = (outcome and outcome.why) or "the process that launched it ended before the program started"
    transfer.failed(ws, package_id, actor, now, why)
    return f"{name}: undone, its program was not started ({why}); the old executor can be taken up again"


def _fallen(ws: Workspace, actor: str, now: datetime, package: StoredPackage, name: str) -> str:
    """A launched program that is gone and was never seen to work: its launch counts as failed."""
    details = package.events[-1].details
    pid = details.get("pid")
    if not isinstance(pid, int):
        return f"{name}: its program is yours to start; take it back with: workbench handoff cancel {package.id}"
    if lives(pid, details.get("born")):
        return f"{name}: its program runs (process {pid})"
    why = f"its program ended before anything of it was seen (process {pid})"
    transfer.fell(ws, package.id, actor, now, why)
    return f"{name}: failed, {why}; the old executor can be taken up again"


def cancel(ws: Workspace, state: Path, package_id: str, actor: str, now: datetime, why: str = "") -> StoredPackage:
    """Cancel a package that has not come to work yet.

    Raises:
        RefusedError: Its program has started, or another process is at it.
        VersionConflictError: It has ended already.
    """
    with alone(ws, package_id):
        package = ws.load().packages.get(package_id)
        if package is not None and package.status == "confirmed":
            transfer.undo_confirm(ws, package_id, actor, now, why, cancel=True)
            return ws.load().packages[package_id]
        if package is not None and package.status in ("transferring", "launched"):
            outcome = Outbox.of(state, package_id).take_back()
            if outcome is not None and outcome.state == "exec":
                raise RefusedError(
                    f"the program of package {package_id} was started (process {outcome.pid})",
                    "end its attempt instead",
                )
        return transfer.abandon(ws, package_id, actor, now, why)
