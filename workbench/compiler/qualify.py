"""Second stage: what holds for this task at all, before anything is asked about relevance.

What looks like the question is not thereby valid. Every refusal has a code (:mod:`.refusal`); what
is neither refused nor plain is handled in a marked way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

import msgspec
from msgspec.structs import replace

from workbench.compiler import refusal
from workbench.compiler.acceptance import command_line, passed
from workbench.compiler.candidates import Candidate, SourceType
from workbench.compiler.collect_contested import Contested
from workbench.compiler.collect_history import Placed
from workbench.compiler.collect_records import FailedAttempt
from workbench.compiler.collect_task import Input, Variable, direct_dependencies
from workbench.compiler.material import EvidenceItem, Material
from workbench.compiler.request import Request
from workbench.compiler.staleness import Staleness, StaleValue
from workbench.compiler.values import value_text
from workbench.domain.evidence import Evidence
from workbench.domain.fact import WORKSPACE, Fact
from workbench.domain.note import Guideline, Note
from workbench.domain.times import instant

Handling = Literal["plain", "settle", "history", "stale", "missing", "past_review"]


class Judged(msgspec.Struct, frozen=True, gc=False):
    """A candidate with the judgement over it."""

    candidate: Candidate
    refusal: str | None = None
    handling: Handling = "plain"
    together: str = ""
    """Candidates of the same name are taken together or not at all; alone where empty."""
    touches: str | None = None
    """Id of the fact whose tier and rank it takes."""
    stale: tuple[StaleValue, ...] = ()
    """Values it states that no longer hold."""
    pinned: bool = False

    @property
    def unit(self) -> str:
        """The name of what it is packed with."""
        return self.together or f"{self.candidate.source_type}:{self.candidate.source_id}"


class Qualifier:
    """Judges the candidates of one compile."""

    def __init__(self, material: Material, request: Request, staleness: Staleness) -> None:
        self.material = material
        self.request = request
        self.staleness = staleness
        self.dependencies = direct_dependencies(material)
        registry = material.registry
        self._own_keys = {registry.canonical(f.key) for f in registry.facts.values() if f.scope == material.task.id}
        self._against = _against_variables(material)
        self._newest_notes = _newest_notes(material, frozenset(self.dependencies))
        self._newest_runs = _newest_runs(material)
        self._rules: dict[str, Callable[[Candidate], Judged]] = {
            "guideline": self._guideline,
            "constraint": self._fact,
            "decision": self._fact,
            "fact": self._fact,
            "failure": self._failure,
            "upstream_input": self._input,
            "evidence": self._evidence,
            "structure_note": self._note,
            "note": self._note,
            "summary": self._message,
            "recent_message": self._message,
            "retrieved_history": self._message,
        }

    def judge(self, candidates: Iterable[Candidate]) -> list[Judged]:
        """Every candidate with its judgement, in the same order."""
        judged = [self.one(candidate) for candidate in candidates]
        return _without_duplicates(judged, self.material)

    def one(self, candidate: Candidate) -> Judged:
        """The judgement over one candidate, duplicates not looked for."""
        if isinstance(candidate.record, Contested):
            return Judged(candidate, None, "settle")
        if isinstance(candidate.record, Variable):
            return self._variable(candidate, candidate.record)
        rule = self._rules.get(candidate.source_type)
        return rule(candidate) if rule else Judged(candidate)

    def _guideline(self, candidate: Candidate) -> Judged:
        rule = candidate.record
        if isinstance(rule, Guideline):
            task = self.material.task
            if rule.scope not in ("", "user", WORKSPACE, task.id, task.slug):
                return Judged(candidate, refusal.OUT_OF_SCOPE)
            return Judged(candidate, None if rule.text.strip() or rule.origin else refusal.MISSING_BODY)
        return Judged(candidate, None if candidate.body.strip() else refusal.MISSING_BODY)

    def _fact(self, candidate: Candidate) -> Judged:
        fact = candidate.record
        assert isinstance(fact, Fact)
        registry, task = self.material.registry, self.material.task
        if fact.scope not in (WORKSPACE, task.id) and fact.scope not in self.dependencies:
            return Judged(candidate, refusal.OUT_OF_SCOPE)
        standing = registry.standing(fact.id)
        if standing.lifecycle in ("superseded", "rejected", "retracted"):
            return Judged(candidate, standing.lifecycle)
        if _from_tools_only(fact):
            return Judged(candidate, refusal.UNTRUSTED_INPUT)
        shadow = self._shadow(fact)
        if shadow is not None:
            return Judged(candidate, refusal.shadowed_by(shadow))
        if standing.lifecycle in ("challenged", "contested") or (fact.contests and standing.lifecycle == "active"):
            return Judged(candidate, None, "settle", together=self._settling(fact))
        if standing.lifecycle == "proposed":
            return self._proposal(candidate, fact)
        if fact.id in self._against:
            return Judged(candidate, None, "settle", together=self._settling(fact))
        due = fact.review_after
        if due and fact.kind != "constraint" and due[:10] <= self.request.date:
            return Judged(candidate, None, "past_review")
        return Judged(candidate)

    def _variable(self, candidate: Candidate, variable: Variable) -> Judged:
        for fact_id, name in self._against.items():
            if name == variable.name:
                fact = self.material.registry.facts[fact_id]
                return Judged(candidate, None, "settle", together=self._settling(fact), touches=fact_id)
        return Judged(candidate)

    def _settling(self, fact: Fact) -> str:
        """The name that all facts to settle of one key and scope share."""
        return f"settle:{self.material.registry.canonical(fact.key)}@{fact.scope}"

    def _proposal(self, candidate: Candidate, fact: Fact) -> Judged:
        registry = self.material.registry
        heads = registry.heads(fact.key, fact.scope)
        for head in heads:
            if fact.id in registry.standing(head.id).by:
                return Judged(candidate, None, "settle", together=self._settling(fact), touches=head.id)
        if not heads and fact.scope == self.material.task.id:
            heads = registry.heads(fact.key, WORKSPACE)
        return Judged(candidate, None, "settle", touches=heads[0].id if heads else None)

    def _shadow(self, fact: Fact) -> str | None:
        registry, task = self.material.registry, self.material.task
        shared = bool(self._own_keys) and registry.canonical(fact.key) in self._own_keys
        found = registry.shadowed_by(fact, task.id) if shared else None
        if found is None and fact.scope in self.dependencies:
            heads = registry.heads(fact.key, task.id) or registry.heads(fact.key, WORKSPACE)
            found = heads[0].id if heads else None
        return found

    def _failure(self, candidate: Candidate) -> Judged:
        if isinstance(candidate.record, FailedAttempt):
            return Judged(candidate)
        stale = self.staleness.behind(candidate.refs, candidate.body)
        return Judged(candidate, None, "history" if stale else "plain", stale=stale)

    def _input(self, candidate: Candidate) -> Judged:
        found = candidate.record
        assert isinstance(found, Input)
        if found.artifact is None:
            return Judged(candidate, None, "missing")
        if found.problem == "no_version":
            return Judged(candidate, refusal.MISSING_BODY)
        return Judged(candidate, refusal.UNTRUSTED_INPUT if found.problem else None)

    def _evidence(self, candidate: Candidate) -> Judged:
        item = candidate.record
        assert isinstance(item, EvidenceItem)
        evidence = item.evidence
        if evidence.task != self.material.task.id:
            failed = passed(self.material, evidence) is False
            return Judged(candidate, refusal.OTHER_TASK_FAILURE if failed else refusal.OUT_OF_SCOPE)
        newest = self._newest_runs[_run_of(evidence)]
        if newest != evidence.id:
            return Judged(candidate, refusal.duplicate_of(newest))
        if not candidate.body.strip():
            return Judged(candidate, refusal.MISSING_BODY)
        stale = self.staleness.stated(candidate.body)
        if stale and evidence.kind == "claim":
            return Judged(candidate, refusal.STATES_SUPERSEDED, stale=stale)
        return Judged(candidate, None, "plain" if item.valid or evidence.kind == "claim" else "stale", stale=stale)

    def _note(self, candidate: Candidate) -> Judged:
        note = candidate.record
        assert isinstance(note, Note)
        if note.task is not None and note.task != self.material.task.id and note.task not in self.dependencies:
            return Judged(candidate, refusal.OUT_OF_SCOPE)
        newest = self._newest_notes.get((note.key, note.task))
        if newest != note.id:
            return Judged(candidate, refusal.SUPERSEDED)
        own = self._newest_notes.get((note.key, self.material.task.id))
        if own is not None and own != note.id:
            return Judged(candidate, refusal.shadowed_by(own))
        if note.value in (None, "", [], {}):
            return Judged(candidate, refusal.MISSING_BODY)
        return self._unless_stale(candidate)

    def _message(self, candidate: Candidate) -> Judged:
        placed = candidate.record
        if not isinstance(placed, Placed):
            return self._unless_stale(candidate)
        fate = placed.item.fate
        if fate.pinned:
            body = candidate.body.strip()
            return self.pinned(self._unless_stale(candidate) if body else Judged(candidate, refusal.MISSING_BODY))
        if fate.disposition == "dropped":
            return Judged(candidate, refusal.dropped(fate.trim.by if fate.trim else ""))
        if fate.disposition == "summarised" and fate.trim is not None:
            return Judged(candidate, refusal.duplicate_of(fate.trim.id))
        if candidate.source_type == "recent_message" and fate.memory == "working" and not _fresh_words(placed):
            return Judged(candidate, refusal.WORKING_MEMORY)
        if not candidate.body.strip():
            return Judged(candidate, refusal.MISSING_BODY)
        return self._unless_stale(candidate)

    def _unless_stale(self, candidate: Candidate) -> Judged:
        stale = self.staleness.behind(candidate.refs, candidate.body)
        return Judged(candidate, refusal.STATES_SUPERSEDED if stale else None, stale=stale)

    def pinned(self, judged: Judged) -> Judged:
        """The judgement when a person pins it: required, and in the history block where it states old values."""
        if judged.refusal is not None and not refusal.yields_to_pin(judged.refusal):
            return judged
        stale = judged.stale or self.staleness.behind(judged.candidate.refs, judged.candidate.body)
        old = bool(stale) and judged.candidate.source_type in _TOLD
        return replace(judged, refusal=None, handling="history" if old else judged.handling, stale=stale, pinned=True)


def _fresh_words(placed: Placed) -> bool:
    """An agent's own words of the newest turns are not used up yet."""
    message = placed.item.message
    return placed.fresh and message.kind == "message" and message.origin == "agent"


