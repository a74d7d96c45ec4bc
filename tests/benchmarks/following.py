"""A session that is followed: what it costs to hear a message, with all that is written for what it holds."""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable

from tests.benchmarks.data import home
from tests.benchmarks.extracting import SET
from tests.benchmarks.table import Row, main, ms
from tests.e2e.talk import CodexTalk
from workbench.services import sessions, tasks
from workbench.services.context import open_context
from workbench.services.following import Follower
from workbench.store.location import locate
from workbench.store.workspace import Workspace

BACKLOG, LIVE = 4000, 200
"""Messages that are there at the beginning, and that come one by one afterwards."""


def run(scale: float = 1.0) -> list[Row]:
    """Processor time of a message: of many that were there, and of single ones."""
    texts = [json.loads(line)["text"] for line in SET.read_text("utf-8").splitlines()]
    with home() as folder:
        repo = folder / "repo"
        repo.mkdir()
        Workspace.init(locate(repo))
        ctx = open_context(repo, env={**os.environ, "WORKBENCH_HUMAN_SHELL": "1"}, app=True)
        talk = _Mixed(folder, repo)
        count = max(20, int(BACKLOG * scale))
        for number in range(count):
            talk.go_on(texts, number)
        sessions.attach(ctx, tasks.new(ctx, {"title": "Measure", "objective": "measure"}), str(talk.path))
        follower = Follower(ctx)
        follower.step()
        whole = _spent(lambda: _all(follower)) / max(1, count)
        single = []
        for number in range(max(4, int(LIVE * scale))):
            talk.go_on(texts, count + number)
            single.append(_spent(lambda: _all(follower)))
        idle = statistics.median(_spent(follower.step) for _ in range(20))
    live = statistics.mean(single)
    return [
        Row(f"{count:,} messages that were there, each", ms(whole), "< 5 ms", whole < 0.005),
        Row("a message that comes alone, mean", ms(live), "< 5 ms", live < 0.005),
        Row("the same, the slowest", ms(max(single))),
        Row("nothing new", ms(idle)),
    ]


class _Mixed(CodexTalk):
    """As in a day's work: one message in five states something, two are a tool's, two are narration."""

    def go_on(self, texts: list[str], number: int) -> None:
        if number % 5 == 0:
            say = self.agent if number % 20 else self.person
            say(f"{texts[number // 5 % len(texts)]} ({number})")
        elif number % 5 < 3:
            self.tool(f"decision: part {number} is green\n" * 20)
        else:
            self.agent(f"Let me look at part {number} of it, and at what calls it, before I go on with the next one.")


def _all(follower: Follower) -> None:
    while follower.step():
        pass


def _spent(work: Callable[[], object]) -> float:
    """Seconds of processor time."""
    began = time.process_time()
    work()
    return time.process_time() - began


if __name__ == "__main__":
    main("Following", run)
