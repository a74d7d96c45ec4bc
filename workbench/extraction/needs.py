"""What a marker cannot do without, read off it; and what of that a text has.

Most markers fit few texts. What one needs is told by its words, and so it is tried only where these are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from operator import add

from workbench.extraction.signs import HAN, QUOTE

_HAN_RUN = re.compile(f"[{HAN}A-Za-z%：:@#~]+")
_PLAIN = re.compile(r"[a-z][a-z']*")
_SIGNS = "?？:：~[(@#.–-"
"""Signs that count as words."""
_A_SIGN = re.compile(rf"(?:\\[{re.escape(_SIGNS)}]|[：:~@#？])(?![?*{{])")
_ONE_OF = re.compile(r"(?<!\\)\[\^?\]?[^\]]*\]")
_ONE_OF_SIGNS = re.compile(
    rf"(?:\[([{re.escape(_SIGNS)}]+)\]|\(([{re.escape(_SIGNS)}](?:\|[{re.escape(_SIGNS)}])+)\))(?![?*{{])"
)
_WORDS = re.compile(rf"[a-z][a-z']*|[{re.escape(_SIGNS)}]")
_BEGINS_A_WORD = re.compile(r"(?!\(\^)\(*(\?:)?\(*[\w~]")


Needs = tuple[tuple[str, ...], ...]


def needs_of(text: str, language: str) -> Needs:
    """What a marker needs: sets of words (Chinese: of one or two characters) and signs; a text has one of each."""
    return _sorted(_han_needs(text) if language == "zh" else _word_needs(text), _sign_needs(text))


def needs_within(pattern: str, language: str) -> Needs:
    """The same of a regular expression that may begin and end within a word."""
    plain = re.sub(r" (?=[?*{])", "~", pattern.replace("(?:", "("))  # a blank that may be missing ends no word
    words = _han_needs(plain) if language == "zh" else _word_needs(" ".join([*_tokens(plain)][1:-1]))
    return _sorted(words, _sign_needs(plain))


def _sorted(*needs: Iterator[Iterable[str]]) -> Needs:
    """The rarest first, taking long words for rare."""
    found = [words for words in map(tuple, map(set, chain(*needs))) if words]
    return tuple(sorted(found, key=lambda words: (min(map(len, words)), -len(words)), reverse=True))


def begins_only(pattern: str) -> bool:
    """Whether a pattern fits nowhere but at the beginning of a text."""
    return pattern.startswith("^") and "|" not in _outermost(_ONE_SIGN.sub("", pattern))


def begins_a_word(text: str) -> bool:
    """Whether a marker begins with a word, and not in the midst of one."""
    return _BEGINS_A_WORD.match(text) is not None


_DIGIT, _ARROW, _CITED = "0", "\u2192", "\u201c"
"""Stand among the words of a text for: it has a digit, an arrow, a quotation."""


def grams(lowered: str, language: str) -> list[str]:
    """The words of a text in small letters, and signs of what else it has: what markers are held against first."""
    found = _WORDS.findall(lowered)
    if "'" in lowered:
        for word in found[:]:
            base, apostrophe, end = word.partition("'")
            if apostrophe:
                found += (base[:-1], "n't") if end == "t" else (base, "'" + end)
    if language == "zh":
        signs = list(lowered)
        found += signs
        found += map(add, signs, signs[1:])
    if _HAS_DIGIT.search(lowered):
        found.append(_DIGIT)
    if "->" in lowered or "=>" in lowered or "\u2192" in lowered:
        found.append(_ARROW)
    if QUOTE in lowered:
        found.append(_CITED)
    return found


_HAS_DIGIT = re.compile(r"\d")


def _sign_needs(text: str) -> Iterator[set[str]]:
    """Signs that a text has to have, as far as the marker's outermost level shows."""
    outer = _outermost(_ONE_OF.sub(" ", text))
    if "|" in outer:
        return
    if re.search(r"\{num\}(?![?*])|\\d(?![?*])", outer):
        yield {_DIGIT}
    if "{arrow}" in outer or "(->|\u2192|=>)" in text:
        yield {_ARROW}
    if "{quote}" in outer:
        yield {_CITED}
    for sign in _A_SIGN.findall(outer):
        yield {sign[-1]}
    if of_these := _ONE_OF_SIGNS.match(text):
        yield {*(of_these[1] or of_these[2])} - {"|"}


_PIECE = re.compile(r"\\.|[()\[\]]|[^\\()\[\]]+|\\", re.DOTALL)


