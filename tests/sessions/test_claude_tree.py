"""What the model still has before it: branches, compactions, sub-agents, missing parents."""

from __future__ import annotations

from pathlib import Path

from claude_records import SESSION, Script, bash, finished

from workbench.sessions import SessionLog


def outside(log: SessionLog) -> list[str]:
    return [m.text for m in log.messages if not m.in_context]


def test_an_edited_prompt_leaves_its_branch_behind(tmp_path: Path) -> None:
    script = Script()
    script.prompt("start")
    fork = script.say("m1", "ready")[0]["uuid"]
    script.prompt("make it blue")
    script.say("m2", "blue it is", bash("c1", "ls"))
    script.result("c1", "x", error=False, twin=finished())
    script.prompt("make it green", parent=fork)
    script.say("m3", "green it is")
    log = script.read(tmp_path)
    assert outside(log) == ["make it blue", "blue it is", '{"command":"ls"}', "x"]


def test_going_back_to_the_first_branch_takes_it_in_again(tmp_path: Path) -> None:
    script = Script()
    fork = script.prompt("start")["uuid"]
    first = script.say("m1", "one")[0]["uuid"]
    script.say("m2", "two", parent=fork)
    script.prompt("back to one", parent=first)
    assert outside(script.read(tmp_path)) == ["two"]


def test_parallel_calls_and_their_results_all_belong(tmp_path: Path) -> None:
    script = Script()
    script.prompt("go")
    one, two = script.say("m1", bash("c1", "a"), bash("c2", "b"))
    script.result("c1", "ra", error=False, twin=finished(), parent=one["uuid"])
    script.result("c2", "rb", error=False, twin=finished(), parent=two["uuid"])
    script.say("m2", "both done")
    assert outside(script.read(tmp_path)) == []
    script.records[-1]["parentUuid"] = script.records[-3]["uuid"]
    assert outside(script.read(tmp_path)) == []


def test_progress_of_an_old_command_takes_nothing_away(tmp_path: Path) -> None:
    script = Script()
    old = script.say("m1", bash("c1", "a"))[0]["uuid"]
    script.result("c1", "ra", error=False, twin=finished())
    newest = script.say("m2", "next")[0]["uuid"]
    script.add("progress", parent=old, data={"type": "bash_progress"})
    script.prompt("more", parent=newest)
    assert outside(script.read(tmp_path)) == []


def test_a_record_may_hang_on_progress(tmp_path: Path) -> None:
    script = Script()
    first = script.prompt("go")["uuid"]
    script.add("progress", data={"type": "hook_progress"})
    script.say("m1", "ok")
    log = script.read(tmp_path)
    assert outside(log) == []
    assert log.messages[1].parent == first


def test_missing_parents_fall_back_to_what_was_written_before(tmp_path: Path) -> None:
    script = Script()
    script.prompt("one")
    script.say("m1", "two", parent="never-written")
    script.prompt("three", parent="nor-this")
    assert outside(script.read(tmp_path)) == []


def test_a_compaction_takes_everything_before_it_out(tmp_path: Path) -> None:
    script = Script()
    script.prompt("old question")
    last = script.say("m1", "old answer")[0]["uuid"]
    meta = {"trigger": "auto", "preTokens": 150000}
    script.add("system", subtype="compact_boundary", parent=None, logicalParentUuid=last, compactMetadata=meta)
    script.prompt("Summary of what was said", isCompactSummary=True)
    script.prompt("go on")
    log = script.read(tmp_path)
    assert outside(log) == ["old question", "old answer"]
    assert [(m.kind, m.origin, m.text) for m in log.messages if m.kind == "compaction"] == [
        ("compaction", "harness", "Conversation compacted (auto, 150000 tokens before)"),
        ("compaction", "harness", "Summary of what was said"),
    ]


def test_going_back_behind_a_compaction_takes_the_old_in_again(tmp_path: Path) -> None:
    script = Script()
    script.prompt("old question")
    last = script.say("m1", "old answer")[0]["uuid"]
    script.add("system", subtype="compact_boundary", parent=None)
    script.prompt("summary", isCompactSummary=True)
    script.prompt("another way", parent=last)
    assert outside(script.read(tmp_path)) == ["Conversation compacted", "summary"]


def test_a_summary_without_a_boundary_begins_anew(tmp_path: Path) -> None:
    script = Script()
    script.prompt("old")
    script.prompt("summary", isCompactSummary=True)
    script.say("m1", "new")
    assert outside(script.read(tmp_path)) == ["old"]


def test_a_new_root_is_a_new_conversation_only_where_records_are_chained(tmp_path: Path) -> None:
    script = Script()
    script.prompt("one")
    script.say("m1", "two")
    script.prompt("three", parent=None)
    assert outside(script.read(tmp_path)) == ["one", "two"]
    for record in script.records:
        record["parentUuid"] = None
    assert outside(script.read(tmp_path)) == []


def test_subagents_inside_the_file_stand_outside_the_conversation(tmp_path: Path) -> None:
    script = Script()
    script.prompt("go")
    main = script.say("m1", bash("c1", "x"))[0]["uuid"]
    script.prompt("you look", isSidechain=True, parent=None)
    side = script.say("s1", "looking", isSidechain=True)[0]["uuid"]
    script.result("c1", "ok", error=False, twin=finished(), parent=main)
    script.say("m2", "done", parent=side)
    log = script.read(tmp_path)
    assert outside(log) == ["you look", "looking"]
    assert [m.origin for m in log.messages] == ["human", "agent", "agent", "subagent", "tool", "agent"]
    assert [m.turn for m in log.messages] == [0, 1, 1, 1, 1, 2]


def test_a_file_that_begins_with_a_subagent_is_still_a_main_conversation(tmp_path: Path) -> None:
    script = Script()
    script.prompt("you look", isSidechain=True)
    script.say("s1", "looking", isSidechain=True)
    path = script.write(tmp_path)
    log = script.read(tmp_path)
    assert log.info.id == SESSION
    assert outside(log) == []
    script.prompt("the person speaks", parent=None)
    path.write_bytes(script.data())
    assert log.refresh().reset
    assert outside(log) == ["you look", "looking"]
    assert [m.turn for m in log.messages] == [0, 0, 0]


def test_following_reports_what_left_the_context(tmp_path: Path) -> None:
    script = Script()
    fork = script.prompt("start")["uuid"]
    script.say("m1", "one")
    path = script.write(tmp_path)
    log = script.read(tmp_path)
    script.prompt("otherwise", parent=fork)
    path.write_bytes(script.data())
    refresh = log.refresh()
    assert (refresh.appended, refresh.changed, refresh.reset) == (1, 1, False)
    assert outside(log) == ["one"]
