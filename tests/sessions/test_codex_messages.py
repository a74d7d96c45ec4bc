"""What a Codex session says: each thing once, by whom, in which turn, at what price."""

from __future__ import annotations

from pathlib import Path

import pytest
from claude_records import balanced, by_kind, read, texts
from codex_records import SESSION, Rollout, identity

from workbench.sessions import open_session


def test_what_both_families_of_records_say_is_one_message(tmp_path: Path) -> None:
    session = Rollout()
    session.prompt("make it green")
    session.event("agent_reasoning", text="green is a colour")
    session.item("reasoning", summary=[{"type": "summary_text", "text": "green is a colour"}], encrypted_content="x")
    session.say("done")
    session.prompt("make it green")
    session.say("done")
    log = session.read(tmp_path)
    assert texts(log) == ["make it green", "green is a colour", "done", "make it green", "done"]
    assert len({m.id for m in log.messages}) == 5
    assert balanced(log)
    assert log.info.title == "make it green"


def test_events_alone_and_items_alone_are_read(tmp_path: Path) -> None:
    events = Rollout()
    events.event("user_message", message="hello")
    events.event("agent_message", message="hi")
    items = Rollout()
    items.given("hello")
    items.say("hi", event=False)
    assert texts(events.read(tmp_path)) == texts(items.read(tmp_path, "other.jsonl")) == ["hello", "hi"]


def test_the_newer_family_has_ids_of_its_own(tmp_path: Path) -> None:
    session = Rollout()
    session.given("hello", id="msg_1")
    session.done("UserMessage", id="u1", content=[{"type": "text", "text": "hello"}])
    session.done("AgentMessage", id="msg_2", content=[{"type": "Text", "text": "hi"}])
    session.say("hi", event=False, id="msg_2")
    session.done("Reasoning", id="rs_1", summary_text=[], raw_content=[])
    log = session.read(tmp_path)
    assert [(m.id, m.text) for m in log.messages] == [("msg_1", "hello"), ("msg_2", "hi")]


def test_the_words_are_taken_out_of_what_an_editor_wraps_around_them(tmp_path: Path) -> None:
    session = Rollout()
    session.given("# Context from my editor\n## Open file: a.py\n\n## My request:\nmake it green\n")
    session.event("user_message", message="make it green")
    log = session.read(tmp_path)
    (prompt,) = log.messages
    assert (prompt.text, prompt.origin) == ("make it green", "human")
    assert log.body(prompt) == "make it green"


def test_what_an_editor_selected_is_not_the_persons_word(tmp_path: Path) -> None:
    around = (
        "# Context from my IDE setup:\n\n## Active file: notes.md\n\n## Active selection of the file:\n"
        "Never use pip.\n\n## My request for Codex:\nNever use npm.\n\n"
    )
    session = Rollout()
    session.prompt(f"{around}## My request for Codex:\nfix the tests\n")
    session.prompt(around.replace("## My request for Codex:\n", ""))
    session.given("Another language model started to solve this problem and left this:\nNever use yarn.")
    log = session.read(tmp_path)
    assert [(m.text, m.kind) for m in log.messages if m.origin == "human"] == [("fix the tests", "message")]
    assert all("Never use" not in m.text for m in log.messages if not m.hidden)


def test_what_the_program_writes_in_the_users_place_is_not_the_person(tmp_path: Path) -> None:
    session = Rollout()
    session.given(
        "# AGENTS.md instructions for /srv/shop\n\nbe kind",
        "<environment_context>\n<cwd>/a</cwd>\n</environment_context>",
    )
    session.given("be brief", role="developer")
    session.given("<turn_aborted>\nstopped\n</turn_aborted>")
    session.given("<user_shell_command>\nls\n</user_shell_command>")
    session.given("<b>bold</b>")
    session.prompt("<b>is how one writes bold</b> is it not")
    session.given(
        "remember the milk",
        internal_chat_message_metadata_passthrough={"content_item_metadata": [{"provenance": {"type": "harness"}}]},
    )
    log = session.read(tmp_path)
    assert [(m.origin, m.kind, m.hidden) for m in log.messages] == [
        ("harness", "notice", True),
        ("harness", "notice", True),
        ("harness", "notice", True),
        ("harness", "notice", True),
        ("human", "notice", False),
        ("harness", "notice", True),
        ("human", "message", False),
        ("harness", "notice", True),
    ]


