"""What a tool result says happened: status, exit code, file changes. What it does not say is unknown."""

from __future__ import annotations

import re
from typing import Any, Literal

from workbench.domain.message import DIFF_LIMIT, FileChange, ResultStatus, ToolKind, ToolResult, ended
from workbench.sessions import texts
from workbench.sessions.claude.beside import name_of
from workbench.sessions.claude.records import Block, Other, Twin
from workbench.sessions.claude.shapes import Returned
from workbench.sessions.texts import text_of

_EXIT = re.compile(r"(?:Error: )?Exit code (-?\d{1,10})\b")
_DENIED = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "User rejected",
    "Permission to use ",
    "Permission for this action has been denied",
    "Claude requested permissions to ",
)
_INTERRUPTED = "[Request interrupted by user"
PERSISTED = "<persisted-output>"
_RUNNING = ("running", "async_launched", "pending", "in_progress")

_NO_TWIN = Twin()
ExitFrom = Literal["field", "text", "none"]


def result_text(content: Any) -> str:
    """The text of a result's content, whatever its shape; pictures and documents as one line each."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if not isinstance(content, list):
        return text_of(content)
    return "\n".join(_part(part) for part in content)


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return text_of(part)
    if isinstance(text := part.get("text"), str):
        return text
    if part.get("type") == "tool_reference":
        return f"[tool {part.get('tool_name', '')}]"
    return picture(part.get("type"), part.get("source"))


def picture(kind: Any, source: Any) -> str:
    """One line in place of an image or document."""
    source = source if isinstance(source, dict) else {}
    return texts.picture(kind, source.get("media_type", ""), source.get("data"), source.get("url", ""))


def outcome(block: Block | Returned, text: str, twin: Twin | Other, kind: ToolKind | None, denial: Any) -> ToolResult:
    """The result of one call.

    Args:
        block: The ``tool_result`` block.
        text: Its text.
        twin: The structured twin beside the message; only where the record holds this one result.
        kind: The kind of the call; None where the call is not in the file.
        denial: The record's own word for a refusal.
    """
    status, code, source = _status(block, text, twin, kind, denial)
    fields = twin if type(twin) is Twin else _NO_TWIN
    how = ended(
        status if kind is not None else "orphan",
        code,
        source,
        fields.truncated is True or type(fields.persisted_output_path) is str or text.startswith(PERSISTED),
        _changes(fields) if fields.file_path is not None else (),
        f"agent-{fields.agent_id}" if type(fields.agent_id) is str and fields.agent_id else None,
        _external(text, fields),
    )
    call_id = block.tool_use_id if type(block.tool_use_id) is str else ""
    return ToolResult(call_id, how, None if fields is _NO_TWIN else _duration(fields))


def _external(text: str, fields: Twin) -> str | None:
    if type(fields.persisted_output_path) is not str and not text.startswith(PERSISTED):
        return None
    return name_of(text, fields.persisted_output_path)


def _status(
    block: Block | Returned, text: str, twin: Twin | Other, kind: ToolKind | None, denial: Any
) -> tuple[ResultStatus, int | None, ExitFrom]:
    if block.is_error is True:
        return _error(text, twin, kind, denial)
    if type(twin) is Twin:
        if twin.interrupted is True:
            return "interrupted", None, "none"
        if twin.background_task_id or twin.is_async is True or twin.status in _RUNNING or _goes_on(twin):
            return "running", None, "none"
        code = _exit_field(twin)
        if code is not None:
            return ("ok" if code == 0 else "failed"), code, "field"
        if kind == "execute" or (kind is None and twin.interrupted is False):
            # The program reports every other exit as an error or with an interpretation of the code,
            # so an uninterrupted, finished command without either ended with 0.
            if twin.interrupted is False and not twin.return_code_interpretation:
                return "ok", 0, "field"
            return "unknown", None, "none"
    elif kind == "execute":
        return "unknown", None, "none"
    return "ok", None, "none"


def _error(
    text: str, twin: Twin | Other, kind: ToolKind | None, denial: Any
) -> tuple[ResultStatus, int | None, ExitFrom]:
    if (
        denial
        or text.startswith(_DENIED)
        or (isinstance(twin, str) and twin.removeprefix("Error: ").startswith(_DENIED))
    ):
        return "denied", None, "none"
    if text.startswith(_INTERRUPTED) or (isinstance(twin, Twin) and twin.interrupted is True):
        return "interrupted", None, "none"
    found = _EXIT.match(text) if kind in ("execute", None) else None
    return ("failed", int(found[1]), "text") if found else ("failed", None, "none")


def _task(twin: Twin) -> dict[str, Any]:
    return twin.task if isinstance(twin.task, dict) else {}


def _goes_on(twin: Twin) -> bool:
    """Whether a command in the background that was asked after has not ended."""
    return twin.task is not None and _task(twin).get("status") == "running"


def _exit_field(twin: Twin) -> int | None:
    if twin.exit_code is None and twin.task is None:
        return None
    for value in (twin.exit_code, _task(twin).get("exitCode")):
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def _duration(twin: Twin) -> float | None:
    if twin.duration_ms is None and twin.total_duration_ms is None:
        return None
    for value in (twin.duration_ms, twin.total_duration_ms):
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return value / 1000
    return None


def _changes(twin: Twin) -> tuple[FileChange, ...]:
    """The file that an edit or write changed; a read has a path of its own elsewhere and none here."""
    if not isinstance(twin.file_path, str) or not isinstance(twin.structured_patch, list):
        return ()
    if twin.type == "create":
        content = twin.content if isinstance(twin.content, str) else None
        lines = None if content is None else content.count("\n") + (content[-1:] not in ("", "\n"))
        return (FileChange(path=twin.file_path, op="create", added=lines, removed=0),)
    rows: list[str] = []
    added = removed = 0
    for hunk in twin.structured_patch:
        if not isinstance(hunk, dict) or not isinstance(hunk.get("lines"), list):
            return (FileChange(path=twin.file_path),)
        rows.append(
            f"@@ -{hunk.get('oldStart')},{hunk.get('oldLines')} +{hunk.get('newStart')},{hunk.get('newLines')} @@"
        )
        for line in hunk["lines"]:
            if isinstance(line, str):
                rows.append(line)
                added += line.startswith("+")
                removed += line.startswith("-")
    diff = "\n".join(rows)[:DIFF_LIMIT]
    return (FileChange(path=twin.file_path, added=added, removed=removed, diff=diff or None),)
