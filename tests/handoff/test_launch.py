"""Plans that a person can read, and every way of carrying them out."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import pty
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from handoff_bench import DEV, NOW, ROOT, Bench, Planner, StandIn, git

from workbench.agents.custom import CustomProgram
from workbench.domain.task import Attempt
from workbench.errors import NotBuiltError, NotFoundError, RefusedError, StorageError, UsageError
from workbench.handoff import carry, clipboard, launch, tmux
from workbench.handoff.launch import Launched, LaunchPlan, carry_out, quoted
from workbench.store.primitives import watched


def put_prompt(bench: Bench, plan: LaunchPlan) -> None:
    plan.outbox.put_prompt(bench.ws.prompt(plan.package), plan.prompt_sha256)


# Plans.


def test_a_plan_writes_nothing_and_shows_everything(bench: Bench, planned: Planner, stand_in: StandIn) -> None:
    plan = planned(bench.prepare(), "print")
    assert not bench.state.exists()
    assert plan.argv == (str(stand_in.path), launch.sentence(plan.prompt_file, "9f3a1c0b7d2e4a58"))
    assert plan.command[-2:] == ("_exec", str(plan.exec_file))
    assert "9f3a1c0b7d2e4a58" in plan.argv[1]
    assert not plan.prompt_file.is_relative_to(bench.repo)
    for part in (str(plan.exec_file), str(plan.prompt_file), "main at "):
        assert part in plan.text


def test_the_same_plan_twice(bench: Bench, planned: Planner) -> None:
    package = bench.prepare()
    assert planned(package, "print") == planned(package, "print")


@pytest.mark.parametrize(
    ("way", "more", "error"),
    [
        ("acp", {}, NotBuiltError),
        ("tmux", {}, RefusedError),
        ("print", {"headless": True}, UsageError),
        ("foreground", {"inline": "x" * 131_072}, UsageError),
        ("foreground", {"inline": "a\0b"}, UsageError),
    ],
)
def test_what_cannot_be_is_said_before_anything_starts(
    bench: Bench, planned: Planner, way: str, more: dict[str, object], error: type[Exception]
) -> None:
    with pytest.raises(error):
        planned(bench.prepare(), way, **more)


def test_a_program_that_is_not_installed(bench: Bench) -> None:
    stored = bench.package(bench.prepare())
    program = CustomProgram(name="ghost", title="Ghost", executables=("ghost-cli",), template=("ghost-cli",))

    def make(way: str) -> LaunchPlan:
        return launch.plan(
            program,
            stored.envelope,
            "a" * 10,
            way=way,  # type: ignore[arg-type]
            place=bench.place(),
            workspace=bench.ws.root,
            state=bench.state,
            env={"PATH": "/nowhere"},
        )

    with pytest.raises(NotFoundError, match="not installed"):
        make("foreground")
    assert "not installed here" in make("print").text


def test_inline_takes_the_place_of_the_sentence(bench: Bench, planned: Planner, stand_in: StandIn) -> None:
    plan = planned(bench.prepare(), inline="do it\n$(x)")
    put_prompt(bench, plan)
    carry_out(plan, os.environ, lambda _: None)
    assert stand_in.said()["args"] == ["do it\n$(x)"]


# Print and copy.


def test_the_printed_lines_work_in_a_shell(bench: Bench, planned: Planner, stand_in: StandIn) -> None:
    words = ("{prompt}", "it's", "\x1b[0m é", "a\nb", "$(touch owned)", "\u202e")
    plan = planned(bench.prepare(), "print", words=words)
    put_prompt(bench, plan)
    seen: list[Launched] = []
    result = carry_out(plan, os.environ, seen.append)
    assert seen == [result]
    assert not result.started
    assert "\x1b" not in result.text
    env = {**os.environ, "LC_ALL": "C.UTF-8"}
    for line in (plan.by_hand, " ".join(map(quoted, plan.command))):
        done = subprocess.run(["bash", "-c", line], cwd="/", capture_output=True, text=True, env=env, check=False)
        assert done.returncode == 0, done.stderr
        assert tuple(stand_in.said()["args"][1:]) == words[1:]
        assert stand_in.said()["cwd"] == str(bench.repo)
        assert stand_in.said()["env"]["WORKBENCH_ACTOR"] == "agent:standin"
        stand_in.report.unlink()
    # The checked line starts one program; a second one would work on the same attempt beside it.
    again = subprocess.run(["bash", "-c", line], cwd="/", capture_output=True, text=True, env=env, check=False)
    assert (again.returncode, "not started" in again.stderr) == (126, True)
    assert not stand_in.report.exists()


def test_a_printed_line_may_be_tried_again_where_nothing_was_started(
    bench: Bench, planned: Planner, stand_in: StandIn
) -> None:
    plan = planned(bench.prepare(), "print")
    put_prompt(bench, plan)
    carry_out(plan, os.environ, lambda _: None)
    line = " ".join(map(quoted, plan.command))
    git(bench.repo, "checkout", "-q", "-b", "elsewhere")
    refused = subprocess.run(["bash", "-c", line], cwd="/", capture_output=True, text=True, check=False)
    assert (refused.returncode, "the branch is elsewhere" in refused.stderr) == (126, True)
    git(bench.repo, "checkout", "-q", "main")
    assert subprocess.run(["bash", "-c", line], cwd="/", capture_output=True, check=False).returncode == 0
    assert stand_in.said()["branch"] == "main"


def test_a_printed_order_holds_no_environment(bench: Bench, planned: Planner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "very-secret")
    plan = planned(bench.prepare(), "print")
    put_prompt(bench, plan)
    carry_out(plan, os.environ, lambda _: None)
    assert b"very-secret" not in plan.exec_file.read_bytes()


def fake_xclip(folder: Path, *, keeps: bool) -> None:
    folder.mkdir()
    tool = folder / "xclip"
    kept = folder / "kept"
    take = f"cat > '{kept}'" if keeps else "cat > /dev/null"
    tool.write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\ncase \"$*\" in *-o*) cat '{kept}';; *) {take};; esac\n")
    tool.chmod(stat.S_IRWXU)


def test_copied_is_said_with_proof_only(tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    fake_xclip(good, keeps=True)
    fake_xclip(bad, keeps=False)
    assert clipboard.copy("tëxt\n", {"PATH": str(good), "DISPLAY": ":0"}) == clipboard.Copied(True, "the clipboard")
    unproven = clipboard.copy("tëxt\n", {"PATH": str(bad), "DISPLAY": ":0"})
    assert (unproven.proven, unproven.where) == (False, "the terminal")
    assert base64.b64decode(unproven.sequence[7:-1]).decode() == "tëxt\n"
    assert clipboard.copy("x" * 80_000, {"PATH": "/nowhere"}) == clipboard.Copied(False, "")


def test_copy_leaves_a_file(bench: Bench, planned: Planner, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned(bench.prepare(), "copy")
    put_prompt(bench, plan)
    result = carry_out(plan, {"PATH": "/nowhere"}, lambda _: None)
    assert "does not say whether" in result.said
    assert (plan.outbox.folder / "command.txt").read_text() == plan.text


# Foreground.


def test_foreground_runs_to_the_end(
    bench: Bench, planned: Planner, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXIT", "3")
    plan = planned(bench.prepare())
    put_prompt(bench, plan)
    seen: list[Launched] = []
    result = carry_out(plan, os.environ, seen.append)
    assert (seen[0].started, seen[0].exit_code) == (True, None)
    assert (result.started, result.exit_code) == (True, 3)
    assert stand_in.said()["group"] == seen[0].pid != os.getpgrp()


def test_a_foreground_refusal_is_an_error(bench: Bench, planned: Planner, stand_in: StandIn) -> None:
    plan = planned(bench.prepare())
    put_prompt(bench, plan)
    plan.prompt_file.write_text("other")
    with pytest.raises(RefusedError, match="not the prompt"):
        carry_out(plan, os.environ, pytest.fail)
    assert not stand_in.report.exists()


TERMINAL = """
import fcntl, json, os, sys, termios
sys.path.insert(0, sys.argv[1])
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from pathlib import Path
from workbench.handoff import foreground
before = termios.tcgetattr(0)
code = foreground.run(sys.argv[3:], Path(sys.argv[2]), os.environ, lambda alive: None)
same = termios.tcgetattr(0) == before
print(json.dumps({"code": code, "same": same, "front": os.tcgetpgrp(0) == os.getpgrp()}), flush=True)
"""
IN_TERMINAL = """
import os, signal, sys, termios, tty
print("front", os.tcgetpgrp(0) == os.getpgrp(), flush=True)
tty.setraw(0)
os.kill(os.getpid(), signal.SIGSTOP)
print("woken", os.tcgetpgrp(0) == os.getpgrp(), termios.tcgetattr(0)[3] & termios.ICANON == 0, flush=True)
sys.exit(5)
"""


def test_the_terminal_is_lent_and_given_back(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    command = [sys.executable, "-c", TERMINAL, str(ROOT), str(tmp_path), sys.executable, "-c", IN_TERMINAL]
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
    os.close(slave)
    output = b""
    try:
        while chunk := os.read(master, 4096):
            output += chunk
    except OSError:  # how Linux says that the other end is closed
        pass
    finally:
        os.close(master)
    assert process.wait(30) == 0, output
    lines = output.decode().replace("\r", "").split("\n")
    assert "front True" in lines
    assert "woken True True" in lines
    assert json.loads(next(line for line in lines if line.startswith("{"))) == {"code": 5, "same": True, "front": True}


# tmux.


def wait_for(report: Path) -> None:
    until = time.monotonic() + 30
    while not report.exists():
        assert time.monotonic() < until, "the stand-in did not report"
        time.sleep(0.02)


@pytest.mark.tmux
@pytest.mark.usefixtures("tmux_server")
def test_a_hand_over_into_a_pane(
    bench: Bench, planned: Planner, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FROM_MY_SHELL", "ü;")
    package = bench.prepare()
    words = ("{prompt}", "it's;", ";", "#{pane_id}", "$(touch owned)", "a\nb", "中")
    plan = planned(package, "tmux", words=words)
    result = carry.hand(bench.ws, package, plan, DEV, lambda: NOW, os.environ)
    wait_for(stand_in.report)
    said = stand_in.said()
    assert (said["cwd"], said["branch"], said["head"]) == (
        str(bench.repo),
        "main",
        git(bench.repo, "rev-parse", "HEAD"),
    )
    assert said["prompt"] == hashlib.sha256(b"do it\n").hexdigest()
    assert tuple(said["args"][1:]) == words[1:]
    assert said["stdin"] == "tty"
    assert said["env"]["FROM_MY_SHELL"] == "ü;"
    assert said["env"]["TMUX_PANE"] == result.pane != os.environ["TMUX_PANE"]
    assert "WORKBENCH_HUMAN_SHELL" not in said["env"]
    assert bench.package(package).status == "launched"
    assert bench.package(package).events[-1].details["pane"] == result.pane
    assert bench.attempt(bench.package(package).attempt).status == "running"
    assert tmux.run(os.environ, "display-message", "-p", "#{pane_id}").strip() == os.environ["TMUX_PANE"]
    assert not plan.exec_file.exists()


@pytest.mark.tmux
@pytest.mark.usefixtures("tmux_server")
def test_a_pane_that_refuses_stays_and_says_why(bench: Bench, planned: Planner, stand_in: StandIn) -> None:
    package = bench.prepare()
    plan = planned(package, "tmux", where="window")

    def stop(_: Attempt) -> None:
        git(bench.repo, "checkout", "-q", "-b", "side")

    with pytest.raises(RefusedError, match="the branch is side") as refusal:
        carry.hand(bench.ws, package, plan, DEV, lambda: NOW, os.environ, stop=stop)
    assert bench.package(package).status == "failed"
    pane = refusal.value.details["pane"]
    until = time.monotonic() + 20
    while "press Enter" not in (shown := tmux.run(os.environ, "capture-pane", "-p", "-J", "-t", pane)):
        assert time.monotonic() < until
        time.sleep(0.02)
    assert "the branch is side" in shown
    assert not stand_in.report.exists()
    tmux.close(os.environ, tmux.Pane(pane, "window"))
    assert not tmux.alive(os.environ, tmux.Pane(pane, "window"))


@pytest.mark.tmux
@pytest.mark.usefixtures("tmux_server")
def test_what_runs_but_could_not_be_recorded_is_recorded_later(
    bench: Bench, planned: Planner, stand_in: StandIn
) -> None:
    package = bench.prepare()
    plan = planned(package, "tmux")

    def full(operation: str, path: str) -> None:
        outcome = plan.outbox.outcome() if plan.outbox.folder.exists() else None
        if operation == "write" and path.startswith("changes/") and outcome is not None:
            raise OSError(28, "No space left on device")

    with watched(full), pytest.raises(StorageError):
        carry.hand(bench.ws, package, plan, DEV, lambda: NOW, os.environ)
    assert bench.package(package).status == "transferring"
    (line,) = carry.resume(bench.ws, bench.state, DEV, NOW)
    assert "its program had started" in line
    assert bench.attempt(bench.package(package).attempt).status == "running"
    wait_for(stand_in.report)


@pytest.mark.tmux
@pytest.mark.usefixtures("tmux_server")
def test_headless_in_a_pane_gets_the_bytes(bench: Bench, planned: Planner, stand_in: StandIn) -> None:
    prompt = "x ü\n".encode() * 100_000
    plan = planned(bench.prepare(prompt), "tmux", headless=True, words=("--go",))
    put_prompt(bench, plan)
    carry_out(plan, os.environ, lambda _: None)
    wait_for(stand_in.report)
    assert stand_in.said()["stdin"] == hashlib.sha256(prompt).hexdigest()
    assert stand_in.said()["args"] == ["--go"]


@pytest.mark.tmux
@pytest.mark.usefixtures("tmux_server")
def test_what_never_begins_is_withdrawn(bench: Bench, planned: Planner, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned(bench.prepare(), "tmux")
    put_prompt(bench, plan)
    monkeypatch.setattr(launch, "BEGIN_WITHIN", 0.3)
    monkeypatch.setattr(launch, "own_program", lambda: ("cat", "-"))
    panes = tmux.run(os.environ, "list-panes", "-a")
    with pytest.raises(RefusedError, match=r"nothing began|ended at once"):
        carry_out(plan, os.environ, pytest.fail)
    assert not plan.exec_file.exists()
    assert tmux.run(os.environ, "list-panes", "-a") == panes


@pytest.mark.tmux
@pytest.mark.usefixtures("tmux_server")
def test_a_pane_too_small_to_split_becomes_a_window(tmp_path: Path) -> None:
    tmux.run(os.environ, "resize-window", "-x", "20", "-y", "2")
    pane = tmux.open_pane(os.environ, ["cat"], tmp_path, "split", "agent #{x};")
    assert pane.where == "window"
    assert tmux.alive(os.environ, pane)


@pytest.mark.tmux
@pytest.mark.usefixtures("tmux_server")
def test_copy_into_a_buffer_of_tmux() -> None:
    copied = clipboard.copy("line ü;\n", {k: v for k, v in os.environ.items() if "DISPLAY" not in k})
    assert copied == clipboard.Copied(True, "tmux's buffer")
    assert tmux.run(os.environ, "show-buffer") == "line ü;\n"
