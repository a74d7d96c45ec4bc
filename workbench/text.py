"""The one way from stored text to any screen, print or picture: visible, harmless, bounded.

Files, agents and tools are data. Whatever could drive a terminal (escape sequences, C1, bidi
overrides) is shown as a symbol, and brackets stay brackets: callers hand the result to widgets as
``Content`` or ``Text``, never as markup. What is stored is not changed by this.
"""

from __future__ import annotations

import re

# C0 control characters have their own pictures (U+2400 block); DEL has U+2421.
_PICTURES = {code: chr(0x2400 + code) for code in range(0x20)} | {0x7F: "\u2421"}
# C1 controls, bidi embeddings, overrides and isolates, invisible joiners that hide text, lone surrogates.
_HIDDEN = re.compile(
    "[\u0080-\u009f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f]")  # all but the newline
MARKS_IN_A_ROW = 4
"""Combining marks kept on one character; more would climb over neighbouring lines."""
_MARK_RUN = re.compile(r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{5,}")


def _name(match: re.Match[str]) -> str:
    code = ord(match.group())
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else f"<U+{code:04X}>"


def _few_marks(match: re.Match[str]) -> str:
    return match.group()[:MARKS_IN_A_ROW] + "\u2026"


def safe(text: str, *, tab: str = "    ") -> str:
    """``text`` with every control, bidi and invisible character made visible; newlines stay.

    CRLF becomes LF; a lone CR is shown, so that it cannot overwrite the line it stands in. NUL and
    ESC become their pictures. Ordinary text, emoji and CJK included, comes back unchanged.
    """
    if text.isprintable() or text.replace("\n", "").isprintable():
        # Whatever is made visible below is not printable, but for marks.
        return text if text.isascii() else _MARK_RUN.sub(_few_marks, text)
    text = text.replace("\r\n", "\n").replace("\t", tab)
    text = _CONTROL.sub(lambda m: _PICTURES[ord(m.group())], text)
    if text.isascii():
        return text
    text = _HIDDEN.sub(_name, text)
    return _MARK_RUN.sub(_few_marks, text)


def one_line(text: str, limit: int = 200) -> str:
    """``text`` as a single safe line of at most ``limit`` characters; a cut ends in an ellipsis."""
    if len(text) <= limit and text.isascii() and text.isprintable() and "  " not in text and text == text.strip():
        return text  # most are that already
    for reach in (limit * 2, limit * 4):
        flat = " ".join(safe(text[:reach]).split())
        if len(flat) > limit + MARKS_IN_A_ROW + 2:
            break  # a run of marks or a line end that was cut in two lies behind what is kept
    return flat if len(flat) <= limit else flat[: max(0, limit - 1)] + "\u2026"


def clip_lines(text: str, lines: int, width: int = 2000) -> tuple[str, int]:
    """The first ``lines`` safe lines, each cut at ``width``, and how many lines were left off."""
    rows = safe(text).split("\n")
    kept = [row if len(row) <= width else row[: width - 1] + "\u2026" for row in rows[:lines]]
    return "\n".join(kept), max(0, len(rows) - lines)
