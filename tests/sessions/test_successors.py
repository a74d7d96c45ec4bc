"""Sessions that go on from one of a running attempt: what is certain joins by itself, the rest is offered."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from claude_records import SESSION, Script
from codex_records import Rollout, identity
from shop import opened

from workbench.domain.task import Attempt, Task
from workbench.domain.times import stamp
from workbench.services import changes, history, sessions, successors, tasks
from workbench.services.context import Context, open_context

A, B, C = SESSION, SESSION.replace("1", "8"), SESSION.replace("1", "9")
START = datetime(2026, 3, 1, 10, tzinfo=UTC)
CLEAR = "<command-name>/clear</command-name>\n<command-message>clear</command-message>"


class Desk:
    """A repository with one task, and agents' sessions written into a home."""

    def __init__(self, repo: Path, home: Path) -> None:
        self.repo, self.home = repo, home
        self.now = START
        self.ctx = self.open()
        self.task = tasks.new(self.ctx, {"title": "One", "objective": "do one"})

    def open(self, **more: Any) -> Context:
        return open_context(self.repo, env=dict(os.environ), now=self.now, yes=True, **more)

    def claude(self, session: str, minute: int, *texts: str, cwd: Path | None = None) -> Script:
        """A session that begins at a minute; each text is a prompt of one minute later."""
        script = Script(session, str(cwd or self.repo))
        self.go_on(script, minute, *texts)
        return script

    def go_on(self, script: Script, minute: int, *texts: str) -> None:
        for number, text in enumerate(texts):
            at = stamp(START + timedelta(minutes=minute + number))
            script.prompt(text, uuid=f"{script.session[:4]}-{len(script.records)}", timestamp=at)
            script.say(
                f"m{len(script.records)}", "ok", uuid=f"{script.session[:4]}-{len(script.records)}", timestamp=at
            )
        self.write(script)

    def write(self, script: Script) -> None:
        folder = self.home / ".claude/projects/p"
        folder.mkdir(parents=True, exist_ok=True)
        script.write(folder)

    def fork(self, of: Script, session: str, minute: int, *texts: str) -> Script:
        script = Script(session, of.cwd)
        script.records = [record | {"sessionId": session} for record in of.records]
        script.last = of.last
        self.go_on(script, minute, *texts)
        return script

    def roll(self, session: Rollout, minute: int) -> None:
        for number, record in enumerate(session.records):
            record["timestamp"] = stamp(START + timedelta(minutes=minute, seconds=number))
        folder = self.home / ".codex/sessions/2026/03/01"
        folder.mkdir(parents=True, exist_ok=True)
        session.write(folder)

    def runs(self, session: str, pid: int, file: str = "x") -> None:
        """Claude Code registers that a process is in a session."""
        folder = self.home / ".claude/sessions"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{file}.json").write_text(json.dumps({"pid": pid, "sessionId": session, "cwd": str(self.repo)}))

    def attach(self, session: str, task: Task | None = None) -> None:
        sessions.attach(self.ctx, task or self.task, session)

    def join(self, ctx: Context | None = None) -> tuple[list[str], list[str]]:
        """Names of the sessions that joined, and of those that are offered."""
        joined, offered = successors.join(ctx or self.ctx)
        return [row.session.id for row in joined], [row.session.id for row in offered]

    @property
    def attempt(self) -> Attempt:
        records = self.ctx.workspace.load()
        return records.attempts[records.tasks[self.task.id].running or ""]

    @property
    def mine(self) -> list[str]:
        return [ref.id for ref in self.attempt.sessions]


@pytest.fixture
def desk(repo: Path, home: Path) -> Desk:
    return Desk(repo, home)


def codex_session(desk: Desk, number: int, **meta: Any) -> Rollout:
    session = Rollout(identity(number), str(desk.repo), **meta)
    session.turn()
    session.prompt(f"prompt {number}")
    session.say("ok")
    return session


