"""A person on a terminal is asked; an agent in a pseudo-terminal is not taken for one."""

from __future__ import annotations

import os
import pty
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from workbench.agents.presence import Presence

if TYPE_CHECKING:
    from tests.cli.conftest import Run


class Person:
    """A call on a terminal of its own, with somebody who types."""

    def __init__(self, *argv: str, folder: Path, env: dict[str, str], through: Path | None = None) -> None:
        words = [str(through)] if through else []
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe((words or [sys.executable])[0], [*words, sys.executable, "-m", "workbench", *argv], env)
        self.seen = b""

    def type(self, text: str, after: str) -> None:
        """Type ``text`` once ``after`` stands on the screen."""
        self._read(lambda: after.encode() in self.seen)
        os.write(self.terminal, text.encode())

    def wait(self) -> int:
        """The exit code, once all is read."""
        self._read(lambda: False)
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def _read(self, enough: Any) -> None:
        end = time.monotonic() + 60
        while not enough() and time.monotonic() < end:
            try:
                more = os.read(self.terminal, 4096)
            except OSError:
                return
            if not more:
                return
            self.seen += more


@pytest.fixture
def shell(workspace: Path) -> dict[str, str]:
    """The environment of a person's terminal: nobody vouches for it."""
    env = {k: v for k, v in os.environ.items() if k != "WORKBENCH_HUMAN_SHELL"}
    return {**env, "PYTHONPATH": str(Path(__file__).parents[2]), "NO_COLOR": "1"}


def test_on_a_terminal_the_person_is_asked(run: Run, workspace: Path, shell: dict[str, str]) -> None:
    run("fact", "propose", "ui.color", "blue")
    green = run("--as", "agent:pi", "fact", "propose", "ui.color", "green", "--json").json["fact"]["id"]
    # The suite may itself run inside an agent's shell, where nobody could be asked.
    env = {**shell, "WORKBENCH_HUMAN_SHELL": "1"}
    for typed, code, lifecycle in (("n\n", 5, "proposed"), ("y\n", 0, "active")):
        person = Person("fact", "confirm", green, folder=workspace.parent, env=env)
        person.type(typed, "Go on?")
        assert person.wait() == code
        assert b"blue" in person.seen
        assert run("fact", "show", green, "--json").json["fact"]["lifecycle"] == lifecycle
    entered = Person("fact", "propose", "ui.color", "red", folder=workspace.parent, env=env)
    entered.type("n\n", "Go on?")
    assert entered.wait() == 0
    assert b"stays proposed" in entered.seen


def test_an_agent_in_a_pseudo_terminal_is_no_person(
    run: Run, workspace: Path, shell: dict[str, str], tmp_path: Path
) -> None:
    run("fact", "propose", "ui.color", "blue")
    green = run("--as", "agent:pi", "fact", "propose", "ui.color", "green", "--json").json["fact"]["id"]
    agent = tmp_path / "claude"
    agent.write_text('#!/bin/sh\n"$@"\nexit $?\n')
    agent.chmod(0o755)
    for more in ([], ["--as", "human", "--yes"]):
        call = Person("fact", "confirm", green, *more, folder=workspace.parent, env=shell, through=agent)
        assert call.wait() == 5
        assert b"person" in call.seen
    assert run("fact", "show", green, "--json").json["fact"]["lifecycle"] == "proposed"


def test_without_a_terminal_a_person_is_told_what_is_needed(
    run: Run, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.services.context.detect", lambda env: Presence(None))
    fact = run("fact", "propose", "ui.color", "blue", "--json").json["fact"]["id"]
    nobody = {"WORKBENCH_HUMAN_SHELL": ""}
    for given in ((), ("--yes",)):
        refused = run("fact", "retract", fact, *given, "--json", env=nobody)
        assert (refused.code, "--as human --yes" in refused.error["hint"]) == (5, True)
        assert "--yes" not in refused.error["message"]
    refused = run("fact", "retract", fact, "--as", "human", "--json", env=nobody)
    assert (refused.code, refused.error["hint"].endswith("give --yes")) == (5, True)
    agents = run("fact", "retract", fact, "--as", "agent:pi", "--json", env=nobody)
    assert (agents.code, "--yes" in agents.error["hint"]) == (5, False)
    assert run("fact", "retract", fact, "--why", "no", "--as", "human", "--yes", env=nobody).code == 0
