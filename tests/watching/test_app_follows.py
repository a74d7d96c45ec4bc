"""The app over a real workspace: what it shows is what the disk holds, whatever became of the events."""

from __future__ import annotations

import os
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from tests.benchmarks.reading import make_claude
from tests.tui.seeing import until
from workbench.services import facts, sessions, tasks, trust, viewing, workspaces
from workbench.services.context import Context, open_context
from workbench.services.pool import HeldSessions
from workbench.sessions import processes
from workbench.sessions.processes import Runner
from workbench.tui import looking
from workbench.tui.app import WorkbenchApp
from workbench.tui.services_desk import ServicesDesk


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.txt").write_text("one\n")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "first")):
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)
    workspaces.init(folder, env=os.environ)
    return folder


def context(repo: Path, *, app: bool = False) -> Context:
    return open_context(repo, env=os.environ, app=app)


@asynccontextmanager
async def running(
    repo: Path, monkeypatch: pytest.MonkeyPatch, *, events: bool = True
) -> AsyncIterator[tuple[WorkbenchApp, object]]:
    """The app, with a quick slow look; without ``events`` that look is all it has."""
    monkeypatch.setattr(looking, "PULSE", 0.05)
    if not events:
        (repo / ".workbench" / "workspace.toml").write_text("[watch]\npoll = true\n")
    app = WorkbenchApp(ServicesDesk(context(repo, app=True)))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.view is not None)
        yield app, pilot


def shown(app: WorkbenchApp) -> Callable[[], set[str]]:
    return lambda: {row.key for row in app.view.facts} if app.view else set()


@pytest.mark.parametrize("events", [True, False])
async def test_a_fact_of_another_process_is_shown(repo: Path, monkeypatch: pytest.MonkeyPatch, events: bool) -> None:
    async with running(repo, monkeypatch, events=events) as (app, pilot):
        facts.propose(context(repo), "port", 8080)
        await until(pilot, lambda: "port" in shown(app)())
        assert shown(app)() == {row.key for row in viewing.build_view(context(repo)).facts}
        if not events:
            assert "slow" in app.main.state


