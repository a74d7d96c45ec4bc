"""Words that look like options, and words that say nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Run


@pytest.mark.parametrize("title", ["-dash", "--json", "--", "-5", "-w", "--objective=x", "- item"])
def test_behind_two_dashes_nothing_is_an_option(run: Run, workspace: Path, title: str) -> None:
    made = run("task", "new", "--objective", "O", "--json", "--", title)
    assert made.code == 0, made.err
    assert (made.json["task"]["title"], made.json["task"]["contract"]["objective"]) == (title, "O")
    fact = run("fact", "propose", "--json", "--", "a.b", title)
    assert fact.json["fact"]["value"] == (-5 if title == "-5" else title)
    ran = run("evidence", "run", "@", "--yes", "--json", "--", "printf", "%s|", title, "", "--")
    assert ran.json["evidence"]["argv"] == ["printf", "%s|", title, "", "--"]
    assert "-- " in run("task", "new", "--help").out


@pytest.mark.parametrize(
    "words",
    [
        ("task", "new", "T", "--carry", ""), ("task", "new", "T", "--slug", ""), ("task", "new", "T", "--target", " "),
        ("task", "new", ""), ("task", "show", ""), ("task", "take", "@", "--session", ""),
        ("fact", "list", "--key", ""),
        ("fact", "list", "--task", ""), ("log", ""), ("search", ""), ("note", "read", ""), ("merge", ""),
        ("doctor", "--bundle", ""), ("demo", "--dir", "", "--no-open"), ("rollback", "", "--to", ""),
        ("handoff", "prepare", "@", "--to", ""), ("compile", "@", "--to", "codex", "--pin", ""),
        ("state", "update", "@", "--done", ""), ("attempt", "end", ""), ("purge", ""), ("settle", "", "--keep"),
    ],
)  # fmt: skip
def test_an_empty_word_is_not_taken_for_none(run: Run, workspace: Path, words: tuple[str, ...]) -> None:
    """A script whose variable is not set is told, and nothing is done for all in place of one."""
    run("task", "new", "Filter")
    before = run("log", "--json").json["total"]
    result = run("--yes", *words, "--json")
    assert (result.code, result.error["code"]) == (2, "usage")
    assert result.out == ""
    assert run("log", "--json").json["total"] == before


def test_a_reason_or_a_wording_may_be_empty(run: Run, workspace: Path) -> None:
    made = run("task", "new", "T", "--objective", "", "--role", "", "--json")
    assert made.code == 0, made.err
    fact = run("fact", "propose", "a.b", "1", "--statement", "", "--reason", "", "--json").json["fact"]["id"]
    assert run("fact", "edit", fact, "--statement", "", "--why", "").code in (0, 2)
