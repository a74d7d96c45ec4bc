"""The gates: only one module writes, nothing leaves its root, nothing runs untrusted."""

from __future__ import annotations

import ast
import errno
import os
import stat
from pathlib import Path

import pytest

import workbench.store
from workbench.errors import DamagedError, NotFoundError, RefusedError, StorageError
from workbench.store.primitives import Tree, watched, write_private
from workbench.store.private import open_private, parts_of, read_beneath
from workbench.store.trust import TrustStore, fingerprint

WRITING = {
    "write",
    "pwrite",
    "writev",
    "rename",
    "replace",
    "renames",
    "unlink",
    "remove",
    "rmdir",
    "mkdir",
    "makedirs",
    "truncate",
    "ftruncate",
    "fsync",
    "link",
    "symlink",
    "symlink_to",
    "hardlink_to",
    "chmod",
    "fchmod",
    "utime",
    "touch",
    "write_text",
    "write_bytes",
    "rmtree",
    "copyfile",
    "move",
}
STORE = Path(workbench.store.__file__).parent
# Methods of the same names that write nothing: of strings, lists, and of the primitives themselves.
HARMLESS = {"replace", "remove"}


def calls(path: Path) -> list[tuple[str, str, int]]:
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found.append((ast.unparse(node.func.value), node.func.attr, node.lineno))
    return found


@pytest.mark.parametrize("path", sorted(STORE.glob("*.py")), ids=lambda path: path.name)
def test_only_the_primitives_write(path: Path) -> None:
    if path.name == "primitives.py":
        return
    for owner, name, line in calls(path):
        if name in WRITING and (name not in HARMLESS or owner in ("os", "shutil")):
            # The gate itself may set the mode of what the primitives open through it.
            assert (path.name, name) == ("private.py", "fchmod"), f"{path.name}:{line} {owner}.{name}"
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open":
            assert [ast.literal_eval(a) for a in node.args[1:]] == ["rb"], f"{path.name}:{node.lineno}"


@pytest.mark.parametrize(
    "bad", ["../x", "a/../../x", "/etc/passwd", "", ".", "a\x00b", "..", "x/..", "~/../..", "/proc/self/environ"]
)
def test_paths_that_climb_are_refused(tmp_path: Path, bad: str) -> None:
    with pytest.raises(RefusedError):
        parts_of(bad)
    with pytest.raises(RefusedError):
        read_beneath(tmp_path, bad)
    with pytest.raises(RefusedError):
        Tree(tmp_path).replace(bad, b"x")
    assert list(tmp_path.iterdir()) == []


def test_links_are_followed_nowhere(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "secret").write_text("s")
    (root / "out").symlink_to(outside)
    (root / "file").symlink_to(outside / "secret")
    (root / "loop").symlink_to("loop")
    tree = Tree(root)
    for path in ("out/secret", "file", "loop", "loop/x"):
        with pytest.raises(RefusedError):
            read_beneath(root, path)
    for path in ("out/secret", "out/new", "loop/x"):
        for act in (tree.remove, lambda p: tree.replace(p, b"x"), lambda p: tree.append(p, b"x\n")):
            with pytest.raises(RefusedError):
                act(path)
    for path in ("file", "loop"):
        with pytest.raises((RefusedError, StorageError)):
            tree.append(path, b"x\n")
    tree.replace("file", b"mine")  # the link is replaced, not what it points to
    assert (outside / "secret").read_text() == "s"
    assert sorted(path.name for path in outside.iterdir()) == ["secret"]
    os.mkfifo(root / "fifo")
    for path in ("fifo", "out"):
        with pytest.raises(RefusedError):
            read_beneath(root, path)
    assert read_beneath(root, "missing/file") is None


def test_open_private_sets_the_mode_of_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("x")
    path.chmod(0o666)
    os.close(open_private(str(path), os.O_WRONLY))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(RefusedError):
        open_private(str(tmp_path / "fifo"), os.O_RDWR)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file"
    write_private(path, b"old")

    def full(operation: str, _: str) -> None:
        if operation == "write":
            raise OSError(errno.ENOSPC, "No space left on device")

    with watched(full), pytest.raises(StorageError) as caught:
        write_private(path, b"new")
    assert "space" in caught.value.hint
    assert str(path.name) in caught.value.message
    assert path.read_bytes() == b"old"
    assert [p.name for p in path.parent.iterdir()] == ["file"]
    write_private(path, b"new")
    assert path.read_bytes() == b"new"


def test_trust_is_bound_to_everything_that_was_shown(tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    folder.mkdir()
    other = tmp_path / "other"
    other.mkdir()
    base = fingerprint(("npm", "test"), {"A": "1"}, folder, {"run.sh": "h1"})
    changed = [
        fingerprint(("npm", "test", "x"), {"A": "1"}, folder, {"run.sh": "h1"}),
        fingerprint(("npm test",), {"A": "1"}, folder, {"run.sh": "h1"}),
        fingerprint(("npm", "test"), {"A": "2"}, folder, {"run.sh": "h1"}),
        fingerprint(("npm", "test"), {"A": "1"}, other, {"run.sh": "h1"}),
        fingerprint(("npm", "test"), {"A": "1"}, folder, {"run.sh": "h2"}),
    ]
    assert len({base, *changed}) == 6
    (tmp_path / "link").symlink_to(folder)
    assert fingerprint(("npm", "test"), {"A": "1"}, tmp_path / "link", {"run.sh": "h1"}) == base
    store = TrustStore(tmp_path / "data" / "workbench")
    assert not store.is_trusted(base)
    store.grant("npm test in repo", base, "2026-03-01T10:00:00Z")
    store.grant("again", base)
    assert [grant.description for grant in store.list()] == ["again"]
    assert store.is_trusted(base)
    assert not any(store.is_trusted(mark) for mark in changed)
    assert stat.S_IMODE((tmp_path / "data" / "workbench" / "trust.json").stat().st_mode) == 0o600
    with pytest.raises(NotFoundError):
        store.revoke("zz")
    assert store.revoke(base[:8]).fingerprint == base
    assert not store.is_trusted(base)


def test_grants_that_cannot_be_read_allow_nothing_and_survive(tmp_path: Path) -> None:
    path = tmp_path / "trust.json"
    path.write_bytes(b"[{")
    store = TrustStore(tmp_path)
    assert not store.is_trusted("f" * 64)
    with pytest.raises(DamagedError):
        store.grant("x", "f" * 64)
    assert path.read_bytes() == b"[{"
