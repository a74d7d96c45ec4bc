"""Which statements a later one of the person goes against, where no key brings them together (``domain.md``, Fact)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from workbench.domain.alike import negations
from workbench.domain.fact import WORKSPACE, Fact, means_same
from workbench.domain.record import Json
from workbench.domain.task import Task
from workbench.extraction import Find
from workbench.extraction.narrowing import said_of_others
from workbench.extraction.opposing import TAKES_BACK, anchors, opening, opposes, permits, stance
from workbench.extraction.reading import only_denies, read
from workbench.extraction.renewing import renews
from workbench.extraction.rules import rules_of

_MOST = 3
"""Statements that one may go against; what goes against more was hardly meant so."""
_FREQUENT = 60
"""Statements that share a word, from which on it tells no two of them apart."""


class Stated:
    """What is stated in words, found again by the things it names.

    Args:
        facts: What is known.
        task: Whose talk it is.
        holds: Whether a fact, as it stands within the change, holds.
    """

    def __init__(self, facts: Iterable[Fact], task: Task, holds: Callable[[Fact], bool]) -> None:
        self._scopes = (WORKSPACE, task.id)
        self._holds = holds
        self._by_anchor: dict[str, dict[str, Fact]] = {}
        self._bans: dict[str, dict[str, tuple[Fact, Json]]] = {}
        """By what they are about: statements that say of a value that it is not to be."""
        for fact in facts:
            self.add(fact)

    def add(self, fact: Fact) -> None:
        """Let a statement be met by those that follow."""
        if fact.statement and fact.scope in self._scopes:
            for anchor in anchors(fact.statement):
                self._by_anchor.setdefault(anchor, {})[fact.id] = fact
            if fact.value == fact.statement and negations(fact.statement):  # it has no other key than its words
                said = read(fact.statement, rules_of(fact.statement), constraint=fact.kind == "constraint")
                if said.key is not None and only_denies(said.value, said.old):
                    self._bans.setdefault(said.key, {})[fact.id] = (fact, said.old)

    def forbidding(self, find: Find) -> tuple[Fact, ...]:
        """What holds and says of the very value that a find gives a thing that it is not to be."""
        if find.key is None or find.value is None:
            return ()
        rows = self._bans.get(find.key, {}).values()
        return tuple(
            fact
            for fact, value in rows
            if means_same(value, find.value) and not said_of_others(find.text, fact.statement) and self._holds(fact)
        )

    def against(self, find: Find) -> tuple[Fact, ...]:
        """What holds and is contradicted by a find of the person's own words, the latest first."""
        rows = (self._by_anchor.get(anchor, {}) for anchor in anchors(find.text))
        near = {name: fact for row in rows if len(row) <= _FREQUENT for name, fact in row.items()}
        opens = max(find.place.opens, opening(find.quote))
        weighs = find.kind == "decision" or opens == TAKES_BACK or permits(find.text) or _denies(find)
        found = [fact for fact in near.values() if self._goes_against(find, fact, opens, weighs) and self._holds(fact)]
        found.sort(key=lambda fact: (fact.observed_at, fact.id), reverse=True)
        return tuple(found) if len(found) <= _MOST else ()

    def _goes_against(self, find: Find, fact: Fact, opens: int, weighs: bool) -> bool:
        if find.kind == "open" and not any(source.own_words for source in fact.sources):
            return False  # it may be work as well, and an agent's word forbids none
        if weighs and opposes(find.text, fact.statement, opens=opens, answers=_answers(find, fact)):
            return True
        return find.kind in ("fact", "decision") and renews(find.text, fact.statement)


def _denies(find: Find) -> bool:
    """Whether a sentence says of one thing that it is not to be: *endpoints don't need authentication* is no work."""
    clauses = stance(find.text).clauses
    return find.kind == "open" and len(clauses) == 1 and clauses[0].negative


def _answers(find: Find, fact: Fact) -> bool:
    """Whether a find stands in the message of a statement, or in the one that answers it."""
    refs = {find.place.message, *find.place.answers}
    return any(source.ref in refs for source in fact.sources if source.ref)
