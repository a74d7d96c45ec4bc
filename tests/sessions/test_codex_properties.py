"""What must hold for any Codex session file: the same messages however it arrives, and never an exception."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from claude_records import Record, balanced, line, read
from codex_records import Rollout, ended, identity
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.message import Message
from workbench.services.request import PARTS, part_of, was_given
from workbench.sessions import SessionLog, open_session
from workbench.sessions.codex.format import CodexFormat


def rich() -> Rollout:
    """A conversation with something of everything."""
    session = Rollout(forked_from_id=identity(0))
    session.add("session_meta", id=identity(0), cwd="/srv")
    session.turn(1)
    session.given("<environment_context>\n<cwd>/srv/shop</cwd>\n</environment_context>", "be kind", role="developer")
    session.prompt("mach es gr\u00fcn \u2028 \u7eff\u8272")
    session.item("reasoning", summary=[{"type": "summary_text", "text": "hm"}])
    session.say("looking \ud83d")
    session.run("c1", "ls")
    session.event("exec_command_end", call_id="c1", exit_code=0, duration={"secs": 1, "nanos": 5})
    session.output("c1", ended(0, "a"))
    session.used(100, limits={"primary": {"used_percent": 3, "window_minutes": 300, "resets_at": 1772370000}})
    session.again()
    session.patch("c2", "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n")
    session.output("c2", "Exit code: 0\nOutput:\nSuccess.", custom=True)
    session.event("patch_apply_end", call_id="c2", success=True, changes={"/a": {"type": "add", "content": "x\n"}})
    session.script("c3", 'await tools.exec_command({cmd: "a"}); await tools.exec_command({cmd: "b"})')
    session.done("CommandExecution", id="e1", command=["sh", "-c", "a"], exit_code=1, aggregated_output="boom")
    session.done("FileChange", id="e2", status="completed", changes={"/b": {"type": "delete", "content": "y"}})
    session.output("c3", [{"text": "Script completed\n"}, {"text": "x"}], custom=True)
    session.call("c4", "update_plan", plan=[{"step": "a", "status": "completed"}])
    session.turn(2, model="gpt-y")
    session.given("wrapped: blue please")
    session.event("user_message", message="blue please")
    session.add(
        "compacted", message="sum", replacement_history=[{"role": "user", "content": [{"text": "blue please"}]}]
    )
    session.prompt("more")
    session.event("thread_rolled_back", num_turns=1)
    session.event("error", message="x")
    session.add("world_state", full=True)
    session.output("lost", "?")
    session.say("the end")
    return session


def log_of(tmp: Path, data: bytes) -> SessionLog:
    path = tmp / "whole" / rich().name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return read(path, "codex")


def followed(tmp: Path, data: bytes, cuts: list[int]) -> SessionLog:
    """The log of a file that grew in pieces, looked at after every one."""
    path = tmp / "growing" / rich().name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"")
    log = SessionLog(path, CodexFormat())
    start = 0
    for end in [*sorted(cuts), len(data)]:
        with path.open("ab") as file:
            file.write(data[start:end])
        start = max(start, end)
        log.refresh()
    return log


def comparable(log: SessionLog) -> tuple[list[Message], dict[str, Any]]:
    return list(log.messages), {key: value for key, value in vars(log.info).items() if key != "path"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sessions")


def test_byte_by_byte_gives_the_same(folder: Path) -> None:
    data = rich().data()
    whole = log_of(folder, data)
    assert len(whole.messages) > 20
    assert comparable(followed(folder, data, list(range(len(data))))) == comparable(whole)


GLUE = [b"", b"not json\n", b"\x00\x00\n", b"\r\n", b'{"type":"x"}\n', b'{"type":"event_msg","payload":{"ty', b"]}\n"]


@given(
    order=st.lists(st.integers(0, 50), min_size=1, max_size=16),
    glue=st.lists(st.sampled_from(GLUE), min_size=16, max_size=16),
    seed=st.integers(0, 1 << 30),
)
def test_random_cuts_of_any_order_and_damage_give_the_same(
    folder: Path, order: list[int], glue: list[bytes], seed: int
) -> None:
    lines = [line(record) for record in rich().records]
    data = b"".join(extra + lines[number % len(lines)] + b"\n" for number, extra in zip(order, glue, strict=False))
    whole = log_of(folder, data)
    assert balanced(whole)
    chance = random.Random(seed)
    cuts = [chance.randrange(len(data)) for _ in range(8)]
    assert comparable(followed(folder, data, cuts)) == comparable(whole)
    ids = [message.id for message in whole.messages]
    assert len(set(ids)) == len(ids)


def shuffled(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict):
        keys = list(value)
        chance.shuffle(keys)
        return {key: shuffled(value[key], chance) for key in keys}
    return [shuffled(item, chance) for item in value] if isinstance(value, list) else value


def plain(message: Message) -> Message:
    return message.with_(span=None, seq=0, parent=None)


def test_other_key_orders_unknown_keys_and_unknown_types_change_nothing_else(folder: Path) -> None:
    session = rich()
    whole = [plain(message) for message in log_of(folder, session.data()).messages]
    chance = random.Random(7)
    changed: list[Record] = []
    for record in session.records:
        made = shuffled(record, chance)
        made["aKeyOfTomorrow"] = {"type": "message", "payload": [1, {"y": None}]}
        made["payload"]["novelty"] = {"call_id": 0.5}
        changed += [made, {"type": "type-of-tomorrow", "payload": {"n": len(changed)}}]
    log = log_of(folder, b"".join(line(record) + b"\n" for record in changed))
    assert [plain(message) for message in log.messages if message.kind != "unknown"] == whole
    assert log.info.unknown == len(session.records)


def test_dropping_the_first_line_changes_nothing_else(folder: Path) -> None:
    session = rich()
    whole = [plain(message) for message in log_of(folder, session.data()).messages]
    del session.records[0]  # the branch stands in no other record
    headless = log_of(folder, session.data())
    assert [plain(message) for message in headless.messages] == [message.with_(branch=None) for message in whole]
    assert headless.info.unreadable == 0


def test_as_of_any_line_it_is_the_file_cut_there(folder: Path) -> None:
    data = rich().data()
    log = log_of(folder, data)
    ends = [place + 1 for place, byte in enumerate(data) if byte == 10]
    past = [comparable(log.as_of(end)) for end in (*ends, len(data) + 100)]
    assert past == [comparable(log_of(folder, data[:end])) for end in (*ends, len(data))]


def test_every_raw_reference_leads_back_to_its_message(folder: Path) -> None:
    log = log_of(folder, rich().data())
    data = log.path.read_bytes()
    for message in log.messages:
        assert message.raw is not None
        assert json.loads(data[message.raw.start : message.raw.end])["payload"]


def test_long_texts_are_cut_in_memory_and_whole_from_the_file(folder: Path) -> None:
    session = Rollout()
    text = "green " * 10_000
    session.prompt(text)
    session.say(text)
    session.run("c1", text)
    session.output("c1", ended(0, text))
    session.output("c2", [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": text}])
    log = log_of(folder, session.data())
    assert all(message.clipped for message in log.messages)
    assert [log.body(message).count("green") for message in log.messages] == [10_000] * 5
    log.path.unlink()
    assert log.body(log.messages[0]) == log.messages[0].text


def test_a_part_of_no_known_shape_is_the_same_whenever_it_is_read(folder: Path) -> None:
    session = Rollout()
    session.item("message", role="user", content=[[None, {"a": 1}], 5, "words"])
    first, second = (log_of(folder, session.data()).messages for _ in range(2))
    assert list(first) == list(second)
    assert [message.text for message in first] == ['[null,{"a": 1}]', "5", "words"]


WORDS = st.text(max_size=5) | st.sampled_from(["user", "c1", "message", "completed"])
KEYS = st.sampled_from(["type", "content", "id", "text", "input_tokens", "plan", "step", "primary", "used_percent"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
FIELDS = [
    "id", "role", "content", "name", "namespace", "arguments", "input", "call_id", "output", "status", "success",
    "action", "summary", "text", "message", "turn_id", "cwd", "model", "git", "forked_from_id", "parent_thread_id",
    "source", "info", "usage", "thread_token_usage", "rate_limits", "model_context_window", "exit_code", "duration",
    "changes", "result", "item", "replacement_history", "num_turns", "reason", "codex_error_info", "thread_name",
    "new_thread_id", "tools", "internal_chat_message_metadata_passthrough",
]  # fmt: skip
TYPES = ["session_meta", "response_item", "event_msg", "turn_context", "compacted", "token_usage_record", "tomorrow"]
KINDS = [
    "message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
    "local_shell_call", "web_search_call", "tool_search_output", "agent_message", "user_message", "token_count",
    "task_started", "turn_aborted", "thread_rolled_back", "error", "exec_command_end", "patch_apply_end",
    "mcp_tool_call_end", "item_completed", "collab_agent_spawn_end",
]  # fmt: skip
VALUES = JSON | st.sampled_from(["c1", "exec", "apply_patch", "update_plan", "exec_command", ended(3), '{"cmd":"ls"}'])
PAYLOAD = st.builds(
    lambda kind, rest: {"type": kind} | rest,
    st.sampled_from(KINDS) | JSON,
    st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=7),
)
ITEM = st.builds(
    lambda kind, rest: {"type": kind} | rest,
    st.sampled_from(["CommandExecution", "FileChange", "UserMessage", "AgentMessage", "McpToolCall"]),
    st.dictionaries(st.sampled_from(["id", "command", "exit_code", "changes", "content", "status"]), VALUES),
)
RECORD = st.builds(
    lambda kind, payload, item: {
        "type": kind,
        "timestamp": "2026-03-01T10:00:00Z",
        "payload": payload | ({"type": "item_completed", "item": item} if item else {}),
    },
    st.sampled_from(TYPES) | JSON,
    PAYLOAD,
    st.none() | ITEM,
)


@given(records=st.lists(RECORD | JSON, max_size=10))
def test_records_of_any_shape_never_raise(folder: Path, records: list[Any]) -> None:
    data = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    log = log_of(folder, data)
    assert balanced(log)
    for message in log.messages:
        assert log.body(message).startswith(message.text)
        message.text.encode("utf-8")
        assert part_of(message) in PARTS
        assert was_given(message) in (True, False)
    for _name, text in log.given():
        text.encode("utf-8")


@given(data=st.binary(max_size=300))
def test_bytes_of_any_kind_never_raise(folder: Path, data: bytes) -> None:
    assert balanced(log_of(folder, data))


def test_real_files(shared_dir: Path) -> None:
    """Every file is read with its records accounted for."""
    read_ones = 0
    for path in sorted((shared_dir / "corpus" / "codex").rglob("*.jsonl")):
        log = open_session(path, "codex")
        log.refresh()
        assert balanced(log), path
        assert log.info.unreadable == 0, path
        read_ones += 1
    assert read_ones > 60
