"""Takes changes to the disk: the files that come first, the line that commits, the record files after it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from workbench.domain.change import Change
from workbench.errors import RefusedError, StorageError
from workbench.store.form import canonical_line
from workbench.store.journal import Journal
from workbench.store.pace import Limits, Pace
from workbench.store.primitives import Tree
from workbench.store.private import read_beneath


class Committer:
    """Commits one change after the other; made by the holder of the lock, once its predecessor's is complete.

    Args:
        tree: The workspace folder.
        journal: Its journal.
    """

    def __init__(self, tree: Tree, journal: Journal) -> None:
        self._tree = tree
        self._journal = journal
        self._position = journal.complete()
        self.looked: int | None = None
        """Until when edits of others were looked for by this holder of the lock; None where they were not."""

    @property
    def last(self) -> str | None:
        """The last change that is committed."""
        return self._position.last

    def commit(self, change: Change) -> None:
        """Commit a change and write its files.

        Raises:
            StorageError: The disk refused; where that was after the commit, the next writer finishes it.
        """
        self._append(change)
        self._apply(change)

    def carry_out(self, change: Change | None, files: Mapping[str, bytes], limits: Limits | None) -> list[str]:
        """Bring to disk what a change refers to, commit it, write its files.

        Args:
            change: The change; None where only contents are kept.
            files: Contents and prompts, to be on disk before it.
            limits: What an agent may write in a minute; None where nothing is counted.

        Returns:
            What failed after the commit, for people.

        Raises:
            RefusedError: It goes over a limit.
            StorageError: The disk refused before the commit: nothing happened.
        """
        if change is None:
            self._prepare(files)
            return []
        pace = Pace(self._tree, limits) if limits is not None else None
        records = len(change.records) + len(change.appends)
        size = 0
        if pace is not None:
            size = len(canonical_line(msgspec.to_builtins(change))) + sum(map(len, files.values()))
            pace.check(change.actor, records, size)
        self._prepare(files)
        failed = self.commit_at_least(change)
        if pace is not None:
            pace.note(change.actor, records, size)
        return failed

    def commit_at_least(self, change: Change) -> list[str]:
        """Commit a change; once it is committed, what fails after it is told and not raised.

        From the commit on it has happened. Its files are written by the next writer, and readers see
        the change meanwhile: reporting failure would make a script do it twice.
        """
        self._append(change)
        try:
            self._apply(change)
        except (StorageError, RefusedError) as error:
            what = "its files follow with the next writing command"
            return [f"the change {change.id} is recorded; {what} ({error.message})"]
        return []

    def _prepare(self, files: Mapping[str, bytes]) -> None:
        for path, data in files.items():
            if read_beneath(self._tree.root, path) != data:
                self._tree.replace(path, data)

    def _append(self, change: Change) -> None:
        self._position = self._journal.commit(change, change.at[:7], self._position)

    def _apply(self, change: Change) -> None:
        self._journal.apply(change)
        self._journal.mark(change.id, self._position.file, self._position.offset, self.looked)
