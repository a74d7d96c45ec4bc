"""The files of single records as they are now, under the lock: found, read, and never taken for another's."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

import msgspec

from workbench.domain.schema import decode
from workbench.errors import DamagedError, VersionConflictError
from workbench.store.draft import TYPES, Held
from workbench.store.form import NewerSchema, Unreadable, digest, read_document, read_line
from workbench.store.names import record_path
from workbench.store.pending import Pending
from workbench.store.primitives import Tree
from workbench.store.reader import LINES
from workbench.store.records import LATER, MEND
from workbench.store.upgrade import upgraded

FindPath = Callable[[str, str, bool], str | None]


class Shelf:
    """Reads one record, or the end of one append-only file, without reading the others.

    Args:
        tree: The workspace folder.
        find_path: Where the file of a record of a kind and id lies, as last seen or (third argument) by
            looking through the folders; None where nowhere.
        pending: Changes that are in the log and perhaps not in the files yet.
        put_together: Takes a file that was edited while they waited (path and bytes) into the log with them.
    """

    def __init__(
        self,
        tree: Tree,
        find_path: FindPath,
        pending: Pending,
        put_together: Callable[[str, bytes], bool] = lambda path, data: False,
    ) -> None:
        self._tree = tree
        self._find_path = find_path
        self._pending = pending
        self._put_together = put_together

    def held(self, kind: str, identifier: str, document: dict[str, Any] | None = None) -> Held | None:
        """The stored document of a record; where it lies, its document, its key or the last reading says.

        Raises:
            DamagedError: What lies there cannot be read, or is another record.
            VersionConflictError: The name of an alias is another's.
        """
        path = record_path(kind, document) if document is not None else self._find(kind, identifier, True)
        held = self.at(path, kind) if path is not None else None
        if held is None:
            # A record that was never stored need not be looked for in every folder.
            elsewhere = self._find(kind, identifier, document is not None and document.get("version", 1) > 1)
            held = self.at(elsewhere, kind) if elsewhere is not None and elsewhere != path else None
        if held is not None and held.document["id"] != identifier:
            _refuse_foreign(kind, held)
        return held

    def _find(self, kind: str, identifier: str, search: bool) -> str | None:
        return self._pending.path_of(kind, identifier) or self._find_path(kind, identifier, search)

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""
        return self._pending.puts(path) or self._tree.read(path, 1) is not None

    def last_line(self, path: str) -> str | None:
        """The id of the last line of an append-only file that can be read."""
        coming = self._pending.last_line(path)
        if coming is not None:
            return coming
        for line in reversed((self._tree.read(path) or b"").split(b"\n")):
            # A line that readers leave out is no parent.
            with suppress(Unreadable, msgspec.ValidationError, RecursionError):
                return str(msgspec.convert(read_line(line), LINES[path.split("/")[0]]).id)
        return None

    def at(self, path: str, kind: str) -> Held | None:
        """What lies in the place of a record, whichever record it is; None where nothing does.

        Raises:
            DamagedError: It cannot be read.
        """
        data = self._tree.read(path)
        if data is not None:
            self._put_together(path, data)
        data = self._pending.over(path, data)
        if data is None:
            return None
        try:
            document = upgraded(TYPES[kind], read_document(data))
            decode(TYPES[kind], document)
        except (Unreadable, msgspec.ValidationError, RecursionError) as wrong:
            line, column = getattr(wrong, "line", None), getattr(wrong, "column", None)
            raise DamagedError(
                f"{path}: {wrong}",
                LATER if isinstance(wrong, NewerSchema) else MEND,
                path=path,
                line=line,
                column=column,
            ) from None
        return Held(path, digest(data), document)


def _refuse_foreign(kind: str, held: Held) -> NoReturn:
    """The file holds another record: the name of an alias is taken, any other file is damaged."""
    other = held.document["id"]
    if kind == "aliases":
        raise VersionConflictError(
            f"{held.path} belongs to {other}",
            "change that record instead",
            expected=0,
            found=held.version,
            current=held.document,
        )
    raise DamagedError(
        f"{held.path}: it holds the id {other[:40]!r}",
        "mend the file by hand; it is not written over",
        path=held.path,
    )
