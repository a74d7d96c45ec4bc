"""A contract that says something else than was meant is refused with its place, not taken in part."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Run


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"variables": {"n": {"type": "integer", "min": 1}}}, "variables.n.min"),
        ({"outputs": [{"key": "ui", "kind": "file", "content": {"minbytes": 1}}]}, "outputs[0].content.minbytes"),
        ({"commands": [{"id": "b", "run": ["true"], "exits": 1}]}, "commands[0].exits"),
        ({"acceptance": ["one", {"text": "two", "optional": True}]}, "acceptance[1].optional"),
        ({"variables": {"v": {"type": "string", "pattern": "["}}}, "variable v"),
        ({"variables": {"n": {"type": "integer", "minimum": 5, "maximum": 1}}}, "variable n"),
        ({"variables": {"e": {"enum": []}}}, "variable e"),
        ({"variables": {"e": {"type": "integer", "enum": [1, "two"]}}}, "variable e"),
    ],
)
def test_what_cannot_be_meant_is_named(
    run: Run, workspace: Path, tmp_path: Path, fields: dict[str, Any], place: str
) -> None:
    run("task", "new", "Filter")
    file = tmp_path / "contract.json"
    for words, document in ((("task", "new"), {"title": "T", **fields}), (("task", "revise", "@"), fields)):
        file.write_text(json.dumps(document))
        result = run(*words, "--file", str(file), "--json")
        assert (result.code, result.error["code"]) == (2, "usage")
        assert place in result.error["message"]
    assert len(run("task", "list", "--json").json["tasks"]) == 1
    assert run("task", "show", "@", "--json").json["task"]["plan_revision"] == 1


def test_what_task_show_prints_can_be_given_back(run: Run, workspace: Path, tmp_path: Path) -> None:
    run("task", "new", "Filter", "--var", "n:integer", "--output", "ui:file:src/a.txt", "--accept", "it works",
        "--command", "b=true")  # fmt: skip
    file = tmp_path / "contract.json"
    file.write_text(run("task", "show", "@", "--json").out)
    document = json.loads(file.read_text())
    file.write_text(json.dumps(document["task"]))
    same = run("task", "revise", "@", "--file", str(file), "--json")
    assert (same.code, same.json["task"]["plan_revision"]) == (0, 1)


def test_a_value_that_follows_is_of_the_kind_of_the_one_that_holds(run: Run, workspace: Path) -> None:
    run("task", "new", "Filter")
    run("fact", "propose", "ui.color", "blue", "--kind", "decision")
    follows = run("--as", "agent:pi", "fact", "propose", "ui.color", "green", "--json").json["fact"]
    assert (follows["kind"], follows["lifecycle"]) == ("decision", "proposed")
    other = run("--as", "agent:pi", "fact", "propose", "ui.color", "red", "--kind", "fact", "--json").json["fact"]
    assert other["kind"] == "fact"
    run("fact", "propose", "ui.color", "black", "--kind", "constraint", "--scope", "filter")
    shown = run("fact", "list").out
    assert "for filter" in shown
    assert "shadowed here" in shown
    run("fact", "propose", "ui.size", "12")
    assert "review due" in run("--now", "2040-01-01", "fact", "list").out
    assert run("--as", "agent:pi", "fact", "propose", "ui.width", "1", "--json").json["fact"]["kind"] == "fact"


@pytest.mark.parametrize("first", ["cancel", "complete"])
@pytest.mark.parametrize("second", ["cancel", "complete"])
def test_a_closed_task_is_not_closed_again(run: Run, workspace: Path, first: str, second: str) -> None:
    run("task", "new", "Filter")
    assert run("task", first, "@", "--why", "once").code == 0
    again = run("task", second, "filter", "--why", "twice", "--json")
    assert (again.code, "already" in again.error["message"]) == (5, True)
    assert run("task", "show", "filter", "--json").json["task"]["closed"]["why"] == "once"
    run("undo")
    assert run("task", "show", "filter", "--json").json["task"]["status"] == "open"


def test_a_task_does_not_wait_for_itself(run: Run, workspace: Path) -> None:
    for title in ("One", "Two", "Three"):
        run("task", "new", title)
    assert run("task", "revise", "two", "--depends", "one").code == 0
    assert run("task", "revise", "three", "--input", "ui=two.ui").code == 0
    for words in (("one", "--depends", "one"), ("one", "--depends", "three"), ("one", "--input", "x=two.y")):
        refused = run("task", "revise", *words, "--json")
        assert (refused.code, "wait for itself" in refused.error["message"]) == (2, True)
    assert "one -> three -> two -> one" in run("task", "revise", "one", "--depends", "three").err
