"""Notes: what an agent puts aside, and finds again."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.test_walk import session_file

if TYPE_CHECKING:
    from tests.cli.conftest import Run


def test_the_latest_wins_and_earlier_values_stay(run: Run, workspace: Path) -> None:
    first = run("note", "write", "step1.table", '{"rows": 120, "key": "id"}', "--kind", "structure", "--json")
    (note,) = first.json["notes"]
    assert (note["value"], note["kind"], note["sources"]) == ({"rows": 120, "key": "id"}, "structure", [])
    run("note", "write", "step1.table", '{"rows": 121}', "--kind", "structure", "--source", "https://example.org/a")
    (now,) = run("note", "read", "step1.table", "--json").json["notes"]
    assert (now["value"], now["sources"]) == ({"rows": 121}, ["https://example.org/a"])
    assert [n["value"] for n in run("note", "list", "--json").json["notes"]] == [{"rows": 121}]
    assert "1 earlier value:" in run("note", "read", "step1.table").out
    (entry,) = run("log", note["id"], "--json").json["changes"]
    assert entry["after"]["value"] == {"rows": 120, "key": "id"}
    run("undo")
    assert run("note", "read", "step1.table", "--json").json["notes"][0]["value"] == {"rows": 120, "key": "id"}


def test_the_same_again_adds_nothing(run: Run, workspace: Path) -> None:
    one = run("note", "write", "k", "plain text", "--json").json["notes"][0]
    again = run("note", "write", "k", "plain text", "--json").json["notes"][0]
    assert (one["id"], one["version"], one["value"]) == (again["id"], again["version"], "plain text")
    more = run("note", "write", "k", "plain text", "--source", "https://example.org", "--json").json["notes"][0]
    assert (more["id"], more["sources"]) == (one["id"], ["https://example.org"])


def test_the_value_may_come_by_standard_input(run: Run, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'["a", "b"]\n')))
    assert run("note", "write", "list", "--json").json["notes"][0]["value"] == ["a", "b"]


def test_what_cannot_be_a_note_is_refused(run: Run, workspace: Path) -> None:
    large = run("note", "write", "k", json.dumps("x" * (64 << 10)), "--json")
    assert (large.code, "artifact" in large.error["hint"]) == (5, True)
    assert run("note", "write", "k", json.dumps("x" * ((64 << 10) - 2))).code == 0
    assert run("note", "write", "k", "[1]", "--kind", "structure").code == 2
    assert run("note", "write", " ", "1").code == 2
    missing = run("note", "read", "kk", "--json")
    assert (missing.code, missing.error["details"]["candidates"]) == (3, ["k"])


def test_an_agents_newest_turn_is_the_source_where_none_is_given(run: Run, workspace: Path, tmp_path: Path) -> None:
    run("task", "new", "Filter")
    run("session", "attach", "@", str(session_file(tmp_path, workspace.parent)))
    (note,) = run("--as", "agent:claude", "note", "write", "page", "1", "--json").json["notes"]
    newest = run("history", "show", "@", "--json").json["messages"][-1]["id"]
    assert note["sources"] == [newest]
    assert run("--as", "agent:pi", "note", "write", "other", "1", "--json").json["notes"][0]["sources"] == []


def test_it_is_found_again_with_facts_artifacts_and_what_was_trimmed(run: Run, workspace: Path, tmp_path: Path) -> None:
    run("task", "new", "Filter")
    run("session", "attach", "@", str(session_file(tmp_path, workspace.parent)))
    run("note", "write", "prices.table", '{"currency": "USD", "rows": 7}')
    run("fact", "propose", "prices.currency", "USD")
    found = run("note", "query", "USD", "--json").json
    assert [n["key"] for n in found["notes"]] == ["prices.table"]
    assert {hit["source_type"] for hit in found["hits"]} == {"note", "fact"}
    assert run("note", "query", "part2", "--json").json["hits"] == []
    messages = run("history", "show", "@", "--json").json["messages"]
    result = next(message["id"] for message in messages if message["kind"] == "tool_result")
    assert run("history", "drop", "@", result, "--why", "read", "--yes").code == 0
    (hit, *_) = run("note", "query", "part 0", "--json").json["hits"]
    assert hit["source_type"] == "message"
    assert run("note", "query", "nothing of the kind").out == "nothing found\n"


def test_notes_of_two_tasks_stay_apart(run: Run, workspace: Path) -> None:
    run("task", "new", "One")
    run("note", "write", "k", "1")
    run("task", "new", "Two")
    run("note", "write", "k", "2")
    assert run("note", "read", "k", "--json").json["notes"][0]["value"] == 2
    run("task", "use", "one")
    assert run("note", "read", "k", "--json").json["notes"][0]["value"] == 1
    assert len(run("note", "list", "--json").json["notes"]) == 2
