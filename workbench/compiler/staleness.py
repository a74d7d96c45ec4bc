"""Values that no longer hold, and the texts that still state them.

A superseded, rejected or challenged value must not come back through a message, a note or a
summary. A text counts as stating it when a fact that held it cites the text as its source, when the
text holds the value beside the name of its key, or when it holds a value so telling ("blue", not
"3") that it needs no key beside it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from workbench.compiler.values import value_text
from workbench.domain.fact import Act, Fact, Registry

_WORD = re.compile(r"[0-9a-z_]+")
_LETTERS = re.compile(r"[^\W\d_]{3,}")
_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff]{2,}")
_COMMON_WORDS = (
    "yes true false none null off auto default main master dev test todo done open other all any new old unknown "
    "没有 可以 不要 默认 需要 完成"
)
_COMMON = frozenset(_COMMON_WORDS.split())
"""Values that stand in texts of every kind: they need their key beside them."""
_TELLING_LENGTH = 200


@dataclass(frozen=True)
class StaleValue:
    """A value that was held of a key and is not to be relied on."""

    fact: Fact
    key: str
    old: str
    now: str | None
    """What holds or is proposed in its place."""
    since: str
    settled: bool
    """False: a challenge that no person has decided."""
    needle: str
    """``old`` as texts are compared."""
    alone: bool
    """Telling enough to count without its key."""
    names: tuple[str, ...]
    """The key and its aliases, as texts name them."""
    newer: tuple[str, ...]
    """Current values that contain the old one."""


def folded(text: str) -> str:
    """A text in the form in which values are looked for."""
    return (text if text.isascii() else unicodedata.normalize("NFKC", text)).casefold()


class Staleness:
    """Every value that no longer holds for a task, ready to be looked for in many texts."""

    def __init__(self, registry: Registry, scopes: Sequence[str]) -> None:
        self.cited: dict[str, StaleValue] = {}
        self.of_fact: dict[str, StaleValue] = {}
        self._by_word: dict[str, list[StaleValue]] = {}
        self._by_pair: dict[str, list[StaleValue]] = {}
        groups: dict[str, list[Fact]] = {}
        for fact in registry.facts.values():
            if fact.scope in scopes:
                groups.setdefault(registry.canonical(fact.key), []).append(fact)
        holding = {folded(value_text(f.value)) for fs in groups.values() for f in fs if _holds(registry, f)}
        for key in sorted(groups):
            for value in _stale_values(registry, key, groups[key], holding):
                self._add(value)

    def _add(self, value: StaleValue) -> None:
        self.of_fact[value.fact.id] = value
        for source in value.fact.sources:
            if source.ref is not None:
                self.cited.setdefault(source.ref, value)
        if not value.needle:
            return
        word = _WORD.search(value.needle)
        if word is not None:
            self._by_word.setdefault(word.group(), []).append(value)
        else:
            self._by_pair.setdefault(value.needle[:2], []).append(value)

    def stated(self, text: str) -> tuple[StaleValue, ...]:
        """The values that ``text`` states although they no longer hold."""
        if not self.of_fact or not text:
            return ()
        plain = folded(text)
        found: dict[tuple[str, str], StaleValue] = {}
        for value in self._suspects(plain):
            if (value.key, value.needle) not in found and _states(plain, value):
                found[value.key, value.needle] = value
        return tuple(found[place] for place in sorted(found))

    def _suspects(self, plain: str) -> Iterator[StaleValue]:
        if self._by_word:
            for word in dict.fromkeys(_WORD.findall(plain)):
                yield from self._by_word.get(word, ())
        if self._by_pair:
            for pair in {plain[i : i + 2] for i in range(len(plain))} | set(plain):
                yield from self._by_pair.get(pair, ())

    def behind(self, refs: Iterable[str], text: str) -> tuple[StaleValue, ...]:
        """Like :meth:`stated`, for a text that facts may also cite by one of ``refs``."""
        if not self.of_fact:
            return ()
        found = {(v.key, v.needle): v for v in self.stated(text)}
        for ref in refs:
            if ref in self.cited:
                value = self.cited[ref]
                found.setdefault((value.key, value.needle), value)
        return tuple(found[place] for place in sorted(found))


def _holds(registry: Registry, fact: Fact) -> bool:
    return registry.lifecycle(fact.id) == "active"


def _stale_values(registry: Registry, key: str, facts: list[Fact], holding: set[str]) -> Iterator[StaleValue]:
    current = [f for f in facts if _holds(registry, f)]
    if len(current) == len(facts):
        return
    current_values = {folded(value_text(f.value)) for f in current}
    names = _names(registry, key, facts)
    for fact in facts:
        lifecycle = registry.lifecycle(fact.id)
        needle = folded(value_text(fact.value)).strip()
        if lifecycle not in ("superseded", "rejected", "challenged") or needle in current_values:
            continue
        after = _successor(registry, fact, current)
        yield StaleValue(
            fact=fact,
            key=key,
            old=value_text(fact.value),
            now=value_text(after.value) if after else None,
            since=_since(after) if after else "",
            settled=lifecycle != "challenged",
            needle=needle,
            alone=lifecycle != "rejected" and _telling(fact.value, needle) and needle not in holding,
            names=names,
            newer=tuple(sorted(v for v in current_values if needle and needle in v)),
        )


def _successor(registry: Registry, fact: Fact, current: list[Fact]) -> Fact | None:
    if registry.lifecycle(fact.id) == "challenged":
        against = [registry.facts[i] for i in registry.standing(fact.id).by]
        return max(against, key=lambda f: (_since(f), f.id))
    own = [f for f in current if f.scope == fact.scope] or current
    if own:
        return own[0]
    heads = [f for f in registry.heads(fact.key, fact.scope) if f.id != fact.id]
    return heads[0] if len(heads) == 1 else None


def _since(fact: Fact) -> str:
    accepted: list[Act] = [act for act in fact.acts if act.act == "accepted"]
    said = max((source.at for source in fact.sources), default="")
    return accepted[-1].at if accepted else said or fact.observed_at


def _names(registry: Registry, key: str, facts: list[Fact]) -> tuple[str, ...]:
    names = {key}
    for written in {key, *(folded(fact.key) for fact in facts)}:
        last = written.rsplit(".", 1)[-1]
        names |= {last, re.sub(r"[_-]+", " ", last), written}
    return tuple(sorted(name for name in names if name))


def _telling(value: object, needle: str) -> bool:
    if not isinstance(value, str) or len(needle) > _TELLING_LENGTH or needle in _COMMON:
        return False
    return bool(_HAN.search(needle) or _LETTERS.search(needle))


def _states(plain: str, value: StaleValue) -> bool:
    for newer in value.newer:
        plain = plain.replace(newer, "\x00")
    for start in _occurrences(plain, value.needle):
        if value.alone:
            return True
        line_start = plain.rfind("\n", 0, start) + 1
        line_end = plain.find("\n", start)
        line = plain[line_start : line_end if line_end >= 0 else len(plain)]
        if any(_first(line, name) >= 0 for name in value.names):
            return True
    return False


def _occurrences(plain: str, needle: str) -> Iterator[int]:
    start = _first(plain, needle)
    while start >= 0:
        yield start
        start = _first(plain, needle, start + 1)


def _first(plain: str, needle: str, start: int = 0) -> int:
    """Where ``needle`` stands as words of its own (letters and digits of ASCII make an edge), or -1."""
    at = plain.find(needle, start)
    while at >= 0:
        end = at + len(needle)
        inside_before = at > 0 and _ascii_word(plain[at - 1]) and _ascii_word(needle[0])
        inside_after = end < len(plain) and _ascii_word(plain[end]) and _ascii_word(needle[-1])
        if not inside_before and not inside_after:
            return at
        at = plain.find(needle, at + 1)
    return -1


def _ascii_word(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")
