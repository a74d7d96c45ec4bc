"""From texts and questions to what the full-text index compares: words, and single CJK characters.

The index cuts at everything that is neither letter nor digit. Chinese and Japanese have no spaces to
cut at, so each such character is put by itself, and a run of them is asked for as a phrase. Whatever
a person types is a valid question: every part of it is quoted, and what holds no word at all is left
to a plain comparison of strings.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

_CJK = (
    "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
    "\u3005-\u3007\u1100-\u11ff\u3130-\u318f"
)
_ONE = re.compile(f"([{_CJK}])")


def spaced(text: str) -> str:
    """``text`` as the index takes it: compatible forms made one, every CJK character by itself."""
    if text.isascii():
        return text.replace("\x00", " ")
    # Half of a character, as broken files hold it, has no bytes that could be stored.
    whole = text.replace("\x00", " ").encode("utf-8", "replace").decode("utf-8")
    return _ONE.sub(r" \1 ", unicodedata.normalize("NFKC", whole))


def phrase(text: str, *, beginning: bool = False) -> str:
    """``text`` as a phrase of the index's query language; empty where it holds no word.

    Args:
        text: What was typed.
        beginning: Whether the last word may go on.
    """
    plain = spaced(text).replace('"', " ").strip()
    if not any(character.isalnum() for character in plain):
        return ""
    # A CJK character is a word by itself, and no word begins with it but that.
    goes_on = beginning and plain[-1].isalnum() and not _ONE.match(plain[-1])
    return f'"{plain}"' + (" *" if goes_on else "")


@dataclass(frozen=True)
class Question:
    """What was typed, in the ways in which it is asked: the strictest first."""

    text: str
    """As typed, without the space around it."""
    words: tuple[str, ...]
    """Each part as a phrase; parts without a word are left out."""

    @classmethod
    def of(cls, text: str) -> Question:
        """The question that ``text`` is."""
        plain = text.strip()
        found = (phrase(part) for part in plain.split())
        return cls(plain, tuple(dict.fromkeys(part for part in found if part)))

    @property
    def plain(self) -> bool:
        """Whether it is nothing but words, so that a phrase of them is all there is to it."""
        return all(part.isalnum() for part in self.text.split())

    @property
    def whole(self) -> str:
        """All of it, one word right after the other."""
        return phrase(self.text)

    @property
    def scattered(self) -> str:
        """All parts of it, wherever they stand, but not one right after the other; empty for a single part."""
        return f"({' AND '.join(self.words)}) NOT {self.whole}" if len(self.words) > 1 else ""

    @property
    def begun(self) -> str:
        """All of it, one word right after the other, where the last is the beginning of a longer word."""
        start = phrase(self.text, beginning=True)
        return f"{start} NOT {self.whole}" if start.endswith("*") else ""

    @property
    def beginning(self) -> str:
        """All parts of it, wherever they stand, where the last is the beginning of a longer word."""
        typed = self.text.split()[-1]
        start = phrase(typed, beginning=True)
        if len(self.words) < 2 or not start.endswith("*"):
            return ""
        others = [word for word in self.words if word != phrase(typed)]
        stricter = f"({' AND '.join(self.words)}) OR ({phrase(self.text, beginning=True)})"
        return f"({' AND '.join((*others, start))}) NOT ({stricter})"
