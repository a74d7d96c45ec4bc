"""Whose words stand in the user's place: a person's, or what the program writes there."""

from __future__ import annotations

import re
from typing import Any

_WRAPPED = re.compile(r"\A<([a-z][a-z_]*)(?: [^<>]*)?>.*</\1>\Z", re.DOTALL)
"""A whole text in one pair of the program's tags; their names are words joined by underscores."""
_OPENINGS = ("<permissions instructions>", "<turn_aborted>", "<user_instructions>", "<INSTRUCTIONS>", "<skill>")
_DOCUMENT = "# AGENTS.md instructions"
_SUMMARY = "Another language model started to solve this problem"
"""What a conversation that ran out of room begins anew with."""
_EDITOR = "# Context from my IDE setup:"
_REQUEST = re.compile(r"^## My request for Codex:[ \t]*\n?", re.MULTILINE)
_SHELL = "<user_shell_command>"
_CWD = re.compile(r"<cwd>([^<\n]+)</cwd>")


def is_harness(text: str) -> bool:
    """Whether the program wrote this text in the user's place."""
    start = text.lstrip()
    if start.startswith((_DOCUMENT, _SUMMARY, *_OPENINGS)):
        return True
    return start.startswith("<") and _WRAPPED.match(start.rstrip()) is not None


def parted(text: str) -> tuple[str, str]:
    """A person's words, and apart from them the files and selections that an editor puts before them.

    They begin behind the last heading of the request: what she selected may hold such a line, too.
    """
    if not text.lstrip().startswith(_EDITOR):
        return text, ""
    asked = list(_REQUEST.finditer(text))
    return (text[asked[-1].end() :].strip(), text[: asked[-1].start()].strip()) if asked else ("", text)


def is_shell(text: str) -> bool:
    """Whether a text is a command that the person ran past the agent, with its output."""
    return text.startswith(_SHELL)


def stated(passthrough: Any, part: int) -> str | None:
    """Who wrote a part, where the record says so: ``user``, ``harness``, or another word of the program's.

    Args:
        passthrough: What the record carries beside its content.
        part: Which part.
    """
    rows = passthrough.get("content_item_metadata") if isinstance(passthrough, dict) else None
    row: Any = rows[part] if isinstance(rows, list) and part < len(rows) else None
    provenance = row.get("provenance") if isinstance(row, dict) else None
    kind = provenance.get("type") if isinstance(provenance, dict) else None
    return kind if isinstance(kind, str) else None


def folder_in(text: str) -> str | None:
    """The working folder that the program tells the model; files of the first versions state it nowhere else."""
    if not text.startswith("<environment_context>"):
        return None
    found = _CWD.search(text, 0, 4096)
    return found[1].strip() if found else None
