"""What the model saw: the messages of one request as of that request, in four parts, and what is not recorded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from claude_records import Script, bash, finished
from codex_records import Rollout, ended
from shop import opened, session_of, task_of

from workbench.domain.task import Task
from workbench.errors import NotFoundError, WorkbenchError
from workbench.services import request, sessions
from workbench.services.context import Context
from workbench.services.request import RequestView
from workbench.services.viewing import build_view


def used(context: int, output: int = 5) -> dict[str, int]:
    return {"input_tokens": 3, "cache_read_input_tokens": context - 3, "output_tokens": output}


def joined(repo: Path, session: Script | Rollout, folder: Path) -> tuple[Context, Task]:
    ctx = opened(repo)
    task = task_of(ctx)
    sessions.attach(ctx, task, str(session.write(folder)))
    return ctx, ctx.workspace.load().tasks[task.id]


def texts(found: RequestView, part: str | None = None) -> list[str]:
    return [row.text for row in found.messages if part in (None, row.part)]


def share(found: RequestView, name: str) -> Any:
    return next(part for part in found.parts if part.name == name)


def talk(repo: Path) -> Script:
    script = Script(cwd=str(repo))
    script.prompt("<system-reminder>be brief</system-reminder>\nmake it green")
    script.say("m1", bash("c1", "cat theme.css"), usage=used(1000))
    script.result("c1", "blue", twin=finished())
    script.say("m2", {"type": "thinking", "thinking": "so it is blue"}, "green now", usage=used(1040))
    script.prompt("thanks; and the border?")
    script.say("m3", "done", usage=used(1100))
    return script


def test_the_last_request_in_four_parts(repo: Path, tmp_path: Path) -> None:
    ctx, task = joined(repo, talk(repo), tmp_path)
    found = request.view(ctx, task)
    assert (found.number, found.numbers, found.usage.context if found.usage else 0) == (3, (1, 2, 3), 1100)
    assert texts(found, "instructions") == ["<system-reminder>be brief</system-reminder>"]
    assert texts(found, "person") == ["make it green", "thanks; and the border?"]
    assert texts(found, "tools") == ["blue"]
    assert texts(found, "agent") == ['{"command":"cat theme.css"}', "so it is blue", "green now"]
    assert "done" not in texts(found)  # what the request was answered with came after it
    assert [row.text for row in found.messages if row.new][-1] == "thanks; and the border?"
    assert "make it green" not in [row.text for row in found.messages if row.new]
    assert found.counted + share(found, "instructions").not_recorded == 1100
    assert "1,100 input tokens by the request's usage record" in found.basis


def test_a_request_is_named_by_number_or_by_a_message_of_it(repo: Path, tmp_path: Path) -> None:
    script = talk(repo)
    ctx, task = joined(repo, script, tmp_path)
    first = request.view(ctx, task, "1")
    assert texts(first) == ["make it green", "<system-reminder>be brief</system-reminder>"]
    assert request.view(ctx, task, f"claude:{script.session}#1") == first
    answer = next(row.message for row in request.view(ctx, task).messages if row.text == "green now")
    assert request.view(ctx, task, answer.ref).number == 2  # the request that it is the answer of
    result = next(row.message for row in request.view(ctx, task).messages if row.text == "blue")
    assert request.view(ctx, task, result.id).number == 2  # the first that carried it
    for word in ("4", "0", "nothing-like-it", "codex:elsewhere#1", "#"):
        with pytest.raises(NotFoundError):
            request.view(ctx, task, word)


def test_after_a_compaction_only_the_summary_is_carried_and_before_it_all(repo: Path, tmp_path: Path) -> None:
    script = talk(repo)
    script.add("system", subtype="compact_boundary", parent=None, compactMetadata={"trigger": "auto"})
    script.prompt("Summary: it is green.", isCompactSummary=True)
    script.prompt("go on")
    script.say("m4", "on it", usage=used(300))
    ctx, task = joined(repo, script, tmp_path)
    found = request.view(ctx, task)
    assert texts(found) == ["Summary: it is green.", "go on"]
    assert [row.part for row in found.messages] == ["agent", "person"]
    assert "make it green" in texts(request.view(ctx, task, "3"))
    assert found.ages["summary"] > 0
    assert (found.ages["history"], request.view(ctx, task, "3").ages["summary"]) == (0, 0)


def test_a_prompt_that_was_edited_later_stands_in_the_requests_before(repo: Path, tmp_path: Path) -> None:
    script = Script(cwd=str(repo))
    start = script.prompt("hello")["uuid"]
    script.say("m1", "hello", usage=used(100))
    script.prompt("make it blue")
    script.say("m2", "blue", usage=used(110))
    script.prompt("make it green", parent=start)
    script.say("m3", "green", usage=used(105))
    ctx, task = joined(repo, script, tmp_path)
    assert texts(request.view(ctx, task)) == ["hello", "make it green"]
    assert "make it blue" in texts(request.view(ctx, task, "2"))


def test_turns_that_were_taken_back_stand_in_the_requests_before(repo: Path, tmp_path: Path) -> None:
    session = session_of(repo)
    session.say("which port?")
    session.used(500)
    session.prompt("8080")
    session.say("set")
    session.used(520)
    session.event("thread_rolled_back", num_turns=1)
    session.prompt("9090")
    session.say("set again")
    session.used(521)
    ctx, task = joined(repo, session, tmp_path)
    assert texts(request.view(ctx, task), "person") == ["make the build pass", "9090"]
    assert texts(request.view(ctx, task, "2"), "person") == ["make the build pass", "8080"]


def test_instructions_that_the_file_states_are_recorded(repo: Path, tmp_path: Path) -> None:
    session = Rollout(cwd=str(repo), base_instructions={"text": "You are careful."}, dynamic_tools=[{"name": "look"}])
    session.turn()
    session.given("Sandbox: none.", role="developer")
    session.prompt("run it")
    session.run("c1", "make")
    session.used(200)
    session.output("c1", ended(0, "built"))
    session.say("it built")
    session.used(260)
    ctx, task = joined(repo, session, tmp_path)
    found = request.view(ctx, task)
    assert [(one.name, one.text) for one in found.stated] == [
        ("base instructions", "You are careful."),
        ("tools of the client", '[{"name":"look"}]'),
    ]
    assert texts(found, "instructions") == ["Sandbox: none."]
    assert share(found, "instructions").recorded > sum(one.tokens for one in found.stated) > 0
    assert found.counted + share(found, "instructions").not_recorded == 260


def test_without_a_usage_record_nothing_is_guessed(repo: Path, tmp_path: Path) -> None:
    script = Script(cwd=str(repo))
    script.prompt("hello")
    script.say("m1", "hello")
    ctx, task = joined(repo, script, tmp_path)
    found = request.view(ctx, task)
    assert share(found, "instructions").not_recorded is None
    assert "no usage" in found.basis


@pytest.mark.parametrize("tokens", [-5, "x", 1e308, 10**15, True, [1]])
@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_a_usage_that_is_no_count_is_unknown(repo: Path, tmp_path: Path, tokens: object, agent: str) -> None:
    session: Script | Rollout
    if agent == "claude":
        session = Script(cwd=str(repo))
        session.prompt("hello")
        session.say("m1", "hello", usage={"input_tokens": tokens, "output_tokens": 5})
    else:
        session = session_of(repo)
        session.say("hello")
        session.event("token_count", info={"last_token_usage": {"input_tokens": tokens, "output_tokens": 5}})
    ctx, task = joined(repo, session, tmp_path)
    found = request.view(ctx, task)
    assert found.usage is None
    assert share(found, "instructions").not_recorded is None
    assert "no usage" in found.basis
    (shown,) = build_view(ctx, task.id).sessions
    assert shown.full is None


def test_more_counted_than_used_is_said_and_never_negative(repo: Path, tmp_path: Path) -> None:
    script = Script(cwd=str(repo))
    script.prompt("word " * 400)
    script.say("m1", "hello", usage=used(50))
    ctx, task = joined(repo, script, tmp_path)
    found = request.view(ctx, task)
    assert share(found, "instructions").not_recorded == 0
    assert "more than was used" in found.basis


def test_long_texts_are_carried_whole(repo: Path, tmp_path: Path) -> None:
    script = Script(cwd=str(repo))
    script.prompt("look")
    script.say("m1", bash("c1", "cat log"), usage=used(100))
    script.result("c1", "word " * 9000, twin=finished())
    script.say("m2", "long", usage=used(9300))
    ctx, task = joined(repo, script, tmp_path)
    found = request.view(ctx, task)
    assert texts(found, "tools") == ["word " * 9000]
    assert share(found, "tools").recorded >= 9000


def test_the_programs_own_notes_were_never_sent(repo: Path, tmp_path: Path) -> None:
    script = Script(cwd=str(repo))
    script.prompt("go")
    script.add("system", subtype="api_error", error={"message": "overloaded"})
    script.add("assistant", isApiErrorMessage=True, message={"model": "<synthetic>", "content": "API Error"})
    script.prompt("again")
    script.say("m1", "ok", usage=used(90))
    ctx, task = joined(repo, script, tmp_path)
    assert texts(request.view(ctx, task)) == ["go", "again"]


def test_a_sub_agents_requests_carry_its_own_conversation(repo: Path, tmp_path: Path) -> None:
    script = talk(repo)
    script.say("m4", {"type": "tool_use", "id": "t1", "name": "Task", "input": {"prompt": "look"}}, usage=used(1200))
    script.result("t1", "found", twin={"agentId": "a1b2", "status": "completed"})
    child = Script(script.session, cwd=str(repo))
    child.prompt("look", isSidechain=True, agentId="a1b2")
    child.say("s1", "found", usage=used(70), isSidechain=True, agentId="a1b2")
    folder = tmp_path / script.session / "subagents"
    folder.mkdir(parents=True)
    child.write(folder, "agent-a1b2.jsonl")
    ctx, task = joined(repo, script, tmp_path)
    assert request.view(ctx, task).number == 4
    found = request.view(ctx, task, "claude:agent-a1b2#1")
    assert texts(found) == ["look"]
    assert [row.part for row in found.messages] == ["person"]


def test_where_the_file_is_gone_nothing_is_made_up(repo: Path, tmp_path: Path) -> None:
    _, task = joined(repo, talk(repo), tmp_path)
    for path in tmp_path.glob("*.jsonl"):
        path.unlink()
    with pytest.raises(NotFoundError, match="not on this machine"):
        request.view(opened(repo), task)


def shown(repo: Path, path: Path, tmp_path: Path) -> Iterator[RequestView]:
    """Every tenth request of a session file, and the last."""
    ctx = opened(repo)
    task = task_of(ctx)
    try:
        sessions.attach(ctx, task, str(path))
    except WorkbenchError:
        return
    try:
        last = request.view(ctx, task)
    except NotFoundError:
        return
    yield last
    for number in last.numbers[:-1:10]:
        yield request.view(ctx, task, f"{last.session}#{number}", whole=False)


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_what_real_requests_carried_adds_up(repo: Path, tmp_path: Path, shared_dir: Path, agent: str) -> None:
    seen = 0
    for path in sorted((shared_dir / "corpus" / agent).rglob("*.jsonl"), key=lambda p: p.stat().st_size)[-40:]:
        for found in shown(repo, path, tmp_path):
            seen += 1
            missing = found.parts[0].not_recorded
            if found.usage is None:
                assert missing is None, path
            else:
                assert missing is not None, path
                assert missing == max(0, found.usage.context - found.counted), path
            assert sum(part.messages for part in found.parts) == len(found.messages), path
            assert all(row.message.seq < found.answer.seq for row in found.messages), path
            assert all(row.message.in_context for row in found.messages), path
    assert seen > 40
