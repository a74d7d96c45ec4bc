"""Few files are open whatever a change touches; and where not even those can be opened, nothing untrue is said."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.store.conftest import PERSON, make_fact, make_task, put
from tests.store.test_settling import again, file_of, somebody_waits
from workbench.errors import StorageError
from workbench.store import Workspace
from workbench.store.lock import WriterLock
from workbench.store.primitives import watched
from workbench.store.settle import QUEUE

MANY = 150
"""More facts than files may be open then."""
FREE = 90


@contextmanager
def at_most(free: int) -> Iterator[None]:
    """So many more files may be opened."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(int(path.name) for path in Path("/dev/fd").iterdir())
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + free + 1, before[1]))
    taken = []
    try:
        with suppress(OSError):
            while True:
                taken.append(os.open(os.devnull, os.O_RDONLY))
        for _ in range(free):
            os.close(taken.pop())
        yield
    finally:
        for descriptor in taken:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def opened_now() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def test_one_change_of_many_keys_gets_into_its_files(workspace: Workspace) -> None:
    put(workspace, make_task())
    before = opened_now()
    with at_most(FREE):
        made = put(workspace, *[make_fact(f"key.{number}") for number in range(MANY)])
        with workspace.transaction(PERSON, "all of them") as tx:
            for fact in made:
                tx.put(tx.get("facts", fact.id).with_(value="new"))
        assert not workspace.notices
    assert all(b'"new"' in (workspace.root / "facts" / fact.key / f"{fact.id}.json").read_bytes() for fact in made)
    assert opened_now() == before


def test_many_changes_of_one_key_each_get_into_their_files(workspace: Workspace) -> None:
    with somebody_waits(workspace):
        made = [put(workspace, make_fact(f"key.{number}"))[0] for number in range(MANY)]
    with at_most(FREE):
        assert again(workspace).complete()
    assert all(file_of(workspace, "facts", fact.id) for fact in made)


def test_what_could_not_be_completed_is_told_and_not_called_complete(workspace: Workspace) -> None:
    with somebody_waits(workspace):
        put(workspace, make_fact())
    later = again(workspace)

    def broken(operation: str, path: str) -> None:
        if path.startswith("facts/"):
            raise OSError(5, "broken")

    with watched(broken):
        assert not later.complete()
    assert "not in their files yet" in later.notices[0]
    assert later.complete()
    assert not later.complete()


@pytest.mark.parametrize("waits", [False, True], ids=["alone", "another waits"])
@pytest.mark.parametrize("count", [1, 5])
def test_acknowledged_is_on_disk_however_few_files_may_be_open(workspace: Workspace, count: int, waits: bool) -> None:
    put(workspace, make_task())
    outcomes = set()
    seen: list[tuple[str, str]] = []
    for free in range(2, 26):
        facts = [make_fact(f"key.{free}.{number}") for number in range(count)]
        writer = again(workspace)
        seen.clear()
        queue = WriterLock(workspace.tree, 1.0, QUEUE)
        if waits:
            queue.__enter__()
        error = None
        try:
            with watched(lambda operation, path: seen.append((operation, path))), at_most(free):
                put(writer, *facts)
        except StorageError as problem:
            error = problem
        queue.__exit__()
        there = facts[-1].id in again(workspace).load().facts
        if error is None:
            assert there
            assert any(operation == "fsync" and path.startswith("changes/") for operation, path in seen)
        else:
            assert there == ("may be recorded" in error.message), (free, error.message)
        outcomes.add(error is None)
    assert outcomes == {True, False}
    put(workspace, make_fact("last"))
    assert not again(workspace).complete()
    assert again(workspace).load().damaged == ()


@pytest.mark.parametrize("waits", [False, True], ids=["alone", "another waits"])
def test_a_line_that_cannot_be_taken_back_is_not_said_to_be_gone(workspace: Workspace, waits: bool) -> None:
    put(workspace, make_task())
    writer, fact = again(workspace), make_fact()

    def broken(operation: str, path: str) -> None:
        if path.startswith("changes") and operation in ("fsync", "truncate"):
            raise OSError(5, "broken")

    queue = WriterLock(workspace.tree, 1.0, QUEUE)
    if waits:
        queue.__enter__()
    with watched(broken), pytest.raises(StorageError) as caught:
        put(writer, fact)
    queue.__exit__()
    assert "may be recorded" in caught.value.message
    assert caught.value.details["change"] in {change.id for change in workspace.changes()}
    assert "workbench log" in caught.value.hint


@pytest.mark.parametrize("kind", ["link", "folder", "fifo"])
@pytest.mark.parametrize("name", ["settle.lock", "queue.lock", "applied", "written/k"])
def test_whatever_stands_where_we_note_something_stops_nobody(workspace: Workspace, name: str, kind: str) -> None:
    fact = put(workspace, make_fact())[0]
    path = workspace.root / ".local" / name
    if name == "written/k":
        path = workspace.root / ".local" / "written" / f"{fact.id[:2]}.json"
    path.unlink(missing_ok=True)
    _put_there(path, kind)
    assert again(workspace).load().facts[fact.id] == fact
    writer = again(workspace)
    for number in range(3):
        fact = put(writer, fact.with_(value=number))[0]
    assert again(workspace).load().facts[fact.id] == fact
    assert not (workspace.root.parent / "elsewhere").exists()
    if name.endswith(".lock"):
        if kind == "folder":
            path.rmdir()
        else:
            path.unlink()
    put(again(workspace), make_fact("last"))
    assert not again(workspace).complete()
    assert again(workspace).edited_outside() == []
    assert b'"value": 2' in next(workspace.root.glob(f"facts/*/{fact.id}.json")).read_bytes()


def _put_there(path: Path, kind: str) -> None:
    if kind == "link":
        path.symlink_to(path.parents[2] / "elsewhere")
    elif kind == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)


def test_a_log_of_the_same_size_is_not_the_one_that_was_settled(workspace: Workspace, tmp_path: Path) -> None:
    one, other = make_fact("one"), make_fact("two")
    put(workspace, make_task())
    log = next((workspace.root / "changes").iterdir())
    begin = log.read_bytes()
    applied = (workspace.root / ".local" / "applied").read_bytes()
    put(workspace, other)
    theirs = log.read_bytes()
    log.write_bytes(begin)
    (workspace.root / ".local" / "applied").write_bytes(applied)
    path = file_of(workspace, "facts", other.id)
    assert path is not None
    path.unlink()
    put(again(workspace), one)
    ours = log.read_bytes()
    assert len(ours) == len(theirs)
    assert not again(workspace).complete()
    log.write_bytes(theirs)
    assert other.id in again(workspace).load().facts
    put(again(workspace), make_task("Next"))
    assert file_of(workspace, "facts", other.id) is not None
