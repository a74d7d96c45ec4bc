"""Judging one sentence: whether it states something, one thing or two, and of which kind."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from operator import mul
from typing import NamedTuple

from workbench.extraction.look import OF_THE_ARTIFACT, Look, Statement, best, clauses_of, ground, look
from workbench.extraction.model import PRECEDENCE, Kind
from workbench.extraction.reading import read
from workbench.extraction.rules import OWN, Rule, Rules
from workbench.extraction.signs import small
from workbench.extraction.weighing import Leaning, scale_of

LEAST_LEAD: Mapping[str, int] = {"en": 0, "zh": 40}
"""On the scale, in hundredths, by language: how far before process a sentence has to be to state something."""
LEAST_OF_A_PIECE, LEAST_AGAINST = 20, 150
"""The same of a piece of a sentence that may be a statement by itself, and of a sentence that a rule calls process."""
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
LEAST_SECOND = -200
"""How far before process a further kind has to be in a sentence that is looked at for two statements."""
LEADS_APART = (48, 58, -73, 32, 18)
"""What speaks for two statements, in hundredths of a lead: that of the first piece alone, of the second alone, of the
whole, that of the whole's kind over process in the whole, and of the other kind."""
SIGNS_APART = (-110, 63, 84, 147, -145)
"""The same of each clause there is, of an open item as the second, of Chinese, of a strong stop between the pieces, and
of a decision with a fact, which more often says why or what of it."""
LEAST_APART = -60
"""What they come to at least where a sentence is two statements; ``python -m tests.extraction.apart`` fits them."""
_APART: frozenset[tuple[Kind, Kind]] = frozenset(
    {
        ("fact", "open"),
        ("decision", "open"),
        ("artifact", "open"),
        ("fact", "decision"),
        ("artifact", "decision"),
        ("artifact", "fact"),
        ("decision", "fact"),
        ("decision", "artifact"),
    }
)
"""Which kinds may stand one after the other."""
_SECOND: Mapping[Kind, frozenset[Kind]] = {
    kind: frozenset(second for first, second in _APART if kind in (first, second)) for kind in PRECEDENCE
}
"""What may come second in a sentence that is of a kind as a whole."""
_LAID_DOWN: frozenset[Kind] = frozenset({"decision", "fact"})
"""What a marker finds where a sentence lays down a rule, or says what a known thing is, whatever the scale says."""
WEIGHED = Rule("weighed", markers=(), unless=())
"""Stands for the scale where no rule found a statement."""


def judge(masked: str, rules: Rules) -> tuple[Statement, ...]:
    """The statements of a sentence in which code and others' words are masked; empty: it is process."""
    weighed = _weigh(masked, rules)
    if not weighed.leads(HOPELESS) and not (rules.has_own_words or rules.words["obliges"].search(small(masked))):
        return ()
    seen = look(masked, rules)
    if seen.shut:
        return ()
    if not seen.against and any(statement.rule.final for statement in seen.marked):
        own = any(statement.rule.name == OWN for statement in seen.marked)
        return seen.marked if own or _is_laid_down(masked, weighed, seen, rules) else ()
    whole = _weighed(masked, weighed, seen, rules, LEAST_LEAD[rules.language])
    return _apart(whole, seen, masked, rules) if whole else ()


