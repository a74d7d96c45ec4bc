"""The ladder of a hand-over: one winner, never two attempts, and every crash resumed or undone."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from handoff_bench import DEV, NOW, ROOT, Bench, Planner, StandIn, git

from workbench.domain.ids import new_id
from workbench.domain.package import Difference
from workbench.domain.record import Stamp
from workbench.domain.task import Attempt, SessionRef, Task
from workbench.errors import DamagedError, NotBuiltError, RefusedError, StorageError, VersionConflictError
from workbench.handoff import carry, transfer
from workbench.handoff.launch import Launched
from workbench.store.location import locate
from workbench.store.primitives import watched
from workbench.store.workspace import Workspace


def clock() -> datetime:
    return NOW


def confirm(bench: Bench, package: str, way: str = "print", **more: object) -> None:
    transfer.confirm(bench.ws, package, DEV, NOW, way=way, **more)  # type: ignore[arg-type]


def consistent(bench: Bench, package: str) -> None:
    """Whatever happened: at most one live attempt, and it is the one that the task names."""
    live = bench.live()
    assert len(live) <= 1
    running = bench.running()
    assert [a.id for a in live] == ([running] if running else [])
    if bench.package(package).status in ("failed", "cancelled", "rejected"):
        assert running != bench.package(package).attempt


def test_the_whole_ladder(bench: Bench, planned: Planner) -> None:
    package = bench.prepare()
    reserved = bench.package(package).attempt
    confirm(bench, package)
    assert bench.package(package).status == "confirmed"
    assert transfer.release(bench.ws, package, DEV, NOW).id == bench.old.id  # type: ignore[union-attr]
    assert bench.attempt(bench.old.id).status == "releasing"
    transfer.hand_over(bench.ws, package, DEV, NOW)
    assert bench.attempt(bench.old.id).status == "handed_over"
    assert bench.running() == bench.old.id  # nobody can take the task in between
    transfer.start(bench.ws, package, DEV, NOW, bench.place())
    assert bench.running() == reserved
    started = bench.attempt(reserved)
    assert (started.status, started.executor, started.branch) == ("starting", "agent:standin", "main")
    assert bench.package(package).status == "transferring"
    transfer.launched(bench.ws, package, DEV, NOW, Launched("tmux", started=True, pane="%3"))
    assert bench.package(package).status == "launched"
    assert bench.attempt(reserved).status == "running"
    session = SessionRef(agent="standin", id="s-2", joined=Stamp(by=DEV, at="2026-03-01T10:01:00Z"))
    transfer.joined(bench.ws, package, DEV, NOW, session, proof="first_message", message="m1")
    assert bench.package(package).status == "received"
    assert bench.attempt(reserved).sessions == (session,)
    assert [e.status for e in bench.package(package).events] == [
        "pending",
        "confirmed",
        "transferring",
        "launched",
        "received",
    ]


def test_a_step_out_of_turn_is_refused(bench: Bench) -> None:
    package = bench.prepare()
    with pytest.raises(VersionConflictError, match="is pending"):
        transfer.release(bench.ws, package, DEV, NOW)
    confirm(bench, package)
    with pytest.raises(RefusedError, match="has not been given up"):
        transfer.start(bench.ws, package, DEV, NOW, bench.place())
    with pytest.raises(VersionConflictError, match="is confirmed"):
        transfer.launched(bench.ws, package, DEV, NOW, Launched("print", started=False))


def test_of_many_who_confirm_one_wins(bench: Bench) -> None:
    package = bench.prepare()
    gate = threading.Barrier(8)
    outcomes: list[str] = []

    def run(name: str) -> None:
        ws = Workspace.open(bench.ws.location)
        gate.wait()
        try:
            transfer.confirm(ws, package, f"human:{name}", NOW, way="print")
            outcomes.append("won")
        except VersionConflictError as lost:
            outcomes.append(str(lost.details["status"]))

    threads = [threading.Thread(target=run, args=(f"p{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["confirmed"] * 7 + ["won"]
    assert [e.status for e in bench.package(package).events] == ["pending", "confirmed"]


CONFIRMER = """
import sys
sys.path.insert(0, sys.argv[1])
from datetime import UTC, datetime
from pathlib import Path
from workbench.errors import VersionConflictError
from workbench.handoff import transfer
from workbench.store.location import locate
from workbench.store.workspace import Workspace
ws = Workspace.open(locate(Path(sys.argv[2])))
try:
    transfer.confirm(ws, sys.argv[3], f"human:{sys.argv[4]}", datetime.now(UTC), way="print")
    print("won")
