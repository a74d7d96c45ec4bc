"""Agents delete their session files; what records rest on is copied before, and stands in for it after."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from claude_records import Script, bash, call, finished
from codex_records import Rollout, ended
from shop import attach, card, commands, opened, session_of, task_of

from workbench.domain.delta import delta_from
from workbench.domain.task import Task
from workbench.services import cutting, facts, history, kept, packages, sessions, state
from workbench.services.context import Context
from workbench.services.packages import CompileOptions
from workbench.services.viewing import build_view

SECRET = "ghp_" + "a1B2" * 9


def talk(repo: Path) -> Rollout:
    session = session_of(repo)
    session.say(f"the port is 8080, the token is {SECRET}")
    session.run("c1", "cat log")
    session.output("c1", ended(0, "x" * 30_000))
    for number in range(6):
        session.prompt(f"question {number}")
        session.say(f"answer {number}")
        session.used(100 + number)
    return session


@pytest.fixture
def task(repo: Path, tmp_path: Path) -> Task:
    ctx = opened(repo)
    made = task_of(ctx)
    attach(ctx, made, talk(repo), tmp_path)
    return ctx.workspace.load().tasks[made.id]


def ref_of(ctx: Context, task: Task, text: str) -> str:
    return next(row.message.ref for row in history.show(ctx, task).messages if text in row.message.text)


def gone(tmp_path: Path) -> None:
    for path in tmp_path.glob("rollout-*.jsonl"):
        path.unlink()


def files(repo: Path) -> list[str]:
    folder = repo / ".workbench" / "history"
    return [path.read_text() for path in folder.iterdir()] if folder.is_dir() else []


def test_a_source_that_was_cited_still_opens(repo: Path, tmp_path: Path, task: Task) -> None:
    ctx = opened(repo)
    ref = ref_of(ctx, task, "8080")
    facts.propose(ctx, "server.port", 8080, source=ref)
    records = ctx.workspace.load()
    assert kept.catch_up(ctx, records, task, sessions.attached(ctx, records, task))
    assert not kept.catch_up(ctx, records, task, sessions.attached(ctx, records, task))
    gone(tmp_path)
    later = opened(repo)
    assert history.body(later, task, ref).startswith("the port is 8080")
    view = build_view(later)
    assert [row.message.ref for row in view.history.messages] == [ref]
    assert [session.status for session in view.sessions] == ["absent"]


def test_secrets_are_masked_and_the_copies_are_the_owners_alone(repo: Path, task: Task) -> None:
    ctx = opened(repo)
    history.mark(ctx, task, [ref_of(ctx, task, "8080")], "pin")
    (text,) = files(repo)
    assert "8080" in text
    assert SECRET not in text
    (path,) = (repo / ".workbench" / "history").iterdir()
    assert path.stat().st_mode & 0o077 == 0


def test_a_cut_restores_after_the_file_is_gone(repo: Path, tmp_path: Path, task: Task) -> None:
    ctx = opened(repo)
    ref = ref_of(ctx, task, "Chunk ID")
    plan = cutting.plan_cut(ctx, task, [ref], "drop")
    assert len(plan.messages) == 2  # the call goes with its result
    cutting.cut(ctx, task, plan, why="used up", yes=True)
    gone(tmp_path)
    later = opened(repo)
    rows = {row.message.ref: row.fate.disposition for row in history.show(later, task).messages}
    assert rows[ref] == "dropped"
    assert len(rows) == 2
    assert history.body(later, task, ref).count("x") > 20_000
    history.mark(later, task, [ref], "restore")
    assert {row.fate.disposition for row in history.show(opened(repo), task).messages} >= {"kept"}


def test_a_package_copies_what_it_takes(repo: Path, tmp_path: Path, task: Task) -> None:
    ctx = opened(repo)
    packages.prepare(ctx, task, "claude", CompileOptions(budget=4000))
    name = sessions.attached(ctx, ctx.workspace.load(), task)[0].ref.name
    assert any("question 5" in message.text for message in kept.copies(ctx.workspace, name))


def test_damaged_copies_are_left_out(repo: Path, tmp_path: Path, task: Task) -> None:
    ctx = opened(repo)
    history.mark(ctx, task, [ref_of(ctx, task, "8080")], "pin")
    (path,) = (repo / ".workbench" / "history").iterdir()
    path.write_bytes(b'{"id": 7}\nnonsense\n' + path.read_bytes() + b'{"half')
    name = sessions.attached(ctx, ctx.workspace.load(), task)[0].ref.name
    assert len(kept.copies(ctx.workspace, name)) == 1
    history.mark(ctx, task, [ref_of(ctx, task, "answer 0")], "pin")
    assert len(kept.copies(ctx.workspace, name)) == 2


def test_what_a_sub_agent_showed_still_opens(repo: Path, tmp_path: Path) -> None:
    script = Script(cwd=str(repo))
    script.prompt("have it built")
    script.say("m1", call("t1", "Task", prompt="build"))
    script.result("t1", "done", twin={"agentId": "a1", "status": "completed"})
    child = Script(script.session, cwd=str(repo))
    child.prompt("build", isSidechain=True, agentId="a1")
    child.say("s1", bash("b1", "npm run build"), isSidechain=True, agentId="a1")
    child.result("b1", "built " * 6000, twin=finished(), isSidechain=True, agentId="a1")
    folder = tmp_path / script.session / "subagents"
    folder.mkdir(parents=True)
    child.write(folder, "agent-a1.jsonl")
    ctx = opened(repo)
    made = task_of(ctx)
    sessions.attach(ctx, made, str(script.write(tmp_path)))
    task = ctx.workspace.load().tasks[made.id]
    (row,) = commands(card(ctx))
    source = row.evidence.source or ""
    assert source == f"claude:agent-a1#{child.records[-1]['uuid']}"
    shown = history.beside(ctx, task, source)
    assert shown is not None
    assert shown.message.text == "built " * 6000
    assert history.beside(ctx, task, f"claude:{script.session}#u001") is None  # it stands in the history itself
    done = {"done": [{"item": "it builds", "evidence": [row.evidence.id]}]}
    state.update(ctx, task, delta_from(done))
    shutil.rmtree(tmp_path / script.session)
    later = history.beside(opened(repo), task, source)
    assert later is not None
    assert later.message.text == shown.message.text
