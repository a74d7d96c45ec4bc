"""What a package rests on, taken twice and compared: by content, never by time stamp.

Pure: the caller reads records, hashes files (:mod:`workbench.handoff.files`) and looks at HEAD.
Each fingerprint is named by the difference it makes, by a readable subject, and by a value that is
readable where it is short; what does not fit into the value is in the digest behind it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from workbench.domain.artifact import Artifact
from workbench.domain.contested import claim_text, field_words
from workbench.domain.evidence import Evidence
from workbench.domain.fact import WORKSPACE, Fact, Registry, value_text
from workbench.domain.lines import causal_order
from workbench.domain.note import Guideline, Note, Role
from workbench.domain.package import Difference, Fingerprint
from workbench.domain.record import Json
from workbench.domain.task import Attempt, Task
from workbench.domain.trimming import Trim
from workbench.text import one_line

WORK_SEEN = "work that the sessions show"
"""Subject of the difference that says that the sessions show more work, or that some of it no longer holds."""
_TELLING = (
    "fact_contested",
    "fact_changed",
    "contract_revised",
    "file_changed",
    "file_missing",
    "branch_or_head_moved",
    "attempt_not_current",
    "state_changed",
    "artifact_superseded",
    "guideline_changed",
    "note_changed",
    "trim_changed",
    "source_session_missing",
    "evidence_stale",
    "new_messages",
)
"""Differences in the order in which they tell a person something: a cause stands before what follows from it."""
SHOWN = 80
"""Characters of a value that are shown; a longer one is cut, and its digest tells it from others."""
_DIGEST = re.compile(r" #[0-9a-f]{16}$")
_HASH = re.compile(r"[0-9a-f]{40,64}")


class Held(Protocol):
    """Evidence, and whether the files under it are still as they were."""

    @property
    def evidence(self) -> Evidence: ...  # noqa: D102
    @property
    def valid(self) -> bool: ...  # noqa: D102
    @property
    def changed(self) -> tuple[str, ...]: ...  # noqa: D102


@dataclass(frozen=True)
class Basis:
    """Everything that a package of a task rests on, at one moment."""

    task: Task
    registry: Registry
    running: Attempt | None = None
    guidelines: tuple[Guideline, ...] = ()
    role: Role | None = None
    notes: tuple[Note, ...] = ()
    """Those in scope of the task."""
    trims: Mapping[str, tuple[Trim, ...]] = field(default_factory=dict)
    """By session of the task's attempts."""
    artifacts: tuple[Artifact, ...] = ()
    """The task's own, and those bound to its inputs."""
    evidence: Sequence[Held] = ()
    files: Mapping[str, str | None] = field(default_factory=dict)
    """Path relative to the worktree to the hash of its content; None where there is none."""
    worktree: str | None = None
    branch: str | None = None
    head: str | None = None
    sessions: Mapping[str, int | None] = field(default_factory=dict)
    """Source sessions by name to their number of messages; None where the file is not here."""
    seen: Sequence[Held] = ()
    """What those sessions show by themselves: it grows with them, and stops nothing."""


def take(basis: Basis) -> tuple[Fingerprint, ...]:
    """The fingerprints of a basis, in an order that depends on nothing but their content."""
    found = [
        *_contract(basis),
        *_state(basis),
        *_contested(basis),
        *_facts(basis),
        *_guidelines(basis),
        *_notes(basis),
        *_trims(basis),
        *_artifacts(basis),
        *_evidence(basis),
        *_place(basis),
        *(Fingerprint(code="file_changed", subject=path, value=value) for path, value in basis.files.items()),
    ]
    return tuple(sorted(found, key=lambda f: (f.code, f.subject)))


def compare(before: Iterable[Fingerprint], now: Iterable[Fingerprint]) -> tuple[Difference, ...]:
    """What changed between two takings; empty where the package still rests on what it rested on.

    Only ``new_messages`` does not stop a confirmation.
    """
    old = {(f.code, f.subject): f.value for f in before}
    new = {(f.code, f.subject): f.value for f in now}
    contested = {subject for code, subject in new if code == "fact_contested" and (code, subject) not in old}
    found: list[Difference] = []
    for code, subject in sorted(old.keys() | new.keys()):
        was, is_ = old.get((code, subject)), new.get((code, subject))
        if was == is_ or (code == "fact_changed" and subject in contested):
            continue
        if code == "fact_contested" and subject not in contested:
            continue  # settled, or contested otherwise than before: its ``fact_changed`` says so
        if code == "new_messages" and (was is None or is_ is None):
            continue  # the session itself went or came, which is said by its own fingerprint
        found.append(_difference(code, subject, was, is_))
    return tuple(sorted(found, key=lambda d: (not d.stops, _TELLING.index(d.code), d.subject)))


