"""Whether a later statement goes against an earlier one, where neither names a key under which they would meet.

Precision comes first: they must be about the same thing in the same words, and one must turn it around, by a negation
or an opposite. Only what opens by taking something back may differ more (``domain.md``: the person's later words).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from workbench.extraction.narrowing import said_of_others
from workbench.extraction.sentences import is_han
from workbench.extraction.signs import HAN, full_commas, small

KEPT, TURNS, TAKES_BACK = 0, 1, 2
"""How a sentence opens: saying nothing of what was said before, speaking of a change, or taking something back."""
_OPENERS = 4
"""Openings that may stand one after the other: *no, wait, that's wrong*."""
_LONGEST = 240
"""Characters of a statement beyond which it says too much to be set against another."""
_BREAK = r"\s*(?:[,:;.!，：；。！…]|\s[-–—]+\s|[–—]|$)[\s,:;.!，：；。！…]*"
_WORD = re.compile(r"[a-z0-9]+(?:[._/@#:+-][a-z0-9]+)*")
_UNDONE = re.compile(r"un(?!i[ft])([a-z]{3,}ed)")
_FRAME = re.compile(r" after all\b|(?<=\bdecided )that |(?<=\bagreed )that ")
"""Says how something is meant, and names nothing."""
_HAN_RUN = re.compile(f"[{HAN}]+")
_ENDINGS = ("ing", "ed", "es", "s", "e")


@dataclass(frozen=True)
class Clause:
    """A part of a statement: what it is about, and whether that is to be or not."""

    units: frozenset[str] = frozenset()
    """What it names: words by their stems, Chinese characters one by one, ``@n`` for words that have opposites."""
    anchors: frozenset[str] = frozenset()
    """Of these what tells a thing: words, and two characters in a row."""
    sides: tuple[tuple[str, int], ...] = ()
    negative: bool = False
    narrowed: bool = False
    beside: bool = False
    """It says what may be, or is supported: another may be, too."""


@dataclass(frozen=True)
class Stance:
    """A statement as it is set against others."""

    language: str
    opening: int
    clauses: tuple[Clause, ...]
    permits: bool = False

    @property
    def anchors(self) -> frozenset[str]:
        """By what a statement about the same thing is found."""
        return frozenset().union(*(clause.anchors for clause in self.clauses))

    @property
    def units(self) -> frozenset[str]:
        """All that it names."""
        return frozenset().union(*(clause.units for clause in self.clauses))


class _Words:
    """The words of a language, from its data."""

    def __init__(self, language: str) -> None:
        data = tomllib.loads((files(__package__) / "rules" / "opposing.toml").read_text("utf-8"))[language]
        self.takes_back = re.compile(data["takes_back"] + _BREAK)
        self.turns = re.compile(rf"{data['turns']}{_BREAK}|(?:{data['soft']})[\s,，]*")
        self.ends = re.compile(data["ends"])
        self.parts = re.compile(data["parts"])
        self.reasons = re.compile(data["reasons"])
        self.vague = frozenset(map(_stem, data["vague"].split()))
        self.sides = {
            word: (f"@{number}", side)
            for number, pair in enumerate(data["opposites"])
            for side, words in enumerate(pair)
            for word in words.split()
        }
        self.chinese = language == "zh"
        self.permits = re.compile(data["permits"])
        self.beside = re.compile(data["beside"])
        self.any = frozenset(map(_stem, data["any"].split()))
        self.names = frozenset(data["names"].split())
        given: Any = [data[name] for name in ("negates", "narrows", "points", "weightless")]
        if self.chinese:
            self.negates, self.narrows, self.points, self.weightless = map(re.compile, given)
            self.settles = re.compile(data["settles"])
            self.paired = re.compile("|".join(sorted(self.sides, key=len, reverse=True)))
        else:
            self.not_ = frozenset(given[0])
            self.narrows = re.compile(r"\b(?:" + "|".join(given[1]) + r")\b")
            self.points = re.compile(r"\b(?:" + "|".join(given[2]) + r")\b")
            self.light = frozenset(given[3].split())
            self.settling = frozenset(data["settles"].split())


@cache
def _words(language: str) -> _Words:
    return _Words(language)


def prepare() -> None:
    """Read now what is else read when the first sentence asks for it."""
    for language in ("en", "zh"):
        _words(language)


def opening(text: str) -> int:
    """How a sentence opens: :data:`KEPT`, :data:`TURNS` or :data:`TAKES_BACK`."""
    return _opened(_lowered(text), _words("zh" if is_han(text) else "en"))[0]


def is_only_opening(text: str) -> bool:
    """Whether a sentence takes something back and says no more: what it means comes with the next."""
    return opening(text) == TAKES_BACK and not beyond_opening(text)


