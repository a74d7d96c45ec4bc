"""Care for the workspace: checks, repair, clearing up, purging a leaked secret, and a bundle for bug reports."""

from __future__ import annotations

import io
import os
import platform
import zipfile
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from workbench.config import load_config, user_dirs
from workbench.domain.change import Change
from workbench.errors import NotFoundError, UsageError, WorkbenchError
from workbench.services.context import Context
from workbench.services.shapes import check_json
from workbench.store.examine import Check, examine
from workbench.store.form import canonical, canonical_line
from workbench.store.garbage import collect
from workbench.store.mask import mask, mask_bytes, mask_json
from workbench.store.primitives import create_private, write_private
from workbench.store.private import read_beneath
from workbench.store.purge import Purged, purge_record, purge_secret, without_secret
from workbench.store.refusals import explained
from workbench.store.repair import repair

PURGEABLE = ("tasks", "facts", "notes", "artifacts", "attempts", "aliases", "packages")
_SOURCES = 64 << 10
"""Bytes of a damaged file that a bundle takes."""


def doctor(ctx: Context) -> tuple[Check, ...]:
    """Everything that can be looked at; nothing is written."""
    return (*_configuration(ctx), *examine(ctx.workspace))


def doctor_fix(ctx: Context) -> tuple[tuple[Check, ...], tuple[Check, ...]]:
    """Repair what can be repaired, and look again.

    Returns:
        What was done, and how everything is now.
    """
    ctx.require_human("repairing the workspace")
    ctx.require_writable()
    done = repair(ctx.workspace, ctx.actor.name)
    return done, doctor(ctx)


def _configuration(ctx: Context) -> Iterator[Check]:
    try:
        warnings = load_config(ctx.location.root, ctx.env).warnings
    except WorkbenchError as problem:
        yield Check("configuration", False, problem.message)
        return
    yield Check("configuration", True, "; ".join(warnings) or "no complaints")


def gc(ctx: Context) -> Check:
    """Remove the contents that nothing refers to."""
    ctx.require_human("removing contents")
    ctx.require_writable()
    kept = len(ctx.workspace.blobs())
    removed, freed = collect(ctx.workspace, ctx.actor.name)
    return Check("contents", True, f"{removed} of {kept} removed, {freed} bytes freed")


def find_purgeable(ctx: Context, prefix: str) -> tuple[str, str]:
    """The table and id of the one record that a prefix names, of whatever kind (``KIND/ID`` will do, too).

    Raises:
        NotFoundError: None, or several (``details['candidates']``).
    """
    records = ctx.workspace.load()
    kind, _, rest = prefix.rpartition("/")
    found = [
        (table, identifier)
        for table in PURGEABLE
        if not kind or table == kind
        for identifier in records.table(table)
        if rest and identifier.startswith(rest.lower())
    ]
    if len(found) != 1:
        names = [f"{table}/{identifier}" for table, identifier in found]
        raise NotFoundError(
            f"{prefix[:60]!r} names {len(found) or 'no'} records", "see: workbench log", candidates=names
        )
    return found[0]


def purge(ctx: Context, kind: str, identifier: str, why: str = "") -> list[Check]:
    """Take a record away, now and in the past; only that there was one stays in the log."""
    ctx.require_human("purging a record")
    ctx.require_writable()
    return _purged(purge_record(ctx.workspace, kind, identifier, ctx.actor.name, why))


def purge_text(ctx: Context, secret: str, why: str = "") -> list[Check]:
    """Take a leaked secret out of everything that the product keeps.

    Raises:
        NotFoundError: It stands nowhere.
        UsageError: It is too short.
    """
    ctx.require_human("purging a secret")
    ctx.require_writable()
    elsewhere = list(_own_files_with(ctx, secret))
    try:
        checks = _purged(purge_secret(ctx.workspace, secret, ctx.actor.name, why))
    except NotFoundError:
        if not elsewhere:
            raise
        checks = []
    for path, data in elsewhere:
        write_private(path, data)
        checks.append(Check("your files", True, f"{path.name}: rewritten", None))
    return checks


