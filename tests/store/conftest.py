"""Workspaces and records for the tests of the store."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.domain.fact import Fact
from workbench.domain.ids import new_id
from workbench.domain.record import Stamp
from workbench.domain.task import Task
from workbench.store import Workspace, locate

AT = "2026-03-01T10:00:00Z"
PERSON = "human:dev"


def make_task(title: str = "Build the shelf", **more: Any) -> Task:
    return Task(id=new_id(), slug="shelf", title=title, created=Stamp(by=PERSON, at=AT), **more)


def make_fact(key: str = "shelf.width", value: Any = "80 cm", **more: Any) -> Fact:
    return Fact(id=more.pop("id", None) or new_id(), key=key, value=value, **more)


def put(workspace: Workspace, *records: Any) -> list[Any]:
    with workspace.transaction(PERSON, "put") as tx:
        return [tx.put(record) for record in records]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "project"
    path.mkdir()
    return path


@pytest.fixture
def workspace(folder: Path) -> Workspace:
    return Workspace.init(locate(folder))


Git = Callable[..., str]


@pytest.fixture
def git() -> Git:
    def run(where: Path, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=where, check=True, capture_output=True, text=True)
        return done.stdout

    return run


@pytest.fixture
def repository(tmp_path: Path, git: Git) -> Path:
    """A repository with one commit."""
    path = tmp_path / "repo"
    path.mkdir()
    git(path, "init", "-q")
    (path / "a.txt").write_text("a\n")
    git(path, "add", ".")
    git(path, "commit", "-q", "-m", "first")
    return path
