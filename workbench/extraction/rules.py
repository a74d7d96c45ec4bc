"""The rules of a language, read from its file and compiled once."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from typing import Any, Literal

from workbench.errors import UsageError
from workbench.extraction.asking import Asked, Heard, Index, Rulebook
from workbench.extraction.model import KINDS, PRECEDENCE, Kind
from workbench.extraction.needs import grams
from workbench.extraction.notation import Marker, compile_marker, compile_reading, compile_small, literal_marker
from workbench.extraction.sentences import is_han
from workbench.extraction.signs import HAN, small

Scope = Literal["sentence", "rest", "clause"]
OWN = "workspace"
"""The name of the rule that a workspace's own phrases make."""


@dataclass(frozen=True, eq=False)
class Rule:
    """What makes a clause a statement of a kind, or process; ``unless`` lifts it."""

    name: str
    markers: tuple[Marker, ...]
    unless: tuple[Marker, ...]
    kind: Kind | None = None
    """None: process."""
    scope: Scope = "clause"
    kinds: frozenset[str] = frozenset()
    """Process of these kinds only; empty: of all."""
    constraint: bool = False
    sure: bool = False
    soft: bool = False
    """Casts doubt only: what the clause is made of decides."""
    shut: bool = False
    """Process whatever it is made of. What is neither is process unless the scale speaks clearly for a statement."""

    @property
    def final(self) -> bool:
        """Whether what it finds stands, whatever else the clause is made of."""
        return (self.constraint and self.sure) or self.name == OWN


@dataclass(frozen=True, eq=False)
class Rules:
    """Everything that is known about one language."""

    language: str
    process: tuple[Rule, ...]
    statements: tuple[Rule, ...]
    lead: re.Pattern[str]
    joint: re.Pattern[str]
    reason: re.Pattern[str]
    """These three are looked for in small letters."""
    backward: re.Pattern[str]
    sections: Mapping[str, str]
    """Heading to kind, or to ``process``."""
    readings: Index
    forbidding: re.Pattern[str]
    names: Mapping[str, str]
    values: Mapping[str, str]
    labels: Mapping[str, str]
    words: Mapping[str, re.Pattern[str]]
    """Patterns of words that are looked for on their own; their comments say what for."""

    @cached_property
    def book(self) -> Rulebook:
        """All rules, to be asked in groups."""
        return Rulebook((*self.process, *self.statements))

    @cached_property
    def ordered(self) -> Asked:
        """Statement rules for clauses in the order in which they are tried: rarely wrong first, then by kind."""
        clause = [rule for rule in self.statements if rule.scope == "clause"]
        return self.book.ask(sorted(clause, key=lambda rule: (not rule.sure, PRECEDENCE.index(rule.kind or "open"))))

    @cached_property
    def set_thing(self) -> re.Pattern[str]:
        """A known name with its value after it, and no more; in small letters."""
        names = _choice([re.escape(name) for name in self.names])
        link = "(?:是|为|：|:|=)" if self.language == "zh" else r"(?::|=|(?:is|are)\b)"
        return compile_small(rf"(?:the |our |all )?{names}\s*{link}\s*\S.{{0,30}}$")

    @cached_property
    def known_keys(self) -> frozenset[str]:
        """Keys of the things that are known by name."""
        return frozenset((*self.names.values(), *things().keys.values()))

    @cached_property
    def spanning(self) -> Asked:
        """Statement rules that look at a whole sentence."""
        return self.book.ask(rule for rule in self.statements if rule.scope == "sentence")

    @cached_property
    def on_sentences(self) -> Asked:
        """Process rules that look at a whole sentence."""
        return self.book.ask(rule for rule in self.process if rule.scope == "sentence")

    @cached_property
    def on_clauses(self) -> Asked:
        """Process rules that look at a clause."""
        return self.book.ask(rule for rule in self.process if rule.scope != "sentence")

    @cached_property
    def finished(self) -> Asked:
        """Those of them that say of a clause that it is done."""
        return self.book.ask(rule for rule in self.on_clauses.rules if "open" in rule.kinds)

    @cached_property
    def has_own_words(self) -> bool:
        """Whether a workspace added phrases."""
        return any(rule.name == OWN for rule in self.statements)

    def prepare(self) -> None:
        """Compile now what is else compiled when the first sentences ask for it."""
        _ = self.ordered, self.set_thing, self.spanning, self.on_sentences, self.on_clauses, self.hear
        self.book.index.prepare()
        self.readings.prepare()

    @cached_property
    def hear(self) -> Callable[[str], Heard]:
        """A text with the markers that it may hold; the same clause is asked about several times in a row."""

        @lru_cache(maxsize=128)
        def hear(text: str) -> Heard:
            lowered = small(text)
            return Heard(text, lowered, self.book.index.called(grams(lowered, self.language)))

        return hear

    def with_markers(self, added: Mapping[str, Sequence[str]]) -> Rules:
        """These rules with a workspace's own phrases, taken literally but for ``…``.

        Args:
            added: Phrases by kind, or by ``process``.

        Raises:
            UsageError: There is no such kind.
        """
        process, statements = list(self.process), list(self.statements)
        for kind, phrases in added.items():
            if kind not in (*KINDS, "constraint", "process"):
                known = ", ".join((*KINDS, "constraint", "process"))
                raise UsageError(f"{kind!r} is no kind of statement", f"one of: {known}")
            own = Rule(OWN, tuple(literal_marker(phrase, self.language) for phrase in phrases), unless=())
            if kind == "process":
                process.append(replace(own, scope="sentence", shut=True))
            elif kind == "constraint":
                statements.insert(0, replace(own, kind="decision", constraint=True, sure=True))
            else:
                statements.insert(0, replace(own, kind=kind, sure=True))  # type: ignore[arg-type]
        return replace(self, process=tuple(process), statements=tuple(statements))


