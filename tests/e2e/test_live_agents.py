"""Real agents, followed in the app while they work: through clearing, resuming and forking.

The agents are looked for in ``$AGENTS_DIR`` (``npm install --prefix $AGENTS_DIR/NAME PACKAGE``); the model is a
script on this machine, and they are started where the network ends at this machine.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

# Before any test takes the environment away.
AGENTS = Path(os.environ.get("AGENTS_DIR") or Path.home() / ".cache/agents-under-test")
ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = {
    "claude": "claude/node_modules/@anthropic-ai/claude-code-linux-x64/claude",
    "codex": "codex/node_modules/.bin/codex",
}
MOST = 85
"""Seconds that a whole day may take."""


def walled() -> list[str]:
    """How a process is started that reaches nothing but this machine."""
    for words in (["unshare", "-n"], ["unshare", "-rn"]) if shutil.which("unshare") else ():
        if subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0:
            return words
    pytest.skip("no network namespace can be made here (unshare): a real agent is not let out")


def day(agent: str, shared_dir: Path, folder: Path) -> dict[str, Any]:
    """What the app showed while a real agent worked."""
    program = AGENTS / PROGRAMS[agent]
    if not program.exists():
        pytest.skip(f"{agent} is not installed under {AGENTS} (AGENTS_DIR): it is not followed for real")
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    words = [*walled(), sys.executable, "-m", "tests.e2e.agent_day", agent, str(program)]
    done = subprocess.run(
        [*words, str(shared_dir / "tools"), str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=MOST,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    assert "stuck" not in told, f"{told['stuck']}\n{told['screens']['agent']}"
    return told


@pytest.mark.tmux
@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_a_real_agent_is_followed_through_clearing_resuming_and_forking(
    agent: str, shared_dir: Path, tmp_path: Path, record_property: Any
) -> None:
    told = day(agent, shared_dir, tmp_path / "day")
    seconds = {step: told[step]["seconds"] for step in ("attached", "followed", "cleared", "resumed", "forked")}
    record_property("told", f"real {agent}: seconds until the app showed it: {seconds}")
    assert "please add up" in told["attached"]["screen"]
    # What was said before stays, what came after clearing and resuming stands below it, and nothing stands twice.
    screen = told["forked"]["screen"]
    for word in ("one", "two", "three", "four", "five"):
        assert screen.split("╭─  message")[0].count(f"This is answer {word}.") == 1
    assert "on the fork" in screen
    (attempt,) = told["attempts"]
    assert attempt["executor"] == f"agent:{agent}"
    first, second = attempt["sessions"]
    assert first["joined"]["why"] == ""
    assert second["joined"]["why"] == f"the same process was in {agent}:{first['id']}"
