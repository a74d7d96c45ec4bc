"""Conclusions as labelled text: facts, decisions, artifacts, open items, each with its time (``extraction.md``)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from workbench.domain.arrival import nature
from workbench.domain.times import instant
from workbench.extraction.model import KINDS, Extraction, Find, Kind
from workbench.extraction.rules import rules_for
from workbench.extraction.sentences import is_han

NAMED = 20
"""Of what does not fit so many are named; of all of them the number is said."""


def language_of(finds: Sequence[Find]) -> str:
    """``zh`` where most finds are Chinese, else ``en``."""
    han = sum(is_han(find.text) for find in finds)
    return "zh" if han * 2 > len(finds) else "en"


def render(
    found: Extraction,
    *,
    language: str | None = None,
    now: datetime | None = None,
    review_after: Mapping[str, int | None] | None = None,
    room: int | None = None,
    count: Callable[[str], int] = len,
    confirmed: Collection[Find] = (),
) -> str:
    """Labelled sections; what does not fit is counted and named.

    Args:
        found: What was extracted.
        language: Of the labels; else that of most finds.
        now: The present; with it, what is past review says so.
        review_after: Days after which a kind (``fact``, ``decision``, ``version`` …) has to be looked at again.
        room: What ``count`` may give at most; open items that block and constraints stay longest.
        count: Measures a text, in tokens for instance.
        confirmed: Finds that a person or a tool stands for; only over these does *confirmed* stand.
    """
    language = language or language_of(found.finds)
    labels = rules_for(language).labels
    dated = {id(find): _dated(find, labels, now, review_after or {}) for find in found.finds}

    def text(kept: Sequence[Find]) -> str:
        sections = []
        for label, group in labelled(kept, language, confirmed):
            head = f"{labels['open_bracket']}{label}{labels['close_bracket']}"
            sections.append(head + labels["join"].join(dated[id(find)] for find in group))
        shown = set(map(id, kept))
        left = [find for find in found.finds if id(find) not in shown]
        if left:
            names = labels["join"].join([*map(_name, left[:NAMED]), *["…"] * (len(left) > NAMED)])
            sections.append(labels["left_out"].format(count=len(left), names=names))
        return "\n".join(sections)

    whole = text(found.finds)
    if room is None or count(whole) <= room:
        return whole
    going = list(map(id, sorted(found.finds, key=_weight)))

    def without(number: int) -> str:
        gone = set(going[:number])
        return text([find for find in found.finds if id(find) not in gone])

    # The more goes, the shorter it is, but for a name here and there.
    return without(bisect_left(range(len(going)), True, key=lambda number: count(without(number)) <= room))


def labelled(
    finds: Sequence[Find], language: str | None = None, confirmed: Collection[Find] = ()
) -> Iterator[tuple[str, Sequence[Find]]]:
    """Finds under their labels, in the order in which they are shown; what blocks is first among what is open."""
    labels = rules_for(language or language_of(finds)).labels
    for kind in KINDS:
        for label, group in _groups(kind, finds, confirmed):
            yield labels[label], group


def _groups(kind: Kind, kept: Sequence[Find], confirmed: Collection[Find]) -> list[tuple[str, list[Find]]]:
    of = [find for find in kept if find.kind == kind]
    if kind == "open":
        of.sort(key=lambda find: find.priority)
    if kind != "fact":
        return [(kind, of)] if of else []
    sure = [find for find in of if find in confirmed]
    told = [find for find in of if find not in confirmed]
    return [(label, group) for label, group in (("fact", sure), ("fact_reported", told)) if group]


def _dated(find: Find, labels: Mapping[str, str], now: datetime | None, review_after: Mapping[str, int | None]) -> str:
    text = " ".join(find.text.split()).rstrip("。.;；")
    if not find.place.at:
        return text
    notes = [labels["as_of"].format(date=find.place.at[:10])]
    days = review_after.get(
        "constraint" if find.constraint else find.kind if find.kind != "fact" else nature(find.value)
    )
    if now is not None and days and instant(find.place.at) + timedelta(days=days) < now:
        notes.append(labels["check_first"])
    return f"{text} ({', '.join(notes)})"


def _name(find: Find) -> str:
    return find.key or " ".join(find.text.split())[:24]


def _weight(find: Find) -> tuple[int, bool, int]:
    """What may go first: artifacts and facts, then decisions, then what is open; constraints and blockers last."""
    order = {"artifact": 0, "fact": 1, "decision": 2, "open": 3}
    lasting = find.constraint or (find.kind == "open" and find.priority == 1)
    return (
        9 if lasting else order[find.kind] if find.kind != "open" else 5 - find.priority,
        find.sure,
        -len(find.text),
    )
