"""Unreadable is not empty: each kind is reported with its place, its bytes survive, the rest goes on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.store.conftest import AT, PERSON, make_fact, make_task, put
from tests.store.test_workspace import envelope, event
from workbench.domain.evidence import Evidence
from workbench.domain.ids import new_id
from workbench.errors import DamagedError
from workbench.store import Workspace
from workbench.store.form import Unreadable, canonical, digest, read_document


def broken(good: bytes) -> dict[str, bytes]:
    """Ways in which a good file can be bad."""
    title = b'  "title": "Build the shelf",\n'
    assert title in good
    return {
        "zero bytes": b"",
        "blank": b" \n",
        "only NUL": b"\x00" * len(good),
        "null": b"null\n",
        "a list": b"[1, 2]\n",
        "a string": b'"x"\n',
        "cut in half": good[: len(good) // 2],
        "last byte cut": good[:-2],
        "stale tail": good + b'"}',
        "extra brace": good.rstrip() + b"}\n",
        "conflict markers": good.replace(title, b"<<<<<<< a\n" + title + b"=======\n" + title + b">>>>>>> b\n"),
        "a key twice": good.replace(title, title + title),
        "a nested key twice": good.replace(b'"created": {', b'"created": {"at": "x", '),
        "NaN": good.replace(title, title + b'  "x": NaN,\n'),
        "Infinity": good.replace(title, title + b'  "x": -Infinity,\n'),
        "beyond 2^53": good.replace(title, title + b'  "x": 9007199254740993,\n'),
        "5000 digits": good.replace(title, title + b'  "x": ' + b"9" * 5000 + b",\n"),
        "wrong type": good.replace(title, b'  "title": 5,\n'),
        "missing key": good.replace(title, b""),
        "unknown word": good.replace(b'"status": "open"', b'"status": "opne"'),
        "too deep": good.replace(title, title + b'  "x": ' + b"[" * 900 + b"]" * 900 + b",\n"),
        "much too deep": good.replace(title, title + b'  "x": ' + b"[" * 99_999 + b"]" * 99_999 + b",\n"),
        "newer schema": good.replace(b'"schema": 1', b'"schema": 2'),
        "latin-1": good.replace(title, b'  "title": "caf\xe9",\n'),
        "utf-16": good.decode().encode("utf-16"),
        "byte order mark": b"\xef\xbb\xbf" + good,
        "raw control character": good.replace(title, b'  "title": "a\x01",\n'),
        "another id": good.replace(b'"id": "', b'"id": "0'),
    }


KINDS = sorted(broken(b'  "title": "Build the shelf",\n'))


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_reported_and_preserved(workspace: Workspace, kind: str) -> None:
    task, other = put(workspace, make_task(), make_task("Fine"))
    path = workspace.root / "tasks" / f"{task.id}.json"
    bad = broken(path.read_bytes())[kind]
    path.write_bytes(bad)
    for ws in (workspace, Workspace.open(workspace.location, read_only=True)):
        records = ws.load()
        assert list(records.tasks) == [other.id]
        (damage,) = records.damaged
        assert damage.path == f"tasks/{task.id}.json"
        assert damage.message
        assert damage.line is not None
        assert damage.column is not None
    with pytest.raises(DamagedError) as caught, workspace.transaction(PERSON, "x") as tx:
        tx.put(task.with_(title="Over it"))
    assert caught.value.details["path"] == f"tasks/{task.id}.json"
    put(workspace, other.with_(title="Still works"), make_fact())
    assert path.read_bytes() == bad
    assert Workspace.open(workspace.location).load().tasks[other.id].title == "Still works"


def test_places_are_exact(workspace: Workspace) -> None:
    task = put(workspace, make_task())[0]
    path = workspace.root / "tasks" / f"{task.id}.json"
    good = path.read_bytes()
    ways = broken(good)
    line = good[: good.index(b'"title"')].count(b"\n") + 1

    def place(kind: str) -> tuple[int | None, int | None]:
        path.write_bytes(ways[kind])
        (damage,) = workspace.load().damaged
        return damage.line, damage.column

    assert place("wrong type") == (line, 3)
    assert place("a key twice") == (line + 1, 3)
    assert place("conflict markers") == (line, 1)
    assert place("latin-1") == (line, 16)
    assert place("beyond 2^53") == (line + 1, 8)


def test_valid_hand_made_forms_are_accepted() -> None:
    for data in (b'{"b": 1,\r\n "a": 1.50}', b'{"a":"\\u00e9"}', b'\n{"a": 1e3}\n', b'{"a": 9007199254740992}'):
        assert isinstance(read_document(data), dict)
    for text in ("x" * 64, "1234567890123456789"):
        assert read_document(canonical({"hash": text})) == {"hash": text}


def test_a_bad_line_is_reported_and_the_others_count(workspace: Workspace) -> None:
    task = put(workspace, make_task())[0]
    with workspace.transaction(PERSON, "evidence") as tx:
        first = tx.append_evidence(Evidence(id=new_id(), kind="claim", task=task.id, at=AT))
    path = next((workspace.root / "evidence").iterdir())
    bad = path.read_bytes() + b'{"id": "x", "id": "y"}\nnull\n' + path.read_bytes()[:30]
    path.write_bytes(bad)
    records = workspace.load()
    assert [line.id for line in records.evidence] == [first.id]
    assert [damage.line for damage in records.damaged] == [2, 3, 4]
    with workspace.transaction(PERSON, "evidence") as tx:
        second = tx.append_evidence(Evidence(id=new_id(), kind="claim", task=task.id, at=AT))
    assert path.read_bytes().startswith(bad)
    assert [line.id for line in workspace.load().evidence] == [first.id, second.id]


def test_an_id_in_two_files_shows_both(workspace: Workspace) -> None:
    fact = put(workspace, make_fact("a"))[0]
    source = workspace.root / "facts" / "a" / f"{fact.id}.json"
    twin = workspace.root / "facts" / "b" / source.name
    twin.parent.mkdir()
    twin.write_bytes(source.read_bytes())
    (damage,) = workspace.load().damaged
    assert damage.path == f"facts/b/{fact.id}.json"


def test_what_is_no_ordinary_file_is_not_waited_for(workspace: Workspace) -> None:
    os.mkfifo(workspace.root / "tasks" / f"{new_id()}.json")
    (workspace.root / "tasks" / f"{new_id()}.json").mkdir()
    assert len(workspace.load().damaged) == 2


def test_missing_parts_of_a_package_are_damage(workspace: Workspace) -> None:
    lost = {}
    for name in ("envelope.json", "status.jsonl"):
        package = envelope(new_id())
        with workspace.transaction(PERSON, "prepare") as tx:
            tx.add_package(package, b"p", event())
        lost[package.id] = workspace.root / "packages" / package.id / name
        lost[package.id].unlink()
    assert {d.path for d in workspace.load().damaged} == {f"packages/{i}/{p.name}" for i, p in lost.items()}
    assert workspace.load().packages == {}


def test_damaged_files_of_the_shared_cases(shared_dir: Path, workspace: Workspace) -> None:
    for number, path in enumerate(sorted((shared_dir / "cases" / "state").glob("*.json"))):
        target = workspace.root / "tasks" / f"case{number:06}.json"
        target.write_bytes(path.read_bytes())
    files = sorted((workspace.root / "tasks").iterdir())
    before = [digest(path.read_bytes()) for path in files]
    assert len({damage.path for damage in workspace.load().damaged}) == len(files)
    put(workspace, make_task())
    assert [digest(path.read_bytes()) for path in files] == before


def test_reading_strictly_never_raises_anything_else() -> None:
    for data in (b"[" * 100_000, b"{" * 5000, b'{"a":' * 3000, b"-", b"\xff", b'{"a":1}{"a":1}', b'{"\\ud800": 1}'):
        with pytest.raises(Unreadable):
            read_document(data)
