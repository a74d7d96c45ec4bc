"""A model of what survives when the power goes: only what was brought to disk, or less convenient mixtures of it.

While a command runs for real, its system calls are watched. Before each of them, and after the last, the
folder is put together again as a disk could show it after a power cut:

- ``strict``: names and contents as they were last brought to disk, and nothing else;
- ``eager``: all names as they are by now, but of contents only what was brought to disk (the rest is NUL);
- ``torn``: the same, and of each content that was not brought to disk the first half;
- ``noted``: as ``strict``, but what this machine notes for itself (``.local``) is as it is by now.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from workbench.store import primitives

KINDS = ("strict", "eager", "torn", "noted")
Key = tuple[int, int]
"""An inode, and which file it is that has this number now."""


class Disk:
    """Watches the primitives over one folder.

    Args:
        root: The folder; all that is in it counts as brought to disk at first.
        look: Called at each moment at which the power may go.
    """

    def __init__(self, root: Path, look: Callable[[], None]) -> None:
        self.root = root
        self._look_at = look
        self._away = False
        """What is written while somebody looks goes to another folder."""
        self._reused: dict[int, int] = {}
        self._data: dict[Key, bytes] = {}
        self._names: dict[Key, dict[str, tuple[Key, bool]]] = {}
        for folder, _, files in os.walk(root):
            self._names[self._key(os.lstat(folder))] = self._listed(Path(folder))
            for name in files:
                path = Path(folder) / name
                self._data[self._key(path.lstat())] = path.read_bytes()

    def _key(self, state: os.stat_result) -> Key:
        return state.st_ino, self._reused.get(state.st_ino, 0)

    def _listed(self, folder: Path | int) -> dict[str, tuple[Key, bool]]:
        found = {}
        with os.scandir(folder) as entries:
            for entry in entries:
                state = entry.stat(follow_symlinks=False)
                found[entry.name] = (self._key(state), stat.S_ISDIR(state.st_mode))
        return found

    def look(self) -> None:
        """The power may go now."""
        if not self._away:
            self._away = True
            self._look_at()
            self._away = False

    # The system calls of the primitives.

    def write(self, descriptor: int, data: Any) -> int:
        self.look()
        return os.write(descriptor, data)

    def fsync(self, descriptor: int) -> None:
        self.look()
        if self._away:
            return  # the model is the disk: nothing has to reach the real one
        state = os.fstat(descriptor)
        if stat.S_ISDIR(state.st_mode):
            self._names[self._key(state)] = self._listed(descriptor)
        else:
            # A descriptor may be open for writing alone; the file is found by its number.
            self._data[self._key(state)] = self._read(state.st_ino)

    def _read(self, number: int) -> bytes:
        for folder, _, files in os.walk(self.root):
            for name in files:
                path = Path(folder) / name
                if path.lstat().st_ino == number:
                    return path.read_bytes()
        return b""

    def rename(self, name: str, target: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        self.look()
        over = self._at(target, dst_dir_fd)
        os.rename(name, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
        self._gone(over)

    def unlink(self, name: str, *, dir_fd: int) -> None:
        self.look()
        over = self._at(name, dir_fd)
        os.unlink(name, dir_fd=dir_fd)
        self._gone(over)

    def ftruncate(self, descriptor: int, size: int) -> None:
        self.look()
        os.ftruncate(descriptor, size)

    @staticmethod
    def _at(name: str, folder: int) -> int | None:
        try:
            return os.stat(name, dir_fd=folder, follow_symlinks=False).st_ino
        except FileNotFoundError:
            return None

    def _gone(self, number: int | None) -> None:
        if number is not None and not self._away:
            self._reused[number] = self._reused.get(number, 0) + 1

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    # What survives.

    def after(self, kind: str, target: Path) -> None:
        """Put together in ``target`` what a disk shows when the power goes now."""
        state = self.root.lstat()
        self._put(self._key(state), self.root, target, kind)

    def _put(self, key: Key, real: Path | None, target: Path, kind: str) -> None:
        target.mkdir(mode=0o700)
        if kind == "noted" and real is not None and real.name == ".local":
            kind = "now"
        strict = kind in ("strict", "noted")
        names = self._names.get(key, {}) if strict else self._listed(real) if real is not None else {}
        for name, (inner, folder) in names.items():
            path = real / name if real is not None else None
            if folder:
                self._put(inner, path if path is not None and path.is_dir() else None, target / name, kind)
            else:
                (target / name).write_bytes(self._content(inner, path, kind))
                (target / name).chmod(0o600)

    def _content(self, key: Key, real: Path | None, kind: str) -> bytes:
        kept = self._data.get(key)
        now = real.read_bytes() if real is not None and real.is_file() and self._key(real.lstat()) == key else b""
        if kind == "now":
            return now
        if kind == "torn" and kept != now:
            begin = len(kept) if kept is not None and now.startswith(kept) else 0
            return now[: begin + (len(now) - begin) // 2]
        return kept if kept is not None else b"\0" * len(now)


@contextmanager
def watching(disk: Disk, put: Callable[[Any, str, Any], None]) -> Iterator[None]:
    """Let the primitives write through the model; ``put`` sets an attribute and takes it back."""
    real = primitives.os
    put(primitives, "os", disk)
    put(primitives, "AT_ONCE", 1)  # one call after the other: a cut falls between two
    try:
        yield
    finally:
        put(primitives, "os", real)
