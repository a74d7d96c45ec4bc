"""Changes that are in the log and perhaps not in the files yet: what the files will hold once they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbench.domain.change import Change
from workbench.store.form import canonical, canonical_line, digest
from workbench.store.overtaken import Image


class Pending:
    """The last changes of the log, as a view over the files.

    A file belongs to these changes where its bytes are one of their images, or the bytes before the first;
    anything else was written by somebody else since, and stays.

    Args:
        changes: Oldest first.
    """

    def __init__(self, changes: Iterable[Change] = ()) -> None:
        self.changes: list[Change] = []
        self._images: dict[str, list[Image]] = {}
        self._paths: dict[tuple[str, str], str] = {}
        self._lines: dict[str, list[dict[str, Any]]] = {}
        for change in changes:
            self.add(change)

    def add(self, change: Change) -> None:
        """One more change."""
        self.changes.append(change)
        for record in change.records:
            self._images.setdefault(record.path, []).append((change.id, record))
            if record.after is not None:
                self._paths[record.kind, record.id] = record.path
        for append in change.appends:
            self._lines.setdefault(append.path, []).append(append.line)

    @property
    def records(self) -> list[str]:
        """The files of records that these changes concern."""
        return list(self._images)

    @property
    def appended(self) -> list[str]:
        """The append-only files to which they add lines."""
        return list(self._lines)

    def over(self, path: str, data: bytes | None) -> bytes | None:
        """The bytes of a record's file once these changes are in it, from what it holds now; None for no file."""
        images = self._images.get(path)
        if images is None:
            return data
        sha256 = None if data is None else digest(data)
        for _, record in images:
            if sha256 == record.before:
                data = None if record.after is None else canonical(record.after)
                sha256 = None if data is None else digest(data)
        return data

    def images(self, path: str, sha256: str) -> list[Image]:
        """What these changes make of a record's file, where its bytes are none that they know; else nothing.

        Where they take the record elsewhere, what is there comes last.
        """
        images = self._images.get(path, [])
        if not images or any(record.before == sha256 for _, record in images) or self.wrote(path, sha256):
            return []
        last = images[-1][1]
        elsewhere = self.path_of(last.kind, last.id) if last.after is None else None
        return [*images, self._images[elsewhere][-1]] if elsewhere is not None else images

    def wrote(self, path: str, sha256: str) -> bool:
        """Whether these are the bytes that the last of these changes gives a record's file."""
        images = self._images.get(path)
        after = images[-1][1].after if images else None
        return after is not None and digest(canonical(after)) == sha256

    def written(self) -> dict[str, str | None]:
        """What these changes make of each record: the hash of its file and the path, None where it goes."""
        return {
            record.id: None if record.after is None else f"{digest(canonical(record.after))} {record.path}"
            for change in self.changes
            for record in change.records
        }

    def path_of(self, kind: str, identifier: str) -> str | None:
        """Where these changes put a record; None where they put it nowhere."""
        return self._paths.get((kind, identifier))

    def makes(self, path: str) -> bool:
        """Whether a record's file was not there before them."""
        images = self._images.get(path)
        return images is not None and images[0][1].before is None

    def puts(self, path: str) -> bool:
        """Whether they put a record there."""
        images = self._images.get(path)
        return images is not None and images[-1][1].after is not None

    def last_line(self, path: str) -> str | None:
        """The id of the last line that they add to a file; None where they add none."""
        lines = self._lines.get(path)
        return str(lines[-1]["id"]) if lines else None

    def missing_lines(self, path: str, data: bytes) -> list[bytes]:
        """The lines that they add to an append-only file and that are not in it yet."""
        there = b"\n" + data
        return [line for line in map(canonical_line, self._lines.get(path, ())) if b"\n" + line not in there]
