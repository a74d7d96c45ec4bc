"""What a statement is said of where it is not said of all: *in the frontend*, *for guests*, *on Mondays*, *后端用*."""

from __future__ import annotations

import re
from functools import lru_cache

from workbench.extraction.sentences import is_han
from workbench.extraction.signs import full_commas, small

_DETERMINER = r"(?:the |our |my |all |every |each |a |an |any )*"
_WHERE = re.compile(
    rf"\b(?:in|for|on|during|within) {_DETERMINER}(?P<what>[a-z@.][\w./-]*(?: (?!we\b|the\b|it\b|and\b|or\b|is\b|are\b|"
    r"must\b|use\b|only\b|now\b|again\b|please\b)[a-z][\w-]*)?)"
    r"(?=\s*(?:$|[,.;:!()])|\s+(?:we|the|it|you|and|or|is|are|must|use|only|now|again|please|in|for|on|during|with)\b)"
)
_NOWHERE = frozenset(
    [
        "now",
        "all",
        "example",
        "instance",
        "good",
        "once",
        "that",
        "this",
        "it",
        "them",
        "purpose",
        "future",
        "general",
        "default",
        "sure",
        "free",
        "time",
        "place",
        "order",
        "fact",
        "short",
        "case",
        "mind",
        "parallel",
        "sequence",
        "detail",
        "advance",
        "turn",
        "full",
        "principle",
    ]
)
_ZH = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?:^|[，,])在?(?P<what>[^，,。；在]{1,8}?)(?:里面?|中|上|(?:环境|期间)(?:里|中|下)?)(?=[，,]|用|使用|采用|的|限|是|为|必须)",
        r"(?:对于?|给|针对)(?P<what>[^，,。；]{1,8}?)(?=[，,]|来说|是|为|限|用|的|$)",
        r"(?:^|[，,])(?:我们|项目|现在|以后|都|统一|就)*(?P<what>[^，,。；不别]{1,6}?)(?:统一|一律|都|就)?(?:用|使用|采用)(?!户|例|途|量|法)",
    )
)
_WHOLE = re.compile(r"^(?:我们?|你们?|大家|请|先|只|改|还是|决定|最后|可以|必须|要|把|将)+$")


_SUPPORTS = re.compile(r"\bsupports?\b|支持")


def only_supports(text: str) -> bool:
    """Whether a statement says what is supported: another may be supported beside it."""
    return _SUPPORTS.search(small(text)) is not None


@lru_cache(maxsize=1024)
def narrowed_to(text: str) -> frozenset[str]:
    """Of what a statement is said, in small letters; empty where it is said of all."""
    said = full_commas(small(text)).strip().rstrip(".!。！")
    if is_han(text):
        found = (match["what"].strip() for pattern in _ZH for match in pattern.finditer(said))
        return frozenset(what for what in found if what and not _WHOLE.match(what))
    found = (match["what"].rstrip(".") for match in _WHERE.finditer(said))
    return frozenset(what for what in found if what.split()[0] not in _NOWHERE)


def said_of_others(one: str, other: str, but: frozenset[str] = frozenset()) -> bool:
    """Whether two statements are narrowed, each to something that the other does not speak of.

    Args:
        one: A statement.
        other: Another.
        but: Words that narrow nothing here, for they are the key or a value.
    """
    mine, theirs = narrowed_to(one) - but, narrowed_to(other) - but
    return bool(mine - theirs) and bool(theirs - mine)
