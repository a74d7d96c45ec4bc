"""What the rules say of a sentence: its clauses, which of them are process, and what markers find in the others."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from workbench.extraction.asking import Heard
from workbench.extraction.model import Kind
from workbench.extraction.rules import Rule, Rules
from workbench.extraction.signs import small

_AN_AFTERTHOUGHT = 14
_A_NOD = 4
"""Characters: \u8bf4\u597d\u4e86 before what was agreed."""
_STOPS = ".!。！ "
_NUMBER_OR_PATH = re.compile(r"\d|/\w|\w\.\w{1,5}\b")
OF_THE_ARTIFACT = re.compile(
    r"(?:it|in|under|at|see|here|this|saved|stored|shared|filed|在|见|它|共|一共|放|存|丢|叫|都在|含|覆盖)(?![a-z])",
    re.IGNORECASE,
)
"""What goes on about something that was produced, and is no statement of its own."""


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
    clauses = clauses_of(masked, rules)
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
        (clause, rule) for clause in kept for rule in [best(clause.body, rules, clause.barred)] if rule is not None
    ]
    if not found and len(kept) > 1 and len(kept) == len(clauses):
        rule = best(whole.text, rules, frozenset().union(*(clause.barred for clause in kept)))
        return (Statement(_kind(rule), 0, len(masked), rule),) if rule is not None else ()
    return _joined(kept, found, masked)


def is_process(masked: str, rules: Rules) -> bool:
    """Whether rules say that a sentence states nothing: not that no rule found a statement in it."""
    whole = rules.hear(ground(masked, rules).rstrip(_STOPS))
    if any(rules.on_sentences.fitting(whole)):
        return True
    return not any(clause.body for clause in _kept(clauses_of(masked, rules), rules)[0])


def is_finished(masked: str, rules: Rules) -> bool:
    """Whether rules say of a part of a sentence that it is done."""
    return any(any(rules.finished.fitting(rules.hear(clause.body))) for clause in clauses_of(masked, rules))


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


def clauses_of(text: str, rules: Rules) -> list[Clause]:
    """The pieces of a sentence between which it may be cut."""
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


def best(body: str, rules: Rules, barred: frozenset[str]) -> Rule | None:
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
    if rule.kind == "fact" and kinds[-1] == "artifact" and OF_THE_ARTIFACT.match(clause.body):
        return False
    if rule.kind == "fact":
        return _NUMBER_OR_PATH.search(text[clause.start : clause.end]) is not None
    if rule.kind == "decision":
        return rule.sure or clause.strong
    return True
