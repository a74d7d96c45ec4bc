"""What must hold for any session file: the same messages however it arrives, and never an exception."""

from __future__ import annotations

import contextlib
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from claude_records import Record, Script, balanced, bash, call, finished, line, read
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.message import Message
from workbench.errors import UsageError
from workbench.services.request import PARTS, part_of, was_given
from workbench.sessions import SessionLog, open_session
from workbench.sessions.claude.format import ClaudeFormat

USAGE = {"input_tokens": 3, "cache_read_input_tokens": 9, "output_tokens": 4, "cache_creation": {"a": 1}}


def rich() -> Script:
    """A conversation with something of everything, in three languages."""
    script = Script()
    script.meta("mode", mode="normal")
    fork = script.prompt("mach es gr\u00fcn \u2028 \u7eff\u8272")["uuid"]
    one, two = script.say("m1", bash("c1", "ls"), call("c2", "TodoWrite", todos=[{"content": "a"}]), usage=USAGE)
    script.add("progress", data={"type": "bash_progress"})
    script.result("c1", "x", error=False, twin=finished(), parent=one["uuid"])
    script.result("c2", "ok", twin={"newTodos": []}, parent=two["uuid"])
    script.say("m2", "done", usage=USAGE | {"output_tokens": 7})
    script.prompt("<system-reminder>r</system-reminder>\nbut blue", parent=fork)
    script.add("system", subtype="compact_boundary", parent=None, compactMetadata={"trigger": "auto", "preTokens": 9})
    script.prompt("summary", isCompactSummary=True)
    script.say("m3", {"type": "thinking", "thinking": "hm"}, "half an emoji \ud83d", usage=USAGE)
    script.prompt("side", isSidechain=True, parent=None)
    script.add("queue-operation", operation="enqueue")
    script.say("m4", bash("c3", "make"), usage=USAGE)
    script.result("c3", "in the background", twin=finished(backgroundTaskId="b1"))
    script.say("m5", call("c4", "BashOutput", bash_id="b1"), usage=USAGE)
    script.result("c4", "made", twin={"exitCode": 0, "status": "completed"})
    script.prompt("last words", parent=script.records[-7]["uuid"])
    return script


def log_of(tmp: Path, data: bytes) -> SessionLog:
    path = tmp / "session.jsonl"
    path.write_bytes(data)
    return read(path, "claude")


def followed(tmp: Path, data: bytes, cuts: list[int]) -> SessionLog:
    """The log of a file that grew in pieces, looked at after every one."""
    path = tmp / "growing.jsonl"
    path.write_bytes(b"")
    log = SessionLog(path, ClaudeFormat())
    start = 0
    for end in [*sorted(cuts), len(data)]:
        with path.open("ab") as file:
            file.write(data[start:end])
        start = max(start, end)
        log.refresh()
    return log


def comparable(log: SessionLog) -> tuple[list[Message], dict[str, Any]]:
    """Everything but the name of the file."""
    info = {key: value for key, value in vars(log.info).items() if key != "path"}
    return list(log.messages), info


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sessions")


def test_byte_by_byte_gives_the_same(folder: Path) -> None:
    data = rich().data()
    whole = log_of(folder, data)
    assert len(whole.messages) > 10
    assert comparable(followed(folder, data, list(range(len(data))))) == comparable(whole)


GLUE = [b"", b"not json\n", b"\x00\x00\n", b"\r\n", b'{"type":"x"}\n', b'{"type":"user","uuid":"q"', b" ", b"]}\n"]


