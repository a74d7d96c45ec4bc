"""Candidates: whatever might go into a package, before anything is judged about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SourceType = Literal[
    "guideline",
    "role",
    "contract",
    "state",
    "constraint",
    "decision",
    "fact",
    "failure",
    "upstream_input",
    "workspace_state",
    "evidence",
    "open_item",
    "structure_note",
    "note",
    "summary",
    "recent_message",
    "retrieved_history",
    "question",
    "diff",
]
SOURCE_TYPES: tuple[SourceType, ...] = SourceType.__args__  # type: ignore[attr-defined]
"""In rendering order."""
TYPE_ORDER: dict[str, int] = {name: place for place, name in enumerate(SOURCE_TYPES)}

Tier = Literal["required", "high", "optional", "forbidden"]
TIER_ORDER: dict[str, int] = {"required": 0, "high": 1, "optional": 2, "forbidden": 3}


@dataclass(frozen=True, slots=True)
class Candidate:
    """One thing that might go into a package."""

    source_type: SourceType
    source_id: str
    title: str
    body: str
    """The text by which it is matched and compared."""
    record: object
    """What it was made from."""
    trust: str = "reported"
    lifecycle: str = "active"
    task_id: str | None = None
    attempt_id: str | None = None
    paths: tuple[str, ...] = ()
    observed_at: str = ""
    refs: tuple[str, ...] = ()
    """Names under which a fact may cite it as its source."""

    @property
    def place(self) -> tuple[int, str]:
        """Where it stands among all candidates when nothing else decides."""
        return TYPE_ORDER[self.source_type], self.source_id
