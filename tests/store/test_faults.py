"""A crash or an error at any operation leaves the workspace old or new, and what was acknowledged stays."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.store.conftest import AT, PERSON, make_fact, make_task, put
from workbench.domain.evidence import Evidence
from workbench.domain.ids import new_id
from workbench.domain.task import Task
from workbench.errors import StorageError
from workbench.store import Records, Workspace, find_existing, locate
from workbench.store.primitives import Hook, watched

# One process, one fork a case: each child dies at its k-th operation as if it were killed.
KILLER = """
import json, os, sys
from pathlib import Path
from workbench.domain.evidence import Evidence
from workbench.domain.fact import Fact
from workbench.store import Workspace, find_existing
from workbench.store.primitives import watched

def command(folder):
    workspace = Workspace.open(find_existing(folder))
    with workspace.transaction("agent:x", "three records") as tx:
        task = next(iter(tx.records.tasks.values()))
        fact = next(iter(tx.records.facts.values()))
        tx.put(task.with_(title="New title, longer than the old one"))
        tx.put(fact.with_(value="new"))
        tx.put(Fact(id="newfact000", key="Brand New", value=1))
        tx.append_evidence(Evidence(id="ev9dence00", kind="claim", task=task.id, at="2026-03-01T10:00:00Z"))
        tx.put_blob(b"kept")

def run(folder, k):
    seen = 0
    def hook(operation, path):
        nonlocal seen
        seen += 1
        if seen == k:
            os._exit(9)
    with watched(hook):
        command(folder)
    os._exit(0)

for k, folder in enumerate(map(Path, sys.argv[1:]), 1):
    child = os.fork()
    if child == 0:
        run(folder, k)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def state(records: Records) -> dict[str, Any]:
    return {
        "titles": sorted(task.title for task in records.tasks.values()),
        "facts": sorted((fact.key, str(fact.value)) for fact in records.facts.values()),
        "evidence": [line.id for line in records.evidence],
        "damaged": records.damaged,
    }


NEW = {
    "titles": ["New title, longer than the old one"],
    "facts": [("Brand New", "1"), ("shelf.width", "new")],
    "evidence": ["ev9dence00"],
    "damaged": (),
}


def refusal(command: Callable[[], None], hook: Hook) -> StorageError | None:
    try:
        with watched(hook):
            command()
    except StorageError as error:
        return error
    return None


def prepared(folder: Path) -> Workspace:
    folder.mkdir()
    workspace = Workspace.init(locate(folder))
    put(workspace, make_task("Old"), make_fact("shelf.width", "old"))
    return workspace


def test_killed_at_every_operation(tmp_path: Path) -> None:
    folders = [tmp_path / str(n) for n in range(60)]
    for folder in folders:
        prepared(folder)
    run = subprocess.run(
        [sys.executable, "-c", KILLER, *map(str, folders)], capture_output=True, text=True, check=True, timeout=60
    )
    codes = [int(line) for line in run.stdout.split()]
    assert codes[0] == 9
    assert codes[-1] == 0, "more operations than cases"
    seen_old = seen_new = 0
    for folder, code in zip(folders, codes, strict=True):
        workspace = Workspace.open(find_existing(folder))
        read_only = Workspace.open(find_existing(folder), read_only=True)
        after = state(read_only.load())
        assert after == NEW or (code != 0 and after["titles"] == ["Old"] and len(after["facts"]) == 1), (code, after)
        seen_old += after != NEW
        seen_new += after == NEW and code != 0
        pending = read_only.load().revision
        put(workspace, make_fact("after.the.crash", "fine"))
        again = state(Workspace.open(find_existing(folder)).load())
        again["facts"] = [fact for fact in again["facts"] if fact[0] != "after.the.crash"]
        assert again == after
        assert pending
        leftovers = [p for p in workspace.root.rglob("*.tmp") if p.parent.name not in (".local", "blobs", "written")]
        assert leftovers == []
        assert len({change.id for change in workspace.changes()}) == (3 if after == NEW else 2)
    assert seen_old > 5
    assert seen_new > 5


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_refused_at_every_operation(tmp_path: Path, number: int) -> None:
    case = 0
    while True:
        case += 1
        workspace = prepared(tmp_path / str(case))
        task = next(iter(workspace.load().tasks.values()))
        count = 0

        def hook(operation: str, path: str, case: int = case) -> None:
            nonlocal count
            count += 1
            if count == case:
                raise OSError(number, os.strerror(number))

        def command(workspace: Workspace = workspace, task: Task = task) -> None:
            with workspace.transaction(PERSON, "three") as tx:
                tx.put(task.with_(title="New"))
                tx.put(make_fact("Brand New", 1))
                tx.append_evidence(Evidence(id=new_id(), kind="claim", task=task.id, at=AT))

        error = refusal(command, hook)
        acknowledged = error is None
        assert error is None or (error.hint and error.details["errno"] == number)
        records = Workspace.open(workspace.location, read_only=True).load()
        changed = records.tasks[task.id].title == "New"
        assert changed == acknowledged
        assert (len(records.facts), len(records.evidence)) == ((2, 1) if changed else (1, 0))
        assert records.damaged == ()
        put(workspace, records.tasks[task.id].with_(slug="works-again"))
        final = Workspace.open(workspace.location).load()
        assert final.tasks[task.id].title == records.tasks[task.id].title
        assert (len(final.facts), len(final.evidence)) == (len(records.facts), len(records.evidence))
        if count < case:
            break
    assert case > 20


def committed_only(workspace: Workspace, *records: Any) -> None:
    """Commit a change and die before any record file is written."""

    class Died(BaseException):
        pass

    def hook(operation: str, path: str) -> None:
        if operation == "create" and not path.startswith("."):
            raise Died

    def command() -> None:
        with watched(hook), workspace.transaction("agent:x", "cut short") as tx:
            for record in records:
                tx.put(record)

    with pytest.raises(Died):
        command()


