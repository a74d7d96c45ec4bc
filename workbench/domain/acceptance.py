"""What the evidence says of a contract: which item is met, which command failed last."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from workbench.domain.artifact import Artifact
from workbench.domain.contract import AcceptanceItem, Contract
from workbench.domain.evidence import Evidence
from workbench.domain.times import instant

Verdict = Literal["passed", "failed", "stale", "claimed", "waiting"]


@dataclass(frozen=True)
class Judgement:
    """The standing of one acceptance item, with the evidence behind it in one line."""

    item: AcceptanceItem
    verdict: Verdict
    line: str
    evidence: tuple[str, ...] = ()
    """Ids of the lines that it rests on."""


def command_line(evidence: Evidence) -> str:
    """The command of an observation as one line."""
    return shlex.join(evidence.argv) if evidence.argv else evidence.command


def in_time(evidence: Iterable[Evidence]) -> list[Evidence]:
    """Observations, oldest first; equal times by id."""
    return sorted(evidence, key=lambda e: (instant(e.at), e.id))


def last_failure(evidence: Iterable[Evidence]) -> Evidence | None:
    """The newest failed command that no later run of the same command passed. Unknown is neither."""
    verdicts: dict[str, Evidence] = {}
    for seen in in_time(evidence):
        if seen.kind == "command" and seen.exit_code is not None:
            verdicts[command_line(seen)] = seen
    failed = [e for e in verdicts.values() if e.exit_code != 0]
    return in_time(failed)[-1] if failed else None


def judge(
    contract: Contract, evidence: Sequence[Evidence], stale: Collection[str], artifacts: Iterable[Artifact]
) -> tuple[Judgement, ...]:
    """The standing of every acceptance item.

    Args:
        contract: Whose items.
        evidence: All observations of the task.
        stale: Ids of those under which a file changed since.
        artifacts: Artifacts that may be bound to outputs.
    """
    ordered = in_time(evidence)
    bound = {b.key: (a, b) for a in artifacts for b in a.bindings}
    return tuple(_judge(contract, item, ordered, stale, bound) for item in contract.acceptance)


def _judge(
    contract: Contract, item: AcceptanceItem, ordered: list[Evidence], stale: Collection[str], bound: dict[str, object]
) -> Judgement:
    kind, _, name = item.check.partition(":")
    about = [e for e in ordered if e.item == item.id]
    if kind == "command":
        spec = next((c for c in contract.commands if c.id == name), None)
        runs = [e for e in ordered if spec is not None and e.kind == "command" and _same_command(e, spec.run)]
        if spec is not None and runs:
            return _run_verdict(item, runs[-1], spec.exit, runs[-1].id in stale)
    if kind == "output" and name in bound:
        return Judgement(item, "passed", f"output {name} is bound")
    confirmed = [e for e in about if e.kind == "confirmation"]
    if kind == "manual" and confirmed:
        last = confirmed[-1]
        line = f"confirmed by {last.executor} at {last.at}"
        if last.id in stale:
            return Judgement(item, "stale", f"{line}, files changed since", (last.id,))
        return Judgement(item, "passed", line, (last.id,))
    if about:
        return Judgement(item, "claimed", f"claimed by {about[-1].executor} at {about[-1].at}", (about[-1].id,))
    return Judgement(item, "waiting", item.evidence or f"needs {item.check}")


def _same_command(evidence: Evidence, run: tuple[str, ...]) -> bool:
    if evidence.argv:
        return evidence.argv == run
    try:
        return tuple(shlex.split(evidence.command)) == run
    except ValueError:
        return False


def _run_verdict(item: AcceptanceItem, run: Evidence, expected: int, is_stale: bool) -> Judgement:
    line = f"{command_line(run)}: exit {'unknown' if run.exit_code is None else run.exit_code} at {run.at}"
    if run.exit_code is None:
        return Judgement(item, "claimed", line, (run.id,))
    if run.exit_code != expected:
        return Judgement(item, "failed", line, (run.id,))
    if is_stale:
        return Judgement(item, "stale", f"{line}, files changed since", (run.id,))
    return Judgement(item, "passed", line, (run.id,))