def test_a_fork_joins_and_what_it_repeats_is_counted_once(desk: Desk) -> None:
    old = desk.claude(A, 1, "make it green", "test it")
    desk.attach(A)
    desk.fork(old, B, 10, "on the fork")
    assert desk.join() == ([B], [])
    assert desk.mine == [A, B]
    shown = [row.message.text for row in history.show(desk.ctx, desk.task).messages]
    assert shown == ["make it green", "ok", "test it", "ok", "on the fork", "ok"]
    assert desk.join() == ([], [])


def test_a_fork_that_has_nothing_of_its_own_yet_waits(desk: Desk) -> None:
    old = desk.claude(A, 1, "make it green")
    desk.attach(A)
    desk.fork(old, B, 1)
    assert desk.join() == ([], [])


def test_a_fork_of_a_fork_joins_with_it(desk: Desk) -> None:
    old = desk.claude(A, 1, "make it green")
    desk.attach(A)
    desk.fork(desk.fork(old, B, 10, "second"), C, 20, "third")
    joined, offered = desk.join()
    assert (sorted(joined), offered) == ([B, C], [])


def test_a_codex_fork_names_where_it_comes_from(desk: Desk) -> None:
    desk.roll(codex_session(desk, 1), 1)
    desk.attach(identity(1))
    desk.roll(codex_session(desk, 2, forked_from_id=identity(1)), 5)
    desk.roll(codex_session(desk, 3, forked_from_id=identity(9)), 5)
    assert desk.join()[0] == [identity(2)]


def test_a_codex_session_resumed_into_a_file_of_its_own_joins(desk: Desk) -> None:
    desk.roll(codex_session(desk, 1), 1)
    desk.attach(identity(1))
    replayed = codex_session(desk, 2)
    replayed.records.insert(1, codex_session(desk, 1).records[0])
    desk.roll(replayed, 5)
    assert desk.join()[0] == [identity(2)]


def test_one_that_goes_on_from_a_record_of_it_joins(desk: Desk) -> None:
    old = desk.claude(A, 1, "make it green")
    desk.attach(A)
    new = Script(B, str(desk.repo))
    new.last = old.last
    desk.go_on(new, 10, "after the summary")
    assert desk.join() == ([B], [])


def test_after_clear_the_only_one_it_can_come_from_is_gone_on_from(desk: Desk) -> None:
    desk.claude(A, 1, "make it green")
    desk.attach(A)
    desk.claude(B, 3, CLEAR, "start over")
    assert desk.join() == ([B], [])
    assert desk.attempt.sessions[-1].joined.why == f"begun by /clear after claude:{A}"


def test_after_clear_with_two_it_may_come_from_it_is_offered(desk: Desk) -> None:
    desk.claude(A, 1, "make it green")
    desk.go_on(desk.claude(C, -5, "something else"), 2, "and more")
    desk.attach(A)
    desk.claude(B, 4, CLEAR, "start over")
    assert desk.join() == ([], [B])
    assert desk.mine == [A]


@pytest.mark.parametrize("later", [10, 2 * 24 * 60])
def test_what_begins_with_clear_long_after_it_is_offered(desk: Desk, later: int) -> None:
    desk.claude(A, 1, "make it green")
    desk.attach(A)
    desk.claude(B, later, CLEAR, "write a poem")
    assert desk.join() == ([], [B])
    assert desk.mine == [A]


def test_after_clear_beside_one_that_a_program_is_in_it_is_offered(desk: Desk) -> None:
    desk.claude(C, -24 * 60, "something else")
    desk.claude(A, 1, "make it green")
    desk.attach(A)
    desk.runs(C, os.getpid())
    desk.claude(B, 3, CLEAR, "start over")
    assert desk.join() == ([], [B])


