"""From a marker as a person writes it to a compiled pattern with the words that it cannot do without.

A marker is a phrase. A blank stands for any white space, ``…`` for a short gap, ``(a|b)`` for alternatives, ``?`` for
what may be missing, ``{name}`` for a part. Anything else of a regular expression works, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

CODE = "\ue000"
"""Stands for each character of code within a sentence."""
QUOTE = "\ue001"
"""Stands for each character of somebody else's words."""
HAN = "\u3400-\u9fff\uf900-\ufaff"
_HAN_RUN = re.compile(f"[{HAN}]+")
_PLAIN = re.compile(r"[a-z][a-z']*")
_WORDS = re.compile(r"[a-z][a-z']*")

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


@dataclass(frozen=True)
class Marker:
    """A compiled marker."""

    text: str
    pattern: re.Pattern[str]
    needs: tuple[frozenset[str], ...]
    """Sets of words (Chinese: one or two characters) and signs; a text that fits has one of each set."""

    @property
    def anchors(self) -> frozenset[str]:
        """The rarest of what it needs, taking long words for rare; empty where nothing is known."""
        return max(self.needs, key=lambda words: (min(map(len, words)), -len(words)), default=frozenset())


def compile_marker(text: str, language: str, parts: Mapping[str, str]) -> Marker:
    """Compile a marker of a language.

    Raises:
        re.error: It is not well formed.
    """
    expanded = _expand(text, language, parts)
    if language != "zh":
        expanded = _bounded(expanded)
    pattern = re.compile(expanded, re.IGNORECASE)
    needs = _han_needs(text) if language == "zh" else _word_needs(text)
    return Marker(text, pattern, tuple(frozenset(words) for words in (*needs, *_sign_needs(text)) if words))


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
    if re.match(r"\(*(\?:)?\(*[\w~]", text) and not text.startswith("(^"):
        text = r"(?<!\w)" + text
    if re.search(r"(?<!\\)[a-z0-9]\)*$", text):
        text += r"(?!\w)"
    return text


_DIGIT, _ARROW, _CITED = "0", "\u2192", "\u201c"
"""Stand among the words of a text for: it has a digit, an arrow, a quotation."""


def grams(text: str, language: str) -> set[str]:
    """The words of a text, and signs of what else it has: what markers are held against before they are tried."""
    lowered = text.lower()
    found = set(_WORDS.findall(lowered))
    if "'" in lowered:
        for word in tuple(found):
            base, apostrophe, end = word.partition("'")
            if apostrophe:
                found |= {base[:-1], "n't"} if end == "t" else {base, "'" + end}
    if language == "zh":
        found.update(lowered)
        found.update(map("".join, pairwise(lowered)))
    if _HAS_DIGIT.search(lowered):
        found.add(_DIGIT)
    if "->" in lowered or "=>" in lowered or "\u2192" in lowered:
        found.add(_ARROW)
    if QUOTE in lowered:
        found.add(_CITED)
    return found


_HAS_DIGIT = re.compile(r"\d")


def _sign_needs(text: str) -> Iterator[set[str]]:
    """Signs that a text has to have, as far as the marker's outermost level shows."""
    outer = _outermost(text)
    if "|" in outer:
        return
    if re.search(r"\{num\}(?![?*])|\\d(?![?*])", outer):
        yield {_DIGIT}
    if "{arrow}" in outer or "(->|\u2192|=>)" in text:
        yield {_ARROW}
    if "{quote}" in outer:
        yield {_CITED}


def _outermost(text: str) -> str:
    """A marker without what stands in round or square brackets."""
    kept, depth, escaped = [], 0, False
    for char in text:
        if escaped:
            escaped = False
            kept.append(char if depth == 0 else "")
            continue
        escaped = char == "\\"
        depth += char in "(["
        if depth == 0:
            kept.append(char)
        depth -= char in ")]"
    return "".join(kept)


def _tokens(text: str) -> Iterator[str]:
    """Pieces of a marker between blanks that stand in no bracket."""
    depth, start = 0, 0
    for position, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if char == " " and depth == 0:
            yield text[start:position]
            start = position + 1
    yield text[start:]


def _alternatives(group: str) -> list[str]:
    depth, start, found = 0, 0, []
    for position, char in enumerate(group):
        depth += (char in "([") - (char in ")]")
        if char == "|" and depth == 0:
            found.append(group[start:position])
            start = position + 1
    return [*found, group[start:]]


_GROUP = re.compile(r"\(([^()]*)\)")
_ENDS_A_WORD = re.compile(r"$|[ \[:,\\….$]|\((?:n't|[^a-z(])")


def _word_needs(text: str) -> Iterator[list[str]]:
    """Words, or groups of alternatives, that may not be missing."""
    if text.startswith("(^") or "|" in _outermost(text):
        return
    for token in _tokens(text.lstrip("^").removesuffix("$")):
        words = _token_words(token)
        if words:
            yield words


def _token_words(token: str) -> list[str]:
    """Words of which a text that fits has one, as far as a token of a marker shows."""
    while group := _GROUP.match(token):
        rest = token[group.end() :]
        if rest[:1] in ("?", "*"):
            token = rest[1:]  # it may be missing
            continue
        return _choices(group[1], rest)
    if plural := re.match(r"([a-z]+)s\?", token):
        return [plural[1], plural[1] + "s"] if _ENDS_A_WORD.match(token, plural.end()) else []
    plain = _PLAIN.match(token)
    if not plain or not _ENDS_A_WORD.match(token, plain.end()):
        return []
    return [plain[0]]


def _choices(body: str, rest: str) -> list[str]:
    """The first word of each alternative, where every one begins with a whole word."""
    choices = [choice.removesuffix("$") for choice in _alternatives(body)]
    words = [re.match(r"n't|'?[a-z][a-z']*", choice) for choice in choices]
    if not _ENDS_A_WORD.match(rest) or not all(words):
        return []
    whole = all(
        choice[m.end() :][:1] in ("", " ", "\u2026", ":") for choice, m in zip(choices, words, strict=True) if m
    )
    return [m[0] for m in words if m] if whole else []


def _han_needs(text: str) -> Iterator[list[str]]:
    """The first run of characters, or group of alternatives that begin with some, that may not be missing."""
    if "|" in _outermost(text):
        return
    position = 0
    while position < len(text):
        char = text[position]
        if char == "(":
            end = _closing(text, position)
            after = text[end + 1 : end + 2]
            body = text[position + 1 : end]
            if after not in ("?", "*", "{") and not body.startswith("?"):
                runs = [_HAN_RUN.match(choice) for choice in _alternatives(body)]
                sure = [_needed(m[0], c[m.end() :]) for m, c in zip(runs, _alternatives(body), strict=True) if m]
                if all(runs) and all(sure):
                    yield sure
            position = end + 1
        elif char == "[":
            position = text.index("]", position + 2) + 1
        elif char == "{":
            position = text.index("}", position) + 1
        elif run := _HAN_RUN.match(text, position):
            needed = _needed(run[0], text[run.end() :])
            if needed:
                yield [needed]
            position = run.end()
        else:
            position += 2 if char == "\\" else 1


def _needed(run: str, rest: str) -> str:
    """At most two characters of a run, without one that the pattern says may be missing."""
    return (run[:-1] if rest[:1] in ("?", "*") and rest else run)[:2]


def _closing(text: str, start: int) -> int:
    depth = 0
    position = start
    while position < len(text):
        char = text[position]
        if char == "\\":
            position += 1
        elif char == "[":
            position = text.index("]", position + 2)
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if depth == 0:
                return position
        position += 1
    return len(text) - 1
