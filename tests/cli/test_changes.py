"""Everything is traceable and can be taken back: the log, undo, and rollback."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from workbench.services.changes import timeline as tell
from workbench.services.context import open_context

if TYPE_CHECKING:
    from tests.cli.conftest import Run


def at(minute: int) -> tuple[str, str]:
    return "--now", f"2026-03-01T10:{minute:02d}:00Z"


def last_change(run: Run) -> str:
    return str(run("log", "--limit", "1", "--json").json["changes"][0]["id"])


def facts(run: Run) -> dict[str, tuple[object, str]]:
    return {f["key"]: (f["value"], f["lifecycle"]) for f in run("fact", "list", "--json").json["facts"]}


def test_a_record_goes_back_to_what_it_was_and_forward_again(run: Run, workspace: Path) -> None:
    run("task", "new", "Filter", "--target", "src")
    first = last_change(run)
    run("task", "revise", "@", "--target", "lib", "--why", "moved")
    second = last_change(run)
    assert run("--as", "agent:pi", "rollback", "filter", "--to", first).code == 5
    back = run("rollback", "filter", "--to", first[:6], "--why", "not moved after all", "--json")
    assert back.code == 0, back.err
    (row,) = back.json["changes"]
    assert row["before"]["contract"]["targets"] == ["lib"]
    assert (row["after"]["contract"]["targets"], row["why"]) == (["src"], "not moved after all")
    task = run("task", "show", "@", "--json").json["task"]
    assert (task["contract"]["targets"], task["plan_revision"]) == (["src"], 3)
    run("rollback", task["id"][:5], "--to", second)
    assert run("task", "show", "@", "--json").json["task"]["contract"]["targets"] == ["lib"]
    run("undo")
    assert run("task", "show", "@", "--json").json["task"]["contract"]["targets"] == ["src"]
    same = run("rollback", "filter", "--to", last_change(run), "--json")
    assert (same.code, same.json["changes"]) == (0, [])


def test_which_attempt_runs_is_never_rolled_back(run: Run, workspace: Path) -> None:
    run("task", "new", "Filter")
    new = last_change(run)
    attempt = run("--as", "agent:pi", "task", "take", "@", "--json").json["attempt"]["id"]
    run("state", "update", "@", "--pending", "look at a.ts")
    run("rollback", "filter", "--to", new)
    task = run("task", "show", "@", "--json").json["task"]
    assert (task["running"], task["state"]["pending"]) == (attempt, [])
    refused = run("rollback", attempt, "--to", new, "--json")
    assert (refused.code, "attempt end" in refused.error["hint"]) == (5, True)
    run("task", "cancel", "@", "--why", "no need")
    cancelled = last_change(run)
    run("rollback", "filter", "--to", new)
    again = run("task", "show", "@", "--json").json["task"]
    assert (again["status"], again["running"]) == ("open", None)
    run("task", "take", "@")
    assert run("rollback", "filter", "--to", cancelled).code == 5


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("rollback",), 2), (("rollback", "filter"), 2), (("rollback", "--task", "filter"), 2),
        (("rollback", "filter", "--to", "zzzz"), 3), (("rollback", "zzzz", "--to", "zzzz"), 3),
        (("rollback", "--task", "filter", "--at", "noon"), 2),
        (("rollback", "--task", "none", "--at", "2026-03-01"), 3),
        (("rollback", "--task", "filter", "--at", "2026-02-01T10:00:00Z"), 5),
        (("rollback", "filter", "--to", "FIRST", "--task", "filter"), 2),
    ],
)  # fmt: skip
def test_what_cannot_be_rolled_back_says_why(run: Run, workspace: Path, words: tuple[str, ...], code: int) -> None:
    run(*at(0), "task", "new", "Filter")
    before = run("log", "--json").json["total"]
    result = run(*words, "--json")
    assert (result.code, bool(result.error["hint"] or result.error["message"])) == (code, True)
    assert run("log", "--json").json["total"] == before


def test_a_record_that_came_later_did_not_exist_then(run: Run, workspace: Path) -> None:
    run("fact", "propose", "a.b", "1")
    first = last_change(run)
    late = run("fact", "propose", "c.d", "2", "--json").json["fact"]["id"]
    refused = run("rollback", late, "--to", first, "--json")
    assert (refused.code, "did not exist" in refused.error["message"]) == (5, True)


def test_a_task_with_its_facts_and_notes_goes_back_to_a_moment(run: Run, workspace: Path) -> None:
    run(*at(0), "task", "new", "Filter", "--constraint", "ui.contrast=4.5")
    run(*at(1), "state", "update", "@", "--pending", "write a.ts", "--pending", "run npm test")
    run(*at(2), "note", "write", "k", "1")
    run(*at(3), "fact", "propose", "other", "1")
    run(*at(5), "state", "update", "@", "--done", "write a.ts")
    run(*at(6), "fact", "propose", "api", "rest", "--scope", "filter")
    run(*at(7), "note", "write", "k", "2")
    run(*at(8), "fact", "propose", "other", "2", "--yes")
    evidence = run(*at(8), "evidence", "run", "@", "--yes", "--json", "--", "true").json["evidence"]["id"]
    done = run(*at(9), "rollback", "--task", "@", "--at", "2026-03-01T10:04:00Z", "--json")
    assert done.code == 0, done.err
    assert {row["record"].split("/")[0] for row in done.json["changes"]} == {"tasks", "facts", "notes"}
    state = run("task", "show", "@", "--json").json["task"]["state"]
    assert ([i["text"] for i in state["pending"]], state["done"]) == (["write a.ts", "run npm test"], [])
    assert facts(run) == {"ui.contrast": (4.5, "active"), "other": (2, "active")}
    assert run("note", "read", "k", "--json").json["notes"][0]["value"] == 1
    assert run("evidence", "list", "@", "--json").json["evidence"][0]["id"] == evidence
    run("undo")
    assert facts(run)["api"] == ("rest", "active")
    assert run("note", "read", "k", "--json").json["notes"][0]["value"] == 2
    state = run("task", "show", "@", "--json").json["task"]["state"]
    assert [i["text"] for i in state["done"]] == ["write a.ts"]


def test_undo_survives_a_restart_and_is_refused_when_the_record_changed_since(run: Run, workspace: Path) -> None:
    blue = run("fact", "propose", "theme", "blue", "--json").json["fact"]["id"]
    run("fact", "edit", blue, "--statement", "The theme is blue")
    (change,) = run("undo", "--json").json["changes"]
    assert change["command"].startswith("fact edit")
    assert run("fact", "show", blue, "--json").json["fact"]["statement"] == ""
    run("fact", "edit", blue, "--statement", "Blue it is")
    run("--as", "agent:pi", "fact", "propose", "theme", "blue")  # one more source
    late = run("undo", "--json")
    assert (late.code, late.error["code"]) == (4, "version_conflict")
    assert run("fact", "show", blue, "--json").json["fact"]["statement"] == "Blue it is"
    assert run("--as", "agent:pi", "undo").code == 0
    assert run("undo", "--json").code == 4  # the version counted on


def test_undo_of_many_records_takes_all_of_them_back(run: Run, workspace: Path, tmp_path: Path) -> None:
    run("fact", "propose", "area.key1", "0")
    file = tmp_path / "facts.jsonl"
    file.write_text("".join(json.dumps({"key": f"area.key{n}", "value": n}) + "\n" for n in range(20)))
    run("fact", "import", str(file), "--settle")
    assert len(facts(run)) == 20
    assert run("undo").code == 0
    assert facts(run) == {"area.key1": (0, "active")}


def timeline(kind: str, name: str, workspace: Path) -> list[Any]:
    return list(tell(open_context(workspace.parent, env=os.environ, tty=True), kind, name))


def test_a_records_timeline_tells_each_change_field_by_field(run: Run, workspace: Path) -> None:
    run("task", "new", "Filter", "--target", "src", "--var", "port:integer")
    run("state", "update", "@", "--pending", "write a.ts", "--set", "port=1")
    run("task", "revise", "@", "--target", "lib", "--why", "moved")
    run("state", "update", "@", "--done", "write a.ts", "--set", "port=2")
    steps = timeline("task", "filter", workspace)
    assert [step.version for step in steps] == [4, 3, 2, 1]
    lines = [[d.line for d in step.differences] for step in steps]
    assert sorted(lines[0]) == [
        "state.done “write a.ts”: new", "state.pending “write a.ts”: gone", "state.variables.port: 1 -> 2",
    ]  # fmt: skip
    assert ('contract.targets: ["src"] -> ["lib"]', steps[1].why) == (lines[1][0], "moved")
    run("fact", "propose", "theme", "blue")
    run("undo")
    name = run("log", "--limit", "1", "--json").json["changes"][0]["record"].split("/")[1]
    gone, made = timeline("facts", name, workspace)
    assert (gone.gone, gone.undoes, made.gone) == (True, made.change, False)


def test_damage_elsewhere_does_not_stop_a_task_from_going_back(run: Run, workspace: Path) -> None:
    run(*at(0), "task", "new", "Filter")
    mine = run(*at(1), "note", "write", "mine", "1", "--json").json["notes"][0]["id"]
    run(*at(2), "task", "new", "Other")
    other = run(*at(2), "note", "write", "theirs", "1", "--json").json["notes"][0]["id"]
    run("task", "use", "filter")
    run(*at(5), "note", "write", "mine", "2")
    broken = workspace / "notes" / "theirs" / f"{other}.json"
    broken.write_text("<<<<<<< mine\n")
    done = run("rollback", "--task", "filter", "--at", "2026-03-01T10:03:00Z")
    assert done.code == 0
    assert f"left as it is: notes/theirs/{other}.json:1:1" in done.err
    assert run("note", "read", "mine", "--json").json["notes"][0]["value"] == 1
    assert broken.read_text() == "<<<<<<< mine\n"
    own = workspace / "notes" / "mine" / f"{mine}.json"
    own.write_bytes(b"")
    refused = run("rollback", "--task", "filter", "--at", "2026-03-01T10:00:30Z", "--json")
    assert (refused.code, [d["path"] for d in refused.error["details"]["damaged"]]) == (6, [f"notes/mine/{mine}.json"])
    assert own.read_bytes() == b""


def test_the_log_is_asked_by_slug_and_by_key_too(run: Run, workspace: Path) -> None:
    run("task", "new", "Filter")
    run("note", "write", "plan b", "1")
    run("note", "write", "plan b", "2")
    run("fact", "propose", "ui.color", "blue")
    run("fact", "propose", "ui.color", "green", "--yes")
    run("fact", "alias", "colour", "ui.color")

    def commands(word: str) -> list[str]:
        return [row["command"] for row in run("log", word, "--json").json["changes"]]

    assert commands("filter") == ["task new Filter"]
    assert commands("plan b") == ["note write plan b"] * 2
    assert "workbench log 'plan b'" in run("note", "read", "plan b").out + run("note", "read", "plan b").err
    # The second value, its confirmation with what it superseded, and the first one.
    assert {command.split()[1] for command in commands("colour")} == {"propose", "confirm"}
    assert run("log", "nothing", "--json").code == 3


def test_a_purge_and_a_merge_are_not_undone(run: Run, workspace: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(workspace, other / ".workbench")
    run("fact", "propose", "greeting", "hunter2-and-more")
    run("--yes", "purge", "--secret", "hunter2-and-more")
    refused = run("undo", "--json")
    assert (refused.code, "purge" in refused.error["message"]) == (5, True)
    run("-w", str(other), "note", "write", "k", "1")
    run("--yes", "merge", str(other))
    refused = run("undo", "--json")
    assert (refused.code, "rollback" in refused.error["message"]) == (5, True)
    assert run("note", "read", "k").code == 0


def test_evidence_stays_and_what_is_older_is_named(run: Run, workspace: Path) -> None:
    run("task", "new", "Filter")
    run("fact", "propose", "theme", "blue")
    older = last_change(run)
    run("evidence", "run", "@", "--yes", "--", "true")
    refused = run("undo", "--json")
    assert (refused.code, "evidence" in refused.error["message"]) == (5, True)
    assert f"workbench undo {older}" in refused.error["hint"]
    assert run("undo", older).code == 0
    assert facts(run) == {}


def test_no_single_step_of_a_handover_is_taken_back(run: Run, workspace: Path) -> None:
    run("task", "new", "Filter", "--objective", "a filter")
    run("task", "take", "@", "--as", "agent:claude")
    run("fact", "propose", "theme", "blue")
    older = last_change(run)
    package = run("handoff", "prepare", "@", "--to", "codex", "--json").json["package"]["id"]
    assert run("--yes", "handoff", "confirm", package, "--launch", "print").code == 0
    before = run("attempt", "list", "@", "--json").json
    for change in run("log", "--json").json["changes"]:
        if change["command"].startswith("handoff "):
            refused = run("undo", change["id"], "--json")
            assert (refused.code, "handoff cancel" in refused.error["hint"]) == (5, True), change["command"]
    refused = run("undo", "--json")
    assert refused.code == 5
    assert f"workbench undo {older}" in refused.error["hint"]
    assert run("attempt", "list", "@", "--json").json == before
