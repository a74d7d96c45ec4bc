"""Nobody decides in passing what two merged copies left contested: no agent, and no person who says something else."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Run

VARIABLE = "state.variables.port"


@pytest.fixture
def item(run: Run, workspace: Path, tmp_path: Path) -> str:
    """The id of an open item; its wording, a variable, the objective, a check and a note are contested."""
    draft = ("--objective", "Filter", "--var", "port:integer", "--accept", "it is fast")
    run("task", "new", "Filter", *draft)
    run("state", "update", "@", "--set", "port=1", "--pending", "Write the tests")
    run("note", "write", "layout", '"flat"')
    found: str = run("state", "show", "@", "--json").json["state"]["pending"][0]["id"]
    check = run("task", "show", "@", "--json").json["task"]["contract"]["acceptance"][0]["id"]
    other = tmp_path / "other"
    shutil.copytree(workspace, other / ".workbench")
    for place, port, word in ((workspace.parent, 8080, "unit"), (other, 9090, "browser")):
        where = ("-w", str(place))
        run(*where, "state", "update", "@", "--set", f"port={port}", "--reword", f"{found}=Write the {word} tests")
        acceptance = [{"id": check, "text": f"the {word} tests pass"}]
        revised = tmp_path / f"{word}.json"
        revised.write_text(json.dumps({"objective": f"Filter, for {word}", "acceptance": acceptance}))
        assert run(*where, "task", "revise", "@", "--file", str(revised)).code == 0
    assert run("--yes", "merge", str(other)).code == 0
    assert {VARIABLE, f"state.pending.{found}.text", "contract.objective"} <= fields(run)
    return found


def fields(run: Run) -> set[str]:
    return {row["field"] for row in run("settle", "--json").json["contested"]}


def port(run: Run) -> Any:
    return run("state", "show", "@", "--json").json["state"]["variables"]["port"]


def other_port(run: Run) -> int:
    return 8080 if port(run) == 9090 else 9090


WRITES = {
    "another value": ("state", "update", "@", "--set", "port=7"),
    "the value of the other copy": ("state", "update", "@", "--set", "port={other}"),
    "the value that stands": ("state", "update", "@", "--set", "port={port}"),
    "taking the value away": ("state", "update", "@", "--unset", "port"),
    "another wording": ("state", "update", "@", "--reword", "{item}=Write no tests"),
    "done": ("state", "update", "@", "--done", "{item}"),
    "begun": ("state", "update", "@", "--start", "{item}"),
    "dropped": ("state", "update", "@", "--drop", "{item}"),
    "given up": ("state", "update", "@", "--start", "{item}", "--give-up", "{item}", "--pending", "Another"),
    "a whole delta": ("state", "update", "@", "--file", "{delta}"),
    "a document": ("state", "import", "@", "--file", "{document}"),
    "the contract": ("task", "revise", "@", "--objective", "Filter nothing"),
    "undo": ("undo",),
    "rollback": ("rollback", "--task", "@", "--at", "2020-01-01T00:00:00Z"),
    "cancelling": ("task", "cancel", "@", "--why", "over"),
    "settling": ("settle", "filter", VARIABLE, "--keep"),
}


@pytest.mark.parametrize("way", WRITES)
def test_no_agent_decides_it(run: Run, item: str, tmp_path: Path, way: str) -> None:
    document = tmp_path / "state.json"
    document.write_text(json.dumps({"variables": {"port": other_port(run)}, "pending": [], "done": []}))
    delta = tmp_path / "delta.json"
    delta.write_text(json.dumps({"set": {"port": other_port(run)}, "pending": ["Another"]}))
    known = {"item": item, "port": port(run), "other": other_port(run), "document": document, "delta": delta}
    before, state = fields(run), run("state", "show", "@", "--json").json["state"]
    done = run("--as", "agent:pi", "--yes", *(word.format(**known) for word in WRITES[way]), "--json")
    assert done.code != 0
    if way not in ("undo", "rollback"):  # an agent has nothing of its own to take back
        assert done.code == 5
    if WRITES[way][0] == "state":
        assert "workbench settle" in done.error["hint"]
        assert done.error["code"] == "human_needed"
    assert (fields(run), run("state", "show", "@", "--json").json["state"]) == (before, state)


def test_an_agent_goes_on_beside_it(run: Run, item: str, tmp_path: Path) -> None:
    document = tmp_path / "state.json"
    document.write_text(json.dumps({"variables": {"port": port(run), "tries": 3}, "pending": ["Look again"]}))
    agent = ("--as", "agent:pi")
    before = fields(run)
    assert run(*agent, "state", "import", "@", "--file", str(document)).code == 0
    assert run(*agent, "state", "update", "@", "--pending", "Write the manual", "--set", "tries=4").code == 0
    assert run(*agent, "task", "take", "@").code == 0
    assert fields(run) == before
    assert port(run) in (8080, 9090)


def test_a_person_settles_by_naming_the_field_and_in_no_other_way(run: Run, item: str, tmp_path: Path) -> None:
    before = fields(run)
    assert run("state", "update", "@", "--start", item).code == 0
    assert run("task", "revise", "@", "--title", "Filter the list").code == 0
    document = tmp_path / "state.json"
    document.write_text(json.dumps({"variables": {"port": other_port(run)}}))
    for words in (("state", "import", "@", "--file", str(document)), ("state", "update", "@", "--done", item)):
        refused = run(*words, "--json")
        assert (refused.code, "workbench settle" in refused.error["hint"]) == (5, True)
    assert fields(run) == before
    assert run("state", "update", "@", "--set", "port=7").code == 0
    assert run("state", "update", "@", "--reword", f"{item}=Write all tests").code == 0
    assert run("task", "revise", "@", "--objective", "Filter for everybody").code == 0
    assert before - fields(run) == {VARIABLE, f"state.pending.{item}.text", "contract.objective"}
    assert run("state", "update", "@", "--done", item).code == 0


def test_no_agents_note_puts_a_contested_one_aside(run: Run, workspace: Path, tmp_path: Path) -> None:
    run("task", "new", "Filter")
    run("note", "write", "layout", '"flat"')
    (path,) = (path for path in (workspace / "notes").rglob("*.json"))
    other = tmp_path / "other"
    shutil.copytree(workspace, other / ".workbench")
    for root, value in ((workspace, "deep"), (other / ".workbench", "wide")):
        note = root / path.relative_to(workspace)
        note.write_text(json.dumps({**json.loads(note.read_text()), "value": value}))
    assert run("--yes", "merge", str(other)).code == 0
    assert fields(run) == {"value"}
    refused = run("--as", "agent:pi", "note", "write", "layout", '"mine"', "--json")
    assert (refused.code, "workbench settle layout value" in refused.error["hint"]) == (5, True)
    assert fields(run) == {"value"}
    assert run("settle", "layout", "--take", "wide").code == 0
    assert run("--as", "agent:pi", "note", "write", "layout", '"mine"').code == 0