async def test_a_hand_edit_deep_in_the_workspace_is_shown(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = facts.propose(context(repo), "port", 8080).fact
    async with running(repo, monkeypatch) as (app, pilot):
        await until(pilot, lambda: app.view is not None and bool(app.view.facts))
        (path,) = (repo / ".workbench" / "facts").rglob(f"{made.id}.json")
        path.write_text(path.read_text().replace("8080", "9090"))
        await until(pilot, lambda: app.view is not None and app.view.facts[0].fact.value == 9090)


async def test_a_workspace_that_is_made_again_is_followed(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    facts.propose(context(repo), "old", 1)
    async with running(repo, monkeypatch) as (app, pilot):
        await until(pilot, lambda: "old" in shown(app)())
        (repo / ".workbench").rename(repo / "kept")
        workspaces.init(repo, env=os.environ)
        facts.propose(context(repo), "new", 2)
        await until(pilot, lambda: shown(app)() == {"new"})
        facts.propose(context(repo), "newer", 3)
        await until(pilot, lambda: shown(app)() == {"new", "newer"})


async def test_a_file_that_evidence_rests_on_is_looked_at(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.domain.evidence import Evidence, FileHash
    from workbench.store.git import file_hash

    ctx = context(repo)
    task = tasks.new(ctx, {"title": "One", "objective": "do one"})
    digest = file_hash(repo, "src/a.txt")
    assert digest is not None
    line = Evidence(
        id="ev00000001",
        kind="command",
        task=task.id,
        argv=("make",),
        exit_code=0,
        files=(FileHash(path="src/a.txt", sha256=digest),),
        at=ctx.stamp(),
    )
    with ctx.workspace.transaction("human:dev", "evidence") as tx:
        tx.append_evidence(line)
    async with running(repo, monkeypatch) as (app, pilot):
        await until(pilot, lambda: app.view is not None and app.view.task is not None)
        assert app.view.task.evidence[0].valid
        (repo / "src" / "a.txt").write_text("two\n")
        await until(pilot, lambda: not app.view.task.evidence[0].valid)


async def test_events_run_no_program_and_write_nothing(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ctx = context(repo)
    tasks.new(ctx, {"title": "One", "objective": "do one"})
    trust.grant(ctx, trust.plan(ctx))
    desk = ServicesDesk(context(repo, app=True))
    desk.view()
    before = {path: path.stat().st_mtime_ns for path in (repo / ".workbench").rglob("*")}
    started: list[object] = []
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: started.append(a))
    for number in range(5):
        (repo / "src" / f"new{number}.txt").write_text("x")
        desk.view()
    assert started == []
    assert {path: path.stat().st_mtime_ns for path in (repo / ".workbench").rglob("*")} == before


async def test_the_clock_finds_what_git_calls_changed(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.services.pool import ChangedFiles

    monkeypatch.setattr(ChangedFiles, "LEAST", 0.0)
    monkeypatch.setattr(ChangedFiles, "AT_MOST", 0)
    ctx = context(repo)
    tasks.new(ctx, {"title": "One", "objective": "do one"})
    trust.grant(ctx, trust.plan(ctx))
    desk = ServicesDesk(context(repo, app=True))
    assert desk.view().place.dirty == 0
    mark = desk.pulse()
    (repo / "src" / "a.txt").write_text("two\n")
    assert desk.view().place.dirty == 0
    assert desk.pulse() != mark
    assert desk.view().place.dirty == 1


async def test_where_only_sessions_changed_the_records_are_those_that_were_read(repo: Path) -> None:
    made = facts.propose(context(repo), "port", 8080).fact
    desk = ServicesDesk(context(repo, app=True))
    desk.view()
    (path,) = (repo / ".workbench" / "facts").rglob(f"{made.id}.json")
    path.write_text(path.read_text().replace("8080", "9090"))
    assert [row.fact.value for row in desk.view(records=False).facts] == [8080]
    assert [row.fact.value for row in desk.view().facts] == [9090]
    facts.propose(context(repo), "host", "here")  # what went through the journal is never missed
    assert {row.key for row in desk.view(records=False).facts} == {"port", "host"}


async def test_a_fact_is_due_for_review_by_the_clock_alone(repo: Path) -> None:
    moments = iter(["2026-03-01T10:00:00", "2026-03-02T10:00:00", "2026-03-04T10:00:00"])
    made = facts.propose(context(repo), "port", 8080).fact
    with context(repo).workspace.transaction("human:dev", "review") as tx:
        tx.put(made.with_(review_after="2026-03-03T00:00:00Z"))
    ctx = context(repo, app=True)
    due = []
    for moment in moments:
        now = replace(ctx, fixed_now=datetime.fromisoformat(f"{moment}+00:00"))
        due += [row.past_review for row in viewing.build_view(now).facts]
    assert due == [False, False, True]


async def test_a_session_is_idle_once_its_program_has_ended(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HeldSessions, "LEAST", 0.0)
    monkeypatch.setattr(HeldSessions, "AT_MOST", 0)
    alive = {"claude:11111111-2222-4333-8444-555555555555": Runner("1@2")}
    monkeypatch.setattr(processes, "running", lambda _env: dict(alive))
    ctx = context(repo)
    path = tmp_path / "11111111-2222-4333-8444-555555555555.jsonl"
    make_claude(2000, path)
    sessions.attach(ctx, tasks.new(ctx, {"title": "One", "objective": "do one"}), str(path))
    desk = ServicesDesk(context(repo, app=True))
    assert [row.status for row in desk.view().sessions] == ["live"]
    mark = desk.pulse()
    alive.clear()
    assert desk.pulse() != mark
    assert [row.status for row in desk.view(records=False).sessions] == ["idle"]
