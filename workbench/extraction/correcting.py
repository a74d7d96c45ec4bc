"""Corrections: what a sentence says is another value now, and which value it puts aside."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from workbench.extraction.asking import Index
from workbench.extraction.notation import compile_reading, compile_small, groups_of
from workbench.extraction.rules import Rules, rules_for
from workbench.extraction.signs import small

_LEADS = 4
"""Words of no weight that are taken off one after the other."""
_CLAUSE_END = re.compile(r"[,;，；。]|\.\s| but ")


@dataclass(frozen=True)
class Corrections:
    """How a language corrects, from its data."""

    patterns: Index
    leads: re.Pattern[str]
    ban: re.Pattern[str]
    """How a sentence begins that says that something is not to be so."""
    bans: tuple[re.Pattern[str], ...]
    """What is not to be so of which thing."""
    instead: re.Pattern[str]
    told: re.Pattern[str]


@cache
def corrections_for(language: str) -> Corrections:
    """The patterns of a language, with its names of things in them."""
    data = tomllib.loads((files(__package__) / "rules" / "corrections.toml").read_text("utf-8"))[language]
    names = "(?:" + "|".join(sorted(map(re.escape, rules_for(language).names), key=len, reverse=True)) + ")"
    parts = {"{name}": names, "{ban}": f"(?:{data['ban']})", "{set}": data["set"]}
    return Corrections(
        Index(compile_reading(text.replace("{name}", names), language) for text in data["patterns"]),
        re.compile(data["leads"], re.IGNORECASE),
        compile_small("^" + parts["{ban}"]),
        tuple(compile_small(_with(text, parts)) for text in data["bans"]),
        compile_small(data["instead"]),
        compile_small(data["told"]),
    )


def _with(text: str, parts: Mapping[str, str]) -> str:
    for name, part in parts.items():
        text = text.replace(name, part)
    return text


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


def banned(text: str, rules: Rules) -> Iterator[tuple[str, str, str | None]]:
    """What a statement says is not to be so: the thing, the value, and what is to be so instead where it says it."""
    known, lowered = corrections_for(rules.language), small(text)
    for ban in known.bans:
        if match := ban.match(lowered):
            other = known.instead.match(lowered, match.end()) if match.end() < len(text) else None
            yield (
                text[slice(*match.span("key"))],
                text[slice(*match.span("value"))],
                (text[slice(*other.span("value"))] if other else None),
            )


def banned_until(text: str, rules: Rules) -> int:
    """Up to where a statement says that something is not to be so: no value that is named there is one that holds."""
    match = corrections_for(rules.language).ban.match(small(text))
    end = _CLAUSE_END.search(text, match.end()) if match else None
    return end.start() if end else len(text) if match else 0


def is_told(text: str, rules: Rules) -> bool:
    """Whether a statement tells what somebody else did: what he set is not what its speaker wants."""
    return corrections_for(rules.language).told.search(small(text)) is not None
