"""Fits the weights of the scale to the labelled half ``tune``: ``python -m tests.extraction.fit``.

Plain multinomial regression, in a fixed order: the same rows give the same files.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import workbench.extraction
from tests.extraction.figures import Row, rows
from workbench.extraction.features import features_of
from workbench.extraction.judge import ground, look
from workbench.extraction.model import PRECEDENCE
from workbench.extraction.prose import masked
from workbench.extraction.rules import LANGUAGES, rules_of
from workbench.extraction.weighing import ALWAYS, COLUMNS, chances, lexicon_of, write_weights

FOLDER = Path(workbench.extraction.__file__).with_name("rules")
ROUNDS, STEP, CALM, LEAST = 25, 0.3, 1.0, 2
"""Passes; length of a step; how strongly weights are held back; in how many rows a feature has to stand."""

_TOLD = 0.5
"""Of how many rows the scale is told what the rules say."""
_UNSEEN = re.compile(r"-r\d+-|^blind-")
"""In the names of rows that were written after the markers."""

Sample = tuple[list[str], int]


def samples(of: Sequence[Row]) -> dict[str, list[Sample]]:
    """Features and column of every row of one sentence with at most one kind, by language."""
    found: dict[str, list[Sample]] = {language: [] for language in LANGUAGES}
    hidden = random.Random(5)
    for row in of:
        kinds = {item["kind"] for item in row["items"]}
        if len(kinds) > 1 or "\n" in row["text"]:
            continue
        rules = rules_of(row["text"])
        text = masked(row["text"]).replace("\u2019", "'")
        features = features_of(ground(text, rules), lexicon_of(rules.language), rules.language)
        seen = look(text, rules)
        # The markers were made with the older rows in view: what they say of those says nothing. Of the others what
        # they say is told for one of two, for these have corrected markers since, and a stranger's words have not.
        told = hidden.random() < _TOLD
        signs = seen.signs if seen and told and _UNSEEN.search(row["id"]) else ()
        column = next((COLUMNS.index(kind) for kind in PRECEDENCE if kind in kinds), COLUMNS.index(None))
        found[rules.language].append((sorted({*features, *signs}), column))
    return found


def fit(found: Sequence[Sample]) -> Mapping[str, Sequence[float]]:
    """Weights by feature, a column each."""
    often = Counter(feature for features, _ in found for feature in features)
    known = [([f for f in features if often[f] >= LEAST] + [ALWAYS], column) for features, column in found]
    weights = {feature: [0.0] * len(COLUMNS) for features, _ in known for feature in features}
    moved = {feature: [1e-6] * len(COLUMNS) for feature in weights}
    order = random.Random(3)
    for _ in range(ROUNDS):
        order.shuffle(known)
        for features, column in known:
            totals = [sum(column_of) for column_of in zip(*(weights[f] for f in features), strict=True)]
            slopes = chances(totals)
            slopes[column] -= 1
            for feature in features:
                weight, distance = weights[feature], moved[feature]
                calm = 0.0 if feature == ALWAYS else CALM / often[feature]
                for place, slope in enumerate(slopes):
                    slope += calm * weight[place]
                    distance[place] += slope * slope
                    weight[place] -= STEP * slope / math.sqrt(distance[place])
    return weights


def main() -> None:
    """Write the weights of every language beside its markers."""
    for language, found in samples(rows("tune")).items():
        lines = write_weights(fit(found))
        path = FOLDER / f"weights.{language}.tsv"
        path.write_text("\n".join(lines) + "\n", "utf-8")
        print(f"{path.name}: {len(lines) - 1} features from {len(found)} rows")


if __name__ == "__main__":
    main()
