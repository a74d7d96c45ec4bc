"""The use cases through the door that scripts and agents use."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Run

SESSION = "3f0c8a52-6a0e-4a51-9a57-0d6f5f1f7c11"


def session_file(folder: Path, repo: Path) -> Path:
    """A short conversation of Claude Code's form: six turns, each with a call and its result."""
    lines: list[dict[str, Any]] = []
    parent: str | None = None

    def add(kind: str, message: dict[str, Any]) -> None:
        nonlocal parent
        number = len(lines)
        uuid = f"00000000-0000-4000-8000-{number:012d}"
        lines.append(
            {
                "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": SESSION, "cwd": str(repo),
                "version": "2.1.0", "gitBranch": "main", "isSidechain": False, "userType": "external",
                "timestamp": f"2026-03-01T10:00:{number:02d}.000Z", "message": message,
            }
        )  # fmt: skip
        parent = uuid

    def said(number: int, block: dict[str, Any]) -> dict[str, Any]:
        usage = {"input_tokens": 10, "output_tokens": 5}
        return {"role": "assistant", "id": f"msg_{number}", "type": "message", "model": "claude-sonnet-4-5",
                "content": [block], "usage": usage, "stop_reason": None}  # fmt: skip

    add("user", {"role": "user", "content": "Show the to-dos of one category only."})
    for number in range(6):
        call = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {"command": f"cat part{number}"}}
        add("assistant", said(number, call))
        result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": f"part {number}\n" * 40}
        add("user", {"role": "user", "content": [result]})
    add("assistant", said(6, {"type": "text", "text": "All parts are read."}))
    path = folder / f"{SESSION}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def task(run: Run, workspace: Path, tmp_path: Path) -> str:
    """A task with an attached session; its id."""
    made = run("task", "new", "Filter", "--json").json["task"]["id"]
    attached = run("session", "attach", "@", str(session_file(tmp_path, workspace.parent)), "--json")
    assert attached.code == 0, attached.err
    assert attached.json["attempt"]["executor"] == "agent:claude"
    return str(made)


def test_init_is_idempotent_and_forget_leaves_no_trace(run: Run, repo: Path) -> None:
    before = subprocess.run(["git", "status", "--porcelain", "--ignored"], cwd=repo, capture_output=True, check=True)
    exclude = (repo / ".git" / "info" / "exclude").read_text()
    assert run("init", "--json").json == run("init", "--json").json == {"workspace": str(repo / ".workbench")}
    run("fact", "propose", "a.b", "1")
    removed = run("forget", "--yes", "--json").json["removed"]
    assert any(".workbench" in path for path in removed)
    after = subprocess.run(["git", "status", "--porcelain", "--ignored"], cwd=repo, capture_output=True, check=True)
    assert after.stdout == before.stdout
    assert (repo / ".git" / "info" / "exclude").read_text() == exclude
    assert run("status").code == 3


def test_a_task_from_options_and_from_a_file(run: Run, workspace: Path, tmp_path: Path) -> None:
    run("task", "new", "Guide", "--slug", "style-guide")
    made = run(
        "task", "new", "Filter", "--objective", "One category at a time", "--target", "src/ui", "--target", "docs",
        "--output", "ui:file:src/ui/filter.tsx", "--command", "build=npm run 'build it'",
        "--accept", "it builds=command:build", "--accept", "a=b is shown", "--accept", "looked at=manual",
        "--constraint", "ui.contrast=4.5", "--var", "tool:string", "--input", "style=style-guide.guide",
        "--depends", "style-guide", "--json",
    )  # fmt: skip
    assert made.code == 0, made.err
    contract = made.json["task"]["contract"]
    assert contract["targets"] == ["src/ui", "docs"]
    assert contract["outputs"][0]["path"] == "src/ui/filter.tsx"
    assert contract["commands"][0]["run"] == ["npm", "run", "build it"]
    assert [(a["text"], a["check"]) for a in contract["acceptance"]] == [
        ("it builds", "command:build"), ("a=b is shown", "manual"), ("looked at", "manual"),
    ]  # fmt: skip
    assert contract["inputs"][0]["output"] == "guide"
    assert contract["variables"]["tool"]["type"] == "string"
    (constraint,) = [f for f in run("fact", "list", "--json").json["facts"] if f["kind"] == "constraint"]
    assert (constraint["value"], constraint["scope"]) == (4.5, made.json["task"]["id"])
    shown = run("task", "show", "filter", "--json")
    copy = tmp_path / "copy.json"
    copy.write_text(json.dumps({**shown.json["task"]["contract"], "title": "Copy"}))
    again = run("task", "new", "--file", str(copy), "--json")
    assert again.json["task"]["contract"]["outputs"] == contract["outputs"]
    revised = run("task", "revise", "copy", "--target", "other", "--why", "moved", "--json").json["task"]
    assert (revised["plan_revision"], revised["contract"]["targets"]) == (2, ["other"])
    assert revised["contract"]["outputs"] == contract["outputs"]
    assert [t["slug"] for t in run("task", "list", "--json").json["tasks"]] == ["copy", "filter", "style-guide"]


