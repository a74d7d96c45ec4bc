"""Evidence as people, agents and the workbench itself record it, and what it shows (``domain.md``, Evidence)."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from workbench.compiler import EvidenceItem
from workbench.domain.contract import AcceptanceItem, CommandSpec
from workbench.domain.evidence import Evidence, EvidenceKind, FileHash
from workbench.domain.globs import fixed_part, matches
from workbench.domain.ids import new_id
from workbench.domain.task import Task
from workbench.errors import HumanNeededError, NotFoundError, NotTrustedError, RefusedError, UsageError
from workbench.handoff.files import beneath, hashes
from workbench.services import running, trust
from workbench.services.context import Context
from workbench.services.contracts import check_path
from workbench.services.material import gather, judged
from workbench.services.pool import HashCache
from workbench.store.records import Records

TEXT_LIMIT = 16_384
"""Characters of a text or an excerpt that are kept."""


class Handed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An observation as it is handed in; hashes are taken here, never believed."""

    text: str = ""
    argv: tuple[str, ...] = ()
    command: str = ""
    cwd: str = ""
    exit_code: int | None = None
    excerpt: str = ""
    duration: float | None = None
    source: str | None = None
    item: str | None = None
    """An acceptance item, by id, prefix or text."""
    artifact: str | None = None
    version: int | None = None
    files: tuple[str, ...] = ()
    """Paths that the observation rests on."""


def listing(ctx: Context, task: Task) -> tuple[EvidenceItem, ...]:
    """The evidence of a task with whether it still holds, newest first; what its sessions show included."""
    found = gather(ctx, ctx.workspace.load(), task)
    rows = (*found.evidence, *found.seen)
    return tuple(sorted(rows, key=lambda item: (item.evidence.at, item.evidence.id), reverse=True))


def find(records: Records, task: Task, prefix: str, also: Sequence[Evidence] = ()) -> Evidence:
    """Evidence of a task by unique id prefix.

    Args:
        records: What is stored.
        task: Whose.
        prefix: The word.
        also: What is about to be stored, see :mod:`workbench.services.citing`.

    Raises:
        NotFoundError: None is named so, or several; or it belongs to another task.
    """
    named = [line for line in also if line.id.startswith(prefix.strip().lower() or "-")]
    if len(named) == 1 and prefix not in records.table("evidence"):
        return named[0]
    found: Evidence = records.find("evidence", prefix)
    if found.task != task.id:
        raise NotFoundError(
            f"evidence {found.id} belongs to another task", "see: workbench evidence list", candidates=[]
        )
    return found


def shows(
    ctx: Context, records: Records, task: Task, names: Iterable[str], also: Sequence[Evidence] = ()
) -> dict[str, str]:
    """Why each piece of evidence does not show that something is done; empty where it does.

    Only what the workbench ran, a session reader saw or a hash proves makes a thing verified.

    Raises:
        NotFoundError: A name is none.
    """
    answers: dict[str, str] = {}
    for name in names:
        line = find(records, task, name, also)
        (item,) = judged(ctx, [line])
        answers[name] = _reason(task, item)
    return answers


def _reason(task: Task, item: EvidenceItem) -> str:
    line = item.evidence
    if line.kind in ("claim", "confirmation"):
        said = "a claim" if line.kind == "claim" else "a person's confirmation"
        return f"it is {said}, which reports and does not verify"
    if line.trust != "verified":
        return f"{line.executor or 'somebody'} handed it in; nothing here has seen it"
    if line.kind == "command":
        wanted = _expected(task, line)
        if line.exit_code != wanted:
            return f"the command ended with {'an unknown code' if line.exit_code is None else line.exit_code}"
    if not item.valid:
        return f"{', '.join(item.changed[:3])} changed since"
    return ""


def _expected(task: Task, line: Evidence) -> int:
    spec = command_spec(task, line.argv or tuple(words_of(line.command)))
    return spec.exit if spec is not None else 0


def words_of(command: str) -> list[str]:
    """A command line as words."""
    try:
        return shlex.split(command)
    except ValueError:
        return [command]