@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="no /proc tells where a program runs")
@pytest.mark.parametrize(("programs", "joins"), [(1, True), (2, False)])
def test_after_clear_with_two_programs_that_may_have_done_it_it_is_offered(
    desk: Desk, tmp_path: Path, programs: int, joins: bool
) -> None:
    shutil.copy("/bin/sleep", tmp_path / "claude")
    started = [subprocess.Popen([str(tmp_path / "claude"), "60"], cwd=desk.repo) for _ in range(programs)]
    elsewhere = subprocess.Popen([str(tmp_path / "claude"), "60"], cwd=tmp_path)
    try:
        desk.claude(C, -24 * 60, "in another terminal since yesterday")
        desk.claude(A, 1, "make it green")
        desk.attach(A)
        desk.claude(B, 3, CLEAR, "start over")
        assert desk.join() == (([B], []) if joins else ([], [B]))
    finally:
        for process in (*started, elsewhere):
            process.kill()
            process.wait()


def test_the_same_process_is_the_same_agent(desk: Desk) -> None:
    desk.claude(A, 1, "make it green")
    desk.go_on(desk.claude(C, -5, "something else"), 2, "and more")
    desk.attach(A)
    desk.runs(A, os.getpid())
    assert desk.join() == ([], [])
    desk.claude(B, 10, CLEAR, "start over")
    desk.runs(B, os.getpid())
    assert desk.join(desk.open()) == ([B], [])


def test_another_process_is_another_agent_whatever_its_session_looks_like(desk: Desk) -> None:
    desk.claude(A, 1, "make it green")
    desk.attach(A)
    desk.runs(A, os.getpid(), "a")
    desk.claude(B, 10, CLEAR, "start over")
    desk.runs(B, os.getppid(), "b")
    assert desk.join() == ([], [])


def test_what_another_process_cleared_is_offered(desk: Desk) -> None:
    ended = subprocess.Popen(["sleep", "60"])
    desk.claude(A, 1, "make it green")
    desk.attach(A)
    desk.runs(A, ended.pid, "a")
    desk.join()
    ended.kill()
    ended.wait()
    desk.claude(B, 3, CLEAR, "start over")
    desk.runs(B, os.getpid(), "b")
    assert desk.join() == ([], [B])


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="no /proc tells in which pane a process is")
def test_the_same_pane_is_the_same_agent(desk: Desk) -> None:
    env = {"TMUX": "/tmp/socket,77,0", "TMUX_PANE": "%3"}
    started = [
        subprocess.Popen(["sleep", "60"], env=dict(os.environ) | env | more) for more in ({}, {"TMUX_PANE": "%4"}, {})
    ]
    try:
        first, elsewhere, second = (process.pid for process in started)
        desk.claude(A, 1, "make it green")
        desk.attach(A)
        desk.runs(A, first, "a")
        desk.join()
        desk.claude(B, 11, "started by the agent itself")
        desk.runs(B, second, "b")
        assert desk.join() == ([], [])
        started[0].kill()
        started[0].wait()
        desk.claude(C, 12, "in another pane")
        desk.runs(C, elsewhere, "c")
        desk.claude(B, 11, "started anew")
        desk.runs(B, second, "b")
        assert desk.join() == ([B], [])
    finally:
        for process in started:
            process.kill()
            process.wait()


def test_a_process_that_is_gone_tells_nothing(desk: Desk) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    desk.claude(A, 1, "make it green")
    desk.go_on(desk.claude(C, -5, "something else"), 2, "and more")
    desk.attach(A)
    desk.runs(A, ended.pid)
    desk.join()
    desk.claude(B, 10, "start over")
    desk.runs(B, ended.pid)
    assert desk.join() == ([], [B])


def test_one_that_merely_begins_here_is_offered(desk: Desk) -> None:
    desk.claude(A, 1, "make it green")
    desk.attach(A)
    desk.claude(B, 10, "what does this do?")
    assert desk.join() == ([], [B])


def test_one_that_began_before_or_beside_it_is_neither(desk: Desk) -> None:
    desk.claude(A, 5, "make it green", "and now", "go on", "still")
    desk.claude(C, 1, "long ago")
    desk.attach(A)
    desk.claude(B, 6, "beside it")
    assert desk.join() == ([], [])


def test_another_agent_is_neither(desk: Desk) -> None:
    desk.claude(A, 1, "make it green")
    desk.attach(A)
    desk.roll(codex_session(desk, 2, forked_from_id=A), 10)
    assert desk.join() == ([], [])


