"""Weighing a sentence: every feature of it speaks for some kinds and against others.

The weights are data (``rules/weights.en.tsv``, ``rules/weights.zh.tsv``: a feature a line, a kind a column), fitted to
the labelled sentences by ``python -m tests.extraction.fit``; nothing is learned while the program runs.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from operator import lshift

from workbench.extraction.features import Lexicon, features_of
from workbench.extraction.model import PRECEDENCE, Kind

COLUMNS: tuple[Kind | None, ...] = (*PRECEDENCE, None)
"""What a clause may be; None: process."""
BINDS, TWO = "binds", "two"
"""The last columns of a table: what makes a decision one that binds the work that follows, a constraint; and what makes
a sentence two statements."""
ALWAYS = "(always)"
"""The feature that every clause has; no word looks like it."""


_BITS = 17
"""Of one number, for each column: a sentence would have to have thousands of words for more."""
_PLACES = range(0, _BITS * (len(COLUMNS) + 2), _BITS)
_HALF, _COLUMN = 1 << _BITS - 1, (1 << _BITS) - 1
NOTHING = sum(_HALF << place for place in _PLACES)
"""To which weights are added, so that no column goes below nought."""


class Leaning:
    """How much speaks for each kind, in hundredths."""

    __slots__ = ("binds", "scores", "total", "two")

    def __init__(self, total: int) -> None:
        """What a sum that began with ``NOTHING`` says."""
        self.total = total
        """All columns in one number."""
        *scores, self.binds, self.two = _columns(total)
        """How much more speaks for a constraint than for any other choice, where it is a decision; and for two
        statements than for one, where it is any."""
        self.scores: Mapping[Kind | None, int] = dict(zip(COLUMNS, scores, strict=True))

    def with_(self, more: int) -> Leaning:
        """The same with what else speaks, see :meth:`Scale.beside`."""
        return Leaning(self.total + more)

    @property
    def lead(self) -> int:
        """How much more speaks for a statement, of whatever kind, than for process."""
        *kinds, process = self.scores.values()
        return round(100 * math.log(sum([math.exp(score / 100) for score in kinds]))) - process

    def leads(self, least: int) -> bool:
        """Whether the lead is so large; told without reckoning where one kind alone has it."""
        *kinds, process = self.scores.values()
        return max(kinds) - process >= least or self.lead >= least

    @property
    def shares(self) -> list[float]:
        """How likely each column is, of one."""
        return chances([score / 100 for score in self.scores.values()])

    @property
    def kind(self) -> Kind:
        """The kind for which most speaks; of equals the one of higher precedence."""
        return max(PRECEDENCE, key=self.scores.__getitem__)


@dataclass(frozen=True)
class Scale:
    """The weights of a language."""

    language: str
    lexicon: Lexicon
    weights: Mapping[str, int]
    """In hundredths, all columns in one number: such are added fast, and come to the same in any order."""
    before: Sequence[Sequence[int]]
    """What the sentence before says of one, in hundredths: a row for each kind that it may be. Process says nothing."""
    after: Sequence[Sequence[int]]
    """The same of the sentence after it."""

    @classmethod
    def of(cls, language: str, lines: Iterable[str]) -> Scale:
        """The scale of a language from the lines of its table."""
        read = read_weights(lines)
        # Every second feature weighs what another does. The fewer numbers there are, and the nearer together those lie
        # that are often met, the faster they are found.
        packed = {weights: _packed(weights) for weights in dict.fromkeys(read.values())}
        around = around_of(language)
        weights = {feature: packed[weights] for feature, weights in read.items()}
        return cls(language, lexicon_of(language), weights, around["before"], around["after"])

    def lean(self, body: str) -> Leaning:
        """Weigh a clause in which code and others' words are masked."""
        features = features_of(body, self.lexicon, self.language)
        features.add(ALWAYS)
        return self._added(NOTHING, features)

    def further(self, leaning: Leaning, signs: Iterable[str]) -> Leaning:
        """The same with what the rules say of the clause."""
        return self._added(leaning.total, signs)

    def beside(self, before: Leaning | None, after: Leaning | None) -> int:
        """What the sentences around one say of it, all columns in one number, for :meth:`Leaning.with_`."""
        said = [0.0] * len(COLUMNS)
        for leaning, table in ((before, self.before), (after, self.after)):
            for share, row in zip(leaning.shares, table, strict=False) if leaning else ():
                said = [one + share * weight for one, weight in zip(said, row, strict=True)]
        return sum(map(lshift, map(round, said), _PLACES))

    def _added(self, total: int, features: Iterable[str]) -> Leaning:
        return Leaning(sum(filter(None, map(self.weights.get, features)), total))

    def why(self, body: str, kind: Kind | None, most: int = 5) -> tuple[str, ...]:
        """The features that speak most for a kind against process (or the other way round)."""
        column, other = COLUMNS.index(kind), COLUMNS.index(None if kind else "fact")
        said: dict[str, float] = {}
        for feature in features_of(body, self.lexicon, self.language):
            weights = _columns(NOTHING + self.weights.get(feature, 0))
            said[feature] = (weights[column] - weights[other]) / 100
        best = sorted(said, key=lambda feature: (-said[feature], feature))[:most]
        return tuple(f"{feature} {said[feature]:+.1f}" for feature in best if said[feature] > 0)


@cache
def lexicon_of(language: str) -> Lexicon:
    """The classes of words of a language."""
    return Lexicon.of(tomllib.loads(_text("lexicon.toml"))[language])


@cache
def scale_of(language: str) -> Scale:
    """The scale of ``en`` or ``zh``."""
    return Scale.of(language, _text(f"weights.{language}.tsv").rstrip("\n").split("\n"))


@cache
def around_of(language: str) -> Mapping[str, Sequence[Sequence[int]]]:
    """What the sentences before and after one say of it, by the kind that they lean to."""
    tables = tomllib.loads(_text("around.toml"))[language]
    return {where: [table[kind] for kind in PRECEDENCE] for where, table in tables.items()}


def _packed(weights: Iterable[int]) -> int:
    """The weights of a feature as one number."""
    return sum(map(lshift, weights, _PLACES))


def _columns(total: int) -> list[int]:
    """What a sum that began with ``NOTHING`` comes to in each column."""
    return [(total >> place & _COLUMN) - _HALF for place in _PLACES]


def _text(name: str) -> str:
    return (files(__package__) / "rules" / name).read_text("utf-8")


def read_weights(lines: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Weights in hundredths by feature from lines of ``feature<tab>weight…``; the first line names the columns."""
    found: dict[str, tuple[int, ...]] = {}
    known: dict[str, tuple[int, ...]] = {}
    for line in islice(lines, 1, None):
        feature, _, said = line.partition("\t")
        if said not in known:
            known[said] = tuple(map(int, said.split("\t")))
        found[feature] = known[said]
    return found


def write_weights(weights: Mapping[str, Sequence[float]], least: float = 0.05) -> list[str]:
    """The lines that :func:`read_weights` reads, in the order given; features that hardly speak are left out.

    What is met most often comes first: so it lies close together when read, which is what looking it up costs.
    """
    lines = ["\t".join(("feature", *(kind or "process" for kind in COLUMNS), BINDS, TWO))]
    for feature in weights:
        if feature == ALWAYS or max(map(abs, weights[feature])) >= least:
            lines.append("\t".join((feature, *(str(round(weight * 100)) for weight in weights[feature]))))
    return lines


def chances(scores: Sequence[float]) -> list[float]:
    """Scores as shares of one."""
    most = max(scores)
    powers = [math.exp(score - most) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]