def _from_tools_only(fact: Fact) -> bool:
    """A decision or constraint that tool output or a file set up, and no person accepted."""
    if fact.kind == "fact" or fact.trust == "authoritative" or not fact.sources:
        return False
    if fact.acts and fact.acts[-1].by.startswith("human:"):
        return False
    return all(source.type in ("tool", "file") for source in fact.sources)


def _against_variables(material: Material) -> dict[str, str]:
    """Facts that a person or a tool stands for, by id, with the variable that gives the same name another value."""
    registry, task = material.registry, material.task
    found = {}
    for name, value in task.state.variables.items():
        for fact in registry.heads(name, task.id) or registry.heads(name, WORKSPACE):
            sure = fact.trust != "reported" or any(source.own_words for source in fact.sources)
            if sure and fact.kind != "constraint" and value_text(fact.value) != value_text(value):
                found[fact.id] = name
    return found


def _newest_notes(material: Material, dependencies: frozenset[str]) -> dict[tuple[str, str | None], str]:
    """The note that counts for every key and task: the latest, unless another names it as superseded."""
    put_aside = {old for note in material.notes for old in note.supersedes}
    newest: dict[tuple[str, str | None], Note] = {}
    for note in sorted(material.notes, key=lambda n: (instant(n.written.at), n.id)):
        if note.id not in put_aside:
            newest[note.key, note.task] = note
    return {place: note.id for place, note in newest.items()}


