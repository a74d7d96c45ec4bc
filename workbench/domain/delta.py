"""What a state delta says (the shape of ``state update --file``), and what became of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from workbench.domain.contract import VariableSpec
from workbench.domain.fact import value_text
from workbench.domain.record import Json, Part
from workbench.domain.task import TaskState
from workbench.errors import UsageError
from workbench.text import one_line


class NewItem(Part, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something still to do."""

    text: str
    qualifiers: tuple[str, ...] = ()
    priority: Literal[1, 2, 3] = 2
    paths: tuple[str, ...] = ()
    parent: str | None = None
    """Text or id of the item that it is a step of."""
    source: str | None = None


class DoneWord(Part, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An item that is done, with what shows it."""

    item: str
    """Text or id."""
    evidence: tuple[str, ...] = ()


class Delta(Part, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Changes to a task's state; items are named by id, by a unique beginning of it, or by their text."""

    expect: int | None = None
    """The version of the task that the caller saw."""
    done: tuple[str | DoneWord, ...] = ()
    start: tuple[str, ...] = ()
    give_up: tuple[str, ...] = ()
    """Started items whose action was broken off on purpose: pending again, not interrupted."""
    pending: tuple[str | NewItem, ...] = ()
    drop: tuple[str, ...] = ()
    """Pending items that nobody needs any more."""
    accept: tuple[str, ...] = ()
    """Items that were found in a text and are taken now."""
    reopen: tuple[str, ...] = ()
    """Done items that are not done after all."""
    reword: dict[str, str] = {}
    declare: dict[str, str | VariableSpec] = {}
    set: dict[str, Json] = {}
    unset: tuple[str, ...] = ()
    scratch: dict[str, Json] = {}
    """Values of the running attempt alone."""

    @property
    def evidence(self) -> tuple[str, ...]:
        """Every piece of evidence that a done item names."""
        return tuple(name for row in self.done if isinstance(row, DoneWord) for name in row.evidence)


def delta_from(document: Any) -> Delta:
    """A delta from plain JSON.

    Raises:
        UsageError: An unknown field or a wrong type; the message names the place.
    """
    try:
        return msgspec.convert(document, Delta)
    except msgspec.ValidationError as wrong:
        fields = ", ".join(field.encode_name for field in msgspec.structs.fields(Delta))
        raise UsageError(f"the delta does not fit: {wrong}", f"it may have: {fields}") from None


@dataclass(frozen=True)
class Conflict:
    """Something that the delta would change and that somebody changed since it was seen."""

    subject: str
    """``variable NAME``, or the item's text."""
    seen: Json
    now: Json
    wanted: Json

    @property
    def line(self) -> str:
        """The conflict in one line, both values in it."""
        seen, now, wanted = (one_line(value_text(value), 80) for value in (self.seen, self.now, self.wanted))
        return f"{self.subject}: you saw {seen}, now it is {now}; you want {wanted}"


@dataclass
class Outcome:
    """What became of a delta."""

    state: TaskState
    variables: dict[str, VariableSpec]
    """The declarations, with those that the delta adds."""
    applied: list[str] = field(default_factory=list)
    """What changed, a line each."""
    said: list[str] = field(default_factory=list)
    """What changed nothing, and why."""
    conflicts: list[Conflict] = field(default_factory=list)


@dataclass(frozen=True)
class Hand:
    """Who changes the state, when, and with what at hand."""

    by: str
    at: str
    attempt: str | None = None
    """The running attempt."""
    evidence: Mapping[str, str] = field(default_factory=dict)
    """Why a piece of evidence shows nothing; empty where it holds."""
    keep_large: Callable[[str, Json], Json] = lambda _name, value: value
    """Puts a value that is too large elsewhere, and gives what stands for it."""
