"""Cutting prose into sentences, Chinese and English, mixed as people mix them."""

from __future__ import annotations

import re

_HAN = re.compile("[\u3400-\u9fff]")
_END = re.compile(
    r"""[。！？.!?…](?:(?<=[。！？])[”」』"）)]*\s*
    | (?<=[.!?…])["')\]”*`]*\s+(?=["'(\[*`“@/~]*[A-Z\d\u3400-\u9fff`*"“@/~(]|[a-z]+[^.!?]{12,})
    | (?<=[?!])["')\]”*`]*\s+)""",
    re.VERBOSE,
)
_SHORT = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|incl|resp|no|fig|sec|mr|mrs|ms|dr|st|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|v)|^\W*\d{1,3}|\b[A-Z])\.$",
    re.IGNORECASE,
)


def is_han(text: str) -> bool:
    """Whether a sentence is to be read by the Chinese rules: it has a Chinese word in it."""
    return _HAN.search(text) is not None


def split(text: str) -> list[tuple[int, str]]:
    """Sentences of a line of prose with their offsets."""
    found: list[tuple[int, str]] = []
    start = 0
    for match in _END.finditer(text):
        end = match.end()
        if _SHORT.search(text[start : match.start() + 1].rstrip("\"')]”*` ")):
            continue
        _add(found, text, start, end)
        start = end
    _add(found, text, start, len(text))
    return found


def _add(found: list[tuple[int, str]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    if piece.strip():
        found.append((start + len(piece) - len(piece.lstrip()), piece.strip()))
