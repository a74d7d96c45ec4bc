"""A fact as it is shown; apart from the rest of the view, which most commands do not need."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.domain.fact import Fact, Lifecycle


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
