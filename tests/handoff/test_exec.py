"""``_exec``: the program starts where and as it was ordered, or not at all."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from handoff_bench import Bench, Planner, StandIn, git

from workbench.errors import DamagedError, RefusedError
from workbench.handoff import exec_file, launch
from workbench.handoff.exec_file import NOT_STARTED, Order, environment
from workbench.handoff.launch import LaunchPlan


def ordered(bench: Bench, planned: Planner, prompt: bytes = b"do it\n", **more: object) -> LaunchPlan:
    """A plan with its prompt and its order put down, as a launch does before anything starts."""
    package = bench.prepare(prompt)
    plan = planned(package, **more)
    plan.outbox.put_prompt(bench.ws.prompt(package), plan.prompt_sha256)
    exec_file.write(plan.outbox, launch.order_for(plan, os.environ))
    return plan


def run(plan: LaunchPlan, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        plan.command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        **more,  # type: ignore[call-overload]
    )


def test_it_starts_in_its_place(bench: Bench, planned: Planner, stand_in: StandIn) -> None:
    plan = ordered(bench, planned)
    done = run(plan)
    assert done.returncode == 0
    said = stand_in.said()
    assert (said["cwd"], said["pwd"]) == (str(bench.repo), str(bench.repo))
    assert (said["branch"], said["head"]) == ("main", git(bench.repo, "rev-parse", "HEAD"))
    assert said["prompt"] == hashlib.sha256(b"do it\n").hexdigest()
    assert said["modes"] == ["0o600", "0o700"]
    assert said["args"] == [launch.sentence(plan.prompt_file, "9f3a1c0b7d2e4a58")]
    env = said["env"]
    assert env["WORKBENCH_ACTOR"] == "agent:standin"
    assert env["WORKBENCH_TASK"] == bench.task.id
    assert env["WORKBENCH_ATTEMPT"] == bench.package(plan.package).attempt
    assert env["WORKBENCH_WORKSPACE"] == str(bench.ws.root)
    assert "WORKBENCH_HUMAN_SHELL" not in env
    assert not (bench.repo / "owned").exists()
    assert not (bench.repo.parent / "owned").exists()


@pytest.mark.parametrize("size", [1, 200_000, 5_000_000])
def test_a_prompt_of_any_size_arrives_unchanged(bench: Bench, planned: Planner, stand_in: StandIn, size: int) -> None:
    prompt = ("zeile ü\r\n\t$(x) \x1b[31m 中\n".encode() * (size // 10 + 1))[:size].decode("utf-8", "ignore").encode()
    plan = ordered(bench, planned, prompt, headless=True, words=("--headless",))
    done = run(plan)
    assert done.returncode == 0, done.stderr
    assert stand_in.said()["stdin"] == hashlib.sha256(prompt).hexdigest()
    assert stand_in.said()["prompt"] == hashlib.sha256(prompt).hexdigest()


NASTY = (
    "it's",
    '"q"',
    ";",
    "a;",
    "$(touch owned)",
    "`x`",
    "new\nline",
    "tab\t",
    "ü中🙂",
    "",
    "-x",
    "*",
    "#{pane_id}",
    "%1",
    "\\",
    "\x1b[0m",
)


def test_arguments_arrive_unchanged(bench: Bench, planned: Planner, stand_in: StandIn) -> None:
    run(ordered(bench, planned, words=("{prompt}", *NASTY)))
    assert tuple(stand_in.said()["args"][1:]) == NASTY


def move_head(bench: Bench, plan: LaunchPlan) -> None:
    (bench.repo / "app.py").write_text("other\n")
    git(bench.repo, "commit", "-qam", "second")


def move_branch(bench: Bench, plan: LaunchPlan) -> None:
    git(bench.repo, "checkout", "-q", "-b", "side")


def move_folder(bench: Bench, plan: LaunchPlan) -> None:
    bench.repo.rename(bench.repo.with_name("elsewhere"))


def link_folder(bench: Bench, plan: LaunchPlan) -> None:
    bench.repo.rename(bench.repo.with_name("elsewhere"))
    bench.repo.symlink_to(bench.repo.with_name("elsewhere"))


def change_prompt(bench: Bench, plan: LaunchPlan) -> None:
    plan.prompt_file.write_text("do something else\n")


def lose_prompt(bench: Bench, plan: LaunchPlan) -> None:
    plan.prompt_file.unlink()


def open_order(bench: Bench, plan: LaunchPlan) -> None:
    plan.exec_file.chmod(0o644)


def open_folder(bench: Bench, plan: LaunchPlan) -> None:
    plan.outbox.folder.chmod(0o755)


def link_order(bench: Bench, plan: LaunchPlan) -> None:
    other = plan.exec_file.with_name("other.json")
    plan.exec_file.rename(other)
    plan.exec_file.symlink_to(other)


def break_order(bench: Bench, plan: LaunchPlan) -> None:
    plan.exec_file.write_text('{"argv": 1}')


def lose_program(bench: Bench, plan: LaunchPlan) -> None:
    Path(plan.argv[0]).unlink()


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (move_head, "HEAD is"),
        (move_branch, "the branch is side"),
        (move_folder, "is not there any more"),
        (link_folder, "is not there any more"),
        (change_prompt, "is not the prompt"),
        (lose_prompt, "No such file"),
        (open_order, "may be read or changed by others"),
        (open_folder, "may be read or changed by others"),
        (link_order, "cannot open"),
        (break_order, "is not an order"),
        (lose_program, "No such file"),
    ],
)
def test_it_refuses(
    bench: Bench, planned: Planner, stand_in: StandIn, harm: Callable[[Bench, LaunchPlan], None], words: str
) -> None:
    plan = ordered(bench, planned)
    harm(bench, plan)
    done = run(plan)
    assert done.returncode == NOT_STARTED
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not stand_in.report.exists()


def test_an_order_is_carried_out_once(bench: Bench, planned: Planner, stand_in: StandIn) -> None:
    plan = ordered(bench, planned)
    assert run(plan).returncode == 0
    assert plan.outbox.outcome().state == "exec"  # type: ignore[union-attr]
    assert not plan.exec_file.exists()
    stand_in.report.unlink()
    done = run(plan)
    assert done.returncode == NOT_STARTED
    assert not stand_in.report.exists()


def test_an_order_that_was_taken_back_does_not_start(bench: Bench, planned: Planner, stand_in: StandIn) -> None:
    plan = ordered(bench, planned)
    assert plan.outbox.take_back() is None
    assert run(plan).returncode == NOT_STARTED
    assert not stand_in.report.exists()


def test_what_is_being_started_is_not_taken_back(bench: Bench, planned: Planner) -> None:
    plan = ordered(bench, planned)
    with plan.outbox.begun(wait=True), pytest.raises(RefusedError):
        plan.outbox.take_back()
    assert plan.exec_file.exists()


def test_files_are_owner_only_whatever_the_umask(bench: Bench, planned: Planner) -> None:
    before = os.umask(0)
    try:
        plan = ordered(bench, planned)
    finally:
        os.umask(before)
    modes = {p.relative_to(bench.state).as_posix(): p.stat().st_mode & 0o777 for p in bench.state.rglob("*")}
    folder = f"handoff/{plan.package}"
    assert modes == {"handoff": 0o700, folder: 0o700, f"{folder}/prompt.md": 0o600, f"{folder}/order.json": 0o600}


def test_the_worktree_of_a_branch(bench: Bench, planned: Planner, stand_in: StandIn, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    git(bench.repo, "worktree", "add", "-q", "-b", "side", str(linked))
    place = replace(bench.place(), folder=linked, worktree="linked", branch="side")
    assert run(ordered(bench, planned, place=place)).returncode == 0
    assert (stand_in.said()["cwd"], stand_in.said()["branch"]) == (str(linked), "side")
    assert git(linked, "status", "--porcelain") == ""


def order(**more: object) -> Order:
    base = Order(package="p", argv=("/x",), cwd="/work tree", env={}, prompt_file="/p", prompt_sha256="0")
    return base.with_(**more)


def test_the_terminal_keeps_its_own_variables() -> None:
    asked = order(whole_env=True, env={"TERM": "xterm", "TMUX": "other", "KEY": "1", "WORKBENCH_HUMAN_SHELL": "1"})
    made = environment(asked, {"TERM": "tmux-256color", "TMUX": "mine", "STRAY": "1"})
    assert made == {"TERM": "tmux-256color", "TMUX": "mine", "KEY": "1", "PWD": "/work tree"}


def test_a_printed_order_adds_to_the_shell_it_is_used_in() -> None:
    made = environment(order(env={"A": "1"}), {"B": "2", "A": "0", "WORKBENCH_HUMAN_SHELL": "1"})
    assert made == {"A": "1", "B": "2", "PWD": "/work tree"}


def test_a_damaged_order_is_named(bench: Bench, planned: Planner) -> None:
    plan = ordered(bench, planned)
    plan.exec_file.write_text("{")
    with pytest.raises(DamagedError, match="is not an order"):
        exec_file.read(plan.exec_file)
