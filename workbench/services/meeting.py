"""Which known things a find is about: their keys and scopes, so that what contradicts meets what it contradicts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from workbench.domain.alike import key_parts
from workbench.domain.fact import WORKSPACE, Fact, Registry, is_key, means_same, value_text
from workbench.domain.record import Json
from workbench.domain.task import Task
from workbench.extraction import Find
from workbench.extraction.narrowing import narrowed_to, only_supports, said_of_others
from workbench.extraction.offer import names_word
from workbench.extraction.reading import is_untouched
from workbench.extraction.rules import rules_of

_MOST = 3
"""Keys that a word may mean at once, each of which is then contradicted."""
Heads = Callable[[str, str], tuple[Fact, ...]]
"""What holds for a key in a scope."""


@dataclass(frozen=True)
class Meeting:
    """Finds beside what is known of a task.

    Args:
        registry: What is known.
        heads: What holds for a key in a scope, with what was taken just now.
        task: Whose talk it is.
    """

    registry: Registry
    heads: Heads
    task: Task

    def keys(self, find: Find, fresh: Iterable[str], *, hers: bool) -> tuple[str, ...]:
        """The keys of what a find is about; several where the person names one by a part that several share.

        Args:
            find: The find.
            fresh: Keys that were taken just now.
            hers: Whether it is the person's own word, which must not pass by what it contradicts.
        """
        known = self.registry.keys | set(fresh)
        if find.key is None:
            return self._of_old(find, known) if hers else ()
        key = self.registry.canonical(find.key)
        if is_untouched(find.value):  # whatever the thing is, it is to stay so
            return (key,) if all(is_untouched(fact.value) for fact in self._held(key)) else ()
        longer = sorted(name for name in known if name.endswith(f".{key}"))
        named = [name for name in longer if _named(name, key, find.text)]
        if named:
            return (max(named, key=lambda name: (len(key_parts(name)), name)),)
        if (apart := self._of_another(key, find)) is not None:
            return (apart,) if apart else ()
        if key in known and not self._only_ruled(key, find) and not self._left_alone(key):
            return (key,)
        if len(longer) == 1:
            return (longer[0],)
        alone = () if self._left_alone(key) else (key,)
        if not hers or find.constraint:  # a rule is worded freely: it is no other value of what it speaks of
            return alone
        parts = key_parts(key)
        alike = [name for name in known if name != key and len(parts) > 1 and key_parts(name) == parts]
        spelled = [name for name in alike if self._held(name)]
        return (spelled[0],) if len(spelled) == 1 else self._meant(find, longer) or alone

    def scope(self, key: str, otherwise: str) -> str:
        """The task, where a value of its own holds there: what is said in it is said of that one."""
        return self.task.id if self.heads(key, self.task.id) else otherwise

    def against_variable(self, key: str, value: Json) -> bool:
        """Whether the task's state gives the same name another value."""
        said = (v for name, v in self.task.state.variables.items() if self.registry.canonical(name) == key)
        return any(value_text(other) != value_text(value) for other in said)

    def _held(self, key: str) -> tuple[Fact, ...]:
        return self.heads(key, self.task.id) or self.heads(key, WORKSPACE)

    def _left_alone(self, key: str) -> bool:
        """Whether all that holds of a thing is that it is to be left alone: how it is says nothing against that."""
        held = self._held(key)
        return bool(held) and all(is_untouched(fact.value) for fact in held)

    def _of_another(self, key: str, find: Find) -> str | None:
        """The key of what a find says of something else than what holds is narrowed to; empty: none."""
        held = self._held(key)
        if not held or any(means_same(fact.value, find.value) for fact in held):
            return None
        if only_supports(find.text) and all(only_supports(fact.statement) for fact in held):
            return ""
        names = {name for name, of in rules_of(find.text).names.items() if of in (key, find.key)}
        said = {value_text(value).lower() for value in (find.value, *(fact.value for fact in held))}
        but = frozenset((*names, *said))
        if not all(fact.statement and said_of_others(find.text, fact.statement, but) for fact in held):
            return None
        of = "_".join(re.findall(r"\w+", min(narrowed_to(find.text) - but)))
        longer = f"{of}.{key}"
        return longer if is_key(longer) else ""

    def _only_ruled(self, key: str, find: Find) -> bool:
        """Whether nothing but rules holds of a key, to which a value is no other value."""
        held = self._held(key)
        return bool(held) and not find.constraint and all(fact.kind == "constraint" for fact in held)

    def _meant(self, find: Find, longer: list[str]) -> tuple[str, ...]:
        """The few keys that a word may mean: those of the value that it repeats or puts aside, else all of them."""
        held = {key: {value_text(fact.value) for fact in self._held(key)} for key in longer}
        for value in (find.value, find.old):
            if value is not None and (fits := tuple(key for key in longer if value_text(value) in held[key])):
                return fits
        found = tuple(key for key in longer if held[key])
        return found if len(found) <= _MOST else ()

    def _of_old(self, find: Find, known: Iterable[str]) -> tuple[str, ...]:
        """The one key that has the value which a find puts aside, where no name is given."""
        if find.old is None or find.value is None:
            return ()
        old = value_text(find.old)
        found = [key for key in sorted(known) if any(value_text(fact.value) == old for fact in self._held(key))]
        return tuple(found) if len(found) == 1 else ()


def _named(longer: str, key: str, text: str) -> bool:
    """Whether a text says the parts, too, that a longer key has before ``key``."""
    before = longer[: -len(key) - 1]
    return all(names_word(text, part) for part in key_parts(before))
