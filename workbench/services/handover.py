"""Handing a task over: from a pending package to the running receiver, and the proof that it arrived."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from workbench.domain.package import Difference, LaunchWay
from workbench.domain.record import Stamp
from workbench.domain.task import Attempt, SessionRef
from workbench.domain.times import instant
from workbench.errors import RefusedError
from workbench.handoff import carry, fingerprint, stopping, transfer
from workbench.handoff.launch import Launched, LaunchPlan, Place, plan
from workbench.handoff.receipt import Heard, Receipt, Sent, received
from workbench.services import damage, packages, scratch
from workbench.services.context import Context
from workbench.services.material import Gathered, basis, gather
from workbench.services.packages import CompileOptions
from workbench.services.places import in_place_of
from workbench.services.pool import HashCache
from workbench.services.seen import own_changes
from workbench.services.session_list import listing
from workbench.services.sessions import attached
from workbench.services.view import PackageView
from workbench.services.viewing import package_view
from workbench.store.git import head
from workbench.store.records import Records, StoredPackage


@dataclass(frozen=True)
class Handed:
    """What came of a confirmation."""

    package: StoredPackage
    plan: LaunchPlan
    launched: Launched
    differences: tuple[Difference, ...]
    replaced: str | None = None
    """The package that was confirmed, where the running executor's own work made a new one necessary."""
    left: str = ""
    """What was done about the program of the executor before, and what came of it; empty where there was none."""


def launch_plan(
    ctx: Context, prefix: str, way: LaunchWay, *, inline: bool = False, headless: bool = False
) -> LaunchPlan:
    """What a launch of a package would do, exactly; nothing is written or started.

    Raises:
        NotFoundError: The package or the receiving program is not there.
        RefusedError: The way cannot be taken here.
    """
    package = packages.find(ctx, prefix)
    ctx = in_place_of(ctx, package.envelope)
    program = ctx.programs.get(package.envelope.identity.to)
    if program is None:
        packages.target(ctx, package.envelope.identity.to)
    assert program is not None
    where = head(ctx.location)
    prompt = ctx.workspace.prompt(package.id).decode("utf-8", "replace") if inline else None
    return plan(
        program,
        package.envelope,
        package.attempt or "",
        way=way,
        place=Place(ctx.location.worktree, ctx.location.worktree_name, where.branch, where.commit),
        workspace=ctx.location.root,
        state=ctx.state_folder,
        env=_receiver_env(ctx),
        inline=prompt,
        headless=headless,
    )


def _receiver_env(ctx: Context) -> dict[str, str]:
    """The person's environment without what speaks for her or for another agent's shell."""
    marks = {mark for program in ctx.programs.values() for mark in program.marks}
    ours = {"WORKBENCH_HUMAN_SHELL", "WORKBENCH_ACTOR", "WORKBENCH_TASK", "WORKBENCH_ATTEMPT"}
    return {name: value for name, value in ctx.env.items() if name not in marks | ours}


def confirm(
    ctx: Context,
    prefix: str,
    way: LaunchWay,
    *,
    override: str | None = None,
    inline: bool = False,
    headless: bool = False,
    began: Callable[[Launched], None] | None = None,
) -> Handed:
    """A person's yes: everything is fingerprinted again, the old executor leaves, the receiver starts.

    A difference that the running executor's own work made is compiled in without asking: a new
    package takes the place of this one. Every other difference stops.

    Args:
        ctx: Where and who; a person.
        prefix: The package.
        way: How to launch.
        override: Go on in spite of differences; the reason, which may be empty.
        inline: The prompt in the argument list, where it fits.
        headless: The prompt on standard input.
        began: Called when the launch is recorded; for the foreground before this returns.

    Raises:
        RefusedError: It is stale (``details['differences']``), or the launch failed.
        VersionConflictError: Somebody else decided about it, or took the task, meanwhile.
        HumanNeededError: No person stands behind this process.
    """
    ctx.require_human("confirming a package")
    ctx.require_writable()
    package = packages.find(ctx, prefix)
    ctx = in_place_of(ctx, package.envelope)
    records = ctx.workspace.load()
    damage.refuse(damage.concerning(records, records.tasks[package.envelope.task]), "this package")
    differences = packages.check(ctx, package.id)
    replaced: str | None = None
    if override is None and package.status == "pending" and own_work(ctx, package, differences):
        task = ctx.workspace.load().tasks[package.envelope.task]
        options = CompileOptions.from_json(package.envelope.options)
        renewed = packages.prepare(ctx, task, package.envelope.identity.to, options, replaces=package.id)
        replaced, package = package.id, renewed
    looked = launch_plan(ctx, package.id, way, inline=inline, headless=headless)
    # By content, never by a remembered time stamp: every file is read again here.
    fresh = replace(ctx, hashes=HashCache())
    found = _gathered(fresh, package)
    left: list[str] = []

    def stop(old: Attempt) -> None:
        if old.status == "releasing":  # one that never began has nothing to stop
            left.append(stopping.ask(_leaver(ctx, old), ctx.env))

    result = carry.hand(
        ctx.workspace,
        package.id,
        looked,
        ctx.actor.name,
        ctx.now,
        _receiver_env(ctx),
        judge=lambda records: _judge(fresh, package, found, records),
        override=override,
        stop=stop,
        began=began,
    )
    scratch.sweep(ctx)
    if result.ended_at_once and ctx.workspace.load().packages[package.id].status == "launched":
        transfer.fell(ctx.workspace, package.id, ctx.actor.name, ctx.now(), result.said)
        raise RefusedError(result.said, f"let the executor before go on: workbench handoff resume {package.id} --again")
    handed = ctx.workspace.load().packages[package.id]
    return Handed(handed, looked, result, differences, replaced, "; ".join(left))


