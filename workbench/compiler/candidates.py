"""Candidates: whatever might go into a package, before anything is judged about it."""

from __future__ import annotations

from typing import Literal

import msgspec

from workbench.domain.times import instant

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


Place = tuple[int, str]
"""Identifies a candidate, and sorts it where nothing else decides: its source type's number and its id."""


class Candidate(msgspec.Struct, frozen=True, gc=False):
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
    place: Place = (0, "")
    """Derived, as is the next: both are asked for many times in a compile."""
    moment: float = 0.0
    """``observed_at`` in seconds; 0 where there is no date."""

    def __post_init__(self) -> None:
        """Work out what is derived."""
        msgspec.structs.force_setattr(self, "place", (TYPE_ORDER[self.source_type], self.source_id))
        if self.observed_at:
            msgspec.structs.force_setattr(self, "moment", instant(self.observed_at).timestamp())
