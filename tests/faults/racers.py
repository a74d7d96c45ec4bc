"""Sixteen people reach for the same thing at the same moment: exactly one gets it, the others are told.

``python -m tests.faults.racers [ROUNDS]`` runs each race many times and prints how many had one winner.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.faults import commands
from workbench.domain.fact import Act, Fact, Source
from workbench.domain.ids import new_id
from workbench.domain.task import Task
from workbench.errors import WorkbenchError
from workbench.services import facts, handover, packages, tasks
from workbench.services.context import Context, open_context

RACERS = 16
LOST = (4, 5)
"""Exit codes of those who come too late: changed meanwhile, refused."""

Race = Callable[[Path, dict[str, str]], Callable[[Context], object]]
"""Prepares one round in a folder; what is handed back is what every racer does."""


def _context(folder: Path, env: dict[str, str]) -> Context:
    return open_context(folder, env=env)


def _task(ctx: Context) -> Task:
    return tasks.new(ctx, {"title": f"Race {new_id()}", "objective": "win"})


def take(folder: Path, env: dict[str, str]) -> Callable[[Context], object]:
    """``task take``."""
    task = _task(_context(folder, env))
    return lambda ctx: tasks.take(ctx, task, executor=f"agent:{os.getpid()}")


def settle(folder: Path, env: dict[str, str]) -> Callable[[Context], object]:
    """``fact confirm``: sixteen proposals of one key, each against the same active fact."""
    key = f"race.{new_id()}"
    act = Act(act="accepted", by="human:dev", at=commands.AT)
    active = Fact(id=new_id(), key=key, value="old", acts=(act,))
    said = Source(by="agent:x", at=commands.AT)
    proposals = [Fact(id=new_id(), key=key, value=number, sources=(said,)) for number in range(RACERS)]
    with _context(folder, env).workspace.transaction("human:dev", "race") as tx:
        for fact in (active, *proposals):
            tx.put(fact)

    def confirm(ctx: Context) -> object:
        mine = proposals[int(ctx.env["RACER"])]
        return facts.confirm(ctx, mine.id, expect=f"{active.id}@{active.version}")

    return confirm


def hand_off(folder: Path, env: dict[str, str]) -> Callable[[Context], object]:
    """``handoff confirm``."""
    ctx = _context(folder, env)
    package = packages.prepare(ctx, _task(ctx), "codex")
    return lambda ctx: handover.confirm(ctx, package.id, "print")


RACES: dict[str, Race] = {"task take": take, "fact confirm": settle, "handoff confirm": hand_off}


def run(race: Race, folder: Path, env: dict[str, str]) -> list[int]:
    """One round.

    Returns:
        How each racer came out: 0 for a winner, else the exit code of what it was told.
    """
    act = race(folder, env)
    ready, start = os.pipe(), os.pipe()
    children = []
    for number in range(RACERS):
        child = os.fork()
        if child == 0:
            os._exit(_race(act, folder, env | {"RACER": str(number)}, ready[1], start))
        children.append(child)
    for _ in range(RACERS):
        os.read(ready[0], 1)
    os.close(start[1])
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    for descriptor in (*ready, start[0]):
        os.close(descriptor)
    return codes


def _race(
    act: Callable[[Context], object], folder: Path, env: dict[str, str], ready: int, start: tuple[int, int]
) -> int:
    try:
        ctx = _context(folder, env)
        os.close(start[1])
        os.write(ready, b"x")
        os.read(start[0], 1)  # ends for all at once, when the last writing end is closed
        act(ctx)
    except WorkbenchError as problem:
        return problem.exit_code
    except BaseException:
        return 99
    return 0


def environment(home: Path) -> dict[str, str]:
    """A person's, in a home of its own."""
    return {"HOME": str(home), "WORKBENCH_HUMAN_SHELL": "1", "PATH": os.environ["PATH"], "TZ": "UTC"}


def main(rounds: int) -> int:
    """Run every race ``rounds`` times."""
    bad = 0
    for name, race in RACES.items():
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "project"
            commands.prepare(folder)
            env = environment(Path(place))
            results = [run(race, folder, env) for _ in range(rounds)]
        won = sum(codes.count(0) == 1 and all(code in (0, *LOST) for code in codes) for codes in results)
        bad += rounds - won
        print(f"{name}: {RACERS} racers, one winner in {won} of {rounds} rounds", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 50))