@dataclass(frozen=True)
class Things:
    """Names of products: which key they are values of, and their usual spelling."""

    keys: Mapping[str, str]
    spelling: Mapping[str, str]


def _data(name: str) -> dict[str, Any]:
    return tomllib.loads((files(__package__) / "rules" / f"{name}.toml").read_text("utf-8"))


@cache
def things() -> Things:
    """The table of products and values."""
    keys: dict[str, str] = {}
    spelling: dict[str, str] = {}
    for key, products in _data("things").items():
        for product, spellings in products.items():
            for text in (product.lower(), *spellings):
                keys[text] = key
                spelling[text] = product
    return Things(keys, spelling)


@cache
def rules_for(language: str) -> Rules:
    """The rules of ``en`` or ``zh``.

    Raises:
        UsageError: There are none for this language.
    """
    if language not in LANGUAGES:
        raise UsageError(f"no extraction rules for the language {language!r}", "one of: " + ", ".join(LANGUAGES))
    data = _data(language)
    parts: dict[str, str] = data.get("parts", {})

    def compiled(markers: Sequence[str]) -> tuple[Marker, ...]:
        return tuple(compile_marker(text, language, parts) for text in markers)

    def rule(row: Mapping[str, Any]) -> Rule:
        return Rule(
            name=row["name"],
            markers=compiled(row["markers"]),
            unless=compiled(row.get("unless", ())),
            kind=row.get("kind"),
            scope=row.get("scope", "clause"),
            kinds=frozenset(row.get("kinds", ())),
            constraint=row.get("constraint", False),
            sure=row.get("sure", False),
            soft=row.get("soft", False),
            shut=row.get("shut", False),
        )

    return Rules(
        language=language,
        process=tuple(map(rule, data["process"])),
        statements=tuple(map(rule, data["statement"])),
        lead=_lead(data["leads"], data["soft_leads"], language),
        joint=_joint(data["joints"], language),
        reason=_words(data["reasons"], language),
        backward=re.compile(_choice(data["backward"]) + ("" if language == "zh" else r"\b"), re.IGNORECASE),
        sections={word: kind for kind, words in data["sections"].items() for word in words},
        readings=Index(_reading(text, data["names"], language) for text in data["reading"]["patterns"]),
        forbidding=re.compile(data["reading"]["forbidding"], re.IGNORECASE),
        names={word.lower(): key for key, words in data["names"].items() for word in (key.replace("_", " "), *words)},
        values={word.lower(): value for value, words in data["values"].items() for word in words},
        labels=data["labels"],
        words={
            name: compile_small(text) if name in _IN_SMALL else re.compile(text, re.IGNORECASE | re.DOTALL)
            for name, text in data["words"].items()
        },
    )


LANGUAGES = ("en", "zh")
_IN_SMALL = frozenset(("lifts", "obliges"))
"""Of the patterns of words those that every statement is held against, and that are looked for in small letters."""


def rules_of(text: str) -> Rules:
    """The rules of the package by which a sentence is read."""
    return rules_for("zh" if is_han(text) else "en")


def _reading(text: str, names: Mapping[str, Sequence[str]], language: str) -> Marker:
    """A pattern by which key and value are read off; ``{name}`` in it is any known name of a thing."""
    known = [re.escape(word) for key, words in names.items() for word in (key.replace("_", " "), *words)]
    return compile_reading(text.replace("{name}", _choice(known)), language)


def _choice(words: Sequence[str]) -> str:
    return "(?:" + "|".join(sorted(words, key=len, reverse=True)) + ")"


def _words(words: Sequence[str], language: str) -> re.Pattern[str]:
    return compile_small(_choice(words) if language == "zh" else rf"\b{_choice(words)}\b")


def _lead(words: Sequence[str], soft: Sequence[str], language: str) -> re.Pattern[str]:
    """Words that are taken off; most only where a comma or the like follows."""
    if language == "zh":
        return compile_small(rf"{_choice(words)}[，,、！!。…：:]+\s*|{_choice(soft)}(?=[^，,])")
    return compile_small(rf"{_choice([*words, *soft])}\s*[,.!:…-][,.!:…\s-]*|{_choice(soft)}\s+")


def _joint(words: Sequence[str], language: str) -> re.Pattern[str]:
    """Between clauses: a semicolon, a dash, a comma, or a word that turns."""
    word = _choice(words)
    if language == "zh":
        marks = rf"[；;，]\s*{word}?|,\s*(?=[{HAN}])"
        return compile_small(rf"{marks}|(?<=[{HAN}]){word}(?=[{HAN}])")
    # The first sign alone tells whether there may be one: what it has to be is asked after it.
    spaced = rf"(?<=\s)(?:\s*;\s*|\s*[–—-]{{1,2}}\s+|\s*{word}\s+)"
    comma = rf"(?<=,)\s+(?:and\s+|so\s+)?(?:{word}\s+)?"
    return compile_small(rf"[\s;,.](?:{spaced}|{comma}|(?<=;)\s*|(?<=\.)\.\.\s*)")
