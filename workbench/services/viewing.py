"""Builds the view: the one place where records, sessions and worktree become the picture that is shown."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

import msgspec

from workbench.compiler.acceptance import Standing, command_line, newest_first, open_failures, standings
from workbench.domain.contested import Contest
from workbench.domain.contract import AcceptanceItem
from workbench.domain.evidence import Evidence
from workbench.domain.package import OPEN_PACKAGE, Difference
from workbench.domain.task import Attempt, Task
from workbench.domain.times import instant
from workbench.handoff import fingerprint
from workbench.handoff.process import lives
from workbench.services import facts, history, offers
from workbench.services.contests import contests
from workbench.services.context import Context
from workbench.services.fullness import NEARLY_USED, Allowance, fullness
from workbench.services.leaving import Stay, left
from workbench.services.material import Gathered, basis, gather, material
from workbench.services.places import in_place_of
from workbench.services.session_list import LIVE_FOR, heard_lately
from workbench.services.sessions import AttachedSession
from workbench.services.state import findings
from workbench.services.successors import last_seen_in
from workbench.services.tasks import glance
from workbench.services.view import (
    AcceptanceView,
    EvidenceView,
    FactView,
    HistoryView,
    Need,
    PackageView,
    Place,
    SessionView,
    TaskView,
    View,
)
from workbench.store.git import head
from workbench.store.records import Records, StoredPackage

NEARLY_FULL = 0.8
"""Share of the window from which a session is said to be nearly full."""


def build_view(ctx: Context, task_id: str | None = None, *, records: Records | None = None) -> View:
    """The whole picture, read now, but for records that are given. Blocking: the app calls it in a thread."""
    records = ctx.workspace.load() if records is None else records
    task = records.tasks.get(task_id) if task_id else glance(ctx, records)
    found = gather(ctx, records, task, glance=True) if task is not None else None
    sessions = found.sessions if found else ()
    shown = facts.views(ctx, records, task.id if task else None)
    packages = tuple(
        package_view(ctx, records, p, glance=True)
        for p in sorted(
            records.packages.values(),
            key=lambda p: (p.status not in OPEN_PACKAGE, _newest_first(p.envelope.prepared_at)),
        )
    )
    past = history.view(ctx, records, task, list(sessions)) if task else HistoryView()
    alive = _alive(ctx, sessions)
    session_views = tuple(_session_view(ctx, s, s.ref.name in alive) for s in sessions)
    card = task_view(ctx, found) if found else None
    where = place(ctx, found)
    contested = sorted(contests(records), key=lambda row: task is None or row.task != task.id)
    before_her = offers.waiting(ctx, records)
    needs = (*_needs(card, shown, packages, session_views, records, contested), *_to_look_at(records, before_her))
    mark = [
        records.revision,
        past.mark,
        where.branch,
        where.head,
        where.dirty,
        session_views,
        [(e.evidence.id, e.valid) for e in (*found.evidence, *found.seen)] if found else [],
        [p.differences for p in packages],
        ctx.config.warnings,
        task.id if task else None,
        [row.fact.id for row in shown if row.asked],
        [row.id for row in before_her],
    ]
    return View(
        place=where,
        revision=hashlib.sha256(msgspec.json.encode(mark)).hexdigest()[:16],
        tasks=tuple(sorted(records.tasks.values(), key=lambda t: (t.status != "open", t.slug))),
        task=card,
        facts=shown,
        history=past,
        packages=packages,
        sessions=session_views,
        needs_you=needs,
        damaged=records.damaged,
        warnings=ctx.config.warnings,
        contests=tuple(contested),
        offered=len(before_her),
    )


def due(view: View) -> tuple[datetime, ...]:
    """When a view gets out of date by itself: a live session is heard of no more, or an allowance is there again."""
    idle = [instant(s.updated_at) + LIVE_FOR for s in view.sessions if s.status == "live" and s.updated_at]
    again = [instant(a.resets_at) for s in view.sessions for a in s.allowances if a.resets_at]
    return (*idle, *again)


def _newest_first(at: str) -> float:
    return -instant(at).timestamp()


def place(ctx: Context, found: Gathered | None = None) -> Place:
    """Where the workspace and the person stand."""
    location = ctx.location
    if found is not None:
        branch, commit, dirty = found.worktree.branch, found.worktree.head, found.worktree.dirty
    else:
        where = head(location)
        branch, commit, dirty = where.branch, where.commit, None
    return Place(
        name=location.base.name,
        root=location.root,
        worktree=location.worktree,
        worktree_name=location.worktree_name,
        branch=branch,
        head=commit,
        dirty=None if dirty is None else len(dirty),
    )


def task_view(ctx: Context, found: Gathered) -> TaskView:
    """The live task card."""
    bare = material(ctx, found, with_history=False)
    lines = {item.evidence.id: item.evidence for item in bare.evidence}
    verdicts = standings(bare)
    failures = open_failures(bare)
    live = {a.id for a in found.attempts if a.ended is None}
    return TaskView(
        task=found.task,
        running=found.running,
        attempts=found.attempts,
        acceptance=tuple(
            AcceptanceView(
                item.text, item.required, verdicts[item.id].verdict, _shown_by(ctx, item, verdicts[item.id], lines)
            )
            for item in found.task.contract.acceptance
        ),
        evidence=tuple(EvidenceView(i.evidence, i.valid, i.changed) for i in newest_first(bare.evidence)),
        failure=failures[0].evidence if failures else None,
        interrupted=tuple(
            item.text
            for item in found.task.state.pending
            if item.started is not None and item.started.attempt not in live
        ),
        program_ended=_program_ended(found.records, found.running),
        findings=ctx.found_odd.of(
            (found.records, found.task),
            [(item.evidence.id, item.changed) for item in bare.evidence if not item.valid],
            lambda: findings(found.records, found.task, bare.evidence),
        ),
    )


def _shown_by(ctx: Context, item: AcceptanceItem, standing: Standing, lines: Mapping[str, Evidence]) -> str:
    """What shows an item, or would show it."""
    seen = lines.get(standing.evidence or "")
    if seen is None:
        return item.evidence or f"needs {item.check}"
    if seen.kind == "command":
        code = "unknown" if seen.exit_code is None else seen.exit_code
        return f"{command_line(seen)}: exit {code} at {_clock(ctx, seen.at)}"
    return f"{seen.kind.replace('_', ' ')} by {seen.executor} at {_clock(ctx, seen.at)}"


def _clock(ctx: Context, at: str) -> str:
    """A stored time for a narrow pane: the hour of today, else day and hour (UTC)."""
    day, hour = at[:10], at[11:16]
    return hour if day == ctx.stamp()[:10] else f"{day} {hour}"


def _program_ended(records: Records, running: Attempt | None) -> str:
    """That the program which the workbench started for an attempt has ended; empty where nothing tells so."""
    package = records.packages.get(running.package or "") if running is not None else None
    event = next((e for e in reversed(package.events) if e.status == "launched"), None) if package else None
    pid = event.details.get("pid") if event is not None else None
    if event is None or not isinstance(pid, int) or pid <= 0 or lives(pid, event.details.get("born")):
        return ""
    return "its program has ended"


def package_view(ctx: Context, records: Records, package: StoredPackage, *, glance: bool = False) -> PackageView:
    """A package and, until somebody works by it, whether what it rests on is still so."""
    task = records.tasks.get(package.envelope.task)
    waits = task is not None and (package.status == "pending" or _to_start(records, package))
    differences = differing(ctx, records, package, task, glance=glance) if task is not None and waits else ()
    return PackageView(package.envelope, package.status, package.events, differences)


def _to_start(records: Records, package: StoredPackage) -> bool:
    """It was launched, and its receiver has not begun: what changes now is not the receiver's own work."""
    attempt = records.attempts.get(package.attempt or "")
    return package.status == "launched" and attempt is not None and attempt.status == "starting"


