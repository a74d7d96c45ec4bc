"""What two merged copies say differently is listed, shown, and decided by a person: either value, and for good."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from workbench.text import safe

if TYPE_CHECKING:
    from tests.cli.conftest import Result, Run


@pytest.fixture
def merged(run: Run, workspace: Path, tmp_path: Path) -> Path:
    """A copy in which a variable, the objective and who runs the task were changed otherwise; merged here."""
    run("task", "new", "Filter", "--objective", "Filter by category", "--var", "port:integer")
    run("state", "update", "@", "--set", "port=1")
    other = tmp_path / "other"
    shutil.copytree(workspace, other / ".workbench")
    for place, port, agent in ((workspace.parent, 8080, "pi"), (other, 9090, "codex")):
        where = ("-w", str(place))
        run(*where, "state", "update", "@", "--set", f"port={port}")
        run(*where, "task", "revise", "@", "--objective", f"Filter for {agent}")
        run(*where, "--as", f"agent:{agent}", "task", "take", "@")
    assert run("--yes", "merge", str(other)).code == 0
    return other


def contested(run: Run, *where: str) -> dict[str, list[object]]:
    rows = run(*where, "settle", "--json").json["contested"]
    return {row["field"]: [claim["value"] for claim in row["claims"]] for row in rows}


def task(run: Run, *where: str) -> dict[str, object]:
    found: dict[str, object] = run(*where, "task", "show", "@", "--json").json["task"]
    return found


def port(run: Run, *where: str) -> object:
    return run(*where, "state", "show", "@", "--json").json["state"]["variables"]["port"]


def test_what_is_contested_is_said_wherever_a_person_looks(run: Run, merged: Path) -> None:
    rows = contested(run)
    assert sorted(rows["state.variables.port"]) == [8080, 9090]  # type: ignore[type-var]
    assert set(rows) == {"state.variables.port", "contract.objective", "running"}
    needs = [need for need in run("status", "--json").json["needs_you"] if need["code"] == "contested"]
    assert len(needs) == 3
    for shown in (run("settle"), run("task", "show", "@"), run("doctor")):
        assert "state.variables.port" in shown.out
        assert "workbench settle" in shown.out or "stands now" in shown.out
    assert "human:dev" in run("settle").out
    assert "variable port: " in run("state", "show", "@").out
    (claims,) = run("state", "show", "@", "--json").json["contested"].values()
    assert sorted(claim["value"] for claim in claims) == [8080, 9090]


@pytest.mark.parametrize("way", ["keep", "value", "change"])
def test_either_value_can_be_taken_and_stays(run: Run, merged: Path, way: str) -> None:
    (row,) = [r for r in run("settle", "--json").json["contested"] if r["field"] == "state.variables.port"]
    first, other = row["claims"]
    assert (first["stands"], other["stands"]) == (True, False)
    words = {"keep": ("--keep",), "value": ("--take", str(other["value"])), "change": ("--take", other["change"][:5])}
    wanted = first["value"] if way == "keep" else other["value"]
    done = run("settle", "filter", "state.variables.port", *words[way], "--why", "agreed", "--json")
    assert done.code == 0, done.err
    assert "state.variables.port" not in contested(run)
    assert port(run) == wanted
    # The other copy learns of it, and a second merge here does not bring the contest back.
    assert run("--yes", "merge", str(merged)).code == 0
    assert "state.variables.port" not in contested(run)
    assert run("-w", str(merged), "--yes", "merge", str(Path.cwd())).code == 0
    assert (port(run, "-w", str(merged)), port(run)) == (wanted, wanted)
    run("undo")
    assert run("log", "--limit", "1", "--json").json["changes"][0]["undoes"]


def test_another_contract_is_another_revision(run: Run, merged: Path) -> None:
    before = task(run)
    (other,) = [v for v in contested(run)["contract.objective"] if v != before["contract"]["objective"]]  # type: ignore[index]
    assert run("settle", "filter", "contract.objective", "--take", str(other)).code == 0
    after = task(run)
    assert after["contract"]["objective"] == other  # type: ignore[index]
    assert after["plan_revision"] == before["plan_revision"] + 1  # type: ignore[operator]


def test_one_executor_goes_on_and_nothing_is_confirmed_before(run: Run, merged: Path) -> None:
    prepared = run("handoff", "prepare", "@", "--to", "claude", "--json")
    package = prepared.json["package"]["id"]
    refused = run("--yes", "handoff", "confirm", package, "--launch", "print", "--json")
    assert (refused.code, "contested" in refused.error["message"]) == (5, True)
    first, other = contested(run)["running"]
    assert run("settle", "filter", "running", "--take", str(other)).code == 0
    status = {a["id"]: a["status"] for a in run("attempt", "list", "--json").json["attempts"]}
    assert status == {first: "cancelled", other: "running"}
    assert task(run)["running"] == other
    assert "running" not in contested(run)


def test_a_package_says_what_is_to_settle_and_an_older_one_is_stale(run: Run, workspace: Path, tmp_path: Path) -> None:
    run("task", "new", "Filter", "--objective", "Filter", "--var", "port:integer")
    run("state", "update", "@", "--set", "port=1")
    other = tmp_path / "other"
    shutil.copytree(workspace, other / ".workbench")
    run("state", "update", "@", "--set", "port=8080")
    run("task", "revise", "@", "--objective", "Filter by day")
    package = run("handoff", "prepare", "@", "--to", "codex", "--json").json["package"]["id"]
    run("-w", str(other), "state", "update", "@", "--set", "port=9090")
    run("-w", str(other), "task", "revise", "@", "--objective", "Filter by week")
    assert run("--yes", "merge", str(other)).code == 0
    prompt = run("compile", "@", "--to", "codex").out
    lines = prompt.splitlines()
    settle = lines[lines.index("# To settle: a person decides, not you") + 1 :]
    said = {line.partition(":")[0]: line for line in settle if ": contested, " in line}
    assert set(said) == {"- objective", "- port"}
    assert ("by day" in said["- objective"], "by week" in said["- objective"]) == (True, True)
    assert ("8080" in said["- port"], "9090" in said["- port"]) == (True, True)
    assert not [line for line in lines if line.startswith(("- objective: Filter", "- port ="))]
    refused = run("--yes", "handoff", "confirm", package, "--launch", "print", "--json")
    assert refused.code == 5
    changed = {row["subject"] for row in refused.json["differences"] if row["stops"]}
    assert {"objective (contested)", "variable port (contested)"} <= changed


def test_only_a_person_decides_and_only_what_a_copy_said(run: Run, merged: Path) -> None:
    def refused(*words: str) -> Result:
        return run(*words, "--json")

    assert refused("--as", "agent:pi", "settle", "filter", "state.variables.port", "--keep").code == 5
    odd = refused("settle", "filter", "state.variables.port", "--take", "7")
    assert odd.code == 3
    assert any(line.endswith("  9090") for line in odd.error["details"]["candidates"])
    assert refused("settle", "filter", "--keep").code == 3  # several fields of it
    assert refused("settle", "filter", "title", "--keep").code == 3
    for words in (("filter",), ("--keep",), ("filter", "running", "--keep", "--take", "x")):
        assert refused("settle", *words).code == 2
    assert len(contested(run)) == 3


def test_a_value_that_drives_terminals_is_shown_harmless(run: Run, workspace: Path, tmp_path: Path) -> None:
    run("note", "write", "a", '"one"')
    other = tmp_path / "other"
    shutil.copytree(workspace, other / ".workbench")
    run("fact", "alias", "x", "one.key")
    run("-w", str(other), "fact", "alias", "x", "other.key")
    run("--yes", "merge", str(other))
    shown = run("settle")
    assert shown.out == safe(shown.out)
    assert "aliases/" in shown.out
    assert run("settle", "x", "--take", "other.key").code == 0
    assert contested(run) == {}


def test_values_of_one_key_that_all_hold_are_listed_with_their_way_out(run: Run, workspace: Path) -> None:
    run("fact", "propose", "ui.color", "blue")
    other = run("fact", "propose", "theme.color", "green", "--json").json["fact"]["id"]
    run("fact", "alias", "theme.color", "ui.color")
    (row,) = run("settle", "--json").json["keys"]
    assert (row["key"], other in row["facts"]) == ("ui.color", True)
    assert "workbench fact confirm ID" in run("settle").out
    assert "the fact ui.color" in run("doctor").out
    run("fact", "confirm", other, "--yes")
    assert run("settle", "--json").json["keys"] == []
