"""The shape of Claude Code's records, as far as anything here reads them.

Every field takes any JSON, so that a changed type is never an error, only something to look at; and
fields that nobody reads (whole file contents, signatures, screenshots) are skipped by the decoder
without being built.
"""

from __future__ import annotations

from typing import Any

import msgspec

from workbench.sessions.salvage import salvage
from workbench.sessions.texts import text_of

Other = str | int | float | bool | list[msgspec.Raw] | None
"""What stands where an object is expected, and is none."""


class Block(msgspec.Struct, gc=False):
    """A content block of a message."""

    type: Any = None
    text: Any = None
    thinking: Any = None
    id: Any = None
    name: Any = None
    input: Any = None
    tool_use_id: Any = None
    content: Any = None
    is_error: Any = None
    source: Any = None


class Tokens(msgspec.Struct, gc=False):
    """The usage of one request."""

    input_tokens: Any = None
    cache_read_input_tokens: Any = None
    cache_creation_input_tokens: Any = None
    output_tokens: Any = None


class Body(msgspec.Struct, gc=False):
    """``message``: what the API saw or said."""

    id: Any = None
    model: Any = None
    content: str | list[Block | Other] | int | float | bool | dict[str, msgspec.Raw] | None = None
    usage: Tokens | Other = None


class Twin(msgspec.Struct, gc=False, rename="camel"):
    """``toolUseResult``: the structured twin of a tool result, all tools in one."""

    interrupted: Any = None
    background_task_id: Any = None
    return_code_interpretation: Any = None
    exit_code: Any = None
    status: Any = None
    is_async: Any = None
    agent_id: Any = None
    type: Any = None
    file_path: Any = None
    structured_patch: Any = None
    content: Any = None
    task: Any = None
    task_id: Any = None
    updated_fields: Any = None
    status_change: Any = None
    truncated: Any = None
    persisted_output_path: Any = None
    duration_ms: Any = None
    total_duration_ms: Any = None


class Line(msgspec.Struct, gc=False, rename="camel"):
    """One record."""

    type: Any = None
    uuid: Any = None
    parent_uuid: Any = msgspec.UNSET
    session_id: Any = None
    timestamp: Any = None
    cwd: Any = None
    version: Any = None
    git_branch: Any = None
    is_sidechain: Any = None
    is_meta: Any = None
    is_compact_summary: Any = None
    message: Body | Other = None
    tool_use_result: Twin | Other = None
    request_id: Any = None
    agent_id: Any = None
    forked_from: Any = None
    subtype: Any = None
    content: Any = None
    attachment: Any = None
    compact_metadata: Any = None
    error: Any = None
    is_api_error_message: Any = None
    origin: Any = None
    prompt_source: Any = None
    plan_content: Any = None
    tool_denial_kind: Any = None
    hook_errors: Any = None
    prevented_continuation: Any = None
    summary: Any = None
    leaf_uuid: Any = None
    ai_title: Any = None
    custom_title: Any = None


decode = msgspec.json.Decoder(Line).decode
"""The record of one line of bytes; raises ``msgspec.DecodeError`` or ``RecursionError``."""

METADATA = frozenset(
    {
        "agent-name",
        "ai-title",
        "atis-latch",
        "bridge-session",
        "custom-title",
        "file-history-snapshot",
        "fork-context-ref",
        "frame-link",
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "progress",
        "queue-operation",
        "relocated",
        "result",
        "started",
        "summary",
        "worktree-state",
    }
)
"""Record types that are known and carry no message."""

CHAIN = frozenset({"user", "assistant", "system", "attachment", "progress"})
"""Record types that stand in the tree of parents."""

TITLES = frozenset({"ai-title", "custom-title", "summary"})


def is_record(value: dict[str, Any]) -> bool:
    """Whether an object is a record of its own, and not a block or message inside of one."""
    kind = value.get("type")
    if not isinstance(kind, str):  # within the arguments of a call it may be anything
        return False
    if kind in METADATA:
        return "sessionId" in value or "messageId" in value or "leafUuid" in value or "uuid" in value
    return kind in CHAIN and ("uuid" in value or "sessionId" in value or "timestamp" in value)


def raw_text(line: bytes, *path: str | int) -> str:
    """What stands at ``path`` of a record, as text: for what the typed record leaves out.

    Empty where there is nothing; a value that can only be read with damage is read so.
    """
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        found = salvage(line, is_record).records
        if not found:
            return ""
        return raw_text(found[0][0], *path) if found[0][0] != line else ""
    for key in path:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return ""
    return text_of(value)
