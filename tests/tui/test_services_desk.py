"""The app over a real workspace: the sample, copied, with its sessions and git."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from tests.tui.seeing import says, sees, text_of, until
from workbench.errors import RefusedError, UsageError, VersionConflictError
from workbench.services import facts
from workbench.services.context import Context, open_context
from workbench.services.demo import copy_demo
from workbench.tui.app import WorkbenchApp
from workbench.tui.desk import Choice
from workbench.tui.screens.follow import FollowScreen
from workbench.tui.screens.launch import LaunchScreen
from workbench.tui.screens.package import PackageScreen
from workbench.tui.screens.pick import Pick
from workbench.tui.screens.settle import SettleScreen
from workbench.tui.services_desk import ServicesDesk
from workbench.tui.settings import settings_of


@pytest.fixture
def context(tmp_path: Path, home: Path) -> Context:
    env = dict(os.environ)
    folder = copy_demo(None, tmp_path / "demo", env, None)
    return open_context(folder, env=env, app=True)


@pytest.fixture
def desk(context: Context) -> ServicesDesk:
    made = ServicesDesk(context)
    made.view()
    return made


def test_a_cut_is_planned_carried_out_and_taken_back(desk):
    view = desk.view()
    task = view.task.task.id
    refs = desk.suggest(task)
    plan = desk.plan_cut(task, refs, "drop")
    assert plan.after < plan.before == view.history.tokens_kept
    assert "context does not change" in plan.in_what
    assert plan.package is not None
    assert plan.package[1] == plan.package[2] > 0
    desk.cut(task, plan)
    assert desk.view().history.tokens_kept == plan.after
    undo = desk.undo_plan()
    assert "history drop" in undo.command
    desk.undo(undo.change)
    assert desk.view().history.tokens_kept == plan.before


def test_sessions_say_the_same_of_themselves_everywhere(desk, context):
    view = desk.view()
    rows = {row.name: row for row in desk.sessions(view.task.task.id)}
    titles = ["Categories for every to-do", "Category filter with buttons", "Style guide for filter bar and theme"]
    assert sorted(row.title for row in rows.values()) == titles
    for session in view.sessions:
        row = rows[f"{session.agent}:{session.id}"]
        assert (row.title, row.live) == (session.title, session.status == "live")
        assert row.updated_at == session.updated_at
    assert sorted(row.live for row in rows.values()) == [False, False, True]  # whatever the copies' own times


def test_what_is_told_of_a_session_alone_is_seen_without_another_message(desk):
    live = next(session for session in desk.view().sessions if session.status == "live")
    title = {"type": "custom-title", "customTitle": "Renamed meanwhile", "sessionId": live.id}
    with Path(live.path).open("a") as file:
        file.write(json.dumps(title) + '\n{"broken": tru\n')
    (now,) = (session for session in desk.view(records=False).sessions if session.id == live.id)
    assert (now.title, now.unreadable, now.messages) == ("Renamed meanwhile", live.unreadable + 1, live.messages)


def test_a_session_goes_idle_though_nothing_happens(context):
    now = context.now()
    desk = ServicesDesk(replace(context, fixed_now=now))
    live = next(session for session in desk.view().sessions if session.status == "live")
    before = desk.pulse()
    assert desk.pulse() == before
    later = ServicesDesk(replace(context, fixed_now=now + timedelta(hours=1)))
    later._due, later._files, later._rests_on = desk._due, desk._files, desk._rests_on
    assert later.pulse().files != before.files
    assert {session.status for session in later.view().sessions if session.id == live.id} == {"idle"}


def test_a_session_whose_file_is_gone_says_so_and_keeps_what_it_held(desk):
    live = next(session for session in desk.view().sessions if session.status == "live")
    data = Path(live.path).read_bytes()
    Path(live.path).unlink()
    (gone,) = (session for session in desk.view(records=False).sessions if session.id == live.id)
    assert (gone.status, gone.messages) == ("absent", live.messages)
    Path(live.path).write_bytes(data)
    (again,) = (session for session in desk.view(records=False).sessions if session.id == live.id)
    assert (again.status, again.messages) == ("live", live.messages)


def test_a_proposal_is_settled_against_what_was_seen(desk, context):
    proposed = next(f for f in desk.view().facts if f.lifecycle == "proposed")
    settling = desk.settlement(proposed.fact.id)
    assert settling.active is not None
    assert settling.expect == f"{settling.active.id}@{settling.active.version}"
    assert any("goes stale" in line for line in settling.depends)
    facts.edit(context, settling.active.id, statement="worded differently meanwhile")
    with pytest.raises(VersionConflictError):
        desk.confirm(proposed.fact.id, settling.expect)
    desk.confirm(proposed.fact.id, desk.settlement(proposed.fact.id).expect)
    assert next(f for f in desk.view().facts if f.fact.id == proposed.fact.id).lifecycle == "active"


def test_rows_move_and_the_package_is_packed_again(desk):
    task = desk.view().task.task.id
    first = desk.draft(task, Choice("codex"))
    assert first.tokens <= first.budget
    assert not first.blocked
    row = next(r for r in first.rows if r.included and r.tier != "required")
    without = desk.draft(task, Choice("codex", without=frozenset({row.id})))
    assert not next(r for r in without.rows if r.id == row.id).included
    small = desk.draft(task, Choice("codex", budget=first.tokens - 1))
    assert small.tokens < first.tokens
    assert desk.draft(task, Choice("codex", budget=256)).blocked
    assert desk.draft(task, Choice("codex")).prompt == first.prompt


def test_handing_over_by_print_and_what_is_remembered(desk):
    task = desk.view().task.task.id
    package = desk.prepare(task, Choice("codex", 4000))
    assert desk.remembered() == Choice("codex", 4000)
    assert not [d for d in desk.check(package) if d.stops]
    offers = desk.offers(package)
    assert offers[0].way == "copy"
    assert next(o for o in offers if o.way == "tmux").why_not
    stored = desk.stored(package)
    assert stored.prompt
    assert stored.rows
    handed = desk.hand_over(package, "print")
    assert not handed.failure
    assert handed.prompt_file.read_text() == stored.prompt
    assert next(p for p in desk.view().packages if p.envelope.id == package).status == "launched"


def test_what_changed_stops_the_package(desk, context):
    task = desk.view().task.task.id
    package = desk.prepare(task, Choice("codex"))
    proposed = next(f for f in desk.view().facts if f.lifecycle == "proposed")
    desk.confirm(proposed.fact.id, None)
    assert any(d.stops and d.code == "fact_changed" for d in desk.check(package))
    with pytest.raises(RefusedError):
        desk.hand_over(package, "print")


def test_the_pulse_beats_when_anything_changes(desk, context):
    before = desk.pulse()
    assert desk.pulse() == before
    session = next(Path(s.path) for s in desk.view().sessions if s.path)
    with session.open("a") as file:
        file.write("{}\n")
    assert desk.pulse() != before
    before = desk.pulse()
    facts.propose(context, "some.key", "value")
    assert desk.pulse() != before


def test_read_only_and_agents_are_refused(context):
    env = dict(context.env)
    start = context.location.worktree
    assert "--read-only" in ServicesDesk(open_context(start, env=env, app=True, read_only=True)).refusal()
    assert "only a person" in ServicesDesk(open_context(start, env=env, as_="agent:x", app=True)).refusal()


async def test_the_three_interactions_by_keyboard(context):
    app = WorkbenchApp(ServicesDesk(context), settings_of(context), context.now)
    async with app.run_test(size=(180, 50), notifications=True) as pilot:
        await until(pilot, lambda: app.view is not None)
        await pilot.press("a")
        await sees(pilot, "messages marked")
        await pilot.press("t")
        await sees(pilot, "tokens of this history  (-")
        await pilot.press("enter")
        await says(pilot, "less to carry")
        await until(pilot, lambda: any(m.fate.disposition == "dropped" for m in app.view.history.messages))
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, SettleScreen))
        await pilot.press("enter")
        await until(pilot, lambda: not any(f.lifecycle == "proposed" for f in app.view.facts))
        for kind in (Pick, PackageScreen, LaunchScreen, FollowScreen):
            await pilot.press("H" if kind is Pick else "enter")
            await until(pilot, lambda kind=kind: isinstance(app.screen, kind))
            await pilot.pause()
        await sees(pilot, "◔ waiting")
        assert "not observed yet" in text_of(app)


def test_the_attempt_that_never_began_is_said_to_be_cancelled(desk):
    task = desk.view().task.task.id
    first = desk.hand_over(desk.prepare(task, Choice("codex")), "print")
    assert first.left == "claude gave the task up"
    assert first.observed
    assert first.steps == ("Claude Code was not started from here: end it yourself",)
    second = desk.hand_over(desk.prepare(task, Choice("gemini")), "print")
    assert second.left == "the attempt of codex, never seen to begin, was cancelled"
    assert not second.steps
    assert not second.observed
    assert second.agent == "Gemini CLI"
    again = desk.handed(second.package)
    assert (again.left, again.to_copy, again.by_hand) == (second.left, second.to_copy, True)
    assert again.command == second.command


def test_what_is_written_holds_or_waits_to_be_settled(desk):
    assert desk.new_fact("some.key", "8080", "the port").settle == ""
    fact = next(f for f in desk.view().facts if f.key == "some.key")
    assert (fact.fact.value, fact.lifecycle) == (8080, "active")
    wording = desk.edit_fact(fact.fact.id, fact.fact.version, "8080", "where it listens")
    assert not wording.settle
    fact = next(f for f in desk.view().facts if f.key == "some.key")
    assert fact.fact.statement == "where it listens"
    other = desk.edit_fact(fact.fact.id, fact.fact.version, "9090", "where it listens")
    waiting = next(f for f in desk.view().facts if f.fact.id == other.settle)
    assert (waiting.fact.value, waiting.lifecycle) == (9090, "proposed")
    desk.confirm(other.settle, desk.settlement(other.settle).expect)
    assert next(f for f in desk.view().facts if f.key == "some.key").fact.value == 9090
    with pytest.raises(UsageError, match="a value is needed"):
        desk.new_fact("another", "", "")
    with pytest.raises(UsageError, match="not a key"):
        desk.new_fact("a b", "1", "")


def test_a_constraint_is_of_its_task_and_a_task_is_revised_as_it_was_seen(desk):
    task = desk.view().task.task
    desk.new_fact("ui.width", "80", "", task.id)
    made = next(f for f in desk.view().facts if f.key == "ui.width")
    assert (made.fact.kind, made.fact.scope) == ("constraint", task.id)
    said = desk.edit_task(task.id, task.version, task.title, "Another objective")
    assert f"plan revision {task.plan_revision + 1}" in said.said
    with pytest.raises(VersionConflictError):
        desk.edit_task(task.id, task.version, "Late", "Another objective")
    desk.new_task("A second task", "")
    assert desk.view().task.task.title == "A second task"


def test_undo_says_what_comes_back(desk):
    desk.new_fact("some.key", "8080", "")
    assert any("some.key = 8080" in line for line in desk.undo_plan().records)
    assert "some.key = 8080" in desk.undo(desk.undo_plan().change)
