"""``history view``: what the model saw, for people and for scripts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Run

SESSION = "11111111-2222-4333-8444-555555555555"


def record(number: int, kind: str, **message: Any) -> str:
    stamp = f"2026-03-01T10:00:{number:02}.000Z"
    fields = {"sessionId": SESSION, "timestamp": stamp, "cwd": str(Path.cwd()), "version": "2.1.0"}
    chain = {"uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number > 1 else None}
    return json.dumps({"type": kind, **chain, **fields, "message": {"role": kind, **message}})


@pytest.fixture
def task(run: Run, workspace: Path, tmp_path: Path) -> str:
    usage = {"input_tokens": 3, "cache_read_input_tokens": 397, "output_tokens": 9}
    path = tmp_path / f"{SESSION}.jsonl"
    lines = [
        record(1, "user", content="make it green"),
        record(
            2, "assistant", id="m1", model="claude-x", content=[{"type": "text", "text": "done\x1b[31m"}], usage=usage
        ),
        record(3, "user", content="and the border?"),
        record(4, "assistant", id="m2", model="claude-x", content="done", usage=usage | {"input_tokens": 20}),
    ]
    path.write_text("\n".join(lines) + "\n")
    assert run("task", "new", "Theme").code == 0
    assert run("session", "attach", "@", str(path)).code == 0
    return "@"


def test_the_last_request_for_scripts(run: Run, task: str) -> None:
    seen = run("history", "view", task, "--json").json
    request = seen["request"]
    assert (request["number"], request["of"], request["usage"]["context"]) == (2, 2, 417)
    assert [(m["part"], m["text"], m["new"]) for m in seen["messages"]] == [
        ("person", "make it green", False),
        ("agent", "done\x1b[31m", True),
        ("person", "and the border?", True),
    ]
    parts = {part["part"]: part for part in seen["parts"]}
    assert list(parts) == ["instructions", "person", "tools", "agent"]
    recorded = sum(part["recorded"] for part in parts.values())
    assert parts["instructions"]["not_recorded"] == 417 - recorded
    assert seen["tokens"]["counted"] == recorded == sum(m["tokens"] for m in seen["messages"])


def test_another_request_by_number_or_message_for_people(run: Run, task: str) -> None:
    first = run("history", "view", task, "--request", "1").out
    assert "request 1 of 2" in first
    assert "tokens not recorded" in first
    assert "400 input tokens by the request's usage record" in first
    assert run("history", "view", task, "--request", f"claude:{SESSION}#u2").out == first
    assert "\x1b" not in run("history", "view", task).out


def test_what_is_not_there_says_so(run: Run, task: str) -> None:
    assert run("history", "view", task, "--request", "9", "--json").error["code"] == "not_found"
    assert run("history", "view", task, "--compacted", "--request", "9", "--json").error["code"] == "not_found"
    assert "--compacted" in run("history", "view", task, "--turns", "2").err
    assert run("task", "new", "Other").code == 0
    assert "session attach" in run("history", "view", "other").err


def test_a_compaction_for_scripts(run: Run, task: str) -> None:
    assert run("note", "write", "border", '{"width": 2}').code == 0
    seen = run(
        "history", "view", task, "--compacted", "--turns", "1", "--note", "border", "--note", "none", "--json"
    ).json
    first, *rest = seen["messages"]
    assert first["role"] == "system"
    assert 'border: {"width":2}' in first["content"]
    assert [(m["role"], m["content"]) for m in rest] == [("user", "and the border?"), ("assistant", "done")]
    assert rest[0]["id"] == f"claude:{SESSION}#u3"
    assert seen["notes"] == {"carried": ["border"], "named": [], "absent": ["none"]}
    assert seen["tokens"]["after"] == sum(m["tokens"] for m in seen["messages"])


def test_a_compaction_for_people_says_in_what_it_saves(run: Run, task: str) -> None:
    shown = run("history", "view", task, "--compacted").out
    assert "the running agent's own context does not change" in shown
    assert "half of the model's window" in shown
    assert "make it green" in shown
    assert "\x1b" not in shown
    assert "make it green" in run("history", "view", task, "--compacted", "--request", "1").out
    assert "the border" not in run("history", "view", task, "--compacted", "--request", "1").out
