"""A process that writes again and again keeps what the log was ahead of the files by: it is never taken in by it."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.store.conftest import PERSON, make_fact, put
from tests.store.test_faults import committed_only
from tests.store.test_settling import LATER, again, files_alone, somebody_waits
from workbench.errors import NotFoundError, StorageError
from workbench.store import Workspace, locate
from workbench.store.aside import aside
from workbench.store.primitives import watched
from workbench.store.purge import purge_secret

SECRET = "Tr0ub4dor-and-3-and-something-longer"
NAMES = ("0ne0000000", "tw00000000", "three00000")


def change(workspace: Workspace, number: int) -> None:
    """One of three facts gets another value, whoever wrote it last."""
    with workspace.transaction(PERSON, "change") as tx:
        fact = tx.get("facts", NAMES[number % 3])
        tx.put(fact.with_(value=f"{number} {SECRET}", statement=SECRET))


def by_another(workspace: Workspace, number: int) -> None:
    change(again(workspace), number)


def while_somebody_waits(workspace: Workspace, number: int) -> None:
    with somebody_waits(workspace):
        change(again(workspace), number)
        change(workspace, number + 1)


def killed(workspace: Workspace, number: int) -> None:
    committed_only(again(workspace), make_fact(f"left.{number}"))


def completed(workspace: Workspace, number: int) -> None:
    again(workspace).complete()


def refused(workspace: Workspace, number: int) -> None:
    def broken(operation: str, path: str) -> None:
        if operation == "fsync" and path.startswith("changes"):
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    with watched(broken), pytest.raises(StorageError):
        change(workspace if number % 2 else again(workspace), number)


def purged(workspace: Workspace, number: int) -> None:
    with suppress(NotFoundError):
        purge_secret(again(workspace), SECRET, PERSON)


def torn(workspace: Workspace, number: int) -> None:
    with max((workspace.root / "changes").iterdir()).open("ab") as log:
        log.write(b'{"actor":"human:dev","af')


def next_month(workspace: Workspace, number: int) -> None:
    with somebody_waits(workspace), again(workspace).transaction(PERSON, "later", now=LATER) as tx:
        tx.put(make_fact(f"later.{number}"))


ACTS = (change, by_another, while_somebody_waits, killed, completed, refused, purged, torn, next_month)


@settings(max_examples=25, deadline=None)
@given(acts=st.lists(st.sampled_from(ACTS), min_size=2, max_size=8))
def test_whatever_became_of_the_log_the_next_write_builds_on_it(
    acts: list[Callable[[Workspace, int], None]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace.init(locate(Path(folder)))
        put(workspace, *[make_fact(name, id=name) for name in NAMES])
        for number, act in enumerate(acts):
            act(workspace, number)
            with workspace.transaction(PERSON, "look") as tx:
                seen = {name: tx.get("facts", name) for name in again(workspace).load().facts}
            assert seen == again(workspace).load().facts
        change(workspace, 0)
        change(again(workspace), 0)
        files_alone(workspace)
        versions = [fact.version for fact in again(workspace).load().facts.values()]
        written = [record for made in workspace.changes() for record in made.records if record.kind == "facts"]
        assert sum(versions) == len(written)


def test_a_child_has_threads_of_its_own(workspace: Workspace) -> None:
    aside(lambda: None)
    child = os.fork()
    if child == 0:
        put(again(workspace), *[make_fact(f"key.{number}") for number in range(3)])
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(workspace.load().facts) == 3
