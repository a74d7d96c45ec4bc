"""A fact as it is shown; apart from the rest of the view, which most commands do not need."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from workbench.domain.fact import Fact, Lifecycle
from workbench.domain.times import instant

if TYPE_CHECKING:
    from workbench.store.records import Records


@dataclass(frozen=True)
class FactView:
    """A fact as it stands."""

    fact: Fact
    key: str
    """Canonical."""
    lifecycle: Lifecycle
    against: tuple[Fact, ...] = ()
    """A proposal: the active fact it would supersede. Challenged: the challengers. Contested: the other heads."""
    shadowed: bool = False
    past_review: bool = False
    asked: bool = True
    """Whether it concerns a person now: not where rules found it and nobody is to be asked about it."""
    replaced: tuple[Fact, ...] = ()
    """The facts whose values it took the place of, newest first."""


Group = Literal["hold", "settle", "unreviewed", "past"]
"""What a person has to do with a fact: nothing, decide, look at it where she likes, or nothing any more."""
LISTED_BY = "workbench fact list --only hold|settle|unreviewed"
"""The command that lists each of what is counted."""


def group_of(row: FactView) -> Group:
    """Where a fact is counted: in one group only."""
    if row.lifecycle not in ("active", "proposed", "challenged", "contested"):
        return "past"
    if not row.asked:
        return "unreviewed"
    return "hold" if row.lifecycle == "active" else "settle"


def count(rows: Iterable[FactView]) -> dict[str, int]:
    """How many hold, how many are to settle, by lifecycle, and how many were kept without anybody's review."""
    found = dict.fromkeys(("active", "proposed", "challenged", "contested", "unreviewed"), 0)
    for row in rows:
        group = group_of(row)
        if group != "past":
            found["unreviewed" if group == "unreviewed" else row.lifecycle] += 1
    return found


def in_words(counts: Mapping[str, int]) -> str:
    """The counts of facts, the same wherever they are told."""
    held = counts["active"]
    said = [f"{held} fact{'' if held == 1 else 's'} hold{'s' if held == 1 else ''}"]
    words = {"proposed": "proposed to settle", "challenged": "challenged", "contested": "contested"}
    said += [f"{counts[name]} {word}" for name, word in words.items() if counts[name]]
    return ", ".join(said + [f"{counts['unreviewed']} kept unreviewed"] * bool(counts["unreviewed"]))


class LastShown:
    """The facts as they were last shown; good until a record changes, another task asks, or a review falls due."""

    def __init__(self) -> None:
        self._records: Records | None = None
        self._asked: tuple[str | None, Collection[str]] = None, ()
        self._due: datetime | None = None
        self._rows: tuple[FactView, ...] = ()

    def get(
        self, records: Records, task: str | None, held: Collection[str], now: datetime
    ) -> tuple[FactView, ...] | None:
        """The rows, where they still hold; else None."""
        same = self._records is records and self._asked == (task, held)
        return self._rows if same and (self._due is None or now <= self._due) else None

    def put(self, records: Records, task: str | None, held: Collection[str], rows: tuple[FactView, ...]) -> None:
        """Keep rows that were made just now."""
        due = [instant(row.fact.review_after) for row in rows if row.fact.review_after and not row.past_review]
        self._records, self._asked, self._due, self._rows = records, (task, held), min(due, default=None), rows