def test_taking_ending_and_closing(run: Run, workspace: Path) -> None:
    run("task", "new", "Filter")
    one = run("--as", "agent:pi", "task", "take", "@", "--json").json["attempt"]
    late = run("--as", "agent:codex", "task", "take", "@", "--json")
    assert (late.code, late.error["details"]["executor"]) == (4, "agent:pi")
    assert run("attempt", "show", one["id"][:6], "--json").json["attempt"]["status"] == "running"
    assert run("attempt", "end", one["id"], "--why", "stuck", "--as", "agent:pi").code == 5
    assert run("attempt", "end", one["id"], "--status", "failed", "--why", "stuck").code == 0
    assert [a["status"] for a in run("attempt", "list", "--json").json["attempts"]] == ["failed"]
    assert run("task", "cancel", "@", "--json").error["code"] == "usage"
    assert run("task", "cancel", "@", "--why", "not needed", "--json").json["task"]["status"] == "cancelled"
    assert run("--as", "agent:pi", "task", "take", "@").code == 5


def test_blue_green_blue_is_a_chain_of_three(run: Run, workspace: Path) -> None:
    assert run("fact", "propose", "ui.color", "blue", "--json").json["outcome"] == "active"
    assert run("fact", "propose", "ui.color", '"blue"', "--json").json["outcome"] == "corroborated"
    offered = run("fact", "propose", "ui.color", "green", "--json", "--as", "agent:pi").json
    assert (offered["outcome"], offered["would_supersede"]["value"]) == ("proposed", "blue")
    old = offered["would_supersede"]
    seen = f"{old['id']}@{old['version']}"
    settled = run("fact", "confirm", offered["fact"]["id"], "--yes", "--expect", seen, "--json")
    assert settled.json["fact"]["supersedes"] == [old["id"]]
    # A person who enters it, and has decided already, settles at once.
    back = run("fact", "propose", "ui.color", "blue", "--yes", "--json").json
    assert (back["outcome"], back["fact"]["lifecycle"]) == ("active", "active")
    chain = run("fact", "history", "ui.color", "--json").json["facts"]
    assert [(f["value"], f["lifecycle"]) for f in chain] == [
        ("blue", "superseded"), ("green", "superseded"), ("blue", "active"),
    ]  # fmt: skip


def test_rejecting_retracting_editing_and_joining_keys(run: Run, workspace: Path) -> None:
    run("fact", "propose", "ui.color", "blue")
    green = run("--as", "agent:pi", "fact", "propose", "ui.color", "green", "--json").json["fact"]["id"]
    assert run("fact", "reject", green, "--json").error["code"] == "usage"
    assert run("fact", "reject", green, "--why", "no", "--json").json["fact"]["lifecycle"] == "rejected"
    assert run("fact", "reject", green, "--why", "no").code == 4
    blue = run("fact", "list", "--json").json["facts"][0]
    edited = run("fact", "edit", blue["id"], "--statement", "Blue it is", "--expect", str(blue["version"]), "--json")
    assert edited.json["fact"]["statement"] == "Blue it is"
    assert run("fact", "edit", blue["id"], "--statement", "x", "--expect", str(blue["version"])).code == 4
    assert run("fact", "edit", blue["id"], "--value", "red").code == 5
    assert run("fact", "alias", "theme.color", "ui.color", "--json").json["canonical"] == "ui.color"
    assert run("fact", "history", "theme.color", "--json").json["facts"][0]["key"] == "ui.color"
    assert run("fact", "list", "--key", "ui", "--json").json["facts"] != []
    assert run("fact", "list", "--key", "u", "--json").json["facts"] == []
    assert run("fact", "retract", blue["id"], "--why", "wrong", "--json").json["fact"]["lifecycle"] == "retracted"
    assert run("fact", "list", "--json").json["facts"] == []
    assert len(run("fact", "list", "--all", "--json").json["facts"]) == 2


