"""What the holder of the writer lock does: the files that come first, then the line that will be the commit."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from workbench.domain.change import Change
from workbench.store.form import canonical_line
from workbench.store.journal import Journal, Line
from workbench.store.pace import Limits, Pace
from workbench.store.pending import Pending
from workbench.store.primitives import Tree


class Committer:
    """Appends one change after the other; made by the holder of the writer lock.

    Args:
        tree: The workspace folder.
        journal: Its journal.
    """

    def __init__(self, tree: Tree, journal: Journal) -> None:
        self._tree = tree
        self._journal = journal
        position, changes = journal.open_end()
        self._settled = position.last
        self.pending = Pending(changes)
        """The changes that are not in the files yet."""
        self.last = changes[-1].id if changes else position.last
        """The last change."""
        self.line: Line | None = None
        """The last line that was appended here; it has happened once it is on disk."""
        self.looked: int | None = None
        """Until when edits of others were looked for by this holder of the lock; None where they were not."""

    def append(self, change: Change) -> None:
        """Append a change that comes after :attr:`last`.

        Raises:
            StorageError: The disk refused; nothing happened.
        """
        if self.pending.changes:
            change = change.with_(settled=self._settled)
        self.line = self._journal.append(change, change.at[:7])
        self.pending.add(change)
        self.last = change.id

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
