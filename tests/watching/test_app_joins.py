"""Sessions that go on from an attached one join while the app runs; what is only likely is put before the person."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.tui.seeing import says, sees, until
from tests.watching.test_app_follows import context, repo, running
from workbench.services import sessions, tasks
from workbench.tui.screens.sessions import SessionsScreen

__all__ = ["repo"]
A, B = "11111111-2222-4333-8444-555555555555", "99999999-2222-4333-8444-555555555555"
CLEAR = "<command-name>/clear</command-name>"


def write(home: Path, session: str, cwd: Path, *prompts: str, seconds: int = 0) -> Path:
    folder = home / ".claude/projects/p"
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for number, text in enumerate(prompts):
        at = datetime.now(UTC) + timedelta(seconds=seconds, milliseconds=number)
        lines.append({
            "type": "user", "uuid": f"{session[:4]}{number}", "parentUuid": None, "sessionId": session,
            "cwd": str(cwd), "timestamp": at.isoformat().replace("+00:00", "Z"),
            "message": {"role": "user", "content": text},
        })  # fmt: skip
    path = folder / f"{session}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def attached(repo: Path, home: Path) -> Path:
    """A task with a session of an agent."""
    write(home, A, repo, "make it green", seconds=-5)
    ctx = context(repo)
    sessions.attach(ctx, tasks.new(ctx, {"title": "One", "objective": "do one"}), A)
    return repo


async def test_what_goes_on_joins_is_said_and_can_be_taken_back(
    attached: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(attached, monkeypatch) as (app, pilot):
        await until(pilot, lambda: len(app.view.sessions) == 1)
        write(home, B, attached, CLEAR, "start over", seconds=60)
        await says(pilot, "joined: claude's new session “start over”, begun by /clear after")
        await until(pilot, lambda: [s.id for s in app.view.sessions] == [A, B])
        await sees(pilot, "start over")
        await pilot.press("u")
        await sees(pilot, "session join one")
        await pilot.press("enter")
        await until(pilot, lambda: [s.id for s in app.view.sessions] == [A])
        for _ in range(20):
            await pilot.pause(0.02)
        assert [s.id for s in app.view.sessions] == [A]


async def test_what_only_looks_like_it_is_offered(attached: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(attached, monkeypatch) as (app, pilot):
        await until(pilot, lambda: len(app.view.sessions) == 1)
        write(home, B, attached, "what does this do?", seconds=60)
        await until(pilot, lambda: any(need.key == "S" for need in app.view.needs_you))
        assert [s.id for s in app.view.sessions] == [A]
        await pilot.press("S")
        await until(pilot, lambda: isinstance(app.screen, SessionsScreen) and bool(app.screen.lines.rows))
        await sees(pilot, "begun in the same worktree after")
        await pilot.press("enter")
        await until(pilot, lambda: [s.id for s in app.view.sessions] == [A, B])
        await until(pilot, lambda: not any(need.key == "S" for need in app.view.needs_you))
