"""What waits for a person's word among the facts, counted as she would: one key, one question."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.domain.fact import Lifecycle
    from workbench.services.view import FactView

OPEN: frozenset[Lifecycle] = frozenset({"proposed", "challenged", "contested"})
"""What needs a decision."""


def open_questions(facts: Iterable[FactView]) -> tuple[FactView, ...]:
    """The facts that wait, one of each key and scope: a proposal and the value it challenges are one question."""
    first: dict[tuple[str, str], FactView] = {}
    for row in facts:
        if row.lifecycle in OPEN and row.asked:
            first.setdefault((row.key, row.fact.scope), row)
    return tuple(first.values())
