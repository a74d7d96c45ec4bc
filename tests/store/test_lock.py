"""One writer at a time: waiting ends with the holder's name, a dead holder's lock is free, nothing is lost."""

from __future__ import annotations

import _thread
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest

from tests.store.conftest import PERSON, make_fact, make_task, put
from workbench.errors import LockTimeoutError
from workbench.store import Workspace, aside, lock, primitives
from workbench.store.lock import LOCK, Holder, WriterLock, read_holder
from workbench.store.primitives import Tree
from workbench.store.settle import LOCK as SETTLING
from workbench.store.settle import QUEUE

COUNT = """
import os, sys
from pathlib import Path
from workbench.store import Workspace, find_existing

children = []
for _ in range(4):
    child = os.fork()
    if child == 0:
        workspace = Workspace.open(find_existing(Path(sys.argv[1])))
        for _ in range(25):
            with workspace.transaction("agent:x", "add one", timeout=60) as tx:
                fact = tx.get("facts", sys.argv[2])
                tx.put(fact.with_(value=fact.value + 1), expect=fact.version)
        os._exit(0)
    children.append(child)
sys.exit(sum(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))
"""

PAIRS = """
import sys
from pathlib import Path
from workbench.store import Workspace, find_existing

workspace = Workspace.open(find_existing(Path(sys.argv[1])))
for number in range(1, 60):
    with workspace.transaction("agent:x", "both", timeout=60) as tx:
        for name in sys.argv[2:]:
            tx.put(tx.get("facts", name).with_(value=number))
"""


def test_a_timeout_names_the_holder(workspace: Workspace) -> None:
    with WriterLock(Tree(workspace.root)):
        with pytest.raises(LockTimeoutError) as caught, workspace.transaction(PERSON, "x", timeout=0.02):
            pass
        assert caught.value.details["pid"] == os.getpid()
        assert str(os.getpid()) in caught.value.message
        assert caught.value.hint
        assert workspace.load().damaged == ()
    put(workspace, make_task())


@pytest.mark.parametrize("relative", [LOCK, SETTLING, QUEUE])
def test_whoever_takes_a_lock_is_the_one_that_is_named(workspace: Workspace, relative: str) -> None:
    path = workspace.root / relative
    path.write_bytes(msgspec.json.encode(Holder(1, "somebody before", "2026-03-01T10:00:00Z")))
    held = WriterLock(Tree(workspace.root), 1.0, relative)
    assert held.at_once()
    with pytest.raises(LockTimeoutError) as caught:
        WriterLock(Tree(workspace.root), 0.02, relative).__enter__()
    assert caught.value.details["pid"] == os.getpid()
    path.write_bytes(msgspec.json.encode(Holder(1, "somebody before", "2026-03-01T10:00:00Z")))
    with pytest.raises(LockTimeoutError) as caught:
        WriterLock(Tree(workspace.root), 0.02, relative).__enter__()
    assert "pid" not in caught.value.details, "rather nobody than one who does not hold it"
    held.__exit__()


def test_where_the_system_does_not_tell_who_holds_a_lock_a_dead_one_is_not_named(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "_LOCKS", workspace.root / "nothing")
    ended = subprocess.Popen(["true"])
    ended.wait()
    with WriterLock(Tree(workspace.root)):
        for pid, named in ((os.getpid(), True), (ended.pid, False)):
            (workspace.root / LOCK).write_bytes(msgspec.json.encode(Holder(pid, "x", "2026-03-01T10:00:00Z")))
            with pytest.raises(LockTimeoutError) as caught:
                WriterLock(Tree(workspace.root), 0.02).__enter__()
            assert ("pid" in caught.value.details) is named


