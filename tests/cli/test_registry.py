"""The registry in full: many at once, keys of one thing, scopes, reviews, and a key's past."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Run


@pytest.fixture
def lines(tmp_path: Path) -> Any:
    """Writes JSON lines to a file and gives its path."""

    def write(*rows: object) -> str:
        path = tmp_path / "facts.jsonl"
        path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
        return str(path)

    return write


def holding(run: Run) -> dict[str, tuple[object, str, str]]:
    found = run("fact", "list", "--json").json["facts"]
    return {f["key"]: (f["value"], f["lifecycle"], f["trust"]) for f in found if f["lifecycle"] != "proposed"}


def test_lines_are_taken_in_order_and_settled_when_the_person_says_so(run: Run, workspace: Path, lines: Any) -> None:
    path = lines(
        {"key": "theme", "value": "blue"}, {"key": "theme", "value": "green"}, {"key": "theme", "value": "blue"},
        {"key": "port", "value": 8080}, {"key": "port", "value": 8080}, "",
    )  # fmt: skip
    done = run("fact", "import", path, "--settle", "--json")
    assert done.code == 0, done.err
    assert done.json == {"active": 4, "proposed": 0, "corroborated": 1, "superseded": 2, "failed": []}
    assert holding(run) == {
        "theme": ("blue", "active", "authoritative"), "port": (8080, "active", "authoritative"),
    }  # fmt: skip
    past = run("fact", "history", "theme", "--json").json["facts"]
    assert [(f["value"], f["lifecycle"]) for f in past] == [
        ("blue", "superseded"), ("green", "superseded"), ("blue", "active"),
    ]  # fmt: skip


def test_without_settling_a_persons_lines_are_her_words_and_challenge(run: Run, workspace: Path, lines: Any) -> None:
    run("fact", "propose", "theme", "blue")
    done = run("fact", "import", lines({"key": "theme", "value": "green"}, {"key": "port", "value": 1}), "--json")
    assert done.json == {"active": 1, "proposed": 1, "corroborated": 0, "superseded": 0, "failed": []}
    assert holding(run) == {
        "theme": ("blue", "challenged", "authoritative"), "port": (1, "active", "reported"),
    }  # fmt: skip


def test_an_import_never_has_more_rights_than_who_brings_it(run: Run, workspace: Path, lines: Any) -> None:
    run("fact", "propose", "theme", "blue")
    path = lines(
        {"key": "theme", "value": "green", "by": "human:dev"}, {"key": "port", "value": 1, "by": "human:dev"},
        {"key": "rule", "value": "AA", "kind": "constraint", "by": "human:dev"},
    )  # fmt: skip
    assert run("--as", "agent:pi", "fact", "import", path, "--settle", "--json").code == 5
    done = run("--as", "agent:pi", "fact", "import", path, "--json").json
    assert (done["active"], done["proposed"]) == (1, 2)
    assert holding(run) == {"theme": ("blue", "active", "authoritative"), "port": (1, "active", "reported")}
    found = run("fact", "list", "--json").json["facts"]
    assert {s["by"] for f in found for s in f["sources"]} == {"human:dev", "agent:pi"}
    assert {f["value"] for f in found if f["sources"][0]["by"] == "human:dev"} == {"blue"}


def test_a_wrong_line_is_named_and_stops_no_other(run: Run, workspace: Path, lines: Any) -> None:
    path = lines(
        "{", {"key": "a b", "value": 1}, {"key": "ok", "value": 1}, {"value": 1}, {"key": "x", "value": 1, "knid": 1},
        {"key": "x", "value": 2**60}, {"key": "x", "value": 1, "at": "noon"}, {"key": "x", "value": 1, "scope": "none"},
        {"key": "x", "value": 1, "by": "nobody"}, {"key": "fine", "value": 2, "by": "assistant"},
    )  # fmt: skip
    done = run("fact", "import", path, "--json")
    assert done.code == 2
    assert (done.json["active"], [row["line"] for row in done.json["failed"]]) == (2, [1, 2, 4, 5, 6, 7, 8, 9])
    assert "line 4" in run("fact", "import", path).err


def test_more_lines_than_one_batch_are_all_taken(
    run: Run, workspace: Path, lines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.services.fact_import.BATCH", 7)
    path = lines(*({"key": f"area.key{n % 10}", "value": n // 10} for n in range(30)))
    done = run("fact", "import", path, "--settle", "--json")
    assert (done.json["active"], done.json["superseded"]) == (30, 20)
    changes = run("log", "--json").json["changes"]
    assert len({change["id"] for change in changes}) == 5
    assert {value for value, _, _ in holding(run).values()} == {2}


def test_a_runaway_import_is_stopped_and_says_how_far_it_came(
    run: Run, workspace: Path, lines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.services.fact_import.BATCH", 7)
    (workspace / "workspace.toml").write_text("[limits]\nrecords_per_minute = 16\n")
    path = lines(*({"key": f"area.key{n}", "value": n} for n in range(30)))
    stopped = run("--as", "agent:pi", "fact", "import", path, "--json")
    assert (stopped.code, stopped.error["details"]["taken"], stopped.error["details"]["active"]) == (5, 14, 14)
    assert "the first 14 lines are taken" in stopped.error["message"]
    assert len(holding(run)) == 14


def test_both_are_kept_by_giving_one_a_scope(run: Run, workspace: Path) -> None:
    task = run("task", "new", "Filter", "--json").json["task"]["id"]
    run("fact", "propose", "theme", "blue")
    green = run("--as", "agent:pi", "fact", "propose", "theme", "green", "--json").json["fact"]["id"]
    kept = run("fact", "confirm", green, "--scope", "filter", "--yes", "--json").json["fact"]
    assert (kept["scope"], kept["lifecycle"], kept["supersedes"]) == (task, "active", [])
    rows = {f["scope"]: f for f in run("fact", "list", "--json").json["facts"]}
    assert (rows["workspace"]["lifecycle"], rows["workspace"]["shadowed"]) == ("active", True)


def test_a_key_that_looks_like_another_is_offered_and_joined_by_the_person_alone(run: Run, workspace: Path) -> None:
    run("fact", "propose", "server.port", "8080")
    made = run("fact", "propose", "serverPort", "9090", "--json").json
    assert (made["outcome"], made["look_alikes"]) == ("active", ["server.port"])
    assert run("fact", "propose", "server.host", "a", "--json").json["look_alikes"] == []
    assert run("fact", "list", "--json").json["look_alikes"] == [["server.port", "serverport"]]
    assert run("--as", "agent:pi", "fact", "alias", "serverPort", "server.port").code == 5
    joined = run("fact", "alias", "serverPort", "server.port", "--json").json
    assert len(joined["contested"]) == 2
    ended = run("fact", "confirm", joined["contested"][0], "--yes", "--json").json["fact"]
    assert (ended["key"], ended["lifecycle"]) == ("server.port", "active")
    assert [f["lifecycle"] for f in run("fact", "history", "serverport", "--json").json["facts"]].count("active") == 1


def test_what_is_past_review_is_said_until_somebody_looks_again(run: Run, workspace: Path) -> None:
    def row(now: str) -> dict[str, Any]:
        (found,) = run("--now", now, "fact", "list", "--json").json["facts"]
        return dict(found)

    run("--now", "2026-03-01T10:00:00Z", "fact", "propose", "node.version", "20.11.1")
    assert row("2026-03-20T10:00:00Z")["past_review"] is False
    assert row("2026-04-20T10:00:00Z")["past_review"] is True
    run("--now", "2026-04-20T10:00:00Z", "fact", "propose", "node.version", "20.11.1")
    assert row("2026-04-21T10:00:00Z")["past_review"] is False
