"""Fits the weights of the scale to the labelled half ``tune``: ``python -m tests.extraction.fit``.

Plain multinomial regression, brought to its optimum: the same rows give the same files.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from operator import mul, sub
from pathlib import Path
from typing import NamedTuple

import workbench.extraction
from tests.extraction.figures import Row, rows
from workbench.extraction import Extractor, Find
from workbench.extraction.features import features_of
from workbench.extraction.judge import pieces
from workbench.extraction.look import ground, look
from workbench.extraction.model import PRECEDENCE
from workbench.extraction.rules import LANGUAGES, Rules
from workbench.extraction.weighing import ALWAYS, COLUMNS, chances, lexicon_of, write_weights

FOLDER = Path(workbench.extraction.__file__).with_name("rules")
CALM, LEAST = 1.2, 3
"""How strongly weights are held back; in how many samples a feature has to stand."""
FIRST, ROUNDS, LEFT = 25, 90, 1e-4
"""Most rounds, of the first fit and of the last; the slope, a sample, at which no more is gained."""
_UNSEEN = re.compile(r"^(?:blind[2-5]|hard)-")
"""In the names of rows that were written, by others, when rules and markers stood."""
_OF_OTHERS = 1 / 3
"""What a row counts that the rules were made or corrected with, or that was written by those who made them."""
_FREE = frozenset({"markerless", "past_now", "plain_decision", "precedence", "reversal", "weighing"})
"""Cases whose decisions, where nothing is said of it, mostly bind nobody."""
_MOSTLY = 0.5
"""What such a row counts."""
PROCESS = COLUMNS.index(None)
Weights = Mapping[str, Sequence[float]]
At = Callable[[Sequence[float]], tuple[float, list[float]]]
"""A loss and its slope at some weights."""


class Sample(NamedTuple):
    """A sentence, or a piece of one, and what it may be."""

    features: tuple[str, ...]
    columns: tuple[int, ...]
    """One where that is known; else one of these."""
    counts: float = 1.0


class Heard(Extractor):
    """Notes the sentences that are judged by their words."""

    def __init__(self) -> None:
        super().__init__()
        self.sentences: list[str] = []
        self._judged = self._note  # type: ignore[assignment]

    def _note(self, sentence: str, beside: int = 0) -> tuple[Find, ...]:
        self.sentences.append(sentence)
        return ()

    def of(self, text: str) -> list[tuple[str, Rules]]:
        """Those of a text, as they are judged."""
        self.sentences.clear()
        self.extract(text)
        return [self.told(sentence) for sentence in self.sentences]


def samples(of: Sequence[Row], known: Mapping[str, Weights] | None = None) -> dict[str, list[Sample]]:
    """What is learned from rows, by language.

    Args:
        of: The rows.
        known: Weights by which of two statements of a row the place of each is found; without them nothing is learned
            from their pieces.
    """
    found: dict[str, list[Sample]] = {language: [] for language in LANGUAGES}
    heard = Heard()
    for row in of:
        kinds = {item["kind"] for item in row["items"]}
        columns = tuple(COLUMNS.index(kind) for kind in PRECEDENCE if kind in kinds) or (PROCESS,)
        unseen = _UNSEEN.search(row["id"]) is not None
        counts = 1.0 if unseen else _OF_OTHERS
        sentences = heard.of(row["text"])
        whole = [(rules, _features(text, rules, told=unseen)) for text, rules in sentences]
        halves = []
        if known and len(columns) == 2 and len(sentences) == 2:
            halves = [(whole[0], whole[1])]
        elif known and len(columns) == 2 and len(sentences) == 1:
            text, rules = sentences[0]
            halves = [
                ((rules, _features(before, rules, told=unseen)), (rules, _features(after, rules, told=unseen)))
                for before, after in pieces(text, rules)
            ]
        if halves:
            assert known is not None
            for (rules, features), column in _placed(halves, columns, known):
                found[rules.language].append(Sample(features, (column,), counts))
        if not halves or len(whole) == 1:
            # Of several sentences each may be what the row is labelled with, or state nothing.
            allowed = columns if len(whole) == 1 else tuple(sorted({*columns, PROCESS}))
            for rules, features in whole:
                found[rules.language].append(Sample(features, allowed, counts))
    return found


def bound(of: Sequence[Row]) -> dict[str, list[Sample]]:
    """What is learned, by language, of which decisions are constraints (column 0) and which are not (column 1)."""
    found: dict[str, list[Sample]] = {language: [] for language in LANGUAGES}
    heard = Heard()
    for row in of:
        kinds = [item["kind"] for item in row["items"]]
        if kinds != ["decision"]:
            continue
        unseen = _UNSEEN.search(row["id"]) is not None
        counts = 1.0 if unseen else _OF_OTHERS
        binds = row["items"][0].get("constraint", True if row["case"] == "constraint" else None)
        if binds is None:
            if row["case"] not in _FREE:
                continue
            binds, counts = False, counts * _MOSTLY
        parts = [(rules.language, _features(text, rules, told=unseen)) for text, rules in heard.of(row["text"])]
        if parts:
            features = tuple(sorted({feature for _, part in parts for feature in part}))
            found[parts[0][0]].append(Sample(features, (0 if binds else 1,), counts))
    return found


def twofold(of: Sequence[Row]) -> dict[str, list[Sample]]:
    """What is learned, by language, of which statements are two (column 0) and which are one (column 1)."""
    found: dict[str, list[Sample]] = {language: [] for language in LANGUAGES}
    heard = Heard()
    for row in of:
        kinds = {item["kind"] for item in row["items"]}
        sentences = heard.of(row["text"])
        if kinds and len(sentences) == 1:
            unseen = _UNSEEN.search(row["id"]) is not None
            (text, rules), column = sentences[0], 0 if len(kinds) > 1 else 1
            features = _features(text, rules, told=unseen)
            found[rules.language].append(Sample(features, (column,), 1.0 if unseen else _OF_OTHERS))
    return found


_Part = tuple[Rules, tuple[str, ...]]


def _features(text: str, rules: Rules, *, told: bool) -> tuple[str, ...]:
    """The features of a sentence.

    What the rules say of rows that they were made with says nothing of their worth: only of others it is told.
    """
    features = features_of(ground(text, rules), lexicon_of(rules.language), rules.language)
    return tuple(sorted({*features, *(look(text, rules).signs if told else ())}))


def _placed(
    halves: Iterable[tuple[_Part, _Part]], columns: Sequence[int], known: Mapping[str, Weights]
) -> list[tuple[_Part, int]]:
    """The two parts that are likeliest to be one statement each, and which is which."""

    def likely(part: _Part, column: int) -> float:
        weights = known[part[0].language]
        return math.log(max(1e-12, chances(_totals(part[1], weights))[column]))

    ways = [(parts, order) for parts in halves for order in (tuple(columns), tuple(reversed(columns)))]
    best = max(ways, key=lambda way: sum(map(likely, *way)))
    return list(zip(*best, strict=True))


def _totals(features: Iterable[str], weights: Weights) -> list[float]:
    rows_of = [weights[feature] for feature in (*features, ALWAYS) if feature in weights]
    return [sum(column) for column in zip(*rows_of, strict=True)]


class _Task:
    """The loss of weights over samples, and its slope; the weights of a column stand together."""

    def __init__(self, found: Sequence[Sample]) -> None:
        often = Counter(feature for sample in found for feature in sample.features)
        known = sorted(feature for feature, count in often.items() if count >= LEAST)
        self.names = [ALWAYS, *sorted(known, key=often.__getitem__, reverse=True)]
        place = {name: number for number, name in enumerate(self.names)}
        self.samples = found
        self.places = [[0, *(place[f] for f in sample.features if f in place)] for sample in found]
        self.having: list[list[int]] = [[] for _ in self.names]
        for number, places in enumerate(self.places):
            for one in places:
                self.having[one].append(number)
        self.size = len(self.names)

    def at(self, weights: Sequence[float]) -> tuple[float, list[float]]:
        """Loss and slope at some weights."""
        columns = [weights[start : start + self.size] for start in range(0, len(weights), self.size)]
        totals = [[sum(map(column.__getitem__, places)) for places in self.places] for column in columns]
        loss = 0.0
        wrong: list[list[float]] = [[] for _ in columns]
        for sample, scores in zip(self.samples, zip(*totals, strict=True), strict=True):
            shares = chances(scores)
            allowed = sum(shares[column] for column in sample.columns)
            loss -= sample.counts * math.log(max(1e-300, allowed))
            for column, share in enumerate(shares):
                meant = share / allowed if column in sample.columns else 0.0
                wrong[column].append(sample.counts * (share - meant))
        slope: list[float] = []
        for weights_of, off in zip(columns, wrong, strict=True):
            held = [CALM * weight for weight in weights_of]
            held[0] = 0.0
            loss += _times(held, weights_of) / 2
            slope += [hold + sum(map(off.__getitem__, having)) for hold, having in zip(held, self.having, strict=True)]
        return loss, slope


def fit(found: Sequence[Sample], rounds: int = ROUNDS, columns: int = len(COLUMNS)) -> Weights:
    """Weights by feature, a column each."""
    task = _Task(found)
    weights = lowest(task.at, task.size * columns, rounds, LEFT * len(found))
    parts = [weights[start : start + task.size] for start in range(0, len(weights), task.size)]
    return dict(zip(task.names, zip(*parts, strict=True), strict=True))


def lowest(at: At, size: int, rounds: int, left: float) -> list[float]:
    """The weights at which a loss is lowest: L-BFGS, with steps that are halved until they gain.

    Args:
        at: The loss and its slope at some weights.
        size: How many weights there are.
        rounds: Most rounds.
        left: The slope at which no more is gained.
    """
    weights = [0.0] * size
    loss, slope = at(weights)
    steps: list[tuple[list[float], list[float], float]] = []
    for _ in range(rounds):
        if max(map(abs, slope)) < left:
            break
        way = _way(slope, steps)
        gain = _times(way, slope)
        length = 1.0 if steps else 1 / max(1.0, math.sqrt(_times(slope, slope)))
        while True:
            tried = [weight + length * towards for weight, towards in zip(weights, way, strict=True)]
            new_loss, new_slope = at(tried)
            if new_loss <= loss + 1e-4 * length * gain or length < 1e-6:
                break
            length /= 2
        moved, turned = list(map(sub, tried, weights)), list(map(sub, new_slope, slope))
        bent = _times(moved, turned)
        if bent > 0:
            steps = [*steps[-5:], (moved, turned, bent)]
        weights, loss, slope = tried, new_loss, new_slope
    return weights


def _way(slope: Sequence[float], steps: Sequence[tuple[list[float], list[float], float]]) -> list[float]:
    """Where to go: down the slope, as the last steps say that it bends."""
    way = [-one for one in slope]
    parts = []
    for moved, turned, bent in reversed(steps):
        part = _times(moved, way) / bent
        parts.append(part)
        way = [one - part * other for one, other in zip(way, turned, strict=True)]
    if steps:
        _, turned, bent = steps[-1]
        size = bent / _times(turned, turned)
        way = [size * one for one in way]
    for (moved, turned, bent), part in zip(steps, reversed(parts), strict=True):
        more = part - _times(turned, way) / bent
        way = [one + more * other for one, other in zip(way, moved, strict=True)]
    return way


def _times(one: Sequence[float], other: Sequence[float]) -> float:
    return float(sum(map(mul, one, other)))


def fitted(of: Sequence[Row]) -> dict[str, Weights]:
    """The weights of each language: first of whole sentences, then with the pieces that these tell apart."""
    with ProcessPoolExecutor(len(LANGUAGES)) as pool:
        first = samples(of)
        known = dict(zip(first, pool.map(fit, first.values(), [FIRST] * len(first)), strict=True))
        last = samples(of, known)
        kinds = pool.map(fit, last.values())
        rounds, columns = [ROUNDS] * len(last), [2] * len(last)
        binding = pool.map(fit, bound(of).values(), rounds, columns)
        double = pool.map(fit, twofold(of).values(), rounds, columns)
        return dict(zip(last, map(beside, kinds, binding, double), strict=True))


def beside(kinds: Weights, *others: Weights) -> Weights:
    """All tables as one: of those that have two columns, by how much more speaks for the first."""
    nothing, neither = (0.0,) * len(COLUMNS), (0.0, 0.0)
    features = dict.fromkeys(feature for table in (kinds, *others) for feature in table)
    return {
        feature: (*kinds.get(feature, nothing), *(sub(*table.get(feature, neither)) for table in others))
        for feature in features
    }


def main() -> None:
    """Write the weights of every language beside its markers."""
    for language, weights in fitted(rows("tune")).items():
        lines = write_weights(weights)
        path = FOLDER / f"weights.{language}.tsv"
        path.write_text("\n".join(lines) + "\n", "utf-8")
        print(f"{path.name}: {len(lines) - 1} features")


if __name__ == "__main__":
    main()
