"""What holds now, through the door of scripts and agents."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Run

AGENT = ("--as", "agent:pi")


@pytest.fixture
def task(run: Run, workspace: Path) -> str:
    made = run(
        "task", "new", "Filter", "--var", "port:integer", "--var", "build_tool:string", "--target", "src",
        "--command", "build=test -f src/a.txt", "--accept", "it builds=command:build",
        "--accept", "looked at", "--json",
    )  # fmt: skip
    assert made.code == 0, made.err
    return str(made.json["task"]["id"])


def update(run: Run, *words: str) -> dict[str, Any]:
    done = run("state", "update", "@", *words, "--json")
    assert done.code == 0, done.err
    document: dict[str, Any] = done.json
    return document


def names(items: list[dict[str, Any]]) -> list[str]:
    return [item["text"] for item in items]


def test_items_and_variables_move_by_deltas(run: Run, task: str, tmp_path: Path) -> None:
    first = update(run, "--pending", "write filter.ts", "--pending", "run npm test", "--set", "port=8080")
    assert first["state"]["variables"] == {"port": 8080}
    delta = tmp_path / "delta.json"
    delta.write_text(
        json.dumps(
            {
                "expect": first["version"],
                "done": ["write filter.ts"],
                "start": ["run npm test"],
                "pending": [{"text": "update docs/filter.md", "priority": 3, "paths": ["docs/filter.md"]}],
                "set": {"build_tool": "vite"},
            }
        )
    )
    after = update(run, "--file", str(delta))
    assert names(after["state"]["done"]) == ["write filter.ts"]
    assert names(after["state"]["pending"]) == ["run npm test", "update docs/filter.md"]
    assert after["state"]["pending"][0]["started"]["by"] == "human:dev"
    assert after["state"]["variables"] == {"port": 8080, "build_tool": "vite"}
    again = update(run, "--pending", "Write filter.ts")
    assert again["version"] == after["version"]
    assert "done already" in again["said"][0]
    shown = run("state", "show", "@")
    assert "run npm test" in shown.out
    assert "build_tool = vite" in shown.out


def test_a_stale_writer_is_told_both_values_and_the_rest_of_the_delta_is_applied(run: Run, task: str) -> None:
    seen = update(run, "--set", "port=8080", "--pending", "write filter.ts")["version"]
    update(run, "--set", "port=9090")
    untouched = update(run, "--set", "build_tool=vite", "--expect", str(seen))
    assert "others changed the task" in " ".join(untouched["said"])
    late = run(
        "state", "update", "@", "--set", "port=7070", "--done", "write filter.ts", "--expect", str(seen), "--json"
    )
    assert late.code == 4
    (conflict,) = late.error["details"]["conflicts"]
    assert (conflict["subject"], conflict["seen"], conflict["now"], conflict["wanted"]) == (
        "variable port", 8080, 9090, 7070,
    )  # fmt: skip
    assert "8080" in late.error["message"]
    state = run("state", "show", "@", "--json").json["state"]
    assert (state["variables"]["port"], names(state["done"])) == (9090, ["write filter.ts"])
    assert run("state", "update", "@", "--set", "port=1", "--expect", "99", "--json").code == 4


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--set", "prot=8080"), 2, "port"),
        (("--set", "port=eighty"), 2, "integer"),
        (("--declare", "x:int"), 2, "integer"),
        (("--done", "k7m2qx0a9d"), 3, "no item"),
        (("--drop", "nothing of the kind"), 3, "no item"),
        (("--expect", "3"), 2, "nothing to change"),
        (("--set", "build_tool=ghp_abcdefghijklmnopqrstuvwxyz0123456789"), 5, "env:NAME"),
        (("--scratch", "api_key=hunter2hunter2"), 5, "env:NAME"),
        (("--scratch", "port=1"), 5, "nobody runs"),
        (("--done", "x", "--evidence", "k7m2qx0a9d"), 3, "no evidence"),
    ],
)
def test_what_cannot_be_is_refused_with_a_way_out(
    run: Run, task: str, words: tuple[str, ...], code: int, said: str
) -> None:
    before = run("state", "show", "@", "--json").json
    result = run("state", "update", "@", *words, "--json")
    assert result.code == code, result.err
    assert said in result.err
    assert run("state", "show", "@", "--json").json == before


def test_a_secret_lies_in_the_environment_and_a_new_name_can_be_typed(run: Run, task: str) -> None:
    after = update(run, "--declare", "api_key:string", "--set", "api_key=env:API_KEY")
    assert after["state"]["variables"]["api_key"] == "env:API_KEY"
    shown = run("task", "show", "@", "--json").json["task"]
    assert shown["contract"]["variables"]["api_key"]["type"] == "string"
    assert shown["plan_revision"] == 1


def test_a_large_value_becomes_an_artifact_once(run: Run, task: str) -> None:
    value = json.dumps(["row"] * 1200)
    large = update(run, "--declare", "rows:list", "--set", f"rows={value}")["state"]["variables"]["rows"]
    assert large.startswith("artifact:")
    name, _, version = large.removeprefix("artifact:").partition("@")
    assert json.loads(run("artifact", "read", name, "--json").json["content"]) == ["row"] * 1200
    assert update(run, "--set", f"rows={value}")["state"]["variables"]["rows"] == large
    more = update(run, "--set", f"rows={json.dumps(['other'] * 1200)}")["state"]["variables"]["rows"]
    assert more == f"artifact:{name}@{int(version) + 1}"


def test_an_agent_updates_what_it_runs_and_nothing_that_somebody_else_runs(run: Run, task: str) -> None:
    assert run(*AGENT, "task", "take", "@").code == 0
    mine = run(*AGENT, "state", "update", "@", "--done", "write filter.ts", "--json").json
    assert mine["state"]["done"][0]["known"] == "reported"
    other = run("--as", "agent:codex", "state", "update", "@", "--done", "x.ts", "--json")
    assert (other.code, other.error["details"]["executor"]) == (5, "agent:pi")
    assert run("state", "update", "@", "--pending", "look at x.ts").code == 0
    run("task", "cancel", "@", "--why", "no need")
    assert run("state", "update", "@", "--pending", "more.ts").code == 5


def test_done_is_verified_by_evidence_that_holds_and_by_nothing_else(run: Run, task: str) -> None:
    ran = run("evidence", "run", "@", "--yes", "--json", "--", "test", "-f", "src/a.txt").json["evidence"]
    after = update(run, "--pending", "check a.txt", "--done", "check a.txt", "--evidence", ran["id"][:6])
    assert (after["state"]["done"][0]["known"], after["state"]["done"][0]["evidence"]) == ("verified", [ran["id"]])
    failed = run("evidence", "run", "@", "--yes", "--json", "--", "test", "-f", "none").json["evidence"]
    report = update(run, "--done", "check none", "--evidence", failed["id"])
    assert report["state"]["done"][1]["known"] == "reported"
    assert "ended with 1" in report["said"][0]
    Path("src/a.txt").write_text("two\n")
    found = run("state", "show", "@", "--json").json["findings"]
    assert [f["code"] for f in found] == ["evidence_stale"]
    assert "src/a.txt" in found[0]["text"]


def test_what_a_dead_attempt_had_begun_is_interrupted_and_the_offer_works(run: Run, task: str) -> None:
    attempt = run(*AGENT, "task", "take", "@", "--json").json["attempt"]["id"]
    begun = run(*AGENT, "state", "update", "@", "--pending", "run deploy.sh", "--start", "run deploy.sh", "--json").json
    assert begun["findings"] == []
    run("attempt", "end", attempt, "--why", "stuck")
    (found,) = run("state", "show", "@", "--json").json["findings"]
    assert found["code"] == "interrupted"
    offer = found["offer"].partition(",")[0].split()
    assert offer[0] == "workbench"
    assert run(*offer[1:]).code == 0
    assert run("state", "show", "@", "--json").json["findings"] == []


def test_scratch_belongs_to_the_attempt_and_ends_with_it(run: Run, task: str, workspace: Path) -> None:
    attempt = run(*AGENT, "task", "take", "@", "--json").json["attempt"]["id"]
    before = run("log", "--json").json["total"]
    assert run(*AGENT, "state", "update", "@", "--scratch", "cursor=17", "--json").json["scratch"] == {"cursor": 17}
    assert run("log", "--json").json["total"] == before
    assert run("state", "show", "@", "--json").json["scratch"] == {"cursor": 17}
    run("attempt", "end", attempt, "--why", "stuck")
    run(*AGENT, "task", "take", "@")
    assert run("state", "show", "@", "--json").json["scratch"] == {}
    kept = [path for path in workspace.rglob("*.json*") if "cursor" in path.read_text("utf-8", "replace")]
    assert kept == []


def test_a_state_from_elsewhere_is_merged(run: Run, task: str, tmp_path: Path) -> None:
    update(run, "--pending", "扫描模块 pom.xml", "--set", "port=8080")
    document = tmp_path / "state.json"
    document.write_text(
        json.dumps(
            {
                "task_name": "java_upgrade",
                "updated_at": "2025-06-10T18:30:00+08:00",
                "variables": {"target_level": "17", "modules": ["api", "core"]},
                "pending": ["运行 mvn test"],
                "done": ["扫描模块 pom.xml", {"text": "exclude junit"}],
            }
        )
    )
    after = run("state", "import", "@", "--file", str(document), "--json")
    assert after.code == 0, after.err
    state = after.json["state"]
    assert state["variables"] == {"port": 8080, "target_level": "17", "modules": ["api", "core"]}
    assert names(state["done"]) == ["扫描模块 pom.xml", "exclude junit"]
    assert names(state["pending"]) == ["运行 mvn test"]
    assert "java_upgrade" in after.json["said"][-1]
    again = run("state", "import", "@", "--file", str(document), "--json").json
    assert (again["version"], again["applied"]) == (after.json["version"], [])
    document.write_text(
        json.dumps({"updated_at": "2025-06-10T10:00:00Z", "variables": {"port": 1}, "pending": ["x.py"]})
    )
    late = run("state", "import", "@", "--file", str(document), "--json")
    assert late.code == 4
    assert late.error["details"]["conflicts"][0]["now"] == 8080
    assert "x.py" in names(run("state", "show", "@", "--json").json["state"]["pending"])


@pytest.mark.parametrize("key", ["task", "task_name"])
@pytest.mark.parametrize("name", ["other-work", "Other work", "other_work", "ID"])
def test_a_state_of_another_task_is_not_taken(run: Run, task: str, tmp_path: Path, key: str, name: str) -> None:
    other = run("task", "new", "Other work", "--json").json["task"]["id"]
    run("task", "use", task)
    name = other if name == "ID" else name
    document = tmp_path / "state.json"
    document.write_text(json.dumps({key: name, "pending": ["look at x.py"]}))
    refused = run("state", "import", "@", "--file", str(document), "--json")
    assert (refused.code, "workbench state import other-work" in refused.error["hint"]) == (2, True)
    assert run("state", "show", "@", "--json").json["state"]["pending"] == []
    assert run("state", "import", "other-work", "--file", str(document)).code == 0
    meant = run("state", "import", "@", "--file", str(document), "--from", name, "--json")
    assert names(meant.json["state"]["pending"]) == ["look at x.py"]


@pytest.mark.parametrize(
    "text", ['{"invented": 1}', '{"done": [1]}', "[]", "{", '{"updated_at": "yesterday"}', '{"variables": []}', ""]
)
def test_what_is_no_state_is_refused_with_its_place(run: Run, task: str, tmp_path: Path, text: str) -> None:
    document = tmp_path / "state.json"
    document.write_text(text)
    result = run("state", "import", "@", "--file", str(document), "--json")
    assert (result.code, result.error["code"]) == (2, "usage")


def test_damaged_files_of_all_kinds_leave_the_state_alone(run: Run, task: str, shared_dir: Path) -> None:
    before = run("state", "show", "@", "--json").json
    for path in sorted((shared_dir / "cases" / "state").iterdir()):
        result = run("state", "import", "@", "--file", str(path), "--json")
        assert result.code == 2, path.name
        assert "Traceback" not in result.err
    assert run("state", "show", "@", "--json").json == before


def test_no_update_of_several_processes_is_lost(run: Run, task: str, repo: Path) -> None:
    script = (
        "import sys\n"
        "from workbench.cli.run import main\n"
        "for number in range(4):\n"
        "    words = ('--pending', f'write {sys.argv[1]}-{number}.ts', '--done', f'read {sys.argv[1]}-{number}.md')\n"
        "    assert main(('state', 'update', '@', *words)) == 0\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", script, name], cwd=repo, stdout=subprocess.DEVNULL) for name in "abcd"
    ]
    assert [writer.wait() for writer in writers] == [0] * 4
    state = run("state", "show", "@", "--json").json
    expected = {f"{name}-{number}" for name in "abcd" for number in range(4)}
    assert {text.removeprefix("write ").removesuffix(".ts") for text in names(state["state"]["pending"])} == expected
    assert {text.removeprefix("read ").removesuffix(".md") for text in names(state["state"]["done"])} == expected
    assert state["version"] == 17
