"""Signs that stand for others in a text that is judged, and its small letters."""

from __future__ import annotations

import re

CODE = "\ue000"
"""Stands for each character of code within a sentence."""
QUOTE = "\ue001"
"""Stands for each character of somebody else's words."""
HAN = "\u3400-\u9fff\uf900-\ufaff"


def small(text: str) -> str:
    """A text in small letters, character for character: in these a pattern is found in half the time."""
    return text.replace("\u0130", "I").lower()


_HALF_COMMA = re.compile(rf"(?<=[{HAN}]),|,(?=\s?[{HAN}])")


def full_commas(text: str) -> str:
    """A text in which a comma next to a Chinese character is a Chinese one, as its writer meant it."""
    return _HALF_COMMA.sub("，", text) if "," in text else text
