"""Whether a statement says enough by itself: to be understood where nothing is said around it, and to be a rule."""

from __future__ import annotations

import re

from workbench.extraction.look import ground, look
from workbench.extraction.model import Find
from workbench.extraction.prose import masked
from workbench.extraction.rules import Rules, rules_of
from workbench.extraction.signs import full_commas
from workbench.extraction.weighing import scale_of

_NAME = re.compile(
    r"[`“「『\"]|(?<!\w)--?[a-z][\w-]+|[~.]{0,2}/[\w.@-]+|\w/|\w\.[a-z]{1,5}\b|[A-Za-z0-9]_[A-Za-z0-9]|\b[a-z]+[A-Z]\w+"
    r"|\b[A-Z][a-z]+[A-Z]\w*"
)
"""A path, an option, an identifier or a quotation."""
_OF_SOMETHING = re.compile(r"\b(?:the|our|my|a|an|each|every|all) [\w-]{2,}|\bin \w{3,}", re.IGNORECASE)


_OPENING = re.compile(r"(?:[^,;，；。]{0,11}[,;，；]|)[^,;，；。]*")
"""The first clause, with the one behind it where it is a word or two: what a rule goes on about it may be left open."""
LEAST_LEAD, LEAST_BINDS = 300, 100
"""How far a sentence without a word of rules has to be before process, and a constraint before any other choice."""


def is_clear(text: str) -> bool:
    """Whether a statement names what it speaks of, so that who reads it alone knows what is meant."""
    rules = rules_of(text)
    return not _points(text, rules) and not _is_amount(text, rules)


def _points(text: str, rules: Rules) -> bool:
    """Whether a word of it stands for something that nothing before it names."""
    for match in rules.words["pointing"].finditer(text):
        if not _NAME.search(text[: match.start()]) and not re.match(r"\s?[`“「『\"]", text[match.end() :]):
            return True
    named = rules.words["named_before"]
    for match in rules.words["stands_for"].finditer(text):
        before = text[: match.start()]
        if not _NAME.search(before) and not named.search(before):
            return True
    return False


def _is_amount(text: str, rules: Rules) -> bool:
    """Whether it gives numbers and does not say of what."""
    found = rules.words["amounts"].search(text)
    if found is None:
        return False
    return not _OF_SOMETHING.search(text) and not _NAME.search(text)


def binds(find: Find) -> bool:
    """Whether what was found as a constraint is certain enough to hold as one without anybody being asked.

    It was found by a rule that is rarely wrong or says in so many words that something is to be kept, and it neither
    tells of what is or was, nor orders a single step, nor leaves open what it speaks of.
    """
    if not find.constraint:
        return False
    rules = rules_of(find.text)
    said = full_commas(masked(find.text)).replace("\u2019", "'")
    words = rules.words
    if words["told_of"].search(said) or not is_clear("".join(_OPENING.findall(find.text)[:1])):
        return False
    if find.sure:
        return True
    if words["one_step"].search(said) or words["uncertain"].search(said):
        return False
    return any(words[name].search(said) for name in ("binding", "obliges")) or _is_plainly_one(said, rules)


def _is_plainly_one(said: str, rules: Rules) -> bool:
    """Whether what a sentence is made of speaks for a constraint by far."""
    scale = scale_of(rules.language)
    leaning = scale.further(scale.lean(ground(said, rules)), look(said, rules).signs)
    return leaning.lead >= LEAST_LEAD and leaning.binds >= LEAST_BINDS