def _is_laid_down(masked: str, weighed: Leaning, seen: Look, rules: Rules) -> bool:
    """Whether what a marker of a constraint finds is one, by the whole or, of what is dictated on and on, by itself."""
    scale = scale_of(rules.language)
    if scale.further(weighed, seen.signs).lead >= LEAST_OF_A_RULE:
        return True
    ruled = [clause for clause in seen.clauses if (rule := best(clause.body, rules, clause.barred)) and rule.final]
    return len(masked) > _DICTATED and any(
        scale.further(_weigh(masked[clause.start : clause.end], rules), seen.signs).lead >= LEAST_OF_A_RULE
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


def _weigh(text: str, rules: Rules) -> Leaning:
    """What the scale says of a text before the rules are asked."""
    return scale_of(rules.language).lean(ground(text, rules))


def _weighed(text: str, bare: Leaning, seen: Look, rules: Rules, least: int) -> _Weighed | None:
    """What the scale says, on which what the rules say lies too; None: process."""
    leaning = scale_of(rules.language).further(bare, seen.signs)
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


class Cut(NamedTuple):
    """A place at which a sentence may be cut into two statements."""

    start: int
    """Where the second begins."""
    before: _Weighed
    after: _Weighed
    leads: tuple[int, ...]
    signs: tuple[int, ...]
    """What speaks for it, see ``LEADS_APART`` and ``SIGNS_APART``."""

    @property
    def kinds(self) -> tuple[Kind, Kind]:
        """What the two would be."""
        return self.before.kind, self.after.kind

    @property
    def score(self) -> int:
        """How clearly there are two."""
        leads: int = sum(map(mul, self.leads, LEADS_APART))
        signs: int = sum(map(mul, self.signs, SIGNS_APART))
        return leads // 100 + signs


def _apart(whole: _Weighed, seen: Look, masked: str, rules: Rules) -> tuple[Statement, ...]:
    """A statement, cut in two where what comes after a comma states something of another kind by itself."""
    second = max([whole.over_process(kind) for kind in PRECEDENCE if kind != whole.kind])
    cut = _best_cut(whole, seen, masked, rules) if second >= LEAST_SECOND else None
    if cut is None or cut.score < LEAST_APART:
        return (whole.stated(seen.start, seen.end),)
    return (cut.before.stated(seen.start, cut.start), cut.after.stated(cut.start, seen.end))


def best_cut(masked: str, rules: Rules) -> Cut | None:
    """Where a sentence would be cut in two, however little speaks for it; None where it states nothing, or one thing.

    It is here for who fits what has to speak for two.
    """
    weighed = _weigh(masked, rules)
    if not weighed.leads(HOPELESS):
        return None
    seen = look(masked, rules)
    if not seen.against and any(statement.rule.final for statement in seen.marked):
        return None
    whole = _weighed(masked, weighed, seen, rules, LEAST_LEAD[rules.language])
    return _best_cut(whole, seen, masked, rules) if whole else None


def _best_cut(whole: _Weighed, seen: Look, masked: str, rules: Rules) -> Cut | None:
    best: Cut | None = None
    for last, clause in pairwise(seen.clauses[:_MOST_CLAUSES]):
        after = _alone(masked[clause.start : seen.end], rules)
        if after is None or after.kind not in _SECOND[whole.kind]:
            continue
        before = _alone(masked[seen.start : last.end], rules)
        if before is None or (before.kind, after.kind) not in _APART or whole.kind not in (before.kind, after.kind):
            continue
        if before.kind == "artifact" and after.kind != "open" and OF_THE_ARTIFACT.match(clause.body):
            continue
        if best is None or before.lead + after.lead > best.before.lead + best.after.lead:
            other = after.kind if whole.kind == before.kind else before.kind
            mine, others = whole.over_process(whole.kind), whole.over_process(other)
            leads = (before.lead, after.lead, whole.lead, mine, others)
            of_both = {before.kind, after.kind} == {"decision", "fact"}
            signs = (min(len(seen.clauses), 6), after.kind == "open", rules.language == "zh", clause.strong, of_both)
            best = Cut(clause.start, before, after, leads, tuple(map(int, signs)))
    return best


def _alone(text: str, rules: Rules) -> _Weighed | None:
    """What a piece of a sentence would be if nothing else were said."""
    text = text.strip()
    if len(text) < _SHORTEST_PIECE:
        return None
    weighed = _weigh(text, rules)
    return _weighed(text, weighed, look(text, rules), rules, LEAST_OF_A_PIECE) if weighed.leads(HOPELESS) else None


def pieces(masked: str, rules: Rules) -> list[tuple[str, str]]:
    """The ways in which a sentence may be cut in two."""
    joints = pairwise(clauses_of(masked, rules))
    cuts = [(masked[: last.end].strip(), masked[clause.start :].strip()) for last, clause in joints]
    return [cut for cut in cuts if min(map(len, cut)) >= _SHORTEST_PIECE]
