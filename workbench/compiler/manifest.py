"""The manifest: one row for every candidate, by tier and rank, then what was refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from workbench.compiler import refusal
from workbench.compiler.candidates import Candidate, Place
from workbench.compiler.envelope import Row
from workbench.compiler.layout import Piece
from workbench.compiler.pack import Item, Packing, Unit
from workbench.compiler.rank import Score


class Manifest:
    """Makes rows, and keeps those that do not depend on the packing."""

    def __init__(self) -> None:
        self._omitted: dict[Place, tuple[Item, Row]] = {}
        self._refusals: dict[tuple[Place, str], Row] = {}

    def ranked(
        self, units: Iterable[Unit], packing: Packing, tokens: Callable[[Item, Iterable[Piece]], int]
    ) -> list[tuple[Item, Row]]:
        """Rows of everything that qualified.

        Args:
            units: In rank order.
            packing: What is carried in which form.
            tokens: Counts the lines of an item.
        """
        rows: list[tuple[Item, Row]] = []
        for unit in units:
            for item in unit.items:
                number = packing.chosen.get(item.place)
                if number is None:
                    rows.append(self._left_out(item))
                    continue
                form = item.forms[number]
                carried = [piece for piece in form.pieces if packing.long or not piece.long_only]
                rows.append((item, _row(item, form.name, tokens(item, carried))))
        return rows

    def _left_out(self, item: Item) -> tuple[Item, Row]:
        known = self._omitted.get(item.place)
        if known is None or known[0] is not item:
            known = self._omitted[item.place] = item, _row(item, None, 0)
        return known

    def refused(
        self, codes: Mapping[Place, str], candidate: Callable[[Place], Candidate], score: Callable[[Place], Score]
    ) -> list[Row]:
        """Rows of everything that was refused, by source type and id."""
        return [self._refusal(place, candidate(place), score(place), codes[place]) for place in sorted(codes)]

    def _refusal(self, place: Place, candidate: Candidate, score: Score, code: str) -> Row:
        key = place, code
        known = self._refusals.get(key)
        if known is None:
            known = self._refusals[key] = _refused_row(candidate, score, code)
        return known


def _row(item: Item, form: str | None, tokens: int) -> Row:
    candidate = item.judged.candidate
    return Row(
        id=candidate.source_id,
        source_type=candidate.source_type,
        title=candidate.title,
        tier=item.tier,
        included=form is not None,
        form=form,
        tokens=tokens,
        wanted=item.tokens[-1],
        score=item.score.total,
        parts=item.score.parts,
        reason=refusal.BUDGET if form is None else None,
    )


def _refused_row(candidate: Candidate, score: Score, code: str) -> Row:
    return Row(
        id=candidate.source_id,
        source_type=candidate.source_type,
        title=candidate.title,
        tier="forbidden",
        included=False,
        form=None,
        tokens=0,
        wanted=0,
        score=score.total,
        parts=score.parts,
        reason=code,
    )
