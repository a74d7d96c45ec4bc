"""A repository with a workspace in it, a task that somebody works on, packages, and a stand-in for an agent."""

from __future__ import annotations

import hashlib
import json
import stat
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from workbench.agents.custom import CustomProgram
from workbench.domain.contract import Contract
from workbench.domain.ids import new_id
from workbench.domain.package import Envelope, Identity, PackageEvent
from workbench.domain.record import Stamp
from workbench.domain.task import LIVE_ATTEMPT, Attempt, SessionRef, Task
from workbench.handoff import launch
from workbench.handoff.launch import LaunchPlan, Place
from workbench.store.git import head
from workbench.store.location import locate
from workbench.store.records import Records, StoredPackage
from workbench.store.workspace import Workspace

NOW = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)
DEV = "human:dev"
ROOT = Path(__file__).resolve().parents[2]


def git(folder: Path, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "re po; $(touch owned) 'ü'"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "app.py").write_text("print('hello')\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder


@dataclass
class Bench:
    """A workspace under test, with shortcuts for what each test needs."""

    ws: Workspace
    repo: Path
    state: Path
    task: Task
    old: Attempt

    def records(self) -> Records:
        return Workspace.open(self.ws.location).load()

    def package(self, package_id: str) -> StoredPackage:
        return self.records().packages[package_id]

    def attempt(self, attempt_id: str | None) -> Attempt:
        assert attempt_id is not None
        return self.records().attempts[attempt_id]

    def running(self) -> str | None:
        return self.records().tasks[self.task.id].running

    def live(self) -> list[Attempt]:
        return [a for a in self.records().attempts.values() if a.status in LIVE_ATTEMPT]

    def prepare(self, prompt: bytes = b"do it\n", *, to: str = "standin", task: Task | None = None) -> str:
        task = task or self.task
        envelope = Envelope(
            id=new_id(),
            snapshot="9f3a1c0b7d2e4a58",
            task=task.id,
            identity=Identity(task=task.id, plan_revision=task.plan_revision, to=to, date="2026-03-01"),
            content={},
            tokens=3,
            tokenizer="o200k",
            prompt_sha256=hashlib.sha256(prompt).hexdigest(),
            prepared_by=DEV,
            prepared_at="2026-03-01T10:00:00Z",
        )
        first = PackageEvent(id=new_id(), status="pending", by=DEV, at=envelope.prepared_at, attempt=new_id())
        with self.ws.transaction(DEV, "handoff prepare", now=NOW) as tx:
            tx.add_package(envelope, prompt, first)
        return envelope.id

    def place(self) -> Place:
        now = head(locate(self.repo))
        return Place(self.repo, None, now.branch, now.commit)


@pytest.fixture
def bench(repo: Path, tmp_path: Path) -> Bench:
    ws = Workspace.init(locate(repo))
    task = Task(
        id=new_id(),
        slug="greet",
        title="Greet",
        contract=Contract(objective="greet people", targets=("app.py",)),
        created=Stamp(by=DEV, at="2026-03-01T09:00:00Z"),
    )
    stamp = Stamp(by=DEV, at="2026-03-01T09:00:00Z")
    session = SessionRef(agent="claude", id="s-1", joined=stamp)
    old = Attempt(id=new_id(), task=task.id, executor="agent:claude", sessions=(session,), started=stamp)
    with ws.transaction(DEV, "task new", now=NOW) as tx:
        tx.put(task.with_(running=old.id))
        tx.put(old)
    return Bench(ws, repo, tmp_path / "state", task, old)


STAND_IN = """
    import hashlib, json, os, stat, subprocess, sys, time
    def git(*args):
        done = subprocess.run(["git", *args], capture_output=True, text=True)
        return done.stdout.strip()
    def sha(path):
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    prompt = os.environ["PROMPT_FILE"]
    report = {
        "cwd": os.getcwd(), "pwd": os.environ.get("PWD"), "branch": git("symbolic-ref", "--short", "HEAD"),
        "head": git("rev-parse", "HEAD"), "args": sys.argv[1:], "env": dict(os.environ), "prompt": sha(prompt),
        "modes": [oct(stat.S_IMODE(os.stat(p).st_mode)) for p in (prompt, os.path.dirname(prompt))],
        "stdin": "tty" if os.isatty(0) else hashlib.sha256(sys.stdin.buffer.read()).hexdigest(),
        "group": os.getpgrp(),
    }
    if os.isatty(0):
        report["front"] = os.tcgetpgrp(0)
    target = os.environ["REPORT"]
    with open(target + ".part", "w") as file:
        json.dump(report, file)
    os.rename(target + ".part", target)
    if os.environ.get("STOP_SELF"):
        import signal
        os.kill(os.getpid(), signal.SIGSTOP)
        print("woken", flush=True)
    sys.exit(int(os.environ.get("EXIT", "0")))
"""


@dataclass
class StandIn:
    """A program in an agent's place: it writes down where and how it was started."""

    path: Path
    report: Path

    def program(self, *words: str, name: str = "standin") -> CustomProgram:
        template = (str(self.path), *(words or ("{prompt}",)))
        return CustomProgram(name=name, title="Stand-in", executables=template[:1], template=template)

    def said(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.report.read_text())
        return document


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    path = tmp_path / "bin" / "stand-in"
    path.parent.mkdir()
    path.write_text(f"#!{sys.executable} -I\n" + textwrap.dedent(STAND_IN))
    path.chmod(stat.S_IRWXU)
    return StandIn(path, tmp_path / "report.json")


Planner = Callable[..., LaunchPlan]


@pytest.fixture
def planned(bench: Bench, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> Planner:
    """Plans the launch of a package for the stand-in."""
    import os

    monkeypatch.setenv("REPORT", str(stand_in.report))

    def make(package_id: str, way: str = "foreground", *, words: tuple[str, ...] = (), **more: Any) -> LaunchPlan:
        stored = bench.package(package_id)
        monkeypatch.setenv("PROMPT_FILE", str(bench.state / "handoff" / package_id / "prompt.md"))
        return launch.plan(
            stand_in.program(*words),
            stored.envelope,
            stored.attempt or "",
            way=way,  # type: ignore[arg-type]
            place=more.pop("place", bench.place()),
            workspace=bench.ws.root,
            state=bench.state,
            env=os.environ,
            **more,
        )

    return make
