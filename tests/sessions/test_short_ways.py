"""Most records are taken a short way; what is made of them is what the long way makes, whatever stands beside them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import test_codex_properties as codex
import test_session_properties as claude
from claude_records import Record, line
from codex_records import Rollout, ended
from hypothesis import given
from hypothesis import strategies as st

from tests.benchmarks.reading import SESSION, make_claude
from tests.benchmarks.rollouts import make_codex
from workbench.domain.message import Message
from workbench.sessions import SessionLog, open_session
from workbench.sessions.claude.reader import ClaudeReader
from workbench.sessions.codex.reader import CodexReader
from workbench.sessions.model import SessionInfo

READERS = ["workbench.sessions.claude.reader", "workbench.sessions.codex.reader"]


@contextmanager
def the_long_way() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for reader in READERS:
            patch.setattr(f"{reader}.plain", lambda state, facts: None)
        yield


@pytest.fixture
def left() -> Iterator[list[int]]:
    """How many records were left to the long way."""
    counted: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        for reader in (ClaudeReader, CodexReader):
            taken = reader._take

            def take(self: Any, *record: Any, taken: Callable[..., None] = taken) -> None:
                counted.append(1)
                taken(self, *record)

            patch.setattr(reader, "_take", take)
        yield counted


def known(path: Path, agent: str) -> tuple[list[Message], SessionInfo, list[str]]:
    """All that is made of a file, texts that memory does not hold included."""
    log = open_session(path, agent)
    log.refresh()
    return list(log.messages), log.info, [log.body(message) for message in log.messages]


def same_both_ways(path: Path, agent: str) -> None:
    short = known(path, agent)
    with the_long_way():
        long = known(path, agent)
    assert short == long, path


def followed_both_ways(path: Path, agent: str, data: bytes, cuts: list[int]) -> None:
    """The same in a file that grows, so that messages were seen before something more was learned of them."""

    def grow() -> tuple[list[Message], SessionInfo]:
        path.write_bytes(b"")
        log: SessionLog | None = None
        start = 0
        for end in [*sorted(cuts), len(data)]:
            with path.open("ab") as file:
                file.write(data[start:end])
            start = max(start, end)
            log = log or (open_session(path, agent))
            log.refresh()
        assert log is not None
        return list(log.messages), log.info

    short = grow()
    with the_long_way():
        assert short == grow()


@pytest.mark.parametrize("items", [False, True])
def test_of_a_codex_session_hardly_a_record_is_left_to_the_long_way(
    tmp_path: Path, left: list[int], items: bool
) -> None:
    path = make_codex(300_000, tmp_path, items=items)
    log = open_session(path)
    log.refresh()
    assert len(left) < log.info.records / 10


def test_of_a_claude_session_hardly_a_record_is_left_to_the_long_way(tmp_path: Path, left: list[int]) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    make_claude(300_000, path)
    log = open_session(path)
    log.refresh()
    assert len(left) < log.info.records / 10


@pytest.mark.parametrize("items", [False, True])
def test_a_long_codex_session_is_the_same_both_ways(tmp_path: Path, items: bool) -> None:
    same_both_ways(make_codex(400_000, tmp_path, items=items), "codex")


def test_a_long_claude_session_is_the_same_both_ways(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    make_claude(400_000, path)
    same_both_ways(path, "claude")


def ordinary() -> Rollout:
    """What sessions consist of, and what comes close to it without being it."""
    session = Rollout()
    session.turn(1)
    session.prompt("mach es gr\u00fcn \u2028 \u7eff\u8272")
    session.item("reasoning", summary=[], content=None, encrypted_content="ABC")
    session.item("reasoning", summary=[], content=None, encrypted_content="DEF", id="rs_1")
    session.event("agent_reasoning", text="hm")
    session.item("reasoning", summary=[{"type": "summary_text", "text": "hm"}, {"type": "summary_text", "text": ""}])
    session.say("looking \U0001f600 ")
    session.run("c1", "ls", workdir="/srv/other")
    session.run("c2", "make", workdir=None, cwd="/srv/shop")
    session.run("c3", "apply_patch <<'E'\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nE")
    session.used(
        100, cached=60, limits={"primary": {"used_percent": 3, "window_minutes": 300, "resets_at": 1772370000}}
    )
    session.again()
    session.event("token_count", info=None, rate_limits={"primary": {"used_percent": 100.0}, "secondary": None})
    session.output("c1", ended(0, "a\n" * 700))
    session.event("exec_command_end", call_id="c1", exit_code=3, duration={"secs": 1, "nanos": 5})
    session.event("exec_command_end", call_id="c2", exit_code=0, duration={"secs": 2, "nanos": 0})
    session.output("c2", f"Command: make\n{ended(2, 'boom')}")
    session.output("c3", ended(0, "Success. Updated the following files:\nA a\n"))
    session.output("c4", ended(0, "before its call"))
    session.run("c4", "late")
    session.call("c5", "exec_command", cmd=["bash", "-lc", "ls"], session_id=5)
    session.output("c5", "Wall time: 0.5 seconds\nProcess running with session ID 7\nOutput:\n")
    session.call("c6", "write_stdin", session_id=7, chars="q")
    session.output("c6", [{"type": "input_text", "text": ended(1, "x")}])
    session.patch("c7", "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n")
    session.output("c7", "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nSuccess.", custom=True)
    session.script("c8", 'text(await tools.exec_command({cmd: "a"}))')
    session.done("CommandExecution", id="e1", command=["a"], exit_code=1, duration={"secs": 0, "nanos": 9})
    session.output("c8", [{"type": "input_text", "text": "Script completed\n"}], custom=True)
    session.run("c9", "echo")
    session.done("CommandExecution", id="c9", exit_code=0, duration={"secs": 0, "nanos": 9}, aggregated_output="x")
    session.output("c9", ended(0, "x"))
    session.done("AgentMessage", id="m1", content=[{"type": "Text", "text": "one"}, {"type": "Text", "text": "two"}])
    session.item("message", role="assistant", id="m1", content=[{"type": "output_text", "text": "one\ntwo"}])
    session.done("UserMessage", id="u1", content=[{"type": "text", "text": "blue please"}])
    session.given("blue please", "<environment_context>\nx\n</environment_context>")
    session.add(
        "token_usage_record", usage={"input_tokens": 7, "output_tokens": 2}, thread_token_usage={"input_tokens": 9}
    )
    session.say("under the id of a call", id="c10")
    session.run("c10", "under the id of an answer")
    session.event("task_complete", turn_id="t", last_agent_message="two")
    session.run("c1", "ls", workdir="/srv/other")
    session.turn(2, cwd="/srv/there", model="gpt-y")
    session.run("c1", "something else under the same id")
    session.output("c1", ended(0, "of the same id"))
    session.event("error", message="You've hit your usage limit.")
    session.event("user_message", message="more")
    return session


JSON = codex.JSON | st.sampled_from(["c1", "c2", "m1", "mcp__notes", ended(1), '{"cmd":"ls"}', "{", 1 << 70, -1, True])


def spots(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a record where something stands: what holds it, and under which key."""
    inside = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    return [spot for key, inner in inside for spot in [(value, key), *spots(inner)]]


