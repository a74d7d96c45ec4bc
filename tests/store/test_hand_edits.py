"""Files edited by hand: taken when they can be read, told in the log, and noticed by whoever saw them before."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from tests.store.conftest import PERSON, make_fact, make_task, put
from workbench.domain.ids import new_id
from workbench.errors import VersionConflictError
from workbench.store import Workspace, edits
from workbench.store.journal import Journal

REAL = time.time_ns


def edit(path: Path, **fields: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_bytes()) | fields))


def commands(workspace: Workspace) -> list[str]:
    return [change.command for change in workspace.changes()]


def test_an_edit_counts_as_a_version_whatever_number_it_carries(workspace: Workspace) -> None:
    task = put(workspace, make_task())[0]
    task = put(workspace, task.with_(title="Two"))[0]
    path = workspace.root / "tasks" / f"{task.id}.json"
    edit(path, title="By hand", version=1)
    with pytest.raises(VersionConflictError) as caught, workspace.transaction(PERSON, "late") as tx:
        tx.put(task.with_(slug="late"), expect=task.version)
    assert caught.value.details["found"] == 3
    assert caught.value.details["current"]["title"] == "By hand"
    # The edit is in the log now, also though the command failed; looking again is enough.
    assert commands(workspace)[0] == "edited outside"
    again = workspace.load().tasks[task.id]
    assert (again.title, again.version) == ("By hand", 3)
    with workspace.transaction(PERSON, "again") as tx:
        assert tx.put(again.with_(slug="again"), expect=again.version).version == 4


def test_the_next_command_takes_in_every_edit_though_it_touches_another_record(workspace: Workspace) -> None:
    one, other = put(workspace, make_task("One"), make_task("Other"))
    edit(workspace.root / "tasks" / f"{one.id}.json", title="By hand")
    with workspace.transaction("agent:x", "other") as tx:
        assert tx.records.tasks[one.id].version == 2
        tx.put(other.with_(title="Two"))
    newest, outside, _ = workspace.changes()
    assert (newest.command, outside.command, outside.actor) == ("other", "edited outside", "outside")
    assert [record.id for record in outside.records] == [one.id]
    with workspace.transaction("agent:x", "nothing") as tx:
        assert tx.records.tasks[one.id].title == "By hand"
    assert len(commands(workspace)) == 3


def test_a_record_made_by_hand_is_told_once(workspace: Workspace) -> None:
    task = put(workspace, make_task())[0]
    document = json.loads((workspace.root / "tasks" / f"{task.id}.json").read_bytes())
    twin = new_id()
    (workspace.root / "tasks" / f"{twin}.json").write_text(json.dumps(document | {"id": twin, "title": "Hand-made"}))
    for _ in range(2):
        with workspace.transaction(PERSON, "look") as tx:
            assert tx.records.tasks[twin].title == "Hand-made"
    assert commands(workspace) == ["edited outside", "put"]


def test_an_edited_key_moves_the_file(workspace: Workspace) -> None:
    fact = put(workspace, make_fact("a.b"))[0]
    edit(workspace.root / "facts" / "a.b" / f"{fact.id}.json", key="c.d")
    put(workspace, make_task())  # a command that does not look at the others leaves it to the next
    with workspace.transaction(PERSON, "look") as tx:
        assert tx.records.facts[fact.id].key == "c.d"
    assert [path.parent.name for path in workspace.root.glob("facts/*/*.json")] == ["c.d"]


def test_a_secret_written_by_hand_is_masked_when_it_is_taken_in(workspace: Workspace) -> None:
    fact = put(workspace, make_fact("token", "none"))[0]
    secret = "ghp_" + "a1B2" * 10
    path = workspace.root / "facts" / "token" / f"{fact.id}.json"
    edit(path, value=secret)
    with workspace.transaction(PERSON, "look") as tx:
        assert "masked" in str(tx.records.facts[fact.id].value)
    for file in workspace.root.rglob("*"):
        assert file.is_dir() or secret.encode() not in file.read_bytes()


def test_damage_is_no_edit(workspace: Workspace) -> None:
    task, other = put(workspace, make_task(), make_task("Other"))
    path = workspace.root / "tasks" / f"{task.id}.json"
    path.write_bytes(b"{")
    with workspace.transaction(PERSON, "look") as tx:
        assert list(tx.records.tasks) == [other.id]
    assert path.read_bytes() == b"{"
    assert commands(workspace) == ["put"]


def test_a_copy_without_its_local_folder_holds_no_edits(workspace: Workspace) -> None:
    task, fact = put(workspace, make_task(), make_fact("Some Key"))
    shutil.rmtree(workspace.root / ".local")
    for path in workspace.root.rglob("*.json"):
        os.utime(path)
    again = Workspace.open(workspace.location)
    with again.transaction(PERSON, "look") as tx:
        assert (tx.records.tasks[task.id], tx.records.facts[fact.id]) == (task, fact)
    assert commands(again) == ["put"]


def test_notes_that_a_power_cut_left_old_make_no_edit(workspace: Workspace) -> None:
    task = put(workspace, make_task())[0]
    notes = workspace.root / ".local" / "written"
    shutil.copytree(notes, workspace.root / "old")
    task = put(workspace, task.with_(title="Two"))[0]
    shutil.rmtree(notes)
    (workspace.root / "old").rename(notes)
    with workspace.transaction(PERSON, "look") as tx:
        assert tx.records.tasks[task.id] == task
        assert tx.put(task.with_(title="Three"), expect=task.version).version == 3
    assert commands(workspace) == ["look", "put", "put"]


def test_what_the_program_wrote_itself_costs_nothing_to_look_at(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edits, "_SLACK", 0)
    with workspace.transaction(PERSON, "put") as tx:
        assert not tx.records.facts
        for number in range(30):
            tx.put(make_fact(f"key.{number}"))
    with workspace.transaction(PERSON, "put") as tx:
        assert len(tx.records.facts) == 30
        tx.put(make_task())
    compared: list[str] = []
    monkeypatch.setattr(Journal, "notes", lambda self, identifier: compared.append(identifier) or {})
    again = Workspace.open(workspace.location)
    with again.transaction(PERSON, "look") as tx:
        assert len(tx.records.facts) == 30
    assert len(compared) == 1, "the last one was written since"
    assert commands(again) == ["put", "put"]


@pytest.mark.parametrize("clock", [0, -(10**9), 10**12])
def test_an_edit_is_noticed_whatever_time_its_file_keeps(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, clock: int
) -> None:
    task = put(workspace, make_task("One"))[0]
    path = workspace.root / "tasks" / f"{task.id}.json"
    # The clock may have been put back since, and was that of another machine.
    monkeypatch.setattr(edits.time, "time_ns", lambda: REAL() + clock)
    monkeypatch.setattr(edits, "_SLACK", 0)
    with workspace.transaction(PERSON, "put") as tx:
        assert tx.records.tasks
        tx.put(make_fact())
    monkeypatch.undo()
    old = path.stat().st_mtime_ns - 10**10
    edit(path, title="By hand")
    os.utime(path, ns=(old, old))
    with workspace.transaction(PERSON, "look") as tx:
        assert tx.records.tasks[task.id].title == "By hand"
    assert commands(workspace)[0] == "edited outside"
