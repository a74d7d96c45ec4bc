"""The shape of Codex's records, as far as anything here reads them.

A line is an envelope (``type`` and ``payload``), or in files of the first versions the item itself. Every
field takes any JSON; what nobody reads (instructions, encrypted reasoning, outputs that stand elsewhere a
second time) is skipped by the decoder without being built.
"""

from __future__ import annotations

from typing import Any

import msgspec

Other = str | int | float | bool | list[msgspec.Raw] | None
"""What stands where an object is expected, and is none."""
Odd = int | float | bool | dict[str, msgspec.Raw] | None


class Part(msgspec.Struct, gc=False):
    """A part of a message's content."""

    type: Any = None
    text: Any = None
    image_url: Any = None


Content = str | list[Part | Other] | Odd


class Past(msgspec.Struct, gc=False):
    """An item of the history that a compaction left."""

    type: Any = None
    role: Any = None
    content: Content = None
    call_id: Any = None


class Item(msgspec.Struct, gc=False):
    """What ``item_completed`` reports as done."""

    type: Any = None
    id: Any = None
    text: Any = None
    content: Content = None
    command: Any = None
    exit_code: Any = None
    status: Any = None
    aggregated_output: Any = None
    duration: Any = None
    changes: Any = None
    server: Any = None
    tool: Any = None
    arguments: Any = None
    error: Any = None
    summary_text: Any = None


class Source(msgspec.Struct, gc=False):
    """Where a session came from, when that is no plain word."""

    subagent: Any = None


class Payload(msgspec.Struct, gc=False):
    """All payloads in one."""

    type: Any = None
    id: Any = None
    role: Any = None
    content: Content = None
    name: Any = None
    namespace: Any = None
    arguments: Any = None
    parameters: Any = None
    input: Any = None
    call_id: Any = None
    output: Any = None
    status: Any = None
    success: Any = None
    action: Any = None
    query: Any = None
    summary: Any = None
    text: Any = None
    message: Any = None
    phase: Any = None
    turn_id: Any = None
    cwd: Any = None
    model: Any = None
    git: Any = None
    timestamp: Any = None
    cli_version: Any = None
    forked_from_id: Any = None
    parent_thread_id: Any = None
    thread_source: Any = None
    source: Source | Other = None
    info: Any = None
    usage: Any = None
    thread_token_usage: Any = None
    rate_limits: Any = None
    model_context_window: Any = None
    exit_code: Any = None
    duration: Any = None
    changes: Any = None
    result: Any = None
    item: Item | Other = None
    replacement_history: list[Past | Other] | str | Odd = None
    num_turns: Any = None
    reason: Any = None
    codex_error_info: Any = None
    thread_name: Any = None
    new_thread_id: Any = None
    author: Any = None
    tools: Any = None
    record_type: Any = None
    internal_chat_message_metadata_passthrough: Any = None
    """Says of each part whether a person or the program wrote it."""


class Line(Payload, gc=False):
    """A line; one without envelope is its own payload."""

    payload: Payload | Other | msgspec.UnsetType = msgspec.UNSET


decode = msgspec.json.Decoder(Line).decode
"""The record of one line of bytes; raises ``msgspec.DecodeError`` or ``RecursionError``."""

ENVELOPES = frozenset(
    {
        "session_meta",
        "response_item",
        "request_item",
        "event_msg",
        "turn_context",
        "compacted",
        "world_state",
        "inter_agent_communication",
        "inter_agent_communication_metadata",
        "token_usage_record",
    }
)
"""Types of lines."""

ITEMS = frozenset(
    {
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
        "local_shell_call_output",
        "web_search_call",
        "tool_search_call",
        "tool_search_output",
        "image_generation_call",
        "ghost_snapshot",
    }
)
"""Types of items that stand on a line of their own in files of the first versions."""


def is_record(value: dict[str, Any]) -> bool:
    """Whether an object is a record of its own, and not a piece of one."""
    kind = value.get("type")
    known = isinstance(kind, str)  # within the arguments of a call it may be anything
    if isinstance(value.get("payload"), dict):
        return known
    return "record_type" in value or (
        known and kind in ITEMS and ("call_id" in value or "role" in value or "summary" in value)
    )
