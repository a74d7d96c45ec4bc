"""What a package is compiled from: records and messages as they stand, gathered by the caller, who did the reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from workbench.domain.artifact import Artifact
from workbench.domain.evidence import Evidence
from workbench.domain.fact import Registry
from workbench.domain.message import Message
from workbench.domain.note import Guideline, Note, Role
from workbench.domain.task import Attempt, Task
from workbench.domain.trimming import Fate


@dataclass(frozen=True)
class Target:
    """The agent that the package is for."""

    agent: str
    window: int | None
    """Tokens; None where nobody knows."""
    tokenizer: str
    estimated: bool = False
    """Whether its real tokens can only be estimated with ``tokenizer``."""


@dataclass(frozen=True, slots=True)
class HistoryItem:
    """A message of an attached session with its fate."""

    message: Message
    fate: Fate
    body: str
    """The whole text."""
    cited: bool = False
    """Whether a record has it as its source."""


@dataclass(frozen=True)
class EvidenceItem:
    """Evidence, and whether the files under it are still the same."""

    evidence: Evidence
    valid: bool
    changed: tuple[str, ...] = ()


@dataclass(frozen=True)
class WorktreeState:
    """What git says of the worktree."""

    branch: str | None
    head: str | None
    dirty: tuple[str, ...] | None
    """Changed files; None is unknown, which is not the same as none."""


def unmasked(text: str) -> str:
    """The text itself: for callers whose texts are masked already."""
    return text


@dataclass(frozen=True)
class Material:
    """Everything a compile may use. The order of its tuples makes no difference to the result."""

    task: Task
    registry: Registry
    tasks: Mapping[str, Task] = field(default_factory=dict)
    attempts: tuple[Attempt, ...] = ()
    """Of the task."""
    running: Attempt | None = None
    evidence: tuple[EvidenceItem, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    notes: tuple[Note, ...] = ()
    guidelines: tuple[Guideline, ...] = ()
    role: Role | None = None
    history: tuple[HistoryItem, ...] = ()
    retrieved: tuple[str, ...] = ()
    """``SESSION#ID`` of older messages that the search index found for this task; they are read in ``history``."""
    worktree: WorktreeState | None = None
    absent_sessions: tuple[str, ...] = ()
    prior_snapshot: str | None = None
    """What the target was given before, when the task is handed back to it."""
    revised: tuple[str, ...] = ()
    """What changed in the contract since the revision that the running attempt worked on, a line each."""
    mask: Callable[[str], str] = unmasked
    """Hides secrets in texts that do not come from the store: messages, excerpts, diffs, guidelines."""
