"""A secret in every form in which a file of text can hold it, found and replaced.

As it is; behind the escapes of JSON and of addresses, whole or in part and several times over; with the
entities of markup, named or numbered; in base64 (also inside of a longer text that was encoded, in both alphabets); in
UTF-16. Not found: what was compressed, encrypted, hashed, split, or encoded in another way, and
base64 that is broken into lines.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from functools import cache
from html.entities import html5
from typing import Any

from workbench.store.names import file_name

MARK = "«purged»"
"""What stands where a secret stood."""
SHORTEST = 4
_CERTAIN = 7
"""Characters of base64 that do not come about by chance; of a shorter secret only a text of its own is taken."""
_NAMED = re.compile(r"\b(facts|notes|aliases|trims|history)/([^/\s\"]+)")
_RUN = "[A-Za-z0-9+/_-]"
_PAD = "(?:=|%3[dD]){0,2}"
_HASH, _END = "(?:#|%(?:25)*23)", "(?:;|%(?:25)*3[bB])"
_AND = rf"(?:&|\\{{1,8}}u0026|%(?:25)*26)(?:(?:amp|AMP|{_HASH}0*38|{_HASH}[xX]0*26){_END})*"
"""The sign that an entity begins with, itself perhaps escaped."""
_SHORT = {"\n": "n", "\t": "t", "\r": "r", "\b": "b", "\f": "f", '"': '"', "/": "/"}


class Secret:
    """One secret, and texts that change their name with it.

    Args:
        secret: What is to go.
        renamed: What is to be called otherwise (contents whose hash changed), as it stands and in no other form.
    """

    def __init__(self, secret: str, renamed: Mapping[str, str] | None = None) -> None:
        self._secret = secret
        self._renamed = dict(renamed or {})
        # What a key that holds it makes of it in the name of a file.
        name = file_name(f"x{secret}").rpartition("~")[0].removeprefix("x")
        self._name = name if len(name) >= SHORTEST else ""
        # A short number may be a size or a version of ours; a long one stands for itself.
        self._number = secret if re.fullmatch(r"-?[0-9.]{6,}", secret) else ""
        spelled, encoded = spelling(secret), "|".join(_encodings(secret))
        self._text = (re.compile(spelled), re.compile(encoded))
        self._data = (re.compile(spelled.encode()), re.compile(encoded.encode()))
        self._wide = {secret.encode(form, "surrogatepass"): MARK.encode(form) for form in ("utf-16-le", "utf-16-be")}

    def text(self, text: str) -> str:
        """A text without it."""
        text = self._without(text)
        return _NAMED.sub(self._named, text) if self._name else text

    def path(self, path: str) -> str:
        """The way to a file, without it in any of its names."""
        path = "/".join(map(self._without, path.split("/")))
        return _NAMED.sub(self._named, path) if self._name else path

    def value(self, value: Any) -> Any:
        """A JSON value without it, in keys and in texts."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(key): self.value(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, int | float) and not isinstance(value, bool) and str(value) == self._number:
            return MARK
        return value

    def data(self, data: bytes) -> bytes:
        """The bytes of any file without it."""
        for old, new in self._renamed.items():
            data = data.replace(old.encode(), new.encode())
        for pattern in self._data:
            data = pattern.sub(MARK.encode(), data)
        for wide, mark in self._wide.items():
            data = data.replace(wide, mark)
        return data

    def _without(self, text: str) -> str:
        for old, new in self._renamed.items():
            text = text.replace(old, new)
        for pattern in self._text:
            text = pattern.sub(MARK, text)
        return text

    def _named(self, found: re.Match[str]) -> str:
        """The name of a file or folder made from a key: lower case, percent-encoded, a hash behind it."""
        return f"{found[1]}/{found[2].replace(self._name, 'purged')}"


def spelling(text: str, *, markup: bool = True) -> str:
    """A pattern of a text in which each character is itself, or is written with an escape.

    Args:
        text: What is looked for.
        markup: Also by the entities of markup, in which base64 is hardly written.
    """
    ways = {character: [*_ways(character), *(_entities(character) if markup else ())] for character in set(text)}
    return "".join(f"(?:{'|'.join(ways[character])})" for character in text)


def _ways(character: str) -> Iterator[str]:
    if character == "\\":
        yield r"\\{1,8}"  # as it is, or escaped up to three times over
    else:
        yield re.escape(character)
    if character in _SHORT:
        yield r"\\{1,8}" + re.escape(_SHORT[character])
    if character == " ":
        yield r"\+"
    units = character.encode("utf-16-be", "surrogatepass")
    yield "".join(r"\\{1,8}u" + _hex(units[at : at + 2].hex()) for at in range(0, len(units), 2))
    # Encoded twice, the sign itself is %25.
    yield "".join("%(?:25)*" + _hex(f"{byte:02x}") for byte in character.encode("utf-8", "surrogatepass"))


def _entities(character: str) -> Iterator[str]:
    """By name or by number; where a text was escaped twice, the sign itself is an entity."""
    code = ord(character)
    numbers = (f"0*{code}(?:{_END}|(?![0-9]))", f"[xX]0*{_hex(f'{code:x}')}(?:{_END}|(?![0-9A-Fa-f]))")
    yield f"{_AND}(?:{'|'.join((f'{_HASH}(?:{numbers[0]}|{numbers[1]})', *_names().get(character, ())))})"


@cache
def _names() -> dict[str, list[str]]:
    """The names of entities by their character, as patterns, the longest first."""
    names: dict[str, list[str]] = {}
    for name, character in sorted(html5.items(), key=lambda item: (-len(item[0]), item[0])):
        names.setdefault(character, []).append(re.escape(name).replace(";", _END))
    return names


def _hex(digits: str) -> str:
    """Hexadecimal digits in either case."""
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in digits)


def _encodings(secret: str) -> Iterator[str]:
    """Patterns of base64 texts that hold it: whole runs, so that no piece of it stays behind.

    Where it does not stand at the beginning of what was encoded, the first and last characters depend on
    its neighbours; those between do not.
    """
    raw = secret.encode("utf-8", "surrogatepass")
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        own = encode(raw).decode().rstrip("=")
        yield f"(?<!{_RUN}){spelling(own, markup=False)}{_PAD}(?!{_RUN})"
        for before in range(3):
            first = -(-before * 8 // 6)
            core = encode(b"\0" * before + raw).decode()[first : (before + len(raw)) * 8 // 6]
            if len(core) >= _CERTAIN:
                yield f"(?<!{_RUN}){_RUN}*?{spelling(core, markup=False)}{_RUN}*{_PAD}"