def _run_of(evidence: Evidence) -> tuple[object, ...]:
    if evidence.kind == "command":
        return ("command", evidence.task, command_line(evidence), evidence.cwd)
    if evidence.kind == "file_change":
        return ("file_change", evidence.task, tuple(sorted(f.path for f in evidence.files)))
    return ("one", evidence.id)


def _newest_runs(material: Material) -> dict[tuple[object, ...], str]:
    """The newest evidence of every command and changed file: earlier runs of the same say nothing more."""
    newest: dict[tuple[object, ...], str] = {}
    for item in sorted(material.evidence, key=lambda i: (instant(i.evidence.at), i.evidence.id)):
        newest[_run_of(item.evidence)] = item.evidence.id
    return newest


_COMPARED = frozenset({"guideline", "summary", "recent_message", "retrieved_history"})
_TOLD = frozenset({"recent_message", "retrieved_history", "summary", "note", "structure_note"})
"""What a person may want carried although it states old values: as history, and marked so."""


def _without_duplicates(judged: list[Judged], material: Material) -> list[Judged]:
    """Texts that say the same as a newer one, or as the objective, are refused."""
    kept: dict[tuple[SourceType, str], Judged] = {}
    compared: dict[int, tuple[SourceType, str]] = {}
    for number, one in enumerate(judged):
        if one.refusal is None and one.candidate.source_type in _COMPARED:
            said = compared[number] = one.candidate.source_type, _plain(one.candidate.body)
            first = kept.setdefault(said, one)
            if first is not one:
                kept[said] = max(first, one, key=_keeps)
    objective = _plain(material.task.contract.objective)
    result = list(judged)
    for number, said in compared.items():
        one, first = judged[number], kept[said]
        if one.pinned:
            continue
        if first.candidate.source_id != one.candidate.source_id:
            result[number] = replace(one, refusal=refusal.duplicate_of(first.candidate.source_id))
        elif objective and said == ("recent_message", objective):
            result[number] = replace(one, refusal=refusal.duplicate_of(material.task.id))
    return result


def _keeps(judged: Judged) -> tuple[bool, float, str]:
    candidate = judged.candidate
    return judged.pinned, candidate.moment, candidate.source_id


def _plain(text: str) -> str:
    return " ".join(text.split())
