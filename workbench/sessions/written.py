"""Whole contents that a session holds: what a call wrote to a file, where the call itself says all of it."""

from __future__ import annotations

import msgspec

_ADD = "*** Add File: "
_FILE = "*** "


def content(arguments: str, path: str) -> bytes | None:
    """The content of a file after a call, from the call's whole arguments.

    Args:
        arguments: As the session holds them: JSON with the content as a field, or a patch.
        path: The file, as the change names it.

    Returns:
        None where the call changed only a part of it, and the rest stands nowhere.
    """
    fields = _json(arguments)
    if isinstance(fields, dict):
        whole = fields.get("content")
        if isinstance(whole, str) and isinstance(fields.get("file_path", fields.get("path")), str):
            return _bytes(whole)
        patches = [value for value in (fields.get("input"), fields.get("patch")) if isinstance(value, str)]
        arguments = patches[0] if patches else ""
    return _added(arguments, path)


def _json(text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def _added(patch: str, path: str) -> bytes | None:
    """The file that a patch adds."""
    rows: list[str] | None = None
    for line in patch.split("\n"):
        if line.startswith(_ADD):
            rows = [] if _same(line.removeprefix(_ADD).strip(), path) else rows
        elif line.startswith(_FILE):
            if rows is not None:
                break
        elif rows is not None and line.startswith("+"):
            rows.append(line[1:] + "\n")
    return _bytes("".join(rows)) if rows is not None else None


def _same(named: str, path: str) -> bool:
    """Whether two spellings mean one file: one of them may be relative."""
    short, long = sorted((named.removeprefix("./"), path.removeprefix("./")), key=len)
    return bool(short) and (long == short or long.endswith("/" + short))


def _bytes(text: str) -> bytes | None:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return None
