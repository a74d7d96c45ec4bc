"""``session``: what agents keep here, attached by name, and what joins by itself."""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Run

A, B = "3f0c8a52-6a0e-4a51-9a57-0d6f5f1f7c11", "9a1c8a52-6a0e-4a51-9a57-0d6f5f1f7c22"


def write(home: Path, session: str, cwd: Path, *prompts: str, ago: int = 600) -> Path:
    """A session of Claude Code; those that begin with the same prompts are of one line."""
    folder = home / ".claude/projects/p"
    folder.mkdir(parents=True, exist_ok=True)
    lines: list[dict[str, Any]] = []
    for number, text in enumerate(prompts):
        at = datetime.now(UTC) - timedelta(seconds=ago - number)
        uuid = f"{crc32(text.encode()):08x}-0000-4000-8000-{number:012d}"
        lines.append({
            "type": "user", "uuid": uuid, "parentUuid": lines[-1]["uuid"] if lines else None, "sessionId": session,
            "cwd": str(cwd), "isSidechain": False, "timestamp": at.isoformat().replace("+00:00", "Z"),
            "message": {"role": "user", "content": text},
        })  # fmt: skip
    path = folder / f"{session}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    written = datetime.now(UTC).timestamp() - ago + len(prompts)
    os.utime(path, (written, written))
    return path


@pytest.fixture
def task(run: Run, workspace: Path) -> str:
    return str(run("task", "new", "Filter", "--json").json["task"]["id"])


def test_the_list_says_of_each_what_is_known(run: Run, home: Path, workspace: Path, task: str) -> None:
    repo = workspace.parent
    write(home, A, repo, "show one category", ago=3600)
    write(home, B, repo / "src", "sort them", ago=30)
    write(home, B.replace("9", "8"), home, "elsewhere")
    run("session", "attach", "@", A)
    first, second = run("session", "list", "--json").json["sessions"]
    keys = "agent id path cwd worktree messages started_at updated_at status full limited_until"
    assert set(keys.split()) <= set(first)
    assert (first["id"], first["status"], first["task"], first["title"]) == (B, "live", None, "sort them")
    assert (second["id"], second["status"], second["task"]) == (A, "idle", "filter")
    assert (first["cwd"], first["worktree"]) == (str(repo / "src"), str(repo))
    text = run("session", "list").out
    assert text.index("sort them") < text.index("show one category")
    assert "task filter" in text


def test_all_of_the_machine_need_no_workspace(run: Run, home: Path, repo: Path, tmp_path: Path) -> None:
    write(home, A, repo / "src", "show one category")
    write(home, B, tmp_path / "gone", "elsewhere")
    found = {s["id"]: s for s in run("session", "list", "--all", "--json").json["sessions"]}
    assert found[A]["worktree"] == str(repo)
    assert found[B]["worktree"] == str(tmp_path / "gone")
    assert not (repo / ".workbench").exists()
    assert run("session", "list").code == 3


def test_a_title_drives_no_terminal(run: Run, home: Path, workspace: Path) -> None:
    write(home, A, workspace.parent, "\x1b]0;owned\x07 \u202egreen")
    out = run("session", "list").out
    assert "green" in out
    assert not set("\x1b\x07\u202e") & set(out)


def test_a_session_that_goes_on_joins_what_a_person_attached(run: Run, home: Path, workspace: Path, task: str) -> None:
    repo = workspace.parent
    write(home, A, repo, "show one category", ago=100)
    assert run("session", "attach", "@", "latest").err == ""
    write(home, B, repo, "show one category", "and sort them", ago=-5)
    newest = run("session", "list", "--json").json["sessions"][0]
    assert (newest["id"], newest["follows"]) == (B, f"begins with the history of claude:{A}")
    prepared = run("handoff", "prepare", "@", "--to", "codex")
    assert prepared.code == 0
    assert f"joined: claude:{B} (begins with the history of claude:{A})" in prepared.err
    (attempt,) = run("attempt", "list", "@", "--json").json["attempts"]
    assert [ref["id"] for ref in attempt["sessions"]] == [A, B]
    messages = run("history", "show", "@", "--json").json["messages"]
    assert len(messages) == 2
    run("handoff", "cancel", run("handoff", "list", "--json").json["packages"][0]["id"], "--yes")
    assert "session join filter" in run("log").out


def test_what_joined_is_taken_back_by_the_command_that_is_said(
    run: Run, home: Path, workspace: Path, task: str
) -> None:
    repo = workspace.parent
    write(home, A, repo, "show one category", ago=100)
    run("session", "attach", "@", "latest")
    write(home, B, repo, "show one category", "and sort them", ago=-5)
    prepared = run("handoff", "prepare", "@", "--to", "codex")
    said = re.search(r"workbench (undo \w+) takes it back", prepared.err)
    assert said is not None
    assert run("undo").code == 5  # the last change is the package
    assert run(*said[1].split(), "--yes").code == 0
    (attempt,) = run("attempt", "list", "@", "--json").json["attempts"]
    assert [ref["id"] for ref in attempt["sessions"]] == [A]
    assert run(*said[1].split(), "--yes").code == 3
    assert "joined" not in run("handoff", "prepare", "@", "--to", "codex").err


