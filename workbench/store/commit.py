"""What the holder of the writer lock does: the files that come first, then the line that will be the commit."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime

import msgspec

from workbench.domain.change import Change, RecordChange
from workbench.domain.ids import new_id
from workbench.domain.schema import decode
from workbench.domain.times import stamp
from workbench.store.changelog import ChangeLog
from workbench.store.draft import TYPES
from workbench.store.form import Unreadable, canonical_line, digest, read_document
from workbench.store.journal import Ahead, Journal, Line
from workbench.store.overtaken import overtaken, told_of
from workbench.store.pace import Limits, Pace
from workbench.store.primitives import Tree
from workbench.store.upgrade import upgraded

OUTSIDE = "outside"
"""Actor of a change that was made to a file by hand or by another program."""
COMMAND = "edited outside"


class Committer:
    """Appends one change after the other; made by the holder of the writer lock.

    Args:
        tree: The workspace folder.
        journal: Its journal.
        ahead: What the last one of this process saw of what the log is ahead of the files by.
    """

    def __init__(self, tree: Tree, journal: Journal, ahead: Ahead | None = None) -> None:
        self._tree = tree
        self._journal = journal
        self._ahead = ahead if ahead is not None else Ahead()
        position = journal.open_end(self._ahead)
        self._settled = position.last
        self.pending = self._ahead.pending
        """The changes that are not in the files yet."""
        changes = self.pending.changes
        self.last = changes[-1].id if changes else position.last
        """The last change."""
        self.line: Line | None = None
        """The last line that was appended here; it has happened once it is on disk."""
        self.looked: int | None = None
        """Until when edits of others were looked for by this holder of the lock; None where they were not."""
        self.told: list[str] = []
        """What people have to know of the edits that were put together with changes."""

    def append(self, change: Change) -> None:
        """Append a change that comes after :attr:`last`.

        Raises:
            StorageError: The disk refused; nothing happened.
        """
        if self.pending.changes:
            change = change.with_(settled=self._settled)
        self.line = self._journal.append(change, change.at[:7])
        self._ahead.add(change, self.line.data)
        self.last = change.id

    def put_together(self, path: str, data: bytes) -> bool:
        """Put a record's file that was edited while the log was ahead of it together with what waits there.

        Args:
            path: The file.
            data: Its bytes.

        Returns:
            Whether it was such an edit, and stands in the log now.

        Raises:
            StorageError: The disk refused; nothing happened.
        """
        sha256 = digest(data)
        images = self.pending.images(path, sha256)
        if not images:
            return False
        kind = images[-1][1].kind
        with suppress(Unreadable, msgspec.ValidationError, RecursionError):  # damage is no edit
            document = upgraded(TYPES[kind], read_document(data))
            decode(TYPES[kind], document)
            edit = overtaken(document, sha256, images, ChangeLog(self._journal).image)
            if edit is not None:
                self.outside(edit.changes(), stamp(datetime.now(UTC)), edit.told)
                self.told.append(told_of(kind, edit.last.id, edit.told))
                return True
        return False

    def outside(self, records: tuple[RecordChange, ...], at: str, why: str = "") -> None:
        """Append what somebody else did to files.

        Raises:
            StorageError: The disk refused; nothing happened.
        """
        self.append(
            Change(id=new_id(), after=self.last, at=at, actor=OUTSIDE, command=COMMAND, why=why, records=records)
        )

    def carry_out(self, change: Change | None, files: Mapping[str, bytes], limits: Limits | None) -> None:
        """Bring to disk what a change refers to, and append it.

        Args:
            change: The change; None where only contents are kept.
            files: Contents and prompts, to be on disk before it.
            limits: What an agent may write in a minute; None where nothing is counted.

        Raises:
            RefusedError: It goes over a limit.
            StorageError: The disk refused; nothing happened.
        """
        if change is None or limits is None or not change.actor.startswith("agent:"):
            self._prepare(files)
            if change is not None:
                self.append(change)
            return
        pace = Pace(self._tree, limits)
        records = len(change.records) + len(change.appends)
        size = len(canonical_line(msgspec.to_builtins(change))) + sum(map(len, files.values()))
        pace.check(change.actor, records, size)
        self._prepare(files)
        self.append(change)
        pace.note(change.actor, records, size)

    def _prepare(self, files: Mapping[str, bytes]) -> None:
        for path, data in files.items():
            if self._tree.read(path) != data:
                self._tree.replace(path, data)
