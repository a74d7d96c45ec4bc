"""Of very many places the newest are shown, in order and rightly counted, however the index gets at them."""

from __future__ import annotations

import random
import sqlite3

from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.store.search_part import Entry, Part

GROUPS = ("one", "two", "three")


def entry(number: int, at: int, said: bool) -> Entry:
    text = "heron" if said else "silence"
    return Entry(f"m{number}", number, f"2026-03-01T{at:06}", number, lambda: f"{text} {number}")


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 1000),
    kind=st.sampled_from(["often", "once often", "seldom"]),
    limit=st.sampled_from([1, 2, 5, 40]),
    asked=st.sets(st.sampled_from(GROUPS), min_size=1),
    hidden=st.booleans(),
)
def test_the_newest_are_found(seed: int, kind: str, limit: int, asked: set[str], hidden: bool) -> None:
    chance, part = random.Random(seed), Part(sqlite3.connect(":memory:", isolation_level=None))
    part.make()
    places: list[tuple[str, str, int]] = []
    for group in GROUPS:
        entries = []
        for number in range(400):
            at = chance.randrange(2000)
            said = {"often": chance.random() < 0.8, "once often": at < 1500, "seldom": chance.random() < 0.02}[kind]
            entries.append(entry(number, at, said))
            if said and group in asked:
                places.append((entries[-1].at, group, number))
        part.put(group, entries, (), "stamp", lambda: None)
    gone: set[tuple[str, str]] = set()
    if hidden:
        newest = sorted(places, reverse=True)[: limit // 2 + 1]
        gone = {(group, f"m{number}") for _, group, number in newest}
        part.hide(row.number for group in GROUPS for ref, row in part.rows(group).items() if (group, ref) in gone)
    total, found = part.find('"heron"', sorted(asked), limit)
    left = [(at, number) for at, group, number in places if (group, f"m{number}") not in gone]
    assert [(row.at, row.place) for row in found] == sorted(left, reverse=True)[:limit]
    assert total == len(left)
    part.close()
