"""Hints as a person at the command line can use them: what lists a kind of record is a command of its own."""

from __future__ import annotations

import re

LISTINGS = {
    "task": "task list",
    "attempt": "attempt list",
    "fact": "fact list",
    "alias": "fact list",
    "note": "note list",
    "artifact": "artifact list",
    "package": "handoff list",
    "evidence": "evidence list @",
}
"""The command that lists each kind of record."""
_NAMED = re.compile(r"\b(" + "|".join(LISTINGS) + r") list\b(?! @)")


def with_commands(hint: str) -> str:
    """A hint that names the listing of a kind, with the command that there is."""
    return _NAMED.sub(lambda named: f"workbench {LISTINGS[named[1]]}", hint) if "workbench" not in hint else hint
