"""Where the themes and sample workspaces lie: in the wheel, or at the top of a checkout."""

from __future__ import annotations

from pathlib import Path

from workbench.errors import NotFoundError

_PACKAGE = Path(__file__).resolve().parent


def data_folder(name: str) -> Path:
    """The folder ``themes`` or ``sample_workspaces``, installed or in a checkout; never written to.

    Raises:
        NotFoundError: The installation lacks it.
    """
    for folder in (_PACKAGE / "_data" / name, _PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise NotFoundError(f"this installation lacks its folder {name!r}", "install handoff-workbench again")
