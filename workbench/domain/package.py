"""A compiled handoff, consultation or review: an immutable envelope, and a status line by line beside it."""

from __future__ import annotations

from typing import Literal

from workbench.domain.record import Json, Part

PackageMode = Literal["handoff", "consult", "review"]
PackageStatus = Literal[
    "draft",
    "pending",
    "confirmed",
    "transferring",
    "launched",
    "received",
    "closed",
    "rejected",
    "cancelled",
    "failed",
]
OPEN_PACKAGE: frozenset[str] = frozenset({"pending", "confirmed", "transferring", "launched", "received"})
LaunchWay = Literal["tmux", "foreground", "acp", "print", "copy"]
Strategy = Literal["recent", "summary_recent", "evidence", "evidence_role"]


class Identity(Part, frozen=True, kw_only=True):
    """What a package is of, and for whom. The attempt to come is not in it (see ``compiler.md``)."""

    task: str
    plan_revision: int
    from_attempt: str | None = None
    from_executor: str | None = None
    to: str
    mode: PackageMode = "handoff"
    strategy: Strategy = "evidence"
    date: str
    """The day of ``now``, as ``2026-03-01``."""


class Fingerprint(Part, frozen=True, kw_only=True):
    """One thing a package rests on, by content."""

    code: str
    """The difference it makes when it no longer matches (``handoff.md``, Confirm)."""
    subject: str
    value: str | None
    """Content hash or short value; None where it was absent."""


class Difference(Part, frozen=True, kw_only=True):
    """Something a package rests on that is no longer so."""

    code: str
    subject: str
    was: str | None
    now: str | None
    stops: bool = True


class PackageEvent(Part, frozen=True, kw_only=True):
    """One step in a package's life; a line of ``packages/<id>/status.jsonl``."""

    id: str
    after: str | None = None
    status: PackageStatus
    by: str
    at: str
    why: str = ""
    attempt: str | None = None
    """The reserved attempt, set with ``pending``."""
    launch: LaunchWay | None = None
    details: dict[str, Json] = {}


class Envelope(Part, frozen=True, kw_only=True):
    """The immutable content of a package; ``content`` is the compiler's envelope, hashed as ``snapshot``."""

    id: str
    schema: int = 1
    snapshot: str
    task: str
    identity: Identity
    content: dict[str, Json]
    """Requirements, items by section, failure, inputs, budget, manifest."""
    tokens: int
    tokenizer: str
    prompt_sha256: str
    fingerprints: tuple[Fingerprint, ...] = ()
    options: dict[str, Json] = {}
    """How it was compiled (budget, pins, toggles), so that a recompile can repeat it."""
    replaces: str | None = None
    prepared_by: str
    prepared_at: str