def altered(records: list[Record], changes: list[tuple[int, int, Any]], order: list[int]) -> bytes:
    """Records in another order, some of them twice or not at all, with something else where they held a value."""
    copies: list[Record] = [json.loads(json.dumps(records[number % len(records)])) for number in order]
    for number, place, value in changes:
        found = spots(copies[number % len(copies)])
        holder, key = found[place % len(found)]
        holder[key] = value
    return b"".join(line(record) + b"\n" for record in copies)


CHANGES = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60), JSON), max_size=4)
ROWS = st.lists(st.integers(0, 70), max_size=12)


def variations(count: int) -> st.SearchStrategy[list[int]]:
    """All records in their order but for a few that come again or come elsewhere."""

    def mixed(seed: int, more: list[int]) -> list[int]:
        order, chance = list(range(count)), random.Random(seed)
        for number in more:
            order.insert(chance.randrange(len(order)), number % count)
        for _ in range(chance.randrange(6)):
            del order[chance.randrange(1, len(order))]
        return order

    return st.builds(mixed, st.integers(0, 1 << 30), ROWS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ways")


@given(order=variations(70), changes=CHANGES, cuts=st.lists(st.integers(0, 20_000), max_size=5))
def test_whatever_stands_in_a_codex_record_both_ways_make_the_same_of_it(
    folder: Path, order: list[int], changes: list[tuple[int, int, Any]], cuts: list[int]
) -> None:
    session = ordinary()
    path = folder / session.name
    data = altered(session.records, changes, order)
    path.write_bytes(data)
    same_both_ways(path, "codex")
    followed_both_ways(path, "codex", data, [cut % len(data) for cut in cuts])


@given(order=variations(40), changes=CHANGES, cuts=st.lists(st.integers(0, 20_000), max_size=5))
def test_whatever_stands_in_a_claude_record_both_ways_make_the_same_of_it(
    folder: Path, order: list[int], changes: list[tuple[int, int, Any]], cuts: list[int]
) -> None:
    script = claude.rich()
    path = folder / f"{script.session}.jsonl"
    data = altered(script.records, changes, order)
    path.write_bytes(data)
    same_both_ways(path, "claude")
    followed_both_ways(path, "claude", data, [cut % len(data) for cut in cuts])


def test_real_files_are_the_same_both_ways(shared_dir: Path) -> None:
    for agent, name in (("codex", "codex"), ("claude", "claude-code")):
        for path in sorted((shared_dir / "corpus" / name).rglob("*.jsonl")):
            same_both_ways(path, agent)
