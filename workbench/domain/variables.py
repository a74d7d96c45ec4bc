"""State variables: a value against its declaration, and the declaration that a value suggests."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable
from typing import get_args, get_type_hints

from workbench.domain.contract import VariableSpec
from workbench.domain.fact import canonical_value, same_value, value_text
from workbench.domain.record import Json
from workbench.text import one_line

VARIABLE_LIMIT = 4096
"""Bytes of canonical JSON that a variable may hold; more becomes an artifact."""
ENVIRONMENT = "env:"
"""``env:NAME`` stands in place of a secret: the value lies in that environment variable."""
ARTIFACT = "artifact:"
"""``artifact:ID@VERSION`` stands in place of a value that was too large."""
TYPES: tuple[str, ...] = get_args(get_type_hints(VariableSpec)["type"])
_ENVIRONMENT_NAME = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*")


def is_reference(value: Json) -> bool:
    """Whether a value only says where the real one is (``env:NAME``)."""
    return isinstance(value, str) and _ENVIRONMENT_NAME.fullmatch(value) is not None


def too_large(value: Json) -> bool:
    """Whether a value is more than a variable holds."""
    return len(canonical_value(value).encode()) > VARIABLE_LIMIT


def problem(spec: VariableSpec, value: Json) -> str:
    """Why ``value`` does not fit its declaration, as the end of a sentence; empty where it does.

    Raises:
        re.error: The declared pattern is no regular expression.
    """
    if is_reference(value):
        return ""
    if not _is_type(spec.type, value):
        return f"is declared as {spec.type}, and {_shown(value)} is {_type_of(value)}"
    if spec.enum is not None and not any(same_value(value, one) for one in spec.enum):
        return f"is one of {', '.join(map(_shown, spec.enum))}, not {_shown(value)}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        low, high = spec.minimum, spec.maximum
        if (low is not None and value < low) or (high is not None and value > high):
            return f"lies from {_bound(low)} to {_bound(high)}, and {_shown(value)} does not"
    if spec.pattern is not None and isinstance(value, str) and re.fullmatch(spec.pattern, value) is None:
        return f"has the form {spec.pattern}, and {_shown(value)} has not"
    return ""


def impossible(spec: VariableSpec) -> str:
    """Why no value could ever fit a declaration; empty where one could."""
    if spec.pattern is not None:
        try:
            re.compile(spec.pattern)
        except re.error as wrong:
            return f"its pattern {spec.pattern[:60]!r} is none ({wrong})"
    if spec.minimum is not None and spec.maximum is not None and spec.minimum > spec.maximum:
        return f"its range goes from {_bound(spec.minimum)} to {_bound(spec.maximum)}"
    if spec.enum is not None and not spec.enum:
        return "its enum names no value"
    odd = [value for value in spec.enum or () if not _is_type(spec.type, value)]
    return f"its enum holds {_shown(odd[0])}, which is not of type {spec.type}" if odd else ""


def _bound(limit: float | None) -> str:
    return "any" if limit is None else f"{limit:g}"


def _shown(value: Json) -> str:
    return one_line(value_text(value) if isinstance(value, str) else canonical_value(value), 60)


def _is_type(name: str, value: Json) -> bool:
    match name:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        case "list":
            return isinstance(value, list | tuple)
        case "object":
            return isinstance(value, dict)
        case _:
            return True


def _type_of(value: Json) -> str:
    return (
        "null" if value is None else f"{'an' if suggested(value) in ('integer', 'object') else 'a'} {suggested(value)}"
    )


def suggested(value: Json) -> str:
    """The type that a value would be declared as."""
    for name in ("boolean", "integer", "number", "string", "list", "object"):
        if _is_type(name, value):
            return name
    return "json"


def nearest(name: str, declared: Iterable[str]) -> tuple[str, ...]:
    """The declared names that ``name`` may have meant; all of them where none is near and they are few."""
    known = sorted(declared)
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    return tuple(near) or tuple(known[:8])