def test_a_value_may_be_anything(run: Run, workspace: Path, tmp_path: Path) -> None:
    for number, (given, stored) in enumerate(
        [("8080", 8080), ("-5", -5), ("true", True), ('{"a": [1]}', {"a": [1]}), ("{not json", "{not json"), ("", "")]
    ):
        assert run("fact", "propose", f"k.n{number}", given, "--json").json["fact"]["value"] == stored
    assert run("fact", "propose", "k.dash", "--json", "--", "--why").json["fact"]["value"] == "--why"
    (tmp_path / "value").write_text("two\nlines\n")
    assert (
        run("fact", "propose", "k.file", "--file", str(tmp_path / "value"), "--json").json["fact"]["value"]
        == "two\nlines"
    )
    assert run("fact", "propose", "k.none").code == 2


def test_the_history_is_trimmed_and_restored(run: Run, task: str) -> None:
    shown = run("history", "show", "@", "--json").json
    calls = [m for m in shown["messages"] if m["kind"] == "tool_call"]
    results = [m for m in shown["messages"] if m["kind"] == "tool_result"]
    assert (len(calls), len(results)) == (6, 6)
    assert shown["tokens"]["all"] == shown["tokens"]["kept"] > 0
    planned = run("history", "drop", task, results[0]["id"], "--dry-run", "--json").json
    assert (planned["done"], len(planned["messages"])) == (False, 2)
    assert planned["tokens"]["after"] < planned["tokens"]["before"]
    assert "this history" in planned["tokens"]["in"]
    assert planned["package"]["after"] <= planned["package"]["before"]
    assert run("history", "show", "@", "--json").json["tokens"] == shown["tokens"]
    done = run("history", "drop", task, results[0]["id"], "--why", "used up", "--json").json
    assert done["tokens"] == planned["tokens"]
    after = run("history", "show", "@", "--json").json
    assert after["tokens"]["kept"] == planned["tokens"]["after"]
    assert sum(m["disposition"] == "dropped" for m in after["messages"]) == 2
    assert run("undo").code == 0
    assert run("history", "show", "@", "--json").json["tokens"] == shown["tokens"]
    span = f"{calls[0]['id']}..{results[1]['id'].split('#')[1]}"
    assert len(run("history", "externalise", task, span, "--json").json["messages"]) == 4
    assert len(run("history", "restore", task, span, "--json").json["messages"]) == 4
    own = run("history", "summarise", task, calls[0]["id"], "--text", "Part 0 was read.", "--json")
    assert own.code == 0, own.err
    whole = run("history", "show", task, results[0]["id"], "--json").json
    assert whole["messages"][0]["text"].count("part 0") == 40


def test_a_cut_of_what_no_package_carries_leaves_the_pending_one_fresh(run: Run, task: str) -> None:
    package = run("handoff", "prepare", "@", "--to", "codex", "--json").json["package"]["id"]
    messages = run("history", "show", "@", "--json").json["messages"]
    result = next(m["id"] for m in messages if m["kind"] == "tool_result")
    words = next(m["id"] for m in messages if m["origin"] == "human")

    def stale() -> list[str]:
        found = run("handoff", "check", package, "--json")
        return [d["subject"] for d in found.json["differences"] if d["code"] == "trim_changed"]

    cut = run("history", "drop", task, result, "--json").json
    assert cut["package"]["before"] == cut["package"]["after"]
    assert (cut["stale"], stale()) == ([], [])
    run("history", "restore", task, result)
    planned = run("history", "drop", task, words, "--dry-run", "--json").json
    assert planned["stale"] == [{"package": package, "to": "codex"}]
    said = run("history", "drop", task, words, "--yes").out
    assert f"the pending package {package} for codex counts as stale by it" in said
    assert stale() == [f"cuts of claude:{SESSION}"]
    run("history", "restore", task, words)
    assert stale() == []
    # A digest stands in a package, whatever it stands for; what is pinned does, too.
    assert run("history", "summarise", task, result, "--text", "Read.", "--dry-run", "--json").json["stale"]
    run("history", "pin", task, result)
    assert len(stale()) == 1
    run("history", "pin", task, result, "--off")
    assert stale() == []


