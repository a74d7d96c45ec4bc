"""Acting in the worktree that a package is of, wherever the person stands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from workbench.domain.package import Envelope
from workbench.services.context import Context
from workbench.store.location import locate
from workbench.store.worktrees import worktrees


def worktree_of(envelope: Envelope) -> str | None:
    """Git's own name of the worktree that a package was compiled in; None for the main checkout."""
    for mark in envelope.fingerprints:
        if mark.code == "branch_or_head_moved" and mark.subject == "worktree":
            return mark.value
    return None


def in_worktree(ctx: Context, name: str | None) -> Context:
    """The same context, standing in another worktree of the repository.

    Where that worktree is gone the context stays where it is: the difference then says so.
    """
    if ctx.location.worktree_name == name:
        return ctx
    for folder in worktrees(ctx.location):
        if Path(folder).is_dir():
            location = locate(folder)
            if location.worktree_name == name and location.root == ctx.location.root:
                return replace(ctx, location=location)
    return ctx


def in_place_of(ctx: Context, envelope: Envelope) -> Context:
    """The context, standing in the worktree of a package: freshness and launch are judged there."""
    return in_worktree(ctx, worktree_of(envelope))
