"""What a task's packages are made from and rest on, gathered once from records, sessions and worktree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from workbench.compiler import EvidenceItem, HistoryItem, Material, WorktreeState
from workbench.compiler.collect_history import may_be_carried
from workbench.domain.artifact import Artifact
from workbench.domain.evidence import Evidence
from workbench.domain.note import Note
from workbench.domain.task import Attempt, Task
from workbench.domain.trimming import Rulings, Trim
from workbench.handoff.files import hashes, rests_on
from workbench.handoff.fingerprint import Basis
from workbench.services import trust
from workbench.services.context import Context
from workbench.services.history import cited_messages, session_fates
from workbench.services.retrieval import retrieved
from workbench.services.seen import derive
from workbench.services.sessions import AttachedSession, attached
from workbench.store.git import head
from workbench.store.mask import mask
from workbench.store.records import Records


@dataclass(frozen=True)
class Gathered:
    """All that concerns one task at one moment."""

    task: Task
    records: Records
    sessions: tuple[AttachedSession, ...]
    attempts: tuple[Attempt, ...]
    running: Attempt | None
    evidence: tuple[EvidenceItem, ...]
    """What is stored, oldest first."""
    seen: tuple[EvidenceItem, ...]
    """What the sessions show by themselves, oldest first."""
    artifacts: tuple[Artifact, ...]
    notes: tuple[Note, ...]
    worktree: WorktreeState


def gather(ctx: Context, records: Records, task: Task, *, glance: bool = False) -> Gathered:
    """Everything about a task, read now; blocking. A ``glance`` takes what the clock found of changed files."""
    attempts = tuple(
        sorted((a for a in records.attempts.values() if a.task == task.id), key=lambda a: (a.started.at, a.id))
    )
    mine = sorted((e for e in records.evidence if e.task == task.id), key=lambda e: (e.at, e.id))
    inputs = {i.from_ for i in task.contract.inputs} | set(task.contract.depends_on)
    artifacts = [
        a
        for a in records.artifacts.values()
        if a.task in (None, task.id) or a.task in inputs or any(b.task in (task.id, *inputs) for b in a.bindings)
    ]
    superseded = {old for note in records.notes.values() for old in note.supersedes}
    notes = [n for n in records.notes.values() if n.task in (None, task.id) and n.id not in superseded]
    where = head(ctx.location)
    dirty = ctx.changed_files.read(ctx.location.worktree, glance=glance) if trust.git_trusted(ctx) else None
    sessions = tuple(attached(ctx, records, task))
    return Gathered(
        task=task,
        records=records,
        sessions=sessions,
        attempts=attempts,
        running=records.attempts.get(task.running) if task.running else None,
        evidence=tuple(judged(ctx, mine)),
        seen=derive(ctx, records, task, sessions, attempts, dirty or ()),
        artifacts=tuple(sorted(artifacts, key=lambda a: a.id)),
        notes=tuple(sorted(notes, key=lambda n: n.id)),
        worktree=WorktreeState(branch=where.branch, head=where.commit, dirty=dirty),
    )


def judged(ctx: Context, evidence: Iterable[Evidence]) -> list[EvidenceItem]:
    """Evidence with whether the files under it are still what they were."""
    rows = []
    for line in evidence:
        changed = tuple(
            file.path for file in line.files if ctx.hashes.sha256(ctx.location.worktree, file.path) != file.sha256
        )
        rows.append(EvidenceItem(evidence=line, valid=not changed, changed=changed))
    return rows


def material(ctx: Context, found: Gathered, *, with_history: bool = True) -> Material:
    """What the compiler is given; without the history where only the card is asked for."""
    cited = cited_messages(found.records, found.task) if with_history else frozenset()
    history: list[HistoryItem] = []
    for session in found.sessions if with_history else ():
        fate_of = session_fates(found.records, session)
        history += [
            HistoryItem(message=m, fate=fate_of[m.id], body=m.text, cited=m.ref in cited)
            for m in session.messages
            if not m.hidden and m.id not in session.repeated
        ]
    role = found.task.contract.role
    gathered = Material(
        task=found.task,
        tasks=found.records.tasks,
        registry=found.records.registry,
        attempts=found.attempts,
        running=found.running,
        evidence=(*found.evidence, *found.seen),
        artifacts=found.artifacts,
        notes=found.notes,
        guidelines=ctx.config.guidelines,
        role=ctx.config.roles.get(role) if role else None,
        history=tuple(history),
        worktree=found.worktree,
        absent_sessions=tuple(s.ref.name for s in found.sessions if s.state is None),
        mask=mask,
    )
    return replace(gathered, retrieved=retrieved(ctx, gathered, found.sessions)) if history else gathered


def basis(ctx: Context, found: Gathered, more_files: Iterable[str] = ()) -> Basis:
    """What a package of the task rests on; ``more_files`` are those of an earlier fingerprint."""
    base = ctx.location.worktree
    changed = found.worktree.dirty or ()
    watched = rests_on(base, found.task, found.evidence, found.artifacts, (*more_files, *changed))
    role = found.task.contract.role
    return Basis(
        task=found.task,
        registry=found.records.registry,
        running=found.running,
        guidelines=ctx.config.guidelines,
        role=ctx.config.roles.get(role) if role else None,
        notes=found.notes,
        trims=_telling_trims(ctx, found),
        artifacts=found.artifacts,
        evidence=found.evidence,
        seen=found.seen,
        files=hashes(base, watched.paths, ctx.hashes.sha256),
        worktree=ctx.location.worktree_name,
        branch=found.worktree.branch,
        head=found.worktree.head,
        sessions={s.ref.name: len(s.state.messages) if s.state else None for s in found.sessions},
    )


def _telling_trims(ctx: Context, found: Gathered) -> Mapping[str, tuple[Trim, ...]]:
    """What was decided about messages that a package may carry; a cut of any other changes no package."""
    cut = [(session, found.records.trims.get(session.ref.name, ())) for session in found.sessions]
    cut = [(session, lines) for session, lines in cut if lines]
    here = [(session.ref.name, session.state is None) for session, _ in cut]
    # The same question comes with every line of a session; what a message is does not change any more.
    return ctx.telling_trims.of(
        tuple(lines for _, lines in cut), here, lambda: {s.ref.name: _telling(s, lines) for s, lines in cut}
    )


def _telling(session: AttachedSession, trims: tuple[Trim, ...]) -> tuple[Trim, ...]:
    named = {message for trim in trims for message in trim.messages}
    rulings = Rulings(trims)
    silent = {m.id for m in session.messages if m.id in named and not may_be_carried(m, rulings.fate(m))}
    return tuple(trim.with_(messages=tuple(m for m in trim.messages if m not in silent)) for trim in trims)