except VersionConflictError as lost:
    print("lost to", lost.details["by"])
"""


def test_of_processes_that_confirm_one_wins(bench: Bench) -> None:
    package = bench.prepare()
    command = [sys.executable, "-c", CONFIRMER, str(ROOT), str(bench.repo), package]
    racers = [subprocess.Popen([*command, name], stdout=subprocess.PIPE, text=True) for name in "abc"]
    said = sorted(racer.communicate()[0].strip() for racer in racers)
    winner = bench.package(package).events[-1].by
    assert said == [f"lost to {winner}"] * 2 + ["won"]


def test_a_stale_package_stops_or_is_overridden_on_the_record(bench: Bench) -> None:
    package = bench.prepare()
    changed = Difference(code="file_changed", subject="app.py", was="1", now="2")
    more = Difference(code="new_messages", subject="claude:s-1", was="3", now="4", stops=False)
    with pytest.raises(RefusedError, match=r"stale: file_changed app\.py") as refusal:
        confirm(bench, package, judge=lambda _: (changed, more))
    assert [d["code"] for d in refusal.value.details["differences"]] == ["file_changed", "new_messages"]
    assert bench.package(package).status == "pending"
    confirm(bench, package, judge=lambda _: (changed, more), override="")
    details = bench.package(package).events[-1].details
    assert details["override"] == ""
    assert [d["code"] for d in details["differences"]] == ["file_changed", "new_messages"]


def test_what_only_shows_does_not_stop(bench: Bench) -> None:
    package = bench.prepare()
    confirm(
        bench, package, judge=lambda _: (Difference(code="new_messages", subject="s", was="1", now="2", stops=False),)
    )
    assert bench.package(package).status == "confirmed"


def test_the_judge_sees_the_records_under_the_lock(bench: Bench) -> None:
    package = bench.prepare()
    seen: list[bool] = []
    confirm(bench, package, judge=lambda records: seen.append(package in records.packages) or ())  # type: ignore[func-returns-value]
    assert seen == [True]


def test_another_hand_over_of_the_task_is_waited_for(bench: Bench) -> None:
    first, second = bench.prepare(), bench.prepare()
    confirm(bench, first)
    with pytest.raises(RefusedError, match=first):
        confirm(bench, second)


def test_a_task_with_two_attempts_is_not_handed_over(bench: Bench) -> None:
    package = bench.prepare()
    other = Attempt(id=new_id(), task=bench.task.id, executor="agent:x", started=bench.old.started)
    with bench.ws.transaction(DEV, "merge", now=NOW) as tx:
        tx.put(other)
    with pytest.raises(RefusedError, match="two attempts") as refusal:
        confirm(bench, package)
    assert set(refusal.value.details["contested"]) == {other.id, bench.old.id}


@pytest.mark.parametrize("status", ["cancelled", "complete", "draft"])
def test_only_an_open_task_is_handed_over(bench: Bench, status: str) -> None:
    package = bench.prepare()
    with bench.ws.transaction(DEV, "task", now=NOW) as tx:
        tx.put(tx.records.tasks[bench.task.id].with_(status=status))
    with pytest.raises(RefusedError, match=f"is {status}"):
        confirm(bench, package)


def test_a_replaced_package_names_its_successor(bench: Bench) -> None:
    old, new = bench.prepare(), bench.prepare()
    with bench.ws.transaction(DEV, "replace", now=NOW) as tx:
        event = tx.records.packages[old].events[0]
        tx.append_status(old, event.with_(id=new_id(), after=None, status="cancelled", details={"replaced_by": new}))
    with pytest.raises(VersionConflictError) as conflict:
        confirm(bench, old)
    assert conflict.value.details["replaced_by"] == new
    assert new in conflict.value.hint


def test_whoever_took_the_task_meanwhile_keeps_it(bench: Bench, planned: Planner) -> None:
    package = bench.prepare()
    other = Attempt(id=new_id(), task=bench.task.id, executor="agent:quick", started=bench.old.started)

    def stop(_: Attempt) -> None:
        with bench.ws.transaction(DEV, "attempt end, then take", now=NOW) as tx:
            tx.put(tx.records.attempts[bench.old.id].with_(status="failed"))
            tx.put(other)
            tx.put(tx.records.tasks[bench.task.id].with_(running=other.id))

    with pytest.raises(VersionConflictError, match="agent:quick"):
        carry.hand(bench.ws, package, planned(package, "print"), DEV, clock, os.environ, stop=stop)
    assert bench.running() == other.id
    assert bench.package(package).status == "pending"
    consistent(bench, package)


def test_a_task_that_nobody_runs_is_handed_over_too(bench: Bench, planned: Planner) -> None:
    with bench.ws.transaction(DEV, "attempt end", now=NOW) as tx:
        tx.put(bench.old.with_(status="failed"))
        tx.put(tx.records.tasks[bench.task.id].with_(running=None))
    package = bench.prepare()
    carry.hand(bench.ws, package, planned(package, "print"), DEV, clock, os.environ)
    assert bench.running() == bench.package(package).attempt


def test_print_stays_starting_until_its_session_is_seen(bench: Bench, planned: Planner) -> None:
    package = bench.prepare(b"do it \xc3\xbc\n")
    plan = planned(package, "print")
    result = carry.hand(bench.ws, package, plan, DEV, clock, os.environ)
    assert not result.started
    assert str(plan.prompt_file) in result.text
    assert plan.prompt_file.read_bytes() == b"do it \xc3\xbc\n"
    attempt = bench.package(package).attempt
    assert (bench.package(package).status, bench.attempt(attempt).status) == ("launched", "starting")
    session = SessionRef(agent="standin", id="s-9", joined=bench.old.started)
    transfer.joined(bench.ws, package, DEV, NOW, session)  # a person says which one it is
    assert (bench.package(package).status, bench.attempt(attempt).status) == ("launched", "running")
    transfer.joined(bench.ws, package, DEV, NOW, session, proof="prompt_read", message="m4")
    assert bench.package(package).status == "received"
    assert bench.attempt(attempt).sessions == (session,)


def test_a_second_hand_over_ends_the_first_package(bench: Bench, planned: Planner) -> None:
    first = bench.prepare()
    carry.hand(bench.ws, first, planned(first, "print"), DEV, clock, os.environ)
    second = bench.prepare()
    carry.hand(bench.ws, second, planned(second, "print"), DEV, clock, os.environ)
    assert bench.package(first).status == "closed"
    given_up = bench.attempt(bench.package(first).attempt)
    assert given_up.status == "cancelled"
    assert "not seen to begin" in (given_up.ended.why if given_up.ended else "")
    consistent(bench, second)


def test_a_failed_launch_lets_the_old_executor_be_taken_up_again(bench: Bench, planned: Planner, repo: Path) -> None:
    package = bench.prepare()

    def stop(_: Attempt) -> None:
        (repo / "app.py").write_text("moved\n")
        git(repo, "commit", "-qam", "second")

    with pytest.raises(RefusedError, match="HEAD is"):
        carry.hand(bench.ws, package, planned(package), DEV, clock, os.environ, stop=stop)
    failed = bench.package(package)
    assert failed.status == "failed"
    assert "HEAD is" in failed.events[-1].why
    ended = bench.attempt(failed.attempt)
    assert ended.status == "cancelled"
    assert ended.ended is not None
    assert "HEAD is" in ended.ended.why
    assert bench.running() is None
    again = transfer.take_up_again(bench.ws, package, DEV, NOW)
    assert (again.executor, again.sessions) == (bench.old.executor, bench.old.sessions)
    assert again.id != bench.old.id
    assert bench.running() == again.id
    consistent(bench, package)
    with pytest.raises(VersionConflictError):
        transfer.take_up_again(bench.ws, package, DEV, NOW)


def test_a_person_who_says_no_at_the_release_changes_nothing(bench: Bench, planned: Planner) -> None:
    package = bench.prepare()

    def stop(_: Attempt) -> None:
        raise RefusedError("it is still writing")

    with pytest.raises(RefusedError, match="still writing"):
        carry.hand(bench.ws, package, planned(package, "print"), DEV, clock, os.environ, stop=stop)
    assert bench.package(package).status == "pending"
    assert bench.attempt(bench.old.id).status == "running"


def test_what_would_not_start_gives_nothing_up(bench: Bench, planned: Planner, repo: Path) -> None:
    package = bench.prepare()
    plan = planned(package)
    git(repo, "checkout", "-q", "-b", "side")
    with pytest.raises(RefusedError, match="the branch is side"):
        carry.hand(bench.ws, package, plan, DEV, clock, os.environ)
    assert bench.package(package).status == "pending"
    assert bench.attempt(bench.old.id).status == "running"


def test_whoever_comes_second_is_told_who_was_first(bench: Bench, planned: Planner) -> None:
    package = bench.prepare()
    plan = planned(package, "print")
    with carry.alone(bench.ws, package), pytest.raises(RefusedError, match=str(os.getpid())):
        carry.hand(bench.ws, package, plan, "human:late", clock, os.environ)
    confirm(bench, package)
    with carry.alone(bench.ws, package), pytest.raises(VersionConflictError, match=DEV):
        carry.hand(bench.ws, package, plan, "human:late", clock, os.environ)
    transfer.undo_confirm(bench.ws, package, DEV, NOW, "once more")
    carry.hand(bench.ws, package, plan, DEV, clock, os.environ)
    with pytest.raises(VersionConflictError, match="is launched"):
        carry.hand(bench.ws, package, plan, "human:late", clock, os.environ)


def test_a_damaged_prompt_gives_nothing_up(bench: Bench, planned: Planner) -> None:
    package = bench.prepare()
    (bench.ws.root / "packages" / package / "prompt.md").write_bytes(b"something else")
    with pytest.raises(DamagedError):
        carry.hand(bench.ws, package, planned(package, "print"), DEV, clock, os.environ)
    assert bench.package(package).status == "pending"
    assert bench.attempt(bench.old.id).status == "running"


def test_reject_and_cancel(bench: Bench, planned: Planner) -> None:
    package = bench.prepare()
    transfer.reject(bench.ws, package, DEV, NOW, "not now")
    assert bench.package(package).events[-1].why == "not now"
    package = bench.prepare()
    carry.cancel(bench.ws, bench.state, package, DEV, NOW)
    assert bench.package(package).status == "cancelled"
    package = bench.prepare()
    confirm(bench, package)
    transfer.release(bench.ws, package, DEV, NOW)
    carry.cancel(bench.ws, bench.state, package, DEV, NOW)
    assert bench.attempt(bench.old.id).status == "running"
    package = bench.prepare()
    plan = planned(package, "print")
    carry.hand(bench.ws, package, plan, DEV, clock, os.environ)
    carry.cancel(bench.ws, bench.state, package, DEV, NOW, "never used")
    assert bench.package(package).status == "cancelled"
    assert bench.running() is None
    assert not plan.exec_file.exists()
    with pytest.raises(VersionConflictError):
        carry.cancel(bench.ws, bench.state, package, DEV, NOW)
    assert transfer.take_up_again(bench.ws, package, DEV, NOW).executor == bench.old.executor


def test_what_runs_is_not_cancelled(bench: Bench, planned: Planner, stand_in: StandIn) -> None:
    package = bench.prepare()
    carry.hand(bench.ws, package, planned(package), DEV, clock, os.environ)
    with pytest.raises(RefusedError, match="was started"):
        carry.cancel(bench.ws, bench.state, package, DEV, NOW)


def test_only_hand_overs_are_launched(bench: Bench) -> None:
    package = bench.prepare()
    stored = bench.package(package).envelope
    review = stored.with_(id=new_id(), identity=stored.identity.with_(mode="review"))
    with bench.ws.transaction(DEV, "prepare", now=NOW) as tx:
        first = tx.records.packages[package].events[0]
        tx.add_package(review, b"do it\n", first.with_(id=new_id(), attempt=new_id()))
    with pytest.raises(NotBuiltError):
        confirm(bench, review.id)


# Crashes.


class Killed(BaseException):
    """Stands for the death of the process: no handler of ours catches it."""


def die_at(step: int) -> Callable[[str, str], None]:
    """A hook that lets ``step`` operations happen, and none after them."""
    left = [step]

    def hook(operation: str, path: str) -> None:
        if left[0] <= 0:
            raise Killed(f"{operation} {path}")
        left[0] -= 1

    return hook


def small_bench(tmp_path: Path, number: int) -> Bench:
    folder = tmp_path / f"w{number}"
    folder.mkdir()
    ws = Workspace.init(locate(folder))
    stamp = Stamp(by=DEV, at="2026-03-01T09:00:00Z")
    task = Task(id=new_id(), slug="t", title="T", created=stamp)
    old = Attempt(id=new_id(), task=task.id, executor="agent:claude", started=stamp)
    with ws.transaction(DEV, "task new", now=NOW) as tx:
        tx.put(task.with_(running=old.id))
        tx.put(old)
    return Bench(ws, folder, tmp_path / f"s{number}", task, old)


def hand_over(bench: Bench, package: str, stand_in: StandIn) -> None:
    from workbench.handoff import launch

    ws = Workspace.open(bench.ws.location)
    stored = ws.load().packages[package]
    plan = launch.plan(
        stand_in.program(),
        stored.envelope,
        stored.attempt or "",
        way="print",
        place=bench.place(),
        workspace=ws.root,
        state=bench.state,
        env=os.environ,
    )
    carry.hand(ws, package, plan, DEV, clock, os.environ)


def test_death_at_any_moment_is_resumed_or_undone(tmp_path: Path, stand_in: StandIn) -> None:
    """Every k-th write of a hand-over is the last one of its process; the next start brings order."""
    ends: set[str] = set()
    for step in range(400):
        bench = small_bench(tmp_path, step)
        package = bench.prepare()
        survived = True
        with watched(die_at(step)):
            try:
                hand_over(bench, package, stand_in)
            except Killed:
                survived = False
        before = len(bench.live())
        assert before <= 1, step
        fresh = Workspace.open(bench.ws.location)
        lines = carry.resume(fresh, bench.state, DEV, NOW)
        status = bench.package(package).status
        ends.add(status)
        assert status in ("pending", "launched", "failed"), (step, lines)
        consistent(bench, package)
        if status == "pending":
            assert bench.attempt(bench.old.id).status == "running"
        assert carry.resume(fresh, bench.state, DEV, NOW) == []
        if status == "pending":
            hand_over(bench, package, stand_in)
            assert bench.package(package).status == "launched"
            consistent(bench, package)
        if survived:
            break
    assert survived
    assert ends == {"pending", "launched", "failed"}


def test_a_hand_over_in_another_process_is_left_alone(bench: Bench) -> None:
    package = bench.prepare()
    confirm(bench, package)
    with carry.alone(bench.ws, package):
        (line,) = carry.resume(bench.ws, bench.state, DEV, NOW)
        assert f"by process {os.getpid()}" in line
        with pytest.raises(RefusedError):
            carry.cancel(bench.ws, bench.state, package, DEV, NOW)
    assert bench.package(package).status == "confirmed"
    (line,) = carry.resume(bench.ws, bench.state, DEV, NOW, package)
    assert "undone" in line
    assert bench.package(package).status == "pending"


def test_a_program_that_had_started_is_resumed(
    bench: Bench, planned: Planner, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = bench.prepare()

    def die(*_: object) -> None:
        raise Killed

    monkeypatch.setattr(transfer, "launched", die)
    with pytest.raises(Killed):
        carry.hand(bench.ws, package, planned(package), DEV, clock, os.environ)
    monkeypatch.undo()
    assert bench.package(package).status == "transferring"
    (line,) = carry.resume(bench.ws, bench.state, DEV, NOW)
    assert "resumed, its program had started" in line
    assert bench.attempt(bench.package(package).attempt).status == "running"
    consistent(bench, package)


def test_a_full_disk_fails_the_launch_and_says_so(bench: Bench, planned: Planner) -> None:
    package = bench.prepare()
    plan = planned(package, "print")

    def full(operation: str, path: str) -> None:
        if operation == "write" and path == "order.json":
            raise OSError(28, "No space left on device")

    with watched(full), pytest.raises(StorageError):
        carry.hand(bench.ws, package, plan, DEV, clock, os.environ)
    assert bench.package(package).status == "failed"
    assert "No space left" in bench.package(package).events[-1].why
    consistent(bench, package)