def test_a_committed_change_is_shown_and_then_completed(workspace: Workspace) -> None:
    task = put(workspace, make_task("Old"))[0]
    fact = make_fact()
    path = workspace.root / "tasks" / f"{task.id}.json"
    old = path.read_bytes()
    committed_only(workspace, task.with_(title="New"), fact)
    reader = Workspace.open(workspace.location, read_only=True)
    assert reader.load().tasks[task.id].title == "New"
    assert fact.id in reader.load().facts
    assert path.read_bytes() == old
    assert workspace.complete()
    assert json.loads(path.read_bytes())["title"] == "New"
    assert not workspace.complete()
    assert reader.load().tasks[task.id].version == 2


def test_completion_does_not_need_the_marker_and_keeps_hand_edits(workspace: Workspace) -> None:
    one, two = put(workspace, make_task("One"), make_task("Two"))
    committed_only(workspace, one.with_(title="One new"), two.with_(title="Two new"))
    path = workspace.root / "tasks" / f"{two.id}.json"
    path.write_text(path.read_text().replace("Two", "By hand"))
    (workspace.root / ".local" / "applied").unlink()
    put(workspace, make_fact())
    titles = {task.id: task.title for task in Workspace.open(workspace.location).load().tasks.values()}
    assert titles == {one.id: "One new", two.id: "Two new"}
    contested = Workspace.open(workspace.location).load().tasks[two.id].contests
    assert [claim.value for claim in contested["title"]] == ["Two new", "By hand"]


def test_a_workspace_without_its_local_folder_is_complete(workspace: Workspace) -> None:
    task = put(workspace, make_task())[0]
    put(workspace, task.with_(title="Two"))
    shutil.rmtree(workspace.root / ".local")
    again = Workspace.open(workspace.location)
    assert again.load().tasks[task.id].title == "Two"
    put(again, again.load().tasks[task.id].with_(title="Three"))
    assert [c.command for c in again.changes()] == ["put"] * 3


@pytest.mark.parametrize("torn", [b'{"id":"abc', b"\x00" * 40, b'{"id":"x","at":'])
def test_a_torn_last_line_was_never_acknowledged(workspace: Workspace, torn: bytes) -> None:
    task = put(workspace, make_task())[0]
    journal = next((workspace.root / "changes").iterdir())
    whole = journal.read_bytes()
    journal.write_bytes(whole + torn)
    reader = Workspace.open(workspace.location, read_only=True)
    assert reader.load().damaged == ()
    assert len(list(reader.changes())) == 1
    assert reader.damaged_changes() == ()
    assert journal.read_bytes() == whole + torn
    put(workspace, task.with_(title="Next"))
    assert journal.read_bytes().startswith(whole)
    assert torn not in journal.read_bytes()
    assert len(list(workspace.changes())) == 2


def test_a_bad_line_inside_the_journal_stays_and_is_reported(workspace: Workspace) -> None:
    task = put(workspace, make_task())[0]
    journal = next((workspace.root / "changes").iterdir())
    journal.write_bytes(journal.read_bytes() + b"<<<<<<< mine\n")
    put(workspace, task.with_(title="Next"))
    assert b"<<<<<<< mine\n" in journal.read_bytes()
    assert [(d.path, d.line) for d in workspace.damaged_changes()] == [(f"changes/{journal.name}", 2)]
    assert len(list(workspace.changes())) == 2


def test_a_journal_from_elsewhere_writes_nowhere_else(workspace: Workspace, tmp_path: Path) -> None:
    put(workspace, make_task())
    journal = next((workspace.root / "changes").iterdir())
    line = json.loads(journal.read_bytes())
    for number, path in enumerate(("../../evil.json", "tasks/../../evil", "workspace.toml", "/tmp/evil", ".local/x")):
        row = line | {"id": f"evil{number}", "records": [line["records"][0] | {"path": path, "before": None}]}
        with journal.open("ab") as file:
            file.write(json.dumps(row).encode() + b"\n")
    before = {p for p in tmp_path.rglob("*") if p.suffix != ".tmp"}
    assert Workspace.open(workspace.location).load().damaged == ()
    put(workspace, make_fact("a"))
    assert not [p for p in tmp_path.rglob("*") if "evil" in p.name]
    assert not (workspace.root / "workspace.toml").exists()
    assert before <= set(tmp_path.rglob("*"))


def test_an_append_cut_short_is_finished_once(workspace: Workspace) -> None:
    task = put(workspace, make_task())[0]
    line = Evidence(id=new_id(), kind="claim", task=task.id, text="seen", at=AT)
    with workspace.transaction(PERSON, "evidence") as tx:
        tx.append_evidence(line)
    path = next((workspace.root / "evidence").iterdir())
    whole = path.read_bytes()
    for kept in (0, 10, len(whole) - 1):
        path.write_bytes(whole[:kept])
        (workspace.root / ".local" / "applied").unlink(missing_ok=True)
        reader = Workspace.open(workspace.location, read_only=True)
        assert [e.text for e in reader.load().evidence] == ["seen"]
        assert reader.load().damaged == ()
        assert workspace.complete()
        assert path.read_bytes() == whole


def test_an_append_to_a_file_without_final_newline_glues_nothing(workspace: Workspace) -> None:
    task = put(workspace, make_task())[0]
    for _ in range(2):
        with workspace.transaction(PERSON, "evidence") as tx:
            tx.append_evidence(Evidence(id=new_id(), kind="claim", task=task.id, at=AT))
        path = next((workspace.root / "evidence").iterdir())
        path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert len(workspace.load().evidence) == 2
    assert workspace.load().damaged == ()
