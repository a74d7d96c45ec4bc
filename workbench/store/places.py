"""Where the file of one record lies, found without reading the others."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from workbench.store.names import KEYED, record_path
from workbench.store.private import folder_beneath, read_beneath
from workbench.store.reader import Stored
from workbench.store.records import Records


class Places:
    """Finds files by kind and id; most of them are named so, others lie in a folder of their key.

    Args:
        root: The workspace folder.
        known: The records as last read, where they were read.
        stored: Reads every file of records.
        noted: Where this program noted that it put a record.
    """

    def __init__(
        self,
        root: Path,
        known: Callable[[], Records | None],
        stored: Callable[[], dict[str, Stored]],
        noted: Callable[[str], str | None],
    ) -> None:
        self._root = root
        self._known = known
        self._stored = stored
        self._noted = noted
        self._found: dict[str, str] = {}

    def find(
        self, kind: str, identifier: str, search: bool, *, noted: Callable[[str], str | None] | None = None
    ) -> str | None:
        """Where a record's file lies: where its last reading says, else (``search``) by looking through the folders.

        Args:
            kind: Its table.
            identifier: Its id.
            search: Whether to look through the folders.
            noted: Where this program noted that it put a record, for whoever has that folder open.
        """
        if kind == "packages":
            return f"packages/{identifier}/envelope.json"
        if kind not in KEYED and kind != "aliases":
            return f"{kind}/{identifier}.json"
        records = self._known()
        known = records.table(kind).get(identifier) if records is not None else None
        seen = record_path(kind, msgspec.structs.asdict(known)) if known is not None else self._found.get(identifier)
        if seen is None and kind in KEYED:
            place = (noted or self._noted)(identifier) or ""
            seen = place if place.startswith(f"{kind}/") and place.endswith(f"/{identifier}.json") else None
        if seen is not None and read_beneath(self._root, seen) is not None:
            return seen
        return self._search(kind, identifier) if search or known is not None else None

    def _search(self, kind: str, identifier: str) -> str | None:
        if kind == "aliases":
            files = ((path, stored.value) for path, stored in self._stored().items() if path.startswith("aliases/"))
            return next((path for path, alias in files if alias is not None and alias.id == identifier), None)
        with suppress(FileNotFoundError), folder_beneath(self._root, kind) as folder:
            for name in os.listdir(folder):  # noqa: PTH208
                # Whether a link stands there is seen when it is opened; this is the quickest question for many.
                if os.access(f"{name}/{identifier}.json", os.F_OK, dir_fd=folder):
                    self._found[identifier] = f"{kind}/{name}/{identifier}.json"
                    return self._found[identifier]
        return None
