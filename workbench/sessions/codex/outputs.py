"""What came back from a call: its text, and how it ended where that is said. What is not said is unknown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from workbench.domain.message import ToolKind
from workbench.sessions.texts import picture, text_of

_HEADS = ("Exit code:", "Chunk ID:", "Wall time", "Command:", "Process ", "Script ")
"""How the program's own lines above an output begin."""
_LINE = re.compile(
    r"^(?:Exit code: (-?\d{1,10})|Process exited with code (-?\d{1,10})|Process running with session ID (\S+))\s*$",
    re.MULTILINE,
)
ended = re.compile(
    r"(?:Command: [^\n]*+\n)?+(?:Chunk ID: [^\n]*+\n)?+Wall time: ([0-9]++\.[0-9]++) seconds\n"
    r"Process exited with code (-?+[0-9]{1,10}+)\nOriginal token count: [^\n]*+\nOutput:\n"
).match
"""The lines above nearly every output of a command that ended: how long it took, and its exit code."""
_WALL = re.compile(r"^Wall time:? ([0-9.]+) seconds", re.MULTILINE)
_HEAD_LIMIT = 16_384
_WRAPPED = ('{"output"', '{"metadata"')
"""How an output begins that is JSON in a text, with how the command ended beside it."""


class Output(msgspec.Struct, gc=False):
    """An output read by itself."""

    text: str
    exit_code: int | None = None
    exit_from_field: bool = False
    success: bool | None = None
    duration: float | None = None
    process: str | None = None
    """The process that goes on running."""


def understand(output: Any, kind: ToolKind | None, success: Any = None) -> Output:
    """An output in any of its shapes: text, JSON in text, parts, an object."""
    said = success if isinstance(success, bool) else None
    if isinstance(output, str):
        if output.startswith(_WRAPPED):
            fields = _json(output)
            if isinstance(fields, dict) and isinstance(fields.get("output"), str):
                return _fields(fields, said)
        return _plain(output, output, kind, said)
    if isinstance(output, dict):
        return _fields(output, said)
    if isinstance(output, list):
        parts = [_part(part) for part in output]
        text = "\n".join(part.removesuffix("\n") for part in parts[:-1])
        whole = f"{text}\n{parts[-1]}" if len(parts) > 1 else "".join(parts)
        return _parts(parts, whole, kind, said)
    return Output("" if output is None else text_of(output), success=said)


def _json(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def _fields(fields: dict[str, Any], success: bool | None) -> Output:
    metadata = fields.get("metadata") if isinstance(fields.get("metadata"), dict) else {}
    assert isinstance(metadata, dict)
    code = metadata.get("exit_code")
    text = fields.get("output", fields.get("content"))
    said = fields.get("success")
    return Output(
        text if isinstance(text, str) else text_of(fields if text is None else text),
        exit_code=_code(code),
        exit_from_field=_code(code) is not None,
        success=said if isinstance(said, bool) else success,
        duration=number(metadata.get("duration_seconds")),
    )


def _part(part: Any) -> str:
    if isinstance(part, dict):
        text = part.get("text")
        if isinstance(text, str):
            return text
        if "image_url" in part:
            return image(part["image_url"])
    return text_of(part)


def image(url: Any) -> str:
    """One line for a picture, whose data stand in its address."""
    if isinstance(url, str) and url.startswith("data:"):
        kind, _, data = url[5:].partition(",")
        return picture("image", kind.partition(";")[0], data)
    return picture("image", "", None, url if isinstance(url, str) else "")


def _plain(head: str, text: str, kind: ToolKind | None, success: bool | None) -> Output:
    """Text above which the program may have written how the command ended."""
    if not head.startswith(_HEADS):
        return Output(text, success=success)
    told = ended(head)
    if told is not None:
        return Output(text, int(told[2]), False, success, float(told[1]))
    end = head.find("\nOutput:\n", 0, _HEAD_LIMIT)
    head = head[: end + 1] if end >= 0 else head[:_HEAD_LIMIT]
    code: int | None = None
    process: str | None = None
    # The last such line is the program's; one above it belongs to the command that it repeats.
    for found in _LINE.finditer(head):
        said = found[1] or found[2]
        code, process = (int(said), None) if said else (None, found[3])
    wall = _WALL.search(head)
    failed = head.startswith("Script failed")
    return Output(
        text,
        exit_code=code,
        success=False if failed else success,
        duration=float(wall[1]) if wall and wall[1].count(".") < 2 and wall[1] != "." else None,
        process=process,
    )


def _parts(parts: Sequence[str], whole: str, kind: ToolKind | None, success: bool | None) -> Output:
    if not parts:
        return Output("", success=success)
    first = _plain(parts[0], whole, kind, success)
    if not parts[0].startswith("Script ") or len(parts) < 2 or kind != "execute" or first.success is False:
        return first
    # A script that hands on the result of its one command as it got it.
    handed = _json(parts[1]) if parts[1].startswith("{") else None
    code = _code(handed.get("exit_code")) if isinstance(handed, dict) else None
    return Output(whole, code, code is not None, first.success, first.duration)


def _code(value: Any) -> int | None:
    return value if type(value) is int else None


def seconds(duration: Any) -> float | None:
    """A duration as the program writes it."""
    if isinstance(duration, dict):
        secs, nanos = duration.get("secs"), duration.get("nanos")
        if type(secs) is int and type(nanos) is int:
            return secs + nanos / 1e9
    return number(duration)


def number(value: Any) -> float | None:
    """A number that is one, and of a size that means something."""
    return float(value) if isinstance(value, (int, float)) and abs(value) < 1e12 and value is not True else None
