"""How a call ends when it does not end well: exit codes, the error's shape, and never a traceback."""

from __future__ import annotations

import json
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from workbench.services import facts

if TYPE_CHECKING:
    from tests.cli.conftest import Run

WORKBENCH = [sys.executable, "-m", "workbench"]


def proposal(run: Run) -> tuple[str, str]:
    """An active blue and a proposed green; the ids of both."""
    blue = run("fact", "propose", "ui.color", "blue", "--json").json["fact"]["id"]
    green = run("fact", "propose", "ui.color", "green", "--json", "--as", "agent:pi").json["fact"]["id"]
    return blue, green


def test_each_kind_of_failure_has_its_exit_code_and_shape(run: Run, workspace: Path) -> None:
    _, green = proposal(run)
    table = {
        2: ["fact", "propose", "no key", "1"],
        3: ["fact", "show", "zzzz"],
        4: ["fact", "confirm", green, "--yes", "--expect", "none"],
        5: ["fact", "confirm", green, "--yes", "--as", "agent:pi"],
    }
    for code, argv in table.items():
        result = run(*argv, "--json")
        assert (result.code, result.out) == (code, "")
        assert list(result.error) == ["code", "message", "hint", "details"]
        people = run(*argv)
        assert people.code == code
        assert people.out == ""
        assert result.error["message"].split("\n")[0][:40] in people.err


def test_an_ambiguous_prefix_lists_the_candidates(run: Run, workspace: Path) -> None:
    # An id begins with one of 32 characters, so two of 33 begin alike.
    ids = [run("fact", "propose", f"key.n{n}", "1", "--json").json["fact"]["id"] for n in range(33)]
    first = next(i[0] for i in ids if sum(j[0] == i[0] for j in ids) > 1)
    result = run("fact", "show", first, "--json")
    assert result.code == 3
    assert sorted(c[:10] for c in result.error["details"]["candidates"]) == sorted(i for i in ids if i[0] == first)
    assert ids[0] in run("fact", "show", ids[0]).out


def test_a_conflict_says_what_is_there_now(run: Run, workspace: Path) -> None:
    blue, green = proposal(run)
    result = run("fact", "confirm", green, "--yes", "--expect", f"{blue}@7", "--json")
    assert result.code == 4
    assert result.error["details"]["current"][0]["value"] == "blue"
    assert run("fact", "confirm", green, "--yes", "--expect", f"{blue}@1").code == 0


def test_without_terminal_and_yes_a_person_is_not_asked_but_refused(run: Run, workspace: Path) -> None:
    _, green = proposal(run)
    result = run("fact", "confirm", green, "--json")
    assert (result.code, result.error["code"]) == (5, "human_needed")
    assert "HUMAN_SHELL" not in result.err
    assert run("fact", "list", "--json").json["facts"][0]["lifecycle"] == "proposed"


@pytest.mark.parametrize("mark", [{"CLAUDECODE": "1"}, {"CODEX_SANDBOX": "seatbelt"}, {"AI_AGENT": "x"}])
def test_an_agents_shell_cannot_act_as_a_person(run: Run, workspace: Path, mark: dict[str, str]) -> None:
    _, green = proposal(run)
    env = {**mark, "WORKBENCH_HUMAN_SHELL": "0"}
    for argv in (["fact", "confirm", green], ["fact", "reject", green, "--why", "x"], ["task", "new", "T"], ["forget"]):
        result = run(*argv, "--as", "human", "--yes", "--json", env=env)
        assert (result.code, result.error["code"]) == (5, "human_needed")
        assert "HUMAN_SHELL" not in result.err
    # It is an agent, so what it says counts as an agent's.
    mine = run("fact", "propose", "x.y", "1", "--json", env=env)
    assert mine.json["fact"]["trust"] == "reported"
    assert mine.json["fact"]["sources"][0]["by"].startswith("agent:")
    assert workspace.is_dir()


def test_damaged_records_are_listed_beside_the_rest(run: Run, workspace: Path) -> None:
    proposal(run)
    run("fact", "propose", "other.key", "1")
    (broken,) = (workspace / "facts" / "other.key").glob("*.json")
    kept = b'{"id": "x",\n  "key": \n'
    broken.write_bytes(kept)
    result = run("fact", "list", "--json")
    assert result.code == 6
    assert len(result.json["facts"]) == 2
    (damage,) = result.json["damaged"]
    assert damage["path"].endswith(broken.name)
    assert damage["line"] in (2, 3)
    assert "damaged" in run("fact", "list").err
    assert run("task", "list").code == 6
    assert broken.read_bytes() == kept


