"""File events as Linux tells them: at once, and without waking anybody while nothing happens."""

from __future__ import annotations

import asyncio
import ctypes
import errno
import os
import struct
import sys
from collections.abc import AsyncGenerator, Iterable
from functools import cache
from pathlib import Path

_MODIFY, _ATTRIB, _MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x2, 0x4, 0x40, 0x80, 0x100, 0x200
_FOLDERS_ONLY = 0x0100_0000
_WANTED = _MODIFY | _ATTRIB | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _FOLDERS_ONLY
_OVERFLOW = 0x4000
_HEAD = struct.Struct("iIII")
"""Watch, what happened, a cookie, and the length of the name that follows."""
_READ = 1 << 16
"""Bytes of events that are read at a time: a thousand or so, between which the loop has its turn."""
_SETTLES = 0.002
"""Seconds from the first event of a burst until it is read: a line is often written in more than one go."""
LOST = ""
"""Stands for a path where there were more events than the system keeps."""


@cache
def _libc() -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL(None, use_errno=True)
        return library if library.inotify_init1 and library.inotify_add_watch else None
    except (OSError, AttributeError, TypeError):
        return None


def available() -> bool:
    """Whether this system tells its events this way."""
    return sys.platform == "linux" and _libc() is not None


async def changed(folders: Iterable[Path], stop: asyncio.Event) -> AsyncGenerator[list[str], None]:
    """Yield the paths in some folders that changed, burst by burst, until ``stop`` is set; nothing beneath them.

    Args:
        folders: What to watch; one that may not be looked at is passed over.
        stop: Ends it.

    Raises:
        FileNotFoundError: A folder is not there.
        OSError: The system gives no more watches.
    """
    descriptor = _made()
    stopping = asyncio.create_task(stop.wait())
    try:
        names = _watched(descriptor, folders)
        while await _readable(descriptor, stopping):
            await asyncio.sleep(_SETTLES)
            yield _paths(os.read(descriptor, _READ), names)
    finally:
        stopping.cancel()
        os.close(descriptor)


def _made() -> int:
    library = _libc()
    assert library is not None
    descriptor: int = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if descriptor < 0:
        raise _error()
    return descriptor


def _error(path: Path | None = None) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number), *(() if path is None else (str(path),)))


def _watched(descriptor: int, folders: Iterable[Path]) -> dict[int, list[str]]:
    """Watch folders; under the number of each watch all names of its folder, of which there may be several."""
    library = _libc()
    assert library is not None
    names: dict[int, list[str]] = {}
    for folder in folders:
        watch: int = library.inotify_add_watch(descriptor, os.fsencode(folder), _WANTED)
        if watch >= 0:
            names.setdefault(watch, []).append(str(folder))
        elif ctypes.get_errno() not in (errno.EACCES, errno.EPERM):
            raise _error(folder)
    return names


async def _readable(descriptor: int, stopping: asyncio.Task[bool]) -> bool:
    """Wait for events; False where it is to end. The loop looks at the descriptor only meanwhile."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_reader(descriptor, _resolve, ready)
    try:
        await asyncio.wait((ready, stopping), return_when=asyncio.FIRST_COMPLETED)
    finally:
        loop.remove_reader(descriptor)
    return not stopping.done()


def _resolve(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


def _paths(data: bytes, names: dict[int, list[str]]) -> list[str]:
    """The paths that events are about, each once."""
    found: dict[str, None] = {}
    at = 0
    while at < len(data):
        watch, what, _cookie, length = _HEAD.unpack_from(data, at)
        name = data[at + _HEAD.size : at + _HEAD.size + length].rstrip(b"\0")
        at += _HEAD.size + length
        if what & _OVERFLOW:
            found[LOST] = None
        elif name:
            for folder in names.get(watch, ()):
                found[f"{folder}/{os.fsdecode(name)}"] = None
    return list(found)
