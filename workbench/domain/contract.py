"""The contract of a task: what must be true at the end. An objective is enough; absence is said, not demanded."""

from __future__ import annotations

from typing import Literal

from workbench.domain.record import Json, Part


class ContentRule(Part, frozen=True, kw_only=True):
    """What the content of an output must satisfy."""

    min_bytes: int | None = None
    max_bytes: int | None = None
    contains: tuple[str, ...] = ()
    json: bool = False
    """It must parse as JSON."""


class OutputSpec(Part, frozen=True, kw_only=True):
    """A promised output, bound later to one artifact version."""

    key: str
    kind: str = "file"
    path: str | None = None
    content: ContentRule | None = None


class CommandSpec(Part, frozen=True, kw_only=True):
    """A required command: an argument list, never a shell string."""

    id: str
    run: tuple[str, ...]
    exit: int = 0
    depends: tuple[str, ...] = ()
    """Globs of the files the result depends on."""


class AcceptanceItem(Part, frozen=True, kw_only=True):
    """One thing that must hold, and what shows it."""

    id: str
    text: str
    check: str = "manual"
    """``command:ID``, ``output:KEY``, ``file:PATH`` or ``manual``."""
    evidence: str = ""
    """Which evidence shows it, in words that stand alike in prompt, report and verdict."""
    required: bool = True


class VariableSpec(Part, frozen=True, kw_only=True):
    """The declaration of a state variable."""

    type: Literal["string", "integer", "number", "boolean", "list", "object", "json"] = "json"
    enum: tuple[Json, ...] | None = None
    minimum: float | None = None
    maximum: float | None = None
    pattern: str | None = None
    required: bool = False
    unit: str | None = None
    description: str | None = None


class InputSpec(Part, frozen=True, kw_only=True, rename={"from_": "from"}):
    """An input that another task's output provides."""

    key: str
    from_: str
    output: str


class Contract(Part, frozen=True, kw_only=True):
    """All that is asked of a task. Its constraints are facts of kind ``constraint`` in its scope."""

    objective: str = ""
    targets: tuple[str, ...] = ()
    """Paths, relative to the worktree, that the work is about."""
    outputs: tuple[OutputSpec, ...] = ()
    commands: tuple[CommandSpec, ...] = ()
    acceptance: tuple[AcceptanceItem, ...] = ()
    variables: dict[str, VariableSpec] = {}
    depends_on: tuple[str, ...] = ()
    """Task ids."""
    inputs: tuple[InputSpec, ...] = ()
    role: str | None = None
    skill: str | None = None
    """Tasks of the same skill are alike: estimates and comparisons run over them."""
