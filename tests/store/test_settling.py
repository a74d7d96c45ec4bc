"""The log may be ahead of the files: one writer puts those of all in their places, and nobody notices."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.store.conftest import AT, PERSON, make_fact, make_task, put
from workbench.domain.evidence import Evidence
from workbench.domain.ids import new_id
from workbench.errors import StorageError, VersionConflictError
from workbench.store import Workspace, primitives, settle
from workbench.store.journal import Journal
from workbench.store.lock import WriterLock
from workbench.store.primitives import watched
from workbench.store.settle import AHEAD, LOCK, MOST, QUEUE

LATER = datetime(2099, 1, 1, tzinfo=UTC)


@contextmanager
def somebody_waits(workspace: Workspace) -> Iterator[None]:
    """One writer is in its turn, and another waits for it and will bring the files of those after it along."""
    turn = WriterLock(workspace.tree, 1.0, LOCK)
    turn.at_once()
    with WriterLock(workspace.tree, 1.0, QUEUE):
        yield
    turn.__exit__()


def again(workspace: Workspace) -> Workspace:
    return Workspace.open(workspace.location)


def file_of(workspace: Workspace, folder: str, identifier: str) -> Path | None:
    return next((workspace.root / folder).rglob(f"{identifier}.json"), None)


def test_what_is_only_in_the_log_is_what_holds(workspace: Workspace) -> None:
    task = put(workspace, make_task("One"))[0]
    fact = make_fact()
    with somebody_waits(workspace):
        two = put(again(workspace), task.with_(title="Two"), fact)[0]
        three = put(again(workspace), two.with_(title="Three"))[0]
        assert again(workspace).load().tasks[task.id] == three
        assert three.version == 3
        assert file_of(workspace, "facts", fact.id) is None
        with pytest.raises(VersionConflictError), again(workspace).transaction(PERSON, "late") as tx:
            tx.put(two.with_(title="Late"), expect=2)
        with again(workspace).transaction(PERSON, "by id") as tx:
            assert tx.get("facts", fact.id).value == fact.value
            tx.put(tx.get("facts", fact.id).with_(key="another.key"))
            tx.append_evidence(Evidence(id=new_id(), kind="claim", task=task.id, at=AT))
        with again(workspace).transaction(PERSON, "looks at everything") as tx:
            first = tx.records.evidence[0].id
            assert tx.append_evidence(Evidence(id=new_id(), kind="claim", task=task.id, at=AT)).after == first
        assert again(workspace).edited_outside() == []
    put(again(workspace), make_fact("last"))
    path = file_of(workspace, "facts", fact.id)
    assert path is not None
    assert path.parent.name == "another.key"
    files_alone(workspace)
    records = again(workspace).load()
    assert (records.tasks[task.id], len(records.facts), len(records.evidence)) == (three, 2, 2)
    assert "outside" not in {change.actor for change in workspace.changes()}
    assert {change.settled for change in workspace.changes()} != set()


def files_alone(workspace: Workspace) -> None:
    """From here on the log cannot help."""
    assert not again(workspace).complete()
    said = [(fact.id, fact.version) for fact in again(workspace).load().facts.values()]
    (workspace.root / "changes").rename(workspace.root / "elsewhere")
    assert [(fact.id, fact.version) for fact in again(workspace).load().facts.values()] == said
    (workspace.root / "elsewhere").rename(workspace.root / "changes")


def test_without_the_note_the_last_line_says_what_may_be_incomplete(workspace: Workspace) -> None:
    task = put(workspace, make_task("One"))[0]
    facts = [make_fact(f"key.{number}") for number in range(3)]
    with somebody_waits(workspace):
        for fact in facts:
            put(again(workspace), fact)
    (workspace.root / ".local" / "applied").unlink()
    records = again(workspace).load()
    assert (set(records.facts), set(records.tasks)) == ({fact.id for fact in facts}, {task.id})
    assert again(workspace).complete()
    assert all(file_of(workspace, "facts", fact.id) for fact in facts)


def test_where_bytes_never_reached_the_disk_nothing_after_them_was_acknowledged(workspace: Workspace) -> None:
    put(workspace, make_task("One"))
    one, two = make_fact("one"), make_fact("two")
    log = next((workspace.root / "changes").iterdir())
    with somebody_waits(workspace):
        begin = log.stat().st_size
        put(again(workspace), one)
        middle = log.stat().st_size
        put(again(workspace), two)
    data = log.read_bytes()
    log.write_bytes(data[:begin] + b"\0" * (middle - begin) + data[middle:])
    (workspace.root / ".local" / "applied").unlink()
    assert not again(workspace).load().facts
    put(again(workspace), make_fact("three"))
    assert [fact.key for fact in again(workspace).load().facts.values()] == ["three"]
    assert again(workspace).damaged_changes() == ()


def test_who_waits_and_does_not_come_stops_nobody(workspace: Workspace) -> None:
    put(workspace, make_task("One"))
    with WriterLock(workspace.tree, 1.0, QUEUE):
        fact = put(again(workspace), make_fact("first"))[0]
        assert file_of(workspace, "facts", fact.id) is not None
        assert Journal(workspace.tree).position().settled


def test_no_line_of_a_new_file_counts_before_its_entry_is_on_disk(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(primitives, "AT_ONCE", 1)  # one after the other, also where the disk is slow
    with somebody_waits(workspace):
        put(again(workspace), make_fact("old"))
    monkeypatch.setattr(Journal, "goes_on", lambda self, line: True)
    seen: list[str] = []

    def first(operation: str, path: str) -> None:
        if operation == "fsync":
            seen.append(path)
            if len(seen) == 1:
                seen.clear()
                seen.append("second begins")
                with again(workspace).transaction(PERSON, "second", now=LATER) as tx:
                    tx.put(make_fact("second"))
                seen.append("second is acknowledged")
                raise Ended

    with watched(first), pytest.raises(Ended), again(workspace).transaction(PERSON, "first", now=LATER) as tx:
        tx.put(make_fact("first"))
    assert seen[:4] == ["second begins", "changes/2099-01.jsonl", "changes", "second is acknowledged"]
    monkeypatch.undo()
    put(again(workspace), make_fact("settles"))
    seen.clear()
    with watched(lambda operation, path: seen.append(path) if operation == "fsync" else None):
        put(again(workspace), make_fact("last"))
    assert "changes/2099-01.jsonl" in seen
    assert "changes" not in seen


class Ended(BaseException):
    """A process ends here."""


@pytest.fixture
def others_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever somebody has brought a line to disk, another stands behind it already."""
    monkeypatch.setattr(Journal, "goes_on", lambda self, line: True)


