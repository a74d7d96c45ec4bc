"""Whether a package arrived: proved from the receiver's session, never assumed.

Two proofs: the snapshot id in the first message that the session was given, or a complete read of the
prompt file. Neither shows that it was understood.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workbench.domain.message import Message, ToolCall
from workbench.domain.times import instant

Proof = Literal["first_message", "prompt_read"]


@dataclass(frozen=True)
class Heard:
    """A session that may be the receiver's."""

    session: str
    """``AGENT:ID``."""
    cwd: str | None
    started_at: str | None
    messages: Sequence[Message]


@dataclass(frozen=True)
class Receipt:
    """How it is known that a package arrived."""

    session: str
    proof: Proof
    message: str
    """The message that shows it."""


@dataclass(frozen=True)
class Sent:
    """What was sent, and where its arrival is looked for."""

    agent: str
    snapshot: str
    folder: Path
    """The worktree in which the receiver was started."""
    prompt_file: Path
    prompt_size: int
    """Characters of the prompt."""
    since: str
    """When the package became ``transferring``: the receiver's session cannot be older."""


def received(sent: Sent, sessions: Iterable[Heard]) -> Receipt | None:
    """The proof that a package arrived, from the first session that has one; None is *not observed*."""
    for heard in sessions:
        if not _may_be(sent, heard):
            continue
        first = _in_first_message(sent, heard.messages)
        if first is not None:
            return Receipt(heard.session, "first_message", first.id)
        read = _complete_read(sent, heard.messages)
        if read is not None:
            return Receipt(heard.session, "prompt_read", read.id)
    return None


def _may_be(sent: Sent, heard: Heard) -> bool:
    if heard.session.partition(":")[0] != sent.agent or heard.cwd is None:
        return False
    if instant(heard.started_at) < instant(sent.since):
        return False
    folder, cwd = os.path.realpath(sent.folder), os.path.realpath(heard.cwd)
    return cwd == folder or cwd.startswith(folder.rstrip("/") + "/")


def _in_first_message(sent: Sent, messages: Sequence[Message]) -> Message | None:
    first = next((m for m in messages if m.origin == "human" and m.kind == "message"), None)
    return first if first is not None and sent.snapshot in first.text else None


def _complete_read(sent: Sent, messages: Sequence[Message]) -> Message | None:
    calls = {m.call.call_id: m.call for m in messages if m.call is not None and _reads_whole(sent, m.call)}
    for message in messages:
        result = message.result
        if result is None or result.call_id not in calls:
            continue
        came = result.status == "ok" or (result.status == "unknown" and result.exit_code in (None, 0))
        # A reader may add line numbers; it never makes the text shorter without saying so.
        if came and not result.truncated and message.size >= sent.prompt_size:
            return message
    return None


def _reads_whole(sent: Sent, call: ToolCall) -> bool:
    path = str(sent.prompt_file)
    if call.kind == "execute":
        return path in (call.command or "")
    if call.kind != "read" or not any(os.path.realpath(p) == os.path.realpath(path) for p in call.paths):
        return False
    arguments = call.args if isinstance(call.args, dict) else {}
    return not any(arguments.get(name) for name in ("offset", "limit", "start_line", "end_line", "line", "range"))
