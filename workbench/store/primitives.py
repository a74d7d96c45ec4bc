"""The only module that writes: every change of a file or folder goes through one of these few operations.

Each announces itself to a hook first, so that a test can fail or kill the k-th of them. What the
operating system refuses becomes a :class:`StorageError` that names the path and says what to do.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from workbench.errors import RefusedError
from workbench.store.private import FILE_MODE, FOLDER_MODE, folder_beneath, open_private, parts_of
from workbench.store.refusals import explained as explained

Hook = Callable[[str, str], None]
"""Called with the operation (``write``, ``fsync``, ``rename`` ...) and the path, before it happens."""

TEMPORARY = ".tmp"
"""Ending of temporary files; they begin with a dot, and no reader looks at them."""

_hooks: list[Hook] = []


@contextmanager
def watched(hook: Hook) -> Iterator[None]:
    """Have ``hook`` called before every operation (for tests; what it raises goes the way of a real error)."""
    _hooks.append(hook)
    try:
        yield
    finally:
        _hooks.remove(hook)


def _step(operation: str, path: str | Path) -> None:
    for hook in _hooks:
        hook(operation, str(path))


def sync(descriptor: int, path: str | Path) -> None:
    """Bring a file or folder to the disk itself (macOS needs a stronger call for that)."""
    _step("fsync", path)
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None:
        with contextlib.suppress(OSError):  # not every file system knows it
            fcntl.fcntl(descriptor, full)
            return
    os.fsync(descriptor)


def _write(descriptor: int, data: bytes, path: str | Path) -> None:
    _step("write", path)
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _replace(folder: int, name: str, data: bytes, shown: str | Path, *, durable: bool, mode: int | None = None) -> None:
    temporary = f".{name[:80]}.{secrets.token_hex(4)}{TEMPORARY}"
    _step("create", shown)
    descriptor = open_private(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, folder)
    try:
        try:
            _write(descriptor, data, shown)
            if mode is not None:
                os.fchmod(descriptor, mode)
            if durable:
                sync(descriptor, shown)
        finally:
            os.close(descriptor)
        _step("rename", shown)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise


class Tree:
    """A folder beneath which everything is written, by descriptor and never through a link."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def make_root(self) -> None:
        """Make the folder itself, owner-only; what stands there already is kept."""
        with explained(self.root):
            _step("mkdir", self.root)
            with contextlib.suppress(FileExistsError):
                self.root.mkdir(FOLDER_MODE)
            state = self.root.lstat()
            if not stat.S_ISDIR(state.st_mode):
                raise RefusedError(f"{self.root} is a link or no folder", "move it away and try again")
            if stat.S_IMODE(state.st_mode) != FOLDER_MODE:
                self.root.chmod(FOLDER_MODE)

    def make_folder(self, relative: str) -> None:
        """Make a folder and those above it, owner-only, durably."""
        with explained(self.root / relative):
            made = ""
            for part in parts_of(relative):
                with folder_beneath(self.root, made) as above:
                    self._make_one(above, part, f"{made}/{part}")
                made = f"{made}/{part}" if made else part

    def _make_one(self, above: int, name: str, shown: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.stat(name, dir_fd=above, follow_symlinks=False)
            return
        _step("mkdir", shown)
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, FOLDER_MODE, dir_fd=above)
        os.chmod(name, FOLDER_MODE, dir_fd=above)
        sync(above, shown)

    @contextmanager
    def _folder(self, relative: str) -> Iterator[tuple[int, str]]:
        """The folder of a file (made where it is missing) and the file's name in it."""
        *above, name = parts_of(relative)
        place = "/".join(above)
        with explained(self.root / relative), contextlib.ExitStack() as stack:
            try:
                folder = stack.enter_context(folder_beneath(self.root, place))
            except FileNotFoundError:
                if not place or not self.root.is_dir():
                    raise
                self.make_folder(place)
                folder = stack.enter_context(folder_beneath(self.root, place))
            yield folder, name

    def replace(self, relative: str, data: bytes, *, durable: bool = True, sync_folder: bool = True) -> None:
        """Put ``data`` in a file's place at once: temporary file, fsync, rename, fsync of the folder.

        Args:
            relative: Path beneath the root.
            data: All of the new content.
            durable: False for what may be lost with the machine's power.
            sync_folder: False where the caller brings the folder to disk itself.
        """
        with self._folder(relative) as (folder, name):
            _replace(folder, name, data, relative, durable=durable)
            if durable and sync_folder:
                sync(folder, relative)

    def sync_folder(self, relative: str) -> None:
        """Bring the entries of a folder to disk."""
        with explained(self.root / relative), folder_beneath(self.root, relative) as folder:
            sync(folder, relative)

    def append(self, relative: str, data: bytes) -> int:
        """Append whole lines in one write and bring them to disk; a missing newline is put before them.

        Where it fails, the file is cut back to what it was before the error goes on its way.

        Returns:
            The size of the file afterwards.
        """
        with self._folder(relative) as (folder, name):
            _step("open", relative)
            created = False
            try:
                descriptor = open_private(name, os.O_RDWR | os.O_APPEND, folder)
            except FileNotFoundError:
                descriptor = open_private(name, os.O_RDWR | os.O_APPEND | os.O_CREAT, folder)
                created = True
            try:
                size = os.fstat(descriptor).st_size
                if size and os.pread(descriptor, 1, size - 1) != b"\n":
                    data = b"\n" + data
                try:
                    _write(descriptor, data, relative)
                    sync(descriptor, relative)
                    if created:
                        sync(folder, relative)
                except OSError:
                    with contextlib.suppress(OSError):
                        os.ftruncate(descriptor, size)
                        os.fsync(descriptor)
                    raise
                return size + len(data)
            finally:
                os.close(descriptor)

    def cut(self, relative: str, size: int) -> None:
        """Cut a torn tail off a file, durably."""
        with self._folder(relative) as (folder, name):
            _step("truncate", relative)
            descriptor = open_private(name, os.O_RDWR, folder)
            try:
                os.ftruncate(descriptor, size)
                sync(descriptor, relative)
            finally:
                os.close(descriptor)

    def remove(self, relative: str, *, sync_folder: bool = True) -> None:
        """Remove a file; one that is not there is no error."""
        with self._folder(relative) as (folder, name):
            _step("unlink", relative)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
            if sync_folder:
                sync(folder, relative)

    def remove_folder(self, relative: str) -> None:
        """Remove a folder that is empty; one that is not stays."""
        with self._folder(relative) as (folder, name):
            _step("rmdir", relative)
            with contextlib.suppress(OSError):
                os.rmdir(name, dir_fd=folder)

    def set_aside(self, relative: str, target: str) -> None:
        """Give whatever stands at a path another place beneath the root; a link is moved, never followed."""
        with self._folder(relative) as (folder, name), self._folder(target) as (into, as_name):
            _step("rename", relative)
            os.rename(name, as_name, src_dir_fd=folder, dst_dir_fd=into)
            sync(into, target)
            sync(folder, relative)

    def tighten(self, relative: str) -> None:
        """Make a file or folder owner-only again; a link stays as it is."""
        with self._folder(relative) as (folder, name):
            mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode) or stat.S_ISREG(mode):
                _step("chmod", relative)
                os.chmod(name, FOLDER_MODE if stat.S_ISDIR(mode) else FILE_MODE, dir_fd=folder)

    def sweep(self, relative: str) -> None:
        """Remove temporary files that a killed writer left in a folder (the caller holds the lock)."""
        with explained(self.root / relative):
            try:
                with folder_beneath(self.root, relative) as folder:
                    for name in os.listdir(folder):  # noqa: PTH208
                        if name.startswith(".") and name.endswith(TEMPORARY):
                            _step("unlink", f"{relative}/{name}")
                            os.unlink(name, dir_fd=folder)
            except FileNotFoundError:
                return

    def lock_file(self, relative: str) -> int:
        """A descriptor of a lock file, made where it is missing; the content is the holder's."""
        with self._folder(relative) as (folder, name):
            return open_private(name, os.O_RDWR | os.O_CREAT, folder)

    def remove_all(self) -> None:
        """Remove the whole folder; links in it are removed, never followed."""
        import shutil  # loaded only where all is removed: start-up counts

        with explained(self.root):
            _step("rmtree", self.root)
            shutil.rmtree(self.root)


