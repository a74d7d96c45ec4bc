"""Fits what sentences say of their neighbours, and what speaks for two: ``python -m tests.extraction.context``.

Sentences that the scale was fitted to lean more clearly than those of tomorrow. So it is fitted to three quarters of
the half ``tune`` at a time, and how the sentences of the other quarter lean is what is learned from. It writes
``rules/around.toml``, and prints the numbers that stand in :mod:`workbench.extraction.judge`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from operator import mul
from typing import NamedTuple
from unittest.mock import patch

from tests.extraction.figures import Row, rows
from tests.extraction.fit import FOLDER, PROCESS, Heard, fitted, lowest
from workbench.extraction import judge
from workbench.extraction.judge import KINDS_APART, LEADS_APART, SIGNS_APART, cuts_of, weigh
from workbench.extraction.look import look
from workbench.extraction.model import PRECEDENCE
from workbench.extraction.rules import LANGUAGES
from workbench.extraction.weighing import COLUMNS, Scale, chances, write_weights

PARTS, CALM, ROUNDS = 4, 1.0, 80
_PAIRS = list(KINDS_APART)
_LEADS, _SIGNS = len(LEADS_APART), len(SIGNS_APART)
_UNLIKELY = 1e-9


class Choice(NamedTuple):
    """A sentence that may be cut."""

    grounds: list[tuple[float, ...]]
    """What speaks for each way to cut it."""
    pairs: list[int]
    """Which kinds the two would be then."""
    right: list[bool]
    """Whether it is labelled with just these; none of them where it is to stay whole."""


class Sentence(NamedTuple):
    """A sentence beside others."""

    scores: list[float]
    """What it leans to by itself."""
    around: list[float]
    """How likely each kind is of the one before, and of the one after it: nought where there is none."""


class Paragraph(NamedTuple):
    """Sentences that were said one after the other, and the columns that they are labelled with."""

    language: str
    sentences: list[Sentence]
    columns: frozenset[int]


def seen(of: Iterable[Row]) -> Iterator[Choice | Paragraph]:
    """Rows of several sentences, and those that might be cut."""
    heard = Heard()
    for row in of:
        kinds = {item["kind"] for item in row["items"]}
        sentences = heard.of(row["text"])
        if len(sentences) == 1:
            if cuts := cuts_of(*sentences[0]):
                right = [kinds == set(cut.kinds) for cut in cuts]
                pairs = [_PAIRS.index(cut.kinds) for cut in cuts]
                yield Choice([(*cut.leads, *map(float, cut.signs)) for cut in cuts], pairs, right)
        elif sentences:
            leanings = [weigh(text, rules) for text, rules in sentences]
            none = [0.0] * len(PRECEDENCE)
            shares = [none, *(one.shares[: len(none)] for one in leanings), none]
            told = [
                judge.scale_of(rules.language).further(leaning, look(text, rules).signs)
                for leaning, (text, rules) in zip(leanings, sentences, strict=True)
            ]
            beside = [before + after for before, after in zip(shares, shares[2:], strict=False)]
            found = [
                Sentence([score / 100 for score in one.scores.values()], around)
                for one, around in zip(told, beside, strict=True)
            ]
            columns = frozenset(number for number, kind in enumerate(COLUMNS) if kind in kinds)
            yield Paragraph(sentences[0][1].language, found, columns)


def unseen(of: Sequence[Row]) -> Iterator[Choice | Paragraph]:
    """The same of all rows, each by a scale that was fitted without it."""
    for part in range(PARTS):
        weights = fitted([row for number, row in enumerate(of) if number % PARTS != part])
        scales = {language: Scale.of(language, write_weights(table)) for language, table in weights.items()}
        with patch.object(judge, "scale_of", scales.__getitem__):
            yield from seen(row for number, row in enumerate(of) if number % PARTS == part)


def apart(found: Sequence[Choice]) -> list[float]:
    """What speaks for cutting: of leads and signs, then of each two kinds."""
    dense = _LEADS + _SIGNS
    known = [one for one in found if any(one.right)]
    whole = [one for one in found if not any(one.right)]

    def at(weights: Sequence[float]) -> tuple[float, list[float]]:
        loss, slope = _held(weights)
        own, bias = weights[:dense], weights[dense:]
        for one in (*known, *whole):
            scores = [
                sum(map(mul, own, grounds)) + bias[pair] for grounds, pair in zip(one.grounds, one.pairs, strict=True)
            ]
            shares = chances([0.0, *scores])
            meant = [share * right for share, right in zip(shares, (False, *one.right), strict=True)]
            if not any(one.right):
                meant[0] = shares[0]
            right = max(_UNLIKELY, sum(meant))
            loss -= math.log(right)
            for share, wanted, grounds, pair in zip(shares[1:], meant[1:], one.grounds, one.pairs, strict=True):
                off = share - wanted / right
                slope[dense + pair] += off
                for number, ground in enumerate(grounds):
                    slope[number] += off * ground
        return loss, slope

    return lowest(at, dense + len(_PAIRS), ROUNDS, 1e-5 * len(found))


def around(found: Sequence[Paragraph]) -> list[float]:
    """What the sentence before and the one after say of one: a row of columns for each kind of theirs.

    Of one that states nothing no row is learned: that somebody said *OK* besides makes no work of a fact.
    """
    wide = len(COLUMNS)

    def at(weights: Sequence[float]) -> tuple[float, list[float]]:
        loss, slope = _held(weights)
        rows_of = [weights[start : start + wide] for start in range(0, len(weights), wide)]
        for paragraph in found:
            shares = []
            for own, beside in paragraph.sentences:
                scores = list(own)
                for share, row in zip(beside, rows_of, strict=True):
                    if share:
                        scores = [score + share * weight for score, weight in zip(scores, row, strict=True)]
                shares.append(chances(scores))
            likely, slopes = _likely(shares, paragraph.columns)
            loss -= math.log(likely)
            for (_, beside), off in zip(paragraph.sentences, slopes, strict=True):
                for number, share in enumerate(beside):
                    if share:
                        for column, one in enumerate(off):
                            slope[number * wide + column] -= share * one
        return loss, slope

    return lowest(at, 2 * len(PRECEDENCE) * wide, ROUNDS, 1e-5 * len(found))


def _likely(shares: Sequence[Sequence[float]], columns: frozenset[int]) -> tuple[float, list[list[float]]]:
    """How likely sentences together state just these kinds; and how its logarithm depends on their scores."""
    total = 0.0
    by_share = [[0.0] * len(one) for one in shares]
    for size in range(len(columns) + 1):
        for some in combinations(sorted(columns), size):
            allowed = (*some, PROCESS)
            each = [sum(one[column] for column in allowed) for one in shares]
            sign = (-1) ** (len(columns) - size)
            total += sign * math.prod(each)
            for place, by in enumerate(by_share):
                others = sign * math.prod(each[:place] + each[place + 1 :])
                for column in allowed:
                    by[column] += others
    total = max(_UNLIKELY, total)
    slopes = []
    for one, by in zip(shares, by_share, strict=True):
        mean = sum(map(mul, one, by))
        slopes.append([share * (of - mean) / total for share, of in zip(one, by, strict=True)])
    return total, slopes


def _held(weights: Sequence[float]) -> tuple[float, list[float]]:
    """What weights cost by themselves, and its slope."""
    return CALM * sum(map(mul, weights, weights)) / 2, [CALM * weight for weight in weights]


def table_of(fits: Mapping[str, Sequence[float]]) -> str:
    """The lines of ``around.toml``."""
    wide = len(COLUMNS)
    lines = [
        "# What the sentence before one, or after it, says of it, by the kind that it leans to: in hundredths, for",
        "# each kind and process, as the columns of the weights. Fitted: python -m tests.extraction.context.",
    ]
    for language, weights in fits.items():
        for where, first in (("before", 0), ("after", len(PRECEDENCE))):
            lines += ["", f"[{language}.{where}]"]
            for number, kind in enumerate(PRECEDENCE):
                start = (first + number) * wide
                lines.append(f"{kind} = {[round(100 * one) for one in weights[start : start + wide]]}")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write what is said around; print the numbers of the judge, in hundredths."""
    of = rows("tune")
    random.Random(1).shuffle(of)
    found = list(unseen(of))
    paragraphs = [one for one in found if isinstance(one, Paragraph)]
    fits = {language: around([one for one in paragraphs if one.language == language]) for language in LANGUAGES}
    (FOLDER / "around.toml").write_text(table_of(fits), "utf-8")
    said = [round(100 * weight) for weight in apart([one for one in found if isinstance(one, Choice)])]
    print(f"LEADS_APART = {tuple(said[:_LEADS])}")
    print(f"SIGNS_APART = {tuple(said[_LEADS : _LEADS + _SIGNS])}")
    print(f"KINDS_APART = {dict(zip(_PAIRS, said[_LEADS + _SIGNS :], strict=True))}")


if __name__ == "__main__":
    main()
