"""What a clause is made of: its subject, its verb, what certain it names; the ground on which it is weighed.

Names, numbers and files count by their sort, words by their class: what is learned from one clause holds for another.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from operator import add
from typing import Any

from workbench.extraction.signs import CODE, HAN, QUOTE

_TOKEN = re.compile(
    # What most begin with comes first; no two begin alike.
    rf"[A-Za-z_](?:[\w.+/@#-]*[\w+#])?(?:'[a-z]+)?|[`{CODE}]+[^`\s]*`?(?:\([^)]*\))?|[{QUOTE}\"“”]+|(?:->|→|=>)"
    r"|[~<>≤≥±$€]?\d(?:[\d.,_:/-]*\d)?[a-zA-Z%°]*|[~.]?/[\w./@*-]*[\w*]|--?[a-z][\w-]+|[^\w\s]"
)
_NAME = re.compile(rf"[`{CODE}]|[a-z]\w*[._/@#]\w|\w*_\w|^[~.]?/\w|[a-z][A-Z]|^--?\w|[A-Z][a-z]+[A-Z]|\w\(\)")
_VERSION = re.compile(r"^v?\d+(?:\.\d+)+$")
_TRIM = re.compile(rf"(?:[^\w`~/\"“‘'(<{HAN}{CODE}{QUOTE}-]+\s*|\(?\d{{1,3}}[.)]\s+)*")
_LABEL = re.compile(r"[^:：，,。]{2,40}[:：=]\s*\S")
_SIZES = (3, 5, 8, 12, 18, 30)
_LENGTHS = (*(f"length {size}" for size in _SIZES), "length more")
_PERSONS = ("I", "we", "you", "they")
Grammar = Mapping[str, frozenset[str]]

_CERTAIN = frozenset(("NAME", "NUM", "VERSION", "PROPER", "CODE", "NUMWORD"))
_COUNTED = _CERTAIN - {"NUMWORD"}


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Words by the class that they belong to, and those that stand for themselves."""

    classes: Mapping[str, str]
    verbs: Mapping[str, str]
    """English verbs in all forms; a word may stand in both."""
    kept: frozenset[str]
    grammar: Mapping[str, frozenset[str]]
    """Closed lists by name: forms of *be*, pronouns, persons."""

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Lexicon:
        """From the table of a language in ``lexicon.toml``; of an English verb all forms are taken."""
        found: dict[str, str] = {}
        verbs: dict[str, str] = {}
        for name, words in data["classes"].items():
            for word in words:
                if not name.startswith("v_") or not word.isascii():
                    found.setdefault(word, name)
                    continue
                for form, ending in _forms(word):
                    verbs.setdefault(form, name + ending)
        grammar = {name: frozenset(words.split()) for name, words in data.get("grammar", {}).items()}
        return cls(found, verbs, frozenset(data.get("kept", "").split()), grammar)

    @cached_property
    def sorts(self) -> Sorts:
        """Of what sort a word is."""
        return Sorts(self)

    @cached_property
    def longest(self) -> Mapping[str, int]:
        """By the sign with which words of a class begin: how long the longest is."""
        found: dict[str, int] = {}
        for word in self.classes:
            found[word[0]] = max(len(word), found.get(word[0], 0))
        return found

    @cached_property
    def persons(self) -> tuple[tuple[str, frozenset[str]], ...]:
        """Persons with the English words for them."""
        return tuple((person, self.grammar[person]) for person in _PERSONS)

    @cached_property
    def helping(self) -> frozenset[str]:
        """Verbs by which the first verb of an English clause is known."""
        return self.grammar["be"] | self.grammar["helping"] | self.grammar["modals"]


class Sorts(dict[str, tuple[str, str, str]]):
    """The sorts of words that were met, since words come again and again; forgotten where they become too many."""

    MOST = 10_000

    def __init__(self, lexicon: Lexicon) -> None:
        super().__init__()
        self._lexicon = lexicon

    def __missing__(self, token: str) -> tuple[str, str, str]:
        if token.isdecimal() and token != "0":
            return self["0"]
        if len(self) >= self.MOST:
            self.clear()
        sorts = self[token] = _sorts(token, self._lexicon)
        return sorts


