"""The app over a real workspace: what it shows is what the disk holds, whatever became of the events."""

from __future__ import annotations

import os
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.tui.seeing import until
from workbench.services import facts, tasks, trust, viewing, workspaces
from workbench.services.context import Context, open_context
from workbench.tui import app as app_module
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
    monkeypatch.setattr(app_module, "PULSE", 0.05)
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
