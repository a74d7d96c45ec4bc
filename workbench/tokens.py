"""Counting tokens: exact encodings loaded when first used, and two estimates that need nothing.

A count takes any text as ordinary text: what looks like a special token, NUL and lone surrogates
are counted, never refused.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence
from typing import Protocol

from workbench.errors import UsageError

NAMES = ("o200k", "cl100k", "t0", "bytes")
"""The names that :func:`counter` takes."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_BASE64_RUN = re.compile(r"[A-Za-z0-9+/_-]{64,}={0,2}")
_PROSE, _JSON, _BASE64 = 4.0, 3.0, 1.46
"""Bytes to a token, by kind of text."""


class Counter(Protocol):
    """A way to count tokens."""

    @property
    def name(self) -> str:
        """What the figures are labelled with."""
        ...

    @property
    def estimated(self) -> bool:
        """Whether the figures are estimates, shown with ``≈``."""
        ...

    def count(self, text: str) -> int:
        """Tokens of ``text``."""
        ...

    def count_all(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each of ``texts``; quicker than one by one where there are many."""
        ...


class _Exact:
    """A byte-pair encoding whose vocabulary lies inside the tokenizer's wheel."""

    estimated = False

    def __init__(self, name: str, encoding: str) -> None:
        self.name = name
        self._encoding = encoding

    def count(self, text: str) -> int:
        """Tokens of ``text``."""
        return self._counted([text], threads=1)[0]

    def count_all(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each of ``texts``, counted over the cores."""
        return self._counted(list(texts), threads=0)

    def _counted(self, texts: list[str], threads: int) -> list[int]:
        # Loading the vocabulary costs tenths of a second, so it waits for the first count.
        from toktok import batch_count  # type: ignore[import-untyped]

        try:
            return list(batch_count(texts, self._encoding, threads))
        except UnicodeEncodeError:
            whole = [_SURROGATE.sub("\ufffd", text) for text in texts]
            return list(batch_count(whole, self._encoding, threads))


class _Estimate:
    """Bytes by kind, line by line: so the lines of a text never add up to less than the text."""

    name = "t0"
    estimated = True

    def count(self, text: str) -> int:
        """Tokens of ``text``, estimated."""
        return math.ceil(sum(_line_weight(line) for line in text.split("\n")))

    def count_all(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each of ``texts``, estimated."""
        return [self.count(text) for text in texts]


class _Bytes:
    """UTF-8 bytes, where a limit is one of size."""

    name = "bytes"
    estimated = False

    def count(self, text: str) -> int:
        """Bytes of ``text``."""
        return _size(text)

    def count_all(self, texts: Sequence[str]) -> list[int]:
        """Bytes of each of ``texts``."""
        return [_size(text) for text in texts]


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _line_weight(line: str) -> float:
    # The line's own newline is part of it; the last line of a text pays for one that is not there.
    size = _size(line) + 1
    weight = 0.0
    if len(line) >= 64:
        for run in _BASE64_RUN.findall(line):
            if _looks_encoded(run):
                size -= len(run)
                weight += len(run) / _BASE64
    return weight + size / (_JSON if _looks_like_json(line) else _PROSE)


def _looks_encoded(run: str) -> bool:
    # A long path or identifier has no mix of all three; encoded bytes do.
    return any(c.isdigit() for c in run) and any(c.isupper() for c in run) and any(c.islower() for c in run)


def _looks_like_json(line: str) -> bool:
    start = line.lstrip()[:1]
    return start in ("{", "[", '"') and '":' in line


@functools.cache
def counter(name: str) -> Counter:
    """The counter of that name; one object for each.

    Args:
        name: ``o200k`` or ``cl100k`` (exact), ``t0`` (bytes by kind, estimated) or ``bytes``.

    Raises:
        UsageError: There is no such tokenizer.
    """
    if name == "o200k":
        return _Exact("o200k", "o200k_base")
    if name == "cl100k":
        return _Exact("cl100k", "cl100k_base")
    if name == "t0":
        return _Estimate()
    if name == "bytes":
        return _Bytes()
    raise UsageError(f"no tokenizer {name!r}", "one of: " + ", ".join(NAMES))
