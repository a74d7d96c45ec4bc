"""The current task cannot be read: lists print the rest, and what does not rest on it goes on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Run


@pytest.fixture
def broken(run: Run, workspace: Path) -> Path:
    run("task", "new", "Other")
    run("fact", "propose", "port", "1")
    task = run("task", "new", "Filter", "--json").json["task"]["id"]
    run("note", "write", "k", "1")
    path = workspace / "tasks" / f"{task}.json"
    path.write_text("null\n")
    return path


def test_lists_print_the_rest(run: Run, broken: Path) -> None:
    for words, key, count in ((("task", "list"), "tasks", 1), (("fact", "list"), "facts", 1),
                              (("note", "list"), "notes", 1), (("settle",), "contested", 0)):  # fmt: skip
        listed = run(*words, "--json")
        assert (listed.code, len(listed.json[key])) == (6, count), words
        assert [damage["path"] for damage in listed.json["damaged"]] == [f"tasks/{broken.name}"]
    assert run("task", "show", "other").code == 0
    refused = run("task", "show", "@", "--json")
    assert (refused.code, "doctor --fix" in refused.error["hint"]) == (6, True)


def test_a_note_is_still_the_tasks_own(run: Run, broken: Path) -> None:
    written = run("note", "write", "k", "2", "--json")
    assert written.code == 0, written.err
    (note,) = written.json["notes"]
    assert note["task"] == broken.stem
    assert broken.read_text() == "null\n"
    assert run("doctor", "--fix").code == 0
    assert run("note", "read", "k", "--json").json["notes"][0]["value"] == 2


def test_what_a_later_version_wrote_is_not_called_broken(run: Run, broken: Path) -> None:
    run("doctor", "--fix")
    text = broken.read_text()
    broken.write_text(text.replace('"schema": 1', '"schema": 9'))
    refused = run("state", "update", "@", "--pending", "x.py", "--json")
    assert (refused.code, "later version" in refused.error["hint"]) == (6, True)
    refused = run("state", "update", broken.stem, "--pending", "x.py", "--json")
    assert (refused.code, "later version" in refused.error["hint"]) == (6, True)


def test_files_that_are_none_of_ours_are_named(run: Run, workspace: Path) -> None:
    (workspace / "facts" / "stray.json").write_text("{}")
    (workspace / "tasks" / "readme.txt").write_text("mine")
    (workspace / "tasks" / "folder").mkdir()
    looked = run("doctor", "--json")
    (check,) = [row for row in looked.json["checks"] if row["name"] == "other files"]
    assert looked.code == 0
    assert "facts/stray.json" in check["detail"]
    assert "tasks/readme.txt" in check["detail"]


def test_a_copied_file_of_a_record_is_set_aside(run: Run, workspace: Path) -> None:
    fact = run("fact", "propose", "a.b", "1", "--json").json["fact"]["id"]
    path = workspace / "facts" / "a.b" / f"{fact}.json"
    (path.parent / "copy.json").write_bytes(path.read_bytes())
    assert run("fact", "list").code == 6
    mended = run("doctor", "--fix", "--json")
    assert (mended.code, [row["ok"] for row in mended.json["done"]]) == (0, [True])
    assert "second file" in mended.json["done"][0]["detail"]
    assert run("fact", "list").code == 0
    assert path.exists()
