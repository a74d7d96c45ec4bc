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
_CAMEL = re.compile(r"[A-Z](?<=[a-z0-9].)", re.DOTALL)
_STOP_WORDS = (
    "a an the i you he she it we they is are was were be been to of in on at for and or but with that this my your "
    "me do does did can could will would should what when where how please ok yes no not have has had there any as "
    "from by about so if then than into its"
)
_STOP = frozenset(_STOP_WORDS.split())
_PLAIN = {code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)}
"""What splitting at blanks needs to find the same words in a text of ASCII as the pattern, several times as fast."""


def words(text: str) -> list[str]:
    """Words of a text: runs of letters and digits, parts of camelCase names, pairs of CJK characters."""
    return [word for word in _all_words(text) if word not in _STOP]


def _all_words(text: str) -> list[str]:
    text = text[:_LIMIT]
    if text.isascii():
        if text != text.lower():
            text = _CAMEL.sub(r" \g<0>", text)
        return text.translate(_PLAIN).split()
    text = unicodedata.normalize("NFKC", text)
    found: list[str] = []
    for word in _WORD.findall(_CAMEL.sub(r" \g<0>", text).casefold()):
        if not word.isascii() and _CJK.match(word):
            found.extend([word[i : i + 2] for i in range(len(word) - 1)] or [word])
        else:
            found.append(word)
    return found


def scores(query: str, texts: Sequence[str]) -> list[int]:
    """How well each text matches: the best gets 100, one without a word of the query 0."""
    wanted = sorted(set(words(query)))
    if not wanted or not texts:
        return [0] * len(texts)
    counted = _STOP.union(wanted)
    lengths: list[int] = []
    hits: list[dict[str, int]] = []
    for text in texts:
        found = _all_words(text)
        length = len(found)
        hit: dict[str, int] = {}
        for word in filter(counted.__contains__, found):
            if word in _STOP:
                length -= 1
            else:
                hit[word] = hit.get(word, 0) + 1
        lengths.append(length)
        hits.append(hit)
    mean = sum(lengths) / len(texts) or 1.0
    number = Counter(word for hit in hits for word in hit)
    weight = {
        word: math.log(1 + (len(texts) - number[word] + 0.5) / (number[word] + 0.5)) for word in wanted if number[word]
    }
    raw = [_score(hit, length / mean, weight) for hit, length in zip(hits, lengths, strict=True)]
    best = max(raw)
    # Rounded to whole numbers: a last digit that differs between machines must not change a package.
    return [round(100 * value / best) if best > 0 else 0 for value in raw]


def _score(hit: dict[str, int], length: float, weight: dict[str, float]) -> float:
    around, score = K1 * (1 - B + B * length), 0.0
    for word in sorted(hit):
        score += weight[word] * hit[word] * (K1 + 1) / (hit[word] + around)
    return score
