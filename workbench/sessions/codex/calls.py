"""What is known of each call, and what follows from it for its result."""

from __future__ import annotations

import re

import msgspec

from workbench.domain.message import FileChange, ResultStatus, ToolKind, ToolResult, ended
from workbench.sessions.codex.outputs import Output

OUTPUT_HEAD = 2000
"""Characters of an output that can decide how its call ended; a refusal is shorter."""
_REFUSED = re.compile(
    r"\b(?:rejected by user|rejected by the user|user rejected|denied by|reject command|requires approval, but)",
    re.IGNORECASE,
)
_ABORTED = re.compile(r"\A(?:aborted|command (?:was )?aborted|tool call (?:was )?aborted)", re.IGNORECASE)


class Known(msgspec.Struct, gc=False):
    """One call, from all the records that speak of it, in whatever order they come."""

    place: int = -1
    """Of its message; negative while the file has not brought it."""
    kind: ToolKind | None = None
    turn: int = 0
    patching: bool = False
    """Whether its output may say that a patch was applied."""
    answer: int = -1
    """Place of its result."""
    output: Output | None = None
    """What the result says by itself."""
    exit_code: int | None = None
    duration: float | None = None
    success: bool | None = None
    changes: tuple[FileChange, ...] = ()
    child: str | None = None


def judged(call_id: str, output: Output, known: Known) -> ToolResult:
    """The result of a call; one whose call is not in the file is an orphan."""
    code = known.exit_code if known.exit_code is not None else output.exit_code
    field_code = known.exit_code is not None or output.exit_from_field
    outcome = ended(
        "orphan" if known.kind is None else _status(known.kind, code, output, known),
        code,
        "none" if code is None else "field" if field_code else "text",
        False,
        known.changes,
        known.child,
    )
    return ToolResult(call_id, outcome, known.duration if known.duration is not None else output.duration)


def _status(kind: ToolKind, code: int | None, output: Output, known: Known) -> ResultStatus:
    if code is not None:
        return "ok" if code == 0 else "failed"
    if output.process is not None:
        return "running"
    success = known.success if known.success is not None else output.success
    text = output.text
    if _ABORTED.match(text):
        return "interrupted"
    if success is not True and len(text) < OUTPUT_HEAD and _REFUSED.search(text):
        return "denied"
    if success is not None and kind != "execute":
        return "ok" if success else "failed"
    if kind == "todo" and text.strip() == "Plan updated":
        return "ok"
    return "failed" if success is False else "unknown"
