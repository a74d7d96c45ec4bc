"""Judging one sentence: whether it states something, one thing or two, and of which kind."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from operator import mul
from typing import NamedTuple

from workbench.extraction.look import OF_THE_ARTIFACT, Look, Statement, best, clauses_of, ground, look
from workbench.extraction.model import PRECEDENCE, Kind
from workbench.extraction.reading import read
from workbench.extraction.rules import OWN, Rule, Rules
from workbench.extraction.signs import small
from workbench.extraction.weighing import COLUMNS, Leaning, scale_of

LEAST_LEAD: Mapping[str, int] = {"en": 0, "zh": 40}
"""On the scale, in hundredths, by language: how far before process a sentence has to be to state something."""
LEAST_AGAINST = 150
"""The same of a sentence that a rule calls process."""
LEAST_HEEDED = -300
"""The same of what a marker finds that is sometimes wrong, where it binds."""
LEAST_BINDS = -80
"""From where on the scale a decision is a constraint."""
LEAST_OF_A_RULE = -420
"""The same of what a marker of a constraint finds, which else stands as it is."""
HOPELESS = -350
"""What is so far behind process by what it is made of stays process whatever the rules say: they are not asked."""
_DICTATED = 200
"""Characters of a sentence that goes on and on, of which what is said last weighs nothing against all the rest."""
_SHORTEST_PIECE = 4
_MOST_CLAUSES = 8
"""Of a sentence that is cut in two those between which it may be: each takes as long as the whole."""
LEAST_SECOND, LEAST_TWO = -400, -900
"""How far before process a further kind has to be in a sentence that is looked at for two statements, and how far two
before one, by its words: what is further from two is hardly ever that."""
LEADS_APART = (82, 79, 21, 25, 22, -42, -39, 29)
"""What speaks for two statements, in hundredths of how likely, as a logarithm, it is that the first piece alone is of
the first kind, the second of the second, the whole of the first, of the second, of none, and each piece of none; and
how much more speaks, by what it is made of, for two."""
SIGNS_APART = (138, -80, 59)
"""The same of a strong stop between the pieces, of each clause there is, and of Chinese."""
KINDS_APART: Mapping[tuple[Kind, Kind], int] = {
    ("decision", "fact"): -7,
    ("decision", "artifact"): 187,
    ("decision", "open"): 96,
    ("fact", "decision"): -10,
    ("fact", "artifact"): 1,
    ("fact", "open"): 160,
    ("artifact", "decision"): -93,
    ("artifact", "fact"): 91,
    ("artifact", "open"): 206,
    ("open", "decision"): -140,
    ("open", "fact"): -39,
    ("open", "artifact"): -17,
}
"""The same of a kind and another after it."""
LEAST_APART, LEAST_OF_A_RULE_APART = -100, 0
"""What they come to at least where a sentence is two statements, and where it lays down a rule, which had better stay
whole; ``python -m tests.extraction.context`` fits them."""
CLEAR = 250
"""How far before process a decision or a thing made has to be to be one whatever is said around it."""
_PART_OF_OPEN: frozenset[Kind] = frozenset({"open", "fact"})
_LAID_DOWN: frozenset[Kind] = frozenset({"decision", "fact"})
"""What a marker finds where a sentence lays down a rule, or says what a known thing is, whatever the scale says."""
_COLUMN: Mapping[Kind, int] = {kind: COLUMNS.index(kind) for kind in PRECEDENCE}
_UNLIKELY = 1e-9
WEIGHED = Rule("weighed", markers=(), unless=())
"""Stands for the scale where no rule found a statement."""


def weigh(text: str, rules: Rules) -> Leaning:
    """What the scale says of a sentence, or a piece of one, before the rules are asked."""
    return scale_of(rules.language).lean(ground(text, rules))


def judge(masked: str, rules: Rules, weighed: Leaning, beside: int = 0) -> tuple[Statement, ...]:
    """The statements of a sentence in which code and others' words are masked; empty: it is process.

    Args:
        masked: The sentence.
        rules: Those of its language.
        weighed: What the scale says of it.
        beside: What the sentences around it say, see :meth:`~workbench.extraction.weighing.Scale.beside`.
    """
    if not weighed.leads(HOPELESS) and not (rules.has_own_words or rules.words["obliges"].search(small(masked))):
        return ()
    seen = look(masked, rules)
    if seen.shut:
        return ()
    if not seen.against and any(statement.rule.final for statement in seen.marked):
        own = any(statement.rule.name == OWN for statement in seen.marked)
        return seen.marked if own or _is_laid_down(masked, weighed, seen, rules) else ()
    whole = _weighed(masked, weighed, seen, rules, LEAST_LEAD[rules.language], beside)
    return _apart(whole, seen, masked, rules) if whole else ()


def _is_laid_down(masked: str, weighed: Leaning, seen: Look, rules: Rules) -> bool:
    """Whether what a marker of a constraint finds is one, by the whole or, of what is dictated on and on, by itself."""
    scale = scale_of(rules.language)
    if scale.further(weighed, seen.signs).lead >= LEAST_OF_A_RULE:
        return True
    ruled = [clause for clause in seen.clauses if (rule := best(clause.body, rules, clause.barred)) and rule.final]
    return len(masked) > _DICTATED and any(
        scale.further(weigh(masked[clause.start : clause.end], rules), seen.signs).lead >= LEAST_OF_A_RULE
        for clause in ruled
    )


class _Weighed(NamedTuple):
    """What a sentence, or a piece of one, states as a whole; how clearly, and which rule found it."""

    kind: Kind
    lead: int
    leaning: Leaning
    rule: Rule

    def over_process(self, kind: Kind) -> int:
        """How far before process a kind is."""
        return self.leaning.scores[kind] - self.leaning.scores[None]

    def stated(self, start: int, end: int) -> Statement:
        """It, as the statement of a stretch."""
        return Statement(self.kind, start, end, self.rule, self.leaning.binds > LEAST_BINDS)


def _among(leaning: Leaning, beside: int, seen: Look) -> Leaning:
    """What a sentence is among others: what is not clear by itself may be part of what is open beside it, or open."""
    if any(statement.kind != "open" for statement in seen.marked):
        return leaning
    if leaning.kind not in _PART_OF_OPEN and leaning.leads(CLEAR):
        return leaning
    found = leaning.with_(beside)
    if found.kind == "open":
        return found
    return found if found.kind == leaning.kind and found.lead <= leaning.lead else leaning


def _weighed(text: str, bare: Leaning, seen: Look, rules: Rules, least: int, beside: int = 0) -> _Weighed | None:
    """What the scale says, on which what the rules say lies too; None: process."""
    leaning = scale_of(rules.language).further(bare, seen.signs)
    if beside:
        leaning = _among(leaning, beside, seen)
    kind, marked = leaning.kind, None if seen.against else next(iter(seen.marked), None)
    if not seen.against and rules.set_thing.match(small(ground(text, rules))):
        kind = "decision" if leaning.scores["decision"] > leaning.scores["fact"] else "fact"
    else:
        told = leaning.lead >= (LEAST_AGAINST if seen.firm else least)
        if seen.firm and told and _binds(text, rules):
            return None
        if marked and not (told and (kind == marked.kind or marked.kind not in _LAID_DOWN)):
            # A rule that is laid down, or what a known thing is, is found where a marker finds it.
            heeded = marked.rule.sure or leaning.lead > LEAST_HEEDED
            kind, told = (marked.kind, True) if heeded and _binds(text, rules) else (kind, told)
        if not told:
            return None
    if kind == "artifact" and rules.words["ordered"].match(small(ground(text, rules))):
        return None  # it is asked for, not made
    rule = next((statement.rule for statement in seen.marked if statement.kind == kind), WEIGHED)
    return _Weighed(kind, leaning.lead, leaning, rule)


def _binds(text: str, rules: Rules) -> bool:
    """Whether a sentence lays down a rule, or what a thing is that is known by name, or corrects itself."""
    lowered = small(text)
    if any(pattern.search(lowered) for pattern in (rules.words["obliges"], rules.set_thing, rules.forbidding)):
        return True
    reading = read(text, rules)
    return reading.old is not None or reading.key in rules.known_keys


class Piece(NamedTuple):
    """A piece of a sentence, as it is if nothing else is said."""

    look: Look
    leaning: Leaning
    logs: tuple[float, ...]
    """How likely each column is, as logarithms."""

    def stated(self, kind: Kind, start: int, end: int) -> Statement:
        """It, as a statement of a kind, in the place where it stands."""
        rule = next((statement.rule for statement in self.look.marked if statement.kind == kind), WEIGHED)
        return Statement(kind, start, end, rule, self.leaning.binds > LEAST_BINDS)


class Cut(NamedTuple):
    """A place at which a sentence may be cut into two statements, and of which kinds they would be."""

    start: int
    """Where the second begins."""
    before: Piece
    after: Piece
    kinds: tuple[Kind, Kind]
    leads: tuple[float, ...]
    signs: tuple[int, ...]
    """What speaks for it, see ``LEADS_APART`` and ``SIGNS_APART``."""

    @property
    def score(self) -> float:
        """How clearly there are two, in hundredths."""
        leads: float = sum(map(mul, self.leads, LEADS_APART))
        signs: int = sum(map(mul, self.signs, SIGNS_APART))
        return leads + signs + KINDS_APART[self.kinds]


def _apart(whole: _Weighed, seen: Look, masked: str, rules: Rules) -> tuple[Statement, ...]:
    """A statement, cut in two where two of other kinds are likelier."""
    cut = max(_cuts(whole, masked, rules), key=lambda cut: cut.score, default=None)
    rules_work = whole.kind == "decision" and whole.leaning.binds > LEAST_BINDS
    if cut is None or cut.score < (LEAST_OF_A_RULE_APART if rules_work else LEAST_APART):
        return (whole.stated(seen.start, seen.end),)
    first, other = cut.kinds
    start, end = (seen.start if seen.start < cut.start else 0), (seen.end if cut.start < seen.end else len(masked))
    return (cut.before.stated(first, start, cut.start), cut.after.stated(other, cut.start, end))


def cuts_of(masked: str, rules: Rules) -> list[Cut] | None:
    """Where a sentence might be cut in two, however little speaks for it; None where no scale judges it.

    It is here for who fits what has to speak for two.
    """
    weighed = weigh(masked, rules)
    if not weighed.leads(HOPELESS):
        return None
    seen = look(masked, rules)
    if seen.shut or (not seen.against and any(statement.rule.final for statement in seen.marked)):
        return None
    whole = _weighed(masked, weighed, seen, rules, LEAST_LEAD[rules.language])
    return list(_cuts(whole, masked, rules)) if whole else None


def _cuts(whole: _Weighed, masked: str, rules: Rules) -> Iterator[Cut]:
    if whole.leaning.two < LEAST_TWO:
        return
    if max([whole.over_process(kind) for kind in PRECEDENCE if kind != whole.kind]) < LEAST_SECOND:
        return
    of_whole = _logs(whole.leaning)
    clauses = clauses_of(masked, rules)
    for last, clause in pairwise(clauses[:_MOST_CLAUSES]):
        after = _alone(masked[clause.start :], rules)
        before = _alone(masked[: last.end], rules) if after else None
        if before is None or after is None:
            continue
        signs = (int(clause.strong), min(len(clauses), 6), int(rules.language == "zh"))
        for one, other in KINDS_APART:
            if one == "artifact" and other != "open" and OF_THE_ARTIFACT.match(clause.body):
                continue
            first, second = _COLUMN[one], _COLUMN[other]
            leads = (
                before.logs[first],
                after.logs[second],
                of_whole[first],
                of_whole[second],
                of_whole[-1],
                before.logs[-1],
                after.logs[-1],
                whole.leaning.two / 100,
            )
            yield Cut(clause.start, before, after, (one, other), leads, signs)


def _alone(text: str, rules: Rules) -> Piece | None:
    """What a piece of a sentence would be if nothing else were said; None where it would be nothing."""
    text = text.strip()
    if len(text) < _SHORTEST_PIECE:
        return None
    weighed = weigh(text, rules)
    if not weighed.leads(HOPELESS):
        return None
    seen = look(text, rules)
    leaning = scale_of(rules.language).further(weighed, seen.signs)
    return Piece(seen, leaning, _logs(leaning))


def _logs(leaning: Leaning) -> tuple[float, ...]:
    return tuple(math.log(max(_UNLIKELY, share)) for share in leaning.shares)


def pieces(masked: str, rules: Rules) -> list[tuple[str, str]]:
    """The ways in which a sentence may be cut in two."""
    joints = pairwise(clauses_of(masked, rules))
    cuts = [(masked[: last.end].strip(), masked[clause.start :].strip()) for last, clause in joints]
    return [cut for cut in cuts if min(map(len, cut)) >= _SHORTEST_PIECE]
