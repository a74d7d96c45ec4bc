"""Hand edits: taken into the log as changes of their own, with a new version, before anything builds on them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cached_property

from workbench.domain.change import RecordChange
from workbench.domain.schema import TABLES
from workbench.errors import DamagedError, UsageError, VersionConflictError
from workbench.store.changelog import ChangeLog, Wrote
from workbench.store.commit import Committer
from workbench.store.draft import Held, Staged, cleaned
from workbench.store.form import canonical, digest
from workbench.store.held import Shelf
from workbench.store.journal import Journal
from workbench.store.names import record_path
from workbench.store.reader import Stored

_SLACK = 50_000_000
"""Nanoseconds by which the times of files may lag behind the clock."""

Touched = Callable[[], Iterable[tuple[str, Stored]]]
"""The files, with their paths, that were written since we last looked, as last read."""


class Edits:
    """Finds and takes in what somebody else wrote; used by the holder of the lock.

    Args:
        journal: The log, and the notes of what was written.
        pen: Commits the edits; None where they are only looked for.
        shelf: Reads single records.
        touched: What the file system says was written since we last looked. Only that is compared at all, so that a
            command pays for the edits that there are and not for the records.
        now: UTC text.
    """

    def __init__(self, journal: Journal, pen: Committer | None, shelf: Shelf, touched: Touched, now: str) -> None:
        self._journal = journal
        self._log = ChangeLog(journal)
        self._pen = pen
        self._shelf = shelf
        self._touched = touched
        self._now = now
        self._began = time.time_ns() - _SLACK

    def take_all(self) -> bool:
        """Take in every edit that can be read, as one change; True where there was any."""
        assert self._pen is not None
        found = self.found()
        self._pen.looked = self._began
        return self._commit(found)

    def take_these(self, files: Mapping[str, Stored]) -> bool:
        """Take in the edits of some files, as they were just read; True where there was any."""
        return self._commit(self.found(files.items()))

    def found(self, files: Iterable[tuple[str, Stored]] | None = None) -> list[tuple[str, str]]:
        """Kind and id of the records that were edited.

        Args:
            files: Where to look; else in what was written since we last looked.
        """
        edited: list[tuple[str, str]] = []
        notes: dict[str, dict[str, str]] = {}
        for path, stored in self._touched() if files is None else files:
            kind = path.split("/")[0]
            if stored.value is None or kind not in TABLES or path.endswith(".jsonl"):
                continue
            identifier = stored.value.id
            if self._pen is not None and self._pen.pending.wrote(path, stored.sha256):
                continue
            if identifier[:2] not in notes:
                notes[identifier[:2]] = self._journal.notes(identifier)
            if notes[identifier[:2]].get(identifier) == stored.sha256:
                continue
            # Never written here, or the notes are lost or old, as after a power cut: the log decides.
            if not _is_as_left(self._latest.get((kind, identifier)), stored.sha256):
                edited.append((kind, identifier))
        return edited

    def take(self, kind: str, identifier: str, held: Held) -> Held:
        """The record as it stands once an edit of it, if there is one, is taken in."""
        assert self._pen is not None
        known = self._journal.written(identifier)
        if known is None or known == held.sha256 or self._pen.pending.wrote(held.path, held.sha256):
            return held
        last = self._log.wrote_last(kind, identifier)
        if _is_as_left(last, held.sha256):
            return held
        taken = self._adopted(kind, held, last[1].version if last is not None else 0)
        self._pen.outside(tuple(taken.changes(kind, identifier)), self._now)
        assert taken.after is not None
        return Held(taken.path, digest(canonical(taken.after)), taken.after)

    def _commit(self, edited: list[tuple[str, str]]) -> bool:
        assert self._pen is not None
        records: list[RecordChange] = []
        before = self._pen.last
        for kind, identifier in edited:
            # What cannot be stored as it is stays as it is.
            with suppress(DamagedError, UsageError, VersionConflictError):
                held = self._shelf.held(kind, identifier)
                if held is not None and not self._pen.pending.wrote(held.path, held.sha256):
                    last = self._latest.get((kind, identifier))
                    adopted = self._adopted(kind, held, last[1].version if last is not None else 0)
                    records.extend(adopted.changes(kind, identifier))
        if records:
            self._pen.outside(tuple(records), self._now)
        return self._pen.last != before

    @cached_property
    def _latest(self) -> dict[tuple[str, str], Wrote]:
        return self._log.latest()

    @staticmethod
    def _adopted(kind: str, held: Held, logged: int) -> Staged:
        document = cleaned(kind, held.document)
        # A version of its own, whatever the editor left in the file: who saw the record before is told.
        document["version"] = max(held.version, logged) + 1
        return Staged(held, document, record_path(kind, document))


def _is_as_left(wrote: Wrote | None, sha256: str) -> bool:
    """Whether a file has the bytes that the log last gave it."""
    return wrote is not None and wrote[1].after is not None and digest(canonical(wrote[1].after)) == sha256