def test_the_guard_stands_before_the_persons_words_and_the_newest_turns(run: Run, task: str) -> None:
    messages = run("history", "show", "@", "--json").json["messages"]
    own = next(m["id"] for m in messages if m["origin"] == "human")
    newest = [m["id"] for m in messages if m["kind"] == "tool_call"][-1]
    for message in (own, newest):
        assert run("history", "drop", task, message, "--as", "agent:claude", "--json").error["code"] == "human_needed"
        assert run("history", "drop", task, message, "--json").code == 5
    assert run("history", "pin", task, newest, "--json").json["messages"][0]["pinned"] is True
    assert run("history", "drop", task, newest, "--yes").code == 0
    run("history", "class", task, own, "--to", "guideline")
    assert run("history", "drop", task, own, "--yes", "--json").code == 5
    assert run("history", "class", task, own, "--to", "working", "--as", "agent:claude").code == 5


def test_suggesting_changes_nothing(run: Run, task: str, workspace: Path) -> None:
    before = run("log", "--json").json["total"]
    found = run("history", "suggest", "@", "--json").json
    assert found["tokens"]["suggested"] == sum(m["tokens"] for m in found["messages"])
    assert all(m["kind"] in ("tool_call", "tool_result") for m in found["messages"])
    assert run("log", "--json").json["total"] == before


def test_following_a_session_prints_what_is_there(run: Run, task: str) -> None:
    lines = run("session", "follow", "@", "--once", "--json").out.splitlines()
    assert {json.loads(line)["kind"] for line in lines} >= {"message", "tool_call", "tool_result"}
    assert "All parts are read." in run("session", "follow", "@", "--once").out


def test_read_commands_write_nothing(run: Run, task: str, workspace: Path) -> None:
    def state() -> dict[str, bytes]:
        return {str(p.relative_to(workspace)): p.read_bytes() for p in workspace.rglob("*") if p.is_file()}

    before = state()
    for words in (
        "status", "task list", "task show @", "attempt list", "fact list", "history show @", "history suggest @",
        "compile @ --to codex", "handoff list", "log", "trust list", "session list", "agents",
    ):  # fmt: skip
        assert run(*words.split()).code == 0
    assert state() == before


def test_compiling_is_reproducible_and_blocks_when_it_must(run: Run, task: str) -> None:
    argv = ["compile", "@", "--to", "codex", "--now", "2026-03-01T12:00:00Z", "--budget", "2000"]
    one, two = run(*argv, "--json"), run("--json", *argv)
    assert one.out == two.out
    document = one.json
    assert document["status"] == "ok"
    assert document["tokens"] <= document["budget"]["given"] == 2000
    assert run(*argv, "--prompt-only").out == document["prompt"]
    small = run(*argv[:-1], "10", "--json")
    assert (small.code, small.err) == (5, "")
    assert small.json["code"] == "task_context_overflow"
    assert run("compile", "@", "--to", "nobody", "--json").error["code"] == "usage"
    assert run("compile", "@", "--to", "codex", "--budget", "0").code == 2


def test_a_prompt_names_the_command_as_the_receivers_shell_finds_it(run: Run, task: str, tmp_path: Path) -> None:
    run("note", "write", "shop.plan", "--value", json.dumps("x " * 2000), "--kind", "structure")
    run("fact", "propose", "shop.text", "word " * 900)
    bare, full = tmp_path / "bare", tmp_path / "full"
    for folder in (bare, full):
        folder.mkdir()
        (folder / "git").symlink_to(str(shutil.which("git")))
    (full / "workbench").write_text("#!/bin/sh\n")
    (full / "workbench").chmod(0o755)
    argv = ("compile", "@", "--to", "codex", "--budget", "1500", "--json")
    found = run(*argv, env={"PATH": str(full)}).json
    lost = run(*argv, env={"PATH": str(bare)}).json
    assert "`workbench` commands fetch" in found["prompt"]
    assert sys.executable not in found["prompt"]
    assert f"{shlex.quote(sys.executable)} -P -m workbench` commands fetch" in lost["prompt"]
    assert "workbench fact show" in found["prompt"]
    assert lost["prompt"].count("-m workbench fact show") == found["prompt"].count("workbench fact show")
    assert found["prompt"].count("workbench ") == lost["prompt"].count("-m workbench ")


