"""Evidence that the sessions of a task show by themselves: derived whenever it is looked at, stored nowhere.

A command seen in a session holds while no later file change touches the files under it (``domain.md``,
Evidence): neither one that a session shows, nor one that the disk does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from heapq import nlargest
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.compiler import EvidenceItem
from workbench.domain.contract import CommandSpec
from workbench.domain.evidence import Evidence, FileHash
from workbench.domain.globs import fixed_part, matches
from workbench.domain.ids import id_from
from workbench.domain.message import Message
from workbench.domain.task import Attempt, Task
from workbench.domain.times import instant
from workbench.handoff.files import beneath, hashes
from workbench.services.context import Context
from workbench.services.pool import SessionState
from workbench.services.sessions import AttachedSession
from workbench.store.mask import mask
from workbench.store.records import Records
from workbench.store.worktrees import worktrees

if TYPE_CHECKING:  # reading sessions is not what most commands do: start-up counts
    from workbench.sessions.observed import Observed, Run, Touched

MOST_RUNS = 200
MOST_FILES = 500
"""What is derived at most, newest first; commands of the contract always."""
MOST_TOLD = 4 * MOST_RUNS
"""Runs of a session whose evidence is kept for the next look."""
SETTLES = timedelta(seconds=2)
"""A command's own files may be written until a moment after its result."""
_MARKS = {"completed": "x", "in_progress": ">", "pending": " "}


@dataclass(frozen=True)
class Place:
    """A path of a session, as one of a worktree."""

    root: Path
    path: str
    """Relative to it."""


@dataclass(frozen=True)
class Seen:
    """A session of a task, and the attempt that it belongs to."""

    name: str
    state: SessionState
    attempt: Attempt
    roots: tuple[Path, ...]
    """Worktrees of the repository."""

    @property
    def observed(self) -> Observed:
        """What the session shows."""
        return self.state.observed

    def place(self, path: str) -> Place | None:
        """Where a path lies; None where that is no worktree of this repository."""
        return _place(path, self.roots)


@lru_cache(maxsize=1 << 14)
def _place(path: str, roots: tuple[Path, ...]) -> Place | None:
    pure = Path(path)
    if not pure.is_absolute():
        return None
    inside = [root for root in roots if pure.is_relative_to(root) and pure != root]
    root = max(inside, key=lambda root: len(root.parts), default=None)
    return Place(root, pure.relative_to(root).as_posix()) if root is not None else None


@lru_cache(maxsize=1 << 10)
def _root_of(cwd: str | None, roots: tuple[Path, ...]) -> Path | None:
    """The worktree that a command ran in."""
    return next((root for root in roots if cwd and Path(cwd).is_relative_to(root)), None)


def derive(
    ctx: Context,
    records: Records,
    task: Task,
    sessions: Iterable[AttachedSession],
    attempts: Sequence[Attempt],
    dirty: Sequence[str] = (),
) -> tuple[EvidenceItem, ...]:
    """What the sessions of a task show, oldest first; what a record states already is left out.

    Args:
        ctx: Where and who.
        records: What is stored.
        task: Whose.
        sessions: Its sessions.
        attempts: Its attempts.
        dirty: Files that git calls changed, where that is known.
    """
    seen = seen_sessions(ctx, sessions, attempts)
    judge = _Judge(ctx, task, seen, dirty)
    found = [
        *_commands(task, seen, judge),
        *_files(ctx, task, seen),
        *(line for one in seen if (line := _plan(task, one)) is not None),
    ]
    mine = [line for line in records.evidence if line.task == task.id]
    ids = {line.id for line in mine}
    # One message may show several things: what was cited of it hides itself alone, what was handed in hides all.
    told = {line.source for line in mine if line.source} - {i.evidence.source for i in found if i.evidence.id in ids}
    fresh = (item for item in found if item.evidence.id not in ids and item.evidence.source not in told)
    return tuple(sorted(fresh, key=lambda item: (instant(item.evidence.at), item.evidence.id)))


def own_changes(ctx: Context, sessions: Iterable[AttachedSession], attempt: Attempt, since: str) -> frozenset[str]:
    """Files of this worktree that the sessions of an attempt changed since a moment."""
    mine = [session for session in sessions if session.attempt == attempt.id]
    changed: set[str] = set()
    for one in seen_sessions(ctx, mine, (attempt,)):
        for touched in one.observed.touched:
            if instant(touched.message.at) < instant(since):
                continue
            for path in (touched.path, touched.old_path):
                place = one.place(path) if path else None
                if place is not None and place.root == ctx.location.worktree:
                    changed.add(place.path)
    return frozenset(changed)


