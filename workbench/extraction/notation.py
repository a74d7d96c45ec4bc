"""From a marker as a person writes it to a compiled pattern with the words that it cannot do without.

A marker is a phrase. A blank stands for any white space, ``…`` for a short gap, ``(a|b)`` for alternatives, ``?`` for
what may be missing, ``{name}`` for a part. Anything else of a regular expression works, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from workbench.extraction.needs import Needs, begins_a_word, begins_only, needs_of, needs_within
from workbench.extraction.signs import CODE, QUOTE, small

_NUM = r"[~<>≤≥]?\d[\d.,_]*"
_PATH = rf"(?:[~.\w-]*/[\w./~@-]*\w|[\w-]+\.[a-z]{{1,5}}(?![\w.])|Dockerfile|Makefile|{CODE}+)"
_PROPER = r"(?-i:[A-Z])[\w.+-]+|(?-i:[a-z]+[A-Z])[\w.+-]*"
_COMMON = {
    "num": _NUM,
    "path": _PATH,
    "quote": f"[\"“「『‘'`]{QUOTE}+[.。!！?？]?[\"”」』’'`]",
    "arrow": r"[\w.%-]+ ?(?:->|→|=>) ?[\w.%-]+",
}
_BY_LANGUAGE: dict[str, dict[str, str]] = {
    "en": {
        "any": r"[^\s,;:]+(?: [^\s,;:]+){0,4}?",
        "solid": rf"(?:[^\s,;]+ ){{0,4}}?(?:\S*\d\S*|\S*[/_{CODE}]\S+|~\S*|\w+\.\w+|{_PROPER})",
        "…": r".{0,90}?",
    },
    "zh": {
        "any": "[^，。；,;]{1,20}?",
        "solid": rf"[^，。；]{{0,12}}?(?:{_NUM}|{_PATH}|[A-Za-z]\w+)",
        "…": "[^。；]{0,40}?",
    },
}
_LARGE = re.compile(r"\\.|\(\?P|[A-Z\u00c0-\u1fff]")
"""Letters of a pattern that may be large, and what holds some that have to stay so."""


class Marker:
    """A marker; a text that fits has one word (Chinese: one or two characters) or sign of each of its needs."""

    __slots__ = ("_pattern", "cased", "needs", "search")

    def __init__(self, pattern: str, needs: Needs) -> None:
        self._pattern = pattern
        self.cased = "(?-i:" in pattern
        """Whether it is looked for in a text as it was written, else in its small letters."""
        self.needs = needs
        """The rarest first, taking long words for rare; empty where nothing is known."""
        self.search: Callable[[str], re.Match[str] | None] = self._search
        """Looks for it in a text; where it begins with ``^``, nowhere but at the beginning."""

    def compile(self) -> None:
        """Compile it, which is else done when it is first looked for: most are for few texts, and all take long.

        Raises:
            re.error: It is not well formed.
        """
        compiled = re.compile(self._pattern, re.IGNORECASE) if self.cased else compile_small(self._pattern)
        self.search = compiled.match if begins_only(self._pattern) else compiled.search

    def _search(self, text: str) -> re.Match[str] | None:
        self.compile()
        return self.search(text)


def compile_marker(text: str, language: str, parts: Mapping[str, str]) -> Marker:
    """A marker of a language from how it is written."""
    expanded = _expand(text, language, parts)
    if language != "zh":
        expanded = _bounded(expanded)
    return Marker(expanded, needs_of(text, language))


def compile_small(pattern: str) -> re.Pattern[str]:
    """Compile what is looked for in small letters; the case of its own says nothing."""
    return re.compile(_LARGE.sub(_to_small, pattern))


def _to_small(large: re.Match[str]) -> str:
    return small(large[0]) if len(large[0]) == 1 else large[0]


def groups_of(match: re.Match[str], text: str) -> dict[str, str | None]:
    """The named groups of what was found in the small letters of a text, as they were written."""
    spans = ((name, *match.span(name)) for name in match.re.groupindex)
    return {name: text[start:end] if start >= 0 else None for name, start, end in spans}


def compile_reading(pattern: str, language: str) -> Marker:
    """A marker of a regular expression that reads something off; it may begin and end within a word."""
    return Marker(pattern, needs_within(pattern, language))


def literal_marker(text: str, language: str) -> Marker:
    """A marker in which nothing but ``…`` and blanks has a meaning: what a workspace may add."""
    return compile_marker("…".join(re.escape(part).replace("\\ ", " ") for part in text.split("…")), language, {})


def _expand(text: str, language: str, parts: Mapping[str, str]) -> str:
    known = {**parts, **_COMMON, **_BY_LANGUAGE[language]}
    for _ in range(3):  # parts may be made of parts
        text = re.sub(r"\{([a-z]+)\}", lambda m: f"(?:{known[m[1]]})" if m[1] in known else m[0], text)
    text = re.sub(r"(?<=[(|])n't", r"\\w+n't", text)
    if language != "zh":
        text = text.replace(" … ", f" (?:{known['…']} )?")  # the gap may be nothing
    text = text.replace("…", known["…"])
    return re.sub(r" (?![?*+{])", r"\\s+", text) if language != "zh" else text


def _bounded(text: str) -> str:
    """Latin words end where letters end."""
    if begins_a_word(text):
        text = r"(?<!\w)" + text
    if re.search(r"(?<!\\)[a-z0-9]\)*$", text):
        text += r"(?!\w)"
    return text
