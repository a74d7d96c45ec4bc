"""The change log as a history: lazily from the newest file on, and by record. Reading it writes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from workbench.domain.change import Append, Change, RecordChange
from workbench.domain.lines import causal_order
from workbench.store.form import canonical, digest
from workbench.store.journal import FOLDER, Journal, parse

Wrote = tuple[Change, RecordChange]
"""A change, and what it made of one record."""


class ChangeLog:
    """What was done in this workspace.

    Args:
        journal: Its files.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def lines(self) -> Iterator[tuple[str, int, bytes]]:
        """Every line with its file and number, newest file first; a torn last line of the newest is left out."""
        for index, name in enumerate(reversed(self._journal.files())):
            yield from self._lines(name, newest=index == 0)

    def _lines(self, name: str, *, newest: bool) -> Iterator[tuple[str, int, bytes]]:
        *whole, tail = self._journal.read(name).split(b"\n")
        for number, line in enumerate(whole, 1):
            if line:
                yield f"{FOLDER}/{name}", number, line
        if tail and (not newest or parse(tail) is not None):
            yield f"{FOLDER}/{name}", len(whole) + 1, tail

    def changes(self, *, unfold: bool = True) -> Iterator[Change]:
        """Every change, newest first, each before the one it came after; file by file, so the newest come early.

        Args:
            unfold: Give the changes that a merge took in behind it, each as one of its own.
        """
        for index, name in enumerate(reversed(self._journal.files())):
            found = [parse(line) for _, _, line in self._lines(name, newest=index == 0)]
            for change in reversed(causal_order([change for change in found if change is not None])):
                if unfold and change.taken_in:
                    yield change.with_(folded=msgspec.UNSET)
                    yield from reversed(causal_order(change.taken_in))
                else:
                    yield change

    def wrote_last(self, kind: str, identifier: str) -> Wrote | None:
        """What last wrote a record here; the changes that a merge took in wrote nothing here."""
        for change in self.changes(unfold=False):
            for record in reversed(change.records):
                if record.kind == kind and record.id == identifier:
                    return change, record
        return None

    def latest(self) -> dict[tuple[str, str], Wrote]:
        """What last wrote each record, by kind and id (reads all of the log)."""
        found: dict[tuple[str, str], Wrote] = {}
        for change in self.changes(unfold=False):
            for record in reversed(change.records):
                found.setdefault((record.kind, record.id), (change, record))
        return found

    def has(self, change: str) -> bool:
        """Whether a change was made here and stands in the log, wherever."""
        return any(known.id == change for known in self.changes(unfold=False))

    def image(self, kind: str, identifier: str, sha256: str) -> dict[str, Any] | None:
        """What some change left of a record, by the hash of its bytes; None where none did."""
        for change in self.changes(unfold=False):
            for record in change.records:
                mine = (record.kind, record.id) == (kind, identifier)
                if mine and record.after is not None and digest(canonical(record.after)) == sha256:
                    return record.after
        return None

    def appended(self, path: str) -> list[Append]:
        """The lines that were ever appended to a file, oldest first."""
        found = [append for change in self.changes(unfold=False) for append in reversed(change.appends)]
        return [append for append in reversed(found) if append.path == path]