def test_of_two_that_write_at_once_the_last_one_puts_the_files_of_both_in_their_places(workspace: Workspace) -> None:
    first, one, two = make_fact("first"), make_fact("one"), make_fact("two")
    with somebody_waits(workspace):
        put(again(workspace), first)
    seen: list[str] = []
    renames: list[int] = []

    def meanwhile(operation: str, path: str) -> None:
        seen.append(operation)
        if operation == "fsync" and seen.count("fsync") == 1:
            put(again(workspace), two)
            renames.append(seen.count("rename"))

    with watched(meanwhile):
        put(again(workspace), one)
    assert renames == [3]
    assert seen.count("rename") == 3
    assert not workspace.complete()
    assert all(file_of(workspace, "facts", fact.id) for fact in (first, one, two))


@pytest.mark.usefixtures("others_follow")
def test_while_others_follow_files_are_put_in_their_places_many_at_once(workspace: Workspace) -> None:
    with somebody_waits(workspace):
        put(again(workspace), make_fact("key.0"))
    facts = [put(again(workspace), make_fact(f"key.{number}"))[0] for number in range(1, AHEAD)]
    assert not any(file_of(workspace, "facts", fact.id) for fact in facts)
    assert len(again(workspace).load().facts) == AHEAD
    put(again(workspace), make_fact("one.more"))
    assert all(file_of(workspace, "facts", fact.id) for fact in facts)
    assert not workspace.complete()
    files_alone(workspace)


@pytest.mark.usefixtures("others_follow")
def test_one_writer_puts_not_more_than_so_many_in_their_places(workspace: Workspace) -> None:
    with somebody_waits(workspace):
        put(again(workspace), make_fact("key.0"))
    with WriterLock(workspace.tree, 1.0, LOCK):
        facts = [put(again(workspace), make_fact(f"key.{number}"))[0] for number in range(1, MOST + 9)]
    put(again(workspace), make_fact("one.more"))
    there = [file_of(workspace, "facts", fact.id) is not None for fact in facts]
    assert there == [True] * (MOST - 1) + [False] * 9
    assert len(again(workspace).load().facts) == MOST + 10
    assert workspace.complete()
    files_alone(workspace)


def test_folders_may_be_left_to_whoever_wrote_meanwhile(workspace: Workspace) -> None:
    first = put(workspace, make_fact("first"))[0]
    two = make_fact("two")
    synced: list[str] = []

    def meanwhile(operation: str, path: str) -> None:
        if operation == "rename" and first.id in path:
            with somebody_waits(workspace):
                put(again(workspace), two)
            synced.clear()
        if operation == "fsync":
            synced.append(path)

    with watched(meanwhile):
        put(again(workspace), first.with_(value="new"))
    assert synced == []
    assert file_of(workspace, "facts", two.id) is None
    with watched(meanwhile):
        put(again(workspace), make_fact("three"))
    assert "facts/first" in synced
    assert not workspace.complete()
    assert len(again(workspace).load().facts) == 3
    files_alone(workspace)


