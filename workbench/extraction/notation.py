"""From a marker as a person writes it to a compiled pattern with the words that it cannot do without.

A marker is a phrase. A blank stands for any white space, ``…`` for a short gap, ``(a|b)`` for alternatives, ``?`` for
what may be missing, ``{name}`` for a part. Anything else of a regular expression works, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, pairwise
from typing import NamedTuple

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
_LARGE = re.compile(r"\\.|\(\?P|[A-Z\u00c0-\u1fff]")
"""Letters of a pattern that may be large, and what holds some that have to stay so."""


class Marker(NamedTuple):
    """A compiled marker; a text that fits has one word (Chinese: one or two characters) or sign of each set."""

    search: Callable[[str], re.Match[str] | None]
    """Where it begins with ``^``, it is tried nowhere but there."""
    cased: bool
    """Whether it is looked for in a text as it was written, else in its small letters."""
    anchors: frozenset[str]
    """The rarest of what it needs, taking long words for rare; empty where nothing is known."""
    further: tuple[frozenset[str], ...]
    """What else it needs."""

    def find(self, text: str, lowered: str, words: set[str]) -> re.Match[str] | None:
        """What it finds in a text that has these small letters and these words."""
        if (self.anchors and words.isdisjoint(self.anchors)) or any(map(words.isdisjoint, self.further)):
            return None
        return self.search(text if self.cased else lowered)


def compile_marker(text: str, language: str, parts: Mapping[str, str]) -> Marker:
    """Compile a marker of a language.

    Raises:
        re.error: It is not well formed.
    """
    expanded = _expand(text, language, parts)
    if language != "zh":
        expanded = _bounded(expanded)
    needs = _han_needs(text) if language == "zh" else _word_needs(text)
    return _marker(expanded, chain(needs, _sign_needs(text)))


def _marker(pattern: str, needed: Iterable[Iterable[str]]) -> Marker:
    needs = [words for words in map(frozenset, needed) if words]
    needs.sort(key=lambda words: (min(map(len, words)), -len(words)), reverse=True)
    cased = "(?-i:" in pattern
    anchored = pattern.startswith("^") and "|" not in _outermost(_ONE_SIGN.sub("", pattern))
    compiled = re.compile(pattern, re.IGNORECASE) if cased else compile_small(pattern)
    search = compiled.match if anchored else compiled.search
    return Marker(search, cased, needs[0] if needs else frozenset(), tuple(needs[1:]))


def compile_small(pattern: str) -> re.Pattern[str]:
    """Compile what is looked for in small letters; the case of its own says nothing."""
    return re.compile(_LARGE.sub(_to_small, pattern))


def small(text: str) -> str:
    """A text in small letters, character for character: in these a pattern is found in half the time."""
    return text.replace("\u0130", "I").lower()


_HALF_COMMA = re.compile(rf"(?<=[{HAN}]),|,(?=\s?[{HAN}])")


def full_commas(text: str) -> str:
    """A text in which a comma next to a Chinese character is a Chinese one, as its writer meant it."""
    return _HALF_COMMA.sub("，", text) if "," in text else text


def _to_small(large: re.Match[str]) -> str:
    return small(large[0]) if len(large[0]) == 1 else large[0]


def groups_of(match: re.Match[str], text: str) -> dict[str, str | None]:
    """The named groups of what was found in the small letters of a text, as they were written."""
    spans = ((name, *match.span(name)) for name in match.re.groupindex)
    return {name: text[start:end] if start >= 0 else None for name, start, end in spans}


def compile_reading(pattern: str, language: str) -> Marker:
    """Compile a regular expression that reads something off; it may begin and end within a word."""
    plain = re.sub(r" (?=[?*{])", "~", pattern.replace("(?:", "("))  # a blank that may be missing ends no word
    needs = _han_needs(plain) if language == "zh" else _word_needs(" ".join([*_tokens(plain)][1:-1]))
    return _marker(pattern, chain(needs, _sign_needs(plain)))


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


def grams(lowered: str, language: str) -> set[str]:
    """The words of a text in small letters, and signs of what else it has: what markers are held against first."""
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


_FIRST_WORD = re.compile(r"(n't|'?[a-z][a-z']*)(?:(?:[ \u2026:]|-(?!\?)).*)?")
_ONE_SIGN = re.compile(r"\\.|\[\]?[^\]]*\]")
_ENDS_A_WORD = re.compile(r"$|[ \[:,\\….$]|\((?:n't|[^a-z(])|-(?!\?)")
_LOOKS_AHEAD = re.compile(r"\(\?![^()]*\)$")


def _word_needs(text: str) -> Iterator[list[str]]:
    """Words, or groups of alternatives, that may not be missing."""
    if "|" in _outermost(text):
        return
    for token in _tokens(text.lstrip("^").removesuffix("$")):
        words = _token_words(token)
        if words:
            yield words


def _token_words(token: str) -> list[str]:
    """Words of which a text that fits has one, as far as a token of a marker shows."""
    token = token.removeprefix("\\(")
    while token.startswith("("):
        end = _closing(token, 0)
        group, rest = token[1:end], token[end + 1 :]
        if rest[:1] in ("?", "*"):
            token = rest[1:]  # it may be missing
        elif group.startswith(("?!", "?<!")):
            token = rest
        elif words := _choices(group, rest):
            return words
        elif all(choice == "^" or choice.endswith(" ") for choice in _alternatives(group)):
            token = rest.partition("}")[2] if rest.startswith("{") else rest  # a word begins after it
        else:
            return []
    if plural := re.match(r"([a-z]+)s\?", token):
        return [plural[1], plural[1] + "s"] if _ENDS_A_WORD.match(token, plural.end()) else []
    plain = _PLAIN.match(token)
    if not plain or not _ENDS_A_WORD.match(token, plain.end()):
        return []
    return [plain[0]]


def _choices(body: str, rest: str) -> list[str]:
    """The first word of each alternative, where every one begins with a whole word."""
    if not _ENDS_A_WORD.match(rest):
        return []
    found = []
    for choice in _alternatives(body):
        if choice.startswith("("):
            end = _closing(choice, 0)
            words = _choices(choice[1:end], choice[end + 1 :])
        else:
            whole = _FIRST_WORD.fullmatch(_LOOKS_AHEAD.sub("", choice.removesuffix("$")))
            words = [whole[1]] if whole else []
        if not words:
            return []
        found += words
    return found


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
