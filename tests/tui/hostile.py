"""Texts that would drive a terminal or a screen, and a view in which everything free is one of them."""

from __future__ import annotations

import dataclasses
from typing import Any

import msgspec

SHORT = (
    "[red]x[/]",
    "[@click=app.bell]go[/]",
    "[/nope]",
    "[/",
    "[x] done",
    "arr[i] = b[j]",
    "$primary [$accent]",
    "\x1b[2J\x1b[H",
    "\x1b]52;c;UFdORUQ=\x07",
    "\x9b31m",
    "nul\x00bell\x07",
    "\u202eevil\u202c",
    "rm -rf /\rls",
    "back\b\b\bspace",
    "lone\udc80",
)
# Names that a rule or a lookup rests on; everything else that is text is poisoned.
STRUCTURAL = {
    *("kind", "role", "origin", "status", "trust", "lifecycle", "act", "disposition", "memory", "mode", "strategy"),
    *("id", "session", "call_id", "code", "key_", "verdict", "at", "scope", "check", "type", "launch", "known"),
    *("revision", "task", "after", "started_at", "updated_at", "observed_at", "op", "running", "exit_from"),
}


def poison(value: Any, text: str, name: str = "") -> Any:
    """A copy in which every free text is ``text``."""
    if isinstance(value, str):
        return value if name in STRUCTURAL else text
    if isinstance(value, tuple):
        return tuple(poison(item, text, name) for item in value)
    if isinstance(value, list):
        return [poison(item, text, name) for item in value]
    if isinstance(value, dict):
        return {text: poison(next(iter(value.values())), text, name)} if value else value
    if isinstance(value, msgspec.Struct):
        fields = {f.name: poison(getattr(value, f.name), text, f.name) for f in msgspec.structs.fields(value)}
        return msgspec.structs.replace(value, **fields)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: poison(getattr(value, f.name), text, f.name) for f in dataclasses.fields(value) if f.init}
        return dataclasses.replace(value, **fields)
    return value
