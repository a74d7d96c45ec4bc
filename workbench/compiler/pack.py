"""Sixth stage: what goes in, and in which form.

Required items first. High and optional ones are merged into one order that does not depend on the
budget, and the longest prefix of it that fits in smallest forms is taken; so a larger budget never
loses an item. Then forms are enlarged in rank order while there is room.

Costs are sums over pieces, headings and common lines, which bound the exact count of the prompt
from above (see :mod:`.layout`).
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

import msgspec

from workbench.compiler.candidates import TIER_ORDER, Place, Tier
from workbench.compiler.frame import SHORT_BELOW, SNAPSHOT_TOKENS, Filled, Frame
from workbench.compiler.layout import SECTIONS, Form, Group
from workbench.compiler.qualify import Judged
from workbench.compiler.rank import Score
from workbench.tokens import Counter as TokenCounter


class TokenCache:
    """Counts of texts, each counted once."""

    def __init__(self, counter: TokenCounter) -> None:
        self.counter = counter
        self._known: dict[str, int] = {}

    def learn(self, texts: Iterable[str]) -> None:
        """Count many texts at once."""
        new = list(dict.fromkeys(text for text in texts if text not in self._known))
        self._known.update(zip(new, self.counter.count_all(new), strict=True))

    def count(self, text: str) -> int:
        """Tokens of ``text``."""
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self.counter.count(text)
        return known


class Item(msgspec.Struct, frozen=True, gc=False):
    """A qualified candidate, ready to be packed."""

    judged: Judged
    tier: Tier
    score: Score
    forms: tuple[Form, ...]
    """Smallest first."""
    tokens: tuple[int, ...]
    """Of each form's own lines, what the long prompt repeats included."""

    @property
    def place(self) -> Place:
        """Identifies it."""
        return self.judged.candidate.place


class Unit(msgspec.Struct, frozen=True, gc=False):
    """Items that are taken together or not at all."""

    items: tuple[Item, ...]
    tier: Tier
    cost: int
    """Tokens of the smallest forms."""


@dataclass(frozen=True)
class Packing:
    """The outcome: which form of each item is carried."""

    chosen: Mapping[Place, int]
    """Index of the form, by the item's place."""
    long: bool
    """Whether the fixed text has its long form."""
    bound: int
    """Tokens, by the sum of the pieces."""


class Ranking:
    """Items joined to units, in rank order: required, high, optional, each by falling score."""

    def __init__(self, items: Mapping[Place, Item]) -> None:
        self._items = dict(items)
        self._groups: dict[str, list[Place]] = {}
        for place, item in self._items.items():
            self._groups.setdefault(item.judged.unit, []).append(place)
        self._keyed = {name: self._unit(places) for name, places in self._groups.items()}

    def changed(self, changes: Mapping[Place, Item | None]) -> Ranking:
        """The ranking with some items replaced or added, and those that map to None taken out."""
        other = copy.copy(self)
        other._items, other._groups, other._keyed = dict(self._items), dict(self._groups), dict(self._keyed)
        touched: set[str] = set()
        for place, item in changes.items():
            before = other._items.pop(place, None)
            if before is not None:
                name = before.judged.unit
                other._groups[name] = [p for p in other._groups[name] if p != place]
                touched.add(name)
            if item is not None:
                other._items[place] = item
                other._groups[item.judged.unit] = [*other._groups.get(item.judged.unit, []), place]
                touched.add(item.judged.unit)
        for name in touched:
            if other._groups[name]:
                other._keyed[name] = other._unit(other._groups[name])
            else:
                del other._groups[name], other._keyed[name]
        return other

    def together(self, unit: str) -> Sequence[Place]:
        """The members of a unit."""
        return self._groups.get(unit, ())

    def _unit(self, places: Sequence[Place]) -> tuple[tuple[object, ...], Unit]:
        members = [self._items[place] for place in places]
        if len(members) == 1:
            return _rank_key(members, members[0].tier, members[0].tokens[0]), _alone(members[0])
        members.sort(key=lambda i: (i.judged.touches is not None, i.place))
        tier = min((i.tier for i in members), key=TIER_ORDER.__getitem__)
        cost = sum(i.tokens[0] for i in members)
        return _rank_key(members, tier, cost), Unit(tuple(members), tier, cost)

    def units(self) -> list[Unit]:
        """In rank order."""
        return [unit for _, unit in sorted(self._keyed.values(), key=itemgetter(0))]


