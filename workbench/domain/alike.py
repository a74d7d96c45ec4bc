"""Whether two texts, or two keys, look like the same thing named twice: grounds for an offer, never for a merge.

Every measure of likeness takes ``port 8080`` for ``port 9090``, so what tells two things apart is looked
at first: numbers, a negation, names (``domain.md``, Fact).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

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
    if negations(one) != negations(other):
        return True
    return names_in(one) != names_in(other) or _opposed(one, other)


def negations(text: str) -> Counter[str]:
    """The words of a text that turn it around, and how often."""
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
    return bool(alike_pairs((one,), (other,)))


def alike_pairs(ones: Sequence[str], others: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """The places of texts in two lists that look like one; quick where few do."""
    if not ones or not others:
        return ()
    from rapidfuzz import fuzz  # loaded only where texts are compared: start-up counts

    forms = [[_form(text) for text in texts] for texts in (ones, others)]
    return tuple(
        (i, j)
        for i, (text, words) in enumerate(forms[0])
        for j, (against, its_words) in enumerate(forms[1])
        if text == against
        or (
            (fuzz.ratio(text, against) >= LIKE_TEXT or fuzz.ratio(words, its_words) >= LIKE_TEXT)
            and not told_apart(ones[i], others[j])
        )
    )


class Alikes:
    """Texts among which one that looks like another is found at once, however many there are."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._texts: list[str] = []
        self._forms: tuple[list[str], list[str]] = ([], [])
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """One more."""
        self._texts.append(text)
        for forms, form in zip(self._forms, _form(text), strict=True):
            forms.append(form)

    def has(self, text: str) -> bool:
        """Whether one of them looks like ``text``, and nothing certain tells the two apart: as :func:`alike` says."""
        if not self._texts:
            return False
        from rapidfuzz import fuzz, process  # loaded only where texts are compared: start-up counts

        own = _form(text)
        return any(
            self._forms[0][place] == own[0] or not told_apart(text, self._texts[place])
            for forms, form in zip(self._forms, own, strict=True)
            for _, _, place in process.extract_iter(form, forms, scorer=fuzz.ratio, score_cutoff=LIKE_TEXT)
        )


@lru_cache(maxsize=1024)
def _form(text: str) -> tuple[str, str]:
    """A text as it is compared: as it stands, and with its words in order."""
    bare = _ARTICLE.sub("", plain(text))
    return bare, " ".join(sorted(bare.split()))


def key_parts(key: str) -> tuple[str, ...]:
    """The words of a key, whatever its spelling: ``serverPort``, ``server-ports``, ``server.port``."""
    words = (part.casefold() for part in _KEY_PART.findall(unicodedata.normalize("NFKC", key)))
    return tuple(word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
                 for word in words)  # fmt: skip


def alike_keys(key: str, others: Iterable[str], most: int = 3) -> tuple[str, ...]:
    """The keys among ``others`` that look like ``key``, the nearest first; an equal one is none of them."""
    mine = key_parts(key)
    found: list[tuple[float, str]] = []
    for other in _candidates(mine, [other for other in others if other != key]):
        theirs = key_parts(other)
        if sorted(mine) == sorted(theirs) or "".join(mine) == "".join(theirs):
            found.append((100.0, other))
        elif len(mine) == len(theirs) and not told_apart(" ".join(mine), " ".join(theirs)):
            pairs = [(a, b) for a, b in zip(mine, theirs, strict=True) if a != b]
            if len(pairs) == 1 and min(map(len, pairs[0])) > 3:
                from rapidfuzz import fuzz  # loaded only where texts are compared: start-up counts

                likeness = fuzz.ratio(*pairs[0])
                if likeness >= LIKE_PART:
                    found.append((likeness, other))
    return tuple(other for _, other in sorted(found, key=lambda pair: (-pair[0], pair[1]))[:most])


_SEPARATORS = {ord(c): None for c in "._-/:s"}
"""What spellings of a key differ in, and the ending of a plural."""


def _candidates(mine: tuple[str, ...], others: list[str]) -> list[str]:
    """The keys that are worth taking apart: quick looks at all of them, which leave out none that is alike."""
    lower = [other.lower() for other in others]
    shared = [0] * len(others)
    for part in mine if len(mine) > 1 else ():
        for number, other in enumerate(lower):
            if part in other:
                shared[number] += 1
    most = max(1, len(mine) - 1)
    one = "".join(mine).translate(_SEPARATORS)
    bare = "\n".join(lower).translate(_SEPARATORS).split("\n") if lower else []
    return [
        other
        for other, parts, two in zip(others, shared, bare, strict=True)
        if parts >= most
        or one == two
        or (len(mine) == 1 and 2 * abs(len(one) - len(two)) <= len(one) + 2)
        or not other.isascii()
    ]


def same_words(keys: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Pairs of keys that are the same words, spelled or ordered another way; linear in the keys."""
    spelled: dict[object, list[str]] = {}
    for key in sorted(set(keys)):
        parts = key_parts(key)
        for spelling in {"".join(parts), tuple(sorted(parts))}:
            spelled.setdefault(spelling, []).append(key)
    return tuple(sorted({(group[0], other) for group in spelled.values() for other in group[1:]}))
