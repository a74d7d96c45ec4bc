"""A workspace with a task, and a session of it that goes on."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.test_extract import session_file
from tests.e2e.talk import ClaudeTalk
from workbench.domain.task import Task
from workbench.services import sessions, tasks
from workbench.services.context import Context, open_context
from workbench.store.location import locate
from workbench.store.workspace import Workspace


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "repo"
    made.mkdir()
    Workspace.init(locate(made))
    return made


@pytest.fixture
def enter(folder: Path) -> Callable[..., Context]:
    """Another program over the same workspace."""

    def entered(**more: object) -> Context:
        return open_context(folder, env=dict(os.environ), app=True, **more)  # type: ignore[arg-type]

    return entered


@pytest.fixture
def ctx(enter: Callable[..., Context]) -> Context:
    return enter()


@pytest.fixture
def task(ctx: Context) -> Task:
    return tasks.new(ctx, {"title": "Filter", "objective": "a filter"})


@pytest.fixture
def talk(ctx: Context, task: Task, tmp_path: Path) -> ClaudeTalk:
    """A session of the task that goes on."""
    path = session_file(tmp_path, ctx.location.worktree, [("user", "Good morning!")])
    sessions.attach(ctx, task, str(path))
    return ClaudeTalk(path)
