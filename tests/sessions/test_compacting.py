"""Compaction: guidelines, the last turns and a block of notes in place of the rest, ready to be sent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from claude_records import Script, bash, finished
from shop import opened, task_of

from workbench.domain.task import Task
from workbench.errors import NotFoundError
from workbench.services import compacting, cutting, history, notes, sessions
from workbench.services.compacting import Compacted
from workbench.services.context import Context

SECRET = "AKIA" + "IOSFODNN7" + "EXAMPLE"


def talk(repo: Path, turns: int = 6) -> Script:
    """A prompt, a call, a long result and an answer; two turns each time."""
    script = Script(cwd=str(repo))
    for number in range(1, turns // 2 + 1):
        script.prompt(f"request {number}")
        script.say(f"c{number}", {"type": "thinking", "thinking": "hm"}, bash(f"call-{number}", f"cat {number}.txt"))
        script.result(f"call-{number}", f"line of {number}\n" * 300, twin=finished())
        script.say(f"a{number}", f"answer {number}")
    return script


def joined(repo: Path, script: Script, folder: Path, rules: str = "") -> tuple[Context, Task]:
    if rules:
        (repo / ".workbench" / "workspace.toml").open("a").write(rules)
    ctx = opened(repo)
    task = task_of(ctx)
    sessions.attach(ctx, task, str(script.write(folder)))
    return ctx, ctx.workspace.load().tasks[task.id]


def shape(found: Compacted) -> list[tuple[str, str]]:
    return [(row.role, row.text.partition("\n")[0]) for row in found.messages]


def test_the_last_turns_with_the_prompts_before_them_and_whole_calls(repo: Path, tmp_path: Path) -> None:
    ctx, task = joined(repo, talk(repo), tmp_path)
    found = compacting.compact(ctx, task, turns=3)
    assert shape(found) == [
        ("user", "request 2"),
        ("assistant", "answer 2"),
        ("user", "request 3"),
        ("assistant", '{"command":"cat 3.txt"}'),
        ("tool", "line of 3"),
        ("assistant", "answer 3"),
    ]
    assert found.before > found.tokens == sum(row.tokens for row in found.messages)
    assert compacting.compact(ctx, task).turns == 4
    everything = compacting.compact(ctx, task, turns=10**12)
    assert (len(everything.messages), everything.turns, everything.wanted) == (12, 6, 6)
    assert compacting.compact(ctx, task, turns=10**12, budget=1).turns == 1


def test_as_of_a_request_and_of_none(repo: Path, tmp_path: Path) -> None:
    ctx, task = joined(repo, talk(repo), tmp_path)
    assert shape(compacting.compact(ctx, task, "2")) == [
        ("user", "request 1"),
        ("assistant", '{"command":"cat 1.txt"}'),
        ("tool", "line of 1"),
    ]
    with pytest.raises(NotFoundError):
        compacting.compact(ctx, task, "99")


def test_a_call_that_waits_is_left_out_and_said(repo: Path, tmp_path: Path) -> None:
    script = talk(repo, 2)
    script.prompt("and now?")
    script.say("m9", bash("open", "sleep 9"))
    ctx, task = joined(repo, script, tmp_path)
    found = compacting.compact(ctx, task)
    assert found.waiting == ("open",)
    assert shape(found)[-1] == ("user", "and now?")


def test_of_a_call_id_one_call_and_one_result_after_it_are_sent(repo: Path, tmp_path: Path) -> None:
    script = Script(cwd=str(repo))
    script.prompt("go")
    script.result("twice", "too early", twin=finished())
    script.say("m1", bash("twice", "cat 1.txt"))
    script.result("twice", "in time", twin=finished())
    script.say("m2", bash("twice", "cat 2.txt"))
    ctx, task = joined(repo, script, tmp_path)
    found = compacting.compact(ctx, task)
    assert shape(found) == [("user", "go"), ("assistant", '{"command":"cat 1.txt"}'), ("tool", "in time")]


def test_a_key_that_ends_the_block_does_not(repo: Path, tmp_path: Path) -> None:
    ctx, task = joined(repo, talk(repo, 2), tmp_path)
    notes.write(ctx, "[End of the notes]", {"v": "long " * 50})
    found = compacting.compact(ctx, task, budget=40)
    assert found.named == ("[End of the notes]",)
    assert found.messages[0].text.count("[End of the notes]") == 1


def test_a_budget_makes_digests_of_long_outputs_then_takes_turns(repo: Path, tmp_path: Path) -> None:
    ctx, task = joined(repo, talk(repo), tmp_path)
    whole = compacting.compact(ctx, task, turns=6, budget=100_000)
    assert {row.form for row in whole.messages} == {"whole"}
    less = compacting.compact(ctx, task, turns=6, budget=whole.tokens - 1)
    assert [row.form for row in less.messages if row.role == "tool"] == ["digest", "whole", "whole"]
    assert "300 lines" in next(row.text for row in less.messages if row.form == "digest")
    few = compacting.compact(ctx, task, turns=6, budget=60)
    assert few.turns < 6
    assert few.tokens <= 60
    none = compacting.compact(ctx, task, budget=1)
    assert none.turns == 1
    assert none.over == none.tokens - 1
    for budget in range(20, whole.tokens, 97):
        found = compacting.compact(ctx, task, turns=6, budget=budget)
        assert found.tokens <= budget or found.turns == 1
        calls = {row.message.call.call_id for row in found.messages if row.message and row.message.call}
        results = {row.message.result.call_id for row in found.messages if row.message and row.message.result}
        assert calls == results


def test_notes_stand_at_the_end_of_the_first_message_and_those_without_room_are_named(
    repo: Path, tmp_path: Path
) -> None:
    rules = '\n[[guidelines]]\ntext = "Prices in USD."\n'
    ctx, task = joined(repo, talk(repo), tmp_path, rules)
    notes.write(ctx, "table", {"fields": ["id", "price"], "rows": 120}, kind="structure", task=task)
    notes.write(ctx, "long", "word " * 2_000, task=task)
    notes.write(ctx, "port", 8080, task=task)
    notes.write(ctx, "key", SECRET, task=task)
    found = compacting.compact(ctx, task, turns=2, budget=1_900)
    first = found.messages[0]
    assert first.role == "system"
    assert first.text.startswith("Guidelines:\n- Prices in USD.")
    assert 'table: {"fields":["id","price"],"rows":120}' in first.text
    assert "port: 8080" in first.text
    assert SECRET not in first.text
    assert set(found.notes) == {"table", "port", "key"}
    assert found.named == ("long",)
    assert "note read KEY): long" in first.text
    assert all("port: 8080" not in row.text for row in found.messages[1:])
    for budget in range(200, 4_000, 371):
        tight = compacting.compact(ctx, task, budget=budget)
        assert tight.tokens <= budget or tight.turns == 1
        assert {*tight.notes, *tight.named} == {"table", "port", "key", "long"}
    chosen = compacting.compact(ctx, task, notes=["port", "nothing"])
    assert (set(chosen.notes), chosen.absent) == ({"table", "port"}, ("nothing",))


def test_structure_notes_take_a_thousand_tokens_at_a_small_window(repo: Path, tmp_path: Path) -> None:
    ctx, task = joined(repo, talk(repo), tmp_path, "\n[agents.claude]\nwindow = 8000\n")
    for number in range(4):
        notes.write(ctx, f"step{number}", {"settled": "word " * 400}, kind="structure", task=task)
    found = compacting.compact(ctx, task)
    assert (found.turns, len(found.notes), len(found.named)) == (3, 2, 2)
    assert (found.budget, found.basis) == (4_000, "half of the model's window")


def test_compacting_again_replaces_the_block(repo: Path, tmp_path: Path) -> None:
    script = talk(repo, 2)
    ctx, task = joined(repo, script, tmp_path)
    notes.write(ctx, "port", "[End of the notes] 8080", task=task)
    block = compacting.compact(ctx, task).messages[0].text
    script.prompt(f"Be brief.\n\n{block}")
    path = script.write(tmp_path)
    assert json.loads(path.read_text().splitlines()[-1])["message"]["content"].count("port: ") == 1
    rule = next(row for row in history.show(ctx, task).messages if row.message.text.startswith("Be brief."))
    history.mark(ctx, task, [rule.message.ref], "class", memory="guideline")
    notes.write(ctx, "port", 9090, task=task)
    again = compacting.compact(ctx, task)
    assert again.messages[0].text.startswith("Be brief.\n\n[Notes")
    assert [row.text.count("port: ") for row in again.messages] == [1, *[0] * (len(again.messages) - 1)]
    assert "9090" in again.messages[0].text


def test_what_was_cut_is_one_line_and_what_is_pinned_stays(repo: Path, tmp_path: Path) -> None:
    ctx, task = joined(repo, talk(repo), tmp_path)
    rows = {row.message.text.partition("\n")[0]: row.message for row in history.show(ctx, task).messages}
    history.mark(ctx, task, [rows["line of 1"].ref], "pin")
    plan = cutting.plan_cut(ctx, task, [rows["line of 3"].ref], "externalise")
    cutting.cut(ctx, task, plan, yes=True)
    found = compacting.compact(ctx, task, turns=2)
    lines = [text for _role, text in shape(found)]
    assert lines[:2] == ['{"command":"cat 1.txt"}', "line of 1"]
    assert "line of 3" not in lines
    (line,) = [row.text for row in found.messages if row.form == "replaced"]
    assert line.startswith("[Bash and its result externalised to blob ")
    assert "history show @ claude:" in line
