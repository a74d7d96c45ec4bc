"""The form of the files: canonical JSON, written one way and read strictly where it was not.

A parser that accepts duplicate keys or turns a long number into a rounded one would let damage pass
for data. Bytes that are not exactly what we would write for them are therefore read a second time,
strictly; bytes that are need only one fast pass.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Any, NoReturn

import msgspec
import orjson

from workbench.domain.record import SCHEMA
from workbench.errors import UsageError

MAX_DEPTH = 100
SAFE_INTEGER = 2**53
_FILE = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
_LINE = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
_DIGITS = bytes(0x30 if 0x30 <= byte <= 0x39 else 0x20 for byte in range(256))
_LONG_NUMBER = b"0" * 16
_MARKERS = re.compile(r"^(<{7}|>{7}|={7})(?: |$)", re.MULTILINE)


class Unreadable(Exception):
    """Bytes that are no document; the one who knows the path turns it into damage or an error."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


class NewerSchema(Unreadable):
    """A document of a later program: whole, but not ours to read or write."""


def canonical(document: Any) -> bytes:
    """The bytes of a record's file: sorted keys, two blanks, UTF-8 as itself, final newline."""
    return orjson.dumps(document, option=_FILE)


def as_stored(record: msgspec.Struct) -> bytes:
    """The same of a record, quicker; very large numbers with a fraction look otherwise, and mean the same."""
    return msgspec.json.format(_encoder().encode(record), indent=2) + b"\n"


@cache
def _encoder() -> msgspec.json.Encoder:
    return msgspec.json.Encoder(order="sorted")


def canonical_line(document: Any) -> bytes:
    """The bytes of a line of an append-only file, newline included."""
    return orjson.dumps(document, option=_LINE)


def digest(data: bytes) -> str:
    """SHA-256 of bytes, as text."""
    return hashlib.sha256(data).hexdigest()


def has_long_number(data: bytes) -> bool:
    """Whether digits stand in them that may be a number beyond 2^53."""
    return _LONG_NUMBER in data.translate(_DIGITS)


def storable(value: Any) -> Any:
    """A copy of a JSON value that reads back as itself: lone surrogates replaced.

    Raises:
        UsageError: It holds what JSON cannot carry safely: NaN, an integer beyond 2^53, a key that
            is no string, another type, or nesting deeper than 100.
    """
    try:
        return _plain(value, 0)
    except _Odd:
        return _named(value)


class _Odd(Exception):
    """Something that is looked at more closely."""


def _plain(value: Any, depth: int) -> Any:
    """The same of what records are nearly always made of, without a thought of where in it we are."""
    kind = type(value)
    if (kind is str and value.isascii()) or value is None or kind is bool:
        return value
    if kind is str:
        return value.encode("utf-8", "replace").decode()
    if kind is int and -SAFE_INTEGER <= value <= SAFE_INTEGER:
        return value
    if depth >= MAX_DEPTH:
        raise _Odd
    if kind is list or kind is tuple:
        return [_plain(item, depth + 1) for item in value]
    if kind is not dict:
        raise _Odd
    plain: dict[str, Any] = {}
    for key, item in value.items():
        if type(key) is not str or not key.isascii():
            raise _Odd
        # Most values are short words; a call for each of them is what takes the time.
        plain[key] = item if (type(item) is str and item.isascii()) or item is None else _plain(item, depth + 1)
    return plain


