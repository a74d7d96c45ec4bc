"""Judging one sentence: which clauses state something, of which kind, and which are process."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from workbench.extraction.model import PRECEDENCE, Kind
from workbench.extraction.notation import small
from workbench.extraction.rules import Called, Index, Rule, Rules
from workbench.extraction.weighing import Scale, scale_of

_AN_AFTERTHOUGHT = 14
_A_NOD = 4
"""Characters: \u8bf4\u597d\u4e86 before what was agreed."""
_STOPS = ".!。！ "
LEAST_LEAD, LEAST_SECOND = 40, 50
"""On the scale, in hundredths: how far before process a statement has to be, and a further clause of it."""
OVERRULED = {True: 100, False: 0}
"""How far behind on the scale what a marker found is not believed: of a rule that is rarely wrong, of another."""
_SHORTEST_SECOND = 4
_MARKED = 100
"""What a marker counts where a piece of a sentence is weighed by itself."""
LEAST_APART = {True: 200, False: 500}
"""On the scale: how clearly two pieces of a sentence have to be told, taken together, to be two statements; whether
the second is open, or anything else, which more often says something of the first."""
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
WEIGHED = Rule(name="weighed", markers=Index({}, ()), unless=Index({}, ()))
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


class Clause(NamedTuple):
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
    seen = look(masked, rules)
    if seen is None:
        return ()
    scale = scale_of(rules.language)
    if len(seen.marked) > 1:
        return tuple(_of_two(statement, masked, scale, rules) for statement in seen.marked)
    named = rules.set_thing.match(small(ground(masked, rules))) is not None
    if seen.marked and (seen.marked[0].rule.final or named):
        return seen.marked
    if named and not seen.doubted:
        leaning = scale.lean(ground(masked, rules), seen.signs)
        kind: Kind = "decision" if leaning.scores["decision"] > leaning.scores["fact"] else "fact"
        return (Statement(kind, 0, len(masked), WEIGHED),)
    found = _first_of(masked, seen, scale, rules)
    return _apart(found, seen, masked, scale, rules) if found else ()


def _of_two(marked: Statement, masked: str, scale: Scale, rules: Rules) -> Statement:
    """One of several statements; whether it is a fact or a choice the scale knows better than a doubtful marker."""
    if marked.rule.sure or marked.kind not in ("fact", "decision"):
        return marked
    scores = scale.lean(ground(masked[marked.start : marked.end], rules)).scores
    other: Kind = "decision" if marked.kind == "fact" else "fact"
    if scores[other] - scores[marked.kind] <= OVERRULED[False]:
        return marked
    return marked._replace(kind=other, rule=WEIGHED)


def _first_of(masked: str, seen: Look, scale: Scale, rules: Rules) -> Statement | None:
    """What a sentence states as a whole, or the piece of it that a marker found."""
    if not seen.marked:
        leaning = scale.lean(ground(masked[seen.start : seen.end], rules), seen.signs)
        kind = leaning.kind
        if kind is None or kind in seen.barred or leaning.lead() < LEAST_LEAD:
            return None
        return Statement(kind, seen.start, seen.end, WEIGHED)
    marked = seen.marked[0]
    leaning = scale.lean(ground(masked[marked.start : marked.end], rules), seen.signs)
    kind = leaning.kind
    if kind == marked.kind or leaning.scores[kind] - leaning.scores[marked.kind] < OVERRULED[marked.rule.sure]:
        return marked
    return marked._replace(kind=kind, rule=WEIGHED) if kind else None


def _apart(found: Statement, seen: Look, masked: str, scale: Scale, rules: Rules) -> tuple[Statement, ...]:
    """A statement, cut in two where what comes after a comma states something of another kind by itself."""
    best: tuple[int, int, Kind, Kind] | None = None
    for place in range(1, len(seen.clauses)):
        last, clause = seen.clauses[place - 1], seen.clauses[place]
        after = _alone(masked[clause.start : found.end], clause, scale, rules)
        if after is None or after[0] not in _SECOND[found.kind]:
            continue
        before = _alone(masked[found.start : last.end], last, scale, rules)
        if before is None or (before[0], after[0]) not in _APART or found.kind not in (before[0], after[0]):
            continue
        if before[0] == "artifact" and after[0] != "open" and _OF_THE_ARTIFACT.match(clause.body):
            continue
        lead = before[1] + after[1]
        if lead >= LEAST_APART[after[0] == "open"] and (best is None or lead > best[0]):
            best = (lead, place, before[0], after[0])
    if best is None:
        return (found,)
    _, place, before_kind, after_kind = best
    start = seen.clauses[place].start
    return (
        Statement(before_kind, found.start, start, found.rule if before_kind == found.kind else WEIGHED),
        Statement(after_kind, start, found.end, found.rule if after_kind == found.kind else WEIGHED),
    )


def _alone(text: str, clause: Clause, scale: Scale, rules: Rules) -> tuple[Kind, int] | None:
    """What a piece of a sentence would be if nothing else were said, and how clearly."""
    body = ground(text.strip(), rules).rstrip(_STOPS)
    leaning = scale.lean(body)
    if rule := _best(clause.body, rules, clause.barred):
        kind = _kind(rule)
        return kind, max(leaning.scores[kind] - leaning.scores[None], _MARKED)
    kind_or_none = leaning.kind
    if kind_or_none is None or kind_or_none in clause.barred or len(body) < _SHORTEST_SECOND:
        return None
    lead = leaning.lead()
    return (kind_or_none, lead) if lead >= LEAST_SECOND else None


class Look(NamedTuple):
    """What the rules say of a sentence that none of them excludes."""

    marked: tuple[Statement, ...]
    start: int
    end: int
    """What of it may state something."""
    signs: tuple[str, ...]
    """What the rules say, as features for the scale."""
    barred: frozenset[str]
    """Kinds that no clause of it can be of."""
    clauses: tuple[Clause, ...]
    """Those that may state something."""
    doubted: bool
    """Whether a rule that may be overruled calls it process."""


def look(masked: str, rules: Rules) -> Look | None:
    """What the rules say of a sentence; None: it is process, whatever it is made of."""
    whole = rules.called(ground(masked, rules).rstrip(_STOPS))
    against: list[Rule] = []
    for rule in whole.fitting(rules.on_sentences):
        if not rule.soft:
            return None
        against.append(rule)
    clauses = _clauses(masked, rules)
    kept, dropped = _kept(clauses, rules)
    if not kept and not all(rule.soft for rule in dropped if not rule.kinds):
        return None
    marked = () if against else _marked(masked, whole, clauses, kept, rules)
    signs = {f"against it {rule.name}" for rule in (*against, *(() if marked else dropped))}
    for statement in marked[:1]:
        signs |= {f"marked {statement.kind}", f"marked {statement.kind} by {statement.rule.name}"}
    if not marked:
        signs.add("unmarked, doubted" if against or not kept else "unmarked")
    # A plan in doubt is weighed with the rest of its sentence.
    whole_of_it = not marked and all(rule.soft for rule in dropped if not rule.kinds)
    taken = clauses if whole_of_it else kept or clauses
    return Look(
        marked,
        taken[0].start if taken else 0,
        taken[-1].end if taken else len(masked),
        tuple(sorted(signs)),
        frozenset.intersection(*(clause.barred for clause in taken)) if taken else frozenset(),
        tuple(taken),
        bool(against) or not kept,
    )


def _marked(
    masked: str, whole: Called, clauses: list[Clause], kept: list[Clause], rules: Rules
) -> tuple[Statement, ...]:
    """What the markers find."""
    if len(clauses) > 1 and len(kept) == len(clauses):
        for span in whole.fitting(rules.spanning):
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
    whole = rules.called(ground(masked, rules).rstrip(_STOPS))
    if any(whole.fitting(rules.on_sentences)):
        return True
    return not any(clause.body for clause in _kept(_clauses(masked, rules), rules)[0])


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
        fitting = list(rules.called(clause.body).fitting(rules.on_clauses))
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
    fitting = rules.called(body).fitting(rules.ordered)
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
