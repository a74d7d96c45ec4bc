"""Whether a session's folder is one of those that are asked for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path


class Folders:
    """Some folders, each as it is written and as it really lies: agents record either."""

    def __init__(self, folders: Sequence[Path]) -> None:
        forms = {
            form: folder
            for folder in folders
            for form in (os.path.normpath(Path.cwd() / folder), os.path.realpath(folder))
        }
        # A worktree may lie within another: the innermost folder is the one that is meant.
        self._forms = sorted(((form.rstrip(os.sep), folder) for form, folder in forms.items()), key=_longest)
        self._known: dict[str, Path | None] = {}

    def holding(self, cwd: str) -> Path | None:
        """The folder that a recorded one is, or lies beneath; None where there is none."""
        if cwd not in self._known:
            self._known[cwd] = self._holding(cwd)
        return self._known[cwd]

    def _holding(self, cwd: str) -> Path | None:
        if not cwd.startswith(os.sep):
            return None
        try:
            forms = dict.fromkeys((os.path.normpath(cwd), os.path.realpath(cwd)))
        except ValueError:
            return None  # it holds what no path can
        for form in forms:
            for top, folder in self._forms:
                if form == top or form.startswith(top + os.sep):
                    return folder
        return None


def _longest(form: tuple[str, Path]) -> tuple[int, str]:
    return -len(form[0]), form[0]
