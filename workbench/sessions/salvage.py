"""Records out of damaged lines: torn, glued, padded with NUL, half-encoded.

Only lines that the quick decoder refused come here, so nothing of this is on the common path.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")
_OBJECT_START = re.compile(r'\{\s*"')
_BOM = b"\xef\xbb\xbf"
_NOTHING = " \t\r\x00\ufeff"
"""Characters whose loss is none."""
_TRIES = 64
"""Starts of an object tried in one line before it is given up: a hostile line costs no more than that."""
_SCAN_BUDGET = 128 * 1024 * 1024
"""Bytes scanned for one line, all tries together."""


def _number(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


# NaN, infinities and control characters in strings are not JSON, but agents have written them.
_DECODER = json.JSONDecoder(strict=False, parse_constant=lambda _name: None, parse_float=_number)


@dataclass(frozen=True)
class Salvaged:
    """What could be had from a line."""

    records: tuple[tuple[bytes, int, int], ...] = ()
    """Clean JSON of each record, with the bytes of the line that it came from."""
    lost: bool = False
    """Something of the line is gone for good."""


def salvage(line: bytes, is_record: Callable[[dict[str, Any]], bool]) -> Salvaged:
    """Every record that stands in a damaged line; a blank line holds none and has lost nothing.

    Args:
        line: The bytes between two newlines.
        is_record: Whether an object found inside a torn line is a record of its own, and not a piece of one.
    """
    body = line.removeprefix(_BOM).replace(b"\x00", b"").strip()
    if not body:
        return Salvaged(lost=b"\x00" in line)
    # Each invalid byte becomes one surrogate, so that places in the text can be told in bytes again.
    try:
        whole = _DECODER.decode(body.decode("utf-8", "surrogateescape"))
        return Salvaged(((_clean(whole), 0, len(line.rstrip())),)) if isinstance(whole, dict) else Salvaged(lost=True)
    except (ValueError, RecursionError):
        found, lost = _scan(line.decode("utf-8", "surrogateescape"), len(line), is_record)
        return Salvaged(tuple(found), lost)


def _scan(
    text: str, size: int, is_record: Callable[[dict[str, Any]], bool]
) -> tuple[list[tuple[bytes, int, int]], bool]:
    found: list[tuple[bytes, int, int]] = []
    lost = False
    position = last = 0
    tries = max(1, min(_TRIES, _SCAN_BUDGET // (size + 1)))
    while tries and (start := _OBJECT_START.search(text, position)):
        begin = start.start()
        clean = None
        try:
            value, end = _DECODER.raw_decode(text, begin)
            if isinstance(value, dict) and is_record(value):
                clean = _clean(value)
        except (ValueError, RecursionError):
            end = begin
        if clean is not None:
            lost = lost or bool(text[last:begin].strip(_NOTHING))
            found.append((clean, _bytes_before(text, begin), _bytes_before(text, end)))
            position = last = end
        else:
            tries -= 1
            position = begin + 1
    return found, lost or bool(text[last:].strip(_NOTHING))


def _bytes_before(text: str, position: int) -> int:
    return len(text[:position].encode("utf-8", "surrogateescape"))


def _clean(value: Any) -> bytes:
    """Strict JSON of ``value`` for the quick decoder: lone surrogates become U+FFFD."""
    return _SURROGATE.sub("\ufffd", json.dumps(value, ensure_ascii=False)).encode("utf-8")
