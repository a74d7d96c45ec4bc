"""Trust: nothing that a workspace contains runs before the person saw the exact command and agreed."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from workbench.config import user_dirs
from workbench.services.context import Context
from workbench.store.git import status_command
from workbench.store.trust import Grant, TrustStore, fingerprint


@dataclass(frozen=True)
class Runnable:
    """Something that would run, exactly as it would."""

    what: str
    argv: tuple[str, ...]
    folder: Path
    fingerprint: str
    trusted: bool


def plan(ctx: Context) -> tuple[Runnable, ...]:
    """What may run for this worktree once it is trusted: git, and the required commands of open tasks."""
    store = _store(ctx)
    folder = ctx.location.worktree
    rows: list[tuple[str, tuple[str, ...]]] = []
    if ctx.location.git_dir is not None:
        rows.append(("see which files changed (filters, hooks and helpers switched off)", status_command()))
    for task in sorted(ctx.workspace.load().tasks.values(), key=lambda t: t.slug):
        if task.status == "open":
            rows += [(f"required command {c.id} of {task.slug}", c.run) for c in task.contract.commands]
    marks = [_mark(ctx, argv) for _, argv in rows]
    return tuple(
        Runnable(what, argv, folder, mark, store.is_trusted(mark))
        for (what, argv), mark in zip(rows, marks, strict=True)
    )


def _store(ctx: Context) -> TrustStore:
    return TrustStore(user_dirs(ctx.env).data)


def _mark(ctx: Context, argv: tuple[str, ...]) -> str:
    """What a grant is bound to: the command, the folder, and the repository's configuration, which git obeys."""
    files: dict[str, str] = {}
    if argv[0] == "git" and ctx.location.common_dir is not None:
        files["config"] = ctx.hashes.sha256(ctx.location.common_dir, "config") or ""
    return fingerprint(argv, {}, ctx.location.worktree, files)


def grant(ctx: Context, rows: tuple[Runnable, ...]) -> int:
    """Trust exactly these commands in exactly this folder; returns how many are new."""
    ctx.require_human("trusting a command")
    store = _store(ctx)
    fresh = [row for row in rows if not store.is_trusted(row.fingerprint)]
    for row in fresh:
        store.grant(f"{row.what}: {shlex.join(row.argv)} in {row.folder}", row.fingerprint, ctx.stamp())
    return len(fresh)


def revoke(ctx: Context) -> int:
    """Take back what is trusted for this worktree; returns how many."""
    ctx.require_human("revoking trust")
    store = _store(ctx)
    granted = [row for row in plan(ctx) if row.trusted]
    for row in granted:
        store.revoke(row.fingerprint)
    return len(granted)


def granted(ctx: Context) -> tuple[Grant, ...]:
    """Everything that this person has trusted on this machine."""
    return _store(ctx).list()


def git_trusted(ctx: Context) -> bool:
    """Whether git may run in this worktree."""
    return ctx.location.git_dir is not None and _store(ctx).is_trusted(_mark(ctx, status_command()))


def command_trusted(ctx: Context, argv: tuple[str, ...]) -> bool:
    """Whether a person has trusted exactly this command in this worktree."""
    return bool(argv) and _store(ctx).is_trusted(_mark(ctx, argv))
