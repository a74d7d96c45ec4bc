"""Merging one record: the same in either order, and nothing that only one side changed is lost."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.fact import canonical_value
from workbench.domain.merging import Side, merge

ITEMS = ("i1", "i2", "i3", "i4")
LEAF = st.one_of(st.none(), st.integers(0, 3), st.sampled_from(["a", "b", "c.d"]))
ITEM = st.fixed_dictionaries({"text": LEAF, "at": st.sampled_from(["2026-03-01T10:00:00Z", "2026-03-02T10:00:00Z"])})
RECORD = st.fixed_dictionaries(
    {
        "title": LEAF,
        "value": st.one_of(LEAF, st.dictionaries(st.sampled_from("xy"), LEAF)),
        "contract": st.fixed_dictionaries({"objective": LEAF, "targets": st.lists(LEAF, max_size=2, unique=True)}),
        "variables": st.dictionaries(st.sampled_from(["port", "a.b"]), LEAF),
        "pending": st.dictionaries(st.sampled_from(ITEMS), ITEM),
    }
)
IDS = st.permutations([f"change{n:04}" for n in range(4)])


def document(fields: dict[str, Any], version: int) -> dict[str, Any]:
    pending = [{"id": key, **row} for key, row in fields["pending"].items()]
    state = {"variables": fields["variables"], "pending": pending}
    fields = {name: fields[name] for name in ("title", "value", "contract")}
    return {"id": "abc", "schema": 1, "version": version, "state": state, **fields}


def leaves(value: Any, path: str = "") -> dict[str, str]:
    """Every field by its path, an item's by its id."""
    if isinstance(value, dict) and path != ".value":
        found: dict[str, str] = {}
        for key, item in value.items():
            found |= leaves(item, f"{path}.{key}")
        return found
    if isinstance(value, list) and all(isinstance(row, dict) and "id" in row for row in value):
        return leaves({row["id"]: row for row in value}, path)
    return {path: canonical_value(value)}


@given(RECORD, RECORD, RECORD, IDS)
def test_either_order_gives_the_same_and_only_contests_what_both_changed(
    base: dict[str, Any], one: dict[str, Any], other: dict[str, Any], ids: list[str]
) -> None:
    start, mine, theirs = document(base, 1), document(one, 2), document(other, 2)
    ours, yours = Side(mine, start, ((ids[0], mine),)), Side(theirs, start, ((ids[1], theirs),))
    merged = merge(ours, yours)
    assert canonical_value(merged) == canonical_value(merge(yours, ours))
    contested = merged.get("contested", {})
    before, here, there, now = (leaves({k: v for k, v in d.items() if k not in ("version", "contested")})
                                for d in (start, mine, theirs, merged))  # fmt: skip
    for path in before.keys() | here.keys() | there.keys():
        old, left, right = before.get(path), here.get(path), there.get(path)
        if "targets" in path or any(path[1:] == name or path[1:].startswith(f"{name}.") for name in contested):
            continue
        # Whatever is not contested was changed by one side at most, or by both alike.
        assert old in (left, right) or left == right, path
        assert now.get(path) == (right if left == old else left), path
    for path, claims in contested.items():
        values = [claim["value"] for claim in claims]
        assert [claim["change"] for claim in claims] == sorted(ids[:2])
        assert len({canonical_value([claim["value"], claim["gone"]]) for claim in claims}) == 2, path
        assert values[0] is None or canonical_value(values[0]) in canonical_value(merged)


@given(RECORD, RECORD, RECORD, IDS)
def test_merged_copies_agree_for_good(
    base: dict[str, Any], one: dict[str, Any], other: dict[str, Any], ids: list[str]
) -> None:
    start, mine, theirs = document(base, 1), document(one, 2), document(other, 2)
    ours, yours = Side(mine, start, ((ids[0], mine),)), Side(theirs, start, ((ids[1], theirs),))
    merged = merge(ours, yours)
    # The logs are folded by the first merge: what the other copy holds is known to both now.
    again = merge(Side(merged, theirs, (*ours.images, (ids[2], merged))), Side(theirs, theirs))
    assert canonical_value(again) == canonical_value(merged)
    later = {**merged, "title": "later", "version": merged["version"] + 1}
    # Both merged by themselves, then one of them went on: the other follows and contests nothing more.
    here = Side(later, theirs, (*ours.images, (ids[2], merged), ("x", later)))
    there = Side(merged, mine, (*yours.images, (ids[3], merged)))
    assert canonical_value(merge(here, there)) == canonical_value(later)
    assert canonical_value(merge(there, here)) == canonical_value(later)


@pytest.mark.parametrize("gone", ["port", "a.b"])
def test_what_one_side_took_away_and_the_other_changed_is_contested(gone: str) -> None:
    fields: dict[str, Any] = {"title": "t", "value": 1, "contract": {}, "variables": {gone: 1}, "pending": {}}
    start = document(fields, 1)
    without = document({**fields, "variables": {}}, 2)
    changed = document({**fields, "variables": {gone: 2}}, 2)
    sides = Side(without, start, (("b", without),)), Side(changed, start, (("a", changed),))
    merged = merge(*sides)
    assert merged["state"]["variables"] == {gone: 2}
    assert merged["contested"][f"state.variables.{gone}"] == [
        {"change": "a", "value": 2, "gone": False},
        {"change": "b", "value": None, "gone": True},
    ]


def test_a_change_that_no_log_tells_of_counts_behind_all_others() -> None:
    fields: dict[str, Any] = {"title": "t", "value": 1, "contract": {}, "variables": {}, "pending": {}}
    start = document(fields, 1)
    logged, by_hand = document({**fields, "title": "logged"}, 2), document({**fields, "title": "by hand"}, 1)
    merged = merge(Side(by_hand, start), Side(logged, start, (("zzz", logged),)))
    assert merged["title"] == "logged"
    assert [claim["value"] for claim in merged["contested"]["title"]] == ["logged", "by hand"]


def test_acts_add_up_when_they_agree_and_are_contested_when_not() -> None:
    def fact(*acts: tuple[str, str]) -> dict[str, Any]:
        rows = [{"act": act, "by": by, "at": "2026-03-01T10:00:00Z", "why": ""} for act, by in acts]
        return {"id": "f", "schema": 1, "version": 1 + len(rows), "key": "k", "value": 1, "acts": rows}

    start = fact()
    yes, also, no = fact(("accepted", "human:a")), fact(("accepted", "human:b")), fact(("rejected", "human:b"))
    both = merge(Side(yes, start, (("1", yes),)), Side(also, start, (("2", also),)))
    assert [act["by"] for act in both["acts"]] == ["human:a", "human:b"]
    assert "contested" not in both
    split = merge(Side(yes, start, (("1", yes),)), Side(no, start, (("2", no),)))
    assert split["acts"] == yes["acts"]
    assert len(split["contested"]["acts"]) == 2
