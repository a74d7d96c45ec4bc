"""What the model still has before it: compaction, turns taken back, forks that write their past again."""

from __future__ import annotations

from pathlib import Path

from claude_records import balanced, by_kind, texts
from codex_records import SESSION, Rollout, ended, identity

from workbench.sessions import SessionLog


def past(role: str, text: str) -> dict[str, object]:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}


def in_context(log: SessionLog) -> list[str]:
    return [m.text for m in log.messages if m.in_context]


def test_a_compaction_leaves_what_it_names_and_its_summary(tmp_path: Path) -> None:
    session = Rollout()
    session.prompt("make it green")
    session.run("c1", "ls")
    session.output("c1", ended(0, "a.py"))
    session.say("it is green")
    session.add(
        "compacted",
        message="",
        replacement_history=[past("user", "make it green"), past("user", "Summary: it was made green")],
    )
    session.event("context_compacted")
    session.prompt("now blue")
    log = session.read(tmp_path)
    assert in_context(log) == ["make it green", "Summary: it was made green", "now blue"]
    assert [m.text for m in by_kind(log, "compaction")] == ["Summary: it was made green"]
    assert log.info.compactions == 1
    assert balanced(log)


def test_instructions_that_a_compaction_repeats_stay_and_answers_do_not(tmp_path: Path) -> None:
    session = Rollout()
    session.given("be brief", role="developer", id="msg_1")
    session.prompt("make it green")
    session.say("it is green")
    history = [past("developer", "be brief"), past("user", "make it green"), past("user", "In short: green.")]
    session.add("compacted", message="In short: green.", replacement_history=history, window_number=1)
    session.done("ContextCompaction", id="x")
    log = session.read(tmp_path)
    assert in_context(log) == ["be brief", "make it green", "In short: green."]
    assert log.info.unknown == 0


def test_the_summary_may_stand_apart_or_not_be_readable_at_all(tmp_path: Path) -> None:
    session = Rollout()
    session.prompt("one")
    session.add("compacted", message="the summary", replacement_history=[past("user", "one")])
    session.add("compacted", message="", replacement_history=[{"type": "compaction", "encrypted_content": "x"}])
    session.add("compacted")
    log = session.read(tmp_path)
    assert [m.text for m in by_kind(log, "compaction")] == ["the summary", "", ""]
    assert in_context(log) == [""]


def test_turns_taken_back_leave_the_context(tmp_path: Path) -> None:
    session = Rollout()
    session.given("<environment_context>x</environment_context>")
    for word in ("one", "two", "three"):
        session.prompt(word)
        session.say(f"said {word}")
    session.event("thread_rolled_back", num_turns=2)
    session.prompt("four")
    log = session.read(tmp_path)
    assert in_context(log) == ["<environment_context>x</environment_context>", "one", "said one", "four"]
    session.event("thread_rolled_back", num_turns=9)
    assert in_context(session.read(tmp_path)) == ["<environment_context>x</environment_context>"]


def forked() -> tuple[Rollout, Rollout]:
    """A session, and another that began with its history."""
    parent = Rollout()
    parent.turn(1)
    parent.prompt("make it green")
    parent.run("c1", "ls")
    parent.output("c1", ended(0))
    parent.say("green")
    parent.used(1000)
    child = Rollout(identity(50), forked_from_id=SESSION)
    child.records += parent.records
    child.turn(60)
    child.prompt("make it blue")
    child.say("blue")
    child.used(1500)
    child.records[-1]["payload"]["info"]["total_token_usage"] = {"input_tokens": 2510, "total_tokens": 2520}
    return parent, child


def test_a_fork_has_the_ids_of_what_it_began_with(tmp_path: Path) -> None:
    parent, child = (session.read(tmp_path) for session in forked())
    assert [m.id for m in child.messages][: len(parent.messages)] == [m.id for m in parent.messages]
    assert (child.info.id, child.info.forked_from) == (identity(50), SESSION)
    assert texts(child)[-2:] == ["make it blue", "blue"]


def test_what_was_copied_was_paid_by_the_parent(tmp_path: Path) -> None:
    parent, child = (session.read(tmp_path) for session in forked())
    assert parent.info.usage.input == 1000
    assert (child.info.usage.input, child.info.last_context) == (1500, 1500)


def test_ids_that_tell_no_time_leave_everything_counted(tmp_path: Path) -> None:
    session = Rollout("child", forked_from_id="parent")
    session.event("task_started", turn_id="one")
    session.used(10)
    session.used(5)
    assert session.read(tmp_path, "child.jsonl").info.usage.input == 15


def test_the_parent_is_known_where_the_first_line_is_lost(tmp_path: Path) -> None:
    parent, child = forked()
    whole = [m.id for m in child.read(tmp_path).messages]
    del child.records[0]
    log = child.read(tmp_path)
    assert [m.id for m in log.messages] == whole
    assert (log.info.id, log.info.forked_from) == (child.session, parent.session)


def test_a_history_that_stands_twice_in_one_file_counts_once(tmp_path: Path) -> None:
    parent, child = forked()
    whole = child.read(tmp_path)
    parent.records += child.records
    log = parent.read(tmp_path)
    assert [(m.id, m.text) for m in log.messages] == [(m.id, m.text) for m in whole.messages]
    assert balanced(log)


def test_the_same_words_in_a_resumed_session_are_said_twice(tmp_path: Path) -> None:
    session = Rollout()
    session.turn(1)
    session.prompt("continue")
    session.records.append(dict(session.records[0]))
    session.turn(2)
    session.prompt("continue")
    assert texts(session.read(tmp_path)) == ["continue", "continue"]
