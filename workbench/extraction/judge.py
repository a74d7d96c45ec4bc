"""Judging one sentence: which clauses state something, of which kind, and which are process."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from operator import mul
from typing import NamedTuple

from workbench.extraction.asking import Heard
from workbench.extraction.model import PRECEDENCE, Kind
from workbench.extraction.reading import read
from workbench.extraction.rules import OWN, Rule, Rules
from workbench.extraction.signs import small
from workbench.extraction.weighing import Leaning, scale_of

_AN_AFTERTHOUGHT = 14
_A_NOD = 4
"""Characters: \u8bf4\u597d\u4e86 before what was agreed."""
_STOPS = ".!。！ "
LEAST_LEAD: Mapping[str, int] = {"en": 35, "zh": 65}
"""On the scale, in hundredths, by language: how far before process a sentence has to be to state something."""
LEAST_OF_A_PIECE, LEAST_AGAINST = 20, 150
"""The same of a piece of a sentence that may be a statement by itself, and of a sentence that a rule calls process."""
LEAST_HEEDED = -300
"""The same of what a marker finds that is sometimes wrong, where it binds."""
LEAST_BINDS = -80
"""From where on the scale a decision is a constraint."""
LEAST_OF_A_RULE = -350
"""The same of what a marker of a constraint finds, which else stands as it is."""
HOPELESS = -350
"""What is so far behind process by what it is made of stays process whatever the rules say: they are not asked."""
_DICTATED = 200
"""Characters of a sentence that goes on and on, of which what is said last weighs nothing against all the rest."""
_SHORTEST_PIECE = 4
_MOST_CLAUSES = 8
"""Of a sentence that is cut in two those between which it may be: each takes as long as the whole."""
LEAST_SECOND = 0
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
WEIGHED = Rule("weighed", markers=(), unless=())
"""Stands for the scale where no rule found a statement."""
_NUMBER_OR_PATH = re.compile(r"\d|/\w|\w\.\w{1,5}\b")

_OF_THE_ARTIFACT = re.compile(
    r"(?:it|in|under|at|see|here|this|saved|stored|shared|filed|在|见|它|共|一共|放|存|丢|叫|都在|含|覆盖)(?![a-z])",
    re.IGNORECASE,
)


class Statement(NamedTuple):
    """What a sentence states: a stretch of it, and by which rule."""

    kind: Kind
    start: int
    end: int
    rule: Rule
    binds: bool = False
    """Whether it is, by what it is made of, a constraint where it is a decision."""


class Clause(NamedTuple):
    """A piece of a sentence."""

    start: int
    end: int
    body: str
    """Without words that say nothing themselves."""
    strong: bool
    """Whether a semicolon or a word that turns stands before it."""
    barred: frozenset[str] = frozenset()
    """Kinds of which no marker finds it."""


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
    ruled = [clause for clause in seen.clauses if (rule := _best(clause.body, rules, clause.barred)) and rule.final]
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
        if marked and not (told and kind == marked.kind):
            # A rule that is laid down, or what a known thing is, is found where a marker finds it.
            heeded = marked.rule.sure or leaning.lead > LEAST_HEEDED
            kind, told = (marked.kind, True) if heeded and _binds(text, rules) else (kind, told)
        if not told:
            return None
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
        if before.kind == "artifact" and after.kind != "open" and _OF_THE_ARTIFACT.match(clause.body):
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
    joints = pairwise(_clauses(masked, rules))
    cuts = [(masked[: last.end].strip(), masked[clause.start :].strip()) for last, clause in joints]
    return [cut for cut in cuts if min(map(len, cut)) >= _SHORTEST_PIECE]


class Look(NamedTuple):
    """What the rules say of a sentence."""

    marked: tuple[Statement, ...]
    start: int
    end: int
    """What of it may state something."""
    signs: tuple[str, ...]
    """What the rules say, as features for the scale."""
    clauses: tuple[Clause, ...]
    """Those that may state something."""
    against: tuple[Rule, ...]
    """The rules that call it process."""

    @property
    def firm(self) -> bool:
        """Whether one of these does more than cast doubt."""
        return any(not rule.soft for rule in self.against)

    @property
    def shut(self) -> bool:
        """Whether it is process whatever it is made of."""
        return any(rule.shut for rule in self.against)


def look(masked: str, rules: Rules) -> Look:
    """What the rules say of a sentence."""
    whole = rules.hear(ground(masked, rules).rstrip(_STOPS))
    against = list(rules.on_sentences.fitting(whole))
    clauses = _clauses(masked, rules)
    kept, dropped = _kept(clauses, rules)
    barring = [rule for rule in dropped if not rule.kinds]
    if not kept:
        against += barring
    marked = () if against else _marked(masked, whole, clauses, kept, rules)
    signs = {f"against it {rule.name}" for rule in against} | {f"within it {rule.name}" for rule in dropped}
    for statement in marked:
        signs |= {f"marked {statement.kind}", f"marked {statement.kind} by {statement.rule.name}"}
    if not marked:
        signs.add("unmarked, doubted" if against else "unmarked")
    taken = kept if kept and marked else clauses
    return Look(
        marked,
        taken[0].start if taken else 0,
        taken[-1].end if taken else len(masked),
        tuple(sorted(signs)),
        tuple(taken),
        tuple(against),
    )


def _marked(
    masked: str, whole: Heard, clauses: list[Clause], kept: list[Clause], rules: Rules
) -> tuple[Statement, ...]:
    """What the markers find."""
    if len(clauses) > 1 and len(kept) == len(clauses):
        for span in rules.spanning.fitting(whole):
            return (Statement(_kind(span), 0, len(masked), span),)
    found = [
        (clause, rule) for clause in kept for rule in [_best(clause.body, rules, clause.barred)] if rule is not None
    ]
    if not found and len(kept) > 1 and len(kept) == len(clauses):
        rule = _best(whole.text, rules, frozenset().union(*(clause.barred for clause in kept)))
        return (Statement(_kind(rule), 0, len(masked), rule),) if rule is not None else ()
    return _joined(kept, found, masked)


def is_process(masked: str, rules: Rules) -> bool:
    """Whether rules say that a sentence states nothing: not that no rule found a statement in it."""
    whole = rules.hear(ground(masked, rules).rstrip(_STOPS))
    if any(rules.on_sentences.fitting(whole)):
        return True
    return not any(clause.body for clause in _kept(_clauses(masked, rules), rules)[0])


def is_finished(masked: str, rules: Rules) -> bool:
    """Whether rules say of a part of a sentence that it is done."""
    return any(any(rules.finished.fitting(rules.hear(clause.body))) for clause in _clauses(masked, rules))


@lru_cache(maxsize=16)
def ground(text: str, rules: Rules) -> str:
    """A text without the words at its beginning that say nothing."""
    start, lowered = 0, small(text)
    for _ in range(4):
        match = rules.lead.match(lowered, start)
        if not match or match.end() >= len(text):
            break
        start = match.end()
    return text[start:]


def _clauses(text: str, rules: Rules) -> list[Clause]:
    found: list[Clause] = []
    start, strong = 0, True
    for match in rules.joint.finditer(small(text)):
        if match.start() > start:
            found.append(_clause(text, start, match.start(), strong, rules))
        start, strong = match.end(), match[0].strip() not in (",", "，")
    if start < len(text):
        found.append(_clause(text, start, len(text), strong, rules))
    return found


def _clause(text: str, start: int, end: int, strong: bool, rules: Rules) -> Clause:
    return Clause(start, end, ground(text[start:end].strip(), rules).rstrip(_STOPS), strong)


def _kept(clauses: list[Clause], rules: Rules) -> tuple[list[Clause], list[Rule]]:
    """The clauses that are not process, up to where a condition or an example begins; and the rules that say so."""
    kept: list[Clause] = []
    dropped: list[Rule] = []
    for clause in clauses:
        fitting = list(rules.on_clauses.fitting(rules.hear(clause.body)))
        dropped += fitting
        if any(rule.scope == "rest" for rule in fitting):
            break
        if not fitting:
            kept.append(clause)
        elif all(rule.kinds for rule in fitting):
            kept.append(clause._replace(barred=frozenset().union(*(rule.kinds for rule in fitting))))
    return kept, dropped


def _best(body: str, rules: Rules, barred: frozenset[str]) -> Rule | None:
    """The rule of the highest precedence that fits; what is only a reason is not looked at."""
    reason = rules.reason.search(small(body))
    if reason:
        if reason.start() < 2:
            return None
        head = body[: reason.start()]
        if rule := _first(head, rules, barred):
            return rule
        if rules.language != "zh":
            return None
        # In Chinese the reason may stand within: what it is the reason of comes last.
    return _first(body, rules, barred)


def _first(body: str, rules: Rules, barred: frozenset[str]) -> Rule | None:
    """The first rule that fits; those that are rarely wrong come before the others, whatever the kind."""
    fitting = rules.ordered.fitting(rules.hear(body))
    return next((rule for rule in fitting if rule.kind not in barred), None)


def _kind(rule: Rule) -> Kind:
    assert rule.kind is not None
    return rule.kind


def _joined(kept: list[Clause], found: list[tuple[Clause, Rule]], text: str) -> tuple[Statement, ...]:
    """One statement a kind; clauses without one belong to the statement before them, else to the first."""
    leaders: list[tuple[Clause, Rule]] = []
    for clause, rule in found:
        if (
            leaders
            and rule.kind in ("decision", "artifact")
            and len(clause.body) <= _AN_AFTERTHOUGHT
            and _kind(leaders[-1][1]) == "fact"
        ):
            # ``…, as agreed``: what stands before it was chosen.
            leaders[-1] = (leaders[-1][0], rule)
        elif not leaders or _is_new(clause, rule, leaders, text):
            leaders.append((clause, rule))
    statements = []
    for number, (clause, rule) in enumerate(leaders):
        start = clause.start if number else (kept[0].start if kept else clause.start)
        end = leaders[number + 1][0].start if number + 1 < len(leaders) else kept[-1].end
        statements.append(Statement(_kind(rule), start, max(end, clause.end), rule))
    return tuple(statements)


def _is_new(clause: Clause, rule: Rule, leaders: list[tuple[Clause, Rule]], text: str) -> bool:
    """Whether a further clause is a statement of its own, not a qualifier of one before."""
    kinds = [_kind(r) for _, r in leaders]
    if rule.kind in kinds or (kinds[-1] == "decision" and len(leaders[-1][0].body) <= _A_NOD and rule.kind == "fact"):
        return False
    if rule.kind == "open":
        return True
    if kinds[-1] == "open":
        return clause.strong and rule.sure
    if rule.kind == "fact" and kinds[-1] == "artifact" and _OF_THE_ARTIFACT.match(clause.body):
        return False
    if rule.kind == "fact":
        return _NUMBER_OR_PATH.search(text[clause.start : clause.end]) is not None
    if rule.kind == "decision":
        return rule.sure or clause.strong
    return True
