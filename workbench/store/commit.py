"""Takes changes to the disk: the files that come first, the line that commits, the record files after it."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.domain.change import Change
from workbench.errors import RefusedError, StorageError
from workbench.store.journal import Journal
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

    @property
    def last(self) -> str | None:
        """The last change that is committed."""
        return self._position.last

    def prepare(self, files: Mapping[str, bytes]) -> None:
        """Bring to disk what a change refers to: blobs and prompts."""
        for path, data in files.items():
            if read_beneath(self._tree.root, path) != data:
                self._tree.replace(path, data)

    def commit(self, change: Change) -> None:
        """Commit a change and write its files.

        Raises:
            StorageError: The disk refused; where that was after the commit, the next writer finishes it.
        """
        self._append(change)
        self._apply(change)

    def commit_at_least(self, change: Change) -> str | None:
        """The same; once the change is committed, what fails after it is told and not raised.

        From the commit on it has happened. Its files are written by the next writer, and readers see
        the change meanwhile: reporting failure would make a script do it twice.

        Returns:
            What failed, for people; None where nothing did.
        """
        self._append(change)
        try:
            self._apply(change)
        except (StorageError, RefusedError) as error:
            return (
                f"the change {change.id} is recorded; its files follow with the next writing command ({error.message})"
            )
        return None

    def _append(self, change: Change) -> None:
        self._position = self._journal.commit(change, change.at[:7], self._position)

    def _apply(self, change: Change) -> None:
        self._journal.apply(change)
        self._journal.mark(change.id, self._position.file, self._position.offset)
