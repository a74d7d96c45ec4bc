"""What the operating system refuses, said so that a person can act on it."""

from __future__ import annotations

import errno
from pathlib import Path

from workbench.errors import StorageError

_ADVICE = {
    errno.ENOSPC: "make space on the disk and repeat the command; nothing was lost",
    errno.EDQUOT: "make space within your quota and repeat the command; nothing was lost",
    errno.EROFS: "the file system is mounted read-only; mount it writable, or work with --read-only",
    errno.EACCES: "give yourself the right to read and write there",
    errno.EPERM: "give yourself the right to read and write there",
    errno.EIO: "the disk reports an error; check it, then run the command again",
    errno.EMFILE: "too many open files; close some programs and repeat the command",
    errno.ENAMETOOLONG: "move the workspace to a folder with a shorter path",
    errno.ENOENT: "the folder is gone; see whether the workspace was moved or removed",
}


class explained:
    """Turn an operating system's error into one that names the path and the way out.

    Files are touched all the time, so this is no generator.

    Args:
        path: What it is about.
        relative: The rest of the path.

    Raises:
        StorageError: In place of any :class:`OSError`.
    """

    __slots__ = ("_path", "_relative")

    def __init__(self, path: str | Path, relative: str = "") -> None:
        self._path = path
        self._relative = relative

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, OSError):
            path = Path(self._path) / self._relative if self._relative else self._path
            reason = error.strerror or str(error)
            advice = _ADVICE.get(error.errno or 0, "check the folder, then repeat the command; nothing was lost")
            raise StorageError(f"{path}: {reason}", advice, path=str(path), errno=error.errno) from error
