"""A change: one acknowledged command, with what it made of every record (the redo journal's line)."""

from __future__ import annotations

import msgspec

from workbench.domain.record import Json, Part


class RecordChange(Part, frozen=True, kw_only=True):
    """One record before and after."""

    kind: str
    """Table: tasks, facts, notes, artifacts, attempts, aliases."""
    id: str
    path: str
    """Relative to the workspace folder."""
    before: str | None = None
    """SHA-256 of the file's bytes before; None where there was no file."""
    version: int = 1
    after: dict[str, Json] | None = None
    """The document after; None where the change removed it."""


class Append(Part, frozen=True, kw_only=True):
    """One line for an append-only file; it travels in the change line."""

    path: str
    line: dict[str, Json]


class Change(Part, frozen=True, kw_only=True):
    """A line of ``changes/<yyyy-mm>.jsonl``."""

    id: str
    after: str | None = None
    """The change before it in this copy of the workspace."""
    at: str
    actor: str
    command: str
    """What was done, in the words of the command line."""
    why: str = ""
    records: tuple[RecordChange, ...] = ()
    appends: tuple[Append, ...] = ()
    undoes: str | None = None
    """The change that this one takes back."""
    settled: str | msgspec.UnsetType | None = msgspec.UNSET
    """The last change whose files were complete when this one was committed, where that is not ``after``."""
    folded: tuple[Change, ...] | msgspec.UnsetType = msgspec.UNSET
    """The changes of another copy that a merge took in: the record of what was done there, not done again here."""

    @property
    def taken_in(self) -> tuple[Change, ...]:
        """The changes of another copy that came with this one."""
        return () if isinstance(self.folded, msgspec.UnsetType) else self.folded
