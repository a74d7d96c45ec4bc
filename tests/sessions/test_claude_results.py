"""What a tool result says happened; what it does not say stays unknown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from claude_records import Script, bash, by_kind, call, finished, read

from workbench.domain.message import LATE_OUTPUT_LIMIT, LONG
from workbench.sessions import SessionLog
from workbench.sessions.claude.format import ClaudeFormat

REJECTED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


@pytest.mark.parametrize(
    ("content", "error", "twin", "expected"),
    [
        ("fine", False, finished(), ("ok", 0, "field")),
        ("fine", None, finished(), ("ok", 0, "field")),
        ("Exit code 0 was printed", False, finished(), ("ok", 0, "field")),
        ("Exit code 2\nboom", True, "Error: Exit code 2\nboom", ("failed", 2, "text")),
        ("Exit code -11", True, None, ("failed", -11, "text")),
        ("Exit code 1st of May", True, None, ("failed", None, "none")),
        ("ls: no such file", True, "Error: ls: no such file", ("failed", None, "none")),
        ("no matches", False, finished(returnCodeInterpretation="No matches found"), ("unknown", None, "none")),
        ("half", False, finished(interrupted=True), ("interrupted", None, "none")),
        ("[Request interrupted by user for tool use]", True, None, ("interrupted", None, "none")),
        ("running with ID: b1", False, finished(backgroundTaskId="b1"), ("running", None, "none")),
        (REJECTED, True, "User rejected tool use", ("denied", None, "none")),
        ("no", True, None, ("failed", None, "none")),
        ("fine", False, None, ("unknown", None, "none")),
        ("fine", None, None, ("unknown", None, "none")),
        ("fine", False, "fine", ("unknown", None, "none")),
        ("fine", False, {"stdout": "fine"}, ("unknown", None, "none")),
    ],
)
def test_the_exit_of_a_command(
    tmp_path: Path, content: str, error: bool | None, twin: Any, expected: tuple[Any, ...]
) -> None:
    script = Script()
    script.say("m1", bash("c1", "x"))
    script.result("c1", content, error=error, twin=twin)
    (message,) = by_kind(script.read(tmp_path), "tool_result")
    assert message.result is not None
    assert (message.result.status, message.result.exit_code, message.result.exit_from) == expected


def test_a_refusal_named_by_the_record(tmp_path: Path) -> None:
    script = Script()
    script.say("m1", bash("c1", "x"))
    script.result("c1", "no", error=True, toolDenialKind="user-rejected")
    assert by_kind(script.read(tmp_path), "tool_result")[0].result.status == "denied"


def test_a_permission_that_nobody_gave_is_no_success(tmp_path: Path) -> None:
    script = Script()
    script.say("m1", call("c1", "Write", file_path="/srv/a", content="x"))
    script.result("c1", "Claude requested permissions to write to /srv/a, but you haven't granted it yet.", error=True)
    (message,) = by_kind(script.read(tmp_path), "tool_result")
    assert (message.result.status, message.result.changes) == ("denied", ())


def test_the_exit_of_a_background_command_is_read_from_its_field(tmp_path: Path) -> None:
    script = Script()
    script.say(
        "m1", call("c1", "BashOutput", bash_id="b"), call("c2", "BashOutput", bash_id="b"), call("c3", "TaskOutput")
    )
    script.result("c1", "...", twin={"status": "running", "exitCode": None, "stdout": ""})
    script.result("c2", "...", twin={"status": "failed", "exitCode": 3})
    script.result("c3", "...", twin={"retrieval_status": "success", "task": {"status": "completed", "exitCode": 0}})
    found = [m.result for m in by_kind(script.read(tmp_path), "tool_result")]
    assert [(r.status, r.exit_code) for r in found] == [("running", None), ("failed", 3), ("ok", 0)]


def test_a_command_that_was_interrupted_into_the_background_is_asked_after_by_its_name(tmp_path: Path) -> None:
    script = Script()
    script.prompt("build it")
    script.say("m1", bash("c1", "make"))
    script.result("c1", "moved to the background", twin=finished(interrupted=True, backgroundTaskId="b1"))
    script.say("m2", call("c2", "BashOutput", bash_id="b1"))
    log = script.read(tmp_path)
    assert [m.call.command for m in by_kind(log, "tool_call")] == ["make", "make"]
    assert by_kind(log, "tool_result")[0].result.status == "interrupted"


def test_other_tools_have_no_exit_code(tmp_path: Path) -> None:
    script = Script()
    script.say("m1", call("c1", "Read", file_path="/srv/a"), call("c2", "Grep", pattern="x"))
    script.result("c1", "1 text", twin={"type": "text", "file": {"filePath": "/srv/a", "content": "text"}})
    script.result("c2", "Exit code 2", error=True)
    first, second = by_kind(script.read(tmp_path), "tool_result")
    assert (first.result.status, first.result.exit_code, first.result.changes) == ("ok", None, ())
    assert (second.result.status, second.result.exit_code) == ("failed", None)


def test_results_are_paired_whatever_their_order(tmp_path: Path) -> None:
    script = Script()
    script.say("m1", bash("c1", "a"), bash("c2", "b"), bash("c3", "c"))
    script.result("c2", "two", error=False, twin=finished())
    script.result("c1", "one", error=False, twin=finished())
    log = script.read(tmp_path)
    assert [(m.result.call_id, m.result.status) for m in by_kind(log, "tool_result")] == [("c2", "ok"), ("c1", "ok")]
    assert log.info.open_calls == ("c3",)


def test_a_result_without_a_call_is_an_orphan_until_the_call_is_there(tmp_path: Path) -> None:
    script = Script()
    script.result("c1", "x", error=False, twin=finished())
    path = script.write(tmp_path)
    log = script.read(tmp_path)
    assert log.messages[0].result.status == "orphan"
    script.say("m1", bash("c1", "late"))
    path.write_bytes(script.data())
    assert log.refresh().changed == 1
    assert (log.messages[0].result.status, log.messages[0].result.exit_code) == ("ok", 0)
    assert log.info.open_calls == ()


def test_several_results_in_one_record(tmp_path: Path) -> None:
    script = Script()
    script.say("m1", bash("c1", "a"), bash("c2", "b"))
    blocks = [{"type": "tool_result", "tool_use_id": f"c{n}", "content": f"r{n}", "is_error": True} for n in (1, 2)]
    note = {"type": "text", "text": "<system-reminder>x</system-reminder>"}
    script.prompt([*blocks, note], toolUseResult=finished())
    log = script.read(tmp_path)
    assert [(m.id, m.result.call_id, m.result.status) for m in by_kind(log, "tool_result")] == [
        ("u003", "c1", "failed"),
        ("u003:1", "c2", "failed"),
    ]
    assert log.messages[-1].origin == "harness"


def test_results_of_many_shapes_become_text(tmp_path: Path) -> None:
    script = Script()
    script.say("m1", *[call(f"c{n}", "Other") for n in range(5)])
    picture = {"type": "image", "source": {"media_type": "image/png", "data": "AAAA"}}
    shapes: list[Any] = [
        [{"type": "text", "text": "a"}, picture, {"type": "tool_reference", "tool_name": "Grep"}],
        None,
        {"b": 1, "a": 2},
        ["plain", 7],
        5,
    ]
    for number, shape in enumerate(shapes):
        script.result(f"c{number}", shape)
    assert [m.text for m in by_kind(script.read(tmp_path), "tool_result")] == [
        "a\n[image image/png 3 bytes]\n[tool Grep]",
        "",
        '{"a":2,"b":1}',
        "plain\n7",
        "5",
    ]


def test_file_changes(tmp_path: Path) -> None:
    script = Script()
    path = "/srv/shop/app.css"
    script.say("m1", call("c1", "Write", file_path=path, content="a\nb\n"), call("c2", "Edit", file_path=path))
    script.result(
        "c1", "created", twin={"type": "create", "filePath": path, "content": "a\nb\n", "structuredPatch": []}
    )
    hunk = {"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 3, "lines": [" a", "-b", "+c", "+d"]}
    script.result("c2", "edited", twin={"filePath": path, "oldString": "b", "structuredPatch": [hunk]})
    log = script.read(tmp_path)
    created, edited = (m.result.changes[0] for m in by_kind(log, "tool_result"))
    assert (created.op, created.added, created.removed, created.path) == ("create", 2, 0, path)
    assert (edited.op, edited.added, edited.removed) == ("update", 2, 1)
    assert edited.diff == "@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d"
    assert [m.call.paths for m in by_kind(log, "tool_call")] == [(path,), (path,)]


def test_a_result_kept_elsewhere_is_marked_truncated(tmp_path: Path) -> None:
    script = Script()
    script.say("m1", bash("c1", "big"))
    script.result("c1", "<persisted-output>Output saved to /x</persisted-output>", error=False, twin=finished())
    assert by_kind(script.read(tmp_path), "tool_result")[0].result.truncated


def test_large_arguments_are_shortened_in_memory_and_whole_in_the_body(tmp_path: Path) -> None:
    script = Script()
    script.say("m1", call("c1", "Write", file_path="/srv/a", content="x" * 50_000))
    log = script.read(tmp_path)
    (message,) = log.messages
    assert message.clipped
    assert len(message.call.args["content"]) < 1000
    assert len(log.body(message)) == message.size > 50_000


def test_late_in_a_long_session_less_of_an_output_is_in_memory(tmp_path: Path) -> None:
    script, rows = Script(), LONG // 2 + 5
    for turn in range(rows):
        script.say(f"m{turn}", bash(f"c{turn}", "make"))
        script.result(f"c{turn}", f"{turn} " + "row " * 100, error=False, twin=finished())
    script.records.append(script.records[-1])  # a replay is one, however little of the first is there
    data = script.data()
    path = tmp_path / "long.jsonl"
    path.write_bytes(b"")
    growing = SessionLog(path, ClaudeFormat())
    for start in range(0, len(data), len(data) // 7):
        with path.open("ab") as file:
            file.write(data[start : start + len(data) // 7])
        growing.refresh()
    log = read(path, "claude")
    assert growing.messages == log.messages
    early, late = log.messages[1], log.messages[-1]
    assert not early.clipped
    assert len(late.text) == LATE_OUTPUT_LIMIT
    assert log.body(late) == f"{rows - 1} " + "row " * 100
    assert log.info.metadata == 1
