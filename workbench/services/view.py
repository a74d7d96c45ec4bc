"""The view: one immutable picture of the workspace, which the app shows and ``status`` prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.domain.evidence import Evidence
from workbench.domain.message import Message
from workbench.domain.package import Difference, Envelope, PackageEvent, PackageStatus
from workbench.domain.task import Attempt, Task
from workbench.domain.trimming import Fate
from workbench.services.fact_view import FactView as FactView
from workbench.store.records import Damage

if TYPE_CHECKING:  # many commands make none of these: start-up counts
    from workbench.domain.contested import Contest
    from workbench.domain.differences import FieldDifference
    from workbench.domain.fact import Fact
    from workbench.domain.state_findings import Finding
    from workbench.services.fullness import Allowance


@dataclass(frozen=True)
class AcceptanceView:
    """An acceptance item and what shows it."""

    text: str
    required: bool
    verdict: str
    """``passed``, ``failed``, ``stale``, ``claimed`` or ``waiting``."""
    evidence: str
    """What shows it, or would show it, in one line."""


@dataclass(frozen=True)
class EvidenceView:
    """Evidence, and whether it still holds."""

    evidence: Evidence
    valid: bool
    changed: tuple[str, ...] = ()
    """Files changed since, which made it stale."""


@dataclass(frozen=True)
class TaskView:
    """The live task card."""

    task: Task
    running: Attempt | None
    attempts: tuple[Attempt, ...]
    """Oldest first."""
    acceptance: tuple[AcceptanceView, ...]
    evidence: tuple[EvidenceView, ...]
    """Newest first."""
    failure: Evidence | None
    """The last failed command that no later run of the same command passed."""
    interrupted: tuple[str, ...]
    """Texts of pending items that were started by an attempt that has ended."""
    findings: tuple[Finding, ...] = ()
    """What is odd about the state, each with an offer."""
    program_ended: str = ""
    """Said where the program that was launched for the running attempt is not there any more."""


@dataclass(frozen=True, slots=True)
class MessageView:
    """A message with its fate and its price."""

    message: Message
    fate: Fate
    tokens: int
    """In the tokenizer of the history."""
    cited: bool
    """A record has it as its source."""


@dataclass(frozen=True)
class HistoryView:
    """The messages of the task's attached sessions, in file order, session after session."""

    messages: Sequence[MessageView] = ()
    tokens_all: int = 0
    tokens_kept: int = 0
    tokenizer: str = "o200k"
    absent: tuple[str, ...] = ()
    """Attached sessions whose file is not on this machine."""
    mark: str = ""
    """Differs whenever what is shown of the messages does, but for which of them are cited."""
    cited: frozenset[str] = frozenset()
    """``SESSION#ID`` of messages that records have as their source."""


@dataclass(frozen=True)
class SessionView:
    """An attached session."""

    agent: str
    id: str
    path: str | None
    messages: int
    updated_at: str | None
    status: str
    """``live``, ``idle``, ``absent``."""
    title: str = ""
    context: int | None = None
    """Tokens of its last request."""
    window: int | None = None
    unreadable: int = 0
    """Lines of the file that could not be read."""
    basis: str = ""
    """What ``full`` is a share of; empty where it is unknown."""
    turns_left: int | None = None
    """About how many requests still fit."""
    allowances: tuple[Allowance, ...] = ()
    """Limits of the account, as the session last stated them."""
    compactions: int = 0
    lost: int = 0
    """Messages that the last compaction took out of the model's context."""

    @property
    def full(self) -> float | None:
        """Share of the window in use, where both figures are known."""
        return None if not self.context or not self.window else self.context / self.window


@dataclass(frozen=True)
class PackageView:
    """A package and how it stands now."""

    envelope: Envelope
    status: PackageStatus
    events: tuple[PackageEvent, ...]
    differences: tuple[Difference, ...] = ()
    """Judged anew for this view, for packages that are pending, or whose receiver has not begun."""

    @property
    def stale(self) -> bool:
        """Whether what it rests on changed in a way that stops, or would have stopped, its confirmation."""
        return any(d.stops for d in self.differences)


@dataclass(frozen=True)
class Step:
    """One change of one record, as a person reads it."""

    change: str
    at: str
    actor: str
    command: str
    why: str
    version: int
    differences: tuple[FieldDifference, ...]
    """What it did to the record; empty where it took the record away."""
    gone: bool = False
    """It took the record away."""
    undoes: str | None = None
    earlier: Fact | None = None
    """The fact that it changed, where that is one whose value was replaced since."""


@dataclass(frozen=True)
class Need:
    """One thing that needs the person now."""

    code: str
    """``challenged``, ``contested``, ``stale``, ``proposal``, ``damaged``, ``outdated``, ``full``,
    ``ended``, ``to_start``, ``found``.
    """
    text: str
    key: str
    """The key that acts on it in the app; may be empty."""
    subject: str = ""
    """Id of the record."""


@dataclass(frozen=True)
class Place:
    """Where the workspace and the person stand."""

    name: str
    """Folder name of the repository."""
    root: Path
    """The workspace folder."""
    worktree: Path
    worktree_name: str | None
    branch: str | None
    head: str | None
    dirty: int | None
    """Changed files; None is unknown (not trusted yet, or no git)."""


@dataclass(frozen=True)
class View:
    """Everything the app shows, at one moment."""

    place: Place
    revision: str
    """Changes whenever anything in the view does; equal revisions need no repaint."""
    tasks: tuple[Task, ...]
    task: TaskView | None
    """The current task."""
    facts: tuple[FactView, ...]
    """Those that need a decision first, then by key."""
    history: HistoryView
    packages: tuple[PackageView, ...]
    """Open ones first, newest first."""
    sessions: tuple[SessionView, ...]
    needs_you: tuple[Need, ...]
    damaged: tuple[Damage, ...]
    warnings: tuple[str, ...] = ()
    """Configuration and watching: said once."""
    contests: tuple[Contest, ...] = ()
    """Fields that merged copies say differently; those of the current task first."""
    offered: int = 0
    """Finds of the sessions that stand before the person in the review list."""
