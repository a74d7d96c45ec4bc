"""How Codex's calls ended: what the file says, from the best place that says it, and unknown where none does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from claude_records import by_kind
from codex_records import Rollout, ended
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.message import ToolCall, ToolResult
from workbench.sessions import SessionLog
from workbench.sessions.codex import outputs

PATCH = """*** Begin Patch
*** Update File: a.py
@@
-x = 1
+x = 2
+y = 3
*** Add File: b.py
+z = 4
*** Update File: c.py
*** Move to: d.py
@@
-c
+d
*** Delete File: e.py
*** End Patch
"""


def results(log: SessionLog) -> list[ToolResult]:
    return [m.result for m in log.messages if m.result is not None]


def calls(log: SessionLog) -> list[ToolCall]:
    return [m.call for m in log.messages if m.call is not None]


def outcome(log: SessionLog) -> tuple[str, int | None, str]:
    (result,) = results(log)
    return result.status, result.exit_code, result.exit_from


OUTPUTS: list[tuple[Any, tuple[str, int | None, str]]] = [
    (ended(0, "fine"), ("ok", 0, "text")),
    (ended(2, "bad"), ("failed", 2, "text")),
    (ended(-1), ("failed", -1, "text")),
    ("Exit code: 1\nWall time: 3 seconds\nOutput:\nExit code: 0\n", ("failed", 1, "text")),
    ('Command: sh -lc "\nExit code: 0\n"\nWall time: 1 seconds\nProcess exited with code 7\n', ("failed", 7, "text")),
    ("Wall time: 1.0 seconds\nProcess running with session ID 62\nOutput:\n...", ("running", None, "none")),
    ('{"output":"x","metadata":{"exit_code":0,"duration_seconds":1.5}}', ("ok", 0, "field")),
    ({"output": "x", "metadata": {"exit_code": 3}}, ("failed", 3, "field")),
    ('{"metadata":{"exit_code":4},"output":"x"}', ("failed", 4, "field")),
    ("a.py\nb.py\n", ("unknown", None, "none")),
    ("The log said:\nProcess exited with code 0\n", ("unknown", None, "none")),
    ("exec_command failed: rejected by user", ("denied", None, "none")),
    ("aborted by user after 3.1s", ("interrupted", None, "none")),
    (None, ("unknown", None, "none")),
    ([{"type": "input_text", "text": ended(0, "fine")}], ("ok", 0, "text")),
    ({"content": "x", "success": False}, ("failed", None, "none")),
    ({"content": "x", "success": True}, ("unknown", None, "none")),
]  # fmt: skip


@pytest.mark.parametrize(("output", "expected"), OUTPUTS)
def test_an_exit_code_is_read_where_the_program_writes_it(
    tmp_path: Path, output: Any, expected: tuple[str, int | None, str]
) -> None:
    session = Rollout()
    session.run("c1", "make test")
    session.output("c1", output)
    assert outcome(session.read(tmp_path)) == expected


@pytest.mark.parametrize("early", [True, False])
def test_the_event_knows_better_than_the_text_before_or_after(tmp_path: Path, early: bool) -> None:
    session = Rollout()
    session.run("c1", "make test")
    if early:
        session.event("exec_command_end", call_id="c1", exit_code=4, duration={"secs": 2, "nanos": 500_000_000})
    session.output("c1", "just words")
    if not early:
        session.event("exec_command_end", call_id="c1", exit_code=4, duration={"secs": 2, "nanos": 500_000_000})
    log = session.read(tmp_path)
    assert outcome(log) == ("failed", 4, "field")
    assert results(log)[0].duration == 2.5


def test_a_command_that_went_on_ends_in_a_later_call(tmp_path: Path) -> None:
    session = Rollout()
    session.run("c1", "make test")
    session.output("c1", "Wall time: 1.0 seconds\nProcess running with session ID 62\nOutput:\n...")
    session.call("c2", "write_stdin", session_id=62, chars="")
    session.output("c2", ended(1, "boom"))
    log = session.read(tmp_path)
    first, second = results(log)
    assert (first.status, second.status, second.exit_code) == ("running", "failed", 1)
    assert calls(log)[1].command == "make test"


def test_calls_without_result_and_results_without_call(tmp_path: Path) -> None:
    session = Rollout()
    session.run("c1", "sleep 9")
    session.output("lost", "who asked")
    session.output("late", ended(0))
    session.run("late", "true")
    log = session.read(tmp_path)
    assert [r.status for r in results(log)] == ["orphan", "ok"]
    assert log.info.open_calls == ("c1",)


COMMANDS: list[tuple[str, Any, str | None]] = [
    ("exec_command", {"cmd": "ls -l"}, "ls -l"),
    ("shell", {"command": ["bash", "-lc", "cd x && ls"]}, "cd x && ls"),
    ("shell", {"command": ["git", "commit", "-m", "two words"]}, "git commit -m 'two words'"),
    ("shell_command", {"command": "ls"}, "ls"),
    ("shell", {"command": 7}, None),
    ("write_stdin", {"session_id": 1, "chars": "y"}, None),
]


@pytest.mark.parametrize(("name", "arguments", "command"), COMMANDS)
def test_the_command_that_was_meant(tmp_path: Path, name: str, arguments: Any, command: str | None) -> None:
    session = Rollout()
    session.call("c1", name, **arguments)
    (call,) = calls(session.read(tmp_path))
    assert (call.kind, call.command) == ("execute", command)


def test_arguments_come_as_text_or_object_or_not_at_all(tmp_path: Path) -> None:
    session = Rollout()
    session.item("function_call", name="exec_command", arguments={"cmd": "ls"}, call_id="c1")
    session.item("function_call", name="exec_command", arguments="{not json", call_id="c2")
    session.item("function_call", name="exec_command", arguments=None, call_id="c3")
    session.item("local_shell_call", call_id="c4", action={"command": ["ls"]})
    assert [call.command for call in calls(session.read(tmp_path))] == ["ls", None, None, "ls"]


def test_a_command_of_another_folder_stands_in_that_folder(tmp_path: Path) -> None:
    session = Rollout()
    session.run("c1", "ls", workdir="/srv/shop/web")
    session.say("ok")
    assert [m.cwd for m in session.read(tmp_path).messages] == ["/srv/shop/web", "/srv/shop"]


def test_a_patch_changed_what_the_event_reports(tmp_path: Path) -> None:
    session = Rollout()
    session.patch("c1", PATCH)
    changes = {
        "/srv/shop/a.py": {"type": "update", "unified_diff": "@@ -1 +1,2 @@\n-x = 1\n+x = 2\n+y = 3\n"},
        "/srv/shop/b.py": {"type": "add", "content": "z = 4\n"},
        "/srv/shop/c.py": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-c\n+d\n", "move_path": "/srv/shop/d.py"},
        "/srv/shop/e.py": {"type": "delete", "content": "e\ne\n"},
    }  # fmt: skip
    session.event("patch_apply_end", call_id="c1", success=True, changes=changes)
    session.output("c1", "Exit code: 0\nOutput:\nSuccess.\n", custom=True)
    log = session.read(tmp_path)
    (result,) = results(log)
    assert [(c.path, c.op, c.old_path, c.added, c.removed) for c in result.changes] == [
        ("/srv/shop/a.py", "update", None, 2, 1),
        ("/srv/shop/b.py", "create", None, 1, 0),
        ("/srv/shop/d.py", "move", "/srv/shop/c.py", 1, 1),
        ("/srv/shop/e.py", "delete", None, 0, 2),
    ]
    assert result.changes[0].diff is not None
    assert calls(log)[0].paths == ("a.py", "b.py", "c.py", "d.py", "e.py")


def test_without_an_event_an_applied_patch_changed_what_it_names(tmp_path: Path) -> None:
    session = Rollout()
    session.patch("c1", PATCH)
    session.output("c1", {"output": "Success.", "metadata": {"exit_code": 0}}, custom=True)
    session.patch("c2", PATCH)
    session.output("c2", {"output": "no such file", "metadata": {"exit_code": 1}}, custom=True)
    done, refused = results(session.read(tmp_path))
    assert [(c.path, c.op, c.added, c.removed) for c in done.changes] == [
        ("a.py", "update", 2, 1),
        ("b.py", "create", 1, 0),
        ("d.py", "move", 1, 1),
        ("e.py", "delete", None, None),
    ]
    assert (refused.status, refused.changes) == ("failed", ())


def test_a_refused_patch_changed_nothing(tmp_path: Path) -> None:
    session = Rollout()
    session.patch("c1", PATCH)
    session.event("patch_apply_end", call_id="c1", success=False, changes={"/a": {"type": "add", "content": ""}})
    session.output("c1", "context not found", custom=True)
    (result,) = results(session.read(tmp_path))
    assert (result.status, result.changes) == ("failed", ())


def test_a_patch_within_a_command(tmp_path: Path) -> None:
    session = Rollout()
    session.run("c1", f"apply_patch <<'EOF'\n{PATCH}EOF")
    session.output("c1", ended(0, "Success."))
    (result,) = results(session.read(tmp_path))
    assert [c.path for c in result.changes] == ["a.py", "b.py", "d.py", "e.py"]


def test_a_script_with_one_command_is_that_command(tmp_path: Path) -> None:
    session = Rollout()
    session.script("c1", 'const r = await tools.exec_command({cmd: "make test", workdir: "/x"}); text(r.output);')
    session.done("CommandExecution", id="exec-1", command=["/bin/sh", "-lc", "make test"], exit_code=2)
    session.output("c1", [{"type": "input_text", "text": "Script completed\nWall time 0.1 seconds\nOutput:\n"},
                          {"type": "input_text", "text": "boom"}], custom=True)  # fmt: skip
    log = session.read(tmp_path)
    (call,) = calls(log)
    assert (call.kind, call.command) == ("execute", "make test")
    assert outcome(log) == ("failed", 2, "field")


def test_a_script_that_hands_on_what_it_got_says_how_it_ended(tmp_path: Path) -> None:
    session = Rollout()
    session.script("c1", "const r = await tools.exec_command({ 'cmd': 'make \\'all\\'' }); text(JSON.stringify(r));")
    session.output("c1", [{"type": "input_text", "text": "Script completed\nOutput:\n"},
                          {"type": "input_text", "text": '{"exit_code":0,"output":"x"}'}], custom=True)  # fmt: skip
    log = session.read(tmp_path)
    assert calls(log)[0].command == "make 'all'"
    assert outcome(log) == ("ok", 0, "field")


def test_a_script_that_completed_says_nothing_of_its_command(tmp_path: Path) -> None:
    session = Rollout()
    session.script("c1", "await tools.exec_command({cmd: `make`}); text('hi');")
    session.output("c1", [{"text": "Script completed\nOutput:\n"}, {"text": "hi"}], custom=True)
    assert outcome(session.read(tmp_path)) == ("unknown", None, "none")


def test_the_commands_of_a_longer_script_stand_apart(tmp_path: Path) -> None:
    session = Rollout()
    session.script("c1", 'await tools.exec_command({cmd: "true"}); await tools.exec_command({cmd: "false"});')
    session.done("CommandExecution", id="exec-1", command=["sh", "-lc", "true"], exit_code=0, aggregated_output="")
    session.done("CommandExecution", id="exec-2", command=["sh", "-lc", "false"], exit_code=1, aggregated_output="no")
    session.output("c1", [{"text": "Script completed\nOutput:\n"}], custom=True)
    log = session.read(tmp_path)
    assert [(c.command, c.kind) for c in calls(log)] == [(None, "other"), ("true", "execute"), ("false", "execute")]
    inner = [m for m in log.messages if m.result is not None and m.result.call_id.startswith("exec-")]
    assert [(m.result.exit_code, m.text, m.in_context) for m in inner if m.result] == [(0, "", False), (1, "no", False)]
    assert {m.turn for m in log.messages} == {1}


def test_a_script_that_patches_and_plans(tmp_path: Path) -> None:
    session = Rollout()
    session.script(
        "c1", 'await tools.apply_patch("*** Begin Patch\\n*** Update File: a.py\\n@@\\n-x\\n+y\\n*** End Patch\\n")'
    )
    session.done("FileChange", id="exec-3", status="completed",
                 changes={"/srv/shop/a.py": {"type": "update", "unified_diff": "@@\n-x\n+y\n"}})  # fmt: skip
    session.output("c1", [{"text": "Script completed\nOutput:\n"}, {"text": "{}"}], custom=True)
    session.script(
        "c2", 'await tools.update_plan({plan:[{step:"a b",status:"completed"},{status:"pending",step:\'c\'}]})'
    )
    log = session.read(tmp_path)
    patch, plan = calls(log)
    assert (patch.kind, patch.paths, plan.kind) == ("edit", ("a.py",), "todo")
    (result,) = results(log)
    assert [(c.path, c.added) for c in result.changes] == [("/srv/shop/a.py", 1)]
    assert [(item.text, item.status) for item in log.info.plan] == [("a b", "completed"), ("c", "pending")]


def test_a_failed_script_failed(tmp_path: Path) -> None:
    session = Rollout()
    session.script("c1", "await tools.exec_command({cmd: 'x'})")
    session.output("c1", [{"text": "Script failed\nOutput:\n"}, {"text": "Script error: boom"}], custom=True)
    session.script("c2", "await tools.exec_command({cmd: 'x'})")
    session.output("c2", [{"text": "Script failed\nOutput:\n"}, {"text": "policy: reject command"}], custom=True)
    assert [r.status for r in results(session.read(tmp_path))] == ["failed", "denied"]


def test_servers_tools_end_as_their_event_says(tmp_path: Path) -> None:
    session = Rollout()
    for number, result in enumerate([{"Ok": {"content": []}}, {"Ok": {"isError": True}}, {"Err": "gone"}, "odd"]):
        session.item("function_call", name="read_note", namespace="mcp__notes", arguments="{}", call_id=f"c{number}")
        session.event("mcp_tool_call_end", call_id=f"c{number}", result=result, duration={"secs": 1, "nanos": 0})
        session.output(f"c{number}", "text")
    log = session.read(tmp_path)
    assert {call.kind for call in calls(log)} == {"mcp"}
    assert [r.status for r in results(log)] == ["ok", "failed", "failed", "unknown"]


def test_a_sub_agent_is_linked_from_the_call_that_started_it(tmp_path: Path) -> None:
    session = Rollout()
    session.call("c1", "spawn_agent", message="look")
    session.event("collab_agent_spawn_end", call_id="c1", new_thread_id="t-2")
    session.output("c1", '{"agent_id":"t-2"}')
    (result,) = results(session.read(tmp_path))
    assert (result.child, result.status) == ("t-2", "ok")


def test_searches_of_the_service_have_no_result_to_wait_for(tmp_path: Path) -> None:
    session = Rollout()
    session.item("web_search_call", id="ws_1", status="completed", action={"type": "search", "query": "green"})
    session.item("tool_search_call", call_id="c1", arguments={"query": "notes"}, status="completed")
    session.item("tool_search_output", call_id="c1", tools=[{"name": "read_note"}], status="completed")
    log = session.read(tmp_path)
    assert [call.kind for call in calls(log)] == ["fetch", "search"]
    assert log.info.open_calls == ()
    assert by_kind(log, "tool_result")[0].text == "read_note"


def test_pictures_are_one_line_each(tmp_path: Path) -> None:
    session = Rollout()
    session.item(
        "message", role="user", content=[{"type": "input_image", "image_url": "data:image/png;base64,AAAABBBB"}]
    )
    session.call("c1", "view_image", path="a.png")
    session.output("c1", [{"type": "input_image", "image_url": "data:image/png;base64,AAAA"}])
    log = session.read(tmp_path)
    assert [m.text for m in log.messages if m.kind != "tool_call"] == [
        "[image image/png 6 bytes]",
        "[image image/png 3 bytes]",
    ]


@given(
    command=st.none() | st.text(st.characters(exclude_characters="\n", codec="utf-8"), max_size=30),
    chunk=st.none() | st.sampled_from(["b5a9ac", "", "Process exited with code 7"]),
    wall=st.sampled_from(["0.0000", "12.5", "3", "1.2.3", "."]),
    code=st.integers(-(10**11), 10**11),
    tokens=st.sampled_from(["27", "Output:"]),
    body=st.sampled_from(["", "Output:\n", "Process exited with code 9\nOutput:\n", "Wall time: 9.9 seconds\n"]),
)
def test_the_lines_above_an_output_say_the_same_with_a_blank_more(
    command: str | None, chunk: str | None, wall: str, code: int, tokens: str, body: str
) -> None:
    above = f"Command: {command}\n" * (command is not None) + f"Chunk ID: {chunk}\n" * (chunk is not None)
    above += f"Wall time: {wall} seconds\nProcess exited with code {code}"
    below = f"\nOriginal token count: {tokens}\nOutput:\n{body}"
    usual, unusual = (outputs.understand(f"{above}{blank}{below}", "execute") for blank in ("", " "))
    assert (usual.exit_code, usual.duration) == (unusual.exit_code, unusual.duration)
    assert (usual.process, usual.success) == (unusual.process, unusual.success)