def beyond_opening(text: str) -> str:
    """What a sentence says once it has taken something back; in small letters."""
    return _opened(_lowered(text), _words("zh" if is_han(text) else "en"))[1]


def permits(text: str) -> bool:
    """Whether a sentence only lifts what was forbidden: *you may change it now*, *it's fine to push*, *可以改了*."""
    if len(text) > _LONGEST or text.endswith(("?", "？")):
        return False
    return _permitted(beyond_opening(text), _words("zh" if is_han(text) else "en")) is not None


def _permitted(text: str, words: _Words) -> str | None:
    """What a sentence says may be done from now on."""
    match = words.permits.match(text)
    return " ".join(part for part in match.groups() if part) if match else None


def _lowered(text: str) -> str:
    return full_commas(small(text).replace("\u2019", "'")).strip().strip("*_-•> ")


def _opened(text: str, words: _Words) -> tuple[int, str]:
    how = KEPT
    for _ in range(_OPENERS):
        if match := words.takes_back.match(text):
            how = TAKES_BACK
        elif match := words.turns.match(text):
            how = max(how, TURNS)
        else:
            break
        text = text[match.end() :]
    return how, text


@lru_cache(maxsize=4096)
def anchors(text: str) -> tuple[str, ...]:
    """By what a statement about the same thing is found: asked of all that is known, of which few are looked at."""
    return tuple(stance(text).anchors)


@lru_cache(maxsize=512)
def stance(text: str) -> Stance:
    """A statement as it is set against others; what is long or has no clear words names nothing."""
    language = "zh" if is_han(text) else "en"
    words = _words(language)
    how, rest = _opened(_lowered(text), words)
    if len(rest) > _LONGEST:
        return Stance(language, how, ())
    read = _chinese if words.chinese else _english
    permitted = _permitted(rest, words)
    rest = rest if permitted is None else permitted
    pieces = words.parts.split(words.reasons.sub("", _FRAME.sub("", rest)))
    clauses = tuple(clause for piece in pieces for clause in read(piece, words))
    if len(clauses) > 1:  # *nine, not ten*: a piece of a sentence says nothing by itself
        clauses = tuple(clause for clause in clauses if _size(clause.units) >= 2)
    elif how == KEPT and words.ends.search(rest):
        how = TURNS
    return Stance(language, how, clauses, permitted is not None)


def _english(piece: str, words: _Words) -> Iterator[Clause]:
    plain = re.sub(r"n't\b|\bcan't\b", " not", piece)
    found: dict[str, tuple[str, int] | None] = {}
    negations = 0
    said = _WORD.findall(plain.replace("'", " "))
    for place, word in enumerate(said):
        if word in words.not_:
            negations += 1
        elif undone := _UNDONE.fullmatch(word):
            negations += 1
            found[_stem(undone[1])] = None
        elif word in words.sides and not _names(said, place, words):
            found[words.sides[word][0]] = words.sides[word]
        elif word not in words.light:
            found[_stem(word)] = None
    told = frozenset(word for word in found if word[0].isalpha())
    yield from _clause(frozenset(found), told - words.vague, found.values(), negations, plain, words)


def _names(said: list[str], place: int, words: _Words) -> bool:
    """Whether a word that has an opposite says which thing is meant: *hidden fields are exported*."""
    if said[place] not in words.names or place + 1 == len(said):
        return False
    after = said[place + 1]
    names = after not in words.light and after not in words.not_ and after not in words.sides
    return names and not words.settling.intersection(said[:place])


def _names_in_chinese(match: re.Match[str], rest: str, words: _Words) -> bool:
    after = rest[match.end() :]
    if after.startswith("的"):
        return True
    return match[0] in words.names and not rest[: match.start()].strip() and words.settles.search(after) is not None


def _chinese(piece: str, words: _Words) -> Iterator[Clause]:
    rest, negations = words.negates.subn(" ", piece)
    told = [match for match in words.paired.finditer(rest) if not _names_in_chinese(match, piece, words)]
    sides = [words.sides[match[0]] for match in told]
    for match in reversed(told):
        rest = f"{rest[: match.start()]} {rest[match.end() :]}"
    rest = words.weightless.sub(" ", rest)
    latin = {_stem(word) for word in _WORD.findall(rest)}
    named = {word for word in latin if word[0].isalpha()}
    runs = _HAN_RUN.findall(rest)
    pairs = {run[i : i + 2] for run in runs for i in range(len(run) - 1)}
    units = latin | {name for name, _ in sides} | {character for run in runs for character in run}
    yield from _clause(frozenset(units), frozenset(named | pairs), sides, negations, piece, words)


