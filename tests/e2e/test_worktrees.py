"""One workspace for all worktrees, and nothing of it in ``git status``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.e2e.conftest import Shell, git


@pytest.fixture
def linked(repo: Path) -> tuple[Path, Path]:
    """Two linked worktrees of the repository."""
    folders = repo.parent / "one", repo.parent / "two"
    for folder in folders:
        git(repo, "worktree", "add", "-q", "-b", folder.name, str(folder))
    return folders


def session_file(folder: Path, cwd: Path) -> Path:
    """A small session of Claude Code, as its own program would have written it."""
    rows = [
        {"type": "user", "uuid": "u1", "parentUuid": None, "message": {"role": "user", "content": "Make it green."}},
        {
            "type": "assistant",
            "uuid": "u2",
            "parentUuid": "u1",
            "message": {
                "id": "m1",
                "role": "assistant",
                "model": "claude-sonnet-4-5",
                "content": [{"type": "text", "text": "It is green now."}],
                "usage": {"input_tokens": 10, "output_tokens": 5},
            },
        },
    ]
    common = {
        "sessionId": "0b5c1e9e-6f6d-4f3e-9a51-1f0f3b8f7a10",
        "cwd": str(cwd),
        "version": "2.1.0",
        "isSidechain": False,
        "userType": "external",
    }
    path = folder / "0b5c1e9e-6f6d-4f3e-9a51-1f0f3b8f7a10.jsonl"
    path.write_text(
        "".join(
            json.dumps({**common, **row, "timestamp": f"2026-03-01T10:00:0{i}.000Z"}) + "\n"
            for i, row in enumerate(rows)
        )
    )
    return path


def statuses(folders: Iterable[Path], *more: str) -> list[str]:
    """What git says of each folder."""
    return [git(folder, "status", "--porcelain=v2", "--branch", *more) for folder in folders]


def test_the_whole_walk_leaves_git_status_as_it_was_and_a_fact_settled_in_one_worktree_holds_in_the_other(
    shell: Shell, linked: tuple[Path, Path], tmp_path: Path
):
    one, two = linked
    (one / "src/app.css").write_text(":root { --accent: red; }\n")
    (two / "new.txt").write_text("not added\n")
    folders = (shell.folder, one, two)
    before = statuses(folders)
    here, there = shell.at(one), shell.at(two)

    here("init")
    here("task", "new", "Green accent", "--objective", "The accent is green.", "--target", "src/")
    here("session", "attach", "@", str(session_file(tmp_path, one)))
    here("fact", "propose", "ui.accent", "blue")
    here("fact", "propose", "ui.accent", "green", "--as", "agent:claude")
    waiting = [f for f in there("fact", "list", "--json").json["facts"] if f["lifecycle"] == "proposed"]
    there("fact", "confirm", waiting[0]["id"], "--yes")
    package = here("handoff", "prepare", "@", "--to", "codex", "--json").json["package"]
    here("handoff", "confirm", package["id"], "--launch", "print", "--yes")

    active = [f["value"] for f in here("fact", "list", "--json").json["facts"] if f["lifecycle"] == "active"]
    assert active == ["green"]
    assert here("status", "--json").json["workspace"] == there("status", "--json").json["workspace"]
    assert statuses(folders) == before
    here("forget", "--yes")
    assert statuses(folders, "--ignored") == before


def test_git_status_is_unchanged_while_the_workspace_exists(shell: Shell, linked: tuple[Path, Path]):
    folders = (shell.folder, *linked)
    before = statuses(folders)
    shell.at(linked[0])("init")
    shell.at(linked[1])("task", "new", "Something")
    assert statuses(folders) == before
    assert not any((folder / ".gitignore").exists() for folder in folders)