def write_holder(descriptor: int, content: bytes) -> None:
    """Write the holder's name into a lock file that is held; it need not survive anything."""
    with explained("lock"):
        _step("holder", "lock")
        os.pwrite(descriptor, content, 0)
        os.ftruncate(descriptor, len(content))


def write_private(path: Path, data: bytes) -> None:
    """Put ``data`` in the place of a file anywhere, owner-only, durably; its folder is made owner-only too."""
    make_private_folder(path.parent)
    Tree(path.parent).replace(path.name, data)


def make_private_folder(path: Path) -> None:
    """Make a folder of ours outside a workspace; those that are missing become owner-only."""
    with explained(path):
        for folder in reversed((path, *path.parents)):
            if not folder.is_dir():
                _step("mkdir", folder)
                with contextlib.suppress(FileExistsError):
                    folder.mkdir(FOLDER_MODE)
                    folder.chmod(FOLDER_MODE)


def replace_shared(path: Path, data: bytes) -> None:
    """Put ``data`` in the place of a file that is not ours (git's exclude file), with the mode it had."""
    with explained(path):
        mode = stat.S_IMODE(path.lstat().st_mode) if path.exists() else 0o644
        with folder_beneath(path.parent) as folder:
            _replace(folder, path.name, data, path, durable=True, mode=mode)
            sync(folder, path)


def remove_file(path: Path) -> None:
    """Remove one file of ours outside a workspace; one that is not there is no error."""
    with explained(path):
        _step("unlink", path)
        path.unlink(missing_ok=True)
