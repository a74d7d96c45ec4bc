"""The real program in real processes: what a person's shell and an agent's shell would see."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PROGRAM = (sys.executable, "-P", "-m", "workbench")


@dataclass(frozen=True)
class Done:
    """What a process printed, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The document on standard output."""
        return json.loads(self.out)


@dataclass(frozen=True)
class Shell:
    """A folder and an environment in which ``workbench`` is called."""

    folder: Path
    env: dict[str, str]

    def __call__(self, *words: str, code: int | None = 0, **more: str) -> Done:
        """Call ``workbench``; the exit code is checked unless ``code`` is None."""
        done = subprocess.run(
            [*PROGRAM, *words],
            cwd=self.folder,
            env={**os.environ, **self.env, **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
        )
        result = Done(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert "Traceback" not in result.err
        if code is not None:
            assert result.code == code, f"{words}: exit {result.code}\n{result.out}\n{result.err}"
        return result

    def at(self, folder: Path, **env: str) -> Shell:
        """The same shell in another folder, with more in its environment."""
        return Shell(folder, {**self.env, **env})


def git(folder: Path, *words: str) -> str:
    """Run git in ``folder``."""
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with one commit and two files under ``src/``."""
    folder = tmp_path / "repo"
    (folder / "src").mkdir(parents=True)
    (folder / "src/app.css").write_text(":root { --accent: blue; }\n")
    (folder / "src/app.py").write_text("print('hello')\n")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "begin")
    return folder


@pytest.fixture
def shell(repo: Path) -> Shell:
    """A person's shell in the repository."""
    return Shell(repo, {})


@pytest.fixture
def demo(tmp_path: Path) -> Shell:
    """A person's shell in a fresh copy of the first sample."""
    Shell(tmp_path, {})("demo", "--dir", str(tmp_path / "demo"), "--no-open")
    return Shell(tmp_path / "demo", {})
