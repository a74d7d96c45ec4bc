"""What readers of such files are reported to get wrong, where no other test of this folder holds it already.

``README.md`` beside this says for every report which test answers it, or why none does.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from claude_records import SESSION, Script, balanced, bash, by_kind, call, finished, line, read, texts
from codex_records import Rollout, ended, identity
from shop import card, edit, opened, session_of, task_of

from workbench.services import history, produced, sessions
from workbench.sessions import SessionLog, discover
from workbench.sessions.claude.format import ClaudeFormat


def in_context(log: SessionLog) -> list[str]:
    return [m.text for m in log.messages if m.in_context and not m.hidden]


def test_a_damaged_file_of_a_sub_agent_blocks_nothing(repo: Path, tmp_path: Path) -> None:
    script = Script(cwd=str(repo))
    script.prompt("have it looked up")
    script.say("m1", call("t1", "Task", prompt="look"), call("t2", "Task", prompt="look again"))
    for number, name in enumerate(("one", "two"), 1):
        script.result(f"t{number}", "seen", twin={"agentId": name, "status": "completed"})
    script.say("m2", bash("b1", "npm run build"))
    script.result("b1", "built", twin=finished())
    folder = tmp_path / SESSION / "subagents"
    folder.mkdir(parents=True)
    (folder / "agent-one.jsonl").write_bytes(b'\x00\x00{"type": \n[[[\xff\n')
    child = Script(cwd=str(repo))
    child.prompt("look again", isSidechain=True, agentId="two")
    child.say("s1", bash("b2", "npm test"), isSidechain=True, agentId="two")
    child.result("b2", "4 passed", twin=finished(), isSidechain=True, agentId="two")
    child.write(folder, "agent-two.jsonl")
    ctx = opened(repo)
    task = task_of(ctx)
    sessions.attach(ctx, task, str(script.write(tmp_path)))
    commands = {row.evidence.command for row in card(ctx).evidence if row.evidence.kind == "command"}
    assert commands == {"npm run build", "npm test"}
    assert len(history.show(ctx, task).messages) == 7


def test_what_was_not_finished_before_a_truncation_is_glued_to_nothing(tmp_path: Path) -> None:
    script = Script()
    script.prompt("one")
    script.prompt("two")
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_bytes(script.data()[:-20])
    log = SessionLog(path, ClaudeFormat())
    log.refresh()
    assert (texts(log), log.info.unfinished > 0) == (["one"], True)
    other = Script()
    other.prompt("a")
    path.write_bytes(other.data())
    assert log.refresh().reset
    assert (texts(log), log.info.unfinished, log.info.unreadable) == (["a"], 0, 0)


def test_records_of_compactions_that_dominate_a_file_take_no_memory(tmp_path: Path) -> None:
    session = Rollout()
    session.turn()
    session.prompt("begin")
    for number in range(12):
        past = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "long " * 40_000}]}]
        session.add("compacted", message=f"summary {number}", replacement_history=past)
    session.prompt("go on")
    log = session.read(tmp_path)
    assert in_context(log) == ["summary 11", "go on"]
    assert log.info.compactions == 12
    assert sum(len(message.text) for message in log.messages) < 1000


def test_a_snapshot_that_bears_a_messages_id_is_not_that_message(tmp_path: Path) -> None:
    script = Script()
    asked = script.prompt("make it green")["uuid"]
    script.meta("file-history-snapshot", messageId=asked, snapshot={"trackedFileBackups": {}}, isSnapshotUpdate=False)
    script.say("m1", "green")
    script.meta("file-history-snapshot", messageId=asked, snapshot={"trackedFileBackups": {}}, isSnapshotUpdate=True)
    script.prompt("thanks")
    script.meta("file-history-snapshot", messageId=script.last, snapshot={})
    log = script.read(tmp_path)
    assert in_context(log) == ["make it green", "green", "thanks"]
    assert balanced(log)


def test_the_order_is_the_files_and_not_the_clocks(tmp_path: Path) -> None:
    script = Script()
    script.prompt("one", timestamp="2026-03-01T10:00:09.000Z")
    script.say("m1", "two", timestamp="2026-03-01T10:00:01.000Z")
    script.prompt("three", timestamp="nonsense")
    script.say("m2", "four", timestamp="2026-03-01T10:00:05.000Z")
    log = script.read(tmp_path)
    assert texts(log) == ["one", "two", "three", "four"]
    assert in_context(log) == texts(log)
    assert log.info.updated_at == "2026-03-01T10:00:09.000Z"


def test_a_branch_made_after_a_compaction_begins_after_it(tmp_path: Path) -> None:
    script = Script("22222222-2222-4333-8444-555555555555")
    fork = {"forkedFrom": {"sessionId": SESSION, "messageUuid": "x"}}
    script.prompt("old question", **fork)
    script.say("m1", "old answer", **fork)
    script.add("system", subtype="compact_boundary", parent=None, compactMetadata={"trigger": "manual"}, **fork)
    script.prompt("summary of the old", isCompactSummary=True, **fork)
    script.prompt("and now otherwise")
    script.say("m2", "gladly")
    log = script.read(tmp_path)
    shown = [text for text in in_context(log) if not text.startswith("Conversation compacted")]
    assert shown == ["summary of the old", "and now otherwise", "gladly"]
    assert log.info.forked_from == SESSION


def test_a_gap_stays_a_gap(tmp_path: Path) -> None:
    script = Script()
    script.prompt("go into the other folder")
    script.say("m1", bash("c1", "cd ../other"))
    script.prompt("and?", cwd="/srv/other")
    script.prompt("are you there?", cwd="/srv/other")
    log = script.read(tmp_path)
    assert [m.role for m in log.messages] == ["user", "assistant", "user", "user"]
    assert log.info.open_calls == ("c1",)
    assert log.info.cwds == ("/srv/shop", "/srv/other")


def test_a_history_replayed_into_another_file_has_the_same_ids_and_is_no_second_work(
    repo: Path, tmp_path: Path
) -> None:
    script = Script(cwd=str(repo))
    script.prompt("write it")
    path = str(repo / "src/new.ts")
    script.say("m1", call("c1", "Write", file_path=path, content="one\n"), usage={"input_tokens": 9})
    twin = {"type": "create", "filePath": path, "content": "one\n", "structuredPatch": []}
    script.result("c1", "done", twin=twin)
    ctx = opened(repo)
    task = task_of(ctx)
    sessions.attach(ctx, task, str(script.write(tmp_path)))
    again = Script("33333333-2222-4333-8444-555555555555", cwd=str(repo))
    again.records = [record | {"sessionId": again.session, "sessionKind": "bg"} for record in script.records]
    copy = again.write(tmp_path)
    sessions.attach(ctx, task, str(copy))
    assert [m.id for m in read(copy).messages] == [record["uuid"] for record in script.records]
    (artifact,) = produced.of_current(ctx)
    assert [version.number for version in artifact.versions] == [1]
    assert len([row for row in card(ctx).evidence if row.evidence.kind == "file_change"]) == 1


@pytest.mark.parametrize("kind", ["pr-link", "summary", "mode", "file-history-snapshot", "never-heard-of"])
def test_any_record_may_come_first_and_the_folder_later(tmp_path: Path, repo: Path, kind: str) -> None:
    script = Script(cwd=str(repo))
    for _ in range(30):
        script.meta(kind, messageId="x", summary="About the shop", leafUuid="elsewhere")
    script.prompt("hello")
    folder = tmp_path / "projects" / "-any-name"
    folder.mkdir(parents=True)
    path = script.write(folder)
    assert texts(read(path)) == ["hello"]
    found = discover([repo], {"CLAUDE_CONFIG_DIR": str(tmp_path), "HOME": str(tmp_path)})
    assert [(session.id, session.path) for session in found] == [(SESSION, path)]


@pytest.mark.parametrize("code", [-1, 1, 137])
def test_any_exit_code_but_zero_is_a_failure(tmp_path: Path, code: int) -> None:
    session = Rollout()
    session.turn()
    session.prompt("run it three ways")
    session.run("c1", "make")
    session.output("c1", ended(code))
    session.run("c2", "make")
    session.event("exec_command_end", call_id="c2", exit_code=code)
    session.output("c2", "")
    session.call("c3", "shell", command=["make"])
    session.output("c3", {"output": "x", "metadata": {"exit_code": code}})
    log = session.read(tmp_path)
    found = [(m.result.status, m.result.exit_code) for m in log.messages if m.result is not None]
    assert found == [("failed", code)] * 3


def test_arguments_that_are_no_json_are_kept_as_they_are(tmp_path: Path) -> None:
    session = Rollout()
    session.turn()
    session.item("function_call", name="exec_command", arguments='{"cmd": "ls', call_id="c1")
    session.output("c1", "failed to parse arguments")
    log = session.read(tmp_path)
    (made,) = by_kind(log, "tool_call")
    assert made.call is not None
    assert (made.call.args, made.call.command, made.text) == ('{"cmd": "ls', None, '{"cmd": "ls')
    assert log.info.open_calls == ()


SEALED = "c2VhbGVkIHRob3VnaHRz" * 9


def test_sealed_thoughts_and_signatures_are_in_no_text(tmp_path: Path) -> None:
    script = Script()
    script.prompt("think")
    script.say("m1", {"type": "thinking", "thinking": "so", "signature": SEALED}, "said")
    script.say("m2", {"type": "redacted_thinking", "data": SEALED})
    session = Rollout()
    session.turn()
    session.item("reasoning", summary=[{"type": "summary_text", "text": "so"}], encrypted_content=SEALED)
    session.item("compaction", encrypted_content=SEALED)
    for log in (script.read(tmp_path), session.read(tmp_path)):
        for message in log.messages:
            assert SEALED not in message.text
            assert SEALED not in log.body(message)
        assert [m.text for m in by_kind(log, "thinking") if not m.hidden] == ["so"]


def test_a_line_of_many_megabytes_is_read_and_shown_by_its_beginning(tmp_path: Path) -> None:
    script = Script()
    script.prompt("look at the picture")
    script.say("m1", bash("c1", "cat picture"))
    script.result("c1", "x" * (6 << 20), twin=finished(stdout="x" * (6 << 20)))
    script.prompt("and now?")
    log = script.read(tmp_path)
    assert texts(log)[-1] == "and now?"
    assert [(len(m.text) < 20_000, m.size) for m in log.messages if m.result] == [(True, 6 << 20)]
    assert len(log.body(by_kind(log, "tool_result")[0])) == 6 << 20
    assert log.info.oversized == 0


def test_nothing_is_written_beside_or_into_a_session(repo: Path, tmp_path: Path) -> None:
    session = session_of(repo)
    edit(session, 1, "src/a.ts")
    ctx = opened(repo)
    task = task_of(ctx)
    path = session.write(tmp_path)
    path.write_bytes(path.read_bytes() + b'{"torn": ')
    path.chmod(0o444)
    before = (path.read_bytes(), path.stat().st_mtime_ns, sorted(tmp_path.iterdir()))
    sessions.attach(ctx, task, str(path))
    history.show(ctx, task)
    card(ctx)
    assert (path.read_bytes(), path.stat().st_mtime_ns, sorted(tmp_path.iterdir())) == before


def test_a_fork_of_a_fork_counts_only_its_own(tmp_path: Path) -> None:
    grand, parent, own = identity(100), identity(300), identity(900)
    fork = Rollout(own, forked_from_id=parent)
    fork.add("session_meta", id=parent, forked_from_id=grand, cwd="/srv/shop")
    for turn, tokens in ((150, 100), (350, 200), (950, 300)):
        fork.event("task_started", turn_id=identity(turn))
        fork.prompt(f"turn {turn}")
        fork.say("yes")
        fork.used(tokens)
    log = fork.read(tmp_path)
    assert (log.info.usage.context, log.info.last_context) == (300, 300)
    assert line(fork.records[0]) in log.path.read_bytes()


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_an_unknown_record_is_the_same_whatever_the_order_of_its_keys(tmp_path: Path, agent: str) -> None:
    records = (
        b'{"type":"novelty","sessionId":"x","a":{"b":1,"c":2}}',
        b'{"a":{"c":2,"b":1},"sessionId":"x","type":"novelty"}',
    )
    found = []
    for number, record in enumerate(records):
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(record + b"\n")
        (message,) = read(path, agent).messages
        found.append((message.kind, message.id.replace(f"{number}", "n"), message.text))
    assert found[0][0] == "unknown"
    assert found[0][2] == found[1][2]


def test_every_test_that_the_table_names_is_there() -> None:
    table = Path(__file__).with_name("README.md").read_text("utf-8")
    named = set(re.findall(r"`(test_\w+)`", table))
    tests = "\n".join(path.read_text("utf-8") for path in Path(__file__).parents[1].rglob("test_*.py"))
    there = set(re.findall(r"def (test_\w+)\(", tests)) | {path.stem for path in Path(__file__).parent.iterdir()}
    assert named - there == set()
