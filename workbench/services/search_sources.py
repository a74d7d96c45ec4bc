"""What is searched: messages of attached sessions, facts, notes and artifacts, as texts of the index."""

from __future__ import annotations

import hashlib
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from workbench.compiler.values import json_text, value_text
from workbench.domain.artifact import Artifact
from workbench.domain.fact import Fact
from workbench.domain.message import Message
from workbench.domain.note import Note
from workbench.services.context import Context
from workbench.services.pool import SessionState
from workbench.services.sessions import AttachedSession
from workbench.store.mask import mask
from workbench.store.records import Records
from workbench.store.search import Group
from workbench.store.search_part import Entry

SAID, DONE = "said", "done"
"""The two halves of a session: what people and agents said, and the traffic of their tools."""
LONGEST = 1 << 18
"""Characters of one message that are looked at."""


def group_name(session: str, half: str) -> str:
    """The index's name for one half of a session."""
    return f"{session}/{half}"


def was_said(message: Message) -> bool:
    """Whether it belongs to what was said."""
    return message.kind in ("message", "compaction") and message.origin != "tool"


def message_text(ctx: Context, state: SessionState, message: Message) -> str:
    """All that a message may be found by: its text, and the command and files of a call."""
    text = message.text
    if message.clipped:
        with ctx.lock:
            text = state.log.body(message)
    text = text[:LONGEST]
    call = message.call
    if call is not None:
        more = [part for part in (call.name, call.command or "", *call.paths) if part and part not in text]
        text = "\n".join([text, *more])
    return text


class _Half:
    """One half of a session, worked out when the index asks for it."""

    def __init__(self, ctx: Context, state: SessionState, *, said: bool) -> None:
        self._ctx, self._state, self._said = ctx, state, said

    @cached_property
    def _places(self) -> array[int]:
        """Where its messages stand; a session may hold hundreds of thousands."""
        said = self._said
        return array("I", [n for n, m in enumerate(self._state.messages) if not m.hidden and was_said(m) is said])

    @cached_property
    def _stamp(self) -> str:
        digest, messages = hashlib.blake2b(digest_size=16), self._state.messages
        for place in self._places:
            message = messages[place]
            digest.update(f"{message.id} {_mark(message)}\n".encode("utf-8", "replace"))
        return digest.hexdigest()

    def stamp(self) -> str:
        return self._stamp

    def entries(self) -> Iterator[Entry]:
        for place in self._places:
            message = self._state.messages[place]
            yield Entry(message.id, _mark(message), _sortable(message.at), place, self._text(message))

    def _text(self, message: Message) -> Callable[[], str]:
        return lambda: mask(message_text(self._ctx, self._state, message))


def _mark(message: Message) -> int:
    return message.size << 32 | zlib.crc32(message.text.encode("utf-8", "replace"))


def _sortable(at: str | None) -> str:
    return (at or "").removesuffix("Z")


def session_group(ctx: Context, session: AttachedSession, half: str) -> Group | None:
    """One half of an attached session; None where its file is not here."""
    state = session.state
    if state is None:
        return None
    texts = _Half(ctx, state, said=half == SAID)
    return Group(group_name(session.ref.name, half), state, texts.stamp, texts.entries)


def fact_text(fact: Fact) -> str:
    """All that a fact may be found by."""
    quotes = [source.quote for source in fact.sources if source.quote]
    return "\n".join([fact.key, value_text(fact.value), fact.statement, fact.reason, *quotes])


def note_text(note: Note) -> str:
    """All that a note may be found by."""
    value = note.value if isinstance(note.value, str) else json_text(note.value)
    return "\n".join([note.key, value, *note.sources])


def artifact_text(artifact: Artifact) -> str:
    """All that an artifact may be found by; not its content, which is read where it lies."""
    paths = dict.fromkeys(version.path for version in artifact.versions if version.path)
    return "\n".join([artifact.key, artifact.kind, *paths])


def record_time(record: Fact | Note | Artifact) -> str:
    """When a record was last said."""
    match record:
        case Fact():
            return record.observed_at
        case Note():
            return record.written.at
        case Artifact():
            return max((version.made.at for version in record.versions), default="")


TEXT_OF: Mapping[str, Callable[[Any], str]] = {"facts": fact_text, "notes": note_text, "artifacts": artifact_text}


class _Table:
    """A table of records, worked out when the index asks for it."""

    def __init__(self, records: Iterable[Any], text_of: Callable[[Any], str]) -> None:
        self._records, self._text_of = records, text_of

    @cached_property
    def texts(self) -> list[tuple[Any, str, int]]:
        found = []
        for record in self._records:
            text = self._text_of(record)
            found.append((record, text, zlib.crc32(text.encode("utf-8", "replace"))))
        return found

    def stamp(self) -> str:
        marks = "\n".join([f"{record.id} {mark}" for record, _, mark in sorted(self.texts, key=lambda row: row[0].id)])
        return hashlib.blake2b(marks.encode("utf-8", "replace"), digest_size=16).hexdigest()

    def entries(self) -> Iterator[Entry]:
        for place, (record, text, crc) in enumerate(self.texts):
            yield Entry(record.id, crc, _sortable(record_time(record)), place, lambda text=text: mask(text))  # type: ignore[misc]


def record_groups(records: Records) -> list[Group]:
    """Facts, notes and artifacts."""
    found = []
    for name, text_of in TEXT_OF.items():
        table = _Table(records.table(name).values(), text_of)
        found.append(Group(name, records, table.stamp, table.entries))
    return found


def session_groups(ctx: Context, sessions: Iterable[AttachedSession]) -> list[Group]:
    """Both halves of every session that is here."""
    found = (session_group(ctx, session, half) for session in sessions for half in (SAID, DONE))
    return [group for group in found if group is not None]
