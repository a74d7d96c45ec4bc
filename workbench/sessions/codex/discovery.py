"""Codex's sessions on this machine, found by the folders that their records name.

A resumed session goes on in the file of the day it began, so every day's folder is looked at. Only the head and
the tail of each file are read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from workbench.domain.times import instant, stamp
from workbench.errors import StorageError
from workbench.sessions.codex import prompts
from workbench.sessions.codex.facts import is_child
from workbench.sessions.codex.format import hints_of
from workbench.sessions.codex.records import Item, Line, Part, Payload, decode
from workbench.sessions.lines import BAD
from workbench.sessions.model import FoundSession
from workbench.sessions.packed import Unpacked, is_packed, other_form
from workbench.sessions.places import forms, within
from workbench.sessions.texts import title_from

_WINDOW = 64 * 1024
"""The first line holds the instructions that the model was given, and is often longer than 16 KB."""
_LARGE_WINDOW = 1024 * 1024
_TAIL = 32 * 1024
_ENDINGS = (".jsonl", ".jsonl.zst")


def home_folder(env: Mapping[str, str]) -> Path:
    """Where the program keeps everything."""
    configured = env.get("CODEX_HOME")
    return Path(configured).expanduser() if configured else Path(env.get("HOME") or Path.home()) / ".codex"


def discover(folders: Sequence[Path], env: Mapping[str, str]) -> list[FoundSession]:
    """Sessions whose records name a folder in one of ``folders``, newest first; sub-agents' are left out."""
    wanted = forms(folders)
    found = [session for path in _files(env) if (session := _look(path, wanted)) is not None]
    return sorted(found, key=lambda s: (instant(s.updated_at), s.id), reverse=True)


def _files(env: Mapping[str, str]) -> Iterator[Path]:
    home = home_folder(env)
    for root in (home / "sessions", home / "archived_sessions"):
        for folder, _folders, names in os.walk(root):
            here = set(names)
            for name in sorted(names):
                if not (name.startswith("rollout-") and name.endswith(_ENDINGS)):
                    continue
                path = Path(folder, name)
                if not (is_packed(path) and other_form(path).name in here):
                    yield path


class _Glance:
    """What a few records tell."""

    def __init__(self) -> None:
        self.cwds: list[str] = []
        self.session: str | None = None
        self.child = False
        self.started: str | None = None
        self.updated: str | None = None
        self.name = ""
        self.prompt = ""
        self._metas = 0

    def take(self, lines: Sequence[bytes]) -> None:
        """Look at some lines; those that are cut or damaged say nothing."""
        for raw in lines:
            try:
                line = decode(raw)
            except BAD:
                continue
            self._note(line)

    def _note(self, line: Line) -> None:
        payload = line.payload
        if isinstance(line.timestamp, str):
            self.started = self.started or line.timestamp
            self.updated = line.timestamp if self.updated is None else max(self.updated, line.timestamp)
        if not isinstance(payload, Payload):
            payload = line
        if line.type == "session_meta" or (line.type is None and line.role is None):
            self._meta(payload)
        elif line.type == "turn_context" and isinstance(payload.cwd, str):
            self.cwds.append(payload.cwd)
        if isinstance(payload.thread_name, str) and payload.thread_name:
            self.name = payload.thread_name
        self._words(payload)

    def _meta(self, payload: Payload) -> None:
        self._metas += 1
        if isinstance(payload.cwd, str):
            self.cwds.append(payload.cwd)
        if self._metas == 1:
            self.child = is_child(payload)
            if isinstance(payload.id, str):
                self.session = payload.id

    def _words(self, payload: Payload) -> None:
        """The first prompt, and in files of the first versions the folder that stands in such a text."""
        text = payload.message if payload.type == "user_message" else None
        content = payload.content if payload.role == "user" else None
        if isinstance(payload.item, Item) and payload.item.type == "UserMessage":
            content = payload.item.content
        texts = [text] if isinstance(text, str) else []
        if isinstance(content, list):
            texts = [part.text for part in content if isinstance(part, Part) and isinstance(part.text, str)]
        for words in texts:
            folder = prompts.folder_in(words)
            if folder is not None:
                self.cwds.append(folder)
            elif not self.prompt and not prompts.is_harness(words):
                self.prompt = words


def _look(path: Path, wanted: frozenset[str]) -> FoundSession | None:
    """The session in a file, where one of the folders that its head or tail names is wanted."""
    try:
        with path.open("rb", buffering=0) as file:
            stat = os.fstat(file.fileno())
            head, tail = _packed_head(file, path) if is_packed(path) else _ends(file, stat.st_size)
    except (OSError, StorageError):
        return None
    glance = _Glance()
    glance.take(head.split(b"\n"))
    if tail:
        glance.take(tail.split(b"\n")[1:])
    if glance.child or not any(within(cwd, wanted) for cwd in glance.cwds):
        return None
    hints = hints_of(path)
    return FoundSession(
        agent="codex",
        id=hints.session if hints.fixed or glance.session is None else glance.session,
        path=path,
        cwd=glance.cwds[-1],
        title=title_from(glance.name or glance.prompt),
        size=stat.st_size,
        updated_at=glance.updated or stamp(datetime.fromtimestamp(stat.st_mtime, UTC)),
        started_at=glance.started,
    )


def _ends(file: BinaryIO, size: int) -> tuple[bytes, bytes]:
    descriptor = file.fileno()
    head = os.pread(descriptor, _WINDOW, 0)
    if size > _WINDOW and head.count(b"\n") < 2:
        head = os.pread(descriptor, _LARGE_WINDOW, 0)
    tail = os.pread(descriptor, _TAIL, max(len(head), size - _TAIL)) if size > len(head) else b""
    return head, tail


def _packed_head(file: BinaryIO, path: Path) -> tuple[bytes, bytes]:
    """The head alone: the end of a compressed file is not to be had without unpacking all of it."""
    content = Unpacked(file, path)
    pieces = []
    left = _LARGE_WINDOW
    while left > 0 and (data := content.read(left)):
        pieces.append(data)
        left -= len(data)
        if sum(piece.count(b"\n") for piece in pieces) >= 40:
            break
    return b"".join(pieces), b""
