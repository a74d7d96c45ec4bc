"""A number, a time or a JSON value that makes no sense is wrong usage, whatever command it is given to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from workbench.cli import parser
from workbench.cli.spec import whole_number

if TYPE_CHECKING:
    from tests.cli.conftest import Run
    from workbench.cli.spec import Command

NONSENSE = ("0", "-1", "nan", "inf", "1e3", "1.5", "", " ", "0x10", "1_000", "٣", "9007199254740992", "9" * 5000)
HUGE = str(2**53 - 1)


def counting() -> list[tuple[Command, str]]:
    """Every option of a built command that takes a number."""
    commands = [c for noun in parser.NOUNS for c in parser.commands_of(noun).values() if c.run]
    return [(c, arg.names[-1]) for c in commands for arg in c.args if arg.settings.get("type") is whole_number]


def words(command: Command) -> list[str]:
    """The command with something for every word and option that it needs."""
    given = [arg for arg in command.args if not arg.names[0].startswith("-") and arg.settings.get("nargs") != "?"]
    needed = [arg for arg in command.args if arg.settings.get("required")]
    return [*command.words.split(), *("x" for _ in given), *(w for arg in needed for w in (arg.names[-1], "x"))]


@pytest.mark.parametrize(("command", "option"), counting(), ids=lambda value: getattr(value, "words", value))
def test_a_number_that_makes_no_sense_is_wrong_usage(run: Run, workspace: Path, command: Command, option: str) -> None:
    for nonsense in NONSENSE:
        result = run(*words(command), f"{option}={nonsense}", "--json")
        assert (result.code, result.error["code"]) == (2, "usage"), nonsense
        assert option in result.error["message"]
        assert "above 0" in result.error["message"]
    large = run(*words(command), option, HUGE, "--json")
    assert large.code in (0, 3, 4, 5, 2)
    assert large.code != 2 or "above 0" not in large.err


def test_there_are_such_options() -> None:
    assert {option for _, option in counting()} >= {"--limit", "--expect", "--version", "--budget"}


@pytest.mark.parametrize(
    "value",
    ["NaN", "-Infinity", "1e999", "[NaN]", "9007199254740993", "9" * 5000, '"\\ud800"', '{"a":1,"a":2}'],
    ids=lambda value: value[:20],
)
def test_a_value_that_json_cannot_carry_is_wrong_usage(run: Run, workspace: Path, tmp_path: Path, value: str) -> None:
    """``NaN`` on the command line is no JSON, so it is a text; in a file it is a mistake."""
    run("task", "new", "Filter", "--var", "n:number")
    before = run("log", "--json").json["total"]
    set_ = run("state", "update", "@", "--set", f"n={value}", "--json")
    assert (set_.code, set_.error["code"]) == (2, "usage")
    file = tmp_path / "delta.json"
    file.write_text(f'{{"set": {{"n": {value}}}}}')
    for command in (("state", "update", "@"), ("state", "import", "@"), ("task", "revise", "@")):
        result = run(*command, "--file", str(file), "--json")
        assert (result.code, result.error["code"]) == (2, "usage"), command
    lines = tmp_path / "facts.jsonl"
    lines.write_text(f'{{"key": "a.b", "value": {value}}}\n')
    assert run("fact", "import", str(lines), "--json").code in (2, 6)
    assert run("log", "--json").json["total"] == before


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59-14:00",
                                    "0001-01-01T00:00:00+14:00", "2026-13-01", "noon", "1e9", "NaN"])  # fmt: skip
def test_a_moment_at_the_edge_of_time_breaks_nothing(run: Run, workspace: Path, moment: str) -> None:
    run("task", "new", "Filter")
    run("fact", "propose", "a.b", "1")
    for command in (("status",), ("fact", "list"), ("state", "update", "@", "--pending", "x.py"), ("doctor",),
                    ("compile", "@", "--to", "codex"), ("note", "write", "k", "1")):  # fmt: skip
        result = run("--now", moment, *command)
        assert result.code in (0, 2, 5), (command, result.err)
        assert "internal" not in result.err
        assert "Error" not in result.err
    assert run("rollback", "--task", "@", "--at", moment).code in (0, 2, 5)


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("[budget]\ntokens = 0", "budget.tokens"),
        ("[budget]\ntokens = -5", "budget.tokens"),
        ("[budget]\ntokens = 1.5", "budget.tokens"),
        ("[budget]\ntokens = 9007199254740992", "budget.tokens"),
        ("[budget]\nshare = nan", "budget.share"),
        ("[budget]\nmargin = inf", "budget.margin"),
        ("[budget.reserves]\nsystem = -1", "budget.reserves.system"),
        ("[limits]\nrecords_per_minute = 0", "limits.records_per_minute"),
        ("[limits]\nbytes_per_minute = inf", "limits.bytes_per_minute"),
        ("[watch]\nstep = 0", "watch.step"),
        ("[model]\ntimeout = nan", "model.timeout"),
        ("[model]\ntimeout = -1", "model.timeout"),
        ('[facts.review_after]\nnumber = "9999999999999d"', "facts.review_after.number"),
        ("[agents.mine]\nwindow = 0", "agents.mine.window"),
    ],
)
def test_a_setting_that_makes_no_sense_is_said_and_ignored(
    run: Run, workspace: Path, home: Path, line: str, key: str
) -> None:
    run("task", "new", "Filter")
    run("fact", "propose", "port", "1")
    file = home / ".config" / "workbench" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(line + "\n")
    for command in (("status",), ("compile", "@", "--to", "codex"), ("fact", "list")):
        result = run(*command, "--json")
        assert result.code == 0, result.err
        assert f"'{key}' wants" in result.err
    json.loads(run("status", "--json").out)
