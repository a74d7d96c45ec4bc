"""Evidence that sessions show by themselves: on the card, in packages, and never in the way of confirming one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from codex_records import Rollout, identity
from shop import attach, build, card, commands, edit, opened, session_of, task_of

from workbench.domain.ids import is_id
from workbench.domain.task import Task
from workbench.services import evidence, handover, packages
from workbench.services.context import Context
from workbench.services.packages import CompileOptions
from workbench.services.viewing import build_view


def test_the_card_shows_the_last_failure_and_how_acceptance_stands(repo: Path, tmp_path: Path) -> None:
    ctx = opened(repo)
    task = task_of(ctx)
    session = session_of(repo)
    build(session, 1, 2, "src/a.ts: error: no such name")
    attach(ctx, task, session, tmp_path)
    found = card(ctx)
    assert found.failure is not None
    assert (found.failure.command, found.failure.exit_code) == ("npm run build", 2)
    assert found.failure.excerpt == "src/a.ts: error: no such name"
    assert (found.failure.source, found.failure.trust) == (f"codex:{session.session}#b1:result", "verified")
    assert is_id(found.failure.id)
    assert [row.verdict for row in found.acceptance] == ["failed"]
    build(session, 2, 0, command=f"cd {repo} && npm run build 2>&1")
    session.write(tmp_path)
    found = card(ctx)
    assert found.failure is None
    assert [row.verdict for row in found.acceptance] == ["passed"]


def test_an_output_is_read_once_however_often_it_is_looked_at(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.sessions import SessionLog

    read: list[str] = []
    real = SessionLog.body
    monkeypatch.setattr(SessionLog, "body", lambda log, message: read.append(message.id) or real(log, message))
    ctx = opened(repo)
    task = task_of(ctx)
    session = session_of(repo)
    build(session, 1, 2, "x" * 20_000 + "\nsrc/a.ts: error: no such name")
    attach(ctx, task, session, tmp_path)
    first = card(ctx).failure
    read.clear()
    edit(session, 2, "src/a.ts")
    session.write(tmp_path)
    again = card(ctx)
    assert again.failure == first
    assert not read
    assert [row.valid for row in again.evidence if row.evidence.id == first.id] == [False]


def test_nothing_of_it_is_stored(repo: Path, tmp_path: Path) -> None:
    ctx = opened(repo)
    task = task_of(ctx)
    session = session_of(repo)
    build(session, 1, 2)
    attach(ctx, task, session, tmp_path)
    before = ctx.workspace.load().revision
    ids = [row.evidence.id for row in card(ctx).evidence]
    assert ctx.workspace.load().revision == before
    assert ctx.workspace.load().evidence == ()
    assert [row.evidence.id for row in card(opened(repo)).evidence] == ids


def test_a_later_change_under_it_makes_a_passed_command_stale(repo: Path, tmp_path: Path) -> None:
    ctx = opened(repo)
    task = task_of(ctx)
    session = session_of(repo)
    edit(session, 1, "src/a.ts")
    build(session, 1, 0)
    edit(session, 2, "docs/c.md")
    attach(ctx, task, session, tmp_path)
    # Outside of the targets nothing under the command changes.
    assert [row.verdict for row in card(ctx).acceptance] == ["passed"]
    edit(session, 3, "src/b.ts")
    session.write(tmp_path)
    found = card(ctx)
    assert [row.verdict for row in found.acceptance] == ["stale"]
    assert [(row.valid, row.changed) for row in commands(found)] == [(False, ("src/b.ts",))]


def test_a_change_that_no_session_shows_is_seen_on_the_disk(repo: Path, tmp_path: Path) -> None:
    ctx = opened(repo)
    task = task_of(ctx)
    session = session_of(repo)
    build(session, 1, 0)
    attach(ctx, task, session, tmp_path)
    (repo / "src/b.ts").write_text("by hand\n")
    assert [row.verdict for row in card(ctx).acceptance] == ["stale"]


def test_globs_of_the_command_say_what_it_depends_on(repo: Path, tmp_path: Path) -> None:
    ctx = opened(repo)
    spec = {"id": "build", "run": ["npm", "run", "build"], "depends": ["docs/*.md"]}
    task = task_of(ctx, commands=[spec])
    session = session_of(repo)
    build(session, 1, 0)
    edit(session, 1, "src/a.ts")
    attach(ctx, task, session, tmp_path)
    assert [row.verdict for row in card(ctx).acceptance] == ["passed"]
    edit(session, 2, "docs/c.md")
    session.write(tmp_path)
    assert [row.verdict for row in card(ctx).acceptance] == ["stale"]


def test_an_unknown_exit_code_passes_nothing(repo: Path, tmp_path: Path) -> None:
    ctx = opened(repo)
    task = task_of(ctx)
    session = session_of(repo)
    session.run("b1", "npm run build")
    session.output("b1", "done, it seems")
    attach(ctx, task, session, tmp_path)
    found = card(ctx)
    assert [row.verdict for row in found.acceptance] == ["waiting"]
    assert [(row.evidence.exit_code, row.evidence.trust) for row in commands(found)] == [(None, "reported")]


def test_a_pipe_is_not_the_required_command(repo: Path, tmp_path: Path) -> None:
    ctx = opened(repo)
    task = task_of(ctx)
    session = session_of(repo)
    build(session, 1, 0, command="npm run build | tail -5")
    attach(ctx, task, session, tmp_path)
    assert [row.verdict for row in card(ctx).acceptance] == ["waiting"]


def test_looking_around_is_no_evidence_and_the_plan_is_a_claim(repo: Path, tmp_path: Path) -> None:
    ctx = opened(repo)
    task = task_of(ctx)
    session = session_of(repo)
    build(session, 1, 0, command="ls -la src")
    session.call(
        "p1", "update_plan", plan=[{"step": "look", "status": "completed"}, {"step": "fix", "status": "pending"}]
    )
    attach(ctx, task, session, tmp_path)
    (row,) = card(ctx).evidence
    assert (row.evidence.kind, row.evidence.trust, row.evidence.text) == (
        "claim",
        "reported",
        "plan: [x] look; [ ] fix",
    )


def test_files_elsewhere_are_not_this_repositorys(repo: Path, tmp_path: Path) -> None:
    ctx = opened(repo)
    task = task_of(ctx)
    session = session_of(repo)
    edit(session, 1, "/tmp/elsewhere/x.ts")
    edit(session, 2, "src/a.ts")
    edit(session, 3, "src/a.ts")
    attach(ctx, task, session, tmp_path)
    (row,) = card(ctx).evidence
    assert [file.path for file in row.evidence.files] == ["src/a.ts"]
    assert (row.evidence.source or "").endswith("#e3:result")
    assert row.evidence.files[0].sha256 is not None


def test_what_is_recorded_already_is_not_shown_twice(repo: Path, tmp_path: Path) -> None:
    ctx = opened(repo)
    task = task_of(ctx)
    session = session_of(repo)
    build(session, 1, 2)
    attach(ctx, task, session, tmp_path)
    (seen,) = commands(card(ctx))
    handed = {"argv": ["npm", "run", "build"], "exit_code": 2, "source": seen.evidence.source}
    evidence.add(ctx, ctx.workspace.load().tasks[task.id], "command", handed)
    assert len(commands(card(ctx))) == 1


def test_secrets_in_output_are_masked(repo: Path, tmp_path: Path) -> None:
    ctx = opened(repo)
    task = task_of(ctx)
    session = session_of(repo)
    token = "ghp_" + "a1B2" * 9
    build(session, 1, 2, f"error: bad token {token}")
    attach(ctx, task, session, tmp_path)
    (seen,) = commands(card(ctx))
    assert token not in seen.evidence.excerpt
    assert "bad token" in seen.evidence.excerpt


def test_the_end_of_a_long_output_is_what_is_kept(repo: Path, tmp_path: Path) -> None:
    ctx = opened(repo)
    task = task_of(ctx)
    session = session_of(repo)
    build(session, 1, 2, "compiling\n" * 20_000 + "error: the last line\n3 failed in 1.0s\n")
    attach(ctx, task, session, tmp_path)
    (seen,) = commands(card(ctx))
    assert seen.evidence.excerpt.endswith("error: the last line\n3 failed in 1.0s")
    assert seen.evidence.text == "3 failed"


# In packages.


def prompt_of(ctx: Context, task: Task) -> str:
    looked = packages.preview(ctx, ctx.workspace.load().tasks[task.id], "claude", CompileOptions(budget=4000))
    return looked.result.prompt  # type: ignore[union-attr]


def test_a_package_carries_the_failure_the_files_and_what_passed(repo: Path, tmp_path: Path) -> None:
    ctx = opened(repo)
    task = task_of(ctx)
    session = session_of(repo)
    edit(session, 1, "src/a.ts")
    build(session, 1, 0, command="npm run lint")
    build(session, 2, 2, "src/a.ts: error: no such name")
    attach(ctx, task, session, tmp_path)
    text = prompt_of(ctx, task)
    assert "npm run build" in text
    assert "no such name" in text
    assert "src/a.ts" in text
    assert "npm run lint" in text


def test_a_session_that_grew_does_not_make_a_package_stale(repo: Path, tmp_path: Path) -> None:
    ctx = opened(repo)
    task = task_of(ctx)
    session = session_of(repo)
    build(session, 1, 0, command="npm run lint")
    attach(ctx, task, session, tmp_path)
    package = packages.prepare(ctx, ctx.workspace.load().tasks[task.id], "claude", CompileOptions(budget=4000))
    session.say("thinking about it")
    build(session, 2, 2, "boom")
    edit(session, 1, "docs/c.md")
    session.write(tmp_path)
    differences = packages.check(ctx, package.id)
    assert {d.code for d in differences} == {"new_messages"}
    assert not any(d.stops for d in differences)


def test_confirming_takes_in_what_the_executor_did_meanwhile(repo: Path, tmp_path: Path) -> None:
    ctx = opened(repo)
    task = task_of(ctx)
    session = session_of(repo)
    attach(ctx, task, session, tmp_path)
    package = packages.prepare(ctx, ctx.workspace.load().tasks[task.id], "claude", CompileOptions(budget=4000))
    build(session, 1, 2, "src/a.ts: error: no such name")
    session.write(tmp_path)
    handed = handover.confirm(ctx, package.id, "print")
    assert handed.replaced == package.id
    assert handed.package.id != package.id
    assert b"no such name" in ctx.workspace.prompt(handed.package.id)


def test_words_alone_are_no_reason_for_another_package(repo: Path, tmp_path: Path) -> None:
    ctx = opened(repo)
    task = task_of(ctx)
    session = session_of(repo)
    build(session, 1, 2, "boom")
    attach(ctx, task, session, tmp_path)
    package = packages.prepare(ctx, ctx.workspace.load().tasks[task.id], "claude", CompileOptions(budget=4000))
    session.say("let me think")
    session.write(tmp_path)
    assert handover.confirm(ctx, package.id, "print").package.id == package.id


@pytest.mark.parametrize("mine", [True, False])
def test_a_file_that_the_executor_changed_does_not_stop_and_another_does(
    repo: Path, tmp_path: Path, mine: bool
) -> None:
    ctx = opened(repo)
    task = task_of(ctx)
    session = session_of(repo)
    attach(ctx, task, session, tmp_path)
    package = packages.prepare(ctx, ctx.workspace.load().tasks[task.id], "claude", CompileOptions(budget=4000))
    (repo / "src/a.ts").write_text("two\n")
    if mine:
        edit(session, 1, "src/a.ts")
        for record in session.records[-2:]:
            record["timestamp"] = "2999-01-01T00:00:00Z"
        session.write(tmp_path)
    assert any(d.stops for d in packages.check(ctx, package.id))
    if mine:
        assert handover.confirm(ctx, package.id, "print").replaced == package.id
    else:
        with pytest.raises(Exception, match="changed"):
            handover.confirm(ctx, package.id, "print")


# How a session stands.


def test_how_full_it_is_and_what_still_fits(repo: Path, tmp_path: Path) -> None:
    ctx = opened(repo)
    task = task_of(ctx)
    session = session_of(repo)
    for number in range(5):
        session.say(f"step {number}")
        session.used(10_000 + number * 5_000)
    attach(ctx, task, session, tmp_path)
    (found,) = build_view(ctx).sessions
    assert (found.context, found.window, found.full, found.turns_left) == (30_000, 100_000, 0.3, 14)
    assert found.basis == "last request over the window that the session states"
    session.add("compacted", message="all in short", replacement_history=[])
    session.say("after")
    session.used(4_000)
    session.write(tmp_path)
    (found,) = build_view(ctx).sessions
    # What came before the compaction says nothing of how it grows from here.
    assert (found.context, found.turns_left, found.compactions, found.lost) == (4_000, None, 1, 6)


def test_a_limit_that_is_reached_needs_the_person_until_it_is_over(repo: Path, tmp_path: Path) -> None:
    ctx = replace(opened(repo), fixed_now=datetime(2026, 3, 1, 10, 2, tzinfo=UTC))
    task = task_of(ctx)
    session = session_of(repo)
    session.say("hm")
    session.used(10, limits={"primary": {"used_percent": 100.0, "window_minutes": 300, "resets_at": 1772362800}})
    attach(ctx, task, session, tmp_path)
    needs = [need.text for need in build_view(ctx).needs_you if need.code == "limit"]
    assert needs == ["codex: 5 h is used up, until 2026-03-01T11:00:00Z"]
    later = replace(ctx, fixed_now=datetime(2026, 3, 1, 12, 0, tzinfo=UTC))
    assert [need for need in build_view(later).needs_you if need.code == "limit"] == []
    (found,) = build_view(later).sessions
    assert [(a.reached, a.used) for a in found.allowances] == [(False, None)]


def test_what_a_sub_agent_did_is_seen_too(repo: Path, tmp_path: Path) -> None:
    ctx = opened(repo)
    task = task_of(ctx)
    folder = tmp_path / "sessions" / "2026" / "03" / "01"
    folder.mkdir(parents=True)
    session = session_of(repo)
    session.call("s1", "spawn_agent", message="fix a.ts")
    session.event("collab_agent_spawn_end", call_id="s1", new_thread_id=identity(5))
    session.output("s1", "{}")
    source = {"subagent": {"thread_spawn": {"parent_thread_id": session.session}}}
    child = Rollout(identity(5), str(repo), source=source)
    edit(child, 1, "src/a.ts")
    build(child, 1, 0)
    child.write(folder)
    attach(ctx, task, session, folder)
    found = card(ctx)
    assert [row.verdict for row in found.acceptance] == ["passed"]
    assert {row.evidence.source for row in found.evidence} == {
        f"codex:{identity(5)}#e1:result",
        f"codex:{identity(5)}#b1:result",
    }
