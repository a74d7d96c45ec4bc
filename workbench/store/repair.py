"""``doctor --fix``: the only code that moves damaged bytes, and brings back what was last acknowledged.

Each file is first copied to ``.local/quarantine``, durably; then everything is restored by one change,
which is old or new like any other. What the log does not hold is said, not invented.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator

from workbench.domain.schema import TABLES
from workbench.errors import RefusedError, StorageError
from workbench.store.changelog import Wrote
from workbench.store.draft import Held
from workbench.store.examine import Check, lost, open_to_others, unreadable
from workbench.store.exclude import add_exclude, add_wanted
from workbench.store.form import Unreadable, canonical_line, digest, documents_in, read_document
from workbench.store.garbage import leftovers
from workbench.store.journal import FOLDER, parse
from workbench.store.private import read_beneath
from workbench.store.reader import LINES, decode_lines
from workbench.store.records import Damage
from workbench.store.transaction import Transaction
from workbench.store.workspace import Workspace

QUARANTINE = ".local/quarantine"
MOST = 1000
"""Copies in quarantine; beyond it a person looks first."""
_VERSION = re.compile(rb'"version"\s*:\s*(\d{1,15})')


def repair(workspace: Workspace, actor: str) -> tuple[Check, ...]:
    """Repair what can be repaired, and say of each thing where it came from and what is missing."""
    done: list[Check] = [*_open_up(workspace)]
    closed = tuple(f"{path}/" for path in unreadable(workspace.root))
    with workspace.transaction(actor, "doctor --fix", alone=True) as tx:
        work = _Repair(workspace, tx)
        damaged = {
            damage.path: damage
            for damage in tx.records.damaged
            if not damage.newer and not f"{damage.path}/".startswith(closed)
        }
        for path, damage in damaged.items():
            done.append(work.lines(path) if path.endswith(".jsonl") else work.record(path, damage))
        for kind, identifier, path in lost(workspace):
            if path not in damaged:
                done.append(work.place(kind, identifier, path, None, b""))
        done.extend(work.log())
    for path in open_to_others(workspace):
        if path:
            workspace.tree.tighten(path)
        else:
            workspace.tree.make_root()
        done.append(Check("mode", True, f"{path or 'the folder'}: owner-only again", path or None))
    for folder in leftovers(workspace.root):
        workspace.tree.sweep(folder)
        done.append(Check("temporary files", True, f"{folder or 'the folder'}: removed", folder or None))
    if add_wanted(workspace.location):
        add_exclude(workspace.location)
        done.append(Check("git", True, "git leaves the workspace alone again"))
    return tuple(done)


def _open_up(workspace: Workspace) -> Iterator[Check]:
    """Give us the right to read what is ours; what lies behind a folder is seen once it is open."""
    tried: set[str] = set()
    while left := [path for path in unreadable(workspace.root) if path not in tried]:
        tried.update(left)
        for path in left:
            try:
                if path:
                    workspace.tree.tighten(path)
                else:
                    workspace.tree.make_root()
            except StorageError as problem:
                yield Check("rights", False, f"{problem.message}; it is somebody else's, or not to be changed", path)
            else:
                yield Check("rights", True, f"{path or 'the folder'}: may be read again", path or None)


class _Repair:
    """The repairs within one transaction."""

    def __init__(self, workspace: Workspace, tx: Transaction) -> None:
        self._workspace = workspace
        self._root = workspace.root
        self._tx = tx
        self._latest = workspace.log.latest()
        self._by_path = {wrote.path: key for key, (_, wrote) in reversed(self._latest.items())}

    def record(self, path: str, damage: Damage) -> Check:
        """A record's file that is not that record."""
        kind = path.split("/")[0]
        identifier = self._identifier(path)
        data = self._bytes(path)
        twin = self._twin(path)
        if twin is not None:
            # Of two files with one record the one goes that the log does not know.
            return self._stray(twin if path in self._by_path else path)
        if data is not None and kind in TABLES and {identifier, *_ids(data)} & self._tx.records.table(kind).keys():
            return self._stray(path)
        if data is None:
            if os.path.lexists(self._root / path):
                self._set_aside(path)
            return self.place(kind, identifier, path, None, b"")
        if self._restorable(kind, identifier):
            self._keep(path, data)
        return self.place(kind, identifier, path, Held(path, digest(data), {}), data)

    def place(self, kind: str, identifier: str, path: str, over: Held | None, data: bytes) -> Check:
        """Bring back what the log last left of a record; without any, the damaged file goes."""
        wrote = self._latest.get((kind, identifier))
        kept = f"; the damaged bytes are in {QUARANTINE}" if over is not None else ""
        if wrote is None or wrote[1].after is None:
            if over is not None:
                self._set_aside(path)
            return Check("restored", False, f"{path}: nothing to restore, the log does not hold it{kept}", path)
        self._tx.place(kind, wrote[1].after, over)
        return Check("restored", True, f"{path}: {_source(wrote)}{kept}; {_missing(wrote, data)}", path)

    def lines(self, path: str) -> Check:
        """An append-only file: the lines that can be read stay, those that the log knows come back."""
        data = self._bytes(path)
        if data is None and os.path.lexists(self._root / path):
            self._set_aside(path)
        kind = LINES[path.split("/")[0]]
        good = [line for line in (data or b"").split(b"\n") if line and not decode_lines(kind, line, path).damage]
        known = {document.get("id") for document in documents_in(b"\n".join(good))}
        back = [a.line for a in self._workspace.log.appended(path) if a.line.get("id") not in known]
        if data is not None:
            self._keep(path, data)
        bad = len([line for line in (data or b"").split(b"\n") if line]) - len(good)
        if not good and not back:
            return Check("restored", False, f"{path}: nothing to restore, the log does not hold its lines", path)
        self._tx.add_file(path, b"".join([*(line + b"\n" for line in good), *map(canonical_line, back)]))
        self._tx.tell()
        lacking = max(0, bad - len(back))
        more = f"; {lacking} unreadable lines are in no log" if lacking else "; nothing is missing"
        return Check("restored", True, f"{path}: {len(back)} lines from the log, {bad} unreadable lines are in "
                     f"{QUARANTINE}{more}", path)  # fmt: skip

    def log(self) -> Iterator[Check]:
        """Lines of the log itself that hold no change: they go, for nothing can say what they held."""
        for name in sorted({damage.path for damage in self._workspace.damaged_changes()}):
            data = self._workspace.journal.read(name.removeprefix(f"{FOLDER}/"))
            lines = [line for line in data.split(b"\n") if line]
            good = [line for line in lines if parse(line) is not None]
            self._keep(name, data)
            self._tx.add_file(name, b"".join(line + b"\n" for line in good))
            self._tx.tell()
            what = f"{len(lines) - len(good)} unreadable lines are in {QUARANTINE}; what they recorded is missing"
            yield Check("restored", True, f"{name}: {what}", name)

    def _restorable(self, kind: str, identifier: str) -> bool:
        wrote = self._latest.get((kind, identifier))
        return wrote is not None and wrote[1].after is not None

    def _identifier(self, path: str) -> str:
        if path in self._by_path:
            return self._by_path[path][1]
        parts = path.split("/")
        return parts[1] if parts[0] == "packages" else parts[-1].removesuffix(".json")

    def _twin(self, path: str) -> str | None:
        """Another file that holds the same record."""
        stored = self._workspace.stored()
        mine = stored.get(path)
        if mine is None or mine.value is None or path.split("/")[0] not in TABLES:
            return None
        table = path.split("/")[0] + "/"
        return next((p for p, s in stored.items() if p != path and p.startswith(table) and s.value is not None
                     and getattr(s.value, "id", None) == mine.value.id), None)  # fmt: skip

    def _stray(self, path: str) -> Check:
        self._set_aside(path)
        return Check("restored", True, f"{path}: a second file of the same record is in {QUARANTINE} now", path)

    def _bytes(self, path: str) -> bytes | None:
        """The bytes of an ordinary file; None where there is none, or something else stands there."""
        try:
            return read_beneath(self._root, path) if stat.S_ISREG(os.lstat(self._root / path).st_mode) else None
        except (FileNotFoundError, NotADirectoryError, RefusedError):
            return None

    def _keep(self, path: str, data: bytes) -> None:
        """One copy of damaged bytes, by content: repairing twice keeps no second one."""
        name = f"{QUARANTINE}/{digest(data)[:12]}-{path.replace('/', '-')}"[:200]
        if read_beneath(self._root, name) != data:
            self._refuse_when_full()
            self._workspace.tree.replace(name, data)

    def _set_aside(self, path: str) -> None:
        """What is not to be restored in its place, or is no ordinary file, is moved as it is."""
        self._refuse_when_full()
        self._tx.tell()
        self._workspace.tree.make_folder(QUARANTINE)
        self._workspace.tree.set_aside(path, f"{QUARANTINE}/{self._tx.id}-{path.replace('/', '-')}"[:200])

    def _refuse_when_full(self) -> None:
        folder = self._root / QUARANTINE
        if folder.is_dir() and len(os.listdir(folder)) >= MOST:  # noqa: PTH208
            raise RefusedError(
                f"{QUARANTINE} holds {MOST} files already", "look at them, move away what you want to keep, then repeat"
            )


def _ids(data: bytes) -> set[str]:
    """The id in the bytes of a document, where they are one."""
    try:
        return {str(read_document(data).get("id"))}
    except (Unreadable, RecursionError):
        return set()


def _source(wrote: Wrote) -> str:
    change, record = wrote
    by = f"change {change.id} ({change.command}, {change.actor})"
    return f"version {record.version} restored, as {by} left it at {change.at}"


def _missing(wrote: Wrote, data: bytes) -> str:
    found = max((int(number) for number in _VERSION.findall(data)), default=0)
    if found > wrote[1].version:
        return f"missing: version {found}, which stood in the damaged file and in no log"
    return f"missing: what was changed outside after {wrote[0].at}, if anything was"
