"""The log is rewritten while a writer has appended and not looked again: it is told what became of its change."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.store.conftest import PERSON, make_fact, make_task, put
from tests.store.test_faults import committed_only
from tests.store.test_settling import LATER, again, files_alone, somebody_waits
from workbench.errors import StorageError, WorkbenchError
from workbench.store import Workspace, locate
from workbench.store.primitives import watched
from workbench.store.purge import purge_record, purge_secret
from workbench.store.repair import repair

SECRET = "Tr0ub4dor-and-3-and-something-longer"


@pytest.fixture
def workspace(folder: Path) -> Iterator[Workspace]:
    """Here a secret stands, a record to be purged, a line that holds no change, and what a killed writer left."""
    workspace = Workspace.init(locate(folder))
    put(workspace, make_task(f"Title {SECRET}"), make_fact("taken.away", "v" * 200, id="takenaway0"))
    log = next((workspace.root / "changes").iterdir())
    log.write_bytes(b"<<<<<<< mine\n" + log.read_bytes())
    committed_only(workspace, make_fact("left"))
    yield workspace
    files_alone(workspace)


def shorter(workspace: Workspace) -> None:
    purge_record(workspace, "facts", "takenaway0", PERSON)


def masked(workspace: Workspace) -> None:
    purge_secret(workspace, SECRET, PERSON)


def mended(workspace: Workspace) -> None:
    repair(workspace, PERSON)


def by_hand(workspace: Workspace) -> None:
    log = next((workspace.root / "changes").iterdir())
    log.write_bytes(log.read_bytes().replace(b"<<<<<<< mine\n", b"<<<<<<< mine, and more of it\n"))


def month_over(workspace: Workspace) -> None:
    masked(workspace)
    with again(workspace).transaction(PERSON, "next month", now=LATER) as tx:
        tx.put(make_fact("next.month"))


Moves = Callable[[Workspace], None]
MOVES = pytest.mark.parametrize("moves", [shorter, masked, mended, by_hand, month_over])


def meanwhile(workspace: Workspace, act: Callable[[], None], refuses: bool = False) -> Callable[[str, str], None]:
    """Something happens when the next writer is about to bring its line to disk, which the disk may refuse then."""
    state: dict[str, Any] = {}

    def hook(operation: str, path: str) -> None:
        if operation == "fsync" and path.startswith("changes") and not state:
            state["done"] = True
            act()
            if refuses:
                raise OSError(errno.EIO, os.strerror(errno.EIO))

    return hook


@MOVES
@pytest.mark.parametrize("refuses", [False, True])
def test_a_line_that_moved_is_a_change_that_happened(workspace: Workspace, moves: Moves, refuses: bool) -> None:
    fact = make_fact("mine")
    with watched(meanwhile(workspace, lambda: moves(again(workspace)), refuses)):
        put(again(workspace), fact)
    log = b"".join(path.read_bytes() for path in sorted((workspace.root / "changes").iterdir()))
    assert log.count(f'"id":"{fact.id}"'.encode()) == 2, "once as a record, once in its document"
    assert {damage.message for damage in workspace.damaged_changes()} <= {"the line holds no change"}
    assert len(workspace.damaged_changes()) == (0 if moves is mended else 1)
    assert again(workspace).load().facts[fact.id] == fact


@MOVES
def test_a_line_that_moved_while_another_takes_its_files(workspace: Workspace, moves: Moves) -> None:
    fact = make_fact("mine")

    def act() -> None:
        with somebody_waits(workspace):
            put(again(workspace), make_fact("another"))
        moves(again(workspace))

    with watched(meanwhile(workspace, act)):
        put(again(workspace), fact)
    assert again(workspace).load().facts[fact.id] == fact
    assert not again(workspace).complete()


def cut_off(workspace: Workspace) -> None:
    """The disk refuses the writer before, for good, and it takes its line back with what came after it."""
    log = next((workspace.root / "changes").iterdir())
    log.write_bytes(log.read_bytes()[: log.read_bytes().rindex(b"\n", 0, -1) + 1])


def removed(workspace: Workspace) -> None:
    workspace.forget()
    put(Workspace.init(workspace.location), make_task("In the new one"))


def removed_only(workspace: Workspace) -> None:
    workspace.forget()
    Workspace.init(workspace.location)


@pytest.mark.parametrize(
    ("happens", "said"), [(cut_off, "the disk refused"), (removed, "was removed"), (removed_only, "was removed")]
)
def test_a_line_that_is_gone_is_a_change_that_did_not_happen(workspace: Workspace, happens: Moves, said: str) -> None:
    fact = make_fact("mine")
    with watched(meanwhile(workspace, lambda: happens(again(workspace)))), pytest.raises(StorageError) as caught:
        put(again(workspace), fact)
    assert said in caught.value.message
    assert caught.value.hint
    assert fact.id not in again(workspace).load().facts
    again(workspace).complete()


def test_what_is_left_of_nothing_is_said_as_well(workspace: Workspace) -> None:
    with (
        watched(meanwhile(workspace, lambda: again(workspace).forget() and None)),
        pytest.raises(WorkbenchError),
    ):
        put(again(workspace), make_fact("mine"))
    Workspace.init(workspace.location)


def test_what_was_appended_while_a_purge_waited_for_its_locks_is_purged_whole(workspace: Workspace) -> None:
    fact = make_fact("mine", f"this too: {SECRET}")
    task = next(iter(workspace.load().tasks.values()))
    done = False

    def hook(operation: str, path: str) -> None:
        nonlocal done
        if operation == "note" and path == ".local/applied" and not done:
            done = True  # the purge has put everything into the files, and does not hold the writer lock yet
            put(again(workspace), task.with_(title=f"Later {SECRET}"), fact)

    with watched(hook):
        purge_secret(workspace, SECRET, PERSON)
    assert done
    records = again(workspace).load()
    assert records.tasks[task.id].title.startswith("Later ")
    assert SECRET not in str(records.facts[fact.id].value)
    assert not [path for path in workspace.root.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
