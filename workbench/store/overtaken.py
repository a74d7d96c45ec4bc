"""Hand edits of files that the log was ahead of: put together with what was acknowledged, and told.

Whoever edited such a file did not see the changes that wait in the log, and nobody said so. Neither may go: the two are
merged as two copies of the record are, from the version that the edit was made on. A field that both changed keeps
what was acknowledged, and is contested until a person decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from workbench.domain.change import RecordChange
from workbench.domain.merging import Side, merge
from workbench.domain.schema import TABLES
from workbench.errors import UsageError
from workbench.store.draft import cleaned
from workbench.store.form import canonical, digest
from workbench.store.names import one_of, record_path

Image = tuple[str, RecordChange]
"""The id of a change, and what it made of one file."""
Earlier = Callable[[str, str, str], dict[str, Any] | None]
"""The document that the log once left of a record (kind, id), by the hash of its bytes."""


class Overtaken(msgspec.Struct, frozen=True):
    """An edit of a file, and what becomes of it."""

    place: str
    """The file."""
    last: RecordChange
    """What the log made of the record."""
    sha256: str
    """Of the bytes that the edit left."""
    version: int
    """What the edit was made on."""
    edit: dict[str, Any]
    """The document of the edit, as it is told."""
    result: dict[str, Any] | None
    """The document of both; None where the record is gone."""

    @property
    def path(self) -> str | None:
        """Where the record lies from now on; None where it is gone."""
        return record_path(self.last.kind, self.result) if self.result is not None else None

    def changes(self) -> tuple[RecordChange, ...]:
        """The edit, and behind it what holds from now on: one change, so that no crash parts them."""
        last, path = self.last, self.path

        def made(path: str, before: str | None, after: dict[str, Any] | None) -> RecordChange:
            version = int((after or self.edit)["version"])
            return RecordChange(kind=last.kind, id=last.id, path=path, before=before, version=version, after=after)

        left = {last.path: digest(canonical(last.after))} if last.after is not None else {}
        left[self.place] = digest(canonical(self.edit))
        rows = [made(self.place, self.sha256, self.edit)]
        rows += [made(place, before, None) for place, before in left.items() if place != path]
        return (*rows, made(path, left.get(path), self.result)) if path is not None else tuple(rows)

    @property
    def told(self) -> str:
        """What a person has to know of it."""
        known = set((self.last.after or {}).get("contested", ()))
        fields = ", ".join(sorted(set((self.result or {}).get("contested", ())) - known))
        what = (
            f"the edit was made on version {self.version}, and version {self.last.version} was acknowledged meanwhile"
        )
        if self.result is None:
            return f"{what}: that one holds, and the log keeps the edit"
        return f"{what}: both are kept" + (f"; a person decides about {fields}: workbench settle" if fields else "")


def overtaken(document: dict[str, Any], sha256: str, images: Sequence[Image], earlier: Earlier) -> Overtaken | None:
    """The edit of a file with what the log is ahead of it by; None where it was made on what the log last left.

    Args:
        document: What the file says.
        sha256: Of its bytes, which no image has.
        images: What the log makes of the file, oldest first; where that takes the record elsewhere, what is there.
        earlier: Finds what was there before them.
    """
    first, last = images[0][1], images[-1][1]
    if last.kind not in TABLES or document.get("id") != last.id:
        return None
    start = earlier(last.kind, last.id, first.before) if first.before is not None else None
    seen = [start, *(record.after for _, record in images)]
    number = _made_on(document, seen)
    if number == len(images) or (number is None and first.before is None):
        return None
    base = seen[number] if number is not None else None
    top = max(_version(document), last.version)
    try:
        edit = {**cleaned(last.kind, document), "version": top + 1}
        if last.after is None:
            return Overtaken(first.path, last, sha256, _version(base or document), edit, None)
        ours = Side(last.after, base, tuple((change, r.after) for change, r in images[number or 0 :] if r.after))
        both = cleaned(last.kind, {**merge(ours, Side(edit, base)), "version": top + 2})
    except UsageError:  # what cannot be stored as it is stays as it is
        return None
    return Overtaken(first.path, last, sha256, _version(base or document), edit, both)


def _made_on(document: dict[str, Any], seen: Sequence[dict[str, Any] | None]) -> int | None:
    """Which of the documents an edit was made on: that of its version, else the one that differs least."""
    known = [number for number, before in enumerate(seen) if before is not None]
    if not known:
        return None

    def distance(number: int) -> tuple[bool, int]:
        before = seen[number] or {}
        names = (before.keys() | document.keys()) - {"version"}
        return _version(before) != _version(document), sum(before.get(name) != document.get(name) for name in names)

    return min(known, key=distance)


def _version(document: dict[str, Any]) -> int:
    return int(document.get("version", 1))


def told_of(kind: str, identifier: str, why: str) -> str:
    """The same for whoever runs the next command."""
    return f"{one_of(kind)} {identifier} was edited outside: {why}"
