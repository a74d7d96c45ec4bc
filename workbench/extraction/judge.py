"""Judging one sentence: which clauses state something, of which kind, and which are process."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from workbench.extraction.model import Kind
from workbench.extraction.rules import Rule, Rules

_AN_AFTERTHOUGHT = 14
_A_NOD = 4
"""Characters: \u8bf4\u597d\u4e86 before what was agreed."""
_STOPS = ".!。！ "
_NUMBER_OR_PATH = re.compile(r"\d|/\w|\w\.\w{1,5}\b")

_OF_THE_ARTIFACT = re.compile(r"(?:it|in|under|at|see|here|this|在|见|它|共|一共)(?![a-z])", re.IGNORECASE)


@dataclass(frozen=True)
class Statement:
    """What a sentence states: a stretch of it, and by which rule."""

    kind: Kind
    start: int
    end: int
    rule: Rule


@dataclass(frozen=True)
class Clause:
    """A piece of a sentence."""

    start: int
    end: int
    body: str
    """Without words that say nothing themselves."""
    strong: bool
    """Whether a semicolon or a word that turns stands before it."""
    barred: frozenset[str] = frozenset()
    """Kinds that it cannot be of."""


def judge(masked: str, rules: Rules) -> tuple[Statement, ...]:
    """The statements of a sentence in which code and others' words are masked; empty: it is process."""
    whole = _without_leads(masked, rules).rstrip(_STOPS)
    words, called = rules.called(whole)
    if any(r.name in called and r.fits(whole, words) for r in rules.on_sentences):
        return ()
    clauses = _clauses(masked, rules)
    kept = _kept(clauses, rules)
    if len(clauses) > 1 and len(kept) == len(clauses):
        for span in rules.spanning:
            if span.name in called and span.fits(whole, words):
                return (Statement(_kind(span), 0, len(masked), span),)
    found = [
        (clause, rule) for clause in kept for rule in [_best(clause.body, rules, clause.barred)] if rule is not None
    ]
    if not found and len(kept) > 1 and len(kept) == len(clauses):
        rule = _best(whole, rules, frozenset().union(*(clause.barred for clause in kept)))
        return (Statement(_kind(rule), 0, len(masked), rule),) if rule is not None else ()
    return _joined(kept, found, masked)


def _without_leads(text: str, rules: Rules) -> str:
    start = 0
    for _ in range(4):
        match = rules.lead.match(text, start)
        if not match or match.end() >= len(text):
            break
        start = match.end()
    return text[start:]


def _clauses(text: str, rules: Rules) -> list[Clause]:
    found: list[Clause] = []
    start, strong = 0, True
    for match in rules.joint.finditer(text):
        if match.start() > start:
            found.append(_clause(text, start, match.start(), strong, rules))
        start, strong = match.end(), match[0].strip() not in (",", "，")
    if start < len(text):
        found.append(_clause(text, start, len(text), strong, rules))
    return found


def _clause(text: str, start: int, end: int, strong: bool, rules: Rules) -> Clause:
    return Clause(start, end, _without_leads(text[start:end].strip(), rules).rstrip(_STOPS), strong)


def _kept(clauses: list[Clause], rules: Rules) -> list[Clause]:
    """The clauses that are not process, up to where a condition or an example begins."""
    kept: list[Clause] = []
    for clause in clauses:
        words, called = rules.called(clause.body)
        fitting = [r for r in rules.on_clauses if r.name in called and r.fits(clause.body, words)]
        if any(rule.scope == "rest" for rule in fitting):
            break
        if not fitting:
            kept.append(clause)
        elif all(rule.kinds for rule in fitting):
            kept.append(replace(clause, barred=frozenset().union(*(rule.kinds for rule in fitting))))
    return kept


def _best(body: str, rules: Rules, barred: frozenset[str]) -> Rule | None:
    """The rule of the highest precedence that fits; what is only a reason is not looked at."""
    reason = rules.reason.search(body)
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
    words, called = rules.called(body)
    for rule in rules.ordered:
        if rule.name in called and rule.kind not in barred and rule.fits(body, words):
            return rule
    return None


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