def test_a_package_is_prepared_checked_refused_when_stale_and_handed_over(run: Run, task: str, workspace: Path) -> None:
    repo = workspace.parent
    run("task", "revise", "@", "--target", "src")
    first = run("handoff", "prepare", "@", "--to", "claude", "--as", "agent:claude", "--json").json["package"]
    assert (first["status"], first["to"]) == ("pending", "claude")
    assert run("handoff", "check", first["id"], "--json").json["differences"] == []
    (repo / "src" / "a.txt").write_text("two\n")
    stale = run("handoff", "check", first["id"], "--json")
    assert stale.code == 5
    assert "file_changed" in {d["code"] for d in stale.json["differences"]}
    stopped = run("handoff", "confirm", first["id"], "--launch", "print", "--yes", "--json")
    assert (stopped.code, stopped.err) == (5, "")
    assert "file_changed" in {d["code"] for d in stopped.json["differences"]}
    assert run("handoff", "reject", first["id"], "--why", "stale", "--json").json["package"]["status"] == "rejected"
    second = run("handoff", "prepare", "@", "--to", "claude", "--json").json["package"]["id"]
    assert run("handoff", "confirm", second, "--launch", "print", "--yes", "--as", "agent:pi").code == 5
    handed = run("handoff", "confirm", second, "--launch", "print", "--yes", "--json")
    assert handed.code == 0, handed.err
    assert handed.json["package"]["status"] == "launched"
    assert handed.json["command"][-1].count(handed.json["package"]["snapshot"]) == 1
    assert [a["status"] for a in run("attempt", "list", "--json").json["attempts"]] == ["handed_over", "starting"]
    shown = run("handoff", "show", second, "--json").json
    assert shown["package"]["snapshot"] in shown["prompt"]
    assert (shown["package"]["stale"], shown["differences"]) == (False, [])
    (repo / "src" / "a.txt").write_text("three\n")
    shown = run("handoff", "show", second, "--json").json
    assert shown["package"]["stale"] is True
    assert [d["code"] for d in shown["differences"] if d["code"] != "new_messages"] == ["file_changed"]
    assert "src/a.txt" in run("handoff", "show", second).out.partition("\u2500")[0]
    assert "launched  stale" in run("handoff", "list").out
    assert run("status", "--json").json["packages"] == {"pending": 0, "stale": 0}
    assert run("handoff", "cancel", second, "--json").json["package"]["status"] == "cancelled"
    statuses = {p["id"]: p["status"] for p in run("handoff", "list", "--json").json["packages"]}
    assert statuses == {first["id"]: "rejected", second: "cancelled"}


def test_the_log_says_before_and_after(run: Run, workspace: Path) -> None:
    fact = run("fact", "propose", "a.b", "1", "--json").json["fact"]
    run("fact", "edit", fact["id"], "--statement", "One")
    rows = run("log", fact["id"], "--json").json
    newest, oldest = rows["changes"]
    assert newest["before"] == oldest["after"]
    assert newest["after"]["statement"] == "One"
    assert oldest["before"] is None
    limited = run("log", "--limit", "1", "--json").json
    assert len(limited["changes"]) + limited["left_off"] == limited["total"]
    assert run("log", "zzzzzzzz").code == 3
    assert run("undo", "--json").json["changes"][0]["record"] == f"facts/{fact['id']}"
    assert run("fact", "show", fact["id"], "--json").json["fact"]["statement"] == ""
    assert run("undo", "--as", "agent:pi").code == 3


def test_trust_shows_asks_and_is_taken_back(run: Run, workspace: Path) -> None:
    run("task", "new", "Filter", "--command", "build=make all")
    listed = run("trust", "list", "--json").json["commands"]
    assert ["make", "all"] in [c["argv"] for c in listed]
    assert not any(c["trusted"] for c in listed)
    assert run("trust", "--as", "agent:pi", "--yes").code == 5
    assert run("trust").code == 5
    granted = run("trust", ".", "--yes", "--json").json
    assert granted["granted"] == len(listed)
    assert all(c["trusted"] for c in granted["commands"])
    run("task", "revise", "@", "--command", "build=make everything")
    changed = {tuple(c["argv"]): c["trusted"] for c in run("trust", "list", "--json").json["commands"]}
    assert changed["make", "everything"] is False
    assert run("trust", "revoke", "--json").json["revoked"] >= 1


def test_agents_are_listed_without_a_workspace(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "bin" / "codex"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    rows = run("agents", "--json", env={"PATH": str(program.parent)}).json["agents"]
    assert rows[0]["name"] == "codex"
    assert rows[0]["executable"] == str(program)
    assert {"claude", "gemini", "opencode", "pi", "qwen", "kimi"} <= {row["name"] for row in rows}


def test_every_record_has_a_schema(run: Run) -> None:
    every = run("schema", "print", "--json").json
    assert {"task", "fact", "evidence", "package"} <= set(every)
    assert run("schema", "print", "fact").json == run("schema", "print", "fact", "--json").json == every["fact"]
    assert run("schema", "print", "nothing").code == 3
