"""The log of ``--debug`` and of internal failures: in the user's state folder, owner-only, masked, rotating."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping, Sequence
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from workbench.config import user_dirs
from workbench.store.mask import mask

NAME = "workbench.log"
SIZE = 1 << 20
"""Bytes after which the log begins anew; three older ones are kept."""
KEPT = 3


class _Masked(logging.Formatter):
    """Lines in UTC, with secrets masked, tracebacks included."""

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        return time.strftime(datefmt or "%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))

    def format(self, record: logging.LogRecord) -> str:
        return mask(super().format(record))


class _Private(RotatingFileHandler):
    """A file that only its owner may read, whatever the umask."""

    def _open(self) -> Any:
        fd = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        os.fchmod(fd, 0o600)
        return open(fd, "a", encoding="utf-8", errors="backslashreplace")


def path(env: Mapping[str, str]) -> Path:
    """Where the log lies."""
    return user_dirs(env).state / NAME


def start(env: Mapping[str, str], level: int = logging.DEBUG) -> Path | None:
    """Let everything that is logged go to the file; None where it cannot be written."""
    place = path(env)
    root = logging.getLogger()
    if any(isinstance(h, _Private) and h.baseFilename == str(place) for h in root.handlers):
        return place
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handler = _Private(place, maxBytes=SIZE, backupCount=KEPT)
    except OSError:
        return None
    handler.setFormatter(_Masked("%(asctime)sZ %(process)d %(levelname)s %(name)s %(message)s", "%Y-%m-%dT%H:%M:%S"))
    root.addHandler(handler)
    root.setLevel(level)
    return place


def stop() -> None:
    """Close the file."""
    root = logging.getLogger()
    for handler in [h for h in root.handlers if isinstance(h, _Private)]:
        root.removeHandler(handler)
        handler.close()


def finish(words: Sequence[str], code: int, seconds: float) -> None:
    """The last line of a call, and the end of its log."""
    shown = " ".join(word[:200] for word in words)
    logging.getLogger("workbench.cli").info("exit %d after %.3f s: %s", code, seconds, shown)
    stop()


def record_failure(problem: Exception, env: Mapping[str, str]) -> Path | None:
    """Keep the traceback of an internal failure; returns the log."""
    place = start(env, logging.WARNING)
    if place is not None:
        logging.getLogger("workbench.cli").error("internal failure", exc_info=problem)
    return place
