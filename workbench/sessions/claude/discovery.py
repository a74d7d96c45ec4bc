"""Claude Code's sessions on this machine, found by the folders that their records name.

The name of a project's folder is a lossy encoding of a path and is never decoded. Only the head and
the tail of each file are read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from workbench.domain.times import instant, stamp
from workbench.sessions.claude.format import names_session
from workbench.sessions.claude.prompts import is_notice, speaker, split
from workbench.sessions.claude.records import Block, Body, Line, decode
from workbench.sessions.model import FoundSession
from workbench.sessions.places import forms, within
from workbench.sessions.texts import title_from

_WINDOW = 32 * 1024
_LARGE_WINDOW = 512 * 1024
"""For a file whose first record is longer than the usual window."""


def project_folders(env: Mapping[str, str]) -> list[Path]:
    """The folders that hold one folder a project: the configured one, else the usual two."""
    configured = env.get("CLAUDE_CONFIG_DIR")
    if configured:
        return [Path(configured).expanduser() / "projects"]
    home = Path(env.get("HOME") or Path.home())
    config = Path(env.get("XDG_CONFIG_HOME") or home / ".config")
    return [home / ".claude" / "projects", config / "claude" / "projects"]


def discover(folders: Sequence[Path], env: Mapping[str, str]) -> list[FoundSession]:
    """Sessions whose records name a folder in one of ``folders``, newest first; sub-agents' files are left out."""
    wanted = forms(folders)
    found: dict[Path, FoundSession] = {}
    for path in _files(env):
        session = _look(path, wanted)
        if session is not None:
            found[path] = session
    return sorted(found.values(), key=lambda s: (instant(s.updated_at), s.id), reverse=True)


def _files(env: Mapping[str, str]) -> Iterator[Path]:
    for root in project_folders(env):
        try:
            projects = sorted(entry.path for entry in os.scandir(root) if entry.is_dir())
        except OSError:
            continue
        for project in projects:
            try:
                names = [entry.name for entry in os.scandir(project) if entry.is_file()]
            except OSError:
                continue
            for name in sorted(names):
                if name.endswith(".jsonl") and not name.startswith("agent-"):
                    yield Path(project, name)


class _Glance:
    """What a few records tell."""

    def __init__(self) -> None:
        self.cwds: list[str] = []
        self.session: str | None = None
        self.started: str | None = None
        self.updated: str | None = None
        self.title = ""
        self.summary = ""
        self.prompt = ""

    def take(self, lines: Sequence[bytes]) -> None:
        """Look at some lines; those that are cut or damaged say nothing."""
        for raw in lines:
            try:
                line = decode(raw)
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
                continue
            self._note(line)

    def _note(self, line: Line) -> None:
        if isinstance(line.cwd, str):
            self.cwds.append(line.cwd)
        if isinstance(line.session_id, str):
            self.session = self.session or line.session_id
        if isinstance(line.timestamp, str):
            self.started = self.started or line.timestamp
            self.updated = line.timestamp if self.updated is None else max(self.updated, line.timestamp)
        for title in (line.ai_title, line.custom_title):
            if isinstance(title, str) and title:
                self.title = title
        if line.type == "summary" and isinstance(line.summary, str):
            self.summary = line.summary
        if not self.prompt and line.type == "user" and speaker(line) == "human" and line.is_compact_summary is not True:
            self.prompt = _prompt(line)


def _prompt(line: Line) -> str:
    content = line.message.content if isinstance(line.message, Body) else line.message
    texts = [content] if isinstance(content, str) else []
    if isinstance(content, list):
        texts = [block.text for block in content if isinstance(block, Block) and isinstance(block.text, str)]
    words = " ".join(split(text)[0] for text in texts if not is_notice(text))
    return words.strip()


def _look(path: Path, wanted: frozenset[str]) -> FoundSession | None:
    """The session in a file, where one of the folders that its head or tail names is wanted."""
    try:
        with path.open("rb", buffering=0) as file:
            stat = os.fstat(file.fileno())
            head = _head(file.fileno(), stat.st_size)
            tail = b""
            if stat.st_size > len(head):
                tail = os.pread(file.fileno(), _WINDOW, max(len(head), stat.st_size - _WINDOW))
    except OSError:
        return None
    glance = _Glance()
    first = head.split(b"\n")
    glance.take(first)
    if tail:
        glance.take(tail.split(b"\n")[1:])
    cwd = next((cwd for cwd in glance.cwds if within(cwd, wanted)), None)
    if cwd is None:
        return None
    return FoundSession(
        agent="claude",
        id=_identity(path, glance.session),
        path=path,
        cwd=glance.cwds[-1],
        title=title_from(glance.title or glance.prompt or glance.summary),
        size=stat.st_size,
        updated_at=glance.updated or stamp(datetime.fromtimestamp(stat.st_mtime, UTC)),
        started_at=glance.started,
    )


def _head(descriptor: int, size: int) -> bytes:
    head = os.pread(descriptor, _WINDOW, 0)
    # A pasted picture in the first prompt fills the window before any record ends, or says where it is.
    if size > _WINDOW and b'"cwd"' not in head:
        head = os.pread(descriptor, _LARGE_WINDOW, 0)
    return head


def _identity(path: Path, session: str | None) -> str:
    stem = path.name.removesuffix(".jsonl")
    return stem if names_session(stem) or session is None else session
