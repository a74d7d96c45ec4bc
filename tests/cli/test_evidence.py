"""Evidence: what the workbench ran itself, what somebody hands in, and what a person accepted."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Run

AGENT = ("--as", "agent:pi")
BUILD = (sys.executable, "-c", "print('built')")


@pytest.fixture
def task(run: Run, workspace: Path, tmp_path: Path) -> str:
    contract = {
        "title": "Filter",
        "targets": ["src"],
        "outputs": [{"key": "ui", "path": "src/out.js"}],
        "commands": [{"id": "build", "run": list(BUILD)}, {"id": "docs", "run": ["true"], "depends": ["src/**/*.md"]}],
        "acceptance": [{"id": "q8x1m0v2hb", "text": "it builds", "check": "command:build"}, "looked at"],
    }
    file = tmp_path / "contract.json"
    file.write_text(json.dumps(contract))
    made = run("task", "new", "--file", str(file), "--json")
    assert made.code == 0, made.err
    Path("src/out.js").write_text("out\n")
    Path("src/docs").mkdir()
    Path("src/docs/a.md").write_text("# a\n")
    return str(made.json["task"]["id"])


def test_a_run_records_what_came_of_it_and_what_that_rests_on(run: Run, task: str) -> None:
    done = run("evidence", "run", "@", "--yes", "--json", "--", *BUILD)
    assert done.code == 0, done.err
    evidence = done.json["evidence"]
    assert (evidence["kind"], evidence["argv"], evidence["exit_code"]) == ("command", list(BUILD), 0)
    assert (evidence["excerpt"], evidence["run_by"], evidence["trust"]) == ("built", "workbench", "verified")
    assert [file["path"] for file in evidence["files"]] == ["src/a.txt", "src/docs/a.md"]  # its output is left out
    assert "built" in done.err  # streamed, beside the document
    assert run("evidence", "list", "@", "--json").json["evidence"][0]["valid"] is True
    Path("src/out.js").write_text("again\n")
    assert run("evidence", "list", "@", "--json").json["evidence"][0]["valid"] is True
    Path("src/a.txt").write_text("two\n")
    (stale,) = run("evidence", "list", "@", "--json").json["evidence"]
    assert (stale["valid"], stale["changed"]) == (False, ["src/a.txt"])
    assert "stale: src/a.txt changed" in run("evidence", "list", "@").out


def test_the_globs_of_a_required_command_name_its_files(run: Run, task: str) -> None:
    evidence = run("evidence", "run", "@", "--yes", "--json", "--", "true").json["evidence"]
    assert [file["path"] for file in evidence["files"]] == ["src/docs/a.md"]


def test_a_failing_command_is_recorded_and_no_failure_of_ours(run: Run, task: str) -> None:
    words = (sys.executable, "-c", "import sys; print('x' * 9000); [print(n) for n in range(500)]; sys.exit(3)")
    done = run("evidence", "run", "@", "--yes", "--json", "--", *words)
    assert (done.code, done.json["evidence"]["exit_code"]) == (0, 3)
    excerpt = done.json["evidence"]["excerpt"]
    assert "lines left out" in excerpt
    assert excerpt.endswith("499")
    assert len(excerpt) < 4000
    killed = (sys.executable, "-c", "import os; os.kill(os.getpid(), 9)")
    assert run("evidence", "run", "@", "--yes", "--json", "--", *killed).json["evidence"]["exit_code"] == 137
    assert run("evidence", "run", "@", "--yes", "--json", "--", "no-such-program-here").code == 2


def test_an_agent_runs_trusted_commands_of_the_contract_only(run: Run, task: str) -> None:
    assert run(*AGENT, "evidence", "run", "@", "--yes", "--json", "--", "id").error["code"] == "refused"
    untrusted = run(*AGENT, "evidence", "run", "@", "--yes", "--json", "--", *BUILD)
    assert (untrusted.code, untrusted.error["code"]) == (7, "not_trusted")
    assert run("evidence", "run", "@", "--json", "--", *BUILD).code == 7  # a person whom nobody can ask
    assert run("trust", "--yes").code == 0
    done = run(*AGENT, "evidence", "run", "@", "--json", "--", *BUILD)
    assert (done.code, done.json["evidence"]["executor"]) == (0, "agent:pi")
    assert run("evidence", "run", "@", "--json", "--", *BUILD).code == 0
    assert run(*AGENT, "evidence", "run", "@", "--json", "--", "id").code == 5


def test_a_command_that_is_run_cannot_pass_for_a_person(run: Run, task: str) -> None:
    words = (sys.executable, "-c", "import os; print(os.environ.get('WORKBENCH_HUMAN_SHELL'))")
    assert run("evidence", "run", "@", "--yes", "--json", "--", *words).json["evidence"]["excerpt"] == "None"


def test_what_is_handed_in_is_a_claim_but_for_hashes_taken_here(run: Run, task: str, tmp_path: Path) -> None:
    def add(kind: str, observation: object, *who: str) -> dict[str, object]:
        file = tmp_path / "seen.json"
        file.write_text(observation if isinstance(observation, str) else json.dumps(observation))
        done = run(*who, "evidence", "add", "@", "--kind", kind, "--file", str(file), "--json")
        assert done.code == 0, done.err
        document: dict[str, object] = done.json["evidence"]
        return document

    ran = add("command", {"argv": list(BUILD), "exit_code": 0}, *AGENT)
    assert (ran["trust"], ran["run_by"]) == ("reported", "agent")
    claim = add("claim", "all done\n", *AGENT)
    assert (claim["text"], claim["does_not_show"]) == ("all done", "that anything holds")
    file = add("file_change", {"files": ["src/a.txt"], "text": "written"}, *AGENT)
    assert (file["trust"], file["valid"]) == ("verified", True)
    said = add("check", {"text": "clicked through", "item": "looked at"})
    assert said["run_by"] == "person"
    for kind, observation, code in (
        ("claim", {}, 2), ("claim", {"txt": "x"}, 2), ("command", {"text": "x"}, 2), ("claim", "[1]", 2),
        ("file_change", {"files": ["src/none"]}, 3), ("claim", {"item": "none", "text": "x"}, 3),
        ("confirmation", "yes", 5),
    ):  # fmt: skip
        path = tmp_path / "wrong.json"
        path.write_text(observation if isinstance(observation, str) else json.dumps(observation))
        assert run("evidence", "add", "@", "--kind", kind, "--file", str(path)).code == code


def test_a_persons_yes_holds_until_a_file_beneath_it_changes(run: Run, task: str) -> None:
    items = run("task", "show", "@", "--json").json["task"]["contract"]["acceptance"]
    looked = next(item["id"] for item in items if item["text"] == "looked at")
    assert run(*AGENT, "evidence", "confirm", "@", looked, "--yes").code == 5
    done = run("evidence", "confirm", "@", looked[:5], "--yes", "--json").json["evidence"]
    assert (done["kind"], done["item"], done["valid"]) == ("confirmation", looked, True)
    missing = run("evidence", "confirm", "@", "zzzz", "--yes", "--json")
    assert (missing.code, len(missing.error["details"]["candidates"])) == (3, 2)
    Path("src/out.js").write_text("again\n")
    assert run("evidence", "list", "@", "--json").json["evidence"][0]["valid"] is False
