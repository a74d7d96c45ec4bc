"""Corrections: what a sentence says is another value now, and which value it puts aside."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from workbench.extraction.asking import Index
from workbench.extraction.notation import compile_reading, groups_of
from workbench.extraction.rules import Rules, rules_for
from workbench.extraction.signs import small

_LEADS = 4
"""Words of no weight that are taken off one after the other."""


@dataclass(frozen=True)
class Corrections:
    """How a language corrects, from its data."""

    patterns: Index
    leads: re.Pattern[str]


@cache
def corrections_for(language: str) -> Corrections:
    """The patterns of a language, with its names of things in them."""
    data = tomllib.loads((files(__package__) / "rules" / "corrections.toml").read_text("utf-8"))[language]
    names = "(?:" + "|".join(sorted(map(re.escape, rules_for(language).names), key=len, reverse=True)) + ")"
    return Corrections(
        Index(compile_reading(text.replace("{name}", names), language) for text in data["patterns"]),
        re.compile(data["leads"], re.IGNORECASE),
    )


def gist(text: str, rules: Rules) -> str:
    """A statement without the words before it that say nothing of it: *no, wait*, *please*, *note that*."""
    leads = corrections_for(rules.language).leads
    for _ in range(_LEADS):
        match = leads.match(text) or rules.lead.match(small(text))
        if match is None or match.end() >= len(text):
            break
        text = text[match.end() :]
    return text


def corrected(text: str, lowered: str, words: list[str], rules: Rules) -> Iterator[dict[str, str | None]]:
    """What the patterns of corrections find in a statement with its words, by the names of their groups."""
    patterns = corrections_for(rules.language).patterns
    for marker in patterns.among(patterns.called(words)):
        if match := marker.search(text if marker.cased else lowered):
            yield groups_of(match, text)
