"""Judgements made by reading real files beside what the reader says of them, each on a small file of its own.

Which traits were compared in which kinds of files stands in ``README.md`` beside this.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from claude_records import Script, bash, by_kind, call, finished, texts
from codex_records import SESSION, Rollout, ended, identity

from workbench.domain.message import Message
from workbench.sessions import SessionLog
from workbench.sessions.observed import observe


def usage(context: int, output: int = 4) -> dict[str, int]:
    return {"input_tokens": 3, "cache_read_input_tokens": context - 3, "output_tokens": output}


def contexts(log: SessionLog) -> list[tuple[str, int]]:
    """The messages that carry the usage of their request."""
    return [(m.text, m.usage.context) for m in log.messages if m.usage is not None]


def in_context(log: SessionLog) -> list[str]:
    return [m.text for m in log.messages if m.in_context and not m.hidden]


def results(log: SessionLog) -> list[tuple[str, int | None]]:
    return [(m.result.status, m.result.exit_code) for m in log.messages if m.result is not None]


def first(log: SessionLog, kind: str) -> Message:
    return by_kind(log, kind)[0]


# Claude Code.


def test_after_a_manual_compaction_only_the_summary_and_what_follows_are_in_context(tmp_path: Path) -> None:
    script = Script()
    script.prompt("say ok")
    script.add("attachment", attachment={"type": "skill_listing", "content": "- one"})
    script.say("m1", "ok", usage=usage(20_961))
    script.add("system", subtype="turn_duration", durationMs=900)
    script.meta("queue-operation", operation="enqueue", content="still there?")
    script.add("system", subtype="compact_boundary", parent=None, content="Conversation compacted",
               logicalParentUuid=script.last, compactMetadata={"trigger": "manual", "preTokens": 20_965})  # fmt: skip
    script.prompt("This session is being continued: you said ok.", isCompactSummary=True)
    script.prompt("<local-command-caveat>Caveat: ...</local-command-caveat>", isMeta=True)
    script.prompt("<command-name>/compact</command-name>")
    script.add("attachment", attachment={"type": "file", "filename": "/srv/shop/RULES.md", "content": "be brief"})
    script.prompt("still there?")
    script.say("m2", "yes", usage=usage(19_569))
    log = script.read(tmp_path)
    assert in_context(log) == [
        "Conversation compacted (manual, 20965 tokens before)",
        "This session is being continued: you said ok.",
        "<command-name>/compact</command-name>",
        "still there?",
        "yes",
    ]
    assert contexts(log) == [("ok", 20_961), ("yes", 19_569)]
    assert (log.info.compactions, log.info.last_context) == (1, 19_569)
    assert [m.text for m in log.messages if m.origin == "human"] == ["say ok", "still there?"]


def test_a_denied_call_an_interrupted_answer_and_a_person_who_goes_on(tmp_path: Path) -> None:
    script = Script()
    script.prompt("look at the list")
    script.say("m1", bash("c1", "ls /etc"), usage=usage(30_609))
    script.result(
        "c1", "The user doesn't want to proceed with this tool use.", error=True, twin="User rejected tool use"
    )
    script.prompt([{"type": "text", "text": "[Request interrupted by user for tool use]"}])
    script.prompt("write a long text")
    script.say("m2", "It begins", usage={"input_tokens": 0, "output_tokens": 0})
    script.prompt([{"type": "text", "text": "[Request interrupted by user]"}])
    script.prompt("say hey")
    script.say("m3", "hey", usage=usage(31_466))
    log = script.read(tmp_path)
    assert results(log) == [("denied", None)]
    assert observe(log.messages).runs == ()  # it never ran
    assert [m.text for m in by_kind(log, "notice")] == [
        "[Request interrupted by user for tool use]",
        "[Request interrupted by user]",
    ]
    assert contexts(log) == [(first(log, "tool_call").text, 30_609), ("hey", 31_466)]
    assert "It begins" in in_context(log)


@pytest.mark.parametrize(("code", "status"), [(0, "ok"), (3, "failed")])
def test_a_command_in_the_background_ends_where_it_is_asked_after(tmp_path: Path, code: int, status: str) -> None:
    script = Script()
    script.prompt("build it beside")
    script.say("m1", call("c1", "Bash", command="make all", run_in_background=True))
    script.result("c1", "Command running in background with ID: b1", twin=finished(backgroundTaskId="b1"))
    script.say("m2", call("c2", "TaskOutput", task_id="b1", block=False))
    script.result("c2", "...", twin={"retrieval_status": "timeout", "task": {"task_id": "b1", "status": "running"}})
    script.say("m3", call("c3", "BashOutput", bash_id="b1"))
    script.result("c3", "built", twin={"command": "make all", "exitCode": code, "status": "completed"})
    script.say("m4", call("c4", "TaskOutput", task_id="another", block=False))
    script.result("c4", "x", twin={"task": {"task_id": "another", "status": "completed", "exitCode": 1}})
    log = script.read(tmp_path)
    assert results(log)[:3] == [("running", None), ("running", None), (status, code)]
    (run,) = observe(log.messages).runs
    assert (run.command, run.exit_code, run.output) == ("make all", code, "built")


def test_a_sub_agent_beside_and_within_the_file(tmp_path: Path) -> None:
    script = Script()
    script.prompt("have it looked up")
    script.say("m1", "I send one.", call("t1", "Task", prompt="look it up"), usage=usage(22_655))
    parent = script.last
    script.prompt("look it up", isSidechain=True, parent=None)
    script.say("s1", "I search.", call("w1", "WebSearch", query="it"), usage=usage(18_898), isSidechain=True)
    script.result("w1", "found", isSidechain=True)
    script.say("s2", "Here it is.", usage=usage(20_309), isSidechain=True)
    script.result("t1", [{"type": "text", "text": "Here it is."}], parent=parent, twin={"status": "completed",
                  "agentId": "a93"})  # fmt: skip
    script.say("m2", "It was found.", usage=usage(23_564))
    log = script.read(tmp_path)
    assert first(log, "tool_call").turn == 1
    assert [m.result.child for m in log.messages if m.result is not None] == [None, "agent-a93"]
    assert log.info.last_context == 23_564  # the sub-agent's requests fill another context
    own = [m.text for m in log.messages if m.in_context]
    assert ("It was found." in own, "I search." in own) == (True, False)
    asked = next(m for m in log.messages if m.text == "look it up")
    assert (asked.origin, [m.origin for m in log.messages if m.text == "I search."]) == ("agent", ["subagent"])


def test_a_queued_prompt_is_the_persons_and_stands_once(tmp_path: Path) -> None:
    script = Script()
    script.prompt("count to ten")
    script.meta("queue-operation", operation="enqueue", content="and then to twenty")
    script.meta("queue-operation", operation="dequeue")
    script.say("m1", "1 2 3", usage=usage(31_278))
    script.prompt("and then to twenty", promptSource="queued")
    script.say("m2", "11 12 13", usage=usage(31_314))
    log = script.read(tmp_path)
    assert texts(log) == ["count to ten", "1 2 3", "and then to twenty", "11 12 13"]
    assert [m.origin for m in log.messages if m.role == "user"] == ["human", "human"]


def test_a_plan_that_waits_for_a_yes_is_an_open_call(tmp_path: Path) -> None:
    script = Script()
    script.prompt("plan it first")
    script.say("m1", call("c1", "Write", file_path="/home/dev/.claude/plans/p.md", content="# Plan\n\n- one\n"))
    script.result("c1", "File created", twin={"type": "create", "filePath": "/home/dev/.claude/plans/p.md",
                  "content": "# Plan\n\n- one\n", "structuredPatch": []})  # fmt: skip
    script.say("m2", call("c2", "ExitPlanMode", plan="# Plan\n\n- one\n"))
    log = script.read(tmp_path)
    assert log.info.open_calls == ("c2",)
    (touched,) = observe(log.messages).touched
    assert (touched.path, touched.change.op, touched.change.added) == ("/home/dev/.claude/plans/p.md", "create", 3)
    assert log.info.plan == ()  # prose is no list of steps


def test_a_file_that_begins_in_the_middle_has_results_without_calls(tmp_path: Path) -> None:
    script = Script()
    script.result(
        "gone", "Command running in background with ID: b7", twin=finished(backgroundTaskId="b7"), parent="lost"
    )
    script.result("gone2", "done sleeping", twin=finished(stdout="done sleeping"), parent="lost2")
    script.say("m1", bash("c1", "cat log"), usage=usage(65_887))
    script.result("c1", "WARNING", twin=finished(stdout="WARNING"))
    log = script.read(tmp_path)
    assert [m.result.status for m in log.messages if m.result is not None] == ["orphan", "orphan", "ok"]
    assert log.info.open_calls == ()
    assert len(in_context(log)) == 4  # dangling parents lose nothing


def test_tasks_made_and_moved_one_by_one_are_the_plan(tmp_path: Path) -> None:
    script = Script()
    script.prompt("do all three")
    for number, text in enumerate(("write it", "test it", "show it"), 1):
        script.say(f"m{number}", call(f"c{number}", "TaskCreate", subject=text, description="..."))
        twin = {"task": {"id": str(number), "subject": text}}
        script.result(f"c{number}", f"Task #{number} created", twin=twin)
    moves = [("1", "in_progress"), ("1", "completed"), ("2", "in_progress")]
    for number, (task, status) in enumerate(moves, 11):
        script.say(f"m{number}", call(f"c{number}", "TaskUpdate", taskId=task, status=status))
        script.result(f"c{number}", "Updated", twin={"success": True, "taskId": task, "updatedFields": ["status"]})
    log = script.read(tmp_path)
    assert [(item.text, item.status) for item in log.info.plan] == [
        ("write it", "completed"),
        ("test it", "in_progress"),
        ("show it", "pending"),
    ]
    assert [(item.text, item.status) for item in observe(log.messages).items] == [
        (item.text, item.status) for item in log.info.plan
    ]


def test_parallel_edits_of_one_answer_each_with_its_own_result(tmp_path: Path) -> None:
    script = Script()
    script.prompt("change both")
    one, two = script.say("m1", call("c1", "Edit", file_path="/srv/shop/a.go", old_string="a", new_string="b"),
                          call("c2", "Edit", file_path="/srv/shop/b.go", old_string="a", new_string="b"),
                          usage=usage(71_315))  # fmt: skip
    for name, parent in (("a", one), ("b", two)):
        patch = [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 2, "lines": [" x", "+y"]}]
        twin = {"filePath": f"/srv/shop/{name}.go", "oldString": "a", "newString": "b", "structuredPatch": patch}
        script.result(f"c{'ab'.index(name) + 1}", "updated", twin=twin, parent=parent["uuid"])
    script.say("m2", "done", usage=usage(73_202))
    log = script.read(tmp_path)
    found = observe(log.messages).touched
    assert [(one.path, one.change.added, one.change.removed) for one in found] == [
        ("/srv/shop/a.go", 1, 0),
        ("/srv/shop/b.go", 1, 0),
    ]
    assert all(message.in_context for message in log.messages)
    assert contexts(log)[0][1] == 71_315
    assert len(contexts(log)) == 2


# Codex.


def test_what_an_interrupted_answer_used_is_not_what_the_next_one_used(tmp_path: Path) -> None:
    session = Rollout()
    session.turn(1)
    session.prompt("write a long text")
    session.item("reasoning", summary=[], content=None, encrypted_content="x")
    session.given("<turn_aborted>\nThe user interrupted the previous turn on purpose.\n</turn_aborted>")
    session.event("turn_aborted", turn_id=identity(1), reason="interrupted")
    session.turn(2)
    session.prompt("say ok")
    session.item("reasoning", summary=[], content=None, encrypted_content="y")
    session.say("ok")
    session.used(29_417)
    log = session.read(tmp_path)
    assert [(m.turn, m.usage.context) for m in log.messages if m.usage is not None] == [(2, 29_417)]
    assert [m.in_context for m in by_kind(log, "notice")] == [True, False]  # the model is told, not shown the event
    assert log.info.last_context == 29_417


def test_what_a_person_ran_past_the_agent_is_hers_and_no_prompt(tmp_path: Path) -> None:
    session = Rollout()
    session.event("task_started", turn_id=identity(1))
    session.given(
        "<user_shell_command>\n<command>\nls\n</command>\n<result>\nExit code: 0\n</result>\n</user_shell_command>"
    )
    session.turn(2)
    session.prompt("say alive")
    session.say("alive")
    session.used(30_354)
    log = session.read(tmp_path)
    ran, asked = (m for m in log.messages if m.role == "user")
    assert (ran.kind, ran.origin, ran.hidden, ran.in_context) == ("notice", "human", False, True)
    assert (asked.kind, asked.text, log.info.title) == ("message", "say alive", "say alive")


def test_a_script_that_was_refused_never_ran(tmp_path: Path) -> None:
    session = Rollout()
    session.turn()
    session.prompt("write hello.txt")
    session.script("c1", 'const r = await tools.exec_command({cmd:"printf hi > hello.txt", sandbox_permissions:"x"});')
    parts = ["Script failed\nWall time 0.2 seconds\nOutput:\n", "approval was rejected by the user"]
    session.output("c1", [{"type": "input_text", "text": part} for part in parts], custom=True)
    session.used(22_724)
    session.say("The workspace does not take it.")
    session.script("c2", 'const r = await tools.exec_command({cmd:"printf hi > hello.txt"});')
    log = session.read(tmp_path)
    assert results(log) == [("denied", None)]
    assert log.info.open_calls == ("c2",)
    assert observe(log.messages).runs == ()
    assert [m.call.command for m in by_kind(log, "tool_call") if m.call] == ["printf hi > hello.txt"] * 2


def test_a_patch_and_its_text_and_a_listing_that_ended(tmp_path: Path) -> None:
    session = Rollout()
    session.turn()
    session.prompt("implement the plan")
    session.say("I add it.")
    session.patch("c1", "*** Begin Patch\n*** Add File: calc.py\n+def add(a, b):\n+    return a + b\n*** End Patch\n")
    added = {"type": "add", "content": "def add(a, b):\n    return a + b\n"}
    session.event("patch_apply_end", call_id="c1", success=True, changes={"/srv/shop/calc.py": added})
    session.output("c1", "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nSuccess.\n", custom=True)
    session.used(32_117)
    session.run("c2", "ls")
    session.output("c2", ended(0, "calc.py\n"))
    session.used(32_341)
    log = session.read(tmp_path)
    assert results(log) == [("ok", 0), ("ok", 0)]
    assert [m.result.exit_from for m in log.messages if m.result] == ["text", "text"]
    (touched,) = observe(log.messages).touched
    assert (touched.path, touched.change.op, touched.change.added) == ("/srv/shop/calc.py", "create", 2)
    assert [context for _text, context in contexts(log)] == [32_117, 32_341]


def test_the_event_of_a_command_that_ended_late_beside_parallel_calls(tmp_path: Path) -> None:
    session = Rollout()
    session.turn()
    session.prompt("check it")
    session.run("c1", "rg -n secret")
    session.run("c2", "go test ./...")
    session.used(25_572)
    session.event("exec_command_end", call_id="c1", exit_code=1, aggregated_output="", duration={"secs": 0, "nanos": 9})
    session.output("c1", ended(1))
    session.output("c2", "Chunk ID: f2\nWall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\n")
    session.say("Meanwhile I read.")
    session.used(39_465)
    session.event(
        "exec_command_end", call_id="c2", exit_code=0, aggregated_output="ok", duration={"secs": 4, "nanos": 0}
    )
    log = session.read(tmp_path)
    assert results(log) == [("failed", 1), ("ok", 0)]
    assert [m.result.duration for m in log.messages if m.result][1] == 4
    assert {m.turn for m in log.messages if m.result or m.call} == {1}
    assert [context for _text, context in contexts(log)] == [25_572, 39_465]


def test_a_fork_holds_the_history_once_and_its_own_usage_alone(tmp_path: Path) -> None:
    parent, own = identity(100), identity(900)
    fork = Rollout(own, forked_from_id=parent)
    fork.add("session_meta", id=parent, cwd="/srv/shop")
    fork.event("task_started", turn_id=identity(200))
    fork.prompt("one")
    fork.say("one")
    fork.used(29_218)
    fork.event("task_started", turn_id=identity(950))
    fork.prompt("three")
    fork.say("three")
    fork.used(29_254)
    log = fork.read(tmp_path)
    assert texts(log) == ["one", "one", "three", "three"]
    assert (log.info.id, log.info.forked_from) == (own, parent)
    assert log.info.usage.context == 29_254  # what came before was the parent's
    assert log.info.last_context == 29_254
    assert all(message.in_context for message in log.messages)


def test_a_repeated_count_between_two_prompts_is_one_request(tmp_path: Path) -> None:
    session = Rollout()
    session.turn(1)
    session.prompt("ls")
    session.say("a b")
    session.used(22_845)
    session.turn(2)
    session.prompt("ls")
    session.records.append(next(r for r in session.records if r["payload"].get("type") == "token_count"))
    session.say("a b c")
    session.used(22_988)
    log = session.read(tmp_path)
    assert contexts(log) == [("a b", 22_845), ("a b c", 22_988)]
    assert log.info.usage.context == 22_845 + 22_988
    assert log.info.id == SESSION
