"""A package counts as received when the receiver's session shows it, and not before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from workbench.domain.message import Message, Outcome, ToolCall, ToolResult
from workbench.handoff.receipt import Heard, Receipt, Sent, received

SNAPSHOT = "9f3a1c0b7d2e4a58"
PROMPT = Path("/state/handoff/p/prompt.md")
SENT = Sent("claude", SNAPSHOT, Path("/repo"), PROMPT, 100, "2026-03-01T10:00:00Z")


def person(text: str, id_: str = "u1") -> Message:
    return Message.of(id=id_, session="claude:s", seq=0, origin="human", text=text, size=len(text))


def call(**more: Any) -> Message:
    part = ToolCall(call_id="c1", name="Read", **{"kind": "read", "paths": (str(PROMPT),), **more})
    return Message.of(id="a1", session="claude:s", seq=1, kind="tool_call", role="assistant", call=part)


def result(size: int = 120, **more: Any) -> Message:
    part = ToolResult(call_id="c1", outcome=Outcome(**{"status": "ok", **more}))
    return Message.of(
        id="r1", session="claude:s", seq=2, kind="tool_result", role="tool", origin="tool", size=size, result=part
    )


def heard(*messages: Message, **more: Any) -> Heard:
    base: dict[str, Any] = {"session": "claude:s", "cwd": "/repo", "started_at": "2026-03-01T10:00:02Z"}
    return Heard(messages=messages, **{**base, **more})


def test_the_snapshot_in_the_first_message() -> None:
    session = heard(person(f"Read it (handoff {SNAPSHOT})."), person("next", "u2"))
    assert received(SENT, [session]) == Receipt("claude:s", "first_message", "u1")


def test_a_complete_read_of_the_prompt_file() -> None:
    assert received(SENT, [heard(person("hello"), call(), result())]) == Receipt("claude:s", "prompt_read", "r1")


def test_a_complete_read_by_the_shell() -> None:
    shell = call(kind="execute", paths=(), command=f"cat {PROMPT}")
    assert received(SENT, [heard(shell, result(100, exit_code=0))]) == Receipt("claude:s", "prompt_read", "r1")


@pytest.mark.parametrize(
    "session",
    [
        heard(),
        heard(person("hello"), person(f"about {SNAPSHOT}", "u2")),
        heard(person(SNAPSHOT), cwd="/repo-other"),
        heard(person(SNAPSHOT), cwd=None),
        heard(person(SNAPSHOT), started_at="2026-03-01T09:59:59Z"),
        heard(person(SNAPSHOT), started_at=None),
        heard(person(SNAPSHOT), session="codex:s"),
        heard(call(args={"offset": 50}), result()),
        heard(call(args={"limit": 10}), result()),
        heard(call(), result(99)),
        heard(call(), result(truncated=True)),
        heard(call(), result(status="failed")),
        heard(call(), result(status="unknown", exit_code=1)),
        heard(call(paths=("/state/handoff/q/prompt.md",)), result()),
        heard(call()),
    ],
    ids=[
        "nothing",
        "a later message",
        "a sibling folder",
        "no folder",
        "begun before",
        "no time",
        "another agent",
        "from the middle",
        "the beginning only",
        "shorter than the prompt",
        "truncated",
        "failed",
        "exit code",
        "another prompt",
        "no answer",
    ],
)
def test_what_is_no_proof(session: Heard) -> None:
    assert received(SENT, [session]) is None


def test_a_folder_deeper_in_the_worktree_counts() -> None:
    session = heard(person(SNAPSHOT), cwd="/repo/src")
    assert received(SENT, [heard(), session]) == Receipt("claude:s", "first_message", "u1")
