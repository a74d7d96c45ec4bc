"""Records put in, read back, changed by others, kept with what this program does not know."""

from __future__ import annotations

import json
import os
import shutil
import stat
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.store.conftest import AT, PERSON, make_fact, make_task, put
from workbench.domain.artifact import Artifact
from workbench.domain.evidence import Evidence
from workbench.domain.fact import Act, Alias
from workbench.domain.ids import new_id
from workbench.domain.note import Note
from workbench.domain.package import Envelope, Identity, PackageEvent
from workbench.domain.record import Stamp
from workbench.domain.task import Attempt
from workbench.domain.trimming import Trim
from workbench.errors import NotFoundError, RefusedError, UsageError, VersionConflictError
from workbench.store import Workspace, locate
from workbench.store.names import file_name

STAMP = Stamp(by=PERSON, at=AT)


def reopened(workspace: Workspace) -> Workspace:
    return Workspace.open(workspace.location, read_only=True)


def event(status: str = "pending", **more: object) -> PackageEvent:
    return PackageEvent(id=new_id(), status=status, by=PERSON, at=AT, **more)  # type: ignore[arg-type]


def envelope(task: str) -> Envelope:
    return Envelope(
        id=new_id(),
        snapshot="s",
        task=task,
        identity=Identity(task=task, plan_revision=1, to="codex", date="2026-03-01"),
        content={"items": [1, "två"]},
        tokens=10,
        tokenizer="o200k",
        prompt_sha256="p",
        prepared_by=PERSON,
        prepared_at=AT,
    )


def test_every_kind_of_record_comes_back(workspace: Workspace) -> None:
    task, fact = make_task(), make_fact(statement="breit: 80 cm — 宽")
    attempt = Attempt(id=new_id(), task=task.id, executor="agent:claude", started=STAMP)
    note = Note(id=new_id(), key="plan/of.work", value={"a": [1, None]}, written=STAMP)
    artifact = Artifact(id=new_id(), key="shelf")
    alias = Alias(id=new_id(), alias="width", canonical="shelf.width")
    package = envelope(task.id)
    trim = Trim(id=new_id(), act="drop", messages=("m1",), by=PERSON, at=AT)
    with workspace.transaction(PERSON, "all", "because") as tx:
        for record in (task, fact, attempt, note, artifact, alias):
            assert tx.put(record) == record
        tx.append_evidence(Evidence(id=new_id(), kind="claim", task=task.id, attempt=attempt.id, at=AT))
        tx.append_evidence(Evidence(id=new_id(), kind="claim", task=task.id, at=AT))
        tx.append_trim("claude:ABC-1", trim)
        tx.append_trim("claude:ABC-1", trim.with_(id=new_id(), act="restore"))
        tx.add_package(package, "prompt — ü\n".encode(), event(attempt=attempt.id))
        tx.append_status(package.id, event("confirmed"))
        blob = tx.put_blob(b"\x00content")
    for ws in (workspace, reopened(workspace)):
        records = ws.load()
        assert records.tasks == {task.id: task}
        assert records.facts == {fact.id: fact}
        assert (records.notes[note.id], records.artifacts[artifact.id]) == (note, artifact)
        assert (records.attempts[attempt.id], records.aliases[alias.id]) == (attempt, alias)
        assert {line.attempt for line in records.evidence} == {None, attempt.id}
        assert [line.act for line in records.trims["claude:ABC-1"]] == ["drop", "restore"]
        stored = records.packages[package.id]
        assert (stored.envelope, stored.status, stored.attempt) == (package, "confirmed", attempt.id)
        assert stored.events[1].after == stored.events[0].id
        assert ws.prompt(package.id) == "prompt — ü\n".encode()
        assert ws.blob(blob) == b"\x00content"
        assert records.damaged == ()
        assert records.registry.canonical("width") == "shelf.width"
    with pytest.raises(NotFoundError):
        workspace.blob("0" * 64)
    with pytest.raises(NotFoundError):
        workspace.prompt(new_id())