def test_another_worktree_is_neither(desk: Desk, tmp_path: Path) -> None:
    other = tmp_path / "other"
    words = ["git", "worktree", "add", "-q", str(other), "-b", "other"]
    subprocess.run(words, cwd=desk.repo, check=True, capture_output=True)
    old = desk.claude(A, 1, "make it green")
    desk.attach(A)
    old.cwd = str(other)
    fork = desk.fork(old, B, 10)
    fork.cwd = str(other)
    desk.go_on(fork, 10, "there")
    desk.claude(C, 11, CLEAR, "there", cwd=other)
    assert desk.join() == ([], [])


def test_a_session_is_taken_up_in_the_worktree_it_works_in(desk: Desk, tmp_path: Path) -> None:
    other = tmp_path / "other"
    words = ["git", "worktree", "add", "-q", str(other), "-b", "other"]
    subprocess.run(words, cwd=desk.repo, check=True, capture_output=True)
    old = desk.claude(A, 1, "make it green", cwd=other)
    desk.attach(A)
    assert desk.attempt.worktree == "other"
    desk.fork(old, B, 10, "on the fork")
    assert desk.join() == ([B], [])


def test_taken_back_it_stays_away_until_a_person_attaches_it(desk: Desk) -> None:
    old = desk.claude(A, 1, "make it green")
    desk.attach(A)
    desk.fork(old, B, 10, "on the fork")
    assert desk.join() == ([B], [])
    undone = changes.undo(desk.ctx)
    assert undone.command.startswith("session join one claude:")
    assert desk.mine == [A]
    assert desk.join() == ([], [])
    desk.attach(B)
    assert desk.mine == [A, B]


def test_one_that_belongs_to_another_task_is_left_there(desk: Desk) -> None:
    second = tasks.new(desk.ctx, {"title": "Two", "objective": "do two"})
    old = desk.claude(A, 1, "make it green")
    desk.fork(old, B, 10, "on the fork")
    desk.attach(B, second)
    desk.attach(A)
    assert desk.join() == ([], [])


def test_of_two_tasks_that_claim_it_none_gets_it(desk: Desk) -> None:
    second = tasks.new(desk.ctx, {"title": "Two", "objective": "do two"})
    old = desk.claude(A, 1, "make it green")
    desk.fork(old, B, 10, "on the fork")
    desk.attach(A)
    desk.attach(B, second)
    desk.fork(old, C, 20, "on another fork")
    assert desk.join() == ([], [C])


def test_when_the_attempt_has_ended_nothing_joins(desk: Desk) -> None:
    old = desk.claude(A, 1, "make it green")
    desk.attach(A)
    tasks.end_attempt(desk.ctx, desk.attempt, "failed", "stuck")
    desk.fork(old, B, 10, "on the fork")
    assert desk.join() == ([], [])


def test_read_only_nothing_is_written(desk: Desk) -> None:
    old = desk.claude(A, 1, "make it green")
    desk.attach(A)
    desk.runs(A, os.getpid())
    desk.fork(old, B, 10, "on the fork")
    before = {path: path.read_bytes() for path in (desk.repo / ".workbench").rglob("*") if path.is_file()}
    assert desk.join(desk.open(read_only=True)) == ([], [B])
    assert before == {path: path.read_bytes() for path in (desk.repo / ".workbench").rglob("*") if path.is_file()}


def test_an_agent_lets_its_own_session_join(desk: Desk) -> None:
    old = desk.claude(A, 1, "make it green")
    desk.attach(A)
    desk.fork(old, B, 10, "on the fork")
    assert desk.join(desk.open(as_="agent:claude")) == ([B], [])


def test_sessions_attached_by_path_alone_are_no_reason_to_fail(repo: Path, tmp_path: Path) -> None:
    ctx = opened(repo)
    task = tasks.new(ctx, {"title": "One", "objective": "do one"})
    script = Script(A, str(repo))
    script.prompt("make it green")
    path = script.write(tmp_path)
    sessions.attach(ctx, task, str(path))
    path.unlink()
    assert successors.join(ctx) == ([], [])
