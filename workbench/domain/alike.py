"""Whether two texts, or two keys, look like the same thing named twice: grounds for an offer, never for a merge.

Every measure of likeness takes ``port 8080`` for ``port 9090``, so what tells two things apart is looked
at first: numbers, a negation, names (``domain.md``, Fact).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

LIKE_TEXT = 88.0
"""Likeness (0 to 100) from which two texts are offered as one."""
LIKE_PART = 83.0
"""The same for a part of a key: *colour* is like *color*, *light* is not like *night*."""
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NEGATION = re.compile(
    r"\b(?:no|not|never|none|without|cannot|nor|neither|except|instead|skip|stop|avoid)\b|n['’]t\b|[不没無无勿别非未禁]",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"\b(?:a|an|the)\s+")
_WORD = re.compile(r"[^\W_]+(?:[._/\-:@#][^\W_]+)*")
_TURNED = ("un", "dis", "de", "non", "in", "en")
_OPPOSITES = (
    "add/remove open/close start/stop show/hide enable/disable before/after first/last min/max light/dark on/off "
    "up/down left/right old/new read/write import/export"
)
_OPPOSITE = frozenset(frozenset(pair.split("/")) for pair in _OPPOSITES.split())
_KEY_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")


def plain(text: str) -> str:
    """A text in the form in which items are compared: NFKC, one case, single blanks, no closing stop."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(" .。;；!！")


def names_in(text: str) -> frozenset[str]:
    """Words that name one certain thing: paths, identifiers, and capitalised words within a sentence."""
    words = list(_WORD.finditer(text))
    return frozenset(
        match.group().casefold()
        for number, match in enumerate(words)
        if re.search(r"[._/\-:@#\d]|[a-z][A-Z]|[A-Z]{2}", match.group()) or (number > 0 and match.group()[0].isupper())
    )


def told_apart(one: str, other: str) -> bool:
    """Whether something certain tells two texts apart: numbers, a negation, opposite words, names."""
    if Counter(_NUMBER.findall(one)) != Counter(_NUMBER.findall(other)):
        return True
    if _negations(one) != _negations(other):
        return True
    return names_in(one) != names_in(other) or _opposed(one, other)


def _negations(text: str) -> Counter[str]:
    return Counter(found.casefold() for found in _NEGATION.findall(text))


def _opposed(one: str, other: str) -> bool:
    mine, theirs = set(_WORD.findall(one.casefold())), set(_WORD.findall(other.casefold()))
    for word in mine - theirs:
        for against in theirs - mine:
            if frozenset((word, against)) in _OPPOSITE:
                return True
            longer, shorter = (word, against) if len(word) > len(against) else (against, word)
            if any(longer == turn + shorter for turn in _TURNED):
                return True
    return False


def alike(one: str, other: str) -> bool:
    """Whether two texts look like one, and nothing certain tells them apart."""
    first, second = (_ARTICLE.sub("", plain(text)) for text in (one, other))
    if first == second:
        return True
    if told_apart(one, other):
        return False
    from rapidfuzz import fuzz  # loaded only where texts are compared: start-up counts

    return max(fuzz.ratio(first, second), fuzz.token_sort_ratio(first, second)) >= LIKE_TEXT


def key_parts(key: str) -> tuple[str, ...]:
    """The words of a key, whatever its spelling: ``serverPort``, ``server-ports``, ``server.port``."""
    words = (part.casefold() for part in _KEY_PART.findall(unicodedata.normalize("NFKC", key)))
    return tuple(word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
                 for word in words)  # fmt: skip


def alike_keys(key: str, others: Iterable[str], most: int = 3) -> tuple[str, ...]:
    """The keys among ``others`` that look like ``key``, the nearest first; an equal one is none of them."""
    from rapidfuzz import fuzz

    mine = key_parts(key)
    found: list[tuple[float, str]] = []
    for other in others:
        if other == key:
            continue
        theirs = key_parts(other)
        if sorted(mine) == sorted(theirs):
            found.append((100.0, other))
        elif len(mine) == len(theirs) and not told_apart(" ".join(mine), " ".join(theirs)):
            pairs = [(a, b) for a, b in zip(mine, theirs, strict=True) if a != b]
            likeness = min(fuzz.ratio(a, b) for a, b in pairs)
            if len(pairs) == 1 and likeness >= LIKE_PART and min(len(pairs[0][0]), len(pairs[0][1])) > 3:
                found.append((likeness, other))
    return tuple(other for _, other in sorted(found, key=lambda pair: (-pair[0], pair[1]))[:most])