def test_the_form_of_a_file(workspace: Workspace) -> None:
    fact = put(workspace, make_fact("Regal.Breite", "80 — 宽"))[0]
    path = workspace.root / "facts" / file_name("Regal.Breite") / f"{fact.id}.json"
    text = path.read_bytes().decode()
    document = json.loads(text)
    assert text == json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    assert document["schema"] == 1
    assert document["key"] == "Regal.Breite"


def test_file_names_of_keys() -> None:
    assert file_name("ui.theme.color") == "ui.theme.color"
    names = [file_name(key) for key in ("Ui", "ui", "UI", "a/b", "..", ".x", "ü", "u\u0308", "CON", "", "a" * 200)]
    names.append(file_name("a" * 201))
    assert len(set(names)) == len(names)
    for name in names:
        assert len(name) <= 80
        assert name.isascii()
        assert "/" not in name
        assert not name.startswith(".")
        assert name == name.lower()
    assert all("~" in name for name in names if name != "ui")


def test_versions_count_up_and_a_late_writer_is_told(workspace: Workspace) -> None:
    task = put(workspace, make_task())[0]
    assert task.version == 1
    with workspace.transaction(PERSON, "x") as tx:
        second = tx.put(task.with_(title="Second"), expect=1)
        assert second.version == 2
        assert tx.put(second.with_(title="Third"), expect=2).version == 2
        assert tx.get("tasks", task.id).title == "Third"
    with pytest.raises(VersionConflictError) as caught, workspace.transaction(PERSON, "y") as tx:
        tx.put(task.with_(title="Late"), expect=1)
    details = caught.value.details
    assert (details["expected"], details["found"], details["current"]["title"]) == (1, 2, "Third")
    with pytest.raises(VersionConflictError), workspace.transaction(PERSON, "y") as tx:
        tx.put(task, expect=0)
    with pytest.raises(VersionConflictError), workspace.transaction(PERSON, "y") as tx:
        tx.put(make_task(), expect=3)
    assert workspace.load().tasks[task.id].title == "Third"


def test_a_body_that_raises_or_does_nothing_writes_nothing(workspace: Workspace) -> None:
    task = put(workspace, make_task())[0]
    changes = list(workspace.changes())

    def fail() -> None:
        with workspace.transaction(PERSON, "x") as tx:
            tx.put(task.with_(title="Other"))
            tx.put_blob(b"x")
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    with workspace.transaction(PERSON, "x") as tx:
        tx.put(task)
    assert list(workspace.changes()) == changes
    assert list((workspace.root / "blobs").iterdir()) == []
    assert workspace.load().tasks[task.id] == task


def test_unknown_keys_are_kept(workspace: Workspace) -> None:
    task = put(workspace, make_task())[0]
    path = workspace.root / "tasks" / f"{task.id}.json"
    document = json.loads(path.read_bytes())
    document["later"] = {"x": 1}
    document["contract"]["mood"] = "good"
    path.write_text(json.dumps(document))
    assert workspace.load().tasks[task.id] == task
    put(workspace, task.with_(title="New"))
    kept = json.loads(path.read_bytes())
    assert (kept["later"], kept["contract"]["mood"], kept["title"]) == ({"x": 1}, "good", "New")
    assert workspace.db.table("tasks").get(doc_id=task.id)["later"] == {"x": 1}


def test_a_hand_edit_is_taken_and_logged_at_the_next_write(workspace: Workspace) -> None:
    task = put(workspace, make_task())[0]
    path = workspace.root / "tasks" / f"{task.id}.json"
    document = json.loads(path.read_bytes())
    path.write_text(json.dumps(document | {"title": "By hand"}))
    assert workspace.load().tasks[task.id].title == "By hand"
    with workspace.transaction(PERSON, "x") as tx:
        tx.put(tx.records.tasks[task.id].with_(slug="other"))
    newest, outside, first = workspace.changes()
    assert (outside.command, outside.actor) == ("edited outside", "outside")
    assert outside.records[0].after is not None
    assert outside.records[0].after["title"] == "By hand"
    assert (newest.after, outside.after, first.after) == (outside.id, first.id, None)
    assert workspace.load().tasks[task.id].title == "By hand"
    put(workspace, workspace.load().tasks[task.id].with_(slug="third"))
    assert len(list(workspace.changes())) == 4


