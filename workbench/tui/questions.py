"""What waits for a person's word among the facts, counted as she would."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.domain.fact import Lifecycle
    from workbench.services.view import FactView

OPEN: frozenset[Lifecycle] = frozenset({"proposed", "challenged", "contested"})
"""What needs a decision."""


def open_questions(facts: Iterable[FactView]) -> tuple[FactView, ...]:
    """The facts that wait for a decision each.

    Every proposal is one; with the value that it challenges, which is asked about alone only where no proposal of
    its key is. Values that contest each other are one.
    """
    rows = [row for row in facts if row.lifecycle in OPEN and row.asked]
    proposed = {(row.key, row.fact.scope) for row in rows if row.lifecycle == "proposed"}
    waiting: dict[object, FactView] = {}
    for row in rows:
        key = (row.key, row.fact.scope)
        if row.lifecycle == "proposed":
            waiting[row.fact.id] = row
        elif key not in proposed:
            waiting.setdefault(key, row)
    return tuple(waiting.values())