def _alone(item: Item) -> Unit:
    return Unit((item,), item.tier, item.tokens[0])


def _rank_key(members: Sequence[Item], tier: Tier, cost: int) -> tuple[object, ...]:
    first = members[0]
    best, newest = first.score.total, first.judged.candidate.moment
    # What touches a fact has that fact's score and comes right after it.
    follows = first.judged.touches is not None
    for item in members[1:]:
        best, newest = max(best, item.score.total), max(newest, item.judged.candidate.moment)
        follows = follows and item.judged.touches is not None
    return TIER_ORDER[tier], -best, follows, -newest, cost, members[0].place


def merged(high: Sequence[Unit], optional: Sequence[Unit]) -> Iterator[Unit]:
    """One order of both: from high while its running total is at most 60% of the total, else from optional."""
    of_high = of_optional = at_high = at_optional = 0
    while at_high < len(high) or at_optional < len(optional):
        wants_high = 5 * of_high <= 3 * (of_high + of_optional)
        if at_optional >= len(optional) or (wants_high and at_high < len(high)):
            yield high[at_high]
            of_high += high[at_high].cost
            at_high += 1
        else:
            yield optional[at_optional]
            of_optional += optional[at_optional].cost
            at_optional += 1


@dataclass(frozen=True)
class Setting:
    """What the cost of a prompt depends on besides its items."""

    frame: Frame
    cache: TokenCache
    fence: str
    slots: Mapping[str, int]
    """Tokens of the state's plain lines, which open items replace."""
    possible: frozenset[str]
    """Sections that some item would fill."""


class Ledger:
    """The running cost of a prompt: pieces, common lines once each, and the fixed text for what is filled."""

    def __init__(self, setting: Setting, *, long: bool) -> None:
        self._setting = setting
        self._cache = setting.cache
        self.long = long
        self._tokens = 0
        self._groups: Counter[str] = Counter()
        self._sections: Counter[str] = Counter()
        self._fixed: dict[int, int] = {}
        self._present = 0

    def add(self, form: Form, *, replaces: bool = False) -> None:
        """Count a form in; one that replaces a line of another item counts the difference."""
        for piece in form.pieces:
            if piece.long_only and not self.long:
                continue
            self._tokens += self._cache.count(piece.text) - (self._setting.slots[piece.slot] if replaces else 0)
            self._count_section(piece.section, 1)
            for group in piece.groups:
                if not self._groups[group.key]:
                    self._tokens += self._line(group)
                self._groups[group.key] += 1

    def remove(self, form: Form, *, replaces: bool = False) -> None:
        """Take a form out again."""
        for piece in form.pieces:
            if piece.long_only and not self.long:
                continue
            self._tokens -= self._cache.count(piece.text) - (self._setting.slots[piece.slot] if replaces else 0)
            self._count_section(piece.section, -1)
            for group in piece.groups:
                self._groups[group.key] -= 1
                if not self._groups[group.key]:
                    self._tokens -= self._line(group)

    def _count_section(self, section: str, change: int) -> None:
        self._sections[section] += change
        bit = 1 << SECTIONS.index(section)
        self._present = self._present | bit if self._sections[section] else self._present & ~bit

    def _line(self, group: Group) -> int:
        fence = self._setting.fence
        closing = group.closing(fence)
        return self._cache.count(group.opening(fence)) + (self._cache.count(closing) if closing else 0)

    @property
    def total(self) -> int:
        """Tokens of the prompt, the snapshot id counted as sixteen."""
        fixed = self._fixed.get(self._present)
        if fixed is None:
            filled = Filled([s for s in SECTIONS if self._sections[s]], self._setting.possible)
            fixed = sum(self._cache.count(line) for line in self._setting.frame.text(filled, long=self.long))
            self._fixed[self._present] = fixed
        return self._tokens + fixed + SNAPSHOT_TOKENS


