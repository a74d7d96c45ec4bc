"""Records of older schema numbers, brought to today's when they are read; their files change at the next write.

Each step takes a document of one number to the next, so a record of any age goes through all steps
after its own. A step sees the document alone and invents nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.domain.record import SCHEMA
from workbench.store.form import Unreadable

Step = Callable[[type[Any], dict[str, Any]], dict[str, Any]]
"""From the kind of record and its document (a copy) to the document of the next number."""


def _numbered(_: type[Any], document: dict[str, Any]) -> dict[str, Any]:
    """Number 0 is what a record has that was written before numbers were: nothing else differs."""
    return document


STEPS: dict[int, Step] = {0: _numbered}
"""By the number that a step starts from."""


def upgraded(kind: type[Any], document: dict[str, Any]) -> dict[str, Any]:
    """A document of today's schema; the same object where it is one already.

    Raises:
        Unreadable: No step leads from its number.
    """
    number = document.get("schema", SCHEMA)
    if type(number) is not int or number >= SCHEMA:
        return document
    result = dict(document)
    for step in range(number, SCHEMA):
        if step not in STEPS:
            raise Unreadable(f"schema {number} is older than this program can read", 1, 1)
        result = STEPS[step](kind, result)
    return {**result, "schema": SCHEMA}
