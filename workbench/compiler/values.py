"""Values as text that can always be written: halves of characters (lone surrogates) become U+FFFD."""

from __future__ import annotations

import re

from workbench.domain.fact import canonical_value
from workbench.domain.record import Json

_SURROGATE = re.compile("[\ud800-\udfff]")


def whole(value: Json) -> Json:
    """A JSON value whose texts can be encoded."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, (list, tuple)):
        return [whole(part) for part in value]
    if isinstance(value, dict):
        return {whole(key): whole(part) for key, part in value.items()}
    return value


def json_text(value: Json) -> str:
    """Canonical JSON of a value."""
    try:
        return canonical_value(value)
    except UnicodeEncodeError:
        return canonical_value(whole(value))


def value_text(value: Json) -> str:
    """A value for a text: strings as themselves, everything else as canonical JSON."""
    return value if isinstance(value, str) else json_text(value)


def value_line(value: Json) -> str:
    """A value on one line, exactly: a string with line breaks or control characters as JSON."""
    text = value_text(value)
    return text if text.isprintable() else json_text(value)