def test_a_dead_holder_holds_nothing(workspace: Workspace) -> None:
    code = (
        "import os, sys; from pathlib import Path; from workbench.store import *;"
        "from workbench.store.lock import WriterLock; from workbench.store.primitives import Tree;"
        "WriterLock(Tree(Path(sys.argv[1]))).__enter__(); os._exit(9)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(workspace.root)], check=False)
    assert done.returncode == 9
    holder = read_holder(workspace.root / LOCK)
    assert holder is not None
    assert holder.pid != os.getpid()
    put(workspace, make_task())


@pytest.mark.parametrize("content", [b"", b"\x00\x00", b"not json", b'{"pid": "x"}'])
def test_whatever_stands_in_the_lock_file_does_not_matter(workspace: Workspace, content: bytes) -> None:
    path = workspace.root / LOCK
    path.write_bytes(content)
    put(workspace, make_task())
    with WriterLock(Tree(workspace.root)):
        path.write_bytes(content)
        with pytest.raises(LockTimeoutError), workspace.transaction(PERSON, "x", timeout=0):
            pass


def test_children_do_not_inherit_it(workspace: Workspace) -> None:
    with WriterLock(Tree(workspace.root)):
        child = subprocess.Popen(["sleep", "30"], close_fds=False)
    try:
        with workspace.transaction(PERSON, "x", timeout=0) as tx:
            tx.put(make_task())
    finally:
        child.kill()
        child.wait()


def test_a_lock_on_a_removed_file_guards_nothing(workspace: Workspace) -> None:
    with WriterLock(Tree(workspace.root)):
        (workspace.root / LOCK).unlink()
    put(workspace, make_task())
    assert (workspace.root / LOCK).exists()


def test_four_processes_lose_no_update(workspace: Workspace) -> None:
    fact = put(workspace, make_fact("counter", 0))[0]
    done = subprocess.run([sys.executable, "-c", COUNT, str(workspace.root.parent), fact.id], timeout=120, check=False)
    assert done.returncode == 0
    after = workspace.load().facts[fact.id]
    assert (after.value, after.version) == (100, 101)
    changes = list(workspace.changes())
    assert len(changes) == 101
    assert [c.after for c in changes] == [*(c.id for c in changes[1:]), None]


def test_a_reader_never_sees_half_a_command(workspace: Workspace) -> None:
    pair = put(workspace, make_fact("one", 0), make_fact("two", 0))
    names = [fact.id for fact in pair]
    writer = subprocess.Popen([sys.executable, "-c", PAIRS, str(workspace.root.parent), *names])
    seen = set()
    while writer.poll() is None:
        facts = workspace.load().facts
        values = {facts[name].value for name in names}
        assert len(values) == 1
        seen |= values
    assert writer.returncode == 0
    assert workspace.load().facts[names[0]].value == 59
    assert seen


def test_a_transaction_inside_a_transaction_is_a_mistake(workspace: Workspace) -> None:
    with workspace.transaction(PERSON, "outer"), pytest.raises(RuntimeError), workspace.transaction(PERSON, "inner"):
        pass


def test_waiting_in_vain_leaves_one_thread_and_one_file_behind(workspace: Workspace) -> None:
    put(workspace, make_task())
    with WriterLock(Tree(workspace.root)):
        counts = []
        for _ in range(5):
            with pytest.raises(LockTimeoutError), workspace.transaction(PERSON, "x", timeout=0.01):
                pass
            counts.append(len(list(Path("/dev/fd").iterdir())))
        assert len(set(counts)) == 1
    put(workspace, make_task())


def test_whoever_takes_over_a_wait_gets_the_lock(workspace: Workspace) -> None:
    held = WriterLock(Tree(workspace.root))
    held.__enter__()
    with pytest.raises(LockTimeoutError):
        WriterLock(Tree(workspace.root), 0.01).__enter__()
    release = threading.Timer(0.05, held.__exit__)
    release.start()
    with workspace.transaction(PERSON, "x", timeout=60) as tx:
        tx.put(make_task())
        with pytest.raises(LockTimeoutError):
            WriterLock(Tree(workspace.root), 0.01).__enter__()
    release.join()
    assert len(workspace.load().tasks) == 1
    put(workspace, make_task())


@pytest.fixture
def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system gives no more threads."""

    def refused(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_thread, "start_new_thread", refused)
    monkeypatch.setattr(aside, "_idle", [])


@pytest.mark.usefixtures("no_threads")
def test_without_threads_the_lock_is_waited_for_all_the_same(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = len(list(Path("/dev/fd").iterdir()))
    held = WriterLock(Tree(workspace.root))
    with held, pytest.raises(LockTimeoutError):
        WriterLock(Tree(workspace.root), 0.001).__enter__()
    held.__enter__()
    monkeypatch.setattr(time, "sleep", lambda _: held.__exit__())
    with WriterLock(Tree(workspace.root), 60):
        pass
    assert len(list(Path("/dev/fd").iterdir())) == before


@pytest.mark.usefixtures("no_threads")
def test_without_threads_files_are_brought_to_a_slow_disk_one_after_the_other(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(primitives, "SLOW", 0.0)
    before = len(list(Path("/dev/fd").iterdir()))
    put(workspace, *[make_task(str(number)) for number in range(5)])
    assert not workspace.notices
    assert len(list(Path("/dev/fd").iterdir())) == before
    assert len(list((workspace.root / "tasks").iterdir())) == 5


def test_the_command_in_the_lock_file_is_masked(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "ghp_" + "a1B2" * 10
    monkeypatch.setattr(sys, "argv", ["/somewhere/workbench", "fact", secret])
    put(workspace, make_task())
    for path in Path(workspace.root).rglob("*"):
        assert path.is_dir() or secret.encode() not in path.read_bytes()
