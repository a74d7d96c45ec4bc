"""Texts as every reader makes them: titles, values of any shape, arguments, one line for a picture."""

from __future__ import annotations

from typing import Any

import msgspec

ARGS_LIMIT = 4096
"""Characters of a call's arguments kept whole in memory; of larger ones long strings are cut."""
_STRING_LIMIT = 256
_TITLE_LIMIT = 120
NO_TIME = "3"
"""A time stamp begins with its year and sorts before this; another text in its place is none."""


def title_from(text: str) -> str:
    """A message as a title: one line, cut at a length that fits a list."""
    line = " ".join(text[: _TITLE_LIMIT * 4].split())
    return line if len(line) <= _TITLE_LIMIT else line[: _TITLE_LIMIT - 1] + "\u2026"


def text_of(value: Any) -> str:
    """Any JSON value as text: strings as themselves, the rest as compact JSON with sorted keys."""
    return value if isinstance(value, str) else msgspec.json.encode(value, order="sorted").decode()


def shortened(args: Any) -> Any:
    """Arguments with long strings cut: their whole text is the message's body."""
    if isinstance(args, str):
        return args if len(args) <= _STRING_LIMIT else args[:_STRING_LIMIT] + "\u2026"
    if isinstance(args, dict):
        return {key: shortened(value) for key, value in args.items()}
    if isinstance(args, list):
        return [shortened(value) for value in args[:_STRING_LIMIT]]
    return args


def picture(kind: Any, media_type: Any, data: Any, url: Any = "") -> str:
    """One line in place of an image or document: its type and how large it is."""
    where = f"{len(data) * 3 // 4} bytes" if isinstance(data, str) else url
    return "[" + " ".join(str(word) for word in (kind or "unknown", media_type, where) if word) + "]"