def test_a_changed_key_moves_the_file(workspace: Workspace) -> None:
    fact = put(workspace, make_fact("a.b"))[0]
    moved = put(workspace, workspace.load().facts[fact.id].with_(key="c.d"))[0]
    assert workspace.load().facts == {fact.id: moved}
    assert [p.parent.name for p in workspace.root.glob("facts/*/*.json")] == ["c.d"]


def test_two_aliases_cannot_share_a_name(workspace: Workspace) -> None:
    put(workspace, Alias(id=new_id(), alias="w", canonical="width"))
    with pytest.raises(VersionConflictError), workspace.transaction(PERSON, "x") as tx:
        tx.put(Alias(id=new_id(), alias="w", canonical="weight"))


def test_removing_takes_the_record_away_and_the_log_keeps_it(workspace: Workspace) -> None:
    fact = put(workspace, make_fact())[0]
    with workspace.transaction(PERSON, "undo", undoes="abc") as tx:
        tx.remove("facts", fact.id, expect=1)
    assert workspace.load().facts == {}
    newest, first = workspace.changes()
    assert newest.records[0].after is None
    assert newest.undoes == "abc"
    assert first.records[0].after is not None
    with pytest.raises(NotFoundError), workspace.transaction(PERSON, "x") as tx:
        tx.remove("facts", fact.id)


def test_what_cannot_be_stored_is_refused_before_the_disk_is_touched(workspace: Workspace) -> None:
    deep: object = "x"
    for _ in range(200):
        deep = [deep]
    for value in (float("nan"), float("inf"), 2**53 + 1, {1: 2}, deep, object()):
        with pytest.raises(UsageError), workspace.transaction(PERSON, "x") as tx:
            tx.put(make_fact(value=value))
    for identifier in ("", "../../evil", "A" * 10, "x" * 11):
        with pytest.raises(UsageError), workspace.transaction(PERSON, "x") as tx:
            tx.put(make_fact().with_(id=identifier))
    assert list(workspace.changes()) == []
    stored = put(workspace, make_fact(value={"a": [1, 2.5, True, None, "\ud800\x00\x1b[31m\u2028"]}))[0]
    assert workspace.load().facts[stored.id].value == {"a": [1, 2.5, True, None, "?\x00\x1b[31m\u2028"]}


def test_a_load_reads_only_what_changed(workspace: Workspace) -> None:
    facts = put(workspace, *(make_fact(f"key.{n}", n) for n in range(20)))
    workspace.load()
    time.sleep(0.06)
    first = workspace.load()
    before = workspace.file_reads
    assert workspace.load() is first
    assert workspace.file_reads == before
    put(Workspace.open(workspace.location), facts[3].with_(value="other"))
    second = workspace.load()
    assert second.facts[facts[3].id].value == "other"
    assert second.revision != first.revision
    assert workspace.file_reads == before + 1
    assert first.facts[facts[3].id].value == 3


def test_a_change_of_the_same_length_at_once_is_seen(workspace: Workspace) -> None:
    fact = put(workspace, make_fact(value=0))[0]
    other = Workspace.open(workspace.location)
    for number in range(1, 10):
        fact = put(other, fact.with_(value=number))[0]
        assert workspace.load().facts[fact.id].value == number


def test_finding_by_prefix_and_slug(workspace: Workspace) -> None:
    one, two = make_task(), make_task()
    one = one.with_(id="abcdefgh11")
    two = two.with_(id="abcdefgh22", slug="table")
    put(workspace, one, two)
    records = workspace.load()
    assert records.find("task", "abcdefgh1") == one
    assert records.find("tasks", "table") == two
    with pytest.raises(NotFoundError) as caught:
        records.find("task", "abc")
    assert caught.value.details["candidates"] == [one.id, two.id]
    for missing in ("zzz", ""):
        with pytest.raises(NotFoundError):
            records.find("task", missing)