def _outermost(text: str) -> str:
    """A marker without what stands in round or square brackets."""
    kept, depth = [], 0
    for piece in _PIECE.findall(text):
        depth += piece in ("(", "[")
        if depth == 0:
            kept.append(piece)
        depth -= piece in (")", "]")
    return "".join(kept)


def _tokens(text: str) -> Iterator[str]:
    """Pieces of a marker between blanks that stand in no bracket."""
    return _parted(text, _BLANKS)


def _alternatives(group: str) -> list[str]:
    return list(_parted(group, _BARS))


_BLANKS, _BARS = re.compile(r"[ ()\[\]{}]"), re.compile(r"[|()\[\]]")


def _parted(text: str, signs: re.Pattern[str]) -> Iterator[str]:
    """What stands between some signs that stand in no bracket."""
    depth, start = 0, 0
    for sign in signs.finditer(text):
        if sign[0] in "([{":
            depth += 1
        elif sign[0] in ")]}":
            depth -= 1
        elif depth == 0:
            yield text[start : sign.start()]
            start = sign.end()
    yield text[start:]


_FIRST_WORD = re.compile(r"(n't|'?[a-z][a-z']*)(?:(?:[ \u2026:0-9]|\\d|(?:-|\\\.)(?!\?)).*)?")
_ONE_SIGN = re.compile(r"\\.|\[\]?[^\]]*\]")
_ENDS_A_WORD = re.compile(r"$|[ \[:,\\….$]|\((?:n't|[^a-z(])|-(?!\?)")
_LOOKS_AHEAD = re.compile(r"\(\?![^()]*\)$")


def _word_needs(text: str) -> Iterator[list[str]]:
    """Words, or groups of alternatives, that may not be missing."""
    if "|" in _outermost(text):
        return
    for number, token in enumerate(_tokens(text.lstrip("^").removesuffix("$"))):
        if words := _token_words(token):
            yield words
        elif number == 0 and (text.startswith("^") or begins_a_word(text)):
            yield _first_words(text.removeprefix("^"))


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


def _first_words(pattern: str) -> list[str]:
    """All words with which a text that fits a pattern may begin; empty where they are too many, or not to be told."""
    try:
        found = {word for word, _ in islice(_spelled(pattern, ""), _MOST_WORDS)}
    except ValueError:
        return []
    return sorted(found) if len(found) < _MOST_WORDS else []


_MOST_WORDS = 200
_STOPS_A_WORD = re.compile(r" |,|:|\\b|(?:-|\\\.)\??|\[[.,:]+\]")


def _spelled(pattern: str, before: str) -> Iterator[tuple[str, str]]:
    """The ways to spell out a word that goes on with a pattern, each with what of the pattern comes after it.

    Raises:
        ValueError: It is not told where one ends.
    """
    sign, rest = pattern[:1], pattern[1:]
    if before and (stop := _STOPS_A_WORD.match(pattern)):
        yield before, pattern
        if stop[0].endswith("?"):
            yield from _spelled(pattern[stop.end() :], before)
        return
    if sign == "(":
        end = _closing(pattern, 0)
        ways, rest = _alternatives(pattern[1:end]), pattern[end + 1 :]
        if pattern.startswith("(?!"):
            ways = [""]
        elif pattern.startswith("(?"):
            raise ValueError
    elif sign == "[" and (letters := re.match(r"\[([a-z]+)\]", pattern)):
        ways, rest = list(letters[1]), pattern[letters.end() :]
    elif "a" <= sign <= "z" or (before and sign == "'"):
        ways = [sign]
    else:
        raise ValueError
    if rest[:1] == "?":
        ways, rest = ["", *ways], rest[1:]
    elif rest[:1] in ("*", "+", "{"):
        raise ValueError
    for way in ways:
        if len(way) == 1 and way != "(":
            yield from _spelled(rest, before + way)
        else:
            yield from _spelled(way + rest, before)


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
            words = [whole[1]] if whole else _first_words(choice + rest) if rest[:1] in (" ", ":", ",") else []
        if not words:
            return []
        found += words
    return found


def _han_needs(text: str) -> Iterator[list[str]]:
    """The runs of characters, and groups of alternatives that begin with some, that may not be missing."""
    if "|" in _outermost(text):
        each = [next(_han_needs(way), None) for way in _alternatives(text)]
        if all(each):
            yield [word for words in each if words for word in words]
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
    return (run[:-1] if rest[:1] in ("?", "*") and rest else run)[:2].lower()


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
