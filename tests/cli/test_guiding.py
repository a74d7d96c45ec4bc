"""What the command line says to somebody who does not know it yet."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Run

HUMAN = {"WORKBENCH_HUMAN_SHELL": "1"}


def test_the_front_page_marks_what_is_not_built(run: Run) -> None:
    lines = {line.split()[0]: line for line in run("--help").out.splitlines() if line.startswith("  ") and line.split()}
    assert lines["serve"].endswith("(not built yet)")
    assert lines["verify"].endswith("(not built yet)")
    assert not lines["status"].endswith("(not built yet)")
    assert "workbench task draft" in run("task", "--help").out
    draft = next(line for line in run("task", "--help").out.splitlines() if "task draft" in line)
    assert draft.endswith("(not built yet)")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("statsu", "status"), ("stauts", "status"), ("tsak", "task"), ("lgo", "log"), ("servee", "serve")],
)
def test_a_slip_leads_to_what_there_is(run: Run, typed: str, meant: str) -> None:
    assert f"did you mean: workbench {meant}\n" in run(typed).err


def test_what_is_not_found_is_listed_by_a_command_that_exists(run: Run, workspace: Path) -> None:
    for words, listing in (
        (("handoff", "show", "zz"), "workbench handoff list"),
        (("task", "show", "zz"), "workbench task list"),
        (("fact", "show", "zz"), "workbench fact list"),
    ):
        result = run(*words)
        assert result.code == 3
        assert listing in result.err
        assert run(*listing.split()[1:]).code == 0


def test_a_task_shows_the_constraints_in_its_scope(run: Run, workspace: Path) -> None:
    run("task", "new", "One", "--constraint", "ui.contrast=AA", env=HUMAN)
    run("fact", "propose", "api.style", "rest", "--kind", "constraint", env=HUMAN)
    run("fact", "propose", "server.port", "8080", env=HUMAN)
    shown = run("task", "show", "@").out
    assert "constraints\n  ui.contrast = AA" in shown or "  ui.contrast = AA\n" in shown
    assert "  api.style = rest\n" in shown
    assert "server.port" not in shown
    keys = {row["key"] for row in run("task", "show", "@", "--json").json["constraints"]}
    assert keys == {"ui.contrast", "api.style"}


def test_status_names_the_worktree_where_the_executor_is(
    run: Run, workspace: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "worktree", "add", "-q", "../side"], cwd=repo, check=True, capture_output=True)
    run("task", "new", "One", env=HUMAN)
    monkeypatch.chdir(repo.parent / "side")
    assert run("task", "take", "@", env=HUMAN).code == 0
    assert "in worktree" not in run("status").out
    monkeypatch.chdir(repo)
    assert "(running) in worktree side\n" in run("status").out
    monkeypatch.chdir(repo.parent / "side")
    run("attempt", "end", run("attempt", "list", "--json").json["attempts"][0]["id"], "--why", "x", env=HUMAN)


def test_undo_says_what_comes_back(run: Run, workspace: Path) -> None:
    run("fact", "propose", "server.port", "8080", env=HUMAN)
    assert "server.port = 8080" in run("undo", env=HUMAN).out
