"""The formats that can be read, and which one a file is."""

from __future__ import annotations

from pathlib import Path

from workbench.errors import NotFoundError, StorageError, UsageError
from workbench.sessions.claude.format import ClaudeFormat
from workbench.sessions.codex.format import CodexFormat
from workbench.sessions.follow import SessionLog
from workbench.sessions.model import Format
from workbench.sessions.packed import Unpacked, is_packed, present

FORMATS: tuple[Format, ...] = (ClaudeFormat(), CodexFormat())
"""Every format; a file is of the first that recognises it."""
_HEAD = 256 * 1024
"""Bytes at the beginning of a file that decide what it is."""
_LINES = 40


def open_session(path: Path, agent: str | None = None) -> SessionLog:
    """A log for the session file at ``path``; nothing but its head is read before the first ``refresh``.

    Args:
        path: The file.
        agent: Whose file it is, where that is known; else its content decides.

    Raises:
        NotFoundError: There is no such file.
        StorageError: It cannot be read.
        UsageError: No reader knows it.
    """
    names = ", ".join(form.agent for form in FORMATS)
    if agent is not None:
        for form in FORMATS:
            if form.agent == agent:
                return SessionLog(path, form)
        raise UsageError(f"no reader for sessions of {agent!r}", f"one of: {names}")
    lines = _head(path)
    for form in FORMATS:
        if form.recognises(lines):
            return SessionLog(path, form)
    raise UsageError(f"{path} is no session file that this version reads", f"it reads sessions of: {names}")


def _head(path: Path) -> list[bytes]:
    path = present(path)
    try:
        with path.open("rb", buffering=0) as file:
            head = Unpacked(file, path).read(_HEAD) if is_packed(path) else file.read(_HEAD)
    except FileNotFoundError:
        raise NotFoundError(f"no file {path}", "name a session file that exists") from None
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}", "check that it is a readable file") from error
    return head.split(b"\n", _LINES)[:_LINES]
