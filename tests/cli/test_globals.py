"""Global options stand before and after the command, and never inside what belongs to another program."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from workbench.cli.globals import split

if TYPE_CHECKING:
    from tests.cli.conftest import Run

COMMAND = ["fact", "list"]
OPTIONS: list[tuple[list[str], str, object]] = [
    (["-w", "/x"], "workspace", Path("/x")),
    (["-w/x"], "workspace", Path("/x")),
    (["--workspace", "/x"], "workspace", Path("/x")),
    (["--workspace=/x"], "workspace", Path("/x")),
    (["--as", "agent:pi"], "actor", "agent:pi"),
    (["--as=human"], "actor", "human"),
    (["--json"], "json", True),
    (["--yes"], "yes", True),
    (["-y"], "yes", True),
    (["--debug"], "debug", True),
    (["--help"], "help", True),
    (["-h"], "help", True),
]


@pytest.mark.parametrize(("words", "name", "value"), OPTIONS)
def test_each_is_taken_before_between_and_after(words: list[str], name: str, value: object) -> None:
    for argv in ([*words, *COMMAND], [COMMAND[0], *words, COMMAND[1]], [*COMMAND, *words]):
        found, rest = split(argv)
        assert getattr(found, name) == value
        assert rest == COMMAND


def test_now_is_a_moment_in_both_places() -> None:
    for argv in (["--now", "2026-03-01T10:00:00Z", *COMMAND], [*COMMAND, "--now=2026-03-01T11:00:00+01:00"]):
        found, rest = split(argv)
        assert found.now is not None
        assert found.now.timestamp() == 1772359200
        assert rest == COMMAND


def test_what_follows_two_dashes_is_left_alone() -> None:
    found, rest = split(["evidence", "run", "@", "--", "npm", "run", "--json", "-w", "--as"])
    assert not found.json
    assert rest == ["evidence", "run", "@", "--", "npm", "run", "--json", "-w", "--as"]


def test_an_option_value_of_a_command_is_no_global() -> None:
    found, rest = split(["fact", "reject", "x", "--why=--json"])
    assert not found.json
    assert rest[-1] == "--why=--json"


@pytest.mark.parametrize(
    "words",
    [["--as"], ["--as", ""], ["--as", "bot:x"], ["--as", "human:a b"], ["--now", "soon"], ["-w"], ["-w", "a\0"]],
)
def test_a_wrong_value_is_wrong_usage_in_both_places(run: Run, words: list[str]) -> None:
    # An option without its value can stand only last.
    before = ["--json", *words] if len(words) == 1 else [*words, "--json", *COMMAND]
    for argv in (before, [*COMMAND, "--json", *words]):
        result = run(*argv)
        assert (result.code, result.out) == (2, "")
        assert result.error["code"] == "usage"


def test_a_workspace_is_named_from_elsewhere(
    run: Run, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("fact", "propose", "a.b", "1")
    monkeypatch.chdir(tmp_path)
    assert run("fact", "list", "--json").code == 3
    for place in (workspace, workspace.parent, workspace.parent / "src"):
        assert len(run("-w", str(place), "fact", "list", "--json").json["facts"]) == 1
        assert len(run("fact", "list", "--json", "-w", str(place)).json["facts"]) == 1
    named = run("fact", "list", "--json", env={"WORKBENCH_WORKSPACE": str(workspace.parent)})
    assert len(named.json["facts"]) == 1


def test_the_actor_and_the_moment_reach_the_record(run: Run, workspace: Path) -> None:
    before = run("--as", "agent:codex", "--now", "2026-03-01T10:00:00Z", "--json", "fact", "propose", "a.b", "1")
    after = run("fact", "propose", "a.c", "1", "--json", "--now", "2026-03-01T10:00:00Z", "--as", "agent:codex")
    for result in (before, after):
        (source,) = result.json["fact"]["sources"]
        assert (source["by"], source["at"]) == ("agent:codex", "2026-03-01T10:00:00Z")


def test_a_first_word_that_is_a_command_is_a_command(run: Run, workspace: Path) -> None:
    (workspace.parent / "undo").mkdir()
    assert "no change that could be undone" in run("undo").err
    # A folder of that name is meant only as ./undo; the app then asks for a terminal.
    assert "needs a terminal" in run("./undo").err
    assert "needs a terminal" in run("src", "--read-only").err
    assert "neither a command nor a folder" in run("no-such-folder").err


def test_the_version_is_asked_before_any_command_which_may_have_one_of_its_own(run: Run) -> None:
    assert run("--version").out.startswith("workbench 0.")
    found, rest = split(["artifact", "read", "x", "--version", "2"])
    assert not found.version
    assert rest == ["artifact", "read", "x", "--version", "2"]