def _named(value: Any, place: str = "$", depth: int = 0) -> Any:
    """The same of anything, with the place of what cannot be stored."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if abs(value) > SAFE_INTEGER:
            raise UsageError(f"{place}: a number beyond 2^53 is not kept exactly", "give it as a string")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise UsageError(f"{place}: {value} is no JSON number", "give it as a string, or null")
        return value
    if depth >= MAX_DEPTH:
        raise UsageError(f"{place[:40]}...: nested deeper than {MAX_DEPTH}", "keep it as a file and name its path")
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise UsageError(f"{place}: a key that is no string", "use strings as keys")
        return {_named(k, place): _named(v, f"{place}.{k}", depth + 1) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_named(item, f"{place}[{index}]", depth + 1) for index, item in enumerate(value)]
    raise UsageError(f"{place}: {type(value).__name__} is no JSON value", "use text, numbers, lists and objects")


def read_document(data: bytes) -> dict[str, Any]:
    """The document in the bytes of a record's file.

    Raises:
        Unreadable: They hold none; with line and column where those are known.
    """
    return _read(data, _FILE)


def read_line(data: bytes) -> dict[str, Any]:
    """The document in one line, its newline left off.

    Raises:
        Unreadable: It holds none; the column is known, the line is the caller's.
    """
    return _read(data + b"\n", _LINE)


def documents_in(data: bytes) -> Iterator[dict[str, Any]]:
    """The lines of an append-only file that can be read."""
    for line in data.split(b"\n"):
        with suppress(Unreadable, RecursionError):
            if line:
                yield read_line(line)


def _read(data: bytes, form: int) -> dict[str, Any]:
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        _explain(data, error)
    if isinstance(document, dict):
        try:
            same = orjson.dumps(document, option=form) == data
        except orjson.JSONEncodeError:
            same = False  # deeper than can be written again: the strict reading says so
        if not same or has_long_number(data):
            _strict(data)
        schema = document.get("schema")
        if isinstance(schema, int) and schema > SCHEMA:
            line, column = locate(data, "schema")
            raise NewerSchema(f"schema {schema} is newer than this program knows ({SCHEMA})", line, column)
        return document
    raise Unreadable(f"an object is expected here, not {_kind(document)}", 1, 1)


def _kind(value: Any) -> str:
    names = {list: "a list", str: "a string", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")


def _explain(data: bytes, error: orjson.JSONDecodeError) -> NoReturn:
    if not data.strip(b" \t\r\n"):
        raise Unreadable("the file is empty", 1, 1) from None
    if not data.strip(b"\x00"):
        raise Unreadable("the file holds only NUL bytes", 1, 1) from None
    if data.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")):
        raise Unreadable("it begins with a byte order mark: save it as plain UTF-8", 1, 1) from None
    try:
        text = data.decode()
    except UnicodeDecodeError as wrong:
        line = data.count(b"\n", 0, wrong.start) + 1
        column = wrong.start - (data.rfind(b"\n", 0, wrong.start) + 1) + 1
        raise Unreadable(f"byte 0x{data[wrong.start]:02x} is not UTF-8", line, column) from None
    markers = _MARKERS.search(text)
    if markers is not None:
        line = text.count("\n", 0, markers.start()) + 1
        raise Unreadable("conflict markers of a merge stand in it", line, 1) from None
    raise Unreadable(error.msg, error.lineno, error.colno) from None


def _strict(data: bytes) -> None:
    """Read once more, accepting nothing that the fast parser lets pass."""

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(found)
        if len(result) != len(found):
            names = [name for name, _ in found]
            twice = next(name for name in names if names.count(name) > 1)
            raise Unreadable(f"the key {twice!r} occurs twice", *locate(data, twice, occurrence=1))
        return result

    def integer(digits: str) -> int:
        # Measured by length first: turning thousands of digits into a number is refused by Python itself.
        if len(digits) > 17 or abs(int(digits)) > SAFE_INTEGER:
            raise Unreadable("a number beyond 2^53", *position(data, data.find(digits.encode())))
        return int(digits)

    try:
        document = json.loads(data, object_pairs_hook=pairs, parse_int=integer)
        _measure(document)
    except RecursionError:
        raise Unreadable("nested too deep", 1, 1) from None
    except json.JSONDecodeError as error:
        raise Unreadable(error.msg, error.lineno, error.colno) from None


def _measure(value: Any, depth: int = 0) -> None:
    if depth > MAX_DEPTH + 20:
        raise Unreadable("nested too deep", 1, 1)
    if isinstance(value, dict):
        for item in value.values():
            _measure(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            _measure(item, depth + 1)


def position(data: bytes, offset: int) -> tuple[int, int]:
    """Line and column of a byte, both from 1."""
    offset = max(0, offset)
    return data.count(b"\n", 0, offset) + 1, offset - data.rfind(b"\n", 0, offset)


def locate(data: bytes, key: str, occurrence: int = 0) -> tuple[int | None, int | None]:
    """Line and column where a key stands in the bytes of a document."""
    pattern = re.escape(json.dumps(key, ensure_ascii=False).encode("utf-8", "replace")) + rb"\s*:"
    found = list(re.finditer(pattern, data))
    if not found:
        return None, None
    return position(data, found[min(occurrence, len(found) - 1)].start())
