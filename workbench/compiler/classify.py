"""Third stage: which tier a qualified candidate stands in."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.compiler.acceptance import contract_command
from workbench.compiler.candidates import Candidate, Tier
from workbench.compiler.collect_contested import Contested
from workbench.compiler.collect_task import Input, Variable, find_task, open_items
from workbench.compiler.material import EvidenceItem, Material
from workbench.compiler.qualify import Judged
from workbench.compiler.staleness import folded
from workbench.domain.fact import WORKSPACE, Fact
from workbench.domain.task import DoneItem, Task

_FIXED: dict[str, Tier] = {
    "guideline": "required",
    "role": "required",
    "contract": "required",
    "failure": "required",
    "question": "required",
    "diff": "required",
    "decision": "high",
    "fact": "high",
    "workspace_state": "high",
    "open_item": "high",
    "note": "optional",
    "summary": "optional",
    "recent_message": "optional",
    "retrieved_history": "optional",
}
_LITERAL = frozenset({"guideline", "role", "contract", "constraint", "question"})


class Classifier:
    """Sorts candidates into tiers."""

    def __init__(self, material: Material) -> None:
        self.material = material
        self._subjects = _subjects(material)

    def tiers(self, judged: list[Judged]) -> dict[tuple[int, str], Tier]:
        """The tier of every candidate by its place."""
        by_fact: Mapping[str, Judged] = {
            j.candidate.source_id: j for j in judged if isinstance(j.candidate.record, Fact)
        }
        return {j.candidate.place: self.tier(j, by_fact) for j in judged}

    def tier(self, judged: Judged, by_fact: Mapping[str, Judged]) -> Tier:
        """The tier of one candidate."""
        if judged.refusal is not None:
            return "forbidden"
        if judged.pinned:
            return "required"
        candidate = judged.candidate
        if judged.touches is not None:
            touched = by_fact.get(judged.touches)
            return self.tier(touched, by_fact) if touched and touched.refusal is None else "high"
        if candidate.source_type in _FIXED:
            return _FIXED[candidate.source_type]
        return self._by_record(candidate, judged)

    def _by_record(self, candidate: Candidate, judged: Judged) -> Tier:
        record = candidate.record
        if isinstance(record, Fact):
            # A dependency's constraint binds the dependency; a proposed one touches nothing that holds yet.
            own = record.scope in (WORKSPACE, self.material.task.id)
            return "required" if own and candidate.lifecycle != "proposed" else "high"
        if isinstance(record, Task):
            return "required"
        if isinstance(record, Contested):
            return "required" if record.required else "high"
        if isinstance(record, Input):
            return "required" if record.named else "high"
        if isinstance(record, DoneItem):
            return "high" if record.known == "verified" else "optional"
        if isinstance(record, Variable):
            return "high"
        if isinstance(record, EvidenceItem):
            return self._evidence(record)
        return "high" if self._speaks_of_subject(candidate) else "optional"

    def _evidence(self, item: EvidenceItem) -> Tier:
        """Evidence counts for the contract and for the files; a claim or any other command is background."""
        evidence = item.evidence
        if evidence.kind == "claim":
            return "optional"
        if evidence.kind != "command" or evidence.item is not None or evidence.run_by != "agent":
            return "high"
        return "high" if contract_command(self.material, evidence) else "optional"

    def _speaks_of_subject(self, candidate: Candidate) -> bool:
        text = folded(candidate.body)
        return any(subject in text for subject in self._subjects)


def _subjects(material: Material) -> tuple[str, ...]:
    """What a structure note may be needed for: paths, inputs and identifiers of what is still to do."""
    contract = material.task.contract
    found = {*contract.targets, *(spec.key for spec in contract.inputs)}
    for item in open_items(material.task):
        found.update(item.paths)
        found.update(
            word.strip(".,;:()`'\"") for word in item.text.split() if "_" in word or "." in word or "/" in word
        )
    for spec in contract.inputs:
        producer = find_task(material, spec.from_)
        found.add(producer.slug if producer else spec.from_)
    return tuple(sorted(folded(subject) for subject in found if len(subject) > 2))


def is_literal(judged: Judged) -> bool:
    """Whether it may only be carried word for word."""
    return judged.pinned or judged.candidate.source_type in _LITERAL
