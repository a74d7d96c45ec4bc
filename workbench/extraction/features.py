"""What a clause is made of: its subject, its verb, what certain it names; the ground on which it is weighed.

Names, numbers and files count by their sort, words by their class: what is learned from one clause holds for another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from workbench.extraction.notation import CODE, HAN, QUOTE

_TOKEN = re.compile(
    rf"[`{CODE}]+[^`\s]*`?(?:\([^)]*\))?|[{QUOTE}\"“”]+|(?:->|→|=>)|[~<>≤≥±$€]?\d(?:[\d.,_:/-]*\d)?[a-zA-Z%°]*"
    r"|[~.]?/[\w./@*-]*[\w*]|--?[a-z][\w-]+|[A-Za-z_](?:[\w.+/@#-]*[\w+#])?(?:'[a-z]+)?|[^\w\s]"
)
_NAME = re.compile(rf"[`{CODE}]|[a-z]\w*[._/@#]\w|\w*_\w|^[~.]?/\w|[a-z][A-Z]|^--?\w|[A-Z][a-z]+[A-Z]|\w\(\)")
_VERSION = re.compile(r"^v?\d+(?:\.\d+)+$")
_TRIM = re.compile(rf"^(?:[^\w`~/\"“‘'(<{HAN}{CODE}{QUOTE}-]+\s*|\(?\d{{1,3}}[.)]\s+)+")
_LABEL = re.compile(r"[^:：，,。]{2,40}[:：=]\s*\S")
_SIZES = (3, 5, 8, 12, 18, 30)
_PIECE = 4
"""Letters that are looked at together: they hold the stem of a word, or its ending with the word after it."""
_PERSONS = ("I", "we", "you", "they")
Grammar = Mapping[str, frozenset[str]]

_SIGNS = {"NAME": "F", "NUM": "N", "VERSION": "V", "CODE": "C", "PROPER": "P", "QUOTE": "Q"}
"""What stands for a word of a sort where letters are looked at."""
_CERTAIN = frozenset(("NAME", "NUM", "VERSION", "PROPER", "CODE", "NUMWORD"))


@dataclass(frozen=True)
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
    body = _TRIM.sub("", body.replace("**", "")).strip()
    return _chinese(body, lexicon) if language == "zh" else _english(body, lexicon)


def _shape(body: str, certain: int, length: int) -> set[str]:
    found = {f"certain things {min(certain, 3)}"}
    found.add("length " + next((str(limit) for limit in _SIZES if length <= limit), "more"))
    if _LABEL.match(body):
        found.add("label")
    if body[:1].islower():
        found.add("begins small")
    if body[-1:] in "!！":
        found.add("cries")
    return found


# ------------------------------------------------------------------ English


def _english(body: str, lexicon: Lexicon) -> set[str]:
    tokens = _TOKEN.findall(body)
    sorts: list[str] = []
    for token in tokens:
        sorts.append(_sort(token, sorts[-1] if sorts else "", lexicon))
    found = {f"has {sort}" for sort in sorts} | {f"{one} {two}" for one, two in pairwise(sorts)}
    found |= {f"word {token.lower()}" for token, sort in zip(tokens, sorts, strict=True) if sort[:1] in "wv-"}
    first, second = (*sorts, "end", "end")[:2]
    found |= {f"first {first}", f"first {first} {second}", f"second {second}"}
    found.add(f"last {sorts[-1] if sorts else 'end'}")
    found |= _frame(sorts, lexicon.grammar)
    written = " ".join(_SIGNS.get(sort, token.lower()) for token, sort in zip(tokens, sorts, strict=True))
    written = f"^{written}$"
    found |= {written[place : place + _PIECE] for place in range(len(written) - _PIECE + 1)}
    return found | _shape(body, sum(sort in _CERTAIN - {"NUMWORD"} for sort in sorts), len(tokens))


def _frame(sorts: Sequence[str], grammar: Grammar) -> set[str]:
    """Who does what: subject, verb, persons, tense."""
    subject, verb, place = _head(sorts, grammar)
    heads = [sort for sort in sorts[:place] if sort[:2] == "n_" or sort in _CERTAIN]
    head = heads[-1] if heads else "other"
    persons = "".join(p for p in _PERSONS if not grammar[p].isdisjoint(sorts)) or "nobody"
    certain = "vague" if _CERTAIN.isdisjoint(sorts) else "certain"
    found = {f"subject {subject}", f"verb {verb}", f"subject {subject}, verb {verb}", f"head {head}, verb {verb}"}
    found |= {f"persons {persons}", f"persons {persons}, verb {verb}", f"{subject}, {certain}, {_tense(verb, grammar)}"}
    if verb in grammar["be"] or verb in ("be", "has", "have"):
        said = next((sort for sort in sorts[place + 1 :] if sort not in grammar["light"]), "end")
        found |= {f"said of it {said}", f"head {head}, said of it {said}"}
    return found


def _sort(token: str, before: str, lexicon: Lexicon) -> str:
    """A word as itself or by its class; a name, a number, a file by its sort."""
    if CODE in token:
        return "CODE"
    if token[0] in f'{QUOTE}"“”':
        return "QUOTE"
    lowered = token.lower()
    if lowered in lexicon.kept:
        return lowered
    verb, other = lexicon.verbs.get(lowered), lexicon.classes.get(lowered)
    if verb and other:
        return other if before in lexicon.grammar["before_nouns"] or before[:2] == "n_" else verb
    if verb or other:
        return verb or other or ""
    if _NAME.search(token):
        return "NAME"
    if token[0].isdigit() or token[:2].lstrip("~<>≤≥±$€")[:1].isdigit():
        return "VERSION" if _VERSION.match(token) else "NUM"
    if token in ("->", "→", "=>"):
        return "ARROW"
    if not token[0].isalpha():
        return token
    return "PROPER" if before and token[0].isupper() else _ending(lowered)


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


def _head(sorts: Sequence[str], grammar: Grammar) -> tuple[str, str, int]:
    """What the subject is made of, the form of the first verb, and where it stands."""
    if not sorts:
        return "none", "none", 0
    first = sorts[0]
    helping = grammar["be"] | grammar["helping"] | grammar["modals"]
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
_LONGEST_WORD = 5


def _chinese(body: str, lexicon: Lexicon) -> set[str]:
    shown = re.sub(r"\s+", "", _NUMBER.sub("N", _LATIN.sub(_letter, _CITED.sub("Q", body)))).rstrip("。.!！")
    found = {f"has {char}" for char in shown} | {one + two for one, two in pairwise(shown)}
    found |= {shown[place : place + 3] for place in range(len(shown) - 2)}
    found |= {f"first {shown[:1]}", f"first {shown[:2]}", f"last {shown[-1:]}", f"last {shown[-2:]}"}
    placed = list(_classes(shown, lexicon))
    classes = [name for _, name in placed]
    found |= {f"class {name}" for name in classes}
    found |= {f"{one} then {two}" for one, two in pairwise(["begin", *classes, "end"])}
    for number, one in enumerate(classes):
        found |= {f"{one} before {two}" for two in classes[number + 1 : number + 4] if one != two}
    persons = "".join(word for word in ("我们", "我", "你", "他") if word in shown) or "nobody"
    certain = "vague" if set("NFL").isdisjoint(shown) else "certain"
    leading = classes[0] if classes else "other"
    found |= {f"persons {persons}", f"{persons}, {certain}", f"{leading}, {persons}, {certain}"}
    found |= {f"first class {classes[0]}" for place, _ in placed[:1] if place == 0}
    if verb := next(((place, name) for place, name in placed if name.startswith("v_")), None):
        found.add(f"{'begins with' if verb[0] == 0 else 'later'} {verb[1]}")
    return found | _shape(body, sum(map(shown.count, "NFL")), len(shown))


def _letter(match: re.Match[str]) -> str:
    """What stands for a word in Latin letters."""
    if match[0].upper() in ("TODO", "FIXME", "TBD"):
        return "T"
    return "F" if _NAME.search(match[0]) else "L"


def _classes(shown: str, lexicon: Lexicon) -> Iterator[tuple[int, str]]:
    """The classes of the words of a clause with their places; of words that begin together the longest."""
    place = 0
    while place < len(shown):
        for size in range(_LONGEST_WORD, 0, -1):
            if name := lexicon.classes.get(shown[place : place + size]):
                yield place, name
                place += size
                break
        else:
            place += 1
