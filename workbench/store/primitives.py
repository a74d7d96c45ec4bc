"""The only module that writes: every change of a file or folder goes through one of these few operations.

Each announces itself to a hook first, so that a test can fail or kill the k-th of them. What the
operating system refuses becomes a :class:`StorageError` that names the path and says what to do.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import math
import os
import stat
import time
from _queue import SimpleQueue
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType

from workbench.errors import RefusedError, StorageError, UsageError
from workbench.store.aside import aside
from workbench.store.private import FILE_MODE, FOLDER_MODE, Folders, apart, folder_beneath, open_private, parts_of
from workbench.store.refusals import explained as explained

Hook = Callable[[str, str], None]
"""Called with the operation (``write``, ``fsync``, ``rename`` ...) and the path, before it happens."""

TEMPORARY = ".tmp"
"""Ending of temporary files; they begin with a dot, and no reader looks at them."""

AT_ONCE = 32
"""How many files are brought to disk side by side, where that is quicker than one after the other."""
SLOW = 0.001
"""Seconds from which on an fsync right behind another is worth a thread: many disks do most of it with the first."""

_hooks: list[Hook] = []


@contextmanager
def watched(hook: Hook) -> Iterator[None]:
    """Have ``hook`` called before every operation (for tests; what it raises goes the way of a real error)."""
    _hooks.append(hook)
    try:
        yield
    finally:
        _hooks.remove(hook)


def step(operation: str, path: str | Path) -> None:
    """Announce an operation."""
    for hook in _hooks:
        hook(operation, str(path))


def sync(descriptor: int, path: str | Path) -> None:
    """Bring a file or folder to the disk itself (macOS needs a stronger call for that)."""
    step("fsync", path)
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None:
        with contextlib.suppress(OSError):  # not every file system knows it
            fcntl.fcntl(descriptor, full)
            return
    os.fsync(descriptor)


_behind = 0.0
"""Seconds that an fsync right behind another took here, the last time."""


def sync_together(files: Sequence[tuple[int, str | Path]]) -> list[OSError | None]:
    """Bring several files and folders to disk: one after the other, or side by side where the disk is slow at that.

    Returns:
        What failed, for each in its place.
    """
    global _behind
    failed: list[BaseException | None] = [None] * len(files)
    waiting = deque(range(len(files)))

    def bring(one_only: bool) -> float:
        """Bring what waits to disk; the least that one of them took."""
        least = math.inf
        with contextlib.suppress(IndexError):
            while True:
                number = waiting.popleft()
                begin = time.perf_counter()
                try:
                    sync(*files[number])
                except BaseException as error:
                    failed[number] = error
                least = min(least, time.perf_counter() - begin)
                if one_only:
                    break
        return least

    first = True
    while waiting and (_behind < SLOW or AT_ONCE == 1):
        took = bring(one_only=True)
        if not first:
            _behind = took
        first = False
    if waiting:
        _behind = _side_by_side(partial(bring, one_only=False), min(AT_ONCE, len(waiting)))
    for error in failed:
        if error is not None and not isinstance(error, OSError):
            raise error
    return [error if isinstance(error, OSError) else None for error in failed]


def _side_by_side(work: Callable[[], float], threads: int) -> float:
    """Do the same work in so many threads, or as many as there can be, this one among them; the least that they say."""
    said: SimpleQueue[float] = SimpleQueue()
    others = 0
    while others < threads - 1 and aside(lambda: said.put(work())):
        others += 1
    return min([work(), *(said.get() for _ in range(others))])


def write_all(descriptor: int, data: bytes, path: str | Path) -> None:
    """Write all of it."""
    step("write", path)
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


class Beside:
    """A new content beside the file whose place it will take; nothing of it shows before :meth:`put`.

    Args:
        folder: Descriptor of the folder.
        name: The file's name in it.
        data: The content.
        shown: The path, for hooks and errors.
        mode: Permissions other than ours.
        only: No other process makes one for this file: its name is always the same, and one that a killed
            process left is taken away.
    """

    def __init__(
        self, folder: int, name: str, data: bytes, shown: str | Path, mode: int | None = None, *, only: bool = False
    ) -> None:
        self._folder = folder
        self._name = name
        self._temporary = f".{name[:80]}{'' if only else f'.{os.urandom(4).hex()}'}{TEMPORARY}"
        self.shown = shown
        step("create", shown)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        try:
            self.descriptor = open_private(self._temporary, flags, folder)
        except FileExistsError:
            os.unlink(self._temporary, dir_fd=folder)
            self.descriptor = open_private(self._temporary, flags, folder)
        try:
            write_all(self.descriptor, data, shown)
            if mode is not None:
                os.fchmod(self.descriptor, mode)
        except BaseException:
            self.drop()
            raise

    def put(self) -> None:
        """Take the file's place, at once."""
        step("rename", self.shown)
        os.rename(self._temporary, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        descriptor, self.descriptor = self.descriptor, -1
        os.close(descriptor)

    def drop(self) -> None:
        """Leave nothing behind; does nothing once it was put in its place."""
        if self.descriptor >= 0:
            descriptor, self.descriptor = self.descriptor, -1
            os.close(descriptor)
            with contextlib.suppress(OSError):
                os.unlink(self._temporary, dir_fd=self._folder)


def put_in_place(
    folder: int, name: str, data: bytes, shown: str | Path, *, durable: bool, mode: int | None = None
) -> None:
    """Put ``data`` in the place of a file, at once, with permissions other than ours where some are given."""
    new = Beside(folder, name, data, shown, mode)
    try:
        if durable:
            sync(new.descriptor, shown)
        new.put()
    finally:
        new.drop()


class _Above:
    """What :meth:`Tree._folder` gives: entered for every file that is touched, and so no generator."""

    __slots__ = ("_explained", "_lent", "_made", "_relative", "_tree")

    def __init__(self, tree: Tree, relative: str, made: list[str] | None) -> None:
        self._tree = tree
        self._relative = relative
        self._made = made
        self._explained = explained(tree.root, relative)

    def __enter__(self) -> tuple[int, str]:
        with self._explained:
            place, name = apart(self._relative)
            try:
                self._lent = self._tree.folder(place)
                return self._lent.__enter__(), name
            except FileNotFoundError:
                if not place or not self._tree.root.is_dir():
                    raise
            changed = self._tree.make_folder(place, durable=self._made is None)
            if self._made is not None:
                self._made += changed
            self._lent = self._tree.folder(place)
            return self._lent.__enter__(), name

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lent.__exit__(None, None, None)
        self._explained.__exit__(kind, error, trace)


class Tree:
    """A folder beneath which everything is written, by descriptor and never through a link."""

    def __init__(self, root: Path, folders: Folders | None = None) -> None:
        self.root = root
        self._folders = folders if folders is not None else Folders(root)

    @contextmanager
    def held(self) -> Iterator[Tree]:
        """The same with every folder opened once: for a short while under a lock, and one thread."""
        folders = Folders(self.root, held=True)
        try:
            yield Tree(self.root, folders)
        finally:
            folders.close()

    def release(self) -> None:
        """Close the folders that are held; none may be in use."""
        self._folders.close()

    def folder(self, relative: str = "") -> AbstractContextManager[int]:
        """A descriptor of a folder; see :func:`folder_beneath`."""
        return self._folders.at(relative)

    def read(self, relative: str, limit: int | None = None) -> bytes | None:
        """The bytes of a file; see :func:`read_beneath`."""
        return self._folders.read(relative, limit)

    def make_root(self) -> None:
        """Make the folder itself, owner-only; what stands there already is kept."""
        with explained(self.root):
            step("mkdir", self.root)
            with contextlib.suppress(FileExistsError):
                self.root.mkdir(FOLDER_MODE)
            state = self.root.lstat()
            if not stat.S_ISDIR(state.st_mode):
                raise RefusedError(f"{self.root} is a link or no folder", "move it away and try again")
            if stat.S_IMODE(state.st_mode) != FOLDER_MODE:
                self.root.chmod(FOLDER_MODE)

    def make_folder(self, relative: str, *, durable: bool = True) -> list[str]:
        """Make a folder and those above it, owner-only.

        Args:
            relative: Path beneath the root.
            durable: False where the caller brings the folders above to disk itself.

        Returns:
            The folders in which one was made.
        """
        changed = []
        with explained(self.root, relative):
            made = ""
            for part in parts_of(relative):
                with self.folder(made) as above:
                    if self._make_one(above, part, f"{made}/{part}"):
                        changed.append(made)
                        if durable:
                            sync(above, f"{made}/{part}")
                made = f"{made}/{part}" if made else part
        return changed

    def _make_one(self, above: int, name: str, shown: str) -> bool:
        with contextlib.suppress(FileNotFoundError):
            os.stat(name, dir_fd=above, follow_symlinks=False)
            return False
        step("mkdir", shown)
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, FOLDER_MODE, dir_fd=above)
        os.chmod(name, FOLDER_MODE, dir_fd=above)
        return True

    def _folder(self, relative: str, made: list[str] | None = None) -> _Above:
        """The folder of a file and the file's name in it, to be used in a ``with``.

        One that is missing is made, durably, or for the caller to bring to disk what is added to ``made``.
        """
        return _Above(self, relative, made)

    def replace(self, relative: str, data: bytes, *, durable: bool = True) -> None:
        """Put ``data`` in a file's place at once: temporary file, fsync, rename, fsync of the folder.

        Args:
            relative: Path beneath the root.
            data: All of the new content.
            durable: False for what may be lost with the machine's power.
        """
        with self._folder(relative) as (folder, name):
            put_in_place(folder, name, data, relative, durable=durable)
            if durable:
                sync(folder, relative)

    def note(self, relative: str, data: bytes) -> None:
        """Write a small file in its place: a note that may be lost, and that its reader takes for nothing if torn."""
        with self._folder(relative) as (folder, name):
            step("note", relative)
            descriptor = open_private(name, os.O_WRONLY | os.O_CREAT, folder)
            try:
                if os.pwrite(descriptor, data, 0) < os.fstat(descriptor).st_size:
                    os.ftruncate(descriptor, len(data))
            finally:
                os.close(descriptor)

    @contextmanager
    def beside(self, contents: Iterable[tuple[str, bytes]], made: list[str]) -> Iterator[list[Beside]]:
        """New contents beside their files, for one process at a time; those not put in place by the end are dropped.

        Args:
            contents: Path and content of each.
            made: Gets the folders in which one had to be made, for the caller to bring them to disk.
        """
        with contextlib.ExitStack() as stack:
            new: list[Beside] = []
            for relative, data in contents:
                folder, name = stack.enter_context(self._folder(relative, made))
                with explained(self.root, relative):
                    new.append(Beside(folder, name, data, relative, only=True))
                stack.callback(new[-1].drop)
            yield new

    @contextmanager
    def opened(self, relatives: Iterable[str]) -> Iterator[list[tuple[int, str | Path]]]:
        """Descriptors of files and folders (the root is empty), to bring them to disk."""
        with contextlib.ExitStack() as stack:
            found: list[tuple[int, str | Path]] = []
            for relative in relatives:
                with explained(self.root, relative):
                    above, _, name = relative.rpartition("/")
                    folder = stack.enter_context(self.folder(above))
                    descriptor = os.open(name or ".", os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
                stack.callback(os.close, descriptor)
                found.append((descriptor, relative))
            yield found

    def sync_all(self, relatives: Sequence[str]) -> None:
        """Bring files and the entries of folders to disk, side by side."""
        for start in range(0, len(relatives), AT_ONCE):
            with self.opened(relatives[start : start + AT_ONCE]) as files:
                self.refuse(files, sync_together(files))

    def refuse(self, files: Iterable[tuple[int, str | Path]], errors: Iterable[OSError | None]) -> None:
        """Raise the first of these errors, with the path of its file.

        Raises:
            StorageError: There is one.
        """
        for (_, path), error in zip(files, errors, strict=False):
            with explained(self.root, str(path)):
                if error is not None:
                    raise error

    def append(self, relative: str, data: bytes, *, durable: bool = True) -> int:
        """Append whole lines in one write; a missing newline is put before them.

        Where it fails, the file is cut back to what it was before the error goes on its way.

        Args:
            relative: Path beneath the root.
            data: The lines.
            durable: False where the caller brings the file and its folder to disk itself.

        Returns:
            The size of the file afterwards.
        """
        with self._folder(relative) as (folder, name):
            step("open", relative)
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
                    write_all(descriptor, data, relative)
                    if durable:
                        sync(descriptor, relative)
                    if durable and created:
                        sync(folder, relative)
                except OSError:
                    with contextlib.suppress(OSError):
                        os.ftruncate(descriptor, size)
                        os.fsync(descriptor)
                    raise
                return size + len(data)
            finally:
                os.close(descriptor)

    def write_again(self, relative: str, offset: int, data: bytes) -> None:
        """Write bytes once more where they stand: after a failed fsync the system may take them for written."""
        with self._folder(relative) as (folder, name):
            step("write again", relative)
            descriptor = open_private(name, os.O_WRONLY, folder)
            try:
                os.pwrite(descriptor, data, offset)
            finally:
                os.close(descriptor)

    def cut(self, relative: str, size: int) -> None:
        """Cut a torn tail off a file, durably."""
        with self._folder(relative) as (folder, name):
            step("truncate", relative)
            descriptor = open_private(name, os.O_RDWR, folder)
            try:
                os.ftruncate(descriptor, size)
                sync(descriptor, relative)
            finally:
                os.close(descriptor)

    def remove(self, relative: str, *, sync_folder: bool = True) -> None:
        """Remove a file; one that is not there is no error."""
        with self._folder(relative) as (folder, name):
            step("unlink", relative)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
            if sync_folder:
                sync(folder, relative)

    def remove_folder(self, relative: str) -> None:
        """Remove a folder that is empty; one that is not stays."""
        with self._folder(relative) as (folder, name):
            step("rmdir", relative)
            with contextlib.suppress(OSError):
                os.rmdir(name, dir_fd=folder)

    def set_aside(self, relative: str, target: str) -> None:
        """Give whatever stands at a path another place beneath the root; a link is moved, never followed."""
        with self._folder(relative) as (folder, name), self._folder(target) as (into, as_name):
            step("rename", relative)
            os.rename(name, as_name, src_dir_fd=folder, dst_dir_fd=into)
            sync(into, target)
            sync(folder, relative)

    def tighten(self, relative: str) -> None:
        """Make a file or folder owner-only again; a link stays as it is."""
        with self._folder(relative) as (folder, name):
            mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode) or stat.S_ISREG(mode):
                step("chmod", relative)
                os.chmod(name, FOLDER_MODE if stat.S_ISDIR(mode) else FILE_MODE, dir_fd=folder)

    def sweep(self, relative: str) -> None:
        """Remove temporary files that a killed writer left in a folder (the caller holds the lock)."""
        with explained(self.root, relative):
            try:
                with self.folder(relative) as folder:
                    for name in os.listdir(folder):  # noqa: PTH208
                        if name.startswith(".") and name.endswith(TEMPORARY):
                            step("unlink", f"{relative}/{name}")
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
            step("rmtree", self.root)
            shutil.rmtree(self.root)


