"""How the acceptance items of a contract stand, and which command failed last, read off the evidence.

This is what the prompt says beside each item; the verdict that closes a task is the verifier's.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from workbench.compiler.material import EvidenceItem, Material
from workbench.domain.contract import AcceptanceItem, CommandSpec
from workbench.domain.evidence import Evidence
from workbench.domain.times import instant

Verdict = Literal["passed", "failed", "stale", "claimed", "waiting"]

_SEARCH_PROGRAMS = "grep egrep rg ag test [ diff cmp which command ls find cat head tail pgrep stat"
_SEARCHES = frozenset(_SEARCH_PROGRAMS.split())
"""Programs whose exit code 1 is an answer, not a failure of the work."""


@dataclass(frozen=True)
class Standing:
    """How one item stands, and by which evidence."""

    verdict: Verdict = "waiting"
    evidence: str | None = None


def newest_first(items: Iterable[EvidenceItem]) -> list[EvidenceItem]:
    """Evidence by time, newest first, whatever the order of the lines."""
    return sorted(items, key=lambda i: (instant(i.evidence.at), i.evidence.id), reverse=True)


def command_line(evidence: Evidence) -> str:
    """The command as one line."""
    return shlex.join(evidence.argv) if evidence.argv else evidence.command


def expected_exit(material: Material, evidence: Evidence) -> int:
    """The exit code that counts as passed for this command."""
    spec = contract_command(material, evidence)
    return spec.exit if spec else 0


def contract_command(material: Material, evidence: Evidence) -> CommandSpec | None:
    """The required command that this evidence is a run of."""
    line = command_line(evidence)
    for spec in material.task.contract.commands:
        if evidence.argv == spec.run or line == shlex.join(spec.run):
            return spec
    return None


def passed(material: Material, evidence: Evidence) -> bool | None:
    """Whether a command passed; None where its exit code is unknown."""
    if evidence.kind != "command" or evidence.exit_code is None:
        return None
    return evidence.exit_code == expected_exit(material, evidence)


def standings(material: Material) -> dict[str, Standing]:
    """How every acceptance item stands, by its id."""
    own = newest_first(i for i in material.evidence if i.evidence.task == material.task.id)
    return {item.id: _standing(material, item, own) for item in material.task.contract.acceptance}


def _standing(material: Material, item: AcceptanceItem, own: list[EvidenceItem]) -> Standing:
    kind, _, subject = item.check.partition(":")
    found: Standing | None = None
    if kind == "command":
        found = _by_command(material, subject, own)
    elif kind == "output":
        found = _by_output(material, subject)
    elif kind == "file":
        found = _by_file(subject, own)
    else:
        found = _newest((e for e in own if e.evidence.kind == "confirmation" and e.evidence.item == item.id), "passed")
    if found is not None:
        return found
    return _newest((e for e in own if e.evidence.item == item.id), "claimed") or Standing()


def _newest(items: Iterable[EvidenceItem], verdict: Verdict) -> Standing | None:
    first = next(iter(items), None)
    if first is None:
        return None
    return Standing(verdict if first.valid or verdict == "claimed" else "stale", first.evidence.id)


def _by_command(material: Material, spec_id: str, own: list[EvidenceItem]) -> Standing | None:
    spec = next((c for c in material.task.contract.commands if c.id == spec_id), None)
    for item in own:
        run = contract_command(material, item.evidence) if item.evidence.kind == "command" else None
        if spec is None or run is None or run.id != spec.id or item.evidence.exit_code is None:
            continue
        if item.evidence.exit_code != spec.exit:
            return Standing("failed", item.evidence.id)
        if item.evidence.trust != "verified":
            return Standing("claimed", item.evidence.id)
        return Standing("passed" if item.valid else "stale", item.evidence.id)
    return None


def _by_output(material: Material, key: str) -> Standing | None:
    for artifact in sorted(material.artifacts, key=lambda a: a.id):
        bound = [b for b in artifact.bindings if b.task == material.task.id and b.key == key and b.evidence]
        if bound:
            return Standing("passed", bound[-1].evidence[-1])
        if artifact.task == material.task.id and artifact.key == key and artifact.versions:
            return Standing("claimed")
    return None


def _by_file(path: str, own: list[EvidenceItem]) -> Standing | None:
    seen = (
        e
        for e in own
        if e.evidence.trust == "verified"
        and e.evidence.kind in ("artifact", "file_change", "check")
        and any(f.path == path and f.sha256 for f in e.evidence.files)
    )
    return _newest(seen, "passed")


def open_failures(material: Material) -> list[EvidenceItem]:
    """Failed commands of this task that no later run of the same command passed: the one that counts first.

    A required command comes before any other, then the newest; a search that found nothing is none.
    """
    settled: set[str] = set()
    failures: list[EvidenceItem] = []
    for item in newest_first(i for i in material.evidence if i.evidence.task == material.task.id):
        line = command_line(item.evidence)
        outcome = passed(material, item.evidence)
        if outcome is None or line in settled:
            continue
        settled.add(line)
        program = line.split(maxsplit=1)[0] if line.split() else ""
        if not outcome and (contract_command(material, item.evidence) or program not in _SEARCHES):
            failures.append(item)
    return sorted(failures, key=lambda i: contract_command(material, i.evidence) is None)
