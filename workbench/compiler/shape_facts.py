"""Forms of facts, decisions and constraints: what holds, what is to settle, what to check first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from workbench.compiler.layout import Form, Group, Piece, claimed, either, entry, flat, when
from workbench.compiler.material import Material
from workbench.compiler.qualify import Judged
from workbench.compiler.staleness import Staleness
from workbench.compiler.values import value_line
from workbench.compiler.words import Words
from workbench.domain.fact import WORKSPACE, Fact

_EXCERPT, _BODY = 300, 2000
_CONFIRMED = ("authoritative", "verified")


class FactShaper:
    """Makes the forms of facts, grouped by trust and namespace."""

    def __init__(self, material: Material, words: Words, staleness: Staleness, judged: Iterable[Judged]) -> None:
        self.material = material
        self.registry = material.registry
        self.words = words
        self.staleness = staleness
        plain = (j.candidate for j in judged if isinstance(j.candidate.record, Fact) and j.handling == "plain")
        self._keys: dict[str, str] = {}
        self._headings: dict[tuple[str, str, str], tuple[Group, ...]] = {}
        self._members = Counter((_bucket(c.trust), c.source_type, self._space(c.record)) for c in plain)

    def _space(self, fact: object) -> str:
        assert isinstance(fact, Fact)
        return self._key(fact).rpartition(".")[0]

    def _key(self, fact: Fact) -> str:
        key = self._keys.get(fact.key)
        if key is None:
            key = self._keys[fact.key] = self.registry.canonical(fact.key)
        return key

    def fact(self, judged: Judged) -> list[Form]:
        """As what it is: to settle, past review, a constraint, or a fact that holds."""
        fact = judged.candidate.record
        assert isinstance(fact, Fact)
        if judged.handling == "settle":
            return self._settle(judged, fact)
        if judged.handling == "past_review":
            return self._past_review(fact)
        if fact.kind == "constraint":
            return [Form("body", tuple(self._constraint(fact)))]
        return self._holding(judged, fact)

    def _value(self, fact: Fact, limit: int) -> str:
        text = value_line(fact.value)
        return text if len(text) <= limit else flat(text, limit) + self.words["whole_fact"].format(id=fact.id)

    def _pair(self, fact: Fact, limit: int, name: str | None = None) -> str:
        return f"{name or self._key(fact)} = {self._value(fact, limit)}"

    def _literal(self, fact: Fact) -> str:
        """The statement word for word, with key and value where it does not say them."""
        value = value_line(fact.value)
        if not fact.statement:
            return f"{self._key(fact)} = {value}"
        if value in fact.statement:
            return fact.statement
        return f"{fact.statement} ({self._key(fact)} = {value})"

    def _said(self, fact: Fact) -> list[str]:
        """Statement and reason, unless they state a value that no longer holds."""
        said = []
        statement = fact.statement.strip()
        if statement and not _is_sentence(fact) and not self._stale(fact, statement):
            said.append(statement)
        if fact.reason and not self._stale(fact, fact.reason):
            said.append(self.words["because"].format(text=fact.reason))
        return [flat(text, 600) for text in said]

    def _stale(self, fact: Fact, text: str) -> bool:
        return bool(self.staleness.of_fact and self.staleness.stated(f"{fact.key}: {text}"))

    def _of(self, fact: Fact) -> str:
        if fact.scope in (WORKSPACE, self.material.task.id):
            return ""
        task = self.material.tasks.get(fact.scope)
        return f" ({self.words['of_task'].format(task=task.slug if task else fact.scope)})"

    def _holding(self, judged: Judged, fact: Fact) -> list[Form]:
        bucket, key = _bucket(judged.candidate.trust), self._key(fact)
        space, _, name = key.rpartition(".")
        kind = "0" if fact.kind == "decision" else "1"
        together = bool(space) and self._members[bucket, fact.kind, space] > 1 and not _is_sentence(fact)
        if not together:
            space, name = "", key
        name = name or key
        order = ("1", bucket, kind, space or key, key, fact.id)
        groups = self._headings_of(bucket, kind, space)

        def form(which: str, text: str) -> Form:
            return Form(which, (Piece("holds", order, _fact_line(text), groups),))

        value, of = value_line(fact.value), self._of(fact)
        short = whole = f"{value}{of}" if _is_sentence(fact) else f"{name} = {value}{of}"
        if len(value) > _EXCERPT:
            short, whole = (self._pair(fact, limit, name) + of for limit in (_EXCERPT, _BODY))
        said = self._said(fact)
        if not said and whole == short:
            return [form("body", short)]
        return [form("excerpt", short), form("body", self.words["join"].join([whole, *said]))]

    def _headings_of(self, bucket: str, kind: str, space: str) -> tuple[Group, ...]:
        """The lines above a fact that holds: how sure it is, and the namespace where it shares one."""
        known = self._headings.get((bucket, kind, space))
        if known is None:
            known = (Group(f"trust:{bucket}", self.words["confirmed" if bucket == "0" else "reported"]),)
            if space:
                known += (Group(f"trust:{bucket}:{kind}:{space}", f"{flat(space, 200)}:"),)
            self._headings[bucket, kind, space] = known
        return known

    def _constraint(self, fact: Fact) -> Iterable[Piece]:
        literal = self._literal(fact)
        stale = self.staleness.stated(literal)
        order = (self._key(fact), fact.id)
        yield Piece("keep", order, entry(literal + self._of(fact), stale, self.words))
        again = entry(flat(literal, 120), stale, self.words)
        group = Group("constraints", self.words["constraints"])
        yield Piece("last", ("2", *order), again, (group,), long_only=True)

    def _past_review(self, fact: Fact) -> list[Form]:
        order = (self._key(fact), fact.id)

        def form(which: str, limit: int, said: list[str]) -> Form:
            pair = self.words["join"].join([self._pair(fact, limit) + self._of(fact), *said])
            due = when(fact.review_after, self.words)
            text = self.words["review_due"].format(fact=pair, when=when(fact.observed_at, self.words), due=due)
            return Form(which, (Piece("check", ("0", *order), entry(text)),))

        return [form("excerpt", _EXCERPT, []), form("body", _BODY, self._said(fact))]

    def _settle(self, judged: Judged, fact: Fact) -> list[Form]:
        words = self.words
        literal = self._literal(fact) if fact.kind == "constraint" else None
        lifecycle = judged.candidate.lifecycle
        rank = {"challenged": "0", "contested": "0"}.get(lifecycle, "1")
        order = (self._key(fact), rank, fact.observed_at, fact.id)

        def form(which: str, limit: int, more: list[str]) -> Form:
            told = (literal or self._pair(fact, limit)) + self._of(fact)
            text = self._told(judged, fact, told)
            if fact.kind == "constraint" and (fact.contests or lifecycle in ("proposed", "contested")):
                text = words["settle.keep"].format(fact=text)
            return Form(which, (Piece("settle", order, entry(words["join"].join([text, *more]))),))

        said = [flat(fact.statement, 300)] if fact.statement and literal is None else []
        quotes = [s.quote for s in fact.sources if s.quote]
        said += [words["settle.quote"].format(quote=flat(quotes[-1], 200))] if quotes else []
        return [form("excerpt", _EXCERPT, []), form("body", _BODY, said)]

    def _told(self, judged: Judged, fact: Fact, told: str) -> str:
        words = self.words
        if fact.contests:
            fields = [either(name, claimed(claims), 200, words) for name, claims in sorted(fact.contests.items())]
            return words["join"].join([told, *fields])
        lifecycle = judged.candidate.lifecycle
        # Who says it again says nothing of when the person changed it.
        hers = [source for source in fact.sources if source.own_words] if lifecycle == "proposed" else []
        newest = max(hers or fact.sources, key=lambda s: (s.at, s.by), default=None)
        at = when(newest.at if newest and newest.at else fact.observed_at, words)
        if lifecycle == "active":
            return words["settle.beside"].format(fact=told)
        if lifecycle == "challenged":
            return words["settle.challenged"].format(fact=told)
        if lifecycle == "contested":
            return words["settle.contested"].format(fact=told, when=at)
        if judged.together:
            return words["settle.challenger"].format(fact=told, when=at)
        pasted = newest is not None and newest.pasted is True
        by = newest.by if newest else "?"
        text = words["settle.pasted" if pasted else "settle.proposed"].format(fact=told, by=by, when=at)
        touched = self.registry.facts.get(judged.touches) if judged.touches else None
        if touched is not None and self.registry.lifecycle(touched.id) == "active":
            text += words["join"] + words["settle.holds"].format(active=self._pair(touched, 120))
        return text


def _is_sentence(fact: Fact) -> bool:
    """Whether neither key nor value could be read off it: the value is the sentence, the key is made of its words."""
    return isinstance(fact.value, str) and fact.value.strip() == fact.statement.strip() != ""


def _bucket(trust: str) -> str:
    return "0" if trust in _CONFIRMED else "1"


def _fact_line(text: str) -> str:
    """A fact under its namespace: without a dash, which would cost a token for each."""
    line = flat(text, 20_000)
    first = line[:1]
    return f"{line}\n" if first.isalnum() else f"- {line}\n"
