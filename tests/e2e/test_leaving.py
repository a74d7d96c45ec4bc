"""The executor that leaves is asked to stop; the one that falls over at once is taken back, and the old one goes on."""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.conftest import Shell

TALKER = """#!{python} -I
import os, sys
print("ready", flush=True)
with open(os.environ["TALKER"] + ".began", "w") as file:
    print("began", file=file)
for line in sys.stdin:
    with open(os.environ["TALKER"], "a") as file:
        file.write(line)
    if line.strip() == "/exit":
        break
"""


@pytest.fixture
def talker(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in Claude Code's place that listens to what is typed; and agents that fail at once."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "claude"
    program.write_text(TALKER.format(python=sys.executable))
    program.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    config = home / ".config/workbench/config.toml"
    config.parent.mkdir(parents=True)
    failing = json.dumps([sys.executable, "-c", "raise SystemExit(3)", "{prompt}"])
    config.write_text(f"[agents.broken]\ncommand = {failing}\n")
    heard = tmp_path / "heard"
    monkeypatch.setenv("TALKER", str(heard))
    return heard


def wait_for(path: Path) -> str:
    """What a file says once it says anything."""
    until = time.monotonic() + 60
    while not (path.exists() and path.read_text().endswith("\n")):
        assert time.monotonic() < until, f"{path.name} never came"
        time.sleep(0.05)
    return path.read_text()


def handed(shell: Shell, to: str, way: str, code: int = 0) -> dict[str, object]:
    package = shell("handoff", "prepare", "@", "--to", to, "--json").json["package"]["id"]
    done = shell("handoff", "confirm", package, "--launch", way, "--yes", "--json", code=code)
    answer: dict[str, object] = json.loads(done.out or done.err[done.err.index("{") :])
    return answer | {"id": package}


def attempts(shell: Shell) -> list[tuple[str, str]]:
    return [(a["executor"], a["status"]) for a in shell("attempt", "list", "--json").json["attempts"]]


@pytest.mark.tmux
@pytest.mark.usefixtures("tmux_server")
def test_the_executor_that_leaves_is_asked_to_stop_in_its_own_pane(shell: Shell, talker: Path):
    shell("init")
    shell("task", "new", "Green accent", "--objective", "The accent is green.")
    handed(shell, "claude", "tmux")
    wait_for(Path(f"{talker}.began"))
    done = handed(shell, "codex", "print")
    assert "was asked to stop" in str(done["left"])
    assert wait_for(talker).splitlines() == ["/exit"]
    assert attempts(shell) == [("agent:claude", "handed_over"), ("agent:codex", "starting")]


@pytest.mark.tmux
@pytest.mark.usefixtures("tmux_server")
def test_a_program_that_ends_before_it_was_seen_is_taken_back(shell: Shell, talker: Path):
    shell("init")
    shell("task", "new", "Green accent", "--objective", "The accent is green.")
    shell("--as", "agent:pi", "task", "take", "@")
    package = str(handed(shell, "broken", "tmux")["id"])
    until = time.monotonic() + 60
    while "ended" not in {need["code"] for need in shell("status", "--json").json["needs_you"]}:
        assert time.monotonic() < until, shell("handoff", "show", package, "--json").out
    shell("--as", "agent:pi", "handoff", "resume", package, code=5)
    resumed = shell("handoff", "resume", package, "--json").json
    assert (resumed["package"]["status"], "ended before" in resumed["steps"][0]) == ("failed", True)
    assert attempts(shell) == [("agent:pi", "handed_over"), ("agent:broken", "cancelled")]
    again = shell("handoff", "resume", package, "--again", "--json").json
    assert "agent:pi runs the task again" in again["steps"][-1]
    assert attempts(shell)[-1] == ("agent:pi", "running")


def test_a_program_that_fails_at_once_in_the_foreground_was_never_launched(shell: Shell, talker: Path):
    shell("init")
    shell("task", "new", "Green accent", "--objective", "The accent is green.")
    shell("--as", "agent:pi", "task", "take", "@")
    failed = handed(shell, "broken", "foreground", code=5)
    assert "exit code 3" in str(failed)
    assert shell("handoff", "show", str(failed["id"]), "--json").json["package"]["status"] == "failed"
    assert attempts(shell) == [("agent:pi", "handed_over"), ("agent:broken", "cancelled")]
    shell("handoff", "resume", str(failed["id"]), "--again")
    assert attempts(shell)[-1] == ("agent:pi", "running")
