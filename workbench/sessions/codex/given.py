"""What a Codex file states of all that the model is given before the conversation: its first record holds it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from workbench.sessions.lines import BAD
from workbench.sessions.packed import Unpacked, is_packed, present
from workbench.sessions.texts import text_of

_HEAD = 4 << 20
"""Bytes at the beginning in which the record is looked for."""
_LINES = 8


class _Meta(msgspec.Struct, gc=False):
    base_instructions: Any = None
    instructions: Any = None
    dynamic_tools: Any = None


class _Line(_Meta, gc=False):
    type: Any = None
    payload: _Meta | str | int | float | bool | list[msgspec.Raw] | None = None


_decode = msgspec.json.Decoder(_Line).decode


def given(path: Path) -> Sequence[tuple[str, str]]:
    """The instructions and the client's tools, each with its name.

    Raises:
        OSError: The file cannot be read.
        StorageError: It cannot be unpacked.
    """
    path = present(path)
    with path.open("rb", buffering=0) as file:
        head = Unpacked(file, path).read(_HEAD) if is_packed(path) else file.read(_HEAD)
    for raw in head.split(b"\n", _LINES)[:_LINES]:
        try:
            line = _decode(raw)
        except BAD:
            continue
        if line.type == "session_meta" and type(line.payload) is _Meta:
            return _pieces(line.payload)
        if line.type is None and line.instructions is not None:
            return _pieces(line)
    return ()


def _pieces(meta: _Meta) -> Sequence[tuple[str, str]]:
    base = meta.base_instructions
    texts = (
        ("base instructions", base.get("text") if isinstance(base, dict) else base),
        ("instructions", meta.instructions),
        ("tools of the client", text_of(meta.dynamic_tools) if meta.dynamic_tools else None),
    )
    return tuple((name, text) for name, text in texts if isinstance(text, str) and text)