def command_spec(task: Task, argv: Sequence[str]) -> CommandSpec | None:
    """The required command of the contract that an argument list is."""
    return next((spec for spec in task.contract.commands if spec.run == tuple(argv)), None)


def acceptance_item(task: Task, word: str) -> AcceptanceItem:
    """The acceptance item that a word names: an id, a unique beginning of one, or its text.

    Raises:
        NotFoundError: None, or several.
    """
    items = task.contract.acceptance
    found = [i for i in items if word in (i.id, i.text)] or [i for i in items if word and i.id.startswith(word)]
    if len(found) != 1:
        many = f"{word!r} fits {len(found)} acceptance items" if found else f"no acceptance item {word!r}"
        listed = [f"{item.id}  {item.text}" for item in found or items]
        raise NotFoundError(f"{many} of {task.slug}", "name it by its id", candidates=listed)
    return found[0]


def add(ctx: Context, task: Task, kind: EvidenceKind, handed: Any) -> EvidenceItem:
    """Take an observation that somebody hands in.

    Args:
        ctx: Where and who.
        task: Whose.
        kind: What it is. From an agent it is worth a claim until a session or an own run shows it; of a
            file or an artifact the hash is taken here, which does show the content.
        handed: A text, or the fields of :class:`Handed`.

    Raises:
        UsageError: A field is unknown or of a wrong type, or nothing is said.
        HumanNeededError: A confirmation, from an agent.
    """
    ctx.require_writable()
    told = _handed(handed)
    if kind == "confirmation":
        raise HumanNeededError(
            "a confirmation is given by a person who is asked", f"workbench evidence confirm {task.slug} ITEM"
        )
    if kind == "command" and not (told.argv or told.command):
        raise UsageError("a command needs argv or command", '{"argv": ["npm", "run", "build"], "exit_code": 0}')
    item = acceptance_item(task, told.item).id if told.item else None
    for path in told.files:
        check_path(path)
    if any("\0" in word for word in (*told.argv, told.command, told.cwd)):
        raise UsageError("a command holds no NUL")
    files = hashed(ctx, told.files)
    lost = [file.path for file in files if file.sha256 is None]
    if lost and kind in ("file_change", "artifact"):
        raise NotFoundError(f"no file {lost[0]!r} beneath {ctx.location.worktree}", candidates=[])
    line = _line(ctx, task, kind).with_(
        argv=told.argv,
        command=told.command,
        cwd=told.cwd,
        exit_code=told.exit_code,
        excerpt=told.excerpt[:TEXT_LIMIT],
        duration=told.duration,
        source=told.source,
        text=told.text[:TEXT_LIMIT],
        item=item,
        artifact=told.artifact,
        version=told.version,
        files=files,
        run_by="person" if ctx.actor.human else "agent",
        trust="verified" if files and kind in ("file_change", "artifact") else "reported",
    )
    return _append(ctx, line, f"evidence add {task.slug} --kind {kind}")


def _handed(document: Any) -> Handed:
    if isinstance(document, str):
        document = {"text": document}
    try:
        told = msgspec.convert(document, Handed)
    except msgspec.ValidationError as wrong:
        fields = ", ".join(field.encode_name for field in msgspec.structs.fields(Handed))
        raise UsageError(f"the observation does not fit: {wrong}", f"it may have: {fields}") from None
    if told == Handed():
        raise UsageError("the observation says nothing", 'for a claim: {"text": "...", "item": "ID"}')
    return told


def confirm(ctx: Context, task: Task, word: str) -> EvidenceItem:
    """A person's yes to an acceptance item, as things are now: it holds until a file under it changes.

    Raises:
        HumanNeededError: No person stands behind this process.
        NotFoundError: There is no such item.
    """
    ctx.require_human("confirming an acceptance item")
    ctx.require_writable()
    item = acceptance_item(task, word)
    line = _line(ctx, task, "confirmation").with_(
        item=item.id,
        text=item.text,
        run_by="person",
        files=hashed(ctx, beneath(ctx.location.worktree, task.contract.targets).paths),
    )
    return _append(ctx, line, f"evidence confirm {task.slug} {item.id}")


