"""Looks a workspace over: what is well, what is not, and where exactly. It opens nothing for writing."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

from workbench.domain.schema import TABLES
from workbench.errors import DamagedError, WorkbenchError
from workbench.store.exclude import add_wanted
from workbench.store.form import digest
from workbench.store.garbage import leftovers, referenced
from workbench.store.journal import parse
from workbench.store.lock import LOCK, looking, read_holder
from workbench.store.names import prompt_path
from workbench.store.private import FILE_MODE, FOLDER_MODE, read_beneath
from workbench.store.records import Damage
from workbench.store.refusals import explained
from workbench.store.settle import LOCK as SETTLING
from workbench.store.workspace import Workspace

_REMOTE = ("nfs", "cifs", "smb", "9p", "fuse", "afs", "ceph", "glusterfs", "lustre")
_SHOWN = 3
PATIENCE, _STEP = 1.0, 0.01
"""Seconds that are given to those who write at this moment, and between two looks for them."""
_OURS = frozenset({"blobs", "changes", "history", ".local"})
"""Folders whose files are looked at by other checks, or are for this machine alone."""
_FILES = frozenset({"workspace.toml", ".gitignore"})
_ENTER = os.R_OK | os.W_OK | os.X_OK
RIGHTS = "give yourself the right to read it: workbench doctor --fix, or chmod -R u+rwX .workbench"


@dataclass(frozen=True)
class Check:
    """One thing that was looked at, and how it is."""

    name: str
    ok: bool
    detail: str
    path: str | None = None
    """Relative to the workspace folder, where one file is meant."""
    line: int | None = None
    column: int | None = None


def examine(workspace: Workspace) -> tuple[Check, ...]:
    """Every check, in an order in which a person would ask.

    What does not look well is looked at again while nobody writes, before it is judged.
    """
    checks = _checks(workspace)
    if all(check.ok for check in checks):
        return checks
    left = _left(workspace)
    with looking(workspace.root, SETTLING, PATIENCE), looking(workspace.root, LOCK, PATIENCE):
        return _checks(workspace, left)


def _checks(workspace: Workspace, left: str | None = None) -> tuple[Check, ...]:
    checks: list[Check] = []
    for look in _LOOKS:
        try:
            checks.extend(_journal(workspace, left) if look is _journal else look(workspace))
        except WorkbenchError as problem:
            checks.append(Check(look.__name__.strip("_").replace("_", " "), False, problem.message))
    return tuple(checks)


def damage_check(damage: Damage) -> Check:
    """A file that cannot be read, as a check."""
    name = "schema" if damage.newer else "record"
    return Check(name, False, f"{damage.where}: {damage.message}", damage.path, damage.line, damage.column)


def lost(workspace: Workspace) -> list[tuple[str, str, str]]:
    """Kind, id and path of the records that the log left and that have no file any more."""
    records, stored = workspace.load(), workspace.stored()
    closed = tuple(f"{damage.path}/" for damage in records.damaged)  # what lies behind these is unknown, not gone
    gone = []
    for (kind, identifier), (_, wrote) in workspace.log.latest().items():
        if wrote.after is None or wrote.path in stored or wrote.path.startswith(closed):
            continue
        if kind not in TABLES or identifier not in records.table(kind):
            gone.append((kind, identifier, wrote.path))
    return sorted(gone)


def open_to_others(workspace: Workspace) -> list[str]:
    """Files and folders that others than the owner may look into, where the folder itself (empty) is open."""
    if not stat.S_IMODE(workspace.root.lstat().st_mode) & ~FOLDER_MODE:
        return []
    found = [""]
    for path, state in _everything(workspace.root):
        mode = state.st_mode
        wanted = FOLDER_MODE if stat.S_ISDIR(mode) else FILE_MODE
        if not stat.S_ISLNK(mode) and stat.S_IMODE(mode) & ~wanted:
            found.append(path.relative_to(workspace.root).as_posix())
    return found


def unreadable(root: Path) -> list[str]:
    """Files and folders that we may not read, each before what lies in it; what lies behind a folder is not known."""
    found = [] if os.access(root, _ENTER) else [""]
    for path, state in _everything(root):
        wanted = _ENTER if stat.S_ISDIR(state.st_mode) else os.R_OK
        if not stat.S_ISLNK(state.st_mode) and not os.access(path, wanted):
            found.append(path.relative_to(root).as_posix())
    return found


def refuse_unreadable(root: Path, what: str) -> None:
    """Stop what would take for nothing what it may not read.

    Raises:
        DamagedError: Naming the files and folders.
    """
    found = [path or "the folder itself" for path in unreadable(root)]
    if found:
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise DamagedError(
            f"{what} would pass over what may not be read: {', '.join(found[:_SHOWN])}{more}", RIGHTS, unreadable=found
        )


def _everything(root: Path) -> Iterator[tuple[Path, os.stat_result]]:
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = Path(folder) / name
            with explained(path), suppress(FileNotFoundError):  # what a writer makes beside a file goes at any moment
                yield path, os.lstat(path)


def _folder(workspace: Workspace) -> Iterator[Check]:
    # A file that a person makes in it may have any mode: nobody else comes as far as that.
    closed = not stat.S_IMODE(workspace.root.lstat().st_mode) & ~FOLDER_MODE
    yield Check("modes", closed, "owner-only" if closed else "others may look into the folder")
    tidy = leftovers(workspace.root)
    yield Check(
        "temporary files",
        True,
        f"left by a killed writer in {', '.join(name or 'the folder' for name in tidy)}" if tidy else "none",
    )
    missing = add_wanted(workspace.location)
    yield Check("git", not missing, "git would see the workspace" if missing else "git leaves the workspace alone")


def _rights(workspace: Workspace) -> Iterator[Check]:
    closed = unreadable(workspace.root)
    for path in closed:
        yield Check(
            "rights", False, f"{path or 'the folder'}: may not be read, so nothing is known of it; {RIGHTS}", path
        )
    if not closed:
        yield Check("rights", True, "everything may be read")


def _file_system(workspace: Workspace) -> Iterator[Check]:
    kind = file_system_of(workspace.root)
    remote = kind.startswith(_REMOTE)
    more = ": over a network; the lock holds only where its server supports it" if remote else ""
    yield Check("file system", True, (kind or "not known on this system") + more)


def file_system_of(path: Path) -> str:
    """The type of the file system that holds a path; empty where the system does not say."""
    try:
        rows = Path("/proc/self/mountinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    mounts = {}
    for row in rows:
        before, _, after = row.partition(" - ")
        mounts[before.split()[4].replace("\\040", " ")] = after.split()[0]
    real = os.path.realpath(path)
    best = max((at for at in mounts if real == at or real.startswith(at.rstrip("/") + "/")), key=len, default="")
    return mounts.get(best, "")


def _lock(workspace: Workspace) -> Iterator[Check]:
    holder = read_holder(workspace.root / LOCK)
    said = f"last held by process {holder.pid} ({holder.command}) at {holder.since}" if holder else "never held"
    yield Check("lock", True, said)


def _others(workspace: Workspace) -> Iterator[Check]:
    known = workspace.stored().keys() | {prompt_path(name) for name in workspace.load().packages}
    strange = []
    for path, state in _everything(workspace.root):
        relative = path.relative_to(workspace.root).as_posix()
        table = relative.split("/")[0]
        if stat.S_ISDIR(state.st_mode):
            continue
        if relative not in known and table not in _OURS and relative not in _FILES:
            strange.append(relative)
    more = f" and {len(strange) - _SHOWN} more" if len(strange) > _SHOWN else ""
    said = f"none of ours, and not read: {', '.join(sorted(strange)[:_SHOWN])}{more}"
    yield Check("other files", True, said if strange else "none")


def _pending(workspace: Workspace) -> list[str]:
    position = workspace.journal.position()
    return [] if position.settled else [change.id for change in workspace.journal.since(position)]


def _left(workspace: Workspace) -> str:
    """The first change that is incomplete and stays so: nobody who lives is about to put it into the files."""
    until = monotonic() + PATIENCE
    first = pending[0] if (pending := _pending(workspace)) else ""
    while first and monotonic() < until:
        if first not in _pending(workspace):
            return ""
        sleep(_STEP)
    return first


def _journal(workspace: Workspace, left: str | None = None) -> Iterator[Check]:
    """The log; what it is ahead of the files by counts where ``left`` is among it, which nobody completes."""
    pending = _pending(workspace)
    if left is not None and left not in pending:
        pending = []
    if pending:
        yield Check("journal", False, f"change {pending[-1]} is committed and not completely written yet")
    bad = workspace.damaged_changes()
    for damage in bad:
        yield Check("journal", False, f"{damage.where}: {damage.message}", damage.path, damage.line, damage.column)
    if not pending and not bad:
        count = sum(parse(line) is not None for _, _, line in workspace.log.lines())
        yield Check("journal", True, f"{count} changes")


def _records(workspace: Workspace) -> Iterator[Check]:
    records = workspace.load()
    for damage in records.damaged:
        yield damage_check(damage)
    gone = lost(workspace)
    for kind, _, path in gone:
        yield Check("record", False, f"{path}: the log holds it, but the file of {kind} is gone", path, 1, 1)
    if not records.damaged and not gone:
        count = sum(len(records.table(kind)) for kind in (*TABLES, "packages"))
        yield Check("records", True, f"{count} records can be read")
    edited = workspace.edited_outside()
    names = ", ".join(f"{kind}/{identifier}" for kind, identifier in edited[:_SHOWN])
    yield Check("hand edits", True, f"{len(edited)} not in the log yet: {names}" if edited else "all in the log")
    contested = [
        f"{kind}/{row.id} {field}" for kind in TABLES for row in records.table(kind).values() for field in row.contests
    ]
    registry = records.registry
    keys = {registry.canonical(f.key) for f in registry.facts.values() if registry.lifecycle(f.id) == "contested"}
    contested += [f"the fact {key}" for key in sorted(keys)]
    more = f" and {len(contested) - _SHOWN} more" if len(contested) > _SHOWN else ""
    said = f"{', '.join(contested[:_SHOWN])}{more}; a person decides: workbench settle"
    yield Check("contested", True, said if contested else "nothing")


def _packages(workspace: Workspace) -> Iterator[Check]:
    bad = 0
    for identifier, package in workspace.load().packages.items():
        path = prompt_path(identifier)
        data = read_beneath(workspace.root, path)
        if data is None or digest(data) != package.envelope.prompt_sha256:
            bad += 1
            what = "the prompt is gone" if data is None else "the prompt is not the one that was prepared"
            yield Check("package", False, f"{path}: {what}; prepare the package again", path)
    if not bad:
        yield Check("packages", True, f"{len(workspace.load().packages)} with their prompts")


def _contents(workspace: Workspace) -> Iterator[Check]:
    kept = workspace.blobs()
    wanted = referenced(workspace.root)
    bad = [name for name in kept if digest(read_beneath(workspace.root, f"blobs/{name}") or b"") != name]
    for name in bad:
        yield Check("content", False, f"blobs/{name}: not the content that its name says", f"blobs/{name}")
    if not bad:
        spare = len([name for name in kept if name not in wanted])
        yield Check("contents", True, f"{len(kept)} kept" + (f", {spare} of them for nothing (gc)" if spare else ""))


_LOOKS: tuple[Callable[[Workspace], Iterator[Check]], ...] = (
    _folder, _rights, _file_system, _lock, _journal, _records, _others, _packages, _contents,
)  # fmt: skip
