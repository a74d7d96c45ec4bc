"""What a word names: never a message by accident, and a key where an id is wanted says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.cli.test_extract import SESSION, session_file


def test_a_position_names_no_message(run: Any, workspace: Path, tmp_path: Path) -> None:
    assert run("task", "new", "Filter", "--objective", "a filter", "--yes").code == 0
    said = [("user", "Please make the filter."), ("assistant", "It is made."), ("user", "Fine, go on.")]
    path = session_file(tmp_path, workspace.parent, said)
    assert run("session", "attach", "@", str(path)).code == 0
    refused = run("history", "drop", "@", "u", "--json")
    assert refused.code == 2
    assert "too short to name a message" in refused.error["message"]
    rows = run("history", "show", "@", "--json").json["messages"]
    assert {row["disposition"] for row in rows} == {"kept"}
    assert all(SESSION in row["id"] for row in rows)


def test_a_cut_names_the_messages_that_it_touches(run: Any, workspace: Path, tmp_path: Path) -> None:
    assert run("task", "new", "Filter", "--objective", "a filter", "--yes").code == 0
    said = [("user", "Please make the filter."), ("assistant", "It is made of felt."), ("user", "Fine, go on.")]
    assert run("session", "attach", "@", str(session_file(tmp_path, workspace.parent, said))).code == 0
    done = run("history", "drop", "@", f"claude:{SESSION}#u1", "--yes")
    assert done.code == 0, done.err
    assert "It is made of felt." in done.out
    assert "Please make" not in done.out


def test_a_key_where_an_id_is_wanted_names_its_facts(run: Any, workspace: Path) -> None:
    fact = run("fact", "propose", "app.port", "8080", "--yes", "--json").json["fact"]["id"]
    refused = run("fact", "confirm", "app.port", "--yes", "--json")
    assert refused.code == 3
    assert refused.error["details"]["candidates"] == [fact]
    assert "fact history app.port" in refused.error["hint"]


def test_a_sentence_without_a_key_stands_once_in_a_package(run: Any, workspace: Path, tmp_path: Path) -> None:
    assert run("task", "new", "Filter", "--objective", "a filter", "--yes").code == 0
    said = "We decided that the sidebar stays where it always was."
    path = session_file(tmp_path, workspace.parent, [("user", said)])
    assert run("extract", "--session", str(path), "--propose", "@").code == 0
    package = run("compile", "@", "--to", "codex", "--prompt-only").out
    assert package.count(said.rstrip(".")) == 1
