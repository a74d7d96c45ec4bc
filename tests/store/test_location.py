"""Where a workspace lies: worktrees, bare repositories, plain folders, and what must not lead us astray."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

from tests.faults import unprivileged
from tests.store.conftest import Git, make_fact, put
from workbench.errors import NotFoundError, StorageError
from workbench.store import Workspace, find_existing, locate
from workbench.store.git import Head, head
from workbench.store.primitives import watched
from workbench.store.worktrees import worktrees


@pytest.fixture
def linked(repository: Path, git: Git) -> Path:
    path = repository.parent / "side"
    git(repository, "worktree", "add", "-q", "-b", "side", str(path))
    return path


def test_every_worktree_shares_the_main_checkouts_workspace(repository: Path, linked: Path) -> None:
    deep = linked / "deep" / "er"
    deep.mkdir(parents=True)
    here, there = locate(repository), locate(deep)
    assert here.root == there.root == repository / ".workbench"
    assert (here.worktree, here.worktree_name) == (repository, None)
    assert (there.worktree, there.worktree_name) == (linked, "side")
    assert there.base == repository
    assert worktrees(there) == [repository, linked]


def test_git_status_is_the_same_after_a_days_work_and_forget(repository: Path, linked: Path, git: Git) -> None:
    (repository / "new.txt").write_text("not tracked\n")
    exclude = repository / ".git" / "info" / "exclude"
    before = [git(path, "status", "--porcelain=v2", "--branch", "--ignored") for path in (repository, linked)]
    plain = [git(path, "status", "--porcelain=v2", "--branch") for path in (repository, linked)]
    excluded = exclude.read_bytes()
    workspace = Workspace.init(locate(linked))
    Workspace.init(locate(repository))
    put(workspace, make_fact())
    workspace.local.current_task = "x"
    assert [git(path, "status", "--porcelain=v2", "--branch") for path in (repository, linked)] == plain
    assert exclude.read_bytes().count(b"/.workbench/") == 1
    assert set(workspace.forget_paths()) == {workspace.root, exclude}
    workspace.forget()
    assert [git(path, "status", "--porcelain=v2", "--branch", "--ignored") for path in (repository, linked)] == before
    assert exclude.read_bytes() == excluded
    assert not workspace.root.exists()


@pytest.mark.parametrize("content", [b"", b"*.log\n", b"*.log", None])
def test_the_exclude_file_comes_back_byte_for_byte(repository: Path, content: bytes | None, git: Git) -> None:
    exclude = repository / ".git" / "info" / "exclude"
    exclude.unlink()
    if content is None:
        exclude.parent.rmdir()
    else:
        exclude.write_bytes(content)
        exclude.chmod(0o644)
    workspace = Workspace.init(locate(repository))
    assert git(repository, "status", "--porcelain") == ""
    assert exclude.stat().st_mode & 0o777 == 0o644
    workspace.forget()
    assert (exclude.read_bytes() if exclude.exists() else b"") == (content or b"")


def test_an_exclude_file_that_is_a_link_is_left_alone(repository: Path, tmp_path: Path, git: Git) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine\n")
    exclude = repository / ".git" / "info" / "exclude"
    exclude.unlink()
    exclude.symlink_to(precious)
    workspace = Workspace.init(locate(repository))
    assert precious.read_text() == "mine\n"
    workspace.forget()
    assert precious.read_text() == "mine\n"


def test_a_bare_repository_holds_it_inside(tmp_path: Path, repository: Path, git: Git) -> None:
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(repository), str(bare))
    side = tmp_path / "of-bare"
    git(bare, "worktree", "add", "-q", str(side))
    assert locate(bare).root == locate(side).root == bare / ".workbench"
    workspace = Workspace.init(locate(side))
    put(workspace, make_fact())
    assert git(side, "status", "--porcelain") == ""
    assert (bare / "info" / "exclude").read_bytes().count(b"/.workbench/") == 0


def test_a_submodule_has_a_workspace_of_its_own(repository: Path, tmp_path: Path, git: Git) -> None:
    outer = tmp_path / "outer"
    git(tmp_path, "clone", "-q", str(repository), str(outer))
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repository), "inner")
    location = locate(outer / "inner")
    assert location.root == outer / "inner" / ".workbench"
    assert location.common_dir == outer / ".git" / "modules" / "inner"
    Workspace.init(location)
    assert git(outer / "inner", "status", "--porcelain") == ""


def test_a_separate_git_folder_is_read_and_never_written(tmp_path: Path, repository: Path, git: Git) -> None:
    clone, elsewhere = tmp_path / "clone", tmp_path / "elsewhere"
    git(tmp_path, "clone", "-q", "--separate-git-dir", str(elsewhere), str(repository), str(clone))
    excluded = (elsewhere / "info" / "exclude").read_bytes()
    workspace = Workspace.init(locate(clone))
    assert workspace.root == clone / ".workbench"
    assert (elsewhere / "info" / "exclude").read_bytes() == excluded
    assert git(clone, "status", "--porcelain") == ""
    assert head(locate(clone)).branch == "main"


def test_a_prepared_git_file_leads_nowhere(repository: Path, linked: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    trap.mkdir()
    shutil.copy(linked / ".git", trap / ".git")
    location = locate(trap)
    assert location.root == trap / ".workbench"
    assert (location.git_dir, location.common_dir) == (None, None)
    assert head(location) == Head()


def test_a_commondir_in_a_main_git_folder_is_not_believed(repository: Path, tmp_path: Path, git: Git) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    (other / ".git" / "commondir").write_text(str(repository / ".git"))
    assert locate(other).common_dir == other / ".git"
    assert locate(other).root == other / ".workbench"


def test_outside_git_the_nearest_folder_above_counts(tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    deep = outer / "a" / "b"
    deep.mkdir(parents=True)
    assert locate(deep).root == deep / ".workbench"
    Workspace.init(locate(outer))
    assert locate(deep).root == outer / ".workbench"
    (outer / "a" / ".workbench").symlink_to(outer / ".workbench")
    assert not locate(deep).exists or locate(deep).root == outer / ".workbench"


def test_the_home_folder_only_when_asked(home: Path) -> None:
    below = home / "notes"
    below.mkdir()
    Workspace.init(locate(home, home))
    assert locate(below).root == below / ".workbench"
    with pytest.raises(NotFoundError):
        locate(home)
    with pytest.raises(NotFoundError):
        find_existing(below)
    assert locate(below, home).root == home / ".workbench"


def test_a_named_workspace(repository: Path, linked: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for named in (repository, linked, repository / ".git" / ".."):
        assert locate(outside, named).root == repository / ".workbench"
    assert locate(linked, repository).worktree == linked
    Workspace.init(locate(repository))
    assert locate(outside, repository / ".workbench").root == repository / ".workbench"
    inner = repository / "sample"
    inner.mkdir()
    assert locate(outside, inner).root == repository / ".workbench"
    (inner / ".workbench").mkdir()
    assert locate(outside, inner).root == inner / ".workbench"
    with pytest.raises(NotFoundError):
        locate(outside, tmp_path / "missing")


def test_head_from_gits_files(repository: Path, linked: Path, git: Git) -> None:
    commit = git(repository, "rev-parse", "HEAD").strip()
    assert head(locate(repository)) == Head("main", commit)
    assert head(locate(linked)) == Head("side", commit)
    git(repository, "pack-refs", "--all")
    assert head(locate(repository)) == Head("main", commit)
    git(repository, "checkout", "-q", "--detach")
    assert head(locate(repository)) == Head(None, commit)
    git(repository, "checkout", "-q", "--orphan", "fresh")
    assert head(locate(repository)) == Head("fresh", None)
    (repository / ".git" / "HEAD").write_text("ref: ../../outside\n")
    assert head(locate(repository)).commit is None


def test_a_workspace_that_cannot_be_made_whole_leaves_nothing(repository: Path, git: Git) -> None:
    """Each writing call fails in turn, as on a full disk."""
    before = sorted(repository.rglob("*"))
    exclude = repository / ".git" / "info" / "exclude"
    excluded, k, made = exclude.read_bytes(), 0, False
    while not made:
        k += 1
        left = k

        def hook(operation: str, path: str) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise OSError(errno.ENOSPC, "No space left on device")

        try:
            with watched(hook):
                Workspace.init(locate(repository))
            made = left > 0
        except StorageError:
            pass
        if not (repository / ".workbench").exists():
            assert sorted(repository.rglob("*")) == before
            assert exclude.read_bytes() == excluded
        elif not made:
            assert git(repository, "status", "--porcelain") == ""  # the last sync alone failed
            shutil.rmtree(repository / ".workbench")
            exclude.write_bytes(excluded)
    assert k > 10
    assert git(repository, "status", "--porcelain") == ""


def test_an_exclude_file_that_is_not_ours_to_write_is_done_without(repository: Path, git: Git) -> None:
    if why := unprivileged.why_not(repository):
        pytest.skip(why)
    info = repository / ".git" / "info"
    excluded = (info / "exclude").read_bytes()
    (info / "exclude").chmod(0o400)
    info.chmod(0o500)
    try:
        made, noted, looked, gone = unprivileged.run(
            repository, ("init",), ("note", "write", "k", "1"), ("doctor",), ("forget", "--yes")
        )
    finally:
        info.chmod(0o700)
    assert (made.code, noted.code, looked.code) == (0, 0, 0), (made.err, looked.out)
    assert (info / "exclude").read_bytes() == excluded
    assert gone.code == 0, gone.err
    assert not (repository / ".workbench").exists()
    assert git(repository, "status", "--porcelain") == ""
