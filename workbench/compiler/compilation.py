"""A compile that can be repeated: everything up to the forms is worked out once, packing as often as asked."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import msgspec

from workbench.compiler import refusal
from workbench.compiler.candidates import Place, Tier
from workbench.compiler.classify import Classifier
from workbench.compiler.collect import collect, names, names_of
from workbench.compiler.collect_task import direct_dependencies
from workbench.compiler.envelope import (
    Blocked,
    Compiled,
    RequiredItem,
    Row,
    budget_json,
    items_by_section,
    snapshot_by_rows,
)
from workbench.compiler.frame import SNAPSHOT_TOKENS, Frame
from workbench.compiler.layout import Form, Piece
from workbench.compiler.manifest import Manifest
from workbench.compiler.material import Material
from workbench.compiler.pack import Item, Packer, Packing, Ranking, TokenCache, replaces
from workbench.compiler.qualify import Judged, Qualifier
from workbench.compiler.rank import NOTHING, SCORE_FLOOR, Ranker, Score
from workbench.compiler.render_markdown import render
from workbench.compiler.request import Budget, Request, budget_of, identity_of
from workbench.compiler.shape import Shaper
from workbench.compiler.staleness import Staleness
from workbench.compiler.values import whole
from workbench.compiler.words import language_of, words_for
from workbench.domain.fact import WORKSPACE
from workbench.tokens import Counter

_FENCE = 6
"""Hex digits of a fence, before it is lengthened."""
_COULD_SHORTEN = {"state": "agent", "open_item": "agent", "failure": "nobody", "upstream_input": "nobody"}


def compile_package(material: Material, request: Request, counter: Counter) -> Compiled | Blocked:
    """Compile once.

    Args:
        material: Records and messages.
        request: Target, budget, strategy, pins.
        counter: The tokenizer to count in.
    """
    return Compilation(material, request, counter).pack()


class Compilation:
    """Candidates of one material and request, judged, ranked and shaped; :meth:`pack` does the rest."""

    def __init__(self, material: Material, request: Request, counter: Counter) -> None:
        # Pins do not shape what is collected: packing with them must not depend on when they were set.
        self.request = replace(request, pins=frozenset(), without=frozenset())
        self._pins, self._without = request.pins, request.without
        self.material = material
        self.cache = TokenCache(counter)
        objective = material.task.contract.objective or material.task.title
        self.language = request.language or language_of(objective)
        self.words = words_for(self.language, request.command)
        scopes = (WORKSPACE, material.task.id, *direct_dependencies(material))
        self._staleness = Staleness(material.registry, scopes)
        self._qualifier = Qualifier(material, request, self._staleness)
        self._classifier = Classifier(material)
        self._ranker = Ranker(material)
        candidates = collect(material, self.request)
        self._judged = {j.candidate.place: j for j in self._qualifier.judge(candidates)}
        judged = list(self._judged.values())
        self._scores = self._ranker.scores(judged)
        self._tiers = self._classifier.tiers(judged)
        self._shaper = Shaper(material, self.request, self.words, self._staleness, judged)
        self._items: dict[Place, Item] = {}
        self._refused: dict[Place, str] = {}
        self._slots: dict[str, int] = {}
        self._base_items()
        self._frame = Frame(self.words, identity_of(material, request), material.task.slug)
        self._ranking = Ranking(self._items)
        self._manifest = Manifest()
        self._packed: tuple[tuple[dict[Place, Item | None], str], Packer] | None = None
        self._fence = _fence_of(c.body for c in candidates)
        self._bodies = [c.body for c in candidates]

    def _base_items(self) -> None:
        shaped: dict[Place, tuple[Form, ...]] = {}
        for place, judged in self._judged.items():
            code = judged.refusal
            if code is None and self._tiers[place] == "optional" and self._scores[place].total < SCORE_FLOOR:
                code = refusal.BELOW_FLOOR
            if code is None:
                shaped[place] = self._shaper.forms(judged)
            else:
                self._refused[place] = code
        self.cache.learn(piece.text for forms in shaped.values() for form in forms for piece in form.pieces)
        for place, forms in shaped.items():
            if self._judged[place].candidate.source_type == "state":
                self._slots |= {piece.slot: self.cache.count(piece.text) for piece in forms[0].pieces if piece.slot}
        for place, forms in shaped.items():
            judged = self._judged[place]
            self._items[place] = self._item(judged, self._tiers[place], self._scores[place], forms)

    def _item(self, judged: Judged, tier: Tier, score: Score, forms: tuple[Form, ...]) -> Item:
        slots = {} if judged.candidate.source_type == "state" else self._slots
        tokens = tuple([sum([self._count(piece, slots) for piece in form.pieces]) for form in forms])
        return Item(judged, tier, score, forms, tokens)

    def _count(self, piece: Piece, slots: Mapping[str, int]) -> int:
        """Tokens of a piece; of one that replaces a line of the state, what it adds."""
        return self.cache.count(piece.text) - slots.get(piece.slot, 0)

    def pack(
        self,
        budget: int | None = None,
        pins: Collection[str] | None = None,
        without: Collection[str] | None = None,
    ) -> Compiled | Blocked:
        """Pack under a budget, with what a person pinned or left out; each defaults to the request's.

        A pin makes an item required, word for word; it overrides a toggle. What is required anyway
        cannot be toggled off, and what does not hold cannot be pinned.
        """
        pinned = frozenset(self._pins if pins is None else pins)
        left_out = frozenset(self._without if without is None else without)
        room = budget_of(self.request, self.request.budget if budget is None else budget)
        choice = _Choice(self, pinned, left_out)
        return self._outcome(self._packer(choice), choice, room)

    @cached_property
    def _by_name(self) -> dict[str, list[Place]]:
        """Places of all candidates by what a pin or toggle may call them."""
        found: dict[str, list[Place]] = {}
        for place, judged in self._judged.items():
            name, short = names_of(judged.candidate)
            found.setdefault(name, []).append(place)
            if short != name:
                found.setdefault(short, []).append(place)
        return found

    def _meant(self, chosen: Iterable[str]) -> set[Place]:
        return {place for name in chosen for place in self._by_name.get(name, ())}

    def _packer(self, choice: _Choice) -> Packer:
        """The last one where only the budget changed: its order of items does not depend on that."""
        if self._packed is None or self._packed[0] != (choice.changes, choice.fence):
            units = self._ranking.changed(choice.changes).units()
            packer = Packer(units, self._frame, self.cache, choice.fence, self._slots)
            self._packed = (choice.changes, choice.fence), packer
        return self._packed[1]

    def _outcome(self, packer: Packer, choice: _Choice, room: Budget) -> Compiled | Blocked:
        least = packer.minimum()
        # The sum over pieces bounds the exact count from above; only the exact one may block.
        if least.bound > room.tokens:
            exact = self._exact(self._prompt(packer, least, choice, ""))
            if exact > room.tokens:
                return self._blocked(packer, exact - room.tokens, room)
            return self._compiled(packer, least, choice, room)
        packing = packer.pack(room.tokens)
        while self._exact(self._prompt(packer, packing, choice, "")) > room.tokens and len(packing.chosen) > len(
            least.chosen
        ):
            taken = [unit for unit in packer.order if unit.items[0].place in packing.chosen]
            packing = packer.enlarged(taken[:-1], room.tokens)
        return self._compiled(packer, packing, choice, room)

    def _exact(self, prompt_without_id: str) -> int:
        return self.cache.counter.count(prompt_without_id) + SNAPSHOT_TOKENS

    def _prompt(self, packer: Packer, packing: Packing, choice: _Choice, snapshot: str) -> str:
        carried = [choice.items[place] for place in sorted(packing.chosen)]
        # Details of an open item replace the line of the state, so they come after it.
        carried.sort(key=replaces)
        pieces: list[Piece] = []
        for item in carried:
            pieces.extend(item.forms[packing.chosen[item.place]].pieces)
        return render(pieces, self._frame, choice.fence, snapshot, packer.possible, long=packing.long)

    def _compiled(self, packer: Packer, packing: Packing, choice: _Choice, room: Budget) -> Compiled:
        ranked = self._manifest.ranked(packer.units, packing, self._tokens)
        refused = self._manifest.refused(
            choice.refused, lambda place: choice.judged[place].candidate, lambda p: self._scores.get(p, NOTHING)
        )
        rows = (*(row for _, row in ranked), *refused)
        head = self._head(ranked, packing, choice, room)
        snapshot = snapshot_by_rows(head, rows)
        return Compiled(
            snapshot=snapshot,
            identity=self._frame.identity,
            tokens=self._exact(self._prompt(packer, packing, choice, "")),
            tokenizer=self.cache.counter.name,
            budget=head["budget"],
            manifest=rows,
            absent_sessions=tuple(head["absent_sessions"]),
            prompt=self._prompt(packer, packing, choice, snapshot),
            head=head,
            not_found=choice.not_found,
        )

    def _head(self, ranked: list[tuple[Item, Row]], packing: Packing, choice: _Choice, room: Budget) -> dict[str, Any]:
        carried = [
            (row, [(p.section, p.text) for p in item.forms[packing.chosen[item.place]].pieces])
            for item, row in ranked
            if row.included
        ]
        return {
            "identity": msgspec.to_builtins(self._frame.identity),
            "requirements": whole(msgspec.to_builtins(self.material.task.contract)),
            "items": items_by_section(carried),
            "failure": [row.id for row, _ in carried if row.source_type == "failure"],
            "inputs": [row.id for row, _ in carried if row.source_type == "upstream_input"],
            "budget": budget_json(room, self.cache.counter.name),
            "score_floor": SCORE_FLOOR,
            "language": self.language,
            "form": "long" if packing.long else "short",
            "fence": choice.fence,
            "absent_sessions": sorted(self.material.absent_sessions),
            "prior_snapshot": self.material.prior_snapshot,
        }

    def _tokens(self, item: Item, pieces: Iterable[Piece]) -> int:
        slots = self._slots if replaces(item) else {}
        return sum(self._count(piece, slots) for piece in pieces)

    def _blocked(self, packer: Packer, over_by: int, room: Budget) -> Blocked:
        required = [
            RequiredItem(
                id=item.judged.candidate.source_id,
                source_type=item.judged.candidate.source_type,
                title=item.judged.candidate.title,
                tokens=item.tokens[-1],
                smallest=item.tokens[0],
                could_shorten=_COULD_SHORTEN.get(item.judged.candidate.source_type, "person"),
            )
            for unit in packer.required
            for item in unit.items
        ]
        return Blocked(over_by, tuple(required), budget_json(room, self.cache.counter.name))


class _Choice:
    """The candidates of one packing: the compilation's own, changed by pins and toggles."""

    def __init__(self, base: Compilation, pins: frozenset[str], without: frozenset[str]) -> None:
        self._base = base
        self.items = base._items
        self.changes: dict[Place, Item | None] = {}
        """Items that pins and toggles add, replace or, as None, take out."""
        self.refused = base._refused
        self.judged: dict[Place, Judged] = base._judged
        self.fence = base._fence
        found: set[str] = set()
        if pins or without:
            self.items, self.refused, self.judged = dict(base._items), dict(base._refused), dict(base._judged)
            extra = self._fetch(pins)
            for place in sorted({*base._meant(pins | without), *extra}):
                judged = self.judged[place]
                found |= names(judged.candidate, pins | without)
                if names(judged.candidate, pins):
                    self._pin(judged, known=place not in extra)
            self._toggle(without, pins)
        self.not_found = tuple(sorted((pins | without) - found))

    def _fetch(self, pins: frozenset[str]) -> frozenset[Place]:
        """Pinned candidates that the strategy does not collect by itself."""
        base = self._base
        unknown = frozenset(name for name in pins if name not in base._by_name)
        if not unknown:
            return frozenset()
        asked = replace(base.request, pins=unknown)
        extra = [c for c in collect(base.material, asked) if c.place not in self.judged and names(c, asked.pins)]
        for candidate in extra:
            self.judged[candidate.place] = base._qualifier.one(candidate)
            self.refused[candidate.place] = self.judged[candidate.place].refusal or refusal.BUDGET
        self.fence = _fence_of(base._bodies, [c.body for c in extra])
        return frozenset(c.place for c in extra)

    def _pin(self, judged: Judged, *, known: bool) -> None:
        base, place = self._base, judged.candidate.place
        pinned = base._qualifier.pinned(judged)
        if pinned.refusal is not None:
            return
        self.judged[place] = pinned
        self.refused.pop(place, None)
        score = base._scores.get(place, NOTHING) if known else NOTHING
        self._put(place, base._item(pinned, "required", score.pinned(), base._shaper.forms(pinned)))

    def _put(self, place: Place, item: Item | None) -> None:
        self.changes[place] = item
        if item is None:
            del self.items[place]
        else:
            self.items[place] = item

    def _toggle(self, without: frozenset[str], pins: frozenset[str]) -> None:
        meant = [self.items[place] for place in self._base._meant(without - pins) if place in self.items]
        units = {item.judged.unit for item in meant if item.tier != "required"}
        together = {place for unit in units for place in self._base._ranking.together(unit)}
        for place in together & self.items.keys():
            if self.items[place].tier != "required":
                self._put(place, None)
                self.refused[place] = refusal.TOGGLED_OFF


def _fence_of(bodies: Iterable[str], more: Iterable[str] = ()) -> str:
    """Hex digits from the hash of the bodies, lengthened until they occur in none of them."""
    texts = sorted(bodies)
    digest = hashlib.sha256("\x00".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
    texts += more
    for length in range(_FENCE, len(digest) + 1):
        if not any(digest[:length] in text for text in texts):
            return digest[:length]
    return _fence_of([*texts, digest])
