"""Fourth stage: scores. They add up, they set priorities, and they are no probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from workbench.compiler import bm25
from workbench.compiler.acceptance import contract_command, open_failures
from workbench.compiler.candidates import Candidate
from workbench.compiler.collect_history import Placed, own_words
from workbench.compiler.collect_records import evidence_text
from workbench.compiler.collect_task import Input, Variable, direct_dependencies, open_items
from workbench.compiler.material import EvidenceItem, Material
from workbench.compiler.qualify import Judged
from workbench.domain.fact import WORKSPACE

SCORE_FLOOR = 5
"""Optional items that score less match nothing and are among the oldest of their kind: left out whatever the room."""

NAMED, OF_THE_TASK, UPSTREAM, FAILURE, TARGET_PATH, KEPT = 1000, 900, 800, 780, 650, 500
TRUST_POINTS = {"authoritative": 60, "verified": 30, "reported": 0}
RECENCY = 40


class Score(msgspec.Struct, frozen=True, gc=False):
    """A score and what it is made of."""

    total: int
    parts: Mapping[str, int]

    def pinned(self) -> Score:
        """The score of something that a person names in the request."""
        if "named" in self.parts:
            return self
        return Score(self.total + NAMED, {"named": NAMED, **self.parts})


NOTHING = Score(0, {})


def subject_of(material: Material) -> str:
    """What the task is about, for matching: objective, open items, and what failed last."""
    failures = open_failures(material)
    said = evidence_text(failures[0].evidence) if failures else ""
    pending = [item.text for item in open_items(material.task)]
    return "\n".join([material.task.contract.objective or material.task.title, *pending, material.mask(said)])


class Ranker:
    """Scores the qualified candidates of one compile."""

    def __init__(self, material: Material) -> None:
        self.material = material
        self._dependencies = direct_dependencies(material)
        self._targets = tuple(t for t in material.task.contract.targets if len(t.strip("./*")) > 1)
        failures = open_failures(material)
        self._failed = failures[0].evidence.id if failures else None
        self._failed_files = {f.path for f in failures[0].evidence.files} if failures else set()
        self._query = subject_of(material)

    def scores(self, judged: Sequence[Judged]) -> dict[tuple[int, str], Score]:
        """The score of every qualified candidate, by its place; those that touch a fact take that fact's."""
        qualified = [j for j in judged if j.refusal is None]
        matches = bm25.scores(self._query, [j.candidate.body for j in qualified])
        recency = _recency([j.candidate for j in qualified])
        found: dict[tuple[int, str], Score] = {}
        facts: dict[str, Score] = {}
        for one, match, new in zip(qualified, matches, recency, strict=True):
            candidate = one.candidate
            parts = self._parts(one)
            if match:
                parts["match"] = match
            if TRUST_POINTS[candidate.trust]:
                parts["trust"] = TRUST_POINTS[candidate.trust]
            if new:
                parts["recency"] = new
            found[candidate.place] = facts[candidate.source_id] = Score(sum(parts.values()), parts)
        for one in qualified:
            if one.touches is not None and one.touches in facts:
                found[one.candidate.place] = facts[one.touches]
        return found

    def _parts(self, judged: Judged) -> dict[str, int]:
        candidate = judged.candidate
        parts: dict[str, int] = {}
        if self._named(judged):
            parts["named"] = NAMED
        if candidate.task_id == self.material.task.id:
            parts["of_the_task"] = OF_THE_TASK
        if self._upstream(candidate):
            parts["upstream"] = UPSTREAM
        if self._of_failure(candidate):
            parts["failure"] = FAILURE
        if self._touches_target(candidate):
            parts["target_path"] = TARGET_PATH
        if _kept(candidate):
            parts["kept"] = KEPT
        return parts

    def _named(self, judged: Judged) -> bool:
        candidate, record = judged.candidate, judged.candidate.record
        if judged.pinned or candidate.source_type in ("contract", "question", "diff"):
            return True
        if isinstance(record, Input):
            return record.named
        if isinstance(record, Variable):
            return record.name in self.material.task.contract.variables
        if isinstance(record, EvidenceItem) and record.evidence.task == self.material.task.id:
            return record.evidence.item is not None or contract_command(self.material, record.evidence) is not None
        return False

    def _upstream(self, candidate: Candidate) -> bool:
        if candidate.task_id is None or candidate.task_id == WORKSPACE:
            return False
        return candidate.task_id in self._dependencies and candidate.source_type == "upstream_input"

    def _of_failure(self, candidate: Candidate) -> bool:
        if candidate.source_type == "failure":
            return True
        if candidate.source_type != "evidence" or not self._failed_files:
            return False
        return not self._failed_files.isdisjoint(candidate.paths)

    def _touches_target(self, candidate: Candidate) -> bool:
        if not self._targets:
            return False
        if candidate.paths and any(_beneath(path, target) for path in candidate.paths for target in self._targets):
            return True
        body = candidate.body if candidate.source_type != "contract" else ""
        for target in self._targets:  # noqa: SIM110 - a generator for each of very many bodies costs more than the search
            if target in body:
                return True
        return False


def _beneath(path: str, target: str) -> bool:
    folder = target.split("*", 1)[0].rstrip("/")
    return path == folder or path.startswith(folder + "/") or ("*" in target and path.startswith(folder))


def _kept(candidate: Candidate) -> bool:
    """A person looked at it while trimming and let it stay."""
    placed = candidate.record
    if not isinstance(placed, Placed):
        return False
    fate = placed.item.fate
    restored = fate.disposition == "kept" and fate.trim is not None and fate.trim.by.startswith("human:")
    return fate.pinned or restored


def _recency(candidates: Sequence[Candidate]) -> list[int]:
    """Points by age within each kind: the newest 40, the oldest 0, what has no date 0."""
    kinds: dict[str, dict[float, int]] = {}
    keyed = [(_kind(candidate), candidate.moment) for candidate in candidates]
    for kind, moment in keyed:
        if moment:
            kinds.setdefault(kind, {})[moment] = RECENCY
    for points in kinds.values():
        last = len(points) - 1
        if last:
            points.update({moment: round(RECENCY * step / last) for step, moment in enumerate(sorted(points))})
    return [kinds[kind][moment] if moment else 0 for kind, moment in keyed]


def _kind(candidate: Candidate) -> str:
    placed = candidate.record
    if isinstance(placed, Placed) and own_words(placed.item.message):
        return f"{candidate.source_type}:own_words"
    return candidate.source_type