def seen_sessions(ctx: Context, sessions: Iterable[AttachedSession], attempts: Sequence[Attempt]) -> list[Seen]:
    """The sessions that are here, sub-agents' included."""
    by_id = {attempt.id: attempt for attempt in attempts}
    roots = tuple(dict.fromkeys((ctx.location.worktree, *worktrees(ctx.location))))
    found = []
    for session in sessions:
        attempt = by_id.get(session.attempt)
        if session.state is not None and attempt is not None:
            found += [Seen(one.info.name, one, attempt, roots) for one in (session.state, *session.children)]
    return found


def _line(task: Task, one: Seen, message: Message, what: str) -> Evidence:
    return Evidence(
        id=id_from(message.ref, what),
        kind="command",
        task=task.id,
        attempt=one.attempt.id,
        executor=one.attempt.executor,
        plan_revision=one.attempt.plan_revision,
        worktree=one.attempt.worktree,
        trust="verified",
        source=message.ref,
        at=message.at or "",
    )


# Commands.


def _commands(task: Task, seen: Sequence[Seen], judge: _Judge) -> list[EvidenceItem]:
    newest: dict[tuple[str, str | None], tuple[Seen, Run, CommandSpec | None]] = {}
    specs = {spec.run: spec for spec in reversed(task.contract.commands)}
    for one in seen:
        for run in one.state.latest_runs(MOST_RUNS, specs):
            spec = specs.get(run.argv)
            if run.looks and spec is None:
                continue
            key = (" ".join(run.argv) if run.argv else run.command, run.cwd)
            known = newest.get(key)
            if known is None or _later(run, one, known[1], known[0]):
                newest[key] = one, run, spec
    most = max(MOST_RUNS, sum(row[2] is not None for row in newest.values()))
    kept = nlargest(most, newest.values(), key=lambda row: (row[2] is not None, instant(row[1].message.at)))
    return [_command(task, one, run, spec, judge) for one, run, spec in kept]


def _later(run: Run, one: Seen, known: Run, of: Seen) -> bool:
    if one.name == of.name:
        return run.message.seq > known.message.seq
    return instant(run.message.at) >= instant(known.message.at)


def _command(task: Task, one: Seen, run: Run, spec: CommandSpec | None, judge: _Judge) -> EvidenceItem:
    changed = judge.changed_since(one, run, spec)
    return EvidenceItem(_told(task, one, run, spec), valid=not changed, changed=changed)


def _told(task: Task, one: Seen, run: Run, spec: CommandSpec | None) -> Evidence:
    """What a run shows; written once, since it may have to be read from the session's file."""
    from workbench.services.trail import Told

    known = one.state.told.get(run.message.id)
    if known is not None and known.run is run and known.attempt is one.attempt and known.spec == spec:
        return known.line
    line = _as_evidence(task, one, run, spec)
    if len(one.state.told) > MOST_TOLD:
        one.state.told.clear()
    one.state.told[run.message.id] = Told(run, one.attempt, spec, line)
    return line


def _as_evidence(task: Task, one: Seen, run: Run, spec: CommandSpec | None) -> Evidence:
    failed = run.exit_code is not None and run.exit_code != (spec.exit if spec else 0)
    result = run.message.result
    if (failed or spec is not None) and (run.message.clipped or (result is not None and result.external is not None)):
        from workbench.sessions.observed import with_output

        run = with_output(run, one.state.log.body(run.message))
    place = one.place(run.cwd + "/.") if run.cwd else None
    return _line(task, one, run.message, "command").with_(
        argv=tuple(mask(word) for word in run.argv),
        command=mask(run.command),
        cwd=place.path if place is not None else "",
        exit_code=run.exit_code,
        excerpt=mask(run.excerpt) if failed or run.exit_code is None else "",
        text=run.tests,
        duration=result.duration if result is not None else None,
        trust="verified" if run.exit_code is not None else "reported",
    )