def test_a_turn_is_one_answer_with_its_calls(tmp_path: Path) -> None:
    session = Rollout()
    session.turn()
    session.prompt("go")
    session.say("looking")
    session.run("c1", "ls")
    session.run("c2", "pwd")
    session.used(100)
    session.output("c1", "a")
    session.output("c2", "b")
    session.say("that is all")
    session.used(200)
    log = session.read(tmp_path)
    assert [(m.kind, m.turn) for m in log.messages] == [
        ("message", 0),
        ("message", 1),
        ("tool_call", 1),
        ("tool_call", 1),
        ("tool_result", 1),
        ("tool_result", 1),
        ("message", 2),
    ]
    used = {m.text: m.usage.context for m in log.messages if m.usage}
    assert used == {"looking": 100, "that is all": 200}


def test_a_request_is_counted_once_however_often_it_is_repeated(tmp_path: Path) -> None:
    session = Rollout()
    session.say("one")
    session.event("token_count", info=None, rate_limits=None)
    session.used(1000, output=50, cached=800)
    session.again()
    session.say("two")
    session.used(2000, output=60, cached=1000)
    info = session.read(tmp_path).info
    assert (info.usage.input, info.usage.cache_read, info.usage.output) == (1200, 1800, 110)
    assert (info.last_context, info.window) == (2000, 100_000)


def test_the_record_and_the_event_of_one_request_are_one(tmp_path: Path) -> None:
    session = Rollout()
    session.say("one")
    last = {"input_tokens": 70, "output_tokens": 5}
    total = {"input_tokens": 70, "cached_input_tokens": 0, "output_tokens": 5, "total_tokens": 75}
    session.add("token_usage_record", usage=last, thread_token_usage=total, response_id="r1")
    session.event("token_count", info={"last_token_usage": last, "total_token_usage": total})
    info = session.read(tmp_path).info
    assert (info.usage.input, info.usage.output, info.unknown) == (70, 5, 0)


def test_figures_of_the_first_versions(tmp_path: Path) -> None:
    session = Rollout()
    session.say("one")
    session.event("token_count", info={"prompt": 1400, "completion": 90})
    info = session.read(tmp_path).info
    assert (info.last_context, info.usage.output) == (1400, 90)


def test_limits_and_when_they_end(tmp_path: Path) -> None:
    session = Rollout()
    primary = {"used_percent": 92.5, "window_minutes": 300, "resets_at": 1772370000}
    session.used(10, limits={"primary": primary, "secondary": {"used_percent": 4.0, "window_minutes": 10080}})
    five, week = session.read(tmp_path).info.limits
    assert (five.name, five.used, five.resets_at, five.reached) == ("5 h", 0.925, "2026-03-01T13:00:00Z", False)
    assert (week.name, week.used, week.resets_at) == ("7 d", 0.04, None)
    session.event("error", message="You've hit your usage limit.", codex_error_info="usage_limit_exceeded")
    log = session.read(tmp_path)
    assert [m.kind for m in log.messages] == ["limit"]
    assert [(limit.reached, limit.resets_at) for limit in log.info.limits][-1] == (True, "2026-03-01T13:00:00Z")


def test_seconds_to_wait_count_from_when_they_were_said(tmp_path: Path) -> None:
    session = Rollout()
    record = session.used(10, limits={"primary": {"used_percent": 100, "resets_in_seconds": 90}})
    record["timestamp"] = "2026-03-01T10:00:00Z"
    (limit,) = session.read(tmp_path).info.limits
    assert (limit.name, limit.reached, limit.resets_at) == ("primary", True, "2026-03-01T10:01:30Z")


def test_errors_and_interruptions_are_no_part_of_the_context(tmp_path: Path) -> None:
    session = Rollout()
    session.prompt("go")
    session.event("error", message="stream cut off")
    session.event("turn_aborted", reason="interrupted")
    log = session.read(tmp_path)
    assert [(m.kind, m.text, m.in_context) for m in log.messages] == [
        ("message", "go", True),
        ("error", "stream cut off", False),
        ("notice", "turn aborted: interrupted", False),
    ]


def test_folder_model_and_branch(tmp_path: Path) -> None:
    session = Rollout()
    session.turn(1, model="gpt-x")
    session.prompt("a")
    session.turn(2, cwd="/srv/shop/web", model="gpt-y")
    session.prompt("b")
    session.event("thread_name_updated", thread_name="Green shop")
    log = session.read(tmp_path)
    info = log.info
    assert info.cwds == ("/srv/shop", "/srv/shop/web")
    assert (info.model, info.branch, info.title, info.version) == ("gpt-y", "main", "Green shop", "0.140.0")
    assert [m.cwd for m in by_kind(log, "message")] == ["/srv/shop", "/srv/shop/web"]
    assert [m.text for m in by_kind(log, "mode_change")] == ["model gpt-x \u2192 gpt-y"]


