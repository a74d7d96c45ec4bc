"""What must hold before a step of a hand-over: which package, which task, whose turn."""

from __future__ import annotations

from workbench.domain.package import PackageStatus
from workbench.domain.task import LIVE_ATTEMPT, Attempt, Task
from workbench.errors import NotBuiltError, NotFoundError, RefusedError, VersionConflictError
from workbench.store.records import Records, StoredPackage

UNDER_WAY: frozenset[PackageStatus] = frozenset({"confirmed", "transferring"})


def expect(records: Records, package_id: str, *statuses: PackageStatus) -> StoredPackage:
    """The package, where its status is one of these.

    Raises:
        NotFoundError: There is no such package.
        VersionConflictError: It has another status; ``details`` says what is there, and by whom.
    """
    package = records.packages.get(package_id)
    if package is None:
        raise NotFoundError(f"no package {package_id[:60]!r}", "list them: workbench handoff list", candidates=[])
    if package.status in statuses:
        return package
    last = package.events[-1]
    replaced_by = last.details.get("replaced_by")
    hint = f"it was replaced by {replaced_by}: go on with that one" if replaced_by else "look at it: handoff show"
    raise VersionConflictError(
        f"package {package_id} is {last.status} since {last.at} (by {last.by}), not {' or '.join(statuses)}",
        hint,
        package=package_id,
        status=last.status,
        by=last.by,
        at=last.at,
        replaced_by=replaced_by,
    )


def executor(package: StoredPackage) -> str:
    """The actor that is to receive a package."""
    to = package.envelope.identity.to
    return to if ":" in to else f"agent:{to}"


def from_attempt(package: StoredPackage) -> str | None:
    """The attempt that ran when the package was last confirmed."""
    for event in reversed(package.events):
        if event.status == "confirmed":
            found = event.details.get("from_attempt")
            return found if isinstance(found, str) else None
    return None


def task_of(records: Records, package: StoredPackage) -> Task:
    """The task of a package, which must be open.

    Raises:
        NotFoundError: It cannot be read.
        RefusedError: It is not open.
    """
    task = records.tasks.get(package.envelope.task)
    if task is None:
        raise NotFoundError(f"the task {package.envelope.task} of the package cannot be read", candidates=[])
    if task.status != "open":
        raise RefusedError(f"task {task.slug} is {task.status}", "only an open task can be handed over")
    if "running" in task.contests:
        raise RefusedError(
            f"who runs task {task.slug} is contested since two copies were merged",
            "end all of its attempts but one: workbench attempt end ID",
            contested=[claim.value for claim in task.contests["running"]],
        )
    return task


def check_free(records: Records, package: StoredPackage, task: Task) -> None:
    """What stands in the way of a hand-over whatever a person says.

    Raises:
        NotBuiltError: Packages of this mode are not launched in this version.
        RefusedError: The task is contested, or another package of it is under way.
    """
    if package.envelope.identity.mode != "handoff":
        raise NotBuiltError(f"packages of mode {package.envelope.identity.mode} cannot be launched in this version")
    live = [a for a in records.attempts.values() if a.task == task.id and a.status in LIVE_ATTEMPT]
    if len(live) > 1:
        raise RefusedError(
            f"two attempts of task {task.slug} run: " + ", ".join(f"{a.id} by {a.executor}" for a in live),
            "end one of them first",
            contested=[a.id for a in live],
        )
    if live and live[0].id != task.running:
        raise RefusedError(
            f"attempt {live[0].id} of {live[0].executor} is {live[0].status}, but the task does not name it",
            "end that attempt first",
        )
    for other in records.packages.values():
        if other.envelope.task == task.id and other.id != package.id and other.status in UNDER_WAY:
            raise RefusedError(
                f"package {other.id} of the same task is {other.status}",
                f"finish or undo it first: workbench handoff resume {other.id}",
                package=other.id,
                status=other.status,
            )


def old_attempt(records: Records, package: StoredPackage) -> Attempt | None:
    """The attempt to be given up; None where there was none, or the task is free by now.

    Raises:
        VersionConflictError: Somebody else runs it.
    """
    task = task_of(records, package)
    expected = from_attempt(package)
    if task.running not in (expected, None):
        raise taken(records, task)
    return records.attempts.get(expected) if expected and task.running == expected else None


def taken(records: Records, task: Task) -> VersionConflictError:
    """The error that names who runs a task by now."""
    now = records.attempts.get(task.running or "")
    by = now.executor if now else "an attempt that cannot be read"
    return VersionConflictError(
        f"task {task.slug} is run by {by} by now (attempt {task.running})",
        "look at it, then prepare the package again",
        running=task.running,
        executor=by,
    )


def new_attempt(records: Records, package: StoredPackage) -> Attempt | None:
    """The attempt that the package started; None before that."""
    return records.attempts.get(package.attempt or "")
