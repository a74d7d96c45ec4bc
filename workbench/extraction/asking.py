"""Which markers a text may hold, told by its words alone; most need not be tried on it at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from workbench.extraction.notation import Marker
    from workbench.extraction.rules import Rule

_NEEDS = 2
"""Of what a marker needs so much is looked at; more hardly ever rules it out."""
_SHORT = 2


class Index:
    """Markers with the words that they need.

    A set of markers is a number in which each has a bit. For every word it is known which markers need it first,
    second and third, one after the other in one number: so a text's words are taken together at once.
    """

    def __init__(self, markers: Iterable[Marker]) -> None:
        self.markers = tuple(markers)
        self._unprepared = self.markers
        self._size = len(self.markers)
        self._all = (1 << self._size) - 1
        self._nothing_needed = 0
        self._by_word: dict[str, int] = {}
        for number, marker in enumerate(self.markers):
            for place in range(_NEEDS):
                bit = 1 << number + place * self._size
                if place >= len(marker.needs):
                    self._nothing_needed |= bit
                    continue
                for word in marker.needs[place]:
                    self._by_word[word] = self._by_word.get(word, 0) | bit

    def prepare(self) -> None:
        """Compile now, once, the markers that need no word, or a short one: such words are in most texts."""
        unprepared, self._unprepared = self._unprepared, ()
        for marker in unprepared:
            if not marker.needs or min(map(len, marker.needs[0])) <= _SHORT:
                marker.compile()

    def called(self, words: Iterable[str]) -> int:
        """The markers that have what they need in a text of these words."""
        met = reduce(or_, filter(None, map(self._by_word.get, words)), self._nothing_needed)
        return met & met >> self._size & self._all

    def among(self, called: int) -> Iterator[Marker]:
        """The markers of a set, in their order."""
        while called:
            first = called & -called
            yield self.markers[first.bit_length() - 1]
            called ^= first

    def finds(self, called: int, text: str, lowered: str) -> bool:
        """Whether one of a set of markers is found in a text that has these small letters."""
        while called:
            number = called.bit_length() - 1
            marker = self.markers[number]
            if marker.search(text if marker.cased else lowered):
                return True
            called ^= 1 << number
        return False


class Heard(NamedTuple):
    """A text as rules are held against it."""

    text: str
    small: str
    called: int
    """The markers that are to be tried."""


class _Set(NamedTuple):
    """A rule with its markers in an index."""

    rule: Rule
    markers: int
    unless: int


class Rulebook:
    """Rules with the markers of all of them in one index."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.index = Index(marker for rule in rules for marker in (*rule.markers, *rule.unless))
        self._sets: dict[int, _Set] = {}
        number = 0
        for rule in rules:
            unless = number + len(rule.markers)
            end = unless + len(rule.unless)
            self._sets[id(rule)] = _Set(rule, _bits(number, unless), _bits(unless, end))
            number = end

    def ask(self, rules: Iterable[Rule]) -> Asked:
        """Some of the rules, to be asked together in this order."""
        return Asked(self.index, [self._sets[id(rule)] for rule in rules])


class Asked:
    """Rules that are asked together, in their order."""

    def __init__(self, index: Index, sets: Iterable[_Set]) -> None:
        self._index = index
        self._sets = tuple(sets)
        self._markers = reduce(or_, (one.markers for one in self._sets), 0)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules."""
        return tuple(one.rule for one in self._sets)

    def fitting(self, heard: Heard) -> Iterator[Rule]:
        """Those that hold for a text: a marker is found, and none that lifts it."""
        text, lowered, called = heard
        if not called & self._markers:
            return
        finds = self._index.finds
        for rule, markers, unless in self._sets:
            tried = called & markers
            if tried and finds(tried, text, lowered):
                lifting = called & unless
                if not lifting or not finds(lifting, text, lowered):
                    yield rule


def _bits(start: int, end: int) -> int:
    return (1 << end) - (1 << start)
