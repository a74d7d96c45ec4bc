"""``system`` and ``attachment`` records: what the program notes, and what it slips into the context."""

from __future__ import annotations

from typing import Any

from workbench.domain.message import Origin
from workbench.sessions.claude.prompts import split
from workbench.sessions.claude.records import Line
from workbench.sessions.claude.results import picture, result_text
from workbench.sessions.claude.state import State
from workbench.sessions.claude.tree import AUXILIARY, PROMPT
from workbench.sessions.texts import text_of

_SILENT = frozenset({"turn_duration", "session_start", "bridge_status"})
_NOTICES = frozenset({"local_command", "away_summary", "informational", "model_refusal_fallback"})
_ERRORS = frozenset({"api_error", "api_refusal", "error"})


def system(state: State, line: Line, start: int, end: int) -> bool | None:
    """Take a ``system`` record; returns whether it made messages, None where its kind is unknown."""
    subtype = line.subtype if type(line.subtype) is str else ""
    state.enter(line, PROMPT if subtype == "compact_boundary" else AUXILIARY, start, end)
    if subtype.endswith("compact_boundary"):
        _boundary(state, line, cuts=subtype == "compact_boundary")
    elif subtype in _ERRORS:
        state.emit("error", "system", "harness", _error(line))
    elif subtype in _NOTICES:
        text = text_of(line.content) if line.content is not None else subtype
        state.emit("notice", "system", "harness", text, hidden=split(text)[2])
    elif subtype == "stop_hook_summary":
        # It is worth a line only where a hook failed or held the agent back.
        if line.hook_errors or line.prevented_continuation is True:
            state.emit("notice", "system", "hook", text_of(line.hook_errors or "a hook kept the agent going"))
    elif subtype not in _SILENT:
        state.leave()
        return None
    return state.leave()


def _boundary(state: State, line: Line, *, cuts: bool) -> None:
    data: dict[str, Any] = line.compact_metadata if isinstance(line.compact_metadata, dict) else {}
    tokens = data.get("preTokens")
    how = ", ".join(
        word
        for word in (
            data.get("trigger") if isinstance(data.get("trigger"), str) else "",
            f"{tokens} tokens before" if type(tokens) is int else "",
        )
        if word
    )
    text = line.content if isinstance(line.content, str) and line.content else "Conversation compacted"
    state.emit("compaction", "system", "harness", f"{text} ({how})" if how else text, hidden=not cuts)
    if cuts:
        state.compactions += 1
        state.boundary = state.node
        segment = data.get("preservedSegment")
        if isinstance(segment, dict) and isinstance(segment.get("tailUuid"), str):
            state.tails[segment["tailUuid"]] = state.node


def _error(line: Line) -> str:
    error = line.error
    # The service's answer is wrapped once by each layer that it came through.
    while isinstance(error, dict):
        for key in ("formatted", "message"):
            if isinstance(error.get(key), str):
                return str(error[key])
        error = error.get("error")
    for value in (line.error, line.content):
        if value is not None:
            return text_of(value)
    return line.subtype if isinstance(line.subtype, str) else "error"


def attachment(state: State, line: Line, start: int, end: int) -> bool:
    """Take an ``attachment`` record: a queued prompt is a person's, the rest is the harness's."""
    data: dict[str, Any] = line.attachment if isinstance(line.attachment, dict) else {}
    kind = str(data.get("type", ""))
    queued = kind == "queued_command"
    state.enter(line, PROMPT if queued else AUXILIARY, start, end)
    if queued:
        _queued(state, data)
    else:
        origin: Origin = "hook" if kind.startswith("hook_") else "harness"
        state.emit("attachment", "user", origin, _inside(data, line.attachment), hidden=True)
    return state.leave()


def _queued(state: State, data: dict[str, Any]) -> None:
    """What was typed while the agent was busy; other programs queue notifications the same way."""
    source = data.get("origin")
    kind = source.get("kind") if isinstance(source, dict) else None
    human = data.get("commandMode") in (None, "prompt", "bash") and kind in (None, "human") and not data.get("isMeta")
    origin: Origin = ("agent" if state.side or state.hints.main is False else "human") if human else "harness"
    prompt = data.get("prompt")
    for block in prompt if isinstance(prompt, list) else [prompt]:
        if isinstance(block, dict) and block.get("type") in ("image", "document"):
            state.emit("attachment", "user", origin, picture(block["type"], block.get("source")))
            continue
        text = result_text([block])
        words, wrapped, quiet = split(text) if human else ("", text, False)
        if words or not wrapped:
            state.emit("message", "user", origin, words)
        if wrapped:
            state.emit("notice", "user", "harness", wrapped, hidden=quiet)


def _inside(data: dict[str, Any], whole: Any) -> str:
    content = data.get("content")
    if isinstance(content, dict) and isinstance(content.get("content"), str):
        content = content["content"]
    return content if isinstance(content, str) and content else text_of(whole)