def _leaver(ctx: Context, attempt: Attempt) -> stopping.Leaver:
    return stopping.leaver(ctx.workspace.load(), attempt, ctx.programs, ctx.env)


def leaving(ctx: Context, prefix: str) -> str:
    """What a hand-over would do about the executor that runs the task now, in one line; empty where nobody does."""
    package = packages.find(ctx, prefix)
    records = ctx.workspace.load()
    task = records.tasks.get(package.envelope.task)
    running = records.attempts.get(task.running) if task is not None and task.running else None
    return _leaver(ctx, running).plan if running is not None and running.status != "starting" else ""


def _gathered(ctx: Context, package: StoredPackage) -> Gathered:
    records = ctx.workspace.load()
    return gather(ctx, records, records.tasks[package.envelope.task])


def _judge(ctx: Context, package: StoredPackage, found: Gathered, records: Records) -> tuple[Difference, ...]:
    """Differences with the records as they are under the lock; files were hashed just before it."""
    task = records.tasks[package.envelope.task]
    running = records.attempts.get(task.running) if task.running else None
    now = basis(
        ctx,
        replace(found, task=task, records=records, running=running),
        fingerprint.files_of(package.envelope.fingerprints),
    )
    return fingerprint.compare(package.envelope.fingerprints, fingerprint.take(now))


def own_work(ctx: Context, package: StoredPackage, differences: tuple[Difference, ...]) -> bool:
    """Whether the package is to be made anew without asking: all that changed is work that its sessions show.

    What stops must have been done by the running executor. Where nothing stops, but the sessions show more than
    when the package was made (a command that failed, a file), the receiver is to know that too.
    """
    stopping = [d for d in differences if d.stops]
    if any(d.code not in ("file_changed", "file_missing", "evidence_stale") for d in stopping):
        return False
    if not stopping:
        return any(d.subject == fingerprint.WORK_SEEN for d in differences)
    records = ctx.workspace.load()
    task = records.tasks[package.envelope.task]
    running = records.attempts.get(task.running) if task.running else None
    files = {d.subject for d in stopping if d.code != "evidence_stale"}
    if running is None or not files:
        return False
    return files <= own_changes(ctx, attached(ctx, records, task), running, package.envelope.prepared_at)


def reject(ctx: Context, prefix: str, why: str) -> StoredPackage:
    """A person's no."""
    ctx.require_human("rejecting a package")
    ctx.require_writable()
    return transfer.reject(ctx.workspace, packages.find(ctx, prefix).id, ctx.actor.name, ctx.now(), why)


def cancel(ctx: Context, prefix: str, why: str = "") -> StoredPackage:
    """Take a package back that has not come to work; an agent may cancel what it prepared itself."""
    ctx.require_writable()
    package = packages.find(ctx, prefix)
    if package.envelope.prepared_by != ctx.actor.name or package.status != "pending":
        ctx.require_human("cancelling a package")
    return carry.cancel(ctx.workspace, ctx.state_folder, package.id, ctx.actor.name, ctx.now(), why)


def resume(ctx: Context, prefix: str | None = None) -> list[str]:
    """Bring hand-overs that a crash left in the middle into order; says for each what was done.

    Args:
        ctx: Where and who; a person, where one package is meant.
        prefix: Only this one, also where its program has ended before anything of it was seen; None: all.
    """
    if prefix:
        ctx.require_human("resuming a hand-over")
    ctx.require_writable()
    package_id = packages.find(ctx, prefix).id if prefix else None
    return carry.resume(ctx.workspace, ctx.state_folder, ctx.actor.name, ctx.now(), package_id)


def take_up_again(ctx: Context, prefix: str) -> Attempt:
    """After a failed or cancelled hand-over: the old executor goes on, in a new attempt."""
    ctx.require_human("letting an executor go on")
    ctx.require_writable()
    return transfer.take_up_again(ctx.workspace, packages.find(ctx, prefix).id, ctx.actor.name, ctx.now())


def look_for_receipt(ctx: Context, prefix: str) -> PackageView:
    """Look for the receiver's session of a launched package, and record the proof where there is one."""
    ctx.require_writable()
    package = packages.find(ctx, prefix)
    if package.status == "launched":
        proof = _find_receipt(ctx, package)
        if proof is not None:
            agent, _, session_id = proof.session.partition(":")
            ref = SessionRef(agent=agent, id=session_id, joined=Stamp(by=ctx.actor.name, at=ctx.stamp()))
            package = transfer.joined(
                ctx.workspace, package.id, ctx.actor.name, ctx.now(), ref, proof=proof.proof, message=proof.message
            )
    return package_view(ctx, ctx.workspace.load(), package)


def _find_receipt(ctx: Context, package: StoredPackage) -> Receipt | None:
    since = next((e.at for e in package.events if e.status == "transferring"), None)
    if since is None:
        return None
    outbox = launch_plan(ctx, package.id, "print").outbox
    sent = Sent(
        agent=package.envelope.identity.to,
        snapshot=package.envelope.snapshot,
        folder=ctx.location.worktree,
        prompt_file=outbox.prompt,
        prompt_size=len(ctx.workspace.prompt(package.id).decode("utf-8", "replace")),
        since=since,
    )
    heard: list[Heard] = []
    paths: dict[str, str] = {}
    for found in listing(ctx):
        if found.agent != sent.agent or instant(found.updated_at) < instant(since):
            continue
        with ctx.lock:
            state = ctx.sessions.read(found.path, found.agent)
        if state is not None:
            paths[state.info.name] = str(found.path)
            heard.append(Heard(state.info.name, state.info.cwd, state.info.started_at, state.messages))
    proof = received(sent, heard)
    if proof is not None:
        ctx.workspace.local.set_session_path(proof.session, paths[proof.session])
    return proof
