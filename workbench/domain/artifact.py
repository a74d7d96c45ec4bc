"""Artifacts: things produced, with versions; bindings tie a promised output to exactly one of them."""

from __future__ import annotations

from workbench.domain.record import Part, Record, Stamp


class ArtifactVersion(Part, frozen=True, kw_only=True):
    """One content of an artifact."""

    number: int
    sha256: str
    size: int
    """Bytes."""
    path: str | None = None
    """Relative to its worktree."""
    attempt: str | None = None
    """The attempt that produced it."""
    worktree: str | None = None
    kept: bool = False
    """Whether the content lies in ``blobs/`` (only under 1 MiB)."""
    made: Stamp


class Binding(Part, frozen=True, kw_only=True):
    """A promised output tied to one version, made from evidence only."""

    task: str
    key: str
    version: int
    evidence: tuple[str, ...] = ()
    bound: Stamp


class Artifact(Record, frozen=True, kw_only=True):
    """Something produced."""

    task: str | None = None
    key: str
    kind: str = "file"
    versions: tuple[ArtifactVersion, ...] = ()
    bindings: tuple[Binding, ...] = ()
