"""What must not happen: foreign programs run, words put into a person's mouth, damage taken for absence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Shell, git

AGENTS_SHELL = {"WORKBENCH_HUMAN_SHELL": "", "CLAUDECODE": "1"}


def record(shell: Shell, pattern: str) -> Path:
    """The one record file of the workspace that a pattern names."""
    (path,) = (shell.folder / ".workbench").glob(pattern)
    return path


@pytest.mark.parametrize("name", ["a.clean={program};", "ev il=x", "plain", 'q"uote'])
def test_no_filter_of_a_trusted_repository_runs_whatever_its_name(shell: Shell, tmp_path: Path, name: str):
    program = tmp_path / "program.sh"
    mark = tmp_path / "ran"
    program.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    program.chmod(0o755)
    git(shell.folder, "config", f"filter.{name.format(program=program)}.clean", str(program))
    quoted = name.format(program=program)
    (shell.folder / ".gitattributes").write_text(
        f"*.css filter={quoted if ' ' not in quoted else 'x'}\n*.py filter=a\n"
    )
    shell("init")
    shell("task", "new", "Look", "--target", "src/")
    shell("trust", "--yes")
    (shell.folder / "src/app.css").write_text("touched\n")
    assert shell("status", "--json").json["dirty"] is not None
    shell("compile", "@", "--to", "codex")
    assert not mark.exists()


def test_in_an_agents_shell_nobody_speaks_as_a_person(shell: Shell):
    shell("init")
    shell("fact", "propose", "api.style", "rest")
    agent = shell.at(shell.folder, **AGENTS_SHELL)
    said = agent("fact", "propose", "api.limit", "5", "--as", "human", "--yes", "--json").json["fact"]
    assert (said["trust"], said["sources"][0]["by"]) == ("reported", "agent:claude")
    against = agent("fact", "propose", "api.style", "graphql", "--as", "human:dev", "--yes", "--json").json
    assert against["outcome"] == "proposed"
    assert against["would_supersede"]["lifecycle"] == "active", "an agent's words challenge nothing"
    agent("fact", "confirm", against["fact"]["id"], "--as", "human", "--yes", code=5)
    agent("undo", "--as", "human", "--yes")
    assert [
        f["value"]
        for f in shell("fact", "list", "--key", "api.style", "--json").json["facts"]
        if f["lifecycle"] == "active"
    ] == ["rest"]


@pytest.mark.parametrize("env", [{"WORKBENCH_HUMAN_SHELL": ""}, AGENTS_SHELL])
def test_the_demo_is_copied_from_any_shell(tmp_path: Path, env: dict[str, str]):
    done = Shell(tmp_path, env)("demo", "--dir", str(tmp_path / "demo"), "--no-open")
    assert "copied" in done.out
    assert Shell(tmp_path / "demo", env)("handoff", "list", "--json").json["packages"][0]["status"] == "pending"


def test_a_package_that_would_rest_on_an_unreadable_record_is_refused(demo: Shell):
    record(demo, "facts/dependencies.new/*.json").write_text("")
    shown = demo("compile", "@", "--to", "codex", "--json", code=6).json
    assert [d["path"].startswith("facts/dependencies.new/") for d in shown["damaged"]] == [True]
    refused = demo("handoff", "prepare", "@", "--to", "codex", code=6)
    assert "facts/dependencies.new/" in refused.err
    pending = demo("handoff", "list", "--json", code=None).json["packages"][0]["id"]
    demo("handoff", "confirm", pending, "--launch", "print", "--override", "", "--yes", code=6)


def test_no_new_value_is_taken_where_the_old_one_cannot_be_read(shell: Shell):
    shell("init")
    shell("fact", "propose", "api.style", "rest")
    path = record(shell, "facts/api.style/*.json")
    kept = path.read_bytes()
    path.write_text("{")
    assert "facts/api.style/" in shell("fact", "propose", "api.style", "graphql", code=6).err
    shell("fact", "propose", "api.limit", "5")
    path.write_bytes(kept)
    assert [f["value"] for f in shell("fact", "list", "--json").json["facts"]] == [5, "rest"]


def test_an_unreadable_current_task_is_not_another_one(shell: Shell):
    shell("init")
    shell("task", "new", "First")
    task = shell("task", "new", "Second", "--json").json["task"]["id"]
    record(shell, f"tasks/{task}.json").write_text("")
    assert f"tasks/{task}.json" in shell("task", "show", "@", code=6).err
    assert "Second" not in shell("task", "show", "first").out


@pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", "~/.ssh", "", "a\nb", "a/../../x"])
def test_a_contract_names_no_path_outside_the_worktree(shell: Shell, path: str):
    shell("init")
    shell("task", "new", "Out", "--target", path, code=2)
    shell("task", "new", "Out", "--output", f"k:file:{path or '..'}", code=2)


def test_a_session_that_is_gone_stops_a_package(demo: Shell):
    pending = demo("handoff", "list", "--json").json["packages"][0]["id"]
    for path in (demo.folder / "agents").rglob("*.jsonl"):
        path.write_text("garbage\n")
    codes = {d["code"] for d in demo("handoff", "check", pending, "--json", code=5).json["differences"]}
    assert "source_session_missing" in codes


@pytest.mark.parametrize(
    "words",
    [
        ("task", "new", "T", "--command", "x='u"),
        ("task", "list", "--now", "9999-12-31T23:59:59-12:00"),
        ("fact", "propose", "a.b", '{"a":1,"a":2}'),
    ],
)
def test_wrong_input_is_a_usage_error(shell: Shell, words: tuple[str, ...]):
    shell("init")
    shell(*words, code=2)


def test_freshness_is_judged_in_the_worktree_of_the_package(shell: Shell):
    one, two = shell.folder.parent / "one", shell.folder.parent / "two"
    for folder in (one, two):
        git(shell.folder, "worktree", "add", "-q", "-b", folder.name, str(folder))
    shell("init")
    shell("task", "new", "Green", "--target", "src/")
    package = shell.at(one)("handoff", "prepare", "@", "--to", "codex", "--json").json["package"]["id"]
    (two / "src/app.css").write_text("other\n")
    assert shell.at(two)("handoff", "check", package, "--json").json["differences"] == []
    (one / "src/app.css").write_text("other\n")
    shell.at(two)("handoff", "check", package, code=5)


def test_preparing_again_replaces_what_waits(shell: Shell):
    shell("init")
    shell("task", "new", "Green")
    for _ in range(2):
        shell("handoff", "prepare", "@", "--to", "codex")
    packages = shell("handoff", "list", "--json").json["packages"]
    assert sorted(p["status"] for p in packages) == ["cancelled", "pending"]


@pytest.mark.parametrize("path", ["../../../../etc/passwd", "/etc/passwd", "../x", "~/x"])
def test_evidence_on_a_path_outside_is_refused_before_anything_is_written(shell: Shell, tmp_path: Path, path: str):
    shell("init")
    shell("task", "new", "T")
    handed = tmp_path / "evidence.json"
    handed.write_text(json.dumps({"argv": ["x"], "files": [path]}))
    shell("evidence", "add", "@", "--kind", "command", "--file", str(handed), code=2, **AGENTS_SHELL)
    assert shell("evidence", "list", "@", "--json").json["evidence"] == []


def test_a_record_that_names_a_path_outside_makes_nothing_unusable(shell: Shell):
    shell("init")
    task = shell("task", "new", "T", "--json").json["task"]["id"]
    line = {
        "id": "0123456789",
        "kind": "command",
        "task": task,
        "argv": ["x"],
        "exit_code": 0,
        "files": [{"path": "../../../../etc/passwd", "sha256": "0" * 64}],
        "at": "2026-03-01T10:00:00Z",
    }
    (shell.folder / f".workbench/evidence/none-{task}.jsonl").write_text(json.dumps(line) + "\n")
    shell("status")
    shell("compile", "@", "--to", "codex")
    shell("handoff", "prepare", "@", "--to", "codex")


@pytest.mark.parametrize("secret", ["12345678", "true", "null", '"id":', "hunter2-hunter2"])
def test_a_purge_leaves_every_record_readable(shell: Shell, secret: str):
    shell("init")
    shell("fact", "propose", "pin.number", "12345678")
    shell("fact", "propose", "pin.word", "hunter2-hunter2")
    shell("note", "write", "pin", '{"a": 12345678, "b": true, "c": null}')
    shell("purge", "--secret", secret, "--yes", code=None)
    assert shell("doctor", "--json").json["checks"]
    shell("fact", "list")
    assert len(shell("log", "--json").json["changes"]) > 2
    if secret.startswith(("1", "h")):
        for path in (shell.folder / ".workbench").rglob("*"):
            assert not path.is_file() or secret.encode() not in path.read_bytes(), path


@pytest.mark.parametrize(
    "words",
    [
        ("fact", "propose", "akiaq7r2zx9klm4npt6v".upper(), "1"),
        ("note", "write", "k", '"\\ud800"'),
        ("fact", "propose", "a.b", '"\\ud800"'),
        ("fact", "alias", "a.b", "AKIA" + "Q7R2ZX9KLM4NPT6V"),
    ],
)
def test_names_that_are_secrets_and_halves_of_characters_are_refused(shell: Shell, words: tuple[str, ...]):
    shell("init")
    shell(*words, code=2)


def test_a_secret_without_a_word_boundary_is_masked_too(shell: Shell):
    shell("init")
    for number, text in enumerate(("TOKEN_ghp_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2dF4hJ6", "xAKIA" + "Q7R2ZX9KLM4NPT6V")):
        shell("note", "write", f"n{number}", json.dumps(text))
    shell("task", "new", "about AKIA" + "Q7R2ZX9KLM4NPT6V")
    for path in (shell.folder / ".workbench").rglob("*"):
        data = path.read_bytes().lower() if path.is_file() else b""
        assert b"ab3de5gh7jk9mn1pq3" not in data, path
        assert b"q7r2zx9klm4npt6v" not in data, path
