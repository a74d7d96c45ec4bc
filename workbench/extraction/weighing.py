"""Weighing a clause that no marker settles: every feature speaks for some kinds and against others.

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

from workbench.extraction.features import Lexicon, features_of
from workbench.extraction.model import PRECEDENCE, Kind

COLUMNS: tuple[Kind | None, ...] = (*PRECEDENCE, None)
"""What a clause may be; None: process."""
ALWAYS = "always"
"""The feature that every clause has."""


@dataclass(frozen=True)
class Leaning:
    """How much speaks for each kind."""

    scores: Mapping[Kind | None, float]

    @property
    def kind(self) -> Kind | None:
        """The kind for which most speaks; of equals the one of higher precedence."""
        return max(COLUMNS, key=lambda kind: self.scores[kind])

    def lead(self) -> float:
        """By how much the first is before the second; facts and decisions do not stand against each other."""
        best = self.kind
        alike = ("fact", "decision") if best in ("fact", "decision") else (best,)
        return self.scores[best] - max(score for kind, score in self.scores.items() if kind not in alike)


@dataclass(frozen=True)
class Scale:
    """The weights of a language."""

    language: str
    lexicon: Lexicon
    weights: Mapping[str, Sequence[float]]

    def lean(self, body: str, signs: Iterable[str] = ()) -> Leaning:
        """Weigh a clause in which code and others' words are masked, with what the rules say of it."""
        known = self.weights
        features = features_of(body, self.lexicon, self.language)
        found = [weights for feature in (*features, *signs, ALWAYS) if (weights := known.get(feature))]
        totals = map(sum, zip(*found, strict=True)) if found else [0.0] * len(COLUMNS)
        return Leaning(dict(zip(COLUMNS, totals, strict=True)))

    def why(self, body: str, kind: Kind | None, most: int = 5) -> tuple[str, ...]:
        """The features that speak most for a kind against process (or the other way round)."""
        column, other = COLUMNS.index(kind), COLUMNS.index(None if kind else "fact")
        said = {
            feature: weights[column] - weights[other]
            for feature in features_of(body, self.lexicon, self.language)
            if (weights := self.weights.get(feature))
        }
        best = sorted(said, key=lambda feature: (-said[feature], feature))[:most]
        return tuple(f"{feature} {said[feature]:+.1f}" for feature in best if said[feature] > 0)


@cache
def lexicon_of(language: str) -> Lexicon:
    """The classes of words of a language."""
    return Lexicon.of(tomllib.loads(_text("lexicon.toml"))[language])


@cache
def scale_of(language: str) -> Scale:
    """The scale of ``en`` or ``zh``."""
    return Scale(language, lexicon_of(language), read_weights(_text(f"weights.{language}.tsv").splitlines()))


def _text(name: str) -> str:
    return (files(__package__) / "rules" / name).read_text("utf-8")


def read_weights(lines: Iterable[str]) -> dict[str, tuple[float, ...]]:
    """Weights by feature from lines of ``feature<tab>weight…``; the first line names the columns."""
    rows = (line.split("\t") for line in lines)
    next(rows, None)
    return {feature: tuple(map(float, weights)) for feature, *weights in rows}


def write_weights(weights: Mapping[str, Sequence[float]], least: float = 0.1) -> list[str]:
    """The lines that :func:`read_weights` reads; features that hardly speak are left out."""
    lines = ["\t".join(("feature", *(kind or "process" for kind in COLUMNS)))]
    for feature in sorted(weights):
        rounded = [round(weight, 2) + 0.0 for weight in weights[feature]]
        if feature == ALWAYS or max(map(abs, rounded)) >= least:
            lines.append("\t".join((feature, *(f"{weight:g}" for weight in rounded))))
    return lines


def chances(scores: Sequence[float]) -> list[float]:
    """Scores as shares of one."""
    most = max(scores)
    powers = [math.exp(score - most) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]
