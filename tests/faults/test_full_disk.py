"""A full disk: a clear message, the workspace as it was, and the same command works when there is space again."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.faults import commands
from workbench.cli.run import main
from workbench.store import Workspace, find_existing
from workbench.store.primitives import watched

if TYPE_CHECKING:
    from tests.cli.conftest import Run

WRITING = [
    ("init",),
    ("task", "new", "Another", "--objective", "x"),
    ("task", "take", "@"),
    ("task", "revise", "@", "--objective", "y"),
    ("fact", "propose", "shelf.depth", "30 cm"),
    ("fact", "edit", commands.FACT, "--value", "7", "--yes"),
    ("handoff", "prepare", "@", "--to", "codex"),
    ("purge", "--secret", "80 cm 80 cm", "--yes"),
    ("merge", "../other", "--yes"),
    ("gc",),
    ("doctor", "--fix"),
    ("undo",),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "template"
    commands.prepare(place)
    shutil.copytree(place, tmp_path / "other")
    commands.five_records(commands.opened(tmp_path / "other"))
    return place


@pytest.mark.parametrize("words", WRITING, ids=" ".join)
def test_no_space_at_any_call_of_any_command(
    folder: Path,
    tmp_path: Path,
    words: tuple[str, ...],
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """``ENOSPC`` from the k-th writing call on, as a disk has it: everything after it fails, too."""
    k = 0
    while True:
        k += 1
        place = tmp_path / str(k)
        shutil.copytree(folder, place)
        monkeypatch.chdir(place)
        before = commands.said(place)
        calls = 0

        def full(operation: str, path: str, k: int = k) -> None:
            nonlocal calls
            if operation in ("unlink", "truncate", "chmod", "rmdir"):
                return  # a full disk lets go of things
            calls += 1
            if calls >= k:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        capfd.readouterr()
        with watched(full):
            code = main([*words, "--json"], os.environ)
        out, err = capfd.readouterr()
        assert "Traceback" not in out + err
        if code != 0:
            problem = json.loads(err)["error"]
            assert (code, problem["code"]) == (1, "storage"), problem
            assert "No space left" in problem["message"]
            assert "make space" in problem["hint"]
        now = commands.said(place)
        assert now.damaged == ()
        if words[0] != "purge" and code != 0:
            assert now.records == before.records, k
        again = main([*words, "--json"], os.environ)
        assert again == 0 or (code == 0 and calls < k) or words[0] in ("task", "undo", "purge"), capfd.readouterr().err
        assert Workspace.open(find_existing(place), read_only=True).load().damaged == ()
        if calls < k:
            break
        shutil.rmtree(place)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root may mount a small disk: a truly full one is not tried")
    words = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"no small disk can be mounted here: {done.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False, capture_output=True)


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 4096)


def test_a_disk_filled_to_the_brim(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch, run: Run, record_property: Callable[[str, object], None]
) -> None:
    place = small_disk / "project"
    commands.prepare(place)
    monkeypatch.chdir(place)
    before = commands.said(place)
    filler = small_disk / "filler"
    fill(filler)
    refused = 0
    for words in (("fact", "propose", "a", "b" * 9000), ("task", "new", "T", "--objective", "x" * 9000), ("init",)):
        result = run(*words, "--json")
        assert "Traceback" not in result.err
        if result.code != 0:
            refused += 1
            assert (result.code, result.error["code"]) == (1, "storage")
            assert "No space left" in result.error["message"]
    assert refused >= 2
    assert commands.said(place) == before
    assert run("fact", "list").code == 0
    filler.unlink()
    assert run("fact", "propose", "a", "b").code == 0
    assert run("doctor").code == 0
    assert commands.leftovers(place) == []
    record_property("told", f"a disk of 1 MiB filled to the brim: {refused} commands refused, then all worked")
