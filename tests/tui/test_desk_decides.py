"""The desk over real services: what the timeline and settling ask of the workspace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from workbench.domain.arrival import Arrival
from workbench.errors import RefusedError, VersionConflictError
from workbench.services import evidence, facts, tasks, workspaces
from workbench.services.context import Context, open_context
from workbench.tui.services_desk import ServicesDesk


@pytest.fixture
def ctx(tmp_path: Path) -> Context:
    workspaces.init(tmp_path, env=os.environ)
    return open_context(tmp_path, env=os.environ, tty=True, app=True)


def proposed(ctx: Context, key: str, value: object) -> Arrival:
    return facts.propose(ctx, key, value, source="claude:s#m", quote=str(value))


def test_a_records_past_and_the_way_back(ctx: Context) -> None:
    desk = ServicesDesk(ctx)
    blue = facts.propose(ctx, "theme", "blue").fact
    facts.edit(ctx, blue.id, statement="The theme is blue")
    newest, oldest = desk.timeline("facts", blue.id)
    assert [d.line for d in newest.differences] == ["statement: The theme is blue"]
    plan = desk.plan_rollback(blue.id, oldest.change)
    facts.edit(ctx, blue.id, reason="calm")
    with pytest.raises(VersionConflictError):
        desk.roll_back(plan)
    desk.roll_back(desk.plan_rollback(blue.id, oldest.change))
    now = ctx.workspace.load().facts[blue.id]
    assert (now.statement, now.reason, now.version) == ("", "", 4)
    undone = desk.undo_plan()
    assert undone is not None
    assert undone.command.startswith("rollback fact")
    desk.undo(undone.change)
    assert ctx.workspace.load().facts[blue.id].reason == "calm"


def test_the_past_of_a_fact_holds_what_it_replaced(ctx: Context) -> None:
    desk = ServicesDesk(ctx)
    first = facts.propose(ctx, "theme", "red").fact
    blue = proposed(ctx, "theme", "blue").fact
    desk.confirm(blue.id, desk.settlement(blue.id).expect)
    green = proposed(ctx, "theme", "green").fact
    desk.confirm(green.id, desk.settlement(green.id).expect)
    steps = desk.timeline("facts", green.id)
    assert [step.earlier and step.earlier.value for step in steps] == [None, None, "blue", "blue", "red"]
    assert "value: red" in [d.line for d in steps[-1].differences]
    (row,) = (f for f in desk.view().facts if f.fact.id == green.id)
    assert [fact.id for fact in row.replaced] == [blue.id, first.id]
    assert len(desk.timeline("facts", first.id)) == 1


def test_both_values_are_kept_by_scope(ctx: Context) -> None:
    desk = ServicesDesk(ctx)
    task = tasks.new(ctx, {"title": "Filter"})
    facts.propose(ctx, "theme", "blue")
    green = proposed(ctx, "theme", "green").fact
    settling = desk.settlement(green.id)
    assert settling.task == task.id
    assert "for filter alone" in desk.keep_both(green.id, settling.expect, task.id)
    registry = ctx.workspace.load().registry
    assert {registry.lifecycle(fact.id) for fact in registry.facts.values()} == {"active"}
    assert registry.shadowed_by(registry.heads("theme")[0], task.id) == green.id


def test_two_spellings_of_a_key_are_offered_and_joined(ctx: Context) -> None:
    desk = ServicesDesk(ctx)
    facts.propose(ctx, "server.port", 8080)
    facts.propose(ctx, "port.server", 8080)
    other = proposed(ctx, "port.server", 9090).fact
    assert desk.settlement(other.id).look_alikes == ("server.port",)
    desk.join_keys("port.server", "server.port")
    settling = desk.settlement(other.id)
    assert (settling.proposal.key, settling.look_alikes) == ("server.port", ())
    with pytest.raises(RefusedError):
        desk.join_keys("server.port", "port.server")


def test_evidence_does_not_stand_in_the_way_of_an_undo(ctx: Context) -> None:
    desk = ServicesDesk(ctx)
    assert desk.undo_plan() is None
    task = tasks.new(ctx, {"title": "Filter"})
    evidence.add(ctx, task, "claim", {"text": "it works"})
    plan = desk.undo_plan()
    assert plan is not None
    assert plan.command.startswith("task new")
    assert ["recorded evidence" in one for one in plan.passed] == [True]
    desk.undo(plan.change)
    assert not ctx.workspace.load().tasks
    with pytest.raises(RefusedError, match="recorded evidence"):
        desk.undo_plan()
