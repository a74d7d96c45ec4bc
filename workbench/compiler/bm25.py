"""BM25 over the candidates of one task, as whole numbers from 0 to 100."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

K1, B = 1.2, 0.75
_LIMIT = 4000
"""Characters of a text that are looked at."""
_WORD = re.compile(
    "[a-z0-9]+|[^\\W\\d_a-z\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff]+|[\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff]+"
)
_CJK = re.compile("[\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff]")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_STOP_WORDS = (
    "a an the i you he she it we they is are was were be been to of in on at for and or but with that this my your "
    "me do does did can could will would should what when where how please ok yes no not have has had there any as "
    "from by about so if then than into its"
)
_STOP = frozenset(_STOP_WORDS.split())


def words(text: str) -> list[str]:
    """Words of a text: runs of letters and digits, parts of camelCase names, pairs of CJK characters."""
    text = text[:_LIMIT]
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    found: list[str] = []
    for word in _WORD.findall(_CAMEL.sub(" ", text).casefold()):
        if not word.isascii() and _CJK.match(word):
            found.extend([word[i : i + 2] for i in range(len(word) - 1)] or [word])
        elif word not in _STOP:
            found.append(word)
    return found


def scores(query: str, texts: Sequence[str]) -> list[int]:
    """How well each text matches: the best gets 100, one without a word of the query 0."""
    wanted = sorted(set(words(query)))
    if not wanted or not texts:
        return [0] * len(texts)
    asked = frozenset(wanted)
    lengths: list[int] = []
    hits: list[Counter[str]] = []
    for text in texts:
        found = words(text)
        lengths.append(len(found))
        hits.append(Counter(word for word in found if word in asked))
    mean = sum(lengths) / len(texts) or 1.0
    number = Counter(word for hit in hits for word in hit)
    weight = {
        word: math.log(1 + (len(texts) - number[word] + 0.5) / (number[word] + 0.5)) for word in wanted if number[word]
    }
    raw = [_score(hit, length / mean, weight) for hit, length in zip(hits, lengths, strict=True)]
    best = max(raw)
    # Rounded to whole numbers: a last digit that differs between machines must not change a package.
    return [round(100 * value / best) if best > 0 else 0 for value in raw]


def _score(hit: Counter[str], length: float, weight: dict[str, float]) -> float:
    return sum(
        weight[word] * times * (K1 + 1) / (times + K1 * (1 - B + B * length)) for word, times in sorted(hit.items())
    )
