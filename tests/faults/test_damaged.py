"""Unreadable is not empty: whatever stands in a record's place is named, kept, worked around, repaired on demand."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.faults import commands
from tests.faults.commands import ARTIFACT, ATTEMPT, FACT, NOTE, PACKAGE, TASK, opened, said
from workbench.domain.fact import Alias
from workbench.domain.trimming import Trim
from workbench.store.form import digest

if TYPE_CHECKING:
    from tests.cli.conftest import Run

ALIAS = "k" * 10
PLACES = {
    "task": f"tasks/{TASK}.json",
    "fact": f"facts/shelf.breadth/{FACT}.json",
    "note": f"notes/plan%20of%20work~*/{NOTE}.json",
    "artifact": f"artifacts/{ARTIFACT}.json",
    "attempt": f"attempts/{ATTEMPT}.json",
    "alias": "aliases/width.json",
    "package": f"packages/{PACKAGE}/envelope.json",
    "package's life": f"packages/{PACKAGE}/status.jsonl",
    "evidence": f"evidence/{ATTEMPT}.jsonl",
    "trims": "trims/claude%3a1~*.jsonl",
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a record of every kind."""
    folder = tmp_path_factory.mktemp("damaged") / "template"
    commands.prepare(folder)
    workspace = opened(folder)
    commands.five_records(workspace)
    with workspace.transaction("human:dev", "more") as tx:
        tx.put(Alias(id=ALIAS, alias="width", canonical="shelf.breadth"))
        line = Trim(id="r" * 10, act="drop", messages=("m",), by="human:dev", at=commands.AT)
        tx.append_trim("claude:1", line)
    return folder


