"""Candidates from what merged copies say differently of the task: each field with all that the copies say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from workbench.compiler.candidates import Candidate
from workbench.compiler.material import Material
from workbench.compiler.values import value_text
from workbench.domain.contested import RUNNING, VARIABLES, concerns
from workbench.domain.record import Json
from workbench.domain.task import Task
from workbench.text import one_line

DONE = "state.done"


@dataclass(frozen=True)
class Contested:
    """A field of the task that a person has to settle."""

    field: str
    """The way to it."""
    values: tuple[Json | None, ...]
    """What the copies say; None where one took it away."""

    @property
    def name(self) -> str:
        """The field as it is called in a prompt: by names of the contract and the state alone, in any language."""
        for beginning in (VARIABLES, "contract.", "state."):
            if self.field.startswith(beginning):
                return self.field.removeprefix(beginning)
        return self.field

    @property
    def required(self) -> bool:
        """Whether what stands in its place is carried whatever the room: all but variables and finished items."""
        return not self.field.startswith((VARIABLES, f"{DONE}."))


def contested(task: Task, place: str) -> bool:
    """Whether what stands at a place of the task is no more than what one of the copies says."""
    return any(concerns(field, place) for field in task.contests)


def collect_contested(material: Material) -> Iterator[Candidate]:
    """Every contested field; a variable or a finished item stands nowhere else."""
    task = material.task
    for field, claims in sorted(task.contests.items()):
        said = [None if claim.gone else _said(material, field, claim.value) for claim in claims]
        record = Contested(field, tuple(said))
        body = f"{record.name} {' '.join(value_text(value) for value in said if value is not None)}"
        yield Candidate(
            "state",
            f"contested:{field}",
            one_line(f"{record.name}: contested", 80),
            body,
            record,
            lifecycle="contested",
            task_id=task.id,
            observed_at=task.state.updated_at,
        )


def _said(material: Material, field: str, value: Json) -> Json:
    """A value as it tells a reader most: an item by its text, an attempt by who runs it."""
    if field == RUNNING:
        by = next((attempt.executor for attempt in material.attempts if attempt.id == value), "")
        return f"{by} {value}".strip()
    text = value.get("text") if isinstance(value, Mapping) else None
    return text if isinstance(text, str) else value
