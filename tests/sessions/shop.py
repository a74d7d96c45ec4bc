"""A task in a small repository, and sessions that work on it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from codex_records import Rollout, ended

from workbench.domain.task import Task
from workbench.services import sessions, tasks
from workbench.services.context import Context, open_context
from workbench.services.view import EvidenceView, TaskView
from workbench.services.viewing import build_view


def opened(repo: Path) -> Context:
    return open_context(repo, env=dict(os.environ), yes=True)


def task_of(ctx: Context, **more: Any) -> Task:
    contract = {
        "objective": "The build passes.",
        "targets": ["src/"],
        "commands": [{"id": "build", "run": ["npm", "run", "build"]}],
        "acceptance": [{"text": "the build passes", "check": "command:build"}],
    }
    return tasks.new(ctx, {"title": "Build", **contract, **more})


def session_of(repo: Path) -> Rollout:
    session = Rollout(cwd=str(repo))
    session.turn()
    session.prompt("make the build pass")
    return session


def attach(ctx: Context, task: Task, session: Rollout, folder: Path) -> Path:
    path = session.write(folder)
    sessions.attach(ctx, task, str(path))
    return path


def card(ctx: Context) -> TaskView:
    found = build_view(ctx).task
    assert found is not None
    return found


def commands(view: TaskView) -> list[EvidenceView]:
    return [row for row in view.evidence if row.evidence.kind == "command"]


def build(session: Rollout, number: int, code: int, text: str = "", command: str = "npm run build") -> None:
    session.run(f"b{number}", command)
    session.output(f"b{number}", ended(code, text))


def edit(session: Rollout, number: int, path: str) -> None:
    session.patch(f"e{number}", f"*** Begin Patch\n*** Update File: {path}\n@@\n-one\n+two\n*** End Patch\n")
    session.output(f"e{number}", "Exit code: 0\nOutput:\nSuccess.", custom=True)