def test_changes_are_newest_first_whatever_the_clock_says(workspace: Workspace) -> None:
    for number, day in enumerate(("2026-03-01", "2025-01-01", "2027-09-01", "2026-01-01")):
        with workspace.transaction(PERSON, f"c{number}", now=datetime.fromisoformat(day).replace(tzinfo=UTC)) as tx:
            tx.put(make_fact(f"k{number}"))
    assert [change.command for change in workspace.changes()] == ["c3", "c2", "c1", "c0"]
    assert sorted(p.name for p in (workspace.root / "changes").iterdir()) == ["2026-03.jsonl", "2027-09.jsonl"]


def test_everything_is_owner_only_whatever_the_umask(folder: Path) -> None:
    for mask in (0, 0o777):
        shutil.rmtree(folder / ".workbench", ignore_errors=True)
        old = os.umask(mask)
        try:
            workspace = Workspace.init(locate(folder))
            with workspace.transaction(PERSON, "x") as tx:
                task = tx.put(make_task())
                tx.put(make_fact("A.b"))
                tx.append_evidence(Evidence(id=new_id(), kind="claim", task=task.id, at=AT))
                tx.add_package(envelope(task.id), b"p", event())
                tx.put_blob(b"x")
            workspace.local.set_session_path("claude:1", "/somewhere")
        finally:
            os.umask(old)
        for path in (workspace.root, *workspace.root.rglob("*")):
            wanted = 0o700 if path.is_dir() else 0o600
            assert stat.S_IMODE(path.stat().st_mode) == wanted, path


def test_local_state(workspace: Workspace) -> None:
    local = workspace.local
    assert local.current_task is None
    local.current_task = "abc"
    local.set_session_path("claude:1", "/a")
    local.set_session_path("claude:2", "/b")
    local.set_session_path("claude:1", None)
    again = reopened(workspace).local
    assert again.current_task == "abc"
    assert again.session_paths == {"claude:2": "/b"}
    with pytest.raises(RefusedError):
        again.current_task = None
    (workspace.root / ".local" / "current_task.json").write_bytes(b"\x00")
    assert local.current_task is None
    local.current_task = None
    assert not (workspace.root / ".local" / "current_task.json").exists()


def test_reading_opens_nothing_for_writing(workspace: Workspace) -> None:
    put(workspace, make_task(), make_fact())
    shutil.rmtree(workspace.root / ".local")
    seen = {path: path.stat().st_mtime_ns for path in (workspace.root, *workspace.root.rglob("*"))}
    reader = reopened(workspace)
    reader.load()
    list(reader.changes())
    list(reader.db.table("facts"))
    assert reader.local.current_task is None
    assert {path: path.stat().st_mtime_ns for path in (workspace.root, *workspace.root.rglob("*"))} == seen
    with pytest.raises(RefusedError), reader.transaction(PERSON, "x"):
        pass
    with pytest.raises(RefusedError):
        reader.complete()


def test_a_workspace_that_is_gone(workspace: Workspace) -> None:
    shutil.rmtree(workspace.root)
    with pytest.raises(NotFoundError):
        workspace.load()
    with pytest.raises(NotFoundError), workspace.transaction(PERSON, "x"):
        pass
    with pytest.raises(NotFoundError):
        Workspace.open(workspace.location)


def test_links_inside_lead_nowhere(workspace: Workspace, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x").write_text("secret")
    shutil.rmtree(workspace.root / "facts")
    (workspace.root / "facts").symlink_to(outside)
    (workspace.root / "tasks" / f"{new_id()}.json").symlink_to(outside / "x")
    assert len(workspace.load().damaged) == 2
    with pytest.raises(RefusedError), workspace.transaction(PERSON, "x") as tx:
        tx.put(make_fact())
    assert [path.name for path in outside.iterdir()] == ["x"]


def test_a_stored_record_is_what_put_returned(workspace: Workspace) -> None:
    fact = make_fact(acts=(Act(act="accepted", by="first_value", at=AT),))
    assert put(workspace, fact)[0] == workspace.load().facts[fact.id]
