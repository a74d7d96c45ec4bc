"""Copies of the messages that records rest on, masked, in ``history/`` (``workspace.md``).

Agents delete their session files. What a record cites, a person pins, a cut touches or a package takes is
therefore copied while it is there; where the file is gone, the copies stand in for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from workbench.domain.message import Message
from workbench.domain.task import Task
from workbench.domain.trimming import with_partners
from workbench.errors import WorkbenchError
from workbench.store.mask import mask_json
from workbench.store.names import file_name
from workbench.store.private import read_beneath
from workbench.store.records import Records
from workbench.store.transaction import Transaction
from workbench.store.workspace import Workspace

if TYPE_CHECKING:
    from workbench.services.context import Context
    from workbench.services.pool import SessionState
    from workbench.services.sessions import AttachedSession

COPY_LIMIT = 65_536
"""Characters of a message that are copied."""
_PATIENCE = 0.5
"""Seconds to wait for another writer: what is not copied now is copied the next time."""
_BAD = (msgspec.DecodeError, msgspec.ValidationError, RecursionError, UnicodeDecodeError)


def path_of(session: str) -> str:
    """The file of the copies of a session's messages, relative to the workspace folder."""
    return f"history/{file_name(session)}.jsonl"


def copies(workspace: Workspace, session: str) -> tuple[Message, ...]:
    """The messages of a session that were copied, in its order; what cannot be read is left out."""
    try:
        data = read_beneath(workspace.root, path_of(session))
    except WorkbenchError:
        return ()
    found = {message.id: message for message in _messages(data or b"") if message.session == session}
    return tuple(sorted(found.values(), key=lambda message: message.seq))


def _messages(data: bytes) -> Iterator[Message]:
    for line in data.split(b"\n"):
        if line.strip():
            try:
                document = msgspec.json.decode(line, type=dict[str, Any])
                result = document.get("result")
                if isinstance(result, dict):
                    result["outcome"] = dict(result)
                yield msgspec.convert(document | {"common": document}, Message)
            except _BAD:
                continue


def wanted(records: Records, task: Task) -> frozenset[str]:
    """``SESSION#ID`` of what the records of a task rest on: what they cite, and what was decided about."""
    from workbench.services.history import cited_messages

    decided = {
        f"{session}#{message}"
        for session, trims in records.trims.items()
        for trim in trims
        if trim.act != "class"
        for message in trim.messages
    }
    return cited_messages(records, task) | decided


def keep(ctx: Context, tx: Transaction, sessions: Sequence[AttachedSession], refs: Iterable[str]) -> None:
    """Copy messages, with the calls and results that belong to them, as part of a change.

    Args:
        ctx: Where and who.
        tx: The change.
        sessions: Those that are here.
        refs: ``SESSION#ID`` of the messages; what is copied already, or lies elsewhere, is passed over.
    """
    for name, state, chosen in _missing(ctx, sessions, refs):
        path = path_of(name)
        before = read_beneath(ctx.workspace.root, path) or b""
        if before and not before.endswith(b"\n"):
            before += b"\n"
        tx.add_file(path, before + b"".join(_line(state, message) for message in chosen))


def catch_up(ctx: Context, records: Records, task: Task, sessions: Sequence[AttachedSession]) -> bool:
    """Copy what the records of a task rest on and no copy is there of; returns whether there was any."""
    refs = wanted(records, task)
    if ctx.workspace.read_only or not _missing(ctx, sessions, refs):
        return False
    command = f"history keep {task.slug}"
    with ctx.workspace.transaction(ctx.actor.name, command, now=ctx.now(), timeout=_PATIENCE) as tx:
        keep(ctx, tx, sessions, refs)
    return True


def _missing(
    ctx: Context, sessions: Sequence[AttachedSession], refs: Iterable[str]
) -> list[tuple[str, SessionState, list[Message]]]:
    """Messages that are to be copied, by session; what sub-agents said lies in sessions of their own."""
    by_session: dict[str, set[str]] = {}
    for ref in refs:
        name, _, message = ref.partition("#")
        by_session.setdefault(name, set()).add(message)
    found = []
    here = [(session.ref.name, session.state) for session in sessions if session.state is not None]
    here += [(child.info.name, child) for session in sessions for child in session.children]
    for name, state in here:
        ids = by_session.get(name)
        if not ids:
            continue
        there = {message.id for message in copies(ctx.workspace, name)}
        if ids <= there:
            continue
        chosen = with_partners(state.messages, ids) - there
        messages = [message for message in state.messages if message.id in chosen]
        if messages:
            found.append((name, state, messages))
    return found


def _line(state: SessionState, message: Message) -> bytes:
    """A message whole and masked, as one line."""
    text = state.log.body(message)[:COPY_LIMIT]
    call = message.call and message.call.plain()
    document = msgspec.to_builtins(message.with_(text=text, size=len(text), span=None, call=call))
    if document["result"] is not None:
        document["result"] |= document["result"].pop("outcome")
    document = mask_json(document | document.pop("common"))
    document["size"] = len(document["text"])
    return msgspec.json.encode(document, order="sorted") + b"\n"
