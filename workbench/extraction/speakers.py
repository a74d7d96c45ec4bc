"""Telling that a line is said by somebody else: ``Bob: …``, ``PM — …``, ``老王：…``, and talk pasted from a chat."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

from workbench.extraction.prose import LONGEST
from workbench.extraction.rules import LANGUAGES, rules_for, things
from workbench.extraction.sentences import is_han
from workbench.extraction.weighing import lexicon_of

Who = Literal["other", "perhaps", "either", "herself"]
"""``perhaps``: a word that may be a name; ``either``: one who speaks where others do so around."""

_CLOCK = r"\[?\(?\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?:\s?[AaPp]\.?[Mm]\.?)?\]?\)?"
_MARKED = re.compile(r"[:：–—>→]|\s-|\d[:.]\d\d")
_SAYS = (
    r"\s(?:says|said|writes|wrote|asks|asked|replies|replied|answered|insists|claims)"
    r"(?:\s(?:to\s)?(?:me|us|this|that|today|yesterday))*"
)
_NAME = r"[^\W\d_][\w.'-]{0,20}(?:\s[^\W\d_][\w.'-]{0,20}){0,3}?"
_OPENING = re.compile(
    rf"(?P<clock>{_CLOCK}\s*(?:[-–—]\s*)?)?(?P<at>@)?(?P<name>{_NAME})(?P<says>{_SAYS})?"
    rf"(?:\s?[(（][^()（）]{{1,24}}[)）]|,\s(?:{_CLOCK}|[\w' ]{{2,24}})|\s{_CLOCK})?"
    r"(?:\s?(?P<colon>：|:(?=\s|$|[^\x00-\x7f]))|\s+(?:[–—-]{1,2}|->|→)\s+|>\s?|(?<=[\u3400-\u9fff])[–—]{1,2})\s*"
)
_STAMPED = re.compile(rf"(?P<name>{_NAME})\s+(?:\[?\d{{4}}-\d\d-\d\d\s)?{_CLOCK}$")
_ARTICLE = re.compile(r"(?:the|our|my|a|his|her|their)\s", re.IGNORECASE)
_RULING = re.compile(
    r"(?:please|never|always|do not|don.?t|dont|must|you|we|i|i'm|i'd|let.?s|use|no|stop|keep|make sure)\b"
    r"|(?:the|our|this|that|it) ",
    re.IGNORECASE,
)
_MARKS = re.compile(r"\s*(?:(?:[-*+•]|\(?\d{1,3}[.)])\s+)?")
_ENDS = re.compile(r"[.!?。！？…:：;；]$")
_TALK = re.compile("[不别保避必须要得应该请用禁我是把都只没有吧吗了]")
_SIGNED = re.compile(r"(?:(?<!—)—+|–|--|\s-)\s*(?P<name>[A-Z][a-z]+|[\u3400-\u9fff]{2,3})[.。]?$")
_DASH = re.compile("[—–-]")
_LEAST_WORDS = 3
_LONG = 60


class Turns(NamedTuple):
    """Which lines of a text, from 1, are said by somebody else, and which perhaps are."""

    others: frozenset[int]
    perhaps: frozenset[int]


@dataclass(frozen=True)
class Speakers:
    """Who may speak."""

    given: frozenset[str]
    others: frozenset[str]
    either: frozenset[str]
    herself: frozenset[str]
    words: frozenset[str]
    """Words that are no names of people."""
    endings: tuple[str, ...]
    han: re.Pattern[str]
    sections: frozenset[str]
    """Words that end what others say, as ``Decision:`` below a talk."""

    def who(self, name: str, rest: str, *, labelled: bool) -> Who | None:
        """Who speaks under a name; None: it is what a line is about.

        Args:
            name: What stands before the colon or the dash.
            rest: What stands behind it.
            labelled: Whether a colon stands between.
        """
        article = _ARTICLE.match(name)
        bare = name[article.end() :] if article else name
        lowered = bare.lower()
        if lowered in self.herself:
            return "herself"
        if lowered in self.either:
            return "other" if article and _RULING.match(rest) else "either"
        if lowered in self.others or name.lower() in self.others or self.is_called(name):
            return "other" if not rest or _is_talk(rest) else "either"
        return "perhaps" if labelled and not article and self._may_be_called(name) and _RULING.match(rest) else None

    def is_called(self, name: str) -> bool:
        """Whether a known person's name."""
        first, *further = name.split()
        if self.han.fullmatch(name):
            return True
        return first.lower() in self.given and all(
            word[:1].isupper() and word.lower() not in self.words for word in further
        )

    def _may_be_called(self, name: str) -> bool:
        words = name.split()
        return len(words) < 3 and all(
            re.fullmatch(r"[A-Z][a-z]{2,11}", word)
            and word.lower() not in self.words
            and not word.lower().endswith(self.endings)
            for word in words
        )