def bad_contents(good: bytes) -> dict[str, bytes]:
    """What a crash, an editor, a merge or another program may leave."""
    first, _, rest = good.partition(b"\n")
    half = good[: len(good) // 2]
    return {
        "zero bytes": b"",
        "null": b"null\n",
        "conflict markers": b"<<<<<<< mine\n" + good + b"=======\n" + half + b">>>>>>> theirs\n",
        "duplicate keys": good.replace(b'"id"', b'"id": "x", "id"', 1),
        "only NUL": b"\0" * len(good),
        "half": half,
        "rounded number": b'{"x": 9007199254740993, ' + good.lstrip(b"{ \n"),
        "deep": b'{"x": ' * 3000,
        "another encoding": good.decode().encode("utf-16"),
        "first line lost": rest or first[:10],
    }


def check(run: Run, folder: Path, place: Path, content: bytes, what: str) -> None:
    """One content in one place: named, kept, worked around, repaired."""
    good = place.read_bytes()
    before = said(folder)
    place.write_bytes(content)
    path = place.relative_to(folder / ".workbench").as_posix()
    listed = run("fact", "list", "--json")
    assert listed.code == 6, what
    assert "Traceback" not in listed.err
    rows = [row for row in listed.json["damaged"] if row["path"] == path]
    assert rows, what
    assert all(row["line"] and row["column"] and row["message"] for row in rows), (what, rows)
    examined = run("doctor", "--json")
    assert examined.code == 6
    assert any(path in check["detail"] for check in examined.json["checks"] if not check["ok"]), what
    # The others are of use, and nothing writes over the bytes.
    # (But where an alias cannot be read, no key can be trusted to be new.)
    assert run("fact", "propose", "shelf.depth", "30 cm").code == (6 if path.startswith("aliases/") else 0)
    assert run("task", "new", "Another", "--objective", "x").code == 0
    kept = place.read_bytes()
    assert kept.startswith(content), what
    repaired = run("doctor", "--fix", "--yes", "--json")
    assert repaired.code == 0, (what, repaired.json)
    told = [row["detail"] for row in repaired.json["done"] if row["path"] == path]
    assert told, what
    assert any("version" in text or "lines from the log" in text for text in told), told
    assert run("fact", "list", "--json").json["damaged"] == []
    held = [p.read_bytes() for p in (folder / ".workbench" / ".local" / "quarantine").iterdir()]
    assert kept in held, what
    if path.endswith(".json"):
        assert place.read_bytes() == good, what
    now = said(folder)
    assert now.damaged == ()
    assert len(now.records) > len(before.records), what


@pytest.mark.parametrize("kind", PLACES)
def test_whatever_stands_in_a_records_place(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, kind: str
) -> None:
    (original,) = (template / ".workbench").glob(PLACES[kind])
    for number, (what, content) in enumerate(bad_contents(original.read_bytes()).items()):
        folder = tmp_path / str(number)
        shutil.copytree(template, folder)
        monkeypatch.chdir(folder)
        check(run, folder, folder / original.relative_to(template), content, what)


@pytest.mark.parametrize("kind", PLACES)
def test_every_state_file_of_the_shared_cases(
    shared_dir: Path, template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, kind: str
) -> None:
    (original,) = (template / ".workbench").glob(PLACES[kind])
    cases = sorted((shared_dir / "cases" / "state").iterdir())
    assert cases
    for case in cases:
        folder = tmp_path / case.stem
        shutil.copytree(template, folder)
        monkeypatch.chdir(folder)
        check(run, folder, folder / original.relative_to(template), case.read_bytes(), case.name)


def test_a_newer_schema_is_left_alone(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    folder = tmp_path / "newer"
    shutil.copytree(template, folder)
    monkeypatch.chdir(folder)
    place = folder / ".workbench" / PLACES["task"]
    newer = place.read_bytes().replace(b'"schema": 1', b'"schema": 2')
    place.write_bytes(newer)
    assert run("doctor", "--fix", "--json").code == 6
    assert run("task", "show", TASK).code == 6
    assert place.read_bytes() == newer


def test_damage_that_no_log_knows_is_set_aside_and_said(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    folder = tmp_path / "unknown"
    shutil.copytree(template, folder)
    monkeypatch.chdir(folder)
    stray = folder / ".workbench" / "tasks" / f"{'z' * 10}.json"
    stray.write_bytes(b"{")
    twin = folder / ".workbench" / "facts" / "other" / f"{FACT}.json"
    twin.parent.mkdir()
    twin.write_bytes(next((folder / ".workbench").glob(PLACES["fact"])).read_bytes())
    (folder / ".workbench" / "notes" / "x").symlink_to(tmp_path)
    fixed = run("doctor", "--fix", "--json")
    details = {row["path"]: row["detail"] for row in fixed.json["done"]}
    assert "nothing to restore" in details[f"tasks/{stray.name}"]
    assert not stray.exists()
    assert not twin.exists()
    assert not (folder / ".workbench" / "notes" / "x").is_symlink()
    assert run("doctor").code == 0
    assert len(list((folder / ".workbench" / ".local" / "quarantine").iterdir())) == 3
    assert said(folder) == said(template)


def test_lines_of_the_log_that_hold_nothing_are_named_and_go_on_request(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    folder = tmp_path / "log"
    shutil.copytree(template, folder)
    monkeypatch.chdir(folder)
    log = next((folder / ".workbench" / "changes").iterdir())
    first, *rest = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([first, b"<<<<<<< mine\n", *rest]))
    examined = run("doctor", "--json")
    assert examined.code == 6
    assert [(row["line"], row["column"]) for row in examined.json["checks"] if row["name"] == "journal"] == [(2, 1)]
    assert run("fact", "propose", "a", "b").code == 0
    assert b"<<<<<<< mine\n" in log.read_bytes()
    assert run("doctor", "--fix").code == 0
    assert b"<<<<<<< mine\n" not in log.read_bytes()
    assert len(log.read_bytes().splitlines()) == len(rest) + 3


def test_repairing_twice_keeps_one_copy_and_changes_nothing(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    folder = tmp_path / "twice"
    shutil.copytree(template, folder)
    monkeypatch.chdir(folder)
    place = folder / ".workbench" / PLACES["task"]
    for _ in range(2):
        place.write_bytes(b"null\n")
        assert run("doctor", "--fix").code == 0
    quarantine = folder / ".workbench" / ".local" / "quarantine"
    assert len(list(quarantine.iterdir())) == 1
    files = {p: digest(p.read_bytes()) for p in (folder / ".workbench").rglob("*.json*") if ".local" not in p.parts}
    assert run("doctor", "--fix", "--json").json["done"] == []
    assert files == {p: digest(p.read_bytes()) for p in files}


def test_only_a_person_repairs(template: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.chdir(template)
    for words in (("doctor", "--fix"), ("gc",), ("purge", "--secret", "secret"), ("merge", "..")):
        refused = run(*words, "--as", "agent:claude", "--json")
        assert refused.code in (3, 5), words
    assert run("doctor", "--as", "agent:claude").code == 0
