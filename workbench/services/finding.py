"""Agents' sessions on this machine, with what is known of them kept in the person's cache between two looks.

The index there is only a shortcut: missing, damaged or of no use, all is looked at anew; where it cannot be
written, it is done without.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.config import user_dirs
from workbench.errors import WorkbenchError
from workbench.store.mask import mask
from workbench.store.primitives import remove_file, write_private
from workbench.store.private import read_beneath

if TYPE_CHECKING:
    from workbench.sessions import FoundSession
    from workbench.sessions.glance import SessionIndex

FILE = "sessions.json"
_LIMIT = 256 << 20
"""Bytes of an index that are read: more than a million sessions would take."""
_WORTH_WRITING = 24
"""Files looked at anew from which on that is written down; fewer are soon looked at again."""


def index_file(env: Mapping[str, str]) -> Path:
    """Where the index lies."""
    return user_dirs(env).cache / FILE


class SessionFinder:
    """Finds sessions; asked by one thread at a time."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._index: SessionIndex | None = None

    def find(self, folders: Sequence[Path] | None, env: Mapping[str, str]) -> list[FoundSession]:
        """Sessions that worked in one of ``folders``, newest first; None for all on this machine."""
        from workbench.sessions import discover

        with self._guard:
            index = self._index = self._index or _load(env)
            found = discover(folders, env, index)
            if index.looked >= _WORTH_WRITING or (index.looked and not index_file(env).exists()):
                with suppress(WorkbenchError, OSError):
                    write_private(index_file(env), index.encode(mask))
            return found


def _load(env: Mapping[str, str]) -> SessionIndex:
    from workbench.sessions.glance import SessionIndex

    path = index_file(env)
    data: bytes | None = None
    with suppress(WorkbenchError, OSError):
        if os.lstat(path).st_size <= _LIMIT:
            data = read_beneath(path.parent, path.name, _LIMIT)
    return SessionIndex(data or b"")


def forget_index(env: Mapping[str, str]) -> str | None:
    """Remove the index, which holds titles of this workspace's sessions, too; its path where there was one."""
    path = index_file(env)
    if not path.exists():
        return None
    remove_file(path)
    return str(path)