def test_an_unexpected_failure_is_one_line_and_a_log(
    run: Run, workspace: Path, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise KeyError("inner\x1b[31m sk-ant-api03-" + "a" * 80)

    monkeypatch.setattr(facts, "propose", fail)
    result = run("fact", "propose", "a.b", "1", "--json")
    assert (result.code, result.out) == (1, "")
    assert result.error["code"] == "internal"
    assert "Traceback" not in result.err
    assert "a" * 80 not in result.err
    people = run("fact", "propose", "a.b", "1")
    assert people.code == 1
    assert "Traceback" not in people.err
    assert "\x1b" not in people.err
    (log,) = home.rglob("workbench.log")
    assert "Traceback" in log.read_text()
    assert "a" * 80 not in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    debugged = run("--debug", "fact", "propose", "a.b", "1")
    assert debugged.code == 1
    assert "Traceback" in debugged.err
    assert "\x1b" not in debugged.err


def test_debug_keeps_a_log_of_calls(run: Run, workspace: Path, home: Path) -> None:
    assert not list(home.rglob("workbench.log"))
    assert run("fact", "show", "zzzz", "--debug").code == 3
    (log,) = home.rglob("workbench.log")
    assert "exit 3" in log.read_text()
    assert "fact show zzzz" in log.read_text()


def test_a_configuration_that_cannot_be_read_names_its_place(run: Run, workspace: Path, home: Path) -> None:
    (workspace / "workspace.toml").write_text("[app]\ntheem = 1\n")
    warned = run("fact", "list", "--json")
    assert warned.code == 0
    assert "workspace.toml:2: unknown key 'app.theem'" in warned.err
    assert warned.json["facts"] == []
    (workspace / "workspace.toml").write_text("[app\n")
    assert run("fact", "propose", "a", "1", "--json").error["code"] == "damaged"
    (workspace / "workspace.toml").unlink()
    own = home / ".config" / "workbench" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text("x = \n")
    refused = run("fact", "propose", "a", "1", "--json", env={"WORKBENCH_CONFIG_DIR": str(own.parent)})
    assert (refused.code, refused.error["details"]["line"]) == (2, 1)


def test_a_file_of_texts_is_checked_before_anything_is_written(run: Run, workspace: Path, tmp_path: Path) -> None:
    contract = tmp_path / "contract.json"
    for text, said in (
        ('{"title": "T",\n "x"}', ":2:"),
        ('{"title": "T", "title": "U"}', "twice"),
        ("[]", "object"),
        ('{"title": "T", "nothing": 1}', "nothing"),
        ("[" * 100_000, "deeply"),
    ):
        contract.write_text(text)
        result = run("task", "new", "--file", str(contract), "--json")
        assert result.code == 2, text[:20]
        assert said in result.error["message"]
    contract.write_bytes(b"\xff")
    assert run("task", "new", "--file", str(contract)).code == 2
    assert run("task", "new", "--file", str(tmp_path / "absent")).code == 2
    assert run("task", "list", "--json").json["tasks"] == []


def test_a_reader_that_goes_away_is_no_failure_of_ours(workspace: Path) -> None:
    process = subprocess.Popen([*WORKBENCH, "schema", "print"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (141, b"")


def test_interrupting_is_said_and_ends_with_130(workspace: Path) -> None:
    # A runner in the background may have the signal ignored, which its children inherit.
    begun = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    begun += "import sys; from workbench.cli.call import Call; read = Call.text\n"
    # The call says that it has begun to read before it waits, so that the signal comes while it waits.
    begun += "def text(self, name): print('begun', flush=True); return read(self, name)\n"
    begun += "Call.text = text; from workbench.cli.run import main; sys.exit(main(sys.argv[1:]))"
    words = [sys.executable, "-c", begun, "fact", "propose", "a.b", "--file", "-"]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"begun\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in err


def test_the_error_of_a_broken_call_is_json_even_without_a_command(run: Run) -> None:
    assert json.loads(run("--json", "nonsense").err)["error"]["code"] == "usage"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed_beforehand_change_nothing_else(workspace: Path, closed: str) -> None:
    for words, code in (("fact list", 0), ("nonsense", 2), ("fact propose a.b --file -", 2 if "<" in closed else 0)):
        line = f'"{sys.executable}" -m workbench {words} {closed}'
        done = subprocess.run(["sh", "-c", line], input="x", capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == code
        assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_beneath_standard_output_is_said(workspace: Path) -> None:
    with open("/dev/full", "wb") as full:
        words = [*WORKBENCH, "schema", "print"]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr
