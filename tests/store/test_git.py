"""What git is asked, and that nothing of a repository's configuration runs with it."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from tests.store.conftest import Git
from workbench.errors import RefusedError, StorageError
from workbench.store.git import changed_files, file_hash, status_command


def test_changed_files(repository: Path, git: Git) -> None:
    assert changed_files(repository) == ()
    (repository / "a.txt").write_text("changed\n")
    (repository / "sub").mkdir()
    (repository / "sub" / "new file\n.txt").write_text("x")
    (repository / "ü.txt").write_text("x")
    (repository / ".git" / "info" / "exclude").write_text("*.log\n")
    (repository / "b.log").write_text("x")
    assert changed_files(repository) == ("a.txt", "sub/new file\n.txt", "ü.txt")
    assert "core.fsmonitor=false" in status_command()


def test_a_hostile_configuration_runs_nothing_and_nothing_is_written(repository: Path, git: Git) -> None:
    trace = repository.parent / "trace"
    program = repository.parent / "evil"
    program.write_text(f"#!/bin/sh\necho ran >> {trace}\ncat\n")
    program.chmod(0o755)
    (repository / ".gitattributes").write_text("*.txt filter=evil diff=evil\n*.md filter=odd.name\n")
    (repository / "b.md").write_text("b\n")
    for key in (
        "core.fsmonitor",
        "filter.evil.clean",
        "filter.evil.process",
        "filter.odd.name.clean",
        "diff.external",
        "diff.evil.textconv",
        "diff.evil.command",
    ):
        git(repository, "config", key, str(program))
    git(repository, "config", "filter.evil.required", "true")
    hook = repository / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(program.read_text())
    hook.chmod(0o755)
    (repository / "a.txt").write_text("b\n")
    os.utime(repository / "a.txt", (1, 1))
    index = (repository / ".git" / "index").read_bytes()
    assert changed_files(repository) == (".gitattributes", "a.txt", "b.md")
    assert not trace.exists()
    assert (repository / ".git" / "index").read_bytes() == index


def test_no_repository_is_an_error_with_a_way_out(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        changed_files(tmp_path)


def test_file_hash_stays_beneath_the_folder(tmp_path: Path) -> None:
    base = tmp_path / "base"
    (base / "real").mkdir(parents=True)
    (base / "real" / "x").write_bytes(b"x")
    (base / "inner").symlink_to("real")
    (tmp_path / "secret").write_bytes(b"s")
    (base / "out").symlink_to(tmp_path)
    (base / "loop").symlink_to("loop")
    os.mkfifo(base / "fifo")
    wanted = hashlib.sha256(b"x").hexdigest()
    assert file_hash(base, "real/x") == file_hash(base, "inner/x") == wanted
    assert file_hash(base, "real/none") is None
    assert file_hash(base, "real") is None
    assert file_hash(base, "fifo") is None
    for bad in ("../secret", "out/secret", "/etc/passwd", "a/../../secret", "", ".", "x\x00y"):
        with pytest.raises(RefusedError):
            file_hash(base, bad)
