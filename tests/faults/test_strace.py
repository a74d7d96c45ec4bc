"""What the system sees: only the primitives write beneath the workspace, and read commands open nothing for writing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults import commands

CALLS = (
    "openat,open,creat,rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,truncate,ftruncate,"
    "link,linkat,symlink,symlinkat,chmod,fchmod,fchmodat"
)
WRITES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND")
LINE = re.compile(r"(?:\d+ +)?(\w+)\((.*)\) += (-?\d+)")
NAMED = re.compile(r'(?:AT_FDCWD|\d+)(?:<([^>]*)>)?, "([^"]*)"|"(/[^"]*)"|^(\d+)<([^>]*)>')

ANNOUNCE = """
import sys
from workbench.store.primitives import watched
from workbench.cli.run import main
told = open(sys.argv[1], "w")
with watched(lambda operation, path: print(path, file=told, flush=True)):
    code = main(sys.argv[2:])
sys.exit(code)
"""


@pytest.fixture(scope="module")
def strace() -> str:
    program = shutil.which("strace")
    if program is None:
        pytest.skip("strace is not installed: what the system sees is not checked")
    tried = subprocess.run([program, "-f", "-o", os.devnull, "true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"strace may not be used here: {tried.stderr.strip()[:100]}")
    return program


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    commands.prepare(place)
    return place


def written(strace: str, tmp_path: Path, folder: Path, *argv: str) -> set[str]:
    """What a call writes to beneath the workspace, relative to it: by opening, renaming, removing, making."""
    log = tmp_path / "strace"
    done = subprocess.run(
        [strace, "-f", "-y", "-qq", "-s", "4096", "-e", f"trace={CALLS}", "-o", str(log), *argv],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    root = f"{folder / '.workbench'}/"
    found = set()
    for line in log.read_text("utf-8", "replace").splitlines():
        match = LINE.match(line)
        if match is None or match[3].startswith("-"):
            continue
        call, arguments = match[1], match[2]
        if call in ("open", "openat", "creat") and not WRITES.search(arguments):
            continue
        for place, name, whole, _, descriptor in NAMED.findall(arguments):
            path = descriptor or whole or (name if name.startswith("/") else f"{place}/{name}")
            if path.startswith(root):
                found.add(path.removeprefix(root))
    return found


READING = [
    ("status",),
    ("task", "list"),
    ("task", "show", "@"),
    ("fact", "list", "--all"),
    ("fact", "history", "shelf.width"),
    ("attempt", "list"),
    ("artifact", "list"),
    ("handoff", "list"),
    ("log",),
    ("doctor",),
    ("search", "shelf"),
    ("note", "list"),
    ("state", "show", "@"),
    ("history", "show", "@"),
    ("compile", "@", "--to", "codex"),
]


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_read_commands_open_nothing_for_writing(
    strace: str, tmp_path: Path, folder: Path, words: tuple[str, ...]
) -> None:
    assert written(strace, tmp_path, folder, sys.executable, "-m", "workbench", *words) == set()


@pytest.mark.parametrize(
    "words",
    [
        ("fact", "propose", "shelf.depth", "30 cm"),
        ("task", "new", "Another", "--objective", "x"),
        ("task", "take", "@"),
        ("handoff", "prepare", "@", "--to", "codex"),
        ("gc",),
        ("doctor", "--fix"),
    ],
    ids=" ".join,
)
def test_nothing_but_the_primitives_writes_beneath_the_workspace(
    strace: str, tmp_path: Path, folder: Path, words: tuple[str, ...]
) -> None:
    told = tmp_path / "told"
    seen = written(strace, tmp_path, folder, sys.executable, "-c", ANNOUNCE, str(told), *words)
    announced = {path.removeprefix(f"{folder / '.workbench'}/") for path in told.read_text().splitlines()}
    names = {path.rpartition("/")[2] for path in announced}
    for path in seen:
        # A temporary file is announced under the name that it will have; an index is a cache of its own.
        name = re.sub(r"^\.(.*?)(?:\.[0-9a-f]{8})?\.tmp$", r"\1", path.rpartition("/")[2])
        assert path in announced or name in names or name.endswith(".lock") or name == "lock" or "search." in name, path
    assert seen or words == ("gc",)
