"""Whether a session's folder is one of those that are asked for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path


def forms(folders: Sequence[Path]) -> frozenset[str]:
    """Each folder as it is written and as it really lies: agents record either."""
    return frozenset(
        form for folder in folders for form in (os.path.normpath(Path.cwd() / folder), os.path.realpath(folder))
    )


def within(cwd: str, wanted: frozenset[str]) -> bool:
    """Whether a recorded folder is, or lies beneath, one of ``wanted`` (see :func:`forms`)."""
    if not Path(cwd).is_absolute():
        return False
    for form in {os.path.normpath(cwd), os.path.realpath(cwd)}:
        if any(form == folder or form.startswith(folder.rstrip(os.sep) + os.sep) for folder in wanted):
            return True
    return False
