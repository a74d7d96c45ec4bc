"""Fits what speaks for two statements in a sentence: ``python -m tests.extraction.apart`` prints the numbers.

Sentences that the scale was fitted to lean more clearly than those of tomorrow. So it is fitted to three quarters of
the half ``tune`` at a time, and where the other quarter would be cut, and whether rightly, is what is learned from.
What it prints stands in :mod:`workbench.extraction.judge`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from operator import mul
from typing import NamedTuple
from unittest.mock import patch

from tests.extraction.figures import Row, rows
from tests.extraction.fit import Heard, fitted
from workbench.extraction import judge
from workbench.extraction.judge import best_cut
from workbench.extraction.weighing import Scale, write_weights

PARTS, CALM = 4, 1.0
ROUNDS = 12
_BOUND = 30.0


class Seen(NamedTuple):
    """A place at which a sentence would be cut."""

    grounds: tuple[float, ...]
    """What speaks for it, and one more that always does."""
    right: bool


def seen(of: Iterable[Row]) -> Iterator[Seen]:
    """Where rows of one sentence would be cut, and whether they are labelled with just these two statements."""
    heard = Heard()
    for row in of:
        sentences = heard.of(row["text"])
        cut = best_cut(*sentences[0]) if len(sentences) == 1 else None
        if cut is not None:
            grounds = (*(lead / 100 for lead in cut.leads), *map(float, cut.signs), 1.0)
            yield Seen(grounds, {item["kind"] for item in row["items"]} == set(cut.kinds))


def unseen(of: Sequence[Row]) -> Iterator[Seen]:
    """The same of all rows, each by a scale that was fitted without it."""
    for part in range(PARTS):
        weights = fitted([row for number, row in enumerate(of) if number % PARTS != part])
        scales = {language: Scale.of(language, write_weights(table)) for language, table in weights.items()}
        with patch.object(judge, "scale_of", scales.__getitem__):
            yield from seen(row for number, row in enumerate(of) if number % PARTS == part)


def fit(found: Sequence[Seen]) -> list[float]:
    """Logistic regression, by Newton's steps."""
    size = len(found[0].grounds)
    weights = [0.0] * size
    for _ in range(ROUNDS):
        slope = [CALM * weight for weight in weights[:-1]] + [0.0]
        bend = [[CALM * (row == column < size - 1) for column in range(size)] for row in range(size)]
        for grounds, right in found:
            score = max(-_BOUND, min(_BOUND, sum(map(mul, weights, grounds))))
            share = 1 / (1 + math.exp(-score))
            for row, ground in enumerate(grounds):
                slope[row] += (share - right) * ground
                for column, other in enumerate(grounds):
                    bend[row][column] += share * (1 - share) * ground * other
        weights = [weight - step for weight, step in zip(weights, _solved(bend, slope), strict=True)]
    return weights


def _solved(rows_of: Sequence[Sequence[float]], wanted: Sequence[float]) -> list[float]:
    """The solution of linear equations whose matrix is symmetric and positive: by elimination."""
    left = [[*row, value] for row, value in zip(rows_of, wanted, strict=True)]
    for place, pivot in enumerate(left):
        left[place] = pivot = [value / pivot[place] for value in pivot]
        for other, row in enumerate(left):
            if other != place:
                left[other] = [value - row[place] * of for value, of in zip(row, pivot, strict=True)]
    return [row[-1] for row in left]


def main() -> None:
    """Print the numbers of the judge, in hundredths, and the share of cuts that would be right by the score."""
    of = rows("tune")
    random.Random(1).shuffle(of)
    found = list(unseen(of))
    weights = fit(found)
    *said, always = (round(100 * weight) for weight in weights)
    print(f"LEADS_APART = {tuple(said[: len(judge.LEADS_APART)])}")
    print(f"SIGNS_APART = {tuple(said[len(judge.LEADS_APART) :])}")
    print(f"as many are right as wrong at {-always}")
    all_right = sum(one.right for one in found)
    for least in range(-200 - always, 101 - always, 50):
        taken = [right for grounds, right in found if 100 * sum(map(mul, weights, grounds)) - always >= least]
        print(f"from {least:5} on: {sum(taken)} of {all_right} found, {len(taken) - sum(taken)} wrong")


if __name__ == "__main__":
    main()
