"""What may not be read is not empty: it is named with what to do, all else goes on, and nothing is lost by it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults import unprivileged
from tests.faults.unprivileged import Done
from workbench.services import artifacts, facts, notes, tasks
from workbench.services.context import open_context
from workbench.services.workspaces import init

PLACES = (
    "tasks", "facts/port", "facts/port/RECORD", "notes/k/RECORD", "aliases", "artifacts/RECORD", "evidence", "blobs",
    "blobs/RECORD",
)  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a workspace in which every kind of record stands."""
    folder = tmp_path_factory.mktemp("unreadable")
    if why := unprivileged.why_not(folder):
        pytest.skip(why)
    (folder / "out.txt").write_text("made\n")
    env = {"HOME": str(folder.parent), "WORKBENCH_HUMAN_SHELL": "1"}
    init(folder, env=env)
    ctx = open_context(folder, env=env)
    task = tasks.new(ctx, {"title": "Filter", "variables": {"port": {"type": "integer"}}})
    facts.propose(ctx, "port", 1)
    facts.alias(ctx, "p", "port")
    notes.write(ctx, "k", 1)
    tasks.take(ctx, task)
    artifacts.add(ctx, task, "out", "out.txt")
    (ctx.workspace.root / "evidence").mkdir(exist_ok=True)
    return folder


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy of it, of which everything may be read again in the end."""
    shutil.copytree(made, tmp_path / "project")
    yield tmp_path / "project"
    for path in [tmp_path, *tmp_path.rglob("*")]:
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o700)


def closed(folder: Path, name: str) -> Path:
    """One place of the workspace, closed to everybody."""
    root = folder / ".workbench"
    above = root / name.replace("/RECORD", "")
    path = sorted(above.iterdir())[0] if name.endswith("/RECORD") else above
    path.chmod(0)
    return path


def digests(folder: Path) -> dict[str, str]:
    found = {}
    for path in sorted((folder / ".workbench").rglob("*")):
        if path.is_file() and path.relative_to(folder / ".workbench").parts[0] not in ("changes", ".local"):
            found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def answer(done: Done) -> dict[str, Any]:
    assert "Traceback" not in done.err
    assert "internal" not in done.err
    document: dict[str, Any] = json.loads(done.out or done.err)
    return document


@pytest.mark.parametrize("name", PLACES)
def test_what_may_not_be_read_is_named_and_nothing_is_lost(place: Path, name: str) -> None:
    before = digests(place)
    path = closed(place, name)
    relative = path.relative_to(place / ".workbench").as_posix()
    other = (
        ("fact", "propose", "a.new.key", "7") if name.startswith(("notes", "tasks")) else ("note", "write", "z", "7")
    )
    looked, listed, wrote, gc, purged, mended = unprivileged.run(
        place, ("doctor", "--json"), ("status", "--json"), other, ("gc", "--json"),
        ("purge", "--secret", "out of everything", "--yes", "--json"), ("doctor", "--fix", "--json"),
    )  # fmt: skip
    bad = [row for row in answer(looked)["checks"] if not row["ok"]]
    assert looked.code == 6
    assert relative in {row.get("path") for row in bad}
    assert not any("is gone" in row["detail"] for row in bad)
    if not name.startswith("blobs"):
        damaged = answer(listed)["damaged"]
        assert (listed.code, [row["path"] for row in damaged]) == (6, [relative])
        assert "give yourself the right" in damaged[0]["message"]
    # A record of another kind can be written; what would pass over the unread one is refused.
    assert wrote.code == 0
    for refused in (gc, purged):
        assert refused.code in (1, 6)
        assert relative.split("/")[0] in answer(refused)["error"]["message"]
    assert mended.code == 0, mended.out
    assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600)
    after = digests(place)
    assert {key: after.get(key) for key in before} == before


@pytest.mark.parametrize("name", ["facts", "facts/port", "aliases/p.json"])
def test_a_key_that_cannot_be_read_gets_no_second_first_value(place: Path, name: str) -> None:
    closed(place, name)
    (refused,) = unprivileged.run(place, ("fact", "propose", "port", "2", "--json"))
    assert refused.code in (1, 6)
    assert answer(refused)["error"]["code"] in ("damaged", "storage")


@pytest.mark.parametrize("name", ["tasks", "tasks/RECORD"])
def test_a_task_that_cannot_be_read_is_not_missing(place: Path, name: str) -> None:
    path = closed(place, name)
    task = path.stem if path.suffix else "filter"
    calls = (("task", "show", "@"), ("task", "show", task), ("state", "update", "@", "--pending", "x.py"))
    for done in unprivileged.run(place, *calls):
        assert "Traceback" not in done.err
        assert done.code == 6


@pytest.mark.parametrize("name", [".local/applied", ".local/written", "changes", ".local/lock"])
def test_a_log_that_cannot_be_read_is_named_and_opened_again(place: Path, name: str) -> None:
    path = closed(place, name)
    *before, mended, wrote = unprivileged.run(
        place,
        ("status",),
        ("fact", "list"),
        ("note", "write", "z", "1"),
        ("doctor", "--fix"),
        ("note", "write", "z", "2"),
    )
    for done in before:
        assert "Traceback" not in done.err
        assert done.code == 0 or str(path) in done.err
    assert mended.code == 0, mended.out
    assert wrote.code == 0


def test_a_view_that_is_read_again_sees_it_too(place: Path, tmp_path: Path) -> None:
    """A listing that was read before may not be looked at any more."""
    script = tmp_path / "again.py"
    script.write_text(
        "import os, sys, time\n"
        "from pathlib import Path\n"
        "from tests.faults.unprivileged import drop\n"
        "from workbench.services.context import open_context\n"
        "drop()\n"
        "ctx = open_context(Path(sys.argv[1]), env=os.environ)\n"
        "ctx.workspace.load(); time.sleep(0.1); ctx.workspace.load(); ctx.workspace.load()\n"
        "for name in ('facts/port', 'notes'):\n"
        "    os.chmod(ctx.workspace.root / name, 0o600)\n"
        "print(sorted(d.path for d in ctx.workspace.load().damaged))\n"
    )
    done = subprocess.run(
        [sys.executable, str(script), str(place)],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(unprivileged.root())},
    )  # fmt: skip
    assert done.stderr == ""
    assert "'notes" in done.stdout
    assert "'facts/port" in done.stdout
