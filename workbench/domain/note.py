"""Notes: external memory by key, with a JSON value and its sources; the latest wins."""

from __future__ import annotations

from typing import Literal

from workbench.domain.record import Json, Record, Stamp


class Note(Record, frozen=True, kw_only=True):
    """A note, or a structure note: what a finished step handled and settled."""

    key: str
    value: Json
    kind: Literal["note", "structure"] = "note"
    sources: tuple[str, ...] = ()
    """Message ids, artifacts or addresses."""
    task: str | None = None
    supersedes: tuple[str, ...] = ()
    written: Stamp


class Guideline(Record, frozen=True, kw_only=True):
    """A standing rule for the executor, given to every package."""

    text: str
    origin: str = "workspace"
    """``user``, ``workspace``, a path (AGENTS.md and its kind, by reference) or ``SESSION#MESSAGE``."""
    scope: str = "workspace"


class Role(Record, frozen=True, kw_only=True):
    """What an executor answers for, may and must not do."""

    name: str
    responsibility: str = ""
    may: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    report: str = ""
