"""Whether a statement says an earlier one again with one value in it changed: *at most 50 rows*, *at most 100 rows*."""

from __future__ import annotations

import re
from functools import lru_cache

from workbench.extraction.opposing import beyond_opening, stance
from workbench.extraction.rules import things
from workbench.extraction.signs import HAN

_TOKEN = re.compile(rf"[a-z0-9]+(?:[._/@#:+,-]+[a-z0-9]+)*%?|[{HAN}]|/")
_NUMBER = re.compile(r"\d[\d.:,]*(?:[a-z%]{1,3})?")
_TIME = re.compile(r"\d{1,2}:\d\d")
_NAME = re.compile(r".*[@/].*|[a-z][\w-]*(?:\.[a-z][\w-]*)+")
_SAYS_NOTHING = frozenset(["a", "an", "the", "our", "now", "please", "了", "吧", "现在", "改", "成"])
_NUMBERED = re.compile(
    r"(?:step|phase|version|part|day|week|issue|ticket|pr|port|level|stage|chapter|task|item|rule|option|case|http|"
    r"status|line|page|row|column|table|team|sprint|milestone|tier|room|server|shard|node|第|骤|段|本|口|号)"
)
"""Before a number that says which one is meant and not how many there are."""
_BESIDE = re.compile(r"\b(?:may|can|could|supports?|allows?|offers?|provides?|adds?|also)\b|支持|提供|可以|新增|也")
"""One may well hold beside the other."""
_LEADS_TO = frozenset(
    [
        "from",
        "to",
        "at",
        "is",
        "are",
        "in",
        "on",
        "under",
        "as",
        "by",
        "via",
        "through",
        "是",
        "在",
        "到",
        "从",
        "为",
        "用",
        "至",
        "于",
    ]
)
_STATES = frozenset(
    [
        "is",
        "are",
        "go",
        "goes",
        "come",
        "comes",
        "live",
        "lives",
        "run",
        "runs",
        "sent",
        "stored",
        "kept",
        "written",
        "served",
        "hosted",
        "published",
        "deployed",
        "lands",
        "points",
        "listens",
        "sends",
        "uses",
        "发",
        "存",
        "放",
        "写",
        "部",
        "是",
        "在",
    ]
)


def renews(later: str, earlier: str) -> bool:
    """Whether the same words are said of the same thing, and one number, time or name in the same place differs."""
    if any(clause.negative for text in (later, earlier) for clause in stance(text).clauses):
        return False  # of two things each may be forbidden
    now, before = _tokens(later), _tokens(earlier)
    if len(now) != len(before) or len(now) < 3 or _BESIDE.search(" ".join(now)):
        return False
    places = [place for place, (one, other) in enumerate(zip(now, before, strict=True)) if one != other]
    return len(places) == 1 and _is_value(now, before, places[0])


@lru_cache(maxsize=1024)
def _tokens(text: str) -> tuple[str, ...]:
    return tuple(token for token in _TOKEN.findall(beyond_opening(text)) if token not in _SAYS_NOTHING)


def _is_value(now: tuple[str, ...], before: tuple[str, ...], place: int) -> bool:
    one, other = now[place], before[place]
    last = now[place - 1] if place else ""
    if _NUMBER.fullmatch(one) and _NUMBER.fullmatch(other):
        if bool(_TIME.fullmatch(one)) != bool(_TIME.fullmatch(other)):
            return False
        return place > 0 and not _NUMBERED.fullmatch(last) and last not in things().keys
    named = _NAME.fullmatch(one) and _NAME.fullmatch(other)
    return bool(named) and last in _LEADS_TO and not _STATES.isdisjoint(now)