def files_of(fingerprints: Iterable[Fingerprint]) -> tuple[str, ...]:
    """The paths that a package rests on, to be hashed again whatever the targets hold now."""
    return tuple(f.subject for f in fingerprints if f.code == "file_changed")


def _difference(code: str, subject: str, was: str | None, now: str | None) -> Difference:
    if code == "file_changed" and now is None:
        code = "file_missing"
    if code == "source_session_missing" and now is not None:
        code = "new_messages"  # a session came back, or was attached: more to carry, nothing lost
    shown, shown_now = _shown(was), _shown(now)
    if shown == shown_now:
        shown, shown_now = was, now
    return Difference(code=code, subject=subject, was=shown, now=shown_now, stops=code != "new_messages")


def _shown(value: str | None) -> str | None:
    if value is None:
        return None
    if _HASH.fullmatch(value):
        return value[:12]
    return _DIGEST.sub("", value)


def _digest(content: Json) -> str:
    canonical = msgspec.json.encode(msgspec.to_builtins(content), order="sorted")
    return hashlib.sha256(canonical).hexdigest()[:16]


def _value(readable: str, content: Json) -> str:
    """A readable value, and the digest of all that it stands for."""
    return f"{one_line(readable, SHOWN)} #{_digest(content)}"


def _contract(basis: Basis) -> Iterator[Fingerprint]:
    task = basis.task
    value = _value(f"revision {task.plan_revision}", [task.plan_revision, task.title, task.contract])
    yield Fingerprint(code="contract_revised", subject="contract", value=value)


def _state(basis: Basis) -> Iterator[Fingerprint]:
    state = basis.task.state
    for name, variable in state.variables.items():
        value = _value(value_text(variable), variable)
        yield Fingerprint(code="state_changed", subject=f"variable {name}", value=value)
    for done in state.done:
        value = _value(f"done ({done.known}): {done.text}", [done.text, done.known, done.evidence, done.paths])
        yield Fingerprint(code="state_changed", subject=f"item {done.id}", value=value)
    for item in state.pending:
        if not item.accepted:
            continue
        begun = item.started and (item.started.by, item.started.attempt)
        readable = f"pending{', started' if begun else ''}: {item.text}"
        content = [item.text, item.qualifiers, item.priority, item.paths, item.parent, begun]
        yield Fingerprint(code="state_changed", subject=f"item {item.id}", value=_value(readable, content))


def _contested(basis: Basis) -> Iterator[Fingerprint]:
    """Fields of the task that merged copies left contested: what was certain is not so any more, or is again."""
    for path, claims in basis.task.contests.items():
        code = "state_changed" if path.startswith("state.") else "contract_revised"
        readable = " | ".join(claim_text(claim) for claim in claims)
        value = _value(readable, [[claim.value, claim.gone] for claim in claims])
        yield Fingerprint(code=code, subject=f"{field_words(path)} (contested)", value=value)


def _facts(basis: Basis) -> Iterator[Fingerprint]:
    registry, task = basis.registry, basis.task
    tasks = {task.id, *task.contract.depends_on, *(i.from_ for i in task.contract.inputs)}
    keys = {(registry.canonical(f.key), f.scope) for f in registry.facts.values() if f.scope in {WORKSPACE, *tasks}}
    for key, scope in keys:
        heads = registry.heads(key, scope)
        against = {by for head in heads for by in registry.standing(head.id).by}
        # What rules found and nobody was shown stops no package, unless it contradicts in the person's own words.
        proposals = [p for p in registry.proposals(key, scope) if p.reviewed or p.id in against]
        if not proposals and not any(head.reviewed for head in heads):
            continue
        if not heads and not any(p.kind == "constraint" for p in proposals):
            continue
        place = {WORKSPACE: "", task.id: " (this task)"}.get(scope, f" (task {scope})")
        said = [_stands(registry, fact) for fact in (*heads, *proposals)]
        content = [_meaning(registry, fact, task.id) for fact in (*heads, *proposals)]
        yield Fingerprint(code="fact_changed", subject=key + place, value=_value("; ".join(said), content))
        if len(heads) > 1:
            both = " | ".join(value_text(f.value) for f in heads)
            yield Fingerprint(code="fact_contested", subject=key + place, value=_value(both, content))


def _stands(registry: Registry, fact: Fact) -> str:
    lifecycle = registry.lifecycle(fact.id)
    return value_text(fact.value) + ("" if lifecycle == "active" else f" ({lifecycle})")


def _meaning(registry: Registry, fact: Fact, task: str) -> list[Json]:
    """What of a fact a package states; one more source of the same value is not in it."""
    shadowed = registry.shadowed_by(fact, task) is not None
    return [fact.value, fact.statement, fact.kind, fact.reason, fact.trust, registry.lifecycle(fact.id), shadowed]


