"""Evidence: recorded observations, each supporting exactly what it shows and no more (``domain.md``, Evidence)."""

from __future__ import annotations

from typing import Literal

from workbench.domain.record import Part

EvidenceKind = Literal["command", "file_change", "artifact", "call", "check", "confirmation", "claim"]

DOES_NOT_SHOW: dict[str, str] = {
    "claim": "that anything holds",
    "command": "that everything works, or still does",
    "file_change": "that it meets the need",
    "artifact": "that it meets the need",
    "call": "that its result is right",
    "check": "the paths not checked",
    "confirmation": "what they did not look at",
}
"""What each kind of evidence leaves open; printed beside it."""


UNKNOWN = ""
"""In the place of a hash: the file was another than it is now, and what it was is not known."""


class FileHash(Part, frozen=True, kw_only=True):
    """A file that evidence depends on, as it was when the evidence was taken."""

    path: str
    """Relative to the worktree."""
    sha256: str | None
    """None where the file did not exist; ``UNKNOWN`` where it had changed before anybody took the hash."""


class Evidence(Part, frozen=True, kw_only=True):
    """One observation; a line of ``evidence/<attempt>.jsonl``."""

    id: str
    after: str | None = None
    """The line it was appended after: readers fold by this, never by position."""
    kind: EvidenceKind
    task: str
    attempt: str | None = None
    executor: str = ""
    plan_revision: int = 1
    worktree: str | None = None
    argv: tuple[str, ...] = ()
    command: str = ""
    """The command line as the agent's tool was given it, where there is no argument list."""
    cwd: str = ""
    """Relative to the worktree."""
    exit_code: int | None = None
    """None is *unknown*, never *ok*."""
    excerpt: str = ""
    duration: float | None = None
    """Seconds."""
    run_by: Literal["workbench", "agent", "person"] = "agent"
    trust: Literal["reported", "verified"] = "reported"
    source: str | None = None
    """``SESSION#MESSAGE``."""
    text: str = ""
    item: str | None = None
    """Acceptance item that it speaks of."""
    artifact: str | None = None
    version: int | None = None
    files: tuple[FileHash, ...] = ()
    at: str = ""