def _clause(
    units: frozenset[str], anchors: frozenset[str], sides: Any, negations: int, piece: str, words: _Words
) -> Iterator[Clause]:
    """A clause that names something; what only points to something is none."""
    if not anchors or (_size(units) < 3 and words.points.search(piece)):
        return
    of = tuple(sorted({side for side in sides if side is not None}))
    if len({name for name, _ in of}) == len(of):  # else it names both sides: *from left to right*
        narrowed = negations > 1 or words.narrows.search(piece) is not None
        yield Clause(units, anchors, of, negations % 2 == 1, narrowed, words.beside.search(piece) is not None)


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    """A word without its endings."""
    if word.isalpha():
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) > len(ending) + 2 and not word.endswith("ss"):
                word = word[: -len(ending)]
                break
        if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "ls":
            word = word[:-1]
        return word[:-1] + "i" if word.endswith("y") and len(word) > 3 else word
    return word


def _size(units: frozenset[str]) -> float:
    """How much is named, in words: a Chinese word mostly has two characters."""
    return sum(0.5 if _HAN_RUN.match(unit) else 1.0 for unit in units)


def opposes(later: str, earlier: str, *, opens: int = KEPT, answers: bool = False) -> bool:
    """Whether a later statement goes against an earlier one.

    Args:
        later: What was said later.
        earlier: What was said before.
        opens: How the sentence of the later one, or a sentence right before it, opens.
        answers: Whether it stands in the same message, or in the one that answers it.
    """
    now, before = stance(later), stance(earlier)
    if now.permits and any(_lifts(one, other) for one in now.clauses for other in before.clauses):
        return True
    if now.language != before.language:
        return False
    opens = max(opens, now.opening)
    if opens < TAKES_BACK and said_of_others(later, earlier):
        return False
    whole = len(now.clauses) == len(before.clauses) == 1
    if any(_turned(one, other, opens, whole=whole) for one in now.clauses for other in before.clauses):
        return True
    return answers and opens == TAKES_BACK and _replaced(now, before)


def _lifts(now: Clause, before: Clause) -> bool:
    """Whether what may be done from now on is what was forbidden; touching a thing is whatever one may do with it."""
    if now.negative or not before.negative or before.narrowed or not now.anchors & before.anchors:
        return False
    return before.units - _any_act() <= now.units and _size(now.units - before.units - _any_act()) <= 1


@cache
def _any_act() -> frozenset[str]:
    return _words("en").any | _words("zh").any


def forbid_the_same(one: str, other: str) -> bool | None:
    """Whether two statements forbid the same in whatever words; None where they are not both one plain prohibition."""
    first, second = stance(one), stance(other)
    if first.language != second.language or len(first.clauses) != 1 or len(second.clauses) != 1:
        return None
    mine, theirs = first.clauses[0], second.clauses[0]
    if not mine.negative or not theirs.negative:
        return None
    if mine.narrowed or theirs.narrowed:
        return None
    return (mine.units, mine.sides) == (theirs.units, theirs.sides)


def _turned(now: Clause, before: Clause, opens: int, *, whole: bool) -> bool:
    """Whether of two clauses about the same thing one says the contrary.

    Of a negation the other must say all that it denies: *no tests on Windows* leaves tests as they are. A little more
    may be said of the same thing where each is a ``whole`` statement, or where it is said to be a change of mind.
    """
    shared = now.units & before.units
    if not now.anchors & before.anchors:
        return False
    sides = dict(before.sides)
    flips = sum(sides.get(name, side) != side for name, side in now.sides)
    if ((now.negative != before.negative) + flips) % 2 == 0:
        return False
    if flips and ((now.negative and before.negative) or now.beside or before.beside):
        return False  # neither may be done, or both
    numbers_differ = any(unit[0].isdigit() for unit in now.units ^ before.units)
    if opens == KEPT and (now.narrowed or before.narrowed or numbers_differ):
        return False
    if now.negative == before.negative:
        least, most = (2, 2) if opens > KEPT else (3, int(whole))
        return _size(now.units ^ before.units) <= (most if _size(shared) >= least else 0)
    if {name for name, _ in now.sides} != set(sides):  # *no sidebar* and *drop the sidebar* say the same
        return False
    denied, other = (now, before) if now.negative else (before, now)
    missing, more = _size(denied.units - other.units), _size(other.units - denied.units)
    if _size(shared) < 2:
        return missing == more == 0
    return missing <= (opens == TAKES_BACK) and more <= (2 if opens > KEPT else int(whole))


def _replaced(now: Stance, before: Stance) -> bool:
    """Whether a statement that takes something back speaks of the earlier one's subject and says something else."""
    shared, old, new = now.units & before.units, before.units - now.units, now.units - before.units
    about = now.anchors & before.anchors
    return bool(about and old and new) and _size(shared) >= max(1, _size(before.units) / 2)
