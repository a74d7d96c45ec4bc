"""Making a workspace, and removing everything that the product ever wrote for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from workbench.config import load_config, user_dirs
from workbench.errors import RefusedError
from workbench.services.context import Context, person_name
from workbench.services.finding import forget_index, index_file
from workbench.store.location import Location, locate
from workbench.store.primitives import remove_file
from workbench.store.workspace import Workspace


def init(start: Path, *, env: Mapping[str, str], explicit: Path | None = None) -> Location:
    """Make the workspace of the repository (or plain folder) at ``start``; an existing one stays as it is."""
    location = locate(start, explicit)
    if location.base == Path(env.get("HOME", "/")) and explicit is None:
        raise RefusedError(
            "this is your home folder; a workspace belongs to a project", "name it with --workspace if you mean it"
        )
    Workspace.init(location)
    return location


def forget_plan(ctx: Context) -> list[str]:
    """What ``forget`` would remove."""
    index = index_file(ctx.env)
    paths = [*ctx.workspace.forget_paths(), *_readers(ctx), *([index] if index.exists() else [])]
    return [str(path) for path in paths]


def _readers(ctx: Context) -> list[Path]:
    """What is kept of reading the sessions that were attached here."""
    from workbench.sessions.reader_index import ReaderIndex

    sessions = map(Path, ctx.workspace.local.session_paths.values())
    return ReaderIndex(user_dirs(ctx.env).cache).kept(sessions)


def forget(ctx: Context) -> list[str]:
    """Remove the workspace and whatever else was written for it; a person's act.

    Returns:
        What was removed.
    """
    ctx.require_human("forgetting a workspace")
    ctx.require_writable()
    readers = _readers(ctx)
    for path in readers:
        remove_file(path)
    index = forget_index(ctx.env)
    return [*ctx.workspace.forget(), *map(str, readers), *([index] if index else [])]


def person(env: Mapping[str, str]) -> str:
    """The person's name as an actor, where there is no workspace yet."""
    return person_name(load_config(None, env), env)