def _guidelines(basis: Basis) -> Iterator[Fingerprint]:
    rules: dict[str, list[list[str]]] = {}
    for rule in basis.guidelines:  # by text, not id: the user's configuration has no ids of its own
        subject = f"guideline of {rule.origin}: {one_line(rule.text, 60)}"
        rules.setdefault(subject, []).append([rule.text, rule.scope])
    for subject, texts in rules.items():
        yield Fingerprint(code="guideline_changed", subject=subject, value=_value(texts[0][0], sorted(texts)))
    if basis.role is not None:
        role = basis.role
        content = [role.responsibility, role.may, role.must_not, role.outputs, role.report]
        readable = role.responsibility or role.name
        yield Fingerprint(code="guideline_changed", subject=f"role {role.name}", value=_value(readable, content))


def _notes(basis: Basis) -> Iterator[Fingerprint]:
    superseded = {old for note in basis.notes for old in note.supersedes}
    by_key: dict[str, list[Note]] = {}
    for note in basis.notes:
        if note.id not in superseded:
            by_key.setdefault(note.key, []).append(note)
    for key, notes in by_key.items():
        content = sorted([note.id, note.kind, note.value] for note in notes)
        readable = "; ".join(value_text(note.value) for note in sorted(notes, key=lambda n: n.id))
        yield Fingerprint(code="note_changed", subject=f"note {key}", value=_value(readable, content))


def _trims(basis: Basis) -> Iterator[Fingerprint]:
    for session, trims in basis.trims.items():
        fates = _fold(trims)
        if fates:
            counted: dict[str, int] = {}
            for kinds in fates.values():
                for kind in kinds:
                    counted[kind] = counted.get(kind, 0) + 1
            readable = ", ".join(f"{count} {kind}" for kind, count in sorted(counted.items()))
            yield Fingerprint(code="trim_changed", subject=f"cuts of {session}", value=_value(readable, fates))


_UNDONE = {"restore": ("drop", "summarise", "externalise"), "unpin": ("pin",)}


def _fold(trims: Iterable[Trim]) -> dict[str, dict[str, Json]]:
    """What stands about each message after all acts; a drop that was restored leaves nothing."""
    fates: dict[str, dict[str, Json]] = {}
    for trim in causal_order(trims):
        for message in trim.messages:
            fate = fates.setdefault(message, {})
            if trim.act in _UNDONE or trim.act in _UNDONE["restore"]:
                for gone in _UNDONE.get(trim.act, _UNDONE["restore"]):
                    fate.pop(gone, None)
            if trim.act == "class":
                fate["class"] = trim.memory
            elif trim.act not in _UNDONE:
                fate[trim.act] = [trim.text, trim.blobs.get(message)]
    return {message: fate for message, fate in fates.items() if fate}


def _artifacts(basis: Basis) -> Iterator[Fingerprint]:
    for artifact in basis.artifacts:
        newest = max(artifact.versions, key=lambda v: v.number, default=None)
        bound = sorted([b.task, b.key, b.version] for b in artifact.bindings)
        readable = f"version {newest.number}" if newest else "no version"
        content = [newest.number, newest.sha256, bound] if newest else bound
        subject = f"artifact {artifact.key} ({artifact.id})"
        yield Fingerprint(code="artifact_superseded", subject=subject, value=_value(readable, content))


def _evidence(basis: Basis) -> Iterator[Fingerprint]:
    for held in basis.evidence:
        evidence = held.evidence
        what = " ".join(evidence.argv) or evidence.command or evidence.text or evidence.kind
        exit_ = "" if evidence.exit_code is None else f"exit {evidence.exit_code}, "
        stands = "holds" if held.valid else "stale: " + ", ".join(held.changed)
        subject = f"{one_line(what, 60)} ({evidence.id})"
        yield Fingerprint(code="evidence_stale", subject=subject, value=one_line(exit_ + stands, SHOWN))


def _place(basis: Basis) -> Iterator[Fingerprint]:
    running = basis.running
    who = f"{running.id} by {running.executor}" if running else None
    yield Fingerprint(code="attempt_not_current", subject="running attempt", value=who)
    yield Fingerprint(code="branch_or_head_moved", subject="worktree", value=basis.worktree)
    yield Fingerprint(code="branch_or_head_moved", subject="branch", value=basis.branch)
    yield Fingerprint(code="branch_or_head_moved", subject="HEAD", value=basis.head)
    for session, messages in basis.sessions.items():
        here = None if messages is None else "present"
        yield Fingerprint(code="source_session_missing", subject=session, value=here)
        if messages is not None:
            yield Fingerprint(code="new_messages", subject=session, value=str(messages))
    lines = sorted((held.evidence.kind, held.evidence.id, held.valid) for held in basis.seen)
    counted = {kind: sum(line[0] == kind for line in lines) for kind in ("command", "file_change")}
    readable = f"{counted['command']} commands, {counted['file_change']} files changed"
    yield Fingerprint(code="new_messages", subject=WORK_SEEN, value=_value(readable, [list(line) for line in lines]))