def _forms(verb: str) -> Iterator[tuple[str, str]]:
    """Base, third person, past and ``-ing`` of a verb; ``write/wrote/written`` names the odd ones."""
    base, *odd = verb.split("/")
    stem = base[:-1] if base.endswith("e") else base
    doubled = stem + stem[-1] if re.search(r"[^aeiou][aeiou][bdgmnprt]$", base) and len(base) < 6 else stem
    third, past = base + ("es" if base.endswith(("s", "sh", "ch", "x", "z", "o")) else "s"), doubled + "ed"
    if base.endswith("y") and base[-2] not in "aeiou":
        third, past = base[:-1] + "ies", base[:-1] + "ied"
    yield base, ""
    yield third, ":s"
    for form in odd or [past]:
        yield form, ":ed"
    yield doubled + "ing", ":ing"


def features_of(body: str, lexicon: Lexicon, language: str) -> set[str]:
    """The features of a clause whose code and quotations are masked."""
    body = body.replace("**", "")
    trimmed = _TRIM.match(body)
    body = (body[trimmed.end() :] if trimmed else body).strip()
    found = _chinese(body, lexicon) if language == "zh" else _english(body, lexicon)
    found += _wording(body, gaps=language == "zh")
    return set(found)


_WORD = re.compile(rf"[a-z']+|\d+|[^\w\s{QUOTE}{CODE}]|[{HAN}]|[{QUOTE}{CODE}]+")
_PARTING = frozenset(",;:，；：。—–")
"""Signs between the pieces of a clause."""


def _wording(body: str, *, gaps: bool) -> list[str]:
    """The words themselves: alone, with the next (or over a gap of one), and where in which piece they stand."""
    words = _words(body.lower())
    found = list(words)
    if gaps:
        found += [f"{one}…{two}" for one, two in zip(words, words[2:], strict=False)]
    else:
        found += [f"{one} {two}" for one, two in pairwise(words)]
        found += map(_stem, filter(str.isalpha, words))
    pieces = _pieces(words)
    for number, piece in enumerate(pieces):
        where = "=" if len(pieces) == 1 else "<" if number == 0 else ">" if number == len(pieces) - 1 else "~"
        if len(pieces) > 1:
            found += [where + word for word in piece]
        # One word, and two, at the beginning and at the end.
        first, last = piece[0], piece[-1]
        found += "^" + first, f"^{where}{first}", last + "$"
        if len(piece) > 1:
            start = f"{first} {piece[1]}"
            found += "^" + start, f"^{where}{start}", f"{piece[-2]} {last}$"
    return found


