"""What a change did, in the words that a person reads."""

from __future__ import annotations

from workbench.domain.differences import differences


def told(before: object, after: object) -> list[str]:
    return [difference.line for difference in differences(before, after)]  # type: ignore[arg-type]


def test_fields_are_named_by_their_place_and_bookkeeping_is_left_out():
    before = {
        "id": "a",
        "version": 1,
        "schema": 1,
        "title": "Old",
        "state": {"updated_at": "1", "variables": {"port": 1}},
    }
    after = {
        "id": "a",
        "version": 2,
        "schema": 2,
        "title": "New",
        "state": {"updated_at": "2", "variables": {"x": [1]}},
    }
    assert told(before, after) == ["title: Old -> New", "state.variables.x: [1]", "state.variables.port: no longer 1"]


def test_entries_of_a_list_are_known_by_id_and_told_by_their_words():
    before = {"rows": [{"id": "1", "text": "write"}, {"id": "2", "text": "read"}]}
    after = {"rows": ({"id": "2", "text": "read", "priority": 1}, {"id": "3", "text": "run"})}
    assert told(before, after) == ["rows “read”.priority: 1", "rows “run”: new", "rows “write”: gone"]


def test_what_is_empty_before_and_after_is_no_difference():
    assert told({"a": None, "b": [], "c": ""}, {"a": "", "b": (), "c": None, "d": {}}) == []
    assert told(None, {"a": 1}) == ["a: 1"]
    assert told({"a": 1}, None) == ["a: no longer 1"]
    assert told({"a": 1}, {"a": True}) == ["a: 1 -> true"]


def test_a_value_is_shown_without_what_is_empty_in_it():
    (line,) = told({}, {"contract": {"commands": [{"id": "build", "depends": []}], "role": None}})
    assert line == 'contract: {"commands":[{"id":"build"}]}'
