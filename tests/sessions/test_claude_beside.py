"""What lies beside a Claude Code session: sub-agents' files, outputs too large for it, limits."""

from __future__ import annotations

from pathlib import Path

from claude_records import Script, bash, by_kind, call, finished

CHILD = {"status": "completed", "agentId": "a1b2c3"}


def place(folder: Path, name: str) -> Path:
    child = Script()
    child.prompt("look around", isSidechain=True, agentId="a1b2c3")
    folder.mkdir(parents=True, exist_ok=True)
    return child.write(folder, name)


def with_child() -> Script:
    script = Script()
    script.say("m1", call("c1", "Task", prompt="look around"))
    script.result("c1", "nothing", error=False, twin=CHILD)
    return script


def test_sub_agents_are_linked_from_the_call_wherever_their_file_lies(tmp_path: Path) -> None:
    log = with_child().read(tmp_path)
    (result,) = by_kind(log, "tool_result")
    assert result.result.child == "agent-a1b2c3"
    assert log.info.children == ("agent-a1b2c3",)
    assert log.children() == []
    beside = place(tmp_path, "agent-a1b2c3.jsonl")
    place(tmp_path, "agent-another.jsonl")
    assert log.children() == [beside]
    own = place(tmp_path / log.info.id / "subagents", "agent-a1b2c3.jsonl")
    nested = place(tmp_path / log.info.id / "subagents" / "workflows" / "wf-1", "agent-d4.jsonl")
    assert log.children() == [own, nested]


def test_an_output_in_a_file_of_its_own_is_read_from_there(tmp_path: Path) -> None:
    script = Script()
    script.say("m1", bash("c1", "make"))
    stated = f"/somewhere/else/{script.session}/tool-results/b7.txt"
    preview = (
        f"<persisted-output>\nOutput too large. Full output saved to: {stated}\n\nPreview:\nline 1\n</persisted-output>"
    )
    script.result("c1", preview, error=False, twin=finished(persistedOutputPath=stated))
    log = script.read(tmp_path)
    (result,) = by_kind(log, "tool_result")
    assert (result.result.external, result.result.truncated) == ("b7.txt", True)
    assert log.body(result) == preview
    folder = tmp_path / script.session / "tool-results"
    folder.mkdir(parents=True)
    (folder / "b7.txt").write_text("line 1\nline 2\n")
    assert log.body(result) == "line 1\nline 2\n"


def test_no_output_is_read_from_elsewhere(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("mine")
    script = Script()
    script.say("m1", bash("c1", "make"), bash("c2", "make"), bash("c3", "make"))
    for number, path in enumerate(("/x/tool-results/../../secret.txt", str(secret), "/x/tool-results/link.txt"), 1):
        script.result(f"c{number}", "<persisted-output>p</persisted-output>", error=False,
                      twin=finished(persistedOutputPath=path))  # fmt: skip
    log = script.read(tmp_path)
    folder = tmp_path / script.session / "tool-results"
    folder.mkdir(parents=True)
    (folder / "link.txt").symlink_to(secret)
    assert {log.body(m) for m in by_kind(log, "tool_result")} == {"<persisted-output>p</persisted-output>"}


def test_a_limit_stands_until_the_model_answers_again(tmp_path: Path) -> None:
    script = Script()
    script.prompt("go")
    script.say("m1", "Claude AI usage limit reached|1772370000", model="<synthetic>", isApiErrorMessage=True)
    (limit,) = script.read(tmp_path).info.limits
    assert (limit.name, limit.reached, limit.resets_at) == (
        "Claude AI usage limit reached",
        True,
        "2026-03-01T13:00:00Z",
    )
    script.say("m2", "You've hit your limit \u00b7 resets 3pm (Europe/Berlin)", model="<synthetic>", error="rate_limit")
    (limit,) = script.read(tmp_path).info.limits
    assert limit.resets_at == "3pm (Europe/Berlin)"
    script.say("m3", "here I am", usage={"input_tokens": 5, "output_tokens": 1})
    assert script.read(tmp_path).info.limits == ()


def test_compactions_are_counted(tmp_path: Path) -> None:
    script = Script()
    script.prompt("go")
    script.add("system", subtype="compact_boundary", parent=None, compactMetadata={"trigger": "auto"})
    script.prompt("summary", isCompactSummary=True)
    assert script.read(tmp_path).info.compactions == 1
