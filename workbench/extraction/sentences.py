"""Cutting prose into sentences, Chinese and English, mixed as people mix them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.extraction.signs import CODE, QUOTE

LONGEST_SENTENCE = 400
"""Characters that are judged together; nobody writes such a sentence, but people dictate without a stop."""

_HAN = re.compile("[\u3400-\u9fff]")
_END = re.compile(
    r"""[。！？.!?…](?:(?<=[。！？])[”」』"）)]*\s*
    | (?<=[.!?…])["')\]”*`]*\s+(?=["'(\[*`“@/~]*[A-Z\d\u3400-\u9fff`*"“@/~(]|[a-z]+[^.!?]{12})
    | (?<=[?!])["')\]”*`]*\s+)""",
    re.VERBOSE,
)
_NUMBERED = re.compile(r"\W*\d{1,3}\.")
_SHORT = re.compile(
    r"\b(?:e\.g|i\.e|etc|vs|cf|approx|incl|resp|mr|mrs|ms|dr|st|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|v)\.$",
    re.IGNORECASE,
)
_OF_A_NUMBER = re.compile(r"\b(?:no|nos|fig|sec|ch|p|pp)\.$", re.IGNORECASE)
"""Short for something where a number follows; else *no* and *sec* are words."""
_INITIAL = re.compile(r"(?:^|[A-Z][\w.'-]*\s)\W*[A-Z]\.$")
"""The first letter of a name, at the beginning or after another name; after other words, *option A*, it is an end."""

_NEAR = 40
"""Characters before a full stop that are looked at."""
_CUTS = (
    re.compile(r"[.!?…]\s+|[。！？]"),
    re.compile(r"[,;:]\s+|[，；：、]"),
    re.compile(r"\s(?=(?:and|but|so|then|also|please|we|you|i|it|don.?t|do|never|always)\s)", re.IGNORECASE),
    re.compile(r"\s"),
)
"""Where a text that is too long is cut, the best first."""
_MASKED = re.compile(f".?[{CODE}{QUOTE}]+[\"'`”」』’]*")


def is_han(text: str) -> bool:
    """Whether a sentence is to be read by the Chinese rules: it has a Chinese word in it."""
    return _HAN.search(text) is not None


def split(text: str) -> list[tuple[int, str]]:
    """Sentences of a line of prose with their offsets; what is too long for one is cut further."""
    found: list[tuple[int, str]] = []
    start = 0
    for match in _END.finditer(text):
        end = match.end()
        before = text[max(start, match.start() - _NEAR) : match.start() + 1].rstrip("\"')]”*` ")
        if _is_short(before, text[end : end + 1]):
            continue
        _add(found, text, start, end)
        start = end
    _add(found, text, start, len(text))
    return found


def _add(found: list[tuple[int, str]], text: str, start: int, end: int) -> None:
    for place, piece in pieces_of(text[start:end]):
        if piece.strip():
            found.append((start + place + len(piece) - len(piece.lstrip()), piece.strip()))


def _is_short(before: str, after: str) -> bool:
    """Whether a full stop is one of an abbreviation, or of a number that counts what follows it."""
    if _SHORT.search(before) or _NUMBERED.fullmatch(before) or _INITIAL.search(before):
        return True
    return after.isdecimal() and _OF_A_NUMBER.search(before) is not None


def pieces_of(text: str, most: int = LONGEST_SENTENCE) -> Iterator[tuple[int, str]]:
    """A text in pieces of at most so many characters with their offsets, cut where least is torn apart.

    What stands for code or for others' words is not cut, however long: the rest of it would pass for the speaker's.
    """
    start = 0
    while len(text) - start > most:
        end = _cut(text, start + most // 2, start + most)
        yield start, text[start:end]
        start = end
    if start < len(text) or not text:
        yield start, text[start:]


def head_of(text: str) -> str:
    """The first of these pieces."""
    return next(pieces_of(text))[1]


def _cut(text: str, least: int, most: int) -> int:
    """Where to cut between two places: behind a sentence or a clause, before a word that begins one, at a blank."""
    for cuts in _CUTS:
        if ends := [match.end() for match in cuts.finditer(text, least, most)]:
            return ends[-1]
    masked = _MASKED.match(text, most - 1)
    return max(most, masked.end()) if masked else most
