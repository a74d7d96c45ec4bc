"""Lines of append-only files: folded by their causes, never by where they stand in the file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

from workbench.domain.times import instant


class Line(Protocol):
    """What every line of an append-only file carries."""

    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def after(self) -> str | None: ...  # noqa: D102
    @property
    def at(self) -> str: ...  # noqa: D102


L = TypeVar("L", bound=Line)


def causal_order(lines: Iterable[L]) -> list[L]:
    """Each line after the one that it names in ``after``; siblings (merged copies) by time, then id.

    A line whose parent is missing counts as a first one; a line that occurs twice is taken once.
    The result does not depend on the order in which the lines come.
    """
    known: dict[str, L] = {line.id: line for line in lines}
    children: dict[str | None, list[L]] = {}
    for line in known.values():
        children.setdefault(line.after if line.after in known else None, []).append(line)

    def youngest_first(group: list[L]) -> list[L]:
        return sorted(group, key=lambda line: (instant(line.at), line.id), reverse=True)

    ordered: list[L] = []
    waiting = youngest_first(children.get(None, []))
    while waiting:
        line = waiting.pop()
        ordered.append(line)
        waiting.extend(youngest_first(children.get(line.id, [])))
    return ordered
