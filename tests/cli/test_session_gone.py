"""Agents delete their session files: what was cited still opens, what was cut comes back, what was shown holds."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Run

SESSION = "11111111-2222-4333-8444-555555555555"
LONG_AGO = 1_700_000_000
LONG = "compiled src/a.txt\n" * 4000


class Talk:
    """A small session of Claude Code, in the repository of the test."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._count = 0

    def add(self, kind: str, content: Any, **more: Any) -> str:
        self._count += 1
        uuid = f"u{self._count}"
        record = {
            "type": kind,
            "uuid": uuid,
            "parentUuid": f"u{self._count - 1}" if self._count > 1 else None,
            "sessionId": SESSION,
            "timestamp": f"2026-03-01T10:00:{self._count:02}.000Z",
            "cwd": str(Path.cwd()),
            "message": {"role": kind, "content": content} | ({"id": f"m{uuid}"} if kind == "assistant" else {}),
        }
        with self.path.open("a") as file:
            file.write(json.dumps(record | more) + "\n")
        return uuid

    def run(self, name: str, command: str, output: str) -> str:
        call = {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": command}}
        self.add("assistant", [call])
        result = {"type": "tool_result", "tool_use_id": name, "content": output}
        return self.add("user", [result], toolUseResult={"stdout": output, "interrupted": False})


@pytest.fixture
def talk(run: Run, workspace: Path, tmp_path: Path) -> Talk:
    made = run(
        "task", "new", "Port", "--target", "src", "--command", "build=make", "--accept", "it builds=command:build"
    )
    assert made.code == 0, made.err
    os.utime("src/a.txt", (LONG_AGO, LONG_AGO))
    talk = Talk(tmp_path / f"{SESSION}.jsonl")
    talk.add("user", "the port is 8080 from now on")
    talk.run("c1", "make", LONG)
    for number in range(6):
        talk.add("user", f"question {number}")
        talk.add("assistant", [{"type": "text", "text": f"answer {number}"}])
    assert run("session", "attach", "@", str(talk.path)).code == 0
    return talk


def test_a_cited_source_still_opens(run: Run, talk: Talk) -> None:
    ref = f"claude:{SESSION}#u1"
    assert run("fact", "propose", "server.port", "8080", "--source", ref).code == 0
    run("fact", "propose", "server.host", "localhost", "--source", ref)  # and whatever else is done meanwhile
    assert "8080" in run("history", "show", "@", ref).out
    run("history", "pin", "@", ref)
    talk.path.unlink()
    shown = run("history", "show", "@", ref, "--json")
    assert (shown.code, shown.json["messages"][0]["text"]) == (0, "the port is 8080 from now on")
    assert shown.json["absent_sessions"] == [f"claude:{SESSION}"]


def test_what_was_cut_comes_back_whole(run: Run, talk: Talk) -> None:
    cut = run("history", "drop", "@", "u3", "--yes", "--json")
    assert cut.code == 0, cut.err
    assert len(cut.json["messages"]) == 2
    talk.path.unlink()
    gone = {m["id"]: m["disposition"] for m in run("history", "show", "@", "--json").json["messages"]}
    assert set(gone.values()) == {"dropped"}
    assert run("history", "restore", "@", "u3").code == 0
    (row,) = run("history", "show", "@", "u3", "--json").json["messages"]
    assert row["disposition"] == "kept"
    assert row["text"].count("compiled") > 3000


def test_evidence_that_was_cited_still_shows_what_it_showed(run: Run, talk: Talk) -> None:
    (seen,) = [e for e in run("evidence", "list", "@", "--json").json["evidence"] if e["kind"] == "command"]
    done = run("state", "update", "@", "--done", "it builds", "--evidence", seen["id"][:7], "--json")
    assert done.code == 0, done.err
    (item,) = done.json["state"]["done"]
    assert (item["known"], item["evidence"]) == ("verified", [seen["id"]])
    talk.path.unlink()
    (kept,) = [e for e in run("evidence", "list", "@", "--json").json["evidence"] if e["kind"] == "command"]
    assert (kept["id"], kept["exit_code"], kept["valid"]) == (seen["id"], 0, True)
    assert "compiled" in run("history", "show", "@", kept["source"]).out
    Path("src/a.txt").write_text("two\n")
    (stale,) = [e for e in run("evidence", "list", "@", "--json").json["evidence"] if e["kind"] == "command"]
    assert (stale["valid"], stale["changed"]) == (False, ["src/a.txt"])


def test_files_that_a_session_wrote_are_artifacts(run: Run, talk: Talk) -> None:
    path = Path.cwd() / "src" / "new.txt"
    for number, text in enumerate(("one\n", "two\n"), 1):
        write = {"type": "tool_use", "id": f"w{number}", "name": "Write"}
        talk.add("assistant", [write | {"input": {"file_path": str(path), "content": text}}])
        result = {"type": "tool_result", "tool_use_id": f"w{number}", "content": "written"}
        twin = {"type": "create", "filePath": str(path), "content": text, "structuredPatch": []}
        talk.add("user", [result], toolUseResult=twin)
    (artifact,) = run("artifact", "list", "--json").json["artifacts"]
    assert (artifact["key"], artifact["seen"]) == ("src/new.txt", True)
    assert [(v["number"], v["op"], v["size"]) for v in artifact["versions"]] == [(1, "create", 4), (2, "create", 4)]
    assert "2 versions" in run("artifact", "list").out
    assert artifact["versions"][0]["source"] in run("artifact", "show", artifact["id"]).out
    first = run("artifact", "read", artifact["id"], "--version", "1")
    assert (first.out, "newer one: 2" in first.err) == ("one\n", True)
    assert run("artifact", "read", artifact["id"][:6], "--json").json["content"] == "two\n"
    assert run("artifact", "read", artifact["id"], "--version", "9", "--json").error["code"] == "not_found"