def write_holder(descriptor: int, content: bytes, size: int) -> None:
    """Write the holder's name into a lock file of this size that is held; it need not survive anything."""
    with explained("lock"):
        step("holder", "lock")
        os.pwrite(descriptor, content, 0)
        if size != len(content):
            os.ftruncate(descriptor, len(content))


def write_private(path: Path, data: bytes) -> None:
    """Put ``data`` in the place of a file anywhere, owner-only, durably; its folder is made owner-only too."""
    make_private_folder(path.parent)
    Tree(path.parent).replace(path.name, data)


def create_private(path: Path, data: bytes) -> None:
    """Put ``data`` in a new file of a folder that there is, owner-only; what is there already stays.

    Raises:
        UsageError: Something of this name exists.
        StorageError: There is no such folder, or it may not be written to; nothing is left behind.
    """
    step("create", path)
    try:
        with explained(path):
            descriptor = open_private(str(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    except StorageError as problem:
        if problem.details.get("errno") == errno.EEXIST:
            raise UsageError(f"{path} exists already", "name a new file") from None
        raise
    try:
        with explained(path):
            write_all(descriptor, data, path)
            sync(descriptor, path)
    except BaseException:
        path.unlink()
        raise
    finally:
        os.close(descriptor)


def make_private_folder(path: Path) -> None:
    """Make a folder of ours outside a workspace; those that are missing become owner-only."""
    with explained(path):
        for folder in reversed((path, *path.parents)):
            if not folder.is_dir():
                step("mkdir", folder)
                with contextlib.suppress(FileExistsError):
                    folder.mkdir(FOLDER_MODE)
                    folder.chmod(FOLDER_MODE)


def replace_shared(path: Path, data: bytes) -> None:
    """Put ``data`` in the place of a file that is not ours (git's exclude file), with the mode it had."""
    with explained(path):
        mode = stat.S_IMODE(path.lstat().st_mode) if path.exists() else 0o644
        with folder_beneath(path.parent) as folder:
            put_in_place(folder, path.name, data, path, durable=True, mode=mode)
            sync(folder, path)


def remove_file(path: Path) -> None:
    """Remove one file of ours outside a workspace; one that is not there is no error."""
    with explained(path):
        step("unlink", path)
        path.unlink(missing_ok=True)
