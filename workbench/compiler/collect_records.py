"""Candidates from the records: facts, evidence with the last failure, and notes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from workbench.compiler.acceptance import command_line, open_failures
from workbench.compiler.candidates import Candidate
from workbench.compiler.material import EvidenceItem, Material
from workbench.compiler.values import json_text, value_text
from workbench.domain.evidence import Evidence
from workbench.domain.fact import WORKSPACE, Fact
from workbench.domain.package import PackageMode
from workbench.domain.task import Attempt
from workbench.domain.times import instant
from workbench.text import one_line


@dataclass(frozen=True)
class FailedAttempt:
    """An attempt that a person ended as failed, with the reason."""

    attempt: Attempt


def fact_paths(fact: Fact) -> tuple[str, ...]:
    """Files that a fact came from or speaks of."""
    said = [s.ref for s in fact.sources if s.type == "file" and s.ref]
    text = value_text(fact.value)
    if "/" in text and len(text) < 200 and not any(c.isspace() for c in text):
        said.append(text)
    return tuple(said)


def collect_facts(material: Material) -> Iterator[Candidate]:
    """Every fact of the registry, whatever its scope and standing."""
    registry = material.registry
    for fact in registry.facts.values():
        body = f"{fact.key} {value_text(fact.value)} {fact.statement} {fact.reason}"
        yield Candidate(
            fact.kind,
            fact.id,
            one_line(fact.line, 80),
            body,
            fact,
            trust=fact.trust,
            lifecycle=registry.lifecycle(fact.id),
            task_id=None if fact.scope == WORKSPACE else fact.scope,
            paths=fact_paths(fact),
            observed_at=fact.observed_at,
        )


def collect_evidence(material: Material, mode: PackageMode) -> Iterator[Candidate]:
    """The last failure, then every other observation; a review leaves the writer's claims out."""
    failures = open_failures(material)
    if failures:
        yield _evidence(material, failures[0], failure=True)
    ended = _failed_attempt(material)
    if ended is not None and ended.ended is not None:
        yield Candidate(
            "failure",
            ended.id,
            one_line(ended.ended.why or ended.executor, 80),
            ended.ended.why,
            FailedAttempt(ended),
            task_id=ended.task,
            attempt_id=ended.id,
            observed_at=ended.ended.at,
        )
    last = failures[0].evidence.id if failures else None
    for item in material.evidence:
        if item.evidence.id == last or (mode == "review" and item.evidence.kind == "claim"):
            continue
        yield _evidence(material, item, failure=False)


def _failed_attempt(material: Material) -> Attempt | None:
    """The attempt before this one, where it ended as failed."""
    ended = [a for a in material.attempts if a.task == material.task.id and a.ended is not None]
    last = max(ended, key=lambda a: (instant(a.ended.at if a.ended else None), a.id), default=None)
    return last if last is not None and last.status == "failed" else None


def evidence_text(evidence: Evidence) -> str:
    """What an observation says, for matching."""
    paths = " ".join(f.path for f in evidence.files)
    return " ".join(part for part in (command_line(evidence), evidence.text, evidence.excerpt, paths) if part)


def _evidence(material: Material, item: EvidenceItem, *, failure: bool) -> Candidate:
    evidence = item.evidence
    body = material.mask(evidence_text(evidence))
    return Candidate(
        "failure" if failure else "evidence",
        evidence.id,
        one_line(material.mask(command_line(evidence) or evidence.text or evidence.kind), 80),
        body,
        item,
        trust=evidence.trust,
        lifecycle="active" if item.valid else "stale",
        task_id=evidence.task,
        attempt_id=evidence.attempt,
        paths=tuple(f.path for f in evidence.files),
        observed_at=evidence.at,
        refs=tuple(ref for ref in (evidence.id, evidence.source) if ref),
    )


def collect_notes(material: Material) -> Iterator[Candidate]:
    """Notes and structure notes."""
    for note in material.notes:
        body = f"{note.key}: {json_text(note.value)}"
        yield Candidate(
            "structure_note" if note.kind == "structure" else "note",
            note.id,
            one_line(body, 80),
            body,
            note,
            task_id=note.task,
            observed_at=note.written.at,
            refs=(note.id, f"note:{note.key}"),
        )
