"""Records of other schema numbers: older ones are read and upgraded when next written, newer ones left alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.store.conftest import PERSON, make_task, put
from workbench.domain.task import Task
from workbench.errors import DamagedError
from workbench.store import Workspace, upgrade


def test_an_older_record_is_read_and_upgraded_at_its_next_write(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def named(kind: type[Any], document: dict[str, Any]) -> dict[str, Any]:
        if kind is Task:
            document["title"] = document.pop("name")
        return document

    monkeypatch.setitem(upgrade.STEPS, 0, named)
    task, other = put(workspace, make_task("Old"), make_task("Other"))
    path = workspace.root / "tasks" / f"{task.id}.json"
    document = json.loads(path.read_bytes())
    document["name"] = document.pop("title")
    older = json.dumps(document | {"schema": 0}).encode()
    path.write_bytes(older)
    workspace.journal.remember({task.id: None})
    records = Workspace.open(workspace.location, read_only=True).load()
    assert (records.tasks[task.id].title, records.damaged) == ("Old", ())
    assert workspace.db.table("tasks").get(doc_id=task.id)["title"] == "Old"
    put(workspace, other.with_(title="Still others"))
    assert path.read_bytes() == older
    put(workspace, records.tasks[task.id].with_(slug="new"))
    after = json.loads(path.read_bytes())
    assert (after["schema"], after["title"], after["slug"], "name" in after) == (1, "Old", "new", False)


def test_a_record_without_numbers_before_it_is_as_it_is(workspace: Workspace) -> None:
    task = put(workspace, make_task())[0]
    path = workspace.root / "tasks" / f"{task.id}.json"
    path.write_bytes(path.read_bytes().replace(b'"schema": 1', b'"schema": 0'))
    assert workspace.load().tasks[task.id].title == task.title


@pytest.mark.parametrize("number", [b"-3", b"2", b"999", b'"1"', b"1.5", b"null"])
def test_numbers_that_no_step_leads_from_are_told_and_kept(workspace: Workspace, number: bytes) -> None:
    task = put(workspace, make_task())[0]
    path = workspace.root / "tasks" / f"{task.id}.json"
    bad = path.read_bytes().replace(b'"schema": 1', b'"schema": ' + number)
    path.write_bytes(bad)
    (damage,) = workspace.load().damaged
    assert damage.line is not None
    assert damage.newer == (number in (b"2", b"999"))
    with pytest.raises(DamagedError), workspace.transaction(PERSON, "x") as tx:
        tx.put(task.with_(title="Over it"))
    assert path.read_bytes() == bad
