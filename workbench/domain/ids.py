"""Identifiers: random, never from a counter, short enough to type, without look-alike letters."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""``0-9a-z`` without ``i l o u``."""
LENGTH = 10
_ID = re.compile(rf"[{ALPHABET}]{{{LENGTH}}}")


def new_id() -> str:
    """A fresh id of ten characters (50 random bits)."""
    return _spelled(int.from_bytes(os.urandom(8), "big"))


def id_from(*seed: str) -> str:
    """An id in the same form that is always the same for the same seed: for what is derived and stored nowhere."""
    number = int.from_bytes(hashlib.sha256("\0".join(seed).encode("utf-8", "replace")).digest()[:8], "big")
    return _spelled(number)


def _spelled(number: int) -> str:
    return "".join([ALPHABET[(number >> 5 * place) & 31] for place in range(LENGTH)])


def is_id(text: str) -> bool:
    """Whether ``text`` has the form of an id; file names are built only from such."""
    return _ID.fullmatch(text) is not None


def slugify(title: str, limit: int = 40) -> str:
    """A readable name for a task: letters and digits of any script, joined by dashes."""
    words = re.findall(r"[^\W_]+", unicodedata.normalize("NFC", title).lower())
    slug = ""
    for word in words:
        longer = f"{slug}-{word}" if slug else word[:limit]
        if len(longer) > limit:
            break
        slug = longer
    return slug or "task"
