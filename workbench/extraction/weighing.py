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
from operator import lshift
from typing import NamedTuple

from workbench.extraction.features import Lexicon, features_of
from workbench.extraction.model import PRECEDENCE, Kind

COLUMNS: tuple[Kind | None, ...] = (*PRECEDENCE, None)
"""What a clause may be; None: process."""
ALWAYS = "(always)"
"""The feature that every clause has; no word looks like it."""


_BITS = 20
"""Of one number, for each column."""
_PLACES = range(0, _BITS * len(COLUMNS), _BITS)
_HALF, _COLUMN = 1 << _BITS - 1, (1 << _BITS) - 1
_NOTHING = sum(_HALF << place for place in _PLACES)
"""To which weights are added, so that no column goes below nought."""


class Leaning(NamedTuple):
    """How much speaks for each kind, in hundredths."""

    total: int
    """All columns in one number."""
    scores: Mapping[Kind | None, int]
    lead: int
    """How much more speaks for a statement, of whatever kind, than for process."""

    @classmethod
    def of(cls, total: int) -> Leaning:
        """What a sum that began with ``_NOTHING`` says."""
        *kinds, process = scores = _columns(total)
        lead = round(100 * math.log(sum([math.exp(score / 100) for score in kinds]))) - process
        return cls(total, dict(zip(COLUMNS, scores, strict=True)), lead)

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

    def lean(self, body: str) -> Leaning:
        """Weigh a clause in which code and others' words are masked."""
        features = features_of(body, self.lexicon, self.language)
        features.add(ALWAYS)
        return self._added(_NOTHING, features)

    def further(self, leaning: Leaning, signs: Iterable[str]) -> Leaning:
        """The same with what the rules say of the clause."""
        return self._added(leaning.total, signs)

    def _added(self, total: int, features: Iterable[str]) -> Leaning:
        return Leaning.of(sum(filter(None, map(self.weights.get, features)), total))

    def why(self, body: str, kind: Kind | None, most: int = 5) -> tuple[str, ...]:
        """The features that speak most for a kind against process (or the other way round)."""
        column, other = COLUMNS.index(kind), COLUMNS.index(None if kind else "fact")
        said: dict[str, float] = {}
        for feature in features_of(body, self.lexicon, self.language):
            weights = _columns(_NOTHING + self.weights.get(feature, 0))
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
    read = read_weights(_text(f"weights.{language}.tsv").rstrip("\n").split("\n"))
    return Scale(language, lexicon_of(language), {feature: _packed(weights) for feature, weights in read.items()})


def _packed(weights: Iterable[int]) -> int:
    """The weights of a feature as one number."""
    return sum(map(lshift, weights, _PLACES))


def _columns(total: int) -> list[int]:
    """What a sum that began with ``_NOTHING`` comes to in each column."""
    return [(total >> place & _COLUMN) - _HALF for place in _PLACES]


def _text(name: str) -> str:
    return (files(__package__) / "rules" / name).read_text("utf-8")


def read_weights(lines: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Weights in hundredths by feature from lines of ``feature<tab>weight…``; the first line names the columns."""
    rows = (line.split("\t") for line in lines)
    next(rows, None)
    return {feature: tuple(map(int, weights)) for feature, *weights in rows}


def write_weights(weights: Mapping[str, Sequence[float]], least: float = 0.03) -> list[str]:
    """The lines that :func:`read_weights` reads; features that hardly speak are left out."""
    lines = ["\t".join(("feature", *(kind or "process" for kind in COLUMNS)))]
    for feature in sorted(weights):
        if feature == ALWAYS or max(map(abs, weights[feature])) >= least:
            lines.append("\t".join((feature, *(str(round(weight * 100)) for weight in weights[feature]))))
    return lines


def chances(scores: Sequence[float]) -> list[float]:
    """Scores as shares of one."""
    most = max(scores)
    powers = [math.exp(score - most) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]