def test_the_plan_as_it_stands(tmp_path: Path) -> None:
    session = Rollout()
    session.call("c1", "update_plan", plan=[{"step": "a", "status": "in_progress"}, {"step": "b", "status": "pending"}])
    session.output("c1", "Plan updated")
    session.call("c2", "update_plan", plan=[{"step": "a", "status": "completed"}, {"step": "b", "status": "odd"}])
    log = session.read(tmp_path)
    assert [(item.text, item.status) for item in log.info.plan] == [("a", "completed"), ("b", "pending")]
    first, second = by_kind(log, "tool_call")
    assert [item.status for item in first.plan] == ["in_progress", "pending"]
    assert [item.status for item in second.plan] == ["completed", "pending"]
    assert [m.result.status for m in by_kind(log, "tool_result")] == ["ok"]


def test_the_first_line_may_be_missing_or_broken(tmp_path: Path) -> None:
    session = Rollout()
    session.turn(1, cwd="/srv/shop")
    session.prompt("make it green")
    whole = session.read(tmp_path)
    session.records[0] = {"oops": 1}
    headless = session.write(tmp_path, "copy" + session.name)
    path = tmp_path / session.name
    path.write_bytes(
        b'{"timestamp":"2026-03-01T10:00:00Z","type":"session_me\n' + b"\n".join(headless.read_bytes().split(b"\n")[1:])
    )
    log = read(path)
    assert log.info.id == SESSION
    assert [m.id for m in log.messages] == [m.id for m in whole.messages]
    assert (log.info.cwd, log.info.unreadable) == ("/srv/shop", 1)


def test_a_name_that_says_nothing_gives_way_to_the_record(tmp_path: Path) -> None:
    session = Rollout()
    session.prompt("hello")
    session.records.append(session.records.pop(0))
    log = session.read(tmp_path, "transcript.jsonl")
    assert {m.session for m in log.messages} == {f"codex:{SESSION}"}
    assert log.info.id == SESSION


def test_a_sub_agent_is_spoken_to_by_an_agent_and_names_its_parent(tmp_path: Path) -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": identity(0), "depth": 1}}}
    session = Rollout(source=source, thread_source="subagent")
    session.prompt("look around")
    session.say("nothing here")
    log = session.read(tmp_path)
    assert [m.origin for m in log.messages] == ["agent", "subagent"]
    assert log.info.parent == identity(0)


def test_files_of_the_first_versions_have_no_envelope(tmp_path: Path) -> None:
    path = tmp_path / "rollout-2025-05-07T17-24-21-5973b6c0-94b8-487b-a530-2aeb6098ae0e.jsonl"
    path.write_text(
        '{"id":"5973b6c0-94b8-487b-a530-2aeb6098ae0e","timestamp":"2025-05-07T17:24:21Z","instructions":null,"git":{"branch":"b"}}\n'
        '{"record_type":"state"}\n'
        '{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\\n<cwd>/srv/shop</cwd>\\n</environment_context>"}]}\n'
        '{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}\n'
        '{"type":"function_call","name":"shell","arguments":"{\\"command\\":[\\"bash\\",\\"-lc\\",\\"ls\\"]}","call_id":"c1"}\n'
        '{"type":"function_call_output","call_id":"c1","output":"{\\"output\\":\\"a\\",\\"metadata\\":{\\"exit_code\\":0,\\"duration_seconds\\":0.5}}"}\n'
        '{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a is there"}]}\n'
    )
    log = read(path)
    assert texts(log)[0] == "hello"
    (result,) = by_kind(log, "tool_result")
    assert (result.text, result.result.exit_code, result.result.duration) == ("a", 0, 0.5)
    (call,) = by_kind(log, "tool_call")
    assert call.call.command == "ls"
    assert (log.info.cwd, log.info.branch, log.info.unknown) == ("/srv/shop", "b", 0)
    assert balanced(log)


def test_unknown_records_are_kept_out_of_sight(tmp_path: Path) -> None:
    session = Rollout()
    session.add("tomorrow", x=1)
    session.event("tomorrow", x=1)
    session.item("tomorrow", x=1)
    session.records.append({"type": "session_meta", "payload": "none"})
    session.records.append({"hello": "world"})
    log = session.read(tmp_path)
    assert log.info.unknown == 5
    assert all(m.hidden and m.kind == "unknown" for m in log.messages)
    assert len({m.id for m in log.messages}) == 5
    assert balanced(log)


LOGGED = '{"request": {"input": [{"type": "message", "role": "user", "content": []}, '


@pytest.mark.parametrize("grammar", ['{"type":"thread.started","thread_id":"t"}\n{"type":"turn.started"}\n', LOGGED])
def test_what_the_program_prints_is_another_grammar(tmp_path: Path, grammar: str) -> None:
    path = tmp_path / "stdout.jsonl"
    path.write_text(grammar)
    with pytest.raises(Exception, match="no session file"):
        open_session(path)