def _is_talk(rest: str) -> bool:
    """Whether words are more than the value of a field, as in ``Reviewer: Ann``."""
    return _TALK.search(rest) is not None if is_han(rest) else len(rest.split()) >= _LEAST_WORDS


@cache
def speakers() -> Speakers:
    """Who may speak, by ``rules/speakers.toml``; words of the rules are no names."""
    data = tomllib.loads((files(__package__) / "rules" / "speakers.toml").read_text("utf-8"))
    known: set[str] = {*data["topics"].split(), *things().keys}
    sections: set[str] = set()
    for language in LANGUAGES:
        rules, lexicon = rules_for(language), lexicon_of(language)
        sections |= {*rules.sections}
        known |= {*rules.names, *rules.sections, *lexicon.classes, *lexicon.verbs, *lexicon.kept}
    family, beside = data["family"], f"[{data['family']}{data['family_beside']}]"
    given = frozenset(data["given"].split())
    return Speakers(
        given,
        frozenset((*data["assistants"], *data["roles"])),
        frozenset(data["either"]),
        frozenset(data["herself"]),
        frozenset(known - given),
        tuple(data["endings"].split()),
        re.compile(
            rf"(?!{data['no_family']})(?:[老小阿]{beside}|[小阿老][{data['given_zh']}]|{beside}(?:{data['titles']})"
            rf"|(?:{data['family_long']})(?:{data['titles']}|[\u3400-\u9fff]{{1,2}})|[{family}][\u3400-\u9fff]{{1,2}})"
        ),
        frozenset(sections),
    )


def speaks(line: str) -> Who | None:
    """Who is named as its speaker at the beginning of a line, or signs it."""
    if not _may_speak(line):
        return None
    line = _bare(line)
    return _speaks(line) if _MARKED.search(line) else None


def _may_speak(text: str) -> bool:
    """Whether a text has what stands behind a speaker's name; told before its marks are taken off."""
    return _MARKED.search(text) is not None or "**" in text


def _speaks(line: str) -> Who | None:
    if len(line) > LONGEST:
        return None
    signed = _SIGNED.search(line) if _DASH.search(line) else None
    if signed and _is_talk(line[: signed.start()]) and speakers().is_called(signed["name"]):
        return "other"
    opening = _OPENING.match(line)
    if not opening:
        return None
    if opening["says"] and opening["name"].lower().split()[-1] in (*speakers().herself, "you"):
        return "herself"
    if opening["at"] or (opening["says"] and opening["colon"]):
        return "other"
    who = speakers().who(opening["name"], line[opening.end() :], labelled=opening["colon"] is not None)
    return "other" if who in (None, "perhaps") and opening["clock"] and opening["colon"] else who


_NOBODY = Turns(frozenset(), frozenset())


def turns_of(text: str) -> Turns:
    """Who said which lines of a text.

    A name that stands alone speaks for the lines below it, up to an empty one; a name before words for its own
    line, and where several speak in turn for those below it, too.
    """
    if not _may_speak(text):
        return _NOBODY
    lines = text.split("\n")
    named = [_named(line) for line in lines]
    if not any(named):
        return _NOBODY
    perhaps = frozenset(number for number, who in enumerate(named, 1) if who == "perhaps")
    if "other" not in named:
        return Turns(frozenset(), perhaps)
    in_turn = sum(who is not None for who in named) > 1
    others: set[int] = set()
    going_on = waiting = False
    for number, (line, who) in enumerate(zip(lines, named, strict=True), 1):
        if not line.strip():
            going_on, waiting = waiting, False
            continue
        alone = False
        if who == "other" or (in_turn and who in ("either", "perhaps")):
            alone = _stands_alone(line)
            going_on = in_turn or alone
            others.add(number)
        elif who == "herself" or _is_section(line):
            going_on = False
        elif going_on or (number - 1 in others and _goes_on(lines[number - 2])):
            others.add(number)
        waiting = alone
    return Turns(frozenset(others), perhaps - others)


def _named(line: str) -> Who | None:
    line = _bare(line)
    if not _MARKED.search(line):
        return None
    stamped = _STAMPED.match(line)
    return speakers().who(stamped["name"], "", labelled=True) if stamped else _speaks(line)


def _is_section(line: str) -> bool:
    opening = _OPENING.match(_bare(line))
    return opening is not None and opening["name"].lower() in speakers().sections


def _stands_alone(line: str) -> bool:
    line = _bare(line)
    opening = _OPENING.match(line)
    return opening is None or opening.end() == len(line)


def _bare(line: str) -> str:
    """A line without the marks of an item and of emphasis."""
    marks = _MARKS.match(line)
    return (line[marks.end() :] if marks else line).replace("**", "").rstrip()


def _goes_on(before: str) -> bool:
    """Whether an editor may have wrapped a line."""
    return len(before) >= _LONG and not _ENDS.search(before)
