"""A repository of the test's own with a workspace in it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from workbench.store.location import locate
from workbench.store.workspace import Workspace

LONG_AGO = 1_700_000_000


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository whose files were last written long before any session."""
    folder = tmp_path / "shop"
    (folder / "src").mkdir(parents=True)
    (folder / "docs").mkdir()
    for name in ("src/a.ts", "src/b.ts", "docs/c.md"):
        (folder / name).write_text("one\n")
        os.utime(folder / name, (LONG_AGO, LONG_AGO))
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "first")):
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)
    Workspace.init(locate(folder))
    return folder
