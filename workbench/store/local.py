"""What concerns this machine alone: the current task, and where sessions lie; kept in ``.local/``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from workbench.errors import RefusedError
from workbench.store.form import canonical, storable
from workbench.store.lock import WriterLock
from workbench.store.mask import mask_json
from workbench.store.names import file_name
from workbench.store.primitives import Tree
from workbench.store.private import read_beneath

_LOCK = ".local/state.lock"


class LocalState:
    """Small values of this machine, each a JSON file in ``.local/``; losing them loses no record."""

    def __init__(self, tree: Tree, *, read_only: bool = False) -> None:
        self._tree = tree
        self._read_only = read_only

    def get(self, name: str, default: Any = None) -> Any:
        """A value by name; the default where there is none or its file cannot be read."""
        try:
            data = read_beneath(self._tree.root, self._path(name))
            return default if data is None else msgspec.json.decode(data)
        except (msgspec.DecodeError, RecursionError, FileNotFoundError):
            return default

    def set(self, name: str, value: Any) -> None:
        """Keep a value; None removes it.

        Raises:
            RefusedError: The workspace was opened read-only.
        """
        self._refuse_read_only()
        if value is None:
            self._tree.remove(self._path(name), sync_folder=False)
        else:
            self._tree.replace(self._path(name), canonical(mask_json(storable(value))))

    def change(self, name: str, edit: Callable[[Any], Any]) -> Any:
        """Change a value by what it is now, with nobody in between; what ``edit`` gives None for goes.

        Returns:
            The value as it is kept.

        Raises:
            RefusedError: The workspace was opened read-only.
        """
        self._refuse_read_only()
        with WriterLock(self._tree, relative=_LOCK):
            before = self.get(name)
            after = edit(before)
            if after != before:
                self.set(name, after)
            return after

    @property
    def current_task(self) -> str | None:
        """Id of the task that ``@`` means on this machine."""
        value = self.get("current_task")
        return value if isinstance(value, str) else None

    @current_task.setter
    def current_task(self, task: str | None) -> None:
        self.set("current_task", task)

    @property
    def session_paths(self) -> dict[str, str]:
        """Where the files of sessions lie on this machine, by ``agent:id``."""
        value = self.get("session_paths", {})
        return {str(k): v for k, v in value.items() if isinstance(v, str)} if isinstance(value, dict) else {}

    def set_session_path(self, session: str, path: str | None) -> None:
        """Remember where a session's file lies; None forgets it."""
        self._refuse_read_only()
        with WriterLock(self._tree, relative=_LOCK):
            paths = self.session_paths
            if paths.get(session) == path:
                return
            if path is None:
                paths.pop(session, None)
            else:
                paths[session] = path
            self.set("session_paths", paths)

    def _refuse_read_only(self) -> None:
        if self._read_only:
            raise RefusedError("the workspace was opened read-only", "open it without --read-only")

    @staticmethod
    def _path(name: str) -> str:
        return f".local/{file_name(name)}.json"
