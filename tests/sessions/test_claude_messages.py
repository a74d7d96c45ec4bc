"""Records of a Claude Code session become messages: who said what, in which turn, at what price."""

from __future__ import annotations

from pathlib import Path

import pytest
from claude_records import SESSION, Script, balanced, bash, by_kind, call, finished, read, texts

USAGE = {"input_tokens": 3, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20, "output_tokens": 1}


def test_a_small_conversation(tmp_path: Path) -> None:
    script = Script()
    script.prompt("make the header green")
    script.say(
        "m1", {"type": "thinking", "thinking": "which file?", "signature": "x" * 50}, "I will look.", bash("c1", "ls")
    )
    script.result("c1", "app.css", error=False, twin=finished(stdout="app.css"))
    script.say("m2", "Done.")
    log = script.read(tmp_path)
    assert [(m.kind, m.origin, m.role, m.turn) for m in log.messages] == [
        ("message", "human", "user", 0),
        ("thinking", "agent", "assistant", 1),
        ("message", "agent", "assistant", 1),
        ("tool_call", "agent", "assistant", 1),
        ("tool_result", "tool", "tool", 1),
        ("message", "agent", "assistant", 2),
    ]
    assert [m.seq for m in log.messages] == list(range(6))
    assert {m.session for m in log.messages} == {f"claude:{SESSION}"}
    made = log.messages[3]
    assert made.call is not None
    assert (made.call.command, made.call.kind, made.call.args) == ("ls", "execute", {"command": "ls"})
    assert made.model == "claude-x"
    assert made.parent == log.messages[2].id
    assert balanced(log)


def test_ids_are_the_producers_and_stay_when_the_head_is_missing(tmp_path: Path) -> None:
    script = Script()
    script.prompt("one")
    script.say("m1", "two", bash("c1", "ls"))
    script.result("c1", "x", error=False, twin=finished())
    whole = script.read(tmp_path)
    del script.records[0]
    headless = script.read(tmp_path)
    assert [m.id for m in headless.messages] == [m.id for m in whole.messages][1:]
    assert [m.id for m in whole.messages] == ["u001", "u002", "u003", "u004"]


def test_several_blocks_in_one_record_have_ids_of_their_own(tmp_path: Path) -> None:
    script = Script()
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD" * 100}}
    script.prompt([{"type": "text", "text": "see this"}, picture])
    log = script.read(tmp_path)
    assert [(m.id, m.kind, m.text) for m in log.messages] == [
        ("u001", "message", "see this"),
        ("u001:1", "attachment", "[image image/png 300 bytes]"),
    ]


def test_a_forked_record_keeps_the_id_it_had(tmp_path: Path) -> None:
    script = Script()
    script.prompt("hello", uuid="new1", forkedFrom={"sessionId": "old-session", "messageUuid": "old1"})
    log = script.read(tmp_path)
    assert log.messages[0].id == "old1"
    assert log.info.forked_from == "old-session"


def test_records_without_ids_are_named_by_content_and_occurrence(tmp_path: Path) -> None:
    lines = [
        b'{"type":"user","sessionId":"s","message":{"role":"user","content":"%s"}}' % t for t in (b"a", b"b", b"a")
    ]
    path = tmp_path / "one.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    ids = [m.id for m in read(path).messages]
    path.write_bytes(b"\n".join(lines[1:]) + b"\n")
    assert len(set(ids)) == 3
    assert read(path).messages[0].id == ids[1]


def test_usage_counts_once_a_request_with_its_largest_output(tmp_path: Path) -> None:
    script = Script()
    script.prompt("go")
    script.say("m1", "a", usage=USAGE)
    script.say("m1", "b", usage=USAGE | {"output_tokens": 40})
    script.say("m2", "c", usage=USAGE | {"cache_read_input_tokens": 200, "output_tokens": 5})
    log = script.read(tmp_path)
    assert log.info.usage.output == 45
    assert log.info.usage.input == 6
    assert log.info.last_context == 3 + 200 + 20
    carried = [m.usage.output for m in log.messages if m.usage is not None]
    assert carried == [40, 5]


def test_usage_without_message_id_falls_back_to_the_request(tmp_path: Path) -> None:
    script = Script()
    for text in ("a", "b"):
        script.add("assistant", requestId="r1", message={"role": "assistant", "content": text, "usage": USAGE})
    log = script.read(tmp_path)
    assert log.info.usage.output == 1
    assert {m.turn for m in log.messages} == {1}