def _own_files_with(ctx: Context, secret: str) -> Iterator[tuple[Path, bytes]]:
    """Files of the person's own folders of this program (prompts, caches, logs), and what they shall be."""
    dirs = user_dirs(ctx.env)
    for folder in {dirs.state, dirs.cache, dirs.data}:
        for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
            if path.is_file() and not path.is_symlink():
                with explained(path):
                    data = path.read_bytes()
                clean = without_secret(path.name, data, secret)
                if clean != data:
                    yield path, clean


def _purged(done: Purged) -> list[Check]:
    return [
        Check("records", True, f"{done.records} changed; the log says that something was purged"),
        *(Check("file", True, f"{path}: rewritten or removed", path) for path in done.files),
        *(Check("not looked into", False, f"{path}: compressed; look yourself", path) for path in done.unseen),
    ]


def bundle(ctx: Context, path: Path) -> list[str]:
    """Write what a bug report needs, masked and without what the records say, to a new file.

    Returns:
        The names of what it holds.

    Raises:
        UsageError: The file exists already, its folder does not, or it would lie in the workspace itself.
    """
    folder = path.parent.resolve()
    if not folder.is_dir():
        raise UsageError(f"there is no folder {path.parent}", "make it first, or name another one")
    if folder.is_relative_to(ctx.workspace.root.resolve()):
        raise UsageError(f"{path} lies in the workspace", "name a file outside of it: a bundle is not a record")
    if os.path.lexists(path):
        raise UsageError(f"{path} exists already", "name a new file")
    checks = doctor(ctx)
    parts: dict[str, bytes] = {
        "about.json": canonical(_about(ctx)),
        "checks.json": canonical([check_json(check) for check in checks]),
        "files.json": canonical(_listing(ctx)),
        "changes.jsonl": b"".join(canonical_line(_outline(change)) for change in ctx.workspace.changes()),
    }
    for check in checks:
        if not check.ok and check.path and not check.path.startswith("changes/"):
            data = read_beneath(ctx.workspace.root, check.path, _SOURCES) if _is_file(ctx, check.path) else None
            if data is not None:
                parts[f"damaged/{check.path}"] = mask_bytes(data)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(zipfile.ZipInfo(name), _homeless(ctx)(data))
    create_private(path, packed.getvalue())
    return list(parts)


def _is_file(ctx: Context, path: str) -> bool:
    full = ctx.workspace.root / path
    return full.is_file() and not full.is_symlink()


def _about(ctx: Context) -> dict[str, Any]:
    return {
        "version": version("handoff-workbench"),
        "python": platform.python_version(),
        "system": platform.platform(),
        "worktree": ctx.location.worktree_name,
        "git": ctx.location.git_dir is not None,
        "warnings": [mask(line) for line in ctx.config.warnings],
    }


def _listing(ctx: Context) -> list[dict[str, Any]]:
    """Every file by path, size and mode; the names of keys are names of files."""
    root = ctx.workspace.root
    return [
        {"path": mask(path.relative_to(root).as_posix()), "size": state.st_size, "mode": oct(state.st_mode & 0o7777)}
        for path in sorted(root.rglob("*"))
        for state in [path.lstat()]
        if not path.is_dir()
    ]


def _outline(change: Change) -> dict[str, Any]:
    """A change without what it says: the command's first words, and which records it touched."""
    records = [{"kind": r.kind, "id": r.id, "version": r.version, "gone": r.after is None} for r in change.records]
    outline = {
        "id": change.id,
        "after": change.after,
        "at": change.at,
        "by": change.actor.partition(":")[0],
        "command": " ".join(change.command.split()[:2]),
        "records": records,
        "appends": [append.path.split("/")[0] for append in change.appends],
    }
    masked: dict[str, Any] = mask_json(outline)
    return masked


def _homeless(ctx: Context) -> Callable[[bytes], bytes]:
    """Takes the person's own folders out of texts."""
    places = {str(ctx.location.base): b"<workspace>", ctx.env.get("HOME", ""): b"<home>"}

    def without(data: bytes) -> bytes:
        for place, word in places.items():
            data = data.replace(place.encode(), word) if len(place) > 1 else data
        return data

    return without
