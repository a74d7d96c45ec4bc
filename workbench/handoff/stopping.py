"""Asks an executor that leaves a task to stop, where the workbench can: in the tmux pane that it opened itself."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from workbench.agents.program import AgentProgram
from workbench.domain.task import Attempt
from workbench.errors import RefusedError
from workbench.handoff import tmux
from workbench.handoff.process import lives
from workbench.store.records import Records

WITHIN = 5.0
"""Seconds that a program is given to leave; a turn that is under way may take longer."""
_PAUSE = 0.05


@dataclass(frozen=True)
class Leaver:
    """The program of an attempt that ends, as far as the workbench knows it."""

    name: str
    pid: int | None
    """Of the program that was launched; None where the workbench did not launch it."""
    began: str
    """When it began, where that is known."""
    pane: str | None
    """The pane in which that very program runs; None where there is none that can be reached."""
    words: str
    """What ends it when it is typed; empty where nothing is known to."""

    @property
    def ended(self) -> bool:
        """Whether it is known to have ended."""
        return self.pid is not None and not lives(self.pid, self.began)

    @property
    def plan(self) -> str:
        """What a hand-over does about it, in one line; empty where there is nothing to say."""
        if self.pid is None:
            return f"{self.name} was not started from here: end it yourself"
        if self.ended:
            return f"{self.name}'s program has ended"
        if self.pane is None or not self.words:
            return f"{self.name} runs as process {self.pid}: end it yourself"
        return f"{self.name} is asked to stop: {self.words} in pane {self.pane}"


def leaver(records: Records, attempt: Attempt, programs: Mapping[str, AgentProgram], env: Mapping[str, str]) -> Leaver:
    """What is known of the program behind an attempt; nothing is done."""
    name = attempt.executor.partition(":")[2] or attempt.executor
    package = records.packages.get(attempt.package or "")
    event = next((e for e in reversed(package.events) if e.status == "launched"), None) if package else None
    pid = event.details.get("pid") if event is not None else None
    pane = event.details.get("pane") if event is not None else None
    program = programs.get(name)
    reached = isinstance(pid, int) and isinstance(pane, str) and _runs_in(env, pane, pid)
    return Leaver(
        name=program.title if program is not None else name,
        pid=pid if isinstance(pid, int) else None,
        began=str(event.details.get("born", "")) if event is not None else "",
        pane=pane if reached and isinstance(pane, str) else None,
        words=program.leave if program is not None else "",
    )


def ask(one: Leaver, env: Mapping[str, str]) -> str:
    """Type what ends it, and wait a little; says what came of it, never fails."""
    if one.pid is None or one.pane is None or one.ended or not one.words:
        return one.plan
    try:
        tmux.run(env, "send-keys", "-t", one.pane, "-l", "--", one.words)
        tmux.run(env, "send-keys", "-t", one.pane, "Enter")
    except RefusedError as problem:
        return f"{one.name} could not be asked to stop: {problem.message}"
    until = time.monotonic() + WITHIN
    while lives(one.pid, one.began):
        if time.monotonic() > until:
            return f"{one.name} was asked to stop and has not ended yet: look at pane {one.pane}"
        time.sleep(_PAUSE)
    return f"{one.name} was asked to stop, and ended"


def _runs_in(env: Mapping[str, str], pane: str, pid: int) -> bool:
    """Whether the pane's own process is this one: a number may have come to mean another pane."""
    try:
        return tmux.run(env, "display-message", "-p", "-t", pane, "#{pane_pid}").strip() == str(pid)
    except RefusedError:
        return False