def test_attaching_says_what_joined_and_what_perhaps_belongs(run: Run, home: Path, workspace: Path, task: str) -> None:
    repo = workspace.parent
    write(home, A, repo, "show one category", ago=100)
    write(home, B, repo, "something else", ago=-5)
    said = run("session", "attach", "@", A).err
    assert f"perhaps: claude:{B} (begun in the same worktree after claude:{A})" in said
    assert f"workbench session attach filter {B}" in said


@pytest.mark.parametrize(
    ("name", "data", "code", "words"),
    [
        ("missing.jsonl", None, 3, "missing.jsonl"),
        ("empty.jsonl", b"", 2, "empty.jsonl"),
        ("garbage.jsonl", bytes(range(256)) * 9, 2, "garbage.jsonl"),
        ("bare.jsonl", b'{"type":"mode","mode":"normal","sessionId":"x"}\n', 2, "bare.jsonl"),
    ],
)
def test_a_file_that_is_no_session_is_named(
    run: Run, workspace: Path, task: str, tmp_path: Path, name: str, data: bytes | None, code: int, words: str
) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    failed = run("session", "attach", "@", str(tmp_path / name), "--json")
    assert failed.code == code
    assert words in failed.error["message"]
    assert failed.error["hint"]
    assert run("task", "show", "@", "--json").json["task"]["running"] is None


def test_several_that_fit_are_named(run: Run, home: Path, workspace: Path, task: str) -> None:
    write(home, A, workspace.parent, "one")
    write(home, A[:-1] + "9", workspace.parent, "two")
    failed = run("session", "attach", "@", A[:8], "--json")
    assert failed.code == 3
    assert sorted(failed.error["details"]["candidates"]) == [f"claude:{A}", f"claude:{A[:-1]}9"]


@pytest.mark.parametrize("word", [A, f"claude:{A}", A[:8]])
def test_a_linked_project_folder_makes_no_second_session(
    run: Run, home: Path, workspace: Path, task: str, word: str
) -> None:
    path = write(home, A, workspace.parent, "one")
    (home / ".claude/projects/a-link").symlink_to(path.parent)
    (listed,) = run("session", "list", "--json").json["sessions"]
    assert listed["path"] == str(path)
    assert run("session", "attach", "@", word).code == 0


@pytest.mark.parametrize("word", ["~nobody-here/x.jsonl", "a" * 5000, "x" * 300 + ".jsonl"])
def test_a_word_that_no_path_can_be_is_no_session(run: Run, workspace: Path, task: str, word: str) -> None:
    assert run("session", "attach", "@", word, "--json").code == 3


def test_links_in_a_circle_are_passed_over(run: Run, home: Path, workspace: Path, task: str) -> None:
    folder = write(home, A, workspace.parent, "one").parent
    days = home / ".codex/sessions/2026/03/01"
    days.mkdir(parents=True)
    rollout = f"rollout-2026-03-01T10-00-00-{B}.jsonl"
    loops = (folder / "loop.jsonl", folder / "loop", folder.parent / "loop", days / rollout, days / "loop")
    for loop in loops:
        loop.symlink_to(loop.name)
    assert [s["id"] for s in run("session", "list", "--json").json["sessions"]] == [A]
    assert run("session", "attach", "@", "latest").code == 0
    assert run("handoff", "prepare", "@", "--to", "codex").code == 0


def test_following_nothing_says_how_to_begin(run: Run, workspace: Path, task: str) -> None:
    done = run("session", "follow", "@", "--once")
    assert (done.code, done.out) == (0, "")
    assert "session attach filter latest" in done.err


def test_what_is_said_in_a_session_that_is_followed_is_taken_in(
    run: Run, home: Path, workspace: Path, task: str
) -> None:
    path = write(home, A, workspace.parent, "Do not touch the user table.")
    assert run("session", "attach", "@", str(path)).code == 0
    assert "Do not touch the user table." in run("session", "follow", "@", "--once").out
    (fact,) = run("fact", "list", "--json").json["facts"]
    assert (fact["kind"], fact["statement"]) == ("constraint", "Do not touch the user table.")
    assert "Do not touch the user table." in run("session", "follow", "@", "--once").out
    assert len(run("fact", "list", "--json").json["facts"]) == 1
    # An agent's shell hears nothing in her name.
    done = run("--as", "agent:codex", "session", "follow", "@", "--once")
    assert (done.code, "Do not touch the user table." in done.out) == (0, True)


def test_forget_takes_what_is_known_of_sessions_along(run: Run, home: Path, workspace: Path) -> None:
    write(home, A, workspace.parent, "one")
    run("session", "list")
    index = home / ".cache/workbench/sessions.json"
    assert index.exists()
    assert str(index) in run("forget", "--yes", "--json").json["removed"]
    assert not index.exists()


def test_where_sessions_are_looked_for_is_said(run: Run, workspace: Path, tmp_path: Path) -> None:
    assert "~/.claude/projects, ~/.config/claude/projects and ~/.codex/sessions;" in run("session", "list").out
    moved = {"CLAUDE_CONFIG_DIR": str(tmp_path / "c"), "CODEX_HOME": str(tmp_path / "x")}
    said = run("session", "list", env=moved).out
    assert f"{tmp_path}/c/projects and {tmp_path}/x/sessions (as CLAUDE_CONFIG_DIR and CODEX_HOME say)" in said
    run("task", "new", "Filter")
    missing = run("session", "attach", "@", "latest", "--json", env=moved)
    assert (missing.code, f"{tmp_path}/x/sessions" in missing.error["hint"]) == (3, True)