@lru_cache(maxsize=10_000)
def _stem(word: str) -> str:
    """An English word without its ending: ``caps`` and ``capped`` are met less often than what they are forms of."""
    for ending in ("ing", "ed", "es", "s", "ly"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return "stem " + word[: -len(ending)]
    return "stem " + word


def _pieces(words: list[str]) -> list[list[str]]:
    if _PARTING.isdisjoint(words):
        return [words] if words else []
    found: list[list[str]] = []
    start = 0
    for place, word in enumerate(words):
        if word in _PARTING:
            if place > start:
                found.append(words[start:place])
            start = place + 1
    if start < len(words):
        found.append(words[start:])
    return found


def _words(lowered: str) -> list[str]:
    return [_sign(word) if word[0] in _SPECIAL else word for word in _WORD.findall(lowered)]


_SPECIAL = frozenset(f"0123456789{QUOTE}{CODE}")


def _sign(word: str) -> str:
    return word[0] if word[0] in (QUOTE, CODE) else "0"


def _shape(body: str, certain: int, length: int) -> Iterator[str]:
    yield f"certain things {min(certain, 3)}"
    yield _LENGTHS[bisect_left(_SIZES, length)]
    if _LABEL.match(body):
        yield "label"
    if body[:1].islower():
        yield "begins small"
    if body[-1:] in "!！":
        yield "cries"


# ------------------------------------------------------------------ English


def _english(body: str, lexicon: Lexicon) -> list[str]:
    tokens = _TOKEN.findall(body)
    sorts = _sorted(tokens, lexicon)
    found = [f"has {sort}" for sort in sorts]
    found += [f"{one} {two}" for one, two in pairwise(sorts)]
    first, second = (*sorts, "end", "end")[:2]
    found += f"first {first}", f"first {first} {second}", f"second {second}", f"last {sorts[-1] if sorts else 'end'}"
    found += _frame(sorts, lexicon)
    found += _outline(["n" if sort.startswith("n_") else sort for sort in sorts])
    found += _numbered([token.lower() for token in tokens], sorts)
    found += _shape(body, sum(map(_COUNTED.__contains__, sorts)), len(tokens))
    return found


_OUTLINED = 9
"""Words of a clause that is short enough to be told by what follows what in all of it."""


def _outline(sorts: Sequence[str]) -> list[str]:
    """A short clause from end to end: one without a verb, ``Seed 1337 for all runs``, has little else to be told by."""
    return [f"all {' '.join(sorts)}", f"begins {' '.join(sorts[:4])}"] if len(sorts) <= _OUTLINED else []


def _numbered(tokens: Sequence[str], sorts: Sequence[str]) -> Iterator[str]:
    """What stands around a number, which says of what it is."""
    around = ["^", "^", *tokens, "$"]
    for place, sort in enumerate(sorts, 2):
        if sort == "NUM":
            before, after = around[place - 1], around[place + 1]
            yield f"{before} NUM"
            yield f"NUM {after}"
            yield f"{before} NUM {after}"
            yield f"{around[place - 2]} {before} NUM"


def _frame(sorts: Sequence[str], lexicon: Lexicon) -> list[str]:
    """Who does what: subject, verb, persons, tense."""
    grammar = lexicon.grammar
    subject, verb, place = _head(sorts, lexicon)
    head = next((sort for sort in reversed(sorts[:place]) if sort[:2] == "n_" or sort in _CERTAIN), "other")
    persons = "".join([person for person, words in lexicon.persons if not words.isdisjoint(sorts)]) or "nobody"
    certain = "vague" if _CERTAIN.isdisjoint(sorts) else "certain"
    found = [f"subject {subject}", f"verb {verb}", f"subject {subject}, verb {verb}", f"head {head}, verb {verb}"]
    found += f"persons {persons}", f"persons {persons}, verb {verb}", f"{subject}, {certain}, {_tense(verb, grammar)}"
    if verb in grammar["be"] or verb in ("be", "has", "have"):
        said = next((sort for sort in sorts[place + 1 :] if sort not in grammar["light"]), "end")
        found += f"said of it {said}", f"head {head}, said of it {said}"
    return found


def _sorted(tokens: Iterable[str], lexicon: Lexicon) -> list[str]:
    """The sorts of the words of a clause."""
    sorts, before_nouns = lexicon.sorts, lexicon.grammar["before_nouns"]
    found: list[str] = []
    before = ""
    for token in tokens:
        first, noun, other = sorts[token]
        before = first if not before else noun if before[:2] == "n_" or before in before_nouns else other
        found.append(before)
    return found


def _sorts(token: str, lexicon: Lexicon) -> tuple[str, str, str]:
    """A word as itself or by its class; a name, a number, a file by its sort.

    Returns:
        What it is where it begins a clause, where a noun is likely, and anywhere else.
    """
    lowered = token.lower()
    verb, other = lexicon.verbs.get(lowered, ""), lexicon.classes.get(lowered, "")
    if CODE in token:
        sort = "CODE"
    elif token[0] in f'{QUOTE}"“”':
        sort = "QUOTE"
    elif lowered in lexicon.kept:
        sort = lowered
    elif verb and other:
        return verb, other, verb
    elif verb or other:
        sort = verb or other
    elif _NAME.search(token):
        sort = "NAME"
    elif token[0].isdigit() or token[:2].lstrip("~<>≤≥±$€")[:1].isdigit():
        sort = "VERSION" if _VERSION.match(token) else "NUM"
    elif token in ("->", "→", "=>"):
        sort = "ARROW"
    elif not token[0].isalpha():
        sort = token
    elif token[0].isupper():
        return _ending(lowered), "PROPER", "PROPER"
    else:
        sort = _ending(lowered)
    return sort, sort, sort


def _ending(word: str) -> str:
    if word.endswith("n't"):
        return "n't"
    for ending in ("ing", "ed", "ly", "ss", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return "w" + ("" if ending == "ss" else ending)
    return "w"


def _tense(verb: str, grammar: Grammar) -> str:
    if verb in grammar["past"] or verb.endswith((":ed", "wed")):
        return "past"
    if verb.endswith("ing"):
        return "going on"
    if verb.startswith("order"):
        return "order"
    if verb in ("none", "end"):
        return "no verb"
    return "modal" if verb in grammar["modals"] else "present"


def _head(sorts: Sequence[str], lexicon: Lexicon) -> tuple[str, str, int]:
    """What the subject is made of, the form of the first verb, and where it stands."""
    grammar, helping = lexicon.grammar, lexicon.helping
    if not sorts:
        return "none", "none", 0
    first = sorts[0]
    if first.startswith("v_") and ":" not in first and not (len(sorts) > 1 and sorts[1] in helping):
        return "none", "order " + first, 0
    if first.startswith("v_") or first in ("wing", "wed"):
        return "none", first, 0
    subject = _subject(first, grammar)
    if "'" in first:
        return subject, first, 0
    for place, sort in enumerate(sorts[1:10], 1):
        if sort in helping:
            return subject, "be" if sort in ("is", "are", "'s") else sort, place
        told = ":" in sort or place == 1 or sorts[place - 1] in grammar["pronouns"] or subject == "noun"
        if sort.startswith("v_") and told:
            return subject, sort, place
        if sort == "ws" and subject in ("the", "name", "it", "this", "noun") and _follows(sorts, place, grammar):
            return subject, "ws", place
        if sort in (":", ";"):
            break
    return subject, "none", len(sorts)


def _subject(first: str, grammar: Grammar) -> str:
    if first in grammar["pronouns"]:
        return first
    if first in grammar["determiners"]:
        return "the"
    if first in ("NAME", "CODE", "PROPER"):
        return "name"
    if first == "NUM":
        return "number"
    return "noun" if first in ("w", "ws", "wss") or first.startswith("n_") else "other"


def _follows(sorts: Sequence[str], place: int, grammar: Grammar) -> bool:
    """Whether a word in -s is likely a verb: an object or a preposition comes next."""
    after = sorts[place + 1] if place + 1 < len(sorts) else "end"
    return after in grammar["determiners"] or after in grammar["after_verbs"]


# ------------------------------------------------------------------ Chinese

_LATIN = re.compile(rf"[`{CODE}]+[^`\s]*`?|[~.]?/[\w./@*-]+|[A-Za-z_][\w.+/@#-]*")
_NUMBER = re.compile(
    r"[~<>≤≥]?v?\d[\d.,_:/-]*(?:[a-zA-Z%]{1,3}(?![a-zA-Z]))?|[一二两三四五六七八九十百千]+(?=[个条次台份张秒天页行种位核人小分])"
)
_CITED = re.compile(f'["“「『‘]?{QUOTE}+["”」』’]?')
_CLASSED = 6
"""Known words of a clause that is short enough to be told by what follows what in all of it."""
_STANDING = frozenset("NFL")
"""What stands for a number, a name, a word in Latin letters."""


def _chinese(body: str, lexicon: Lexicon) -> list[str]:
    cited = _CITED.sub("Q", body) if QUOTE in body else body
    shown = "".join(_NUMBER.sub("N", _LATIN.sub(_letter, cited)).split()).rstrip("。.!！")
    found = list(map(add, shown, shown[1:]))
    found += (f"first {shown[:1]}", f"first {shown[:2]}", f"last {shown[-1:]}", f"last {shown[-2:]}")
    placed = list(_classes(shown, lexicon))
    classes = [name for _, name in placed]
    found += [f"class {name}" for name in classes]
    found += [f"{one} then {two}" for one, two in pairwise(["begin", *classes, "end"])]
    if len(classes) <= _CLASSED:
        found.append(f"all {' '.join(classes)}")
    for place, character in enumerate(shown):
        if character == "N":  # what stands around a number says of what it is
            found += f"{shown[max(0, place - 2) : place]} before N", f"{shown[place + 1 : place + 3]} after N"
    persons = "".join([word for word in ("我们", "我", "你", "他") if word in shown]) or "nobody"
    certain = "vague" if _STANDING.isdisjoint(shown) else "certain"
    leading = classes[0] if classes else "other"
    found += (f"persons {persons}", f"{persons}, {certain}", f"{leading}, {persons}, {certain}")
    if placed and placed[0][0] == 0:
        found.append(f"first class {leading}")
    if verb := next((one for one in placed if one[1].startswith("v_")), None):
        found.append(f"{'begins with' if verb[0] == 0 else 'later'} {verb[1]}")
    found += _shape(body, sum(map(shown.count, _STANDING)), len(shown))
    return found


def _letter(match: re.Match[str]) -> str:
    """What stands for a word in Latin letters."""
    if match[0].upper() in ("TODO", "FIXME", "TBD"):
        return "T"
    return "F" if _NAME.search(match[0]) else "L"


def _classes(shown: str, lexicon: Lexicon) -> Iterator[tuple[int, str]]:
    """The classes of the words of a clause with their places; of words that begin together the longest."""
    classes = lexicon.classes
    after = 0
    for place, longest in enumerate(map(lexicon.longest.get, shown)):
        if longest is None or place < after:
            continue
        for size in range(longest, 0, -1):
            if name := classes.get(shown[place : place + size]):
                yield place, name
                after = place + size
                break