class Packer:
    """Packs the units of one compile into any budget."""

    def __init__(
        self, units: Sequence[Unit], frame: Frame, cache: TokenCache, fence: str, slots: Mapping[str, int]
    ) -> None:
        forms = [form for unit in units for item in unit.items for form in item.forms]
        self.possible = frozenset({piece.section for form in forms for piece in form.pieces})
        self._setting = Setting(frame, cache, fence, slots, self.possible)
        self.units = units
        """In rank order, and so by tier."""
        self.required = [unit for unit in units if unit.tier == "required"]
        self._high = [unit for unit in units if unit.tier == "high"]
        self._optional = [unit for unit in units if unit.tier == "optional"]

    @property
    def order(self) -> Iterator[Unit]:
        """What is taken after the required ones, in this order; a budget reaches only the first of very many."""
        return merged(self._high, self._optional)

    def _ledger(self, units: Iterable[Unit], *, long: bool) -> Ledger:
        ledger = Ledger(self._setting, long=long)
        for unit in units:
            self._take(ledger, unit)
        return ledger

    def _take(self, ledger: Ledger, unit: Unit) -> None:
        for item in unit.items:
            ledger.add(item.forms[0], replaces=replaces(item))

    def minimum(self) -> Packing:
        """The required items alone, in smallest forms and with the short fixed text."""
        return self._packing(self.required, self._ledger(self.required, long=False), {})

    def pack(self, budget: int) -> Packing:
        """The best packing for ``budget``, which :meth:`minimum` is known to fit."""
        ledger = self._ledger(self.required, long=False)
        room = budget - self._reserved(ledger.total, budget)
        taken: list[Unit] = []
        for unit in self.order:
            self._take(ledger, unit)
            if ledger.total > room:
                break
            taken.append(unit)
        return self.enlarged(taken, budget)

    def _reserved(self, shortest: int, budget: int) -> int:
        """Room kept for the long fixed text: none below its threshold, then growing no faster than the budget."""
        if budget < SHORT_BELOW:
            return 0
        longest = self._ledger(self.required, long=True).total
        return min(max(0, longest - shortest), budget - SHORT_BELOW)

    def enlarged(self, taken: Sequence[Unit], budget: int) -> Packing:
        """The units ``taken`` with the long fixed text and larger forms as far as there is room."""
        units = [*self.required, *taken]
        ledger = self._ledger(units, long=True)
        if budget < SHORT_BELOW or ledger.total > budget:
            ledger = self._ledger(units, long=False)
        chosen: dict[Place, int] = {}
        for unit in sorted(units, key=lambda u: TIER_ORDER[u.tier]):
            for item in unit.items:
                chosen[item.place] = self._grow(ledger, item, budget)
        return self._packing(units, ledger, chosen)

    @staticmethod
    def _grow(ledger: Ledger, item: Item, budget: int) -> int:
        smallest = item.forms[0]
        for number in range(len(item.forms) - 1, 0, -1):
            ledger.remove(smallest, replaces=replaces(item))
            ledger.add(item.forms[number], replaces=replaces(item))
            if ledger.total <= budget:
                return number
            ledger.remove(item.forms[number], replaces=replaces(item))
            ledger.add(smallest, replaces=replaces(item))
        return 0

    @staticmethod
    def _packing(units: Iterable[Unit], ledger: Ledger, chosen: Mapping[Place, int]) -> Packing:
        forms = {item.place: chosen.get(item.place, 0) for unit in units for item in unit.items}
        return Packing(forms, ledger.long, ledger.total)


def replaces(item: Item) -> bool:
    """Whether its line takes the place of the plain line that the state carries for it."""
    return item.judged.candidate.source_type == "open_item"
