"""Which keys exist, what they take, and who may set them: one table, and the check against it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.config.places import key_lines, line_of

Known = Mapping[str, "Setting"]
LARGEST = 2**53 - 1
"""The largest whole number that every program reads as it was written."""
MOST_DAYS = 36_500


@dataclass(frozen=True)
class Setting:
    """What a key takes."""

    wanted: str
    """For the message: *a text*, *a number above 0*."""
    read: Callable[[Any], Any]
    """The value as used; ValueError where it does not fit."""
    user_only: bool = False
    """Ignored, with a warning, in a workspace's file: it would run or read something."""


@dataclass
class Checked:
    """The part of a document that fits, and what did not."""

    values: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def _of(*kinds: type) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if type(value) not in kinds:
            raise ValueError
        return value

    return read


def _count(value: Any) -> int:
    if _natural(value) == 0:
        raise ValueError
    return int(value)


def _natural(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= LARGEST:
        raise ValueError
    return value


def _seconds(value: Any) -> float:
    if type(value) not in (int, float) or not 0 < value <= LARGEST:
        raise ValueError
    return float(value)


def _share(value: Any) -> float:
    if type(value) not in (int, float) or not 0 <= value <= 1:
        raise ValueError
    return float(value)


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(x, str) for x in value):
        raise ValueError
    return value


def _command(value: Any) -> list[str]:
    if not _texts(value) or not value[0] or any("\x00" in word for word in value):
        raise ValueError
    return list(value)


def _days(value: Any) -> int | None:
    """``30``, ``"30d"``, ``"2w"``; ``0`` and ``"never"`` are never."""
    if isinstance(value, str):
        found = re.fullmatch(r"(\d+) ?(d|w|days?|weeks?)?", value.strip())
        if value.strip() == "never":
            return None
        if not found:
            raise ValueError
        value = int(found[1][:9]) * (7 if (found[2] or "d").startswith("w") else 1)
    if _natural(value) > MOST_DAYS:
        raise ValueError
    return value or None


TEXT = Setting("a text", _of(str))
FLAG = Setting("true or false", _of(bool))
COUNT = Setting("a whole number above 0", _count)
SHARE = Setting("a number from 0 to 1", _share)
TEXTS = Setting("a list of texts", _texts)
DAYS = Setting('a number of days, like 30 or "30d", or "never"', _days)
COMMAND = Setting('a list of words, like ["prog", "--flag", "{prompt}"]', _command, user_only=True)
PRIVATE = Setting("a text", _of(str), user_only=True)
SECONDS = Setting("a number of seconds above 0", _seconds, user_only=True)

ANY = "*"
"""Stands for any name in the tables below."""
_RESERVES = {name: Setting("a number of tokens", _natural) for name in ("system", "tools", "output", "protocol")}
_REVIEWED = dict.fromkeys(("place", "version", "number", "decision", "constraint", "fact"), DAYS)
KNOWN: Mapping[str, Any] = {
    "user": {"name": TEXT},
    "app": {"theme": TEXT, "keymap": {ANY: TEXT}, "mouse": FLAG, "bell": FLAG},
    "agents": {ANY: {"command": COMMAND, "window": COUNT, "tokenizer": TEXT,
                     "mcp": Setting("true or false", _of(bool), user_only=True), "sessions": PRIVATE}},
    "budget": {"tokens": COUNT, "share": SHARE, "margin": SHARE, "reserves": _RESERVES},
    "facts": {"review_after": _REVIEWED, "allow_verified_over_reported": FLAG},
    "extraction": {"language": TEXT, "markers": TEXTS},
    "model": {"base_url": PRIVATE, "model": PRIVATE, "key_env": PRIVATE, "command": COMMAND, "timeout": SECONDS},
    "watch": {"ignore": TEXTS, "poll": FLAG, "step": COUNT},
    "roles": {ANY: {"responsibility": TEXT, "may": TEXTS, "must_not": TEXTS, "outputs": TEXTS, "report": TEXT}},
    "guidelines": [{"text": TEXT, "scope": TEXT}],
    "secrets": {"extra": TEXTS, "hosts": TEXTS},
    "limits": {"records_per_minute": COUNT, "bytes_per_minute": COUNT},
}  # fmt: skip


def check(document: Mapping[str, Any], text: str, path: Path, *, workspace: bool) -> Checked:
    """What of ``document`` is known and fits; the rest becomes warnings with file and line."""
    return _Check(key_lines(text), path, workspace).table(document, KNOWN, ())


class _Check:
    """One walk over a document, the table of known keys beside it."""

    def __init__(self, places: dict[tuple[str | int, ...], int], path: Path, workspace: bool) -> None:
        self._places, self._path, self._workspace = places, path, workspace

    def table(self, document: Mapping[str, Any], known: Mapping[str, Any], at: tuple[str | int, ...]) -> Checked:
        result = Checked()
        for key, value in document.items():
            here = (*at, key)
            wanted = known.get(key, known.get(ANY))
            if wanted is None:
                self._warn(result, here, f"unknown key {_dotted(here)!r}{_nearest(key, at, known)}")
            elif isinstance(wanted, Setting):
                self._value(result, here, value, wanted)
            elif isinstance(wanted, list):
                self._rows(result, here, value, wanted[0])
            elif isinstance(value, dict):
                inner = self.table(value, wanted, here)
                result.values[key] = inner.values
                result.warnings += inner.warnings
            else:
                self._warn(result, here, f"{_dotted(here)!r} is a table, not a value; it is ignored")
        return result

    def _value(self, result: Checked, here: tuple[str | int, ...], value: Any, wanted: Setting) -> None:
        if self._workspace and wanted.user_only:
            reason = "is taken from your own configuration file only; it is ignored here"
            self._warn(result, here, f"{_dotted(here)!r} {reason}")
            return
        try:
            result.values[str(here[-1])] = wanted.read(value)
        except ValueError:
            self._warn(result, here, f"{_dotted(here)!r} wants {wanted.wanted}; it is ignored")

    def _rows(self, result: Checked, here: tuple[str | int, ...], value: Any, wanted: Mapping[str, Any]) -> None:
        if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
            self._warn(result, here, f"{_dotted(here)!r} wants [[{here[-1]}]] tables; it is ignored")
            return
        rows = []
        for number, row in enumerate(value):
            inner = self.table(row, wanted, (*here, number))
            result.warnings += inner.warnings
            if inner.values.get("text"):
                rows.append(inner.values)
            elif "text" not in row:
                self._warn(result, (*here, number), f"{_dotted(here)!r} entry without a text; it is ignored")
        result.values[str(here[-1])] = rows

    def _warn(self, result: Checked, here: tuple[str | int, ...], said: str) -> None:
        result.warnings.append(f"{self._path}:{line_of(self._places, here)}: {said}")


def _dotted(path: tuple[str | int, ...]) -> str:
    return ".".join(str(part) for part in path if not isinstance(part, int))


def _nearest(key: str, at: tuple[str | int, ...], known: Mapping[str, Any]) -> str:
    """`` (nearest known key: 'app.theme')``, among the siblings first, then everywhere; empty where none is near."""
    import difflib

    siblings = {name: _dotted((*at, name)) for name in known if name != ANY}
    everywhere = {name: f"{section}.{name}" for section, table in KNOWN.items() if isinstance(table, dict)
                  for name in table if name != ANY}  # fmt: skip
    for names in (siblings, everywhere):
        found = difflib.get_close_matches(key.lower(), names, n=1, cutoff=0.6)
        if found:
            return f" (nearest known key: {names[found[0]]!r})"
    return f" (known here: {', '.join(siblings)})" if siblings else ""