class _Judge:
    """Whether anything under a command changed after it."""

    def __init__(self, ctx: Context, task: Task, seen: Sequence[Seen], dirty: Sequence[str]) -> None:
        self._ctx = ctx
        self._task = task
        self._dirty = dirty
        self._outputs = [output.path for output in task.contract.outputs if output.path]
        self._changes: dict[tuple[Path, str], list[tuple[Seen, Message]]] = {}
        for one in seen:
            for touched in one.observed.touched:
                for path in (touched.path, touched.old_path):
                    place = one.place(path) if path else None
                    if place is not None:
                        self._note(place, one, touched.message)
        self._times: dict[tuple[str, ...], Mapping[str, float]] = {}

    def _note(self, place: Place, one: Seen, message: Message) -> None:
        """Keep the newest change of every file, one for each session."""
        known = self._changes.setdefault((place.root, place.path), [])
        known[:] = [row for row in known if row[0].name != one.name]
        known.append((one, message))

    def changed_since(self, one: Seen, run: Run, spec: CommandSpec | None) -> tuple[str, ...]:
        """Files under a command that changed after it ended."""
        root = _root_of(run.cwd, one.roots) or self._ctx.location.worktree
        under = self._under(spec)
        changed = {
            path
            for (place, path), changes in self._changes.items()
            if place == root and under(path) and any(_after(message, by, run, one) for by, message in changes)
        }
        if root == self._ctx.location.worktree and run.message.at:
            ended = (instant(run.message.at) + SETTLES).timestamp()
            changed |= {path for path, time in self._on_disk(spec).items() if time > ended and under(path)}
        return tuple(sorted(changed))

    def _under(self, spec: CommandSpec | None) -> Callable[[str], bool]:
        """Which files a command's result depends on: its globs, else the targets less outputs, else any."""
        if spec is not None and spec.depends:
            globs = spec.depends
            return lambda path: any(matches(glob, path) for glob in globs)
        targets = tuple(t.strip("/").removeprefix("./") for t in self._task.contract.targets)
        outputs = self._outputs
        wide = not targets or "." in targets or "" in targets
        return lambda path: (
            (wide or any(matches(t, path) for t in targets)) and not any(matches(o, path) for o in outputs)
        )

    def _on_disk(self, spec: CommandSpec | None) -> Mapping[str, float]:
        """When those files were last written; where no targets are named, only those that git calls changed."""
        named = spec.depends if spec is not None and spec.depends else self._task.contract.targets
        key = tuple(named)
        if key not in self._times:
            base = self._ctx.location.worktree
            paths = beneath(base, [fixed_part(glob) for glob in named]).paths if named else tuple(self._dirty)
            self._times[key] = {path: time for path in paths if (time := written(base / path)) is not None}
        return self._times[key]


def written(path: Path) -> float | None:
    """When a file was last written; None where it cannot be told."""
    try:
        return os.lstat(path).st_mtime
    except (OSError, ValueError):
        return None


def _after(change: Message, by: Seen, run: Run, one: Seen) -> bool:
    """Whether a change came after a command: by the file where one session shows both, else by time."""
    if by.name == one.name:
        return change.seq > run.message.seq
    return instant(change.at) > instant(run.message.at)


# Files and plans.


def _files(ctx: Context, task: Task, seen: Sequence[Seen]) -> list[EvidenceItem]:
    newest: dict[Place, tuple[Seen, Touched]] = {}
    for one in seen:
        for touched in one.observed.touched:
            place = one.place(touched.path)
            if place is None:
                continue
            known = newest.get(place)
            if known is None or instant(touched.message.at) >= instant(known[1].message.at):
                newest[place] = one, touched
    rows = sorted(newest.items(), key=lambda row: instant(row[1][1].message.at), reverse=True)[:MOST_FILES]
    here = [place.path for place, _row in rows if place.root == ctx.location.worktree]
    contents = hashes(ctx.location.worktree, here, ctx.hashes.sha256)
    found = []
    for place, (one, touched) in rows:
        sha256 = contents.get(place.path) if place.root == ctx.location.worktree else None
        line = _line(task, one, touched.message, f"file {place.path}").with_(
            kind="file_change",
            text=_said(touched, place.path),
            files=(FileHash(path=place.path, sha256=sha256),),
        )
        found.append(EvidenceItem(line, valid=True))
    return found


def _said(touched: Touched, path: str) -> str:
    change = touched.change
    counts = [f"{sign}{count}" for sign, count in (("+", change.added), ("-", change.removed)) if count]
    return f"{change.op} {path}" + (f" ({' '.join(counts)})" if counts else "")


def _plan(task: Task, one: Seen) -> EvidenceItem | None:
    """The agent's own plan as it stands: what it ticked off, it claims."""
    message, items = one.observed.plan, one.observed.items
    if message is None or not items:
        return None
    said = "; ".join(f"[{_MARKS[item.status]}] {item.text}" for item in items)
    line = _line(task, one, message, "plan").with_(kind="claim", text=f"plan: {mask(said)}", trust="reported")
    return EvidenceItem(line, valid=True)