def differing(
    ctx: Context, records: Records, package: StoredPackage, task: Task, *, glance: bool = False
) -> tuple[Difference, ...]:
    """What a package rests on that is no longer so; that its own attempt has the task is what was meant."""
    before = package.envelope.fingerprints
    here = in_place_of(ctx, package.envelope)
    now = basis(here, gather(here, records, task, glance=glance), fingerprint.files_of(before))
    handed = task.running is not None and task.running == package.attempt
    found = fingerprint.compare(before, fingerprint.take(now))
    return tuple(d for d in found if not (handed and d.code == "attempt_not_current"))


def _alive(ctx: Context, sessions: Sequence[AttachedSession]) -> Collection[str]:
    """Sessions that a program is in, or were heard lately and not left for another."""
    stays = [
        Stay(s.ref.name, s.state.info.started_at, s.state.info.updated_at, s.ref.joined.why)
        for s in sessions
        if s.state is not None
    ]
    gone = left(stays, last_seen_in(ctx)) if len(stays) > 1 else frozenset()
    heard = {stay.name for stay in stays if heard_lately(stay.last, ctx.now())} - gone
    # Where all were heard lately, no program need be asked for.
    return heard | ctx.held.read(ctx.env, glance=True) if len(heard) < len(stays) else heard


def _session_view(ctx: Context, session: AttachedSession, live: bool) -> SessionView:
    program = ctx.programs.get(session.ref.agent)
    window = program.window if program else None
    if session.state is None:
        path = str(session.path) if session.path else None
        return SessionView(session.ref.agent, session.ref.id, path, 0, None, "absent", window=window)
    info = session.state.info
    stands = fullness(info, session.state.messages, window, ctx.now(), session.state.lost)
    return SessionView(
        agent=session.ref.agent,
        id=session.ref.id,
        path=str(session.path),
        messages=len(session.state.messages),
        updated_at=info.updated_at,
        status="absent" if session.state.gone else "live" if live else "idle",
        title=info.title or "",
        context=info.last_context,
        window=stands.window,
        unreadable=info.unreadable,
        basis=stands.basis,
        turns_left=stands.turns_left,
        allowances=stands.allowances,
        compactions=stands.compactions,
        lost=stands.lost,
    )


