"""The command line called in this process, in a repository of the test's own."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from workbench.cli.run import main


@dataclass(frozen=True)
class Result:
    """What a call printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The document on standard output; nothing else may stand there."""
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        """The error on standard error."""
        document: dict[str, Any] = json.loads(self.err)["error"]
        return document


Run = Callable[..., Result]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """``run("fact", "list", env={...})``: one call; ``env`` is laid over the environment."""

    def call(*argv: str, env: dict[str, str] | None = None) -> Result:
        capfd.readouterr()
        code = main(argv, {**os.environ, **(env or {})})
        out, err = capfd.readouterr()
        return Result(code, out, err)

    return call


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit; the current folder."""
    folder = tmp_path / "repo"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.txt").write_text("one\n")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "first")):
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def workspace(repo: Path, run: Run) -> Path:
    """The workspace of ``repo``."""
    assert run("init").code == 0
    return repo / ".workbench"
