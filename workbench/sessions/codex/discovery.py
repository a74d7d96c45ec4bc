"""Codex's session files on this machine, and what their two ends tell.

A resumed session goes on in the file of the day it began, so every day's folder is looked at. Only the head and
the tail of each file are read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from workbench.errors import StorageError
from workbench.sessions.codex import prompts
from workbench.sessions.codex.facts import allowances, earlier, is_child, is_usage, parent_of
from workbench.sessions.codex.format import hints_of
from workbench.sessions.codex.records import Item, Part, Payload, decode, is_record
from workbench.sessions.glance import MOST_FOLDERS, MOST_READ, Glance, Place, further, is_folder, of_size, tail_of
from workbench.sessions.lines import first_record
from workbench.sessions.model import MOST_TOKENS
from workbench.sessions.packed import Unpacked, is_packed, other_form
from workbench.sessions.texts import NO_TIME, title_from

_WINDOW = 64 * 1024
"""The first line holds the instructions that the model was given, and is often longer than 16 KB."""
_LONG_LINES = 2
"""Lines that may be longer than the window, and are read whole all the same, before the first prompt is known."""
_TAIL = 32 * 1024
_AFTER_PROMPT = 4
"""Records that are looked at behind the first prompt."""
_TOLD = re.compile(rb'"(?:turn_context|token_count|thread_name)"')
"""What stands in the records of a tail that are worth a look."""
_MARKED = 4096
"""Bytes of a record in which that is looked for."""
_ENDINGS = (".jsonl", ".jsonl.zst")


def home_folder(env: Mapping[str, str]) -> Path:
    """Where the program keeps everything."""
    configured = env.get("CODEX_HOME")
    return Path(configured).expanduser() if configured else Path(env.get("HOME") or Path.home()) / ".codex"


def places(env: Mapping[str, str]) -> Iterator[Place]:
    """All session files; of a session in both its forms the plain one."""
    home = home_folder(env)
    folders = [str(home / "sessions"), str(home / "archived_sessions")]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        names = {entry.name for entry in inside}
        for entry in inside:
            if is_folder(entry, linked=False):
                folders.append(entry.path)
            elif entry.name.startswith("rollout-") and entry.name.endswith(_ENDINGS):
                if is_packed(Path(entry.name)) and other_form(Path(entry.name)).name in names:
                    continue
                place = Place.of(entry)
                if place is not None:
                    yield place


def newest_folders(env: Mapping[str, str]) -> list[str]:
    """The folders of the last days, those that hold the next ones included."""
    sessions = home_folder(env) / "sessions"
    found = [str(sessions)]
    level = [sessions]
    for _depth in range(3):
        level = [Path(folder, name) for folder in level for name in _last_names(folder)]
        found += [str(folder) for folder in level]
    return found


def _last_names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if is_folder(entry, linked=False))[-2:]
    except OSError:
        return []


def look(place: Place) -> Glance | None:
    """What the two ends of a file tell; None where it cannot be read."""
    path = Path(place.path)
    try:
        with path.open("rb", buffering=0) as file:
            ends = _of_packed(_packed_head(file, path)) if is_packed(path) else _of_plain(file.fileno(), place.size)
    except (OSError, StorageError):
        return None
    return ends.glance(path)


def _of_packed(head: bytes) -> _Ends:
    lines = head.split(b"\n")
    ends = _Ends()
    ends.begin(lines[:-1])
    ends.end(lines)
    return ends


def _of_plain(descriptor: int, size: int) -> _Ends:
    head = os.pread(descriptor, _WINDOW, 0)
    ends = _begun(head, size)
    for _line in range(_LONG_LINES):
        if ends.told or len(head) >= size:
            break
        head = further(descriptor, head, size)
        ends = _begun(head, size)
    ends.end((tail_of(descriptor, size, _TAIL) if len(head) < size else head).split(b"\n"))
    return ends


def _begun(head: bytes, size: int) -> _Ends:
    ends = _Ends()
    lines = head.split(b"\n")
    # The last one is cut where the head is not the whole file.
    ends.begin(lines if len(head) >= size else lines[:-1])
    return ends


def _packed_head(file: BinaryIO, path: Path) -> bytes:
    """The head alone: the end of a compressed file is not to be had without unpacking all of it."""
    content = Unpacked(file, path)
    pieces = []
    left = MOST_READ
    while left > 0 and (data := content.read(left)):
        pieces.append(data)
        left -= len(data)
        if sum(piece.count(b"\n") for piece in pieces) >= 40:
            break
    return b"".join(pieces)


class _Ends:
    """What a few records of the beginning, and a few of the end, tell."""

    def __init__(self) -> None:
        self._cwds: dict[str, None] = {}
        self._sessions: list[str | None] = []
        self._child = False
        self._parent: str | None = None
        self._forked_from: str | None = None
        self._started: str | None = None
        self._updated: str | None = None
        self._name = ""
        self._prompt = ""
        self._context: int | None = None
        self._window: int | None = None
        self._limited: str | None = None

    @property
    def told(self) -> bool:
        """Whether all is known that only a beginning tells."""
        return bool(self._prompt and self._cwds)

    def begin(self, lines: Sequence[bytes]) -> None:
        """Look at the head, until it has told all that only a beginning can tell."""
        left = _AFTER_PROMPT
        for raw in lines:
            line = first_record(raw, decode, is_record)
            if line is None:
                continue
            if isinstance(line.timestamp, str) and line.timestamp < NO_TIME:
                self._started = self._started or line.timestamp
            payload = line.payload if isinstance(line.payload, Payload) else line
            if line.type == "session_meta" or (line.type is None and line.role is None):
                self._meta(payload)
            elif line.type == "turn_context":
                self._worked(payload.cwd)
            self._named(payload)
            self._words(payload)
            if self._prompt and self._cwds:
                left -= 1
                if not left:
                    break

    def end(self, lines: Sequence[bytes]) -> None:
        """Look at the tail from its end backwards: the last word counts."""
        self._updated = None
        place: str | None = None
        self._name, before = "", self._name
        for raw in reversed(lines):
            if self._updated is not None and not _TOLD.search(raw, 0, _MARKED):
                continue
            line = first_record(raw, decode, is_record)
            if line is None:
                continue
            if isinstance(line.timestamp, str) and line.timestamp < NO_TIME:
                self._updated = line.timestamp if self._updated is None else max(self._updated, line.timestamp)
            payload = line.payload if isinstance(line.payload, Payload) else line
            if line.type == "turn_context":
                place = place or of_size(payload.cwd)
            if not self._name:
                self._named(payload)
            if payload.type == "token_count":
                self._counted(payload, line.timestamp)
        self._name = self._name or before
        self._worked(place)

    def _meta(self, payload: Payload) -> None:
        """The first is the session's own; one behind it is a copy of that of the session it began with."""
        identity = of_size(payload.id)
        self._sessions.append(identity)
        self._worked(payload.cwd)
        if len(self._sessions) == 1:
            self._child = is_child(payload)
            self._parent = parent_of(payload) if self._child else None
            self._forked_from = of_size(payload.forked_from_id)
        elif self._forked_from is None and identity != self._sessions[0]:
            self._forked_from = identity

    def _worked(self, folder: object) -> None:
        """A folder that it worked in; the last one comes last."""
        cwd = of_size(folder)
        if cwd is not None:
            self._cwds.pop(cwd, None)
            self._cwds[cwd] = None

    def _named(self, payload: Payload) -> None:
        if isinstance(payload.thread_name, str) and payload.thread_name:
            self._name = payload.thread_name

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
                self._worked(folder)
            elif not self._prompt and not prompts.is_harness(words):
                self._prompt = prompts.parted(words)[0]

    def _counted(self, payload: Payload, at: object) -> None:
        """Tokens of the last request, and a limit that is reached; the last such record counts."""
        info = payload.info if isinstance(payload.info, dict) else {}
        last, window = info.get("last_token_usage"), info.get("model_context_window")
        given = last.get("input_tokens") if isinstance(last, dict) else None
        if self._context is None and given and isinstance(last, dict) and is_usage(last):
            self._context = given
            self._window = window if type(window) is int and 0 < window < MOST_TOKENS else None
            reached = [limit for limit in allowances(payload.rate_limits, at if isinstance(at, str) else None)
                       if limit.reached]  # fmt: skip
            self._limited = next((limit.resets_at for limit in reached if limit.resets_at), None)

    def glance(self, path: Path) -> Glance:
        """All of it."""
        hints = hints_of(path)
        said = next(filter(None, self._sessions), None)
        # A file that holds nothing of the session that its name says holds another one.
        own = said is None or hints.name in self._sessions or earlier(said, hints.name)
        return Glance(
            agent="codex",
            id=hints.session if own else said or hints.session,
            cwds=tuple(self._cwds)[-MOST_FOLDERS:],
            title=title_from(self._name or self._prompt),
            started_at=self._started,
            updated_at=self._updated,
            child=self._child,
            parent=self._parent,
            forked_from=self._forked_from,
            context=self._context,
            window=self._window,
            limited_until=self._limited,
        )
