"""First stage: everything that might go into the package, by strategy and mode; nothing is judged here.

Agents' messages older than the newest turns are not collected: they are found by search, not
carried along. What a person wrote is collected from the whole history.
"""

from __future__ import annotations

from workbench.compiler.candidates import Candidate, SourceType
from workbench.compiler.collect_contested import collect_contested
from workbench.compiler.collect_history import collect_history
from workbench.compiler.collect_records import collect_evidence, collect_facts, collect_notes
from workbench.compiler.collect_task import (
    collect_asked,
    collect_contract,
    collect_guidelines,
    collect_inputs,
    collect_role,
    collect_state,
    collect_worktree,
)
from workbench.compiler.material import Material
from workbench.compiler.request import Request

_ALWAYS: frozenset[SourceType] = frozenset(
    {"guideline", "contract", "state", "constraint", "failure", "upstream_input", "question", "diff"}
)
"""What is required whatever the strategy."""
_HISTORY: frozenset[SourceType] = frozenset({"summary", "recent_message"})
_EVIDENCE: frozenset[SourceType] = _ALWAYS | {
    "decision",
    "fact",
    "workspace_state",
    "evidence",
    "open_item",
    "structure_note",
    "note",
    "summary",
    "recent_message",
    "retrieved_history",
}
STRATEGY_TYPES: dict[str, frozenset[SourceType]] = {
    "recent": _ALWAYS | {"recent_message"},
    "summary_recent": _ALWAYS | {"decision", "structure_note", "note", "summary", "recent_message"},
    "evidence": _EVIDENCE,
    "evidence_role": _EVIDENCE | {"role"},
}
"""Source types that each strategy draws on."""
_WRITERS_STORY: frozenset[SourceType] = frozenset(
    {"recent_message", "retrieved_history", "summary", "note", "structure_note"}
)
"""What a reviewer is not given unless a person pins it: who reads the author's reasoning approves it."""


def collect(material: Material, request: Request) -> list[Candidate]:
    """Every candidate of a compile, in an order that depends on their content alone."""
    types = STRATEGY_TYPES[request.strategy]
    found = [
        *collect_guidelines(material),
        *collect_role(material),
        *collect_contract(material),
        *collect_state(material),
        *collect_contested(material),
        *collect_facts(material),
        *collect_inputs(material),
        *collect_worktree(material),
        *collect_evidence(material, request.mode),
        *collect_notes(material),
        *collect_history(material, request),
        *collect_asked(material, request),
    ]
    if request.mode == "review":
        found = [c for c in found if c.source_type not in _WRITERS_STORY or _pinned(c, request)]
    known: dict[tuple[int, str], Candidate] = {}
    for candidate in found:
        if candidate.source_type in types or _pinned(candidate, request):
            known.setdefault(candidate.place, candidate)
    return [known[place] for place in sorted(known)]


def names_of(candidate: Candidate) -> tuple[str, str]:
    """What a pin or toggle may call it: its id, or a message's own id."""
    return candidate.source_id, candidate.source_id.rpartition("#")[2]


def names(candidate: Candidate, chosen: frozenset[str]) -> frozenset[str]:
    """The pins or toggles in ``chosen`` that mean this candidate."""
    return chosen.intersection(names_of(candidate))


def _pinned(candidate: Candidate, request: Request) -> bool:
    return bool(request.pins) and bool(names(candidate, request.pins))