@given(
    order=st.lists(st.integers(0, 30), min_size=1, max_size=12),
    glue=st.lists(st.sampled_from(GLUE), min_size=12, max_size=12),
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
    """The same JSON with the keys of every object in another order, and keys that nobody knows."""
    if isinstance(value, dict):
        keys = list(value)
        chance.shuffle(keys)
        return {key: shuffled(value[key], chance) for key in keys}
    return [shuffled(item, chance) for item in value] if isinstance(value, list) else value


def plain(message: Message) -> Message:
    return message.with_(span=None, seq=0)


def test_other_key_orders_unknown_keys_and_unknown_types_change_nothing_else(folder: Path) -> None:
    script = rich()
    whole = [plain(message) for message in log_of(folder, script.data()).messages]
    chance = random.Random(7)
    changed: list[Record] = []
    for record in script.records:
        made = shuffled(record, chance)
        made["aKeyOfTomorrow"] = {"type": "user", "uuid": "zz", "x": [1, {"y": None}]}
        if isinstance(made.get("message"), dict):
            made["message"]["novelty"] = 0.5
        changed += [made, {"type": "type-of-tomorrow", "sessionId": script.session, "n": len(changed)}]
    log = log_of(folder, b"".join(line(record) + b"\n" for record in changed))
    assert [plain(message) for message in log.messages if message.kind != "unknown"] == whole
    assert log.info.unknown == len(script.records)


def test_dropping_the_first_line_changes_nothing_else(folder: Path) -> None:
    script = rich()
    del script.records[0]
    whole = [plain(message) for message in log_of(folder, script.data()).messages]
    del script.records[0]
    headless = [plain(message) for message in log_of(folder, script.data()).messages]
    assert [m.id for m in headless] == [m.id for m in whole][1:]
    assert [m.with_(parent=None) for m in headless] == [m.with_(parent=None) for m in whole[1:]]


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
        record = json.loads(data[message.raw.start : message.raw.end])
        assert message.id.split(":")[0] == record["uuid"]


WORDS = st.text(max_size=5) | st.sampled_from(["user", "text", "u1"])
KEYS = st.sampled_from(["type", "content", "id", "a"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
FIELDS = [
    "uuid", "parentUuid", "sessionId", "timestamp", "cwd", "version", "gitBranch", "isSidechain", "isMeta", "message",
    "isCompactSummary", "toolUseResult", "requestId", "forkedFrom", "subtype", "content", "attachment", "error",
    "compactMetadata", "isApiErrorMessage", "origin", "planContent", "hookErrors", "summary", "leafUuid", "aiTitle",
]  # fmt: skip
TYPES = ["user", "assistant", "system", "attachment", "progress", "summary", "ai-title", "mode", "tomorrow"]
BLOCK_TYPES = ["text", "tool_use", "tool_result", "thinking", "image", "web_search_tool_result", "fallback"]
BLOCK_FIELDS = ["text", "id", "name", "input", "tool_use_id", "content", "is_error", "thinking", "source"]
BLOCK = st.builds(
    lambda kind, rest: {"type": kind} | rest,
    st.sampled_from(BLOCK_TYPES) | JSON,
    st.dictionaries(st.sampled_from(BLOCK_FIELDS), JSON | st.sampled_from(["c1", "Bash", "TodoWrite"]), max_size=5),
)
MESSAGE = st.fixed_dictionaries(
    {}, optional={"content": st.lists(BLOCK, max_size=3) | JSON, "id": JSON, "usage": JSON, "model": JSON}
)
RECORD = st.builds(
    lambda kind, rest, message: {"type": kind} | rest | ({"message": message} if message is not None else {}),
    st.sampled_from(TYPES) | JSON,
    st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=6),
    st.none() | MESSAGE,
)


@given(records=st.lists(RECORD, max_size=6), tail=st.binary(max_size=20))
def test_no_record_of_any_shape_raises(folder: Path, records: list[Any], tail: bytes) -> None:
    data = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    log = log_of(folder, data + tail)
    assert balanced(log)
    for message in log.messages:
        assert log.body(message) is not None
        message.text.encode("utf-8")
        assert part_of(message) in PARTS
        assert was_given(message) in (True, False)
    if log.messages and (raw := log.messages[-1].raw) is not None:
        assert len(log.as_of(raw.start).messages) < len(log.messages)
    assert log.info.name.startswith("claude:")


@given(data=st.binary(max_size=300))
def test_no_bytes_raise(folder: Path, data: bytes) -> None:
    log = log_of(folder, b'{"type":"user","message":{"content":"x"}}\n' + data)
    assert balanced(log)
    with contextlib.suppress(UsageError):
        open_session(log.path)


def corpus(shared: Path) -> list[SessionLog]:
    logs = []
    for path in sorted((shared / "corpus" / "claude-code").rglob("*.jsonl")):
        try:
            logs.append(read(path))
        except UsageError:
            continue
    return logs


def test_real_files_are_accounted_for(shared_dir: Path) -> None:
    logs = corpus(shared_dir)
    assert logs
    for log in logs:
        assert balanced(log), log.path
        info = log.info
        assert sum(m.usage.output for m in log.messages if m.usage) == info.usage.output, log.path
        ids = Counter(m.id for m in log.messages)
        assert max(ids.values(), default=1) == 1, log.path
        raw = [(m.raw.start, m.raw.block) for m in log.messages if m.raw is not None]
        assert raw == sorted(set(raw)), log.path
        for message in log.messages:
            assert len(log.body(message)) == message.size, (log.path, message.id)


def test_real_calls_and_results_are_paired(shared_dir: Path) -> None:
    for log in corpus(shared_dir):
        calls = {m.call.call_id: m for m in log.messages if m.call is not None and m.call.call_id}
        answered = set()
        for message in log.messages:
            result = message.result
            if result is None:
                continue
            paired = result.call_id in calls
            assert paired == (result.status != "orphan"), (log.path, message.id)
            answered.add(result.call_id)
            if paired:
                assert message.turn == calls[result.call_id].turn, (log.path, message.id)
            if paired and calls[result.call_id].call.kind == "execute" and result.status == "ok":
                assert result.exit_code == 0, (log.path, message.id)
        assert set(log.info.open_calls) == set(calls) - answered, log.path


def test_real_damaged_files_lose_only_what_is_damaged(shared_dir: Path) -> None:
    folder = shared_dir / "cases" / "transcripts"
    lost = {path.stem: read(path).info.unreadable for path in folder.glob("*.jsonl")}
    assert lost["good"] == lost["crlf"] == lost["bom"] == lost["lone_surrogates"] == lost["invalid_utf8"] == 0
    assert lost["torn_mid_then_appended"] == lost["nul_block_mid"] == 1
    assert lost["torn_tail"] == 0