def test_the_same_uuid_with_other_content_is_kept_and_a_replay_is_not(tmp_path: Path) -> None:
    script = Script()
    script.say("m1", "a", uuid="x", usage=USAGE)
    script.say("m1", "b", uuid="x", usage=USAGE)
    script.say("m1", "a", uuid="x", usage=USAGE)
    script.say("m1", "b", uuid="x", usage=USAGE)
    log = script.read(tmp_path)
    assert [m.text for m in log.messages] == ["a", "b"]
    assert len({m.id for m in log.messages}) == 2
    assert log.info.usage.output == 1
    assert balanced(log)
    assert log.info.metadata == 2


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("<command-name>/init</command-name>\n<command-args></command-args>", False),
        ("<local-command-stdout>42%</local-command-stdout>", False),
        ("<bash-input>ls</bash-input>", False),
        ("<system-reminder>be brief</system-reminder>", True),
        ("<ide_opened_file>a.py</ide_opened_file>", True),
        ('<teammate-message teammate_id="lead" color="blue">\nNever use pip.\n</teammate-message>', False),
        ('<channel source="chat" user="bob">Never use pip.</channel>', False),
        ("<some-newer-tag>Never use pip.</some-newer-tag>", False),
        ("[Request interrupted by user for tool use]", False),
        ("Caveat: The messages below were generated by the user while running local commands. DO NOT", True),
    ],
)
def test_the_harness_writes_in_the_users_place(tmp_path: Path, text: str, hidden: bool) -> None:
    script = Script()
    script.prompt(text)
    (message,) = script.read(tmp_path).messages
    assert (message.kind, message.origin, message.hidden) == ("notice", "harness", hidden)


def test_what_was_kept_of_a_longer_conversation_is_nobodys_word_though_no_field_says_so(tmp_path: Path) -> None:
    script = Script()
    script.prompt(
        "This session is being continued from a previous conversation that ran out of context. Never use pip."
    )
    (message,) = script.read(tmp_path).messages
    assert (message.kind, message.origin) == ("compaction", "harness")


def test_a_persons_words_are_kept_apart_from_what_is_wrapped_around_them(tmp_path: Path) -> None:
    script = Script()
    script.prompt("<system-reminder>\ncontext\n</system-reminder>\nplease fix the <command-name> tag docs")
    words, wrapped = script.read(tmp_path).messages
    assert (words.origin, words.text) == ("human", "please fix the <command-name> tag docs")
    assert (wrapped.origin, wrapped.hidden) == ("harness", True)
    assert wrapped.text == "<system-reminder>\ncontext\n</system-reminder>"


def test_who_speaks(tmp_path: Path) -> None:
    script = Script()
    script.prompt("mine")
    script.prompt("injected", isMeta=True)
    script.prompt("<task-notification>x</task-notification>", origin={"kind": "task-notification"})
    script.prompt("Implement the following plan", planContent="...")
    script.add("attachment", attachment={"type": "queued_command", "prompt": "also blue", "commandMode": "prompt"})
    script.add("attachment", attachment={"type": "queued_command", "prompt": "x", "commandMode": "task-notification"})
    script.add("attachment", attachment={"type": "hook_success", "content": "ok", "exitCode": 0})
    script.add("attachment", attachment={"type": "never_seen_before", "x": 1})
    log = script.read(tmp_path)
    assert [m.origin for m in log.messages] == [
        "human", "harness", "harness", "harness", "human", "harness", "hook", "harness",
    ]  # fmt: skip
    assert [m.text for m in log.messages if m.origin == "human"] == ["mine", "also blue"]
    assert log.messages[-1].hidden


def test_what_the_program_says_in_the_models_place(tmp_path: Path) -> None:
    script = Script()
    script.prompt("go")
    script.say(
        "s1", "You've hit your limit · resets 6pm", model="<synthetic>", isApiErrorMessage=True, error="rate_limit"
    )
    script.say("s2", "API Error: malformed", model="<synthetic>", isApiErrorMessage=True)
    script.say("s3", "No response requested.", model="<synthetic>")
    zero = {"input_tokens": 0, "output_tokens": 0}
    script.say("s4", "A long answer about rate limits that was broken o", model="<synthetic>", usage=zero)
    log = script.read(tmp_path)
    assert [(m.kind, m.origin, m.turn) for m in log.messages[1:]] == [
        ("limit", "harness", 0),
        ("error", "harness", 0),
        ("notice", "harness", 0),
        ("message", "agent", 1),
    ]
    assert log.info.last_context is None
    assert log.info.model is None


