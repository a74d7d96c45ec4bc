"""Hand edits of files that the log is ahead of: neither the edit nor what was acknowledged is lost."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.store.conftest import PERSON, make_fact, make_task, put
from tests.store.test_hand_edits import edit
from tests.store.test_settling import again, file_of, files_alone, somebody_waits
from workbench.domain.fact import Fact
from workbench.domain.task import Task
from workbench.errors import StorageError, VersionConflictError
from workbench.store import Workspace, locate
from workbench.store.primitives import watched


def path_of(workspace: Workspace, task: Task) -> Path:
    return workspace.root / "tasks" / f"{task.id}.json"


def behind(workspace: Workspace) -> Task:
    """A task whose file is of version 1, while version 3 is acknowledged."""
    task: Task = put(workspace, make_task("One"))[0]
    with somebody_waits(workspace):
        two = put(again(workspace), task.with_(title="Two"))[0]
        put(again(workspace), two.with_(contract=two.contract.with_(objective="Ship it")))
    assert b"One" in path_of(workspace, task).read_bytes()
    return task


def outside(workspace: Workspace) -> list[Any]:
    return [change for change in workspace.changes() if change.actor == "outside"]


def by_records(workspace: Workspace, task: Task) -> Task:
    with workspace.transaction(PERSON, "look") as tx:
        found: Task = tx.records.tasks[task.id]
    return found


def by_place(workspace: Workspace, task: Task) -> Task:
    with workspace.transaction(PERSON, "look") as tx:
        found: Task = tx.look(f"tasks/{task.id}.json").tasks[task.id]
    return found


def by_id(workspace: Workspace, task: Task) -> Task:
    with workspace.transaction(PERSON, "look") as tx:
        found: Task = tx.get("tasks", task.id)
    return found


def beside(workspace: Workspace, task: Task) -> Task:
    put(workspace, make_fact("something.else"))
    return again(workspace).load().tasks[task.id]


def complete(workspace: Workspace, task: Task) -> Task:
    workspace.complete()
    return again(workspace).load().tasks[task.id]


LOOKS = pytest.mark.parametrize("look", [by_records, by_place, by_id, beside, complete])
Look = Callable[[Workspace, Task], Task]


@LOOKS
def test_different_fields_are_both_kept(workspace: Workspace, look: Look) -> None:
    task = behind(workspace)
    edit(path_of(workspace, task), slug="by-hand")
    reader = Workspace.open(workspace.location, read_only=True).load().tasks[task.id]
    for found in (reader, look(again(workspace), task), again(workspace).load().tasks[task.id]):
        assert (found.title, found.contract.objective, found.slug, found.version) == ("Two", "Ship it", "by-hand", 5)
        assert not found.contests
    put(again(workspace), make_fact("next"))
    (told,) = outside(workspace)
    assert [(row.version, row.after["title"], row.after["slug"]) for row in told.records] == [
        (4, "One", "by-hand"),
        (5, "Two", "by-hand"),
    ]
    assert "version 1" in told.why
    assert "version 3" in told.why
    files_alone(workspace)
    assert json.loads(path_of(workspace, task).read_bytes())["slug"] == "by-hand"


@LOOKS
def test_of_one_field_what_was_acknowledged_stands_and_a_person_decides(workspace: Workspace, look: Look) -> None:
    task = behind(workspace)
    edit(path_of(workspace, task), title="By hand")
    found = look(again(workspace), task)
    assert (found.title, found.contract.objective) == ("Two", "Ship it")
    assert [claim.value for claim in found.contests["title"]] == ["Two", "By hand"]
    put(again(workspace), make_fact("next"))
    (told,) = outside(workspace)
    assert "title" in told.why
    assert told.records[0].after["title"] == "By hand"
    files_alone(workspace)


@LOOKS
def test_whoever_comes_next_is_told(workspace: Workspace, look: Look) -> None:
    task = behind(workspace)
    edit(path_of(workspace, task), slug="by-hand")
    writer = again(workspace)
    look(writer, task)
    assert len(writer.notices) == 1
    assert task.id in writer.notices[0]


def test_also_whoever_is_refused_because_of_it_is_told(workspace: Workspace) -> None:
    task = behind(workspace)
    edit(path_of(workspace, task), slug="by-hand")
    writer = again(workspace)
    with pytest.raises(VersionConflictError) as caught, writer.transaction(PERSON, "late") as tx:
        tx.put(task.with_(title="Late"), expect=3)
    assert caught.value.details["found"] == 5
    assert len(writer.notices) == 1


def test_whatever_version_the_editor_left_nothing_acknowledged_goes(workspace: Workspace) -> None:
    task = behind(workspace)
    edit(path_of(workspace, task), slug="by-hand", version=77)
    found = by_id(again(workspace), task)
    assert (found.title, found.contract.objective, found.slug) == ("Two", "Ship it", "by-hand")


def test_an_edit_while_a_writer_is_between_its_commit_and_its_files(workspace: Workspace) -> None:
    task: Task = put(workspace, make_task("One"))[0]
    done = False

    def hook(operation: str, path: str) -> None:
        nonlocal done
        if operation == "fsync" and path.startswith("changes") and not done:
            done = True
            edit(path_of(workspace, task), slug="by-hand")

    with somebody_waits(workspace):
        put(again(workspace), make_fact("before"))
    with watched(hook):
        put(again(workspace), task.with_(title="Two"))
    assert done
    found = again(workspace).load().tasks[task.id]
    assert (found.title, found.slug) == ("Two", "by-hand")
    files_alone(workspace)


def test_writing_on_goes_from_both(workspace: Workspace) -> None:
    task = behind(workspace)
    edit(path_of(workspace, task), slug="by-hand")
    with again(workspace).transaction(PERSON, "go on") as tx:
        tx.put(tx.get("tasks", task.id).with_(title="Three"), expect=5)
    found = again(workspace).load().tasks[task.id]
    assert (found.title, found.contract.objective, found.slug, found.version) == ("Three", "Ship it", "by-hand", 6)
    assert [len(change.records) for change in workspace.changes()] == [1, 2, 1, 1, 1]
    files_alone(workspace)


@pytest.mark.parametrize("touched", [True, False])
def test_a_record_that_moved_meanwhile(workspace: Workspace, touched: bool) -> None:
    fact: Fact = put(workspace, make_fact("old.key", "1"))[0]
    path = file_of(workspace, "facts", fact.id)
    assert path is not None
    with somebody_waits(workspace):
        put(again(workspace), fact.with_(key="new.key"))
    edit(path, value="by hand")
    reader = Workspace.open(workspace.location, read_only=True).load()
    assert (reader.facts[fact.id].key, reader.facts[fact.id].value, reader.damaged) == ("new.key", "by hand", ())
    if touched:
        with again(workspace).transaction(PERSON, "touch") as tx:
            tx.put(tx.get("facts", fact.id).with_(reason="why"))
    put(again(workspace), make_fact("next"))
    records = again(workspace).load()
    assert (records.facts[fact.id].key, records.facts[fact.id].value, records.damaged) == ("new.key", "by hand", ())
    assert records.facts[fact.id].reason == ("why" if touched else "")
    assert not path.exists()
    files_alone(workspace)


@pytest.mark.parametrize("touched", [True, False])
def test_a_record_whose_key_was_edited_meanwhile(workspace: Workspace, touched: bool) -> None:
    fact: Fact = put(workspace, make_fact("old.key", "1"))[0]
    path = file_of(workspace, "facts", fact.id)
    assert path is not None
    with somebody_waits(workspace):
        put(again(workspace), fact.with_(value="2"))
    edit(path, key="new.key")
    assert again(workspace).load().facts[fact.id].key == "new.key"
    if touched:
        with again(workspace).transaction(PERSON, "touch") as tx:
            assert tx.get("facts", fact.id).value == "2"
    put(again(workspace), make_fact("next"))
    records = again(workspace).load()
    assert (records.facts[fact.id].key, records.facts[fact.id].value, records.damaged) == ("new.key", "2", ())
    assert not path.exists()
    files_alone(workspace)


def test_a_record_that_was_taken_away_meanwhile_stays_away_and_the_log_keeps_the_edit(workspace: Workspace) -> None:
    fact: Fact = put(workspace, make_fact("a.b", "1"))[0]
    path = file_of(workspace, "facts", fact.id)
    assert path is not None
    with somebody_waits(workspace), again(workspace).transaction(PERSON, "undo") as tx:
        tx.remove("facts", fact.id)
    edit(path, value="by hand")
    assert fact.id not in again(workspace).load().facts
    put(again(workspace), make_fact("next"))
    assert fact.id not in again(workspace).load().facts
    (told,) = outside(workspace)
    assert [row.after and row.after["value"] for row in told.records] == ["by hand", None]
    files_alone(workspace)


def test_an_edit_of_what_the_log_last_left_is_an_edit_like_any_other(workspace: Workspace) -> None:
    task = put(workspace, make_task("One"))[0]
    put(workspace, task.with_(title="Two"))
    edit(path_of(workspace, task), title="By hand")
    (workspace.root / ".local" / "applied").unlink()  # and so the last change counts as incomplete
    found = by_records(again(workspace), task)
    assert (found.title, found.version, found.contests) == ("By hand", 3, {})
    assert [len(change.records) for change in outside(workspace)] == [1]


def test_where_the_log_cannot_take_the_edit_what_was_acknowledged_waits(workspace: Workspace) -> None:
    task = behind(workspace)
    edit(path_of(workspace, task), slug="by-hand")
    opened = 0

    def full(operation: str, path: str) -> None:
        nonlocal opened
        if operation == "open" and path.startswith("changes"):
            opened += 1
            if opened == 2:  # the first is the command's own line
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    writer = again(workspace)
    with watched(full):
        fact = put(writer, make_fact("something.else"))[0]
    assert writer.notices
    for _ in range(2):
        records = again(workspace).load()
        assert fact.id in records.facts
        found = records.tasks[task.id]
        assert (found.title, found.contract.objective, found.slug) == ("Two", "Ship it", "by-hand")
        put(again(workspace), make_fact("next"))
    files_alone(workspace)


class Ended(BaseException):
    """A process ends here."""


@pytest.mark.parametrize("ending", [Ended, OSError(errno.EIO, os.strerror(errno.EIO))])
@pytest.mark.parametrize("touches", [True, False])
def test_cut_short_at_any_moment_nothing_of_either_goes(folder: Path, ending: Any, touches: bool) -> None:
    case = count = 0
    while case <= count:
        case, count = case + 1, 0
        root = folder / str(case)
        root.mkdir()
        workspace = Workspace.init(locate(root))
        task = behind(workspace)
        edit(path_of(workspace, task), slug="by-hand")

        def hook(operation: str, path: str, case: int = case) -> None:
            nonlocal count
            count += 1
            if count == case or (ending is Ended and count > case):
                raise ending

        with suppress(Ended, StorageError), watched(hook), again(workspace).transaction(PERSON, "next") as tx:
            if touches:
                tx.put(tx.get("tasks", task.id).with_(plan_revision=7))
            else:
                tx.put(make_fact("next"))
        for _ in range(2):
            found = again(workspace).load().tasks[task.id]
            assert (found.title, found.contract.objective, found.slug) == ("Two", "Ship it", "by-hand"), case
            put(again(workspace), make_fact("after"))
        assert sum(row.after is not None and row.after["slug"] == "by-hand" and row.after["title"] == "One"
                   for change in outside(workspace) for row in change.records) == 1, case  # fmt: skip
        files_alone(workspace)
    assert case > 12
