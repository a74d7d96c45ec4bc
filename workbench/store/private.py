"""Two of the gates: ``open_private`` (owner-only whatever the umask) and ``beneath`` (no way out of a root).

Files are opened by descriptor, component by component, and never through a link; what is no ordinary
file (a FIFO, a device) is refused before anything is read from it.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import AbstractContextManager
from functools import lru_cache
from pathlib import Path

from workbench.errors import RefusedError
from workbench.store.refusals import explained

FILE_MODE = 0o600
FOLDER_MODE = 0o700
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK the opening of a FIFO would wait for a writer for ever.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

_LINK = (errno.ELOOP, errno.EMLINK)
"""What different systems say to O_NOFOLLOW at a link."""
_NO_FOLDER = (errno.ENOTDIR, *_LINK)
_NO_FILE = (errno.EISDIR, errno.ENXIO, *_LINK)
"""What the system says to writing where a folder, a FIFO that nobody reads or a link stands."""

KEPT = 32
"""How many folders of records are held open at once: whatever a change touches, few files are open."""


def open_private(name: str, flags: int, dir_fd: int | None = None) -> int:
    """Open a file for writing, owner-only whatever the umask, and never through a link.

    Args:
        name: A path, or a name in the folder of ``dir_fd``.
        flags: As for :func:`os.open`.
        dir_fd: Descriptor of the folder that holds it.

    Returns:
        A descriptor that no child inherits.

    Raises:
        RefusedError: No ordinary file stands there; a FIFO is not waited for.
    """
    try:
        descriptor = os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, FILE_MODE, dir_fd=dir_fd)
    except OSError as error:
        if error.errno not in _NO_FILE:
            raise
        raise RefusedError(f"{name!r} is no ordinary file", "move it away and try again") from None
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise RefusedError(f"{name!r} is no ordinary file", "move it away and try again")
        if stat.S_IMODE(state.st_mode) != FILE_MODE:
            os.fchmod(descriptor, FILE_MODE)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def names_in(descriptor: int) -> list[str]:
    """The names in a folder that is held by its descriptor, sorted; hidden ones left out."""
    return sorted([name for name in os.listdir(descriptor) if name[0] != "."])


@lru_cache(maxsize=1024)
def parts_of(relative: str) -> tuple[str, ...]:
    """The components of a relative path.

    Raises:
        RefusedError: It is absolute, climbs, or holds NUL; such a path leads out of its root.
    """
    parts = tuple(part for part in relative.split("/") if part not in ("", "."))
    if relative.startswith("/") or ".." in parts or "\x00" in relative or not parts:
        raise RefusedError(f"{relative!r} leads out of its folder", "use a path relative to the folder, without '..'")
    return parts


@lru_cache(maxsize=1024)
def apart(relative: str) -> tuple[str, str]:
    """The folder of a relative path, and the last name in it; what :func:`parts_of` says holds."""
    *above, name = parts_of(relative)
    return "/".join(above), name


class folder_beneath:
    """A descriptor of the folder ``relative`` beneath ``root``, for a ``with``; no component may be a link.

    Raises:
        RefusedError: A component is a link or no folder.
        FileNotFoundError: There is no such folder.
    """

    __slots__ = ("_descriptor", "_relative", "_root")

    def __init__(self, root: Path, relative: str = "") -> None:
        self._root = root
        self._relative = relative

    def __enter__(self) -> int:
        descriptor = os.open(self._root, _FOLDER)
        try:
            for part in parts_of(self._relative) if self._relative else ():
                deeper = _into(descriptor, part, self._relative)
                os.close(descriptor)
                descriptor = deeper
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        return descriptor

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


def _into(descriptor: int, part: str, relative: str) -> int:
    try:
        return os.open(part, _FOLDER, dir_fd=descriptor)
    except OSError as error:
        if error.errno not in _NO_FOLDER:
            raise
        raise RefusedError(f"{relative!r}: {part!r} is a link or no folder", "put a real folder in its place") from None


def open_reading(name: str, dir_fd: int | None = None) -> int:
    """A descriptor of an ordinary file, opened for reading only; see :func:`open_seen`."""
    return open_seen(name, dir_fd)[0]


def open_seen(name: str, dir_fd: int | None = None) -> tuple[int, os.stat_result]:
    """A descriptor of an ordinary file, opened for reading only, and what the system says of it.

    Raises:
        RefusedError: It is a link, a folder, a FIFO or a device.
        OSError: It is not there, or may not be read.
    """
    try:
        descriptor = os.open(name, _READ, dir_fd=dir_fd)
    except OSError as error:
        if error.errno in _LINK:
            raise RefusedError(f"{name!r} is a link", "put an ordinary file in its place") from None
        raise
    state = os.fstat(descriptor)
    if not stat.S_ISREG(state.st_mode):
        os.close(descriptor)
        raise RefusedError(f"{name!r} is no ordinary file", "put an ordinary file in its place")
    return descriptor, state


def read_all(descriptor: int, limit: int | None = None, size: int | None = None) -> bytes:
    """Everything that a descriptor still holds, or its first ``limit`` bytes.

    Args:
        descriptor: An ordinary file, opened for reading.
        limit: Where to stop.
        size: The file's size, where the caller has asked for it already.
    """
    want = (os.fstat(descriptor).st_size if size is None else size) + 1
    if limit is not None:
        return os.read(descriptor, min(want, limit))
    data = os.read(descriptor, want)
    if len(data) == want - 1:
        return data
    pieces = [data]  # it grew or shrank meanwhile, or is larger than one read gives
    while piece := os.read(descriptor, 1 << 20):
        pieces.append(piece)
    return b"".join(pieces)


def read_beneath(root: Path, relative: str, limit: int | None = None) -> bytes | None:
    """The bytes of a file beneath ``root``; None where there is none.

    Raises:
        RefusedError: The way leads through a link, or to no ordinary file.
        StorageError: It may not be read.
    """
    return Folders(root).read(relative, limit)


class _Kept:
    """A folder that is held open; as often as it is entered it may not be closed."""

    __slots__ = ("_descriptor", "users")

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.users = 0

    def __enter__(self) -> int:
        self.users += 1
        return self._descriptor

    def __exit__(self, *_: object) -> None:
        self.users -= 1

    def close(self) -> None:
        os.close(self._descriptor)


class Folders:
    """The folders beneath a root, by descriptor.

    Args:
        root: The folder.
        held: Keeps each open once it was used, until :meth:`close`: for a short while, and one thread. Of the
            folders in tables not more than ``KEPT``, unless more are used at once: the oldest is closed first.
    """

    def __init__(self, root: Path, *, held: bool = False) -> None:
        self._root = root
        self._held: dict[str, _Kept] | None = {} if held else None

    def at(self, relative: str = "") -> AbstractContextManager[int]:
        """A descriptor of a folder, as :func:`folder_beneath` gives it; it is not the caller's to close."""
        held = self._held
        if held is None:
            return folder_beneath(self._root, relative)
        if relative not in held:
            relative = "/".join(parts_of(relative)) if relative else ""
        return self._kept(relative, held)

    def _kept(self, relative: str, held: dict[str, _Kept]) -> _Kept:
        if relative not in held:
            above, _, name = relative.rpartition("/")
            if not relative:
                held[relative] = _Kept(os.open(self._root, _FOLDER))
            else:
                with self._kept(above, held) as folder:
                    if len(held) >= KEPT:
                        self._close_oldest(held)
                    held[relative] = _Kept(_into(folder, name, relative))
        return held[relative]

    def _close_oldest(self, held: dict[str, _Kept]) -> None:
        """Close the folder in a table that was opened first, of those that nobody uses."""
        for relative, kept in held.items():
            if kept.users == 0 and "/" in relative:
                del held[relative]
                kept.close()
                return

    def read(self, relative: str, limit: int | None = None) -> bytes | None:
        """The bytes of a file, as :func:`read_beneath` gives them."""
        above, name = apart(relative)
        with explained(self._root, relative):
            try:
                with self.at(above) as folder:
                    descriptor, state = open_seen(name, folder)
            except FileNotFoundError:
                return None
            try:
                return read_all(descriptor, limit, state.st_size)
            finally:
                os.close(descriptor)

    def close(self) -> None:
        """Close what is held; what is used again is opened again."""
        while self._held:
            self._held.popitem()[1].close()


def beneath(root: Path, relative: str) -> str:
    """``relative`` with the links that stay inside ``root`` resolved, relative to the resolved root.

    The result is to be opened by :func:`read_beneath`, which follows no link: a link put there
    afterwards fails instead of leading out.

    Raises:
        RefusedError: The path leads out of the root.
    """
    top = Path(os.path.realpath(root))
    target = Path(os.path.realpath(top / "/".join(parts_of(relative))))
    if not target.is_relative_to(top) or target == top:
        raise RefusedError(f"{relative!r} leads out of {root}", "only files beneath the folder can be used")
    return target.relative_to(top).as_posix()
