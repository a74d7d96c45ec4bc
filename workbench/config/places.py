"""Where keys stand in a TOML file: the parser does not say, and a warning without a line is half a warning.

The scanner runs over text that ``tomllib`` has accepted, so it needs to know only where keys,
strings, comments and brackets begin and end.
"""

from __future__ import annotations

import re

Path = tuple[str | int, ...]
_SKIP = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(r'"""(?:\\.|[^\\])*?"""(?!")|\'\'\'.*?\'\'\'(?!\')|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'', re.DOTALL)
_PLAIN = re.compile(r"[^\"'#\[\]{}\n]+|#[^\n]*")


def key_lines(text: str) -> dict[Path, int]:
    """Line (from 1) of every table header and key of an accepted TOML text; keys in inline tables are left out."""
    places: dict[Path, int] = {}
    table: Path = ()
    counts: dict[Path, int] = {}
    at = 0
    while True:
        at = _skip(text, at)
        if at >= len(text):
            return places
        line = text.count("\n", 0, at) + 1
        if text[at] == "[":
            is_list = text.startswith("[[", at)
            names, at = _key(text, at + (2 if is_list else 1))
            table = _resolve(names, counts)
            if is_list:
                index = counts[table] = counts.get(table, -1) + 1
                table = (*table, index)
            at += 2 if is_list else 1
            places.setdefault(table, line)
        else:
            names, at = _key(text, at)
            at = _value_end(text, at + 1)
            for depth in range(1, len(names) + 1):
                places.setdefault((*table, *names[:depth]), line)


def line_of(places: dict[Path, int], path: Path) -> int:
    """The line of ``path``, else of the nearest enclosing table that has one, else 1."""
    for depth in range(len(path), 0, -1):
        if path[:depth] in places:
            return places[path[:depth]]
    return 1


def _skip(text: str, at: int) -> int:
    found = _SKIP.match(text, at)
    return found.end() if found else at


def _key(text: str, at: int) -> tuple[list[str], int]:
    """A dotted key at ``at``: its parts, and the position of what follows it (``=`` or ``]``)."""
    names: list[str] = []
    while True:
        at = _skip(text, at)
        quoted = _STRING.match(text, at)
        bare = _BARE.match(text, at)
        if quoted:
            names.append(quoted.group()[1:-1])
            at = quoted.end()
        elif bare:
            names.append(bare.group())
            at = bare.end()
        at = _skip(text, at)
        if at >= len(text) or text[at] != ".":
            return names, at
        at += 1


def _resolve(names: list[str], counts: dict[Path, int]) -> Path:
    """A header's path, with the index of the newest element after each list of tables on the way."""
    path: Path = ()
    for number, name in enumerate(names):
        path = (*path, name)
        if path in counts and number < len(names) - 1:
            path = (*path, counts[path])
    return path


def _value_end(text: str, at: int) -> int:
    """The end of the value that begins at ``at``: the next newline outside strings and brackets."""
    depth = 0
    while at < len(text):
        token = _STRING.match(text, at) or _PLAIN.match(text, at)
        if token:
            at = token.end()
            continue
        if text[at] == "\n" and depth <= 0:
            return at
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(text[at], 0)
        at += 1
    return at