@pytest.mark.usefixtures("others_follow")
def test_nobody_runs_ahead_of_the_files_for_ever(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settle, "FAR", 16)
    with somebody_waits(workspace):
        for number in range(16):
            put(again(workspace), make_fact(f"key.{number}"))
    with WriterLock(workspace.tree, 1.0, QUEUE):
        last = again(workspace)
        with last.transaction(PERSON, "one too many", timeout=0.05) as tx:
            tx.put(make_fact("last"))
        assert file_of(workspace, "facts", next(iter(last.load().facts))) is not None
    assert not workspace.complete()
    assert len(again(workspace).load().facts) == 17


@pytest.mark.parametrize("waits", [True, False])
def test_a_line_that_the_disk_refuses_twice_is_gone_again(workspace: Workspace, waits: bool) -> None:
    task = put(workspace, make_task("One"))[0]

    def broken(operation: str, path: str) -> None:
        if operation == "fsync" and path.startswith("changes"):
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    queue = WriterLock(workspace.tree, 1.0, QUEUE)
    if waits:
        queue.__enter__()
    with watched(broken), pytest.raises(StorageError):
        put(again(workspace), task.with_(title="Two"))
    queue.__exit__()
    assert again(workspace).load().tasks[task.id] == task
    assert put(again(workspace), task.with_(title="Three"))[0].version == 2


@pytest.mark.parametrize("waits", [True, False])
def test_a_line_that_the_disk_refuses_once_is_written_again_before_it_counts(workspace: Workspace, waits: bool) -> None:
    task = put(workspace, make_task("One"))[0]
    seen: list[str] = []

    def broken(operation: str, path: str) -> None:
        if path.startswith("changes"):
            seen.append(operation)
            if seen == ["open", "write", "fsync"]:
                raise OSError(errno.EIO, os.strerror(errno.EIO))

    queue = WriterLock(workspace.tree, 1.0, QUEUE)
    if waits:
        queue.__enter__()
    with watched(broken):
        two = put(again(workspace), task.with_(title="Two"))[0]
    queue.__exit__()
    assert seen[3:5] == ["write again", "fsync"]
    assert again(workspace).load().tasks[task.id] == two
    assert len(list(workspace.changes())) == 2


def test_files_that_cannot_be_written_follow_later(workspace: Workspace) -> None:
    task = put(workspace, make_task("One"))[0]
    writer = again(workspace)

    def broken(operation: str, path: str) -> None:
        if operation == "fsync" and path.startswith("tasks"):
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    with watched(broken):
        two = put(writer, task.with_(title="Two"))[0]
    assert writer.notices
    assert again(workspace).load().tasks[task.id] == two
    put(again(workspace), make_fact())
    assert b"Two" in (workspace.root / "tasks" / f"{task.id}.json").read_bytes()


def test_on_a_slow_disk_files_are_brought_to_it_side_by_side(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(primitives, "SLOW", 0.0)
    together = threading.Barrier(3, timeout=5)
    real = primitives.sync

    def sync(descriptor: int, path: str | Path) -> None:
        if str(path).startswith("tasks/"):
            together.wait()
        real(descriptor, path)

    monkeypatch.setattr(primitives, "sync", sync)
    tasks = put(workspace, *[make_task(str(number)) for number in range(3)])
    assert len(again(workspace).load().tasks) == len(tasks)

    def refused(operation: str, path: str) -> None:
        if operation == "fsync" and path.startswith("facts/"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with watched(refused):
        put(workspace, make_fact("a"), make_fact("b"))
    assert len(workspace.notices) == 1
    assert len(again(workspace).load().facts) == 2


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize(("at", "recorded"), [("write", False), ("fsync", True)])
def test_whoever_interrupts_a_command_that_has_happened_is_told(
    workspace: Workspace, at: str, recorded: bool, alone: bool
) -> None:
    put(workspace, make_task("One"))
    writer, fact = again(workspace), make_fact()
    stopped: list[str] = []

    def stop(operation: str, path: str) -> None:
        if operation == at and path.startswith("changes") and not stopped:
            stopped.append(path)
            raise KeyboardInterrupt

    with watched(stop), pytest.raises(KeyboardInterrupt) as caught, writer.transaction(PERSON, "x", alone=alone) as tx:
        tx.put(fact)
    assert ("is recorded" in str(caught.value)) == recorded
    assert (fact.id in again(workspace).load().facts) == recorded
    put(workspace, make_fact("last"))
    assert (file_of(workspace, "facts", fact.id) is not None) == recorded