def refuse_run(ctx: Context, task: Task, argv: Sequence[str], *, asked: bool) -> None:
    """Say no to a run that may not be; the gate ``trusted``.

    Args:
        ctx: Where and who.
        task: Whose contract.
        argv: The command.
        asked: A person has just been shown exactly this command and agreed.

    Raises:
        RefusedError: An agent wants to run what the contract does not require.
        NotTrustedError: Nobody has trusted this command here.
    """
    if not ctx.actor.human and command_spec(task, argv) is None:
        listed = "; ".join(shlex.join(spec.run) for spec in task.contract.commands) or "none"
        raise RefusedError(
            f"{shlex.join(argv)} is no command of the contract of {task.slug}",
            f"an agent may run exactly the required commands: {listed}",
        )
    if asked and ctx.actor.human and not ctx.actor.refused:
        return
    if not trust.command_trusted(ctx, tuple(argv)):
        raise NotTrustedError(
            f"nobody has trusted {shlex.join(argv)} in {ctx.location.worktree}",
            "a person looks at what would run and agrees: workbench trust",
        )


def run(
    ctx: Context,
    task: Task,
    argv: Sequence[str],
    *,
    asked: bool = False,
    told: Callable[[str], None] = lambda _line: None,
) -> EvidenceItem:
    """Run a command without a shell, and record what came of it and which files that rests on.

    Args:
        ctx: Where and who.
        task: Whose.
        argv: The command and its arguments.
        asked: A person has just been shown exactly this command and agreed.
        told: Is given every line of output as it comes.

    Raises:
        RefusedError, NotTrustedError: See :func:`refuse_run`.
        UsageError: There is no such program.
    """
    ctx.require_writable()
    refuse_run(ctx, task, argv, asked=asked)
    done = running.run(argv, ctx.location.worktree, running.environment(ctx), told)
    # Files are looked at after the run: what the command itself wrote is part of what it leaves.
    fresh = replace(ctx, hashes=HashCache())
    line = _line(ctx, task, "command").with_(
        argv=tuple(argv),
        exit_code=done.exit_code,
        excerpt=done.excerpt,
        duration=round(done.seconds, 3),
        run_by="workbench",
        trust="verified",
        files=hashed(fresh, rests_on(ctx, task, argv)),
    )
    return _append(fresh, line, f"evidence run {task.slug} -- {shlex.join(argv)}")


def rests_on(ctx: Context, task: Task, argv: Sequence[str]) -> tuple[str, ...]:
    """The files that a command's result depends on: its globs, else what lies beneath the targets, less outputs."""
    base = ctx.location.worktree
    spec = command_spec(task, argv)
    if spec is not None and spec.depends:
        walked = beneath(base, [fixed_part(glob) for glob in spec.depends]).paths
        return tuple(path for path in walked if any(matches(glob, path) for glob in spec.depends))
    outputs = [output.path for output in task.contract.outputs if output.path]
    walked = beneath(base, task.contract.targets).paths
    return tuple(path for path in walked if not any(matches(output, path) for output in outputs))


def hashed(ctx: Context, paths: Iterable[str]) -> tuple[FileHash, ...]:
    """Files of the worktree as they are now, in the order of their paths."""
    found: Mapping[str, str | None] = hashes(ctx.location.worktree, paths, ctx.hashes.sha256)
    return tuple(FileHash(path=path, sha256=sha256) for path, sha256 in sorted(found.items()))


def _line(ctx: Context, task: Task, kind: EvidenceKind) -> Evidence:
    return Evidence(
        id=new_id(),
        kind=kind,
        task=task.id,
        attempt=task.running,
        executor=ctx.actor.name,
        plan_revision=task.plan_revision,
        worktree=ctx.location.worktree_name,
    )


def _append(ctx: Context, line: Evidence, command: str) -> EvidenceItem:
    with ctx.workspace.transaction(ctx.actor.name, command, now=ctx.now()) as tx:
        stored = tx.append_evidence(line.with_(at=tx.now))
    (item,) = judged(ctx, [stored])
    return item