def _needs(
    card: TaskView | None,
    shown: tuple[FactView, ...],
    packages: tuple[PackageView, ...],
    sessions: tuple[SessionView, ...],
    records: Records,
    contested: Sequence[Contest],
) -> tuple[Need, ...]:
    """What waits for the person, most pressing first (``tui.md``: true and quiet)."""
    needs = [Need("damaged", f"{d.path}: {d.message}", "", d.path) for d in records.damaged]
    needs += [Need("contested", f"{row.title} is contested since two copies were merged", "s", row.id)
              for row in contested]  # fmt: skip
    for row in shown:
        if row.lifecycle == "contested":
            needs.append(Need("contested", f"{row.key} has two values that hold", "s", row.fact.id))
        elif row.lifecycle == "challenged":
            needs.append(
                Need("challenged", f"{row.key}: your later words differ from what holds", "s", row.against[0].id)
            )
        elif row.lifecycle == "proposed" and row.asked and not _challenges(row, shown):
            needs.append(Need("proposal", f"{row.key}: a proposal waits", "s", row.fact.id))
    if card is not None and card.running is not None and card.program_ended:
        needs.append(Need("ended", f"{card.running.executor}: {card.program_ended}", "4", card.running.id))
    if card is not None and card.running is not None and card.running.status == "starting":
        who = card.running.executor.partition(":")[2]
        needs.append(Need("to_start", f"{who} waits for you to start it", "4", card.running.id))
    if card is not None and card.running is not None and card.running.plan_revision < card.task.plan_revision:
        needs.append(Need("outdated", f"{card.running.executor} works on an older contract", "", card.running.id))
    needs += [
        Need("stale", f"package for {p.envelope.identity.to}: {p.differences[0].subject} changed", "4", p.envelope.id)
        for p in packages
        # A task that went to somebody else leaves its other packages behind: nothing to do about those.
        if p.stale and not any(d.code == "attempt_not_current" for d in p.differences)
    ]
    needs += [
        Need("full", f"{s.agent} uses {s.full:.0%} of its window{_left(s)}", "H", s.id)
        for s in sessions
        if s.full is not None and s.full >= NEARLY_FULL and s.status == "live"
    ]
    needs += [
        Need("limit", _limited(s, allowance), "H", s.id)
        for s in sessions
        for allowance in s.allowances
        if s.status == "live" and (allowance.reached or (allowance.used or 0) >= NEARLY_USED)
    ]
    return tuple(needs)


def _to_look_at(records: Records, before_her: tuple[offers.Offer, ...]) -> tuple[Need, ...]:
    """What was found in the sessions and holds or is listed already; proposals are named by themselves."""
    known = [row for row in before_her if row.what == "item" or records.registry.lifecycle(row.id) == "active"]
    if not known:
        return ()
    number = f"{len(known)} line{'' if len(known) == 1 else 's'}"
    return (Need("found", f"{number} of your sessions to keep or refuse", "i", known[0].id),)


def _left(session: SessionView) -> str:
    left = session.turns_left
    return "" if left is None else f", about {left} more request{'' if left == 1 else 's'} fit"


def _limited(session: SessionView, allowance: Allowance) -> str:
    """An allowance that is used up, or nearly."""
    state = "is used up" if allowance.reached else f"is {allowance.used or 0:.0%} used"
    return f"{session.agent}: {allowance.name} {state}" + (f", until {allowance.resets_at}" * bool(allowance.resets_at))


def _challenges(row: FactView, shown: tuple[FactView, ...]) -> bool:
    """Whether a proposal stands behind a challenged fact, which is named instead of it."""
    return any(other.lifecycle == "challenged" and row.fact in other.against for other in shown)
