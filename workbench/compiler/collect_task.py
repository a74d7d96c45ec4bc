"""Candidates from the task itself: rules, contract, state, inputs, worktree, and what is asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from workbench.compiler.candidates import Candidate
from workbench.compiler.collect_contested import DONE, contested
from workbench.compiler.material import Material
from workbench.compiler.request import Request
from workbench.compiler.values import value_text
from workbench.domain.artifact import Artifact, ArtifactVersion
from workbench.domain.contested import VARIABLES
from workbench.domain.contract import InputSpec, OutputSpec
from workbench.domain.record import Json
from workbench.domain.task import DoneItem, PendingItem, Task
from workbench.text import one_line


@dataclass(frozen=True)
class Targets:
    """The paths that the work is about."""

    paths: tuple[str, ...]


@dataclass(frozen=True)
class Objective:
    """What is to be done; the title where no objective was written."""

    text: str


@dataclass(frozen=True)
class Variable:
    """A state variable with its value."""

    name: str
    value: Json
    set_at: str


@dataclass(frozen=True)
class Input:
    """An input of the task: what the contract asks for, and the artifact behind it."""

    key: str
    producer: str
    """Slug of the task that provides it."""
    named: bool
    """Whether the contract asks for it by name."""
    artifact: Artifact | None = None
    version: ArtifactVersion | None = None
    problem: str = ""
    """Why it is missing or not to be trusted: ``no_task``, ``not_bound``, ``no_evidence``, ``no_version``."""


def direct_dependencies(material: Material) -> dict[str, Task]:
    """Tasks that this one names as dependency or as the source of an input, by id."""
    contract = material.task.contract
    wanted = [*contract.depends_on, *(spec.from_ for spec in contract.inputs)]
    found = (find_task(material, name) for name in wanted)
    return {task.id: task for task in found if task is not None and task.id != material.task.id}


def find_task(material: Material, name: str) -> Task | None:
    """A task by id or slug."""
    if name in material.tasks:
        return material.tasks[name]
    named = [task for task in material.tasks.values() if task.slug == name]
    return min(named, key=lambda task: task.id, default=None)


def collect_guidelines(material: Material) -> Iterator[Candidate]:
    """Standing rules for the executor."""
    for rule in material.guidelines:
        text = material.mask(rule.text)
        yield Candidate("guideline", rule.id, one_line(text or rule.origin, 80), text, rule, trust="authoritative")


def collect_role(material: Material) -> Iterator[Candidate]:
    """What the executor answers for."""
    role = material.role
    if role is not None:
        yield Candidate("role", role.id, one_line(role.name, 80), role.responsibility, role, trust="authoritative")


def collect_contract(material: Material) -> Iterator[Candidate]:
    """The contract, one candidate for each thing that it asks."""
    task, contract = material.task, material.task.contract
    objective = contract.objective or task.title

    def part(source_id: str, body: str, record: object, paths: tuple[str, ...] = ()) -> Candidate:
        title = one_line(body, 80)
        return Candidate("contract", source_id, title, body, record, "authoritative", task_id=task.id, paths=paths)

    yield part(task.id, objective, Objective(objective), contract.targets)
    if contract.targets:
        yield part("targets", ", ".join(contract.targets), Targets(contract.targets), contract.targets)
    for output in contract.outputs:
        yield part(f"output:{output.key}", output_line(output), output, (output.path,) if output.path else ())
    for command in contract.commands:
        yield part(f"command:{command.id}", " ".join(command.run), command)
    for item in contract.acceptance:
        yield part(item.id, item.text, item)


def output_line(output: OutputSpec) -> str:
    """An output in one line."""
    where = f" {output.path}" if output.path else ""
    return f"{output.key} ({output.kind}){where}"


def collect_state(material: Material) -> Iterator[Candidate]:
    """The state: counts and open items as one, then every variable, open and done item that is not contested."""
    task, state = material.task, material.task.state
    yield Candidate("state", "state", "state", "", task, task_id=task.id, observed_at=state.updated_at)
    for name in sorted(state.variables):
        if f"{VARIABLES}{name}" in task.contests:
            continue
        stamp = state.variables_set.get(name)
        value = Variable(name, state.variables[name], stamp.at if stamp else state.updated_at)
        body = f"{name} = {value_text(value.value)}"
        yield Candidate(
            "state", f"variable:{name}", one_line(body, 80), body, value, task_id=task.id, observed_at=value.set_at
        )
    for pending in open_items(task):
        yield _item("open_item", pending, task)
    for done in state.done:
        if contested(task, f"{DONE}.{done.id}"):
            continue
        yield _item("state", done, task)


def _item(kind: str, item: PendingItem | DoneItem, task: Task) -> Candidate:
    attempt = item.started.attempt if isinstance(item, PendingItem) and item.started else None
    return Candidate(
        "open_item" if kind == "open_item" else "state",
        item.id,
        one_line(item.text, 80),
        item.text,
        item,
        trust=item.known if isinstance(item, DoneItem) else "reported",
        task_id=task.id,
        attempt_id=attempt,
        paths=item.paths,
        observed_at=item.at,
    )


def open_items(task: Task) -> tuple[PendingItem, ...]:
    """Accepted pending items in the order in which they are to be taken up: begun ones first, then by priority."""
    accepted = (item for item in task.state.pending if item.accepted)
    return tuple(sorted(accepted, key=lambda i: (i.started is None, i.priority, i.at, i.id)))


def collect_inputs(material: Material) -> Iterator[Candidate]:
    """Outputs of other tasks: those that the contract names, then whatever direct dependencies have bound."""
    named: set[tuple[str, str]] = set()
    seen: set[str] = set()
    for spec in material.task.contract.inputs:
        producer = find_task(material, spec.from_)
        if producer is not None:
            named.add((producer.id, spec.output))
        for candidate in _named_input(material, spec, producer):
            known = candidate.source_id in seen
            seen.add(candidate.source_id)
            yield _renamed(candidate, spec.key) if known else candidate
    for task_id, task in sorted(direct_dependencies(material).items()):
        for artifact in sorted(material.artifacts, key=lambda a: a.id):
            for binding in artifact.bindings:
                if binding.task != task_id or (task_id, binding.key) in named or artifact.id in seen:
                    continue
                seen.add(artifact.id)
                version = next((v for v in artifact.versions if v.number == binding.version), None)
                problem = "" if binding.evidence else "no_evidence"
                yield _input_candidate(Input(binding.key, task.slug, False, artifact, version, problem), task_id)


def _named_input(material: Material, spec: InputSpec, producer: Task | None) -> Iterator[Candidate]:
    if producer is None:
        yield _input_candidate(Input(spec.key, spec.from_, True, problem="no_task"), None)
        return
    loose: Artifact | None = None
    for artifact in sorted(material.artifacts, key=lambda a: a.id):
        bindings = [b for b in artifact.bindings if b.task == producer.id and b.key == spec.output]
        if bindings:
            bound = max(bindings, key=lambda b: b.version)
            version = next((v for v in artifact.versions if v.number == bound.version), None)
            problem = "" if bound.evidence and version else "no_evidence" if version else "no_version"
            found = Input(spec.key, producer.slug, True, artifact, version, problem)
            yield _input_candidate(found, producer.id)
            if problem:
                yield _input_candidate(Input(spec.key, producer.slug, True, problem=problem), producer.id)
            return
        if artifact.task == producer.id and artifact.key == spec.output:
            loose = loose or artifact
    if loose is not None:
        version = loose.versions[-1] if loose.versions else None
        yield _input_candidate(Input(spec.key, producer.slug, True, loose, version, "not_bound"), producer.id)
    yield _input_candidate(Input(spec.key, producer.slug, True, problem="not_bound"), producer.id)


def _input_candidate(found: Input, producer: str | None) -> Candidate:
    artifact, version = found.artifact, found.version
    where = version.path if version and version.path else ""
    return Candidate(
        "upstream_input",
        artifact.id if artifact else f"input:{found.key}",
        one_line(f"{found.key} from {found.producer}", 80),
        f"{found.key} {found.producer} {where}".strip(),
        found,
        trust="reported" if found.problem else "verified",
        lifecycle="active" if artifact else "missing",
        task_id=producer,
        attempt_id=version.attempt if version else None,
        paths=(where,) if where else (),
        observed_at=version.made.at if version else "",
    )


def _renamed(candidate: Candidate, key: str) -> Candidate:
    """The same artifact asked for under a second key: a row of its own."""
    return msgspec.structs.replace(candidate, source_id=f"{candidate.source_id}:{key}")


def collect_worktree(material: Material) -> Iterator[Candidate]:
    """What git says."""
    state = material.worktree
    if state is not None:
        dirty = tuple(sorted(state.dirty)) if state.dirty is not None else ()
        body = " ".join([state.branch or "", *dirty]).strip()
        yield Candidate("workspace_state", "worktree", "git", body, state, trust="verified", paths=dirty)


def collect_asked(material: Material, request: Request) -> Iterator[Candidate]:
    """The question of a consultation and the difference of a review."""
    if request.question:
        text = material.mask(request.question)
        yield Candidate("question", "question", one_line(text, 80), text, text, trust="authoritative")
    if request.diff:
        text = material.mask(request.diff)
        yield Candidate("diff", "diff", "difference", text, text, trust="verified")