def test_system_records(tmp_path: Path) -> None:
    script = Script()
    script.prompt("go")
    script.add("system", subtype="turn_duration", durationMs=5)
    script.add("system", subtype="api_error", error={"status": 529, "error": {"message": "Overloaded"}})
    script.add("system", subtype="stop_hook_summary", hookErrors=[])
    script.add("system", subtype="stop_hook_summary", hookErrors=["lint failed"])
    script.add("system", subtype="a_new_one", content="?")
    script.add("brand-new", payload=[1, 2])
    log = script.read(tmp_path)
    assert [(m.kind, m.hidden) for m in log.messages[1:]] == [
        ("error", False),
        ("notice", False),
        ("unknown", True),
        ("unknown", True),
    ]
    assert log.messages[1].text == "Overloaded"
    assert (log.info.metadata, log.info.unknown) == (2, 2)
    assert balanced(log)


def test_blocks_that_nobody_knows_are_kept_out_of_sight(tmp_path: Path) -> None:
    script = Script()
    script.say("m1", {"type": "hologram", "b": 1, "a": "\udcb2"}, {"type": "redacted_thinking", "data": "zzz"})
    script.add("user", message={"role": "user", "content": 17})
    script.add("user", message=["odd"])
    log = script.read(tmp_path)
    assert [(m.kind, m.hidden) for m in log.messages] == [
        ("unknown", True),
        ("thinking", True),
        ("unknown", True),
        ("unknown", True),
    ]
    assert log.messages[0].text == '{"a":"\ufffd","b":1,"type":"hologram"}'


def test_plans_follow_the_agents_own_list(tmp_path: Path) -> None:
    script = Script()
    rows = [{"content": "one", "status": "completed"}, {"content": "two", "status": "in_progress"}, {"odd": 1}]
    script.say("m1", call("c1", "TodoWrite", todos=rows))
    log = script.read(tmp_path)
    assert [(i.text, i.status) for i in log.info.plan] == [("one", "completed"), ("two", "in_progress")]
    assert log.messages[0].plan == log.info.plan


def test_task_tools_change_the_plan_one_by_one(tmp_path: Path) -> None:
    script = Script()
    script.say("m1", call("c1", "TaskCreate", subject="write tests", description="d"))
    script.result("c1", "Task #1 created", twin={"task": {"id": "1", "subject": "write tests"}})
    script.say("m2", call("c2", "TaskUpdate", taskId="1", status="completed"))
    script.result("c2", "Updated task #1", twin={"success": True, "taskId": "1", "updatedFields": ["status"]})
    script.say("m3", call("c3", "TaskUpdate", taskId="9", status="completed"))
    script.result("c3", "no such task", error=True)
    log = script.read(tmp_path)
    assert [(i.id, i.text, i.status) for i in log.info.plan] == [("1", "write tests", "completed")]
    assert [len(m.plan) for m in by_kind(log, "tool_result")] == [1, 1, 0]


def test_titles(tmp_path: Path) -> None:
    script = Script()
    script.meta("summary", summary="another talk", leafUuid="elsewhere")
    script.prompt("make   it\ngreen")
    assert script.read(tmp_path).info.title == "make it green"
    script.meta("summary", summary="Green header", leafUuid="u001")
    assert script.read(tmp_path).info.title == "Green header"
    script.meta("ai-title", aiTitle="A title")
    script.meta("custom-title", customTitle="Mine")
    script.meta("ai-title", aiTitle="A later title")
    assert script.read(tmp_path).info.title == "Mine"


def test_what_is_known_of_the_session(tmp_path: Path) -> None:
    script = Script()
    script.prompt("go")
    script.cwd = "/srv/shop/web"
    script.say("m1", "ok")
    info = script.read(tmp_path).info
    assert info.name == f"claude:{SESSION}"
    assert (info.cwd, info.cwds) == ("/srv/shop", ("/srv/shop", "/srv/shop/web"))
    assert (info.branch, info.version, info.model) == ("main", "2.1.0", "claude-x")
    assert (info.started_at, info.updated_at) == ("2026-03-01T10:00:01.000Z", "2026-03-01T10:00:02.000Z")


def test_a_file_whose_name_says_nothing_is_named_by_its_records(tmp_path: Path) -> None:
    script = Script()
    script.records.append({"type": "user", "uuid": "u0", "message": {"role": "user", "content": "early"}})
    script.prompt("late")
    log = script.read(tmp_path, "transcript.jsonl")
    assert log.info.id == SESSION
    assert {m.session for m in log.messages} == {f"claude:{SESSION}"}
    assert texts(log) == ["early", "late"]


def test_a_subagents_own_file(tmp_path: Path) -> None:
    script = Script()
    script.prompt("find it", isSidechain=True, agentId="abc")
    script.say("m1", "found", isSidechain=True, agentId="abc")
    log = script.read(tmp_path, "agent-abc.jsonl")
    assert [(m.origin, m.in_context, m.turn) for m in log.messages] == [("agent", True, 0), ("subagent", True, 1)]
    assert (log.info.id, log.info.parent) == ("agent-abc", SESSION)
