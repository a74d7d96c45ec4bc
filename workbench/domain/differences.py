"""What a change did to a record, field by field, so that a person can read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.domain.fact import same_value, value_text
from workbench.domain.record import Json
from workbench.text import one_line

_BOOKKEEPING = frozenset({"version", "schema", "id", "state.updated_at", "state.variables_set"})
"""Fields that change with others and say nothing of their own."""
_EMPTY: tuple[Json, ...] = (None, "", [], (), {})
_NAMES = ("text", "title", "key", "name", "path", "act", "quote", "ref", "number", "by", "id")
"""Fields that name an entry of a list for a person, the most telling first."""


@dataclass(frozen=True)
class FieldDifference:
    """One field before and after; None where it was not there."""

    field: str
    """``contract.targets``; an entry of a list by its own words: ``state.pending “run pytest”``."""
    was: Json
    now: Json

    @property
    def line(self) -> str:
        """The difference in one line; of an entry of a list its own words say enough."""
        if self.field.endswith("”") and None in (self.was, self.now):
            return f"{self.field}: {'new' if self.was is None else 'gone'}"
        if self.was in _EMPTY:
            return f"{self.field}: {_shown(self.now)}"
        if self.now in _EMPTY:
            return f"{self.field}: no longer {_shown(self.was)}"
        return f"{self.field}: {_shown(self.was)} -> {_shown(self.now)}"


def _shown(value: Json) -> str:
    return one_line(value_text(_telling(value)), 200)


def _telling(value: Json) -> Json:
    """A value without what is empty in it."""
    if isinstance(value, Mapping):
        return {key: _telling(entry) for key, entry in value.items() if entry not in _EMPTY}
    return [_telling(entry) for entry in value] if isinstance(value, list | tuple) else value


def differences(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> tuple[FieldDifference, ...]:
    """The fields in which two documents of a record differ; bookkeeping (version, schema) left out."""
    return tuple(_compare("", before or {}, after or {}))


def _compare(place: str, was: Any, now: Any) -> Iterator[FieldDifference]:
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        for key in [*now, *(key for key in was if key not in now)]:
            inner = f"{place}.{key}" if place else str(key)
            if inner not in _BOOKKEEPING:
                yield from _compare(inner, was.get(key), now.get(key))
    elif _is_rows(was) and _is_rows(now):
        yield from _rows(place, was, now)
    elif not _same(was, now):
        yield FieldDifference(place, was, now)


def _same(one: Any, other: Any) -> bool:
    """An empty list or text that was not there before says nothing to a person."""
    return (one in _EMPTY and other in _EMPTY) or same_value(one, other)


def _is_rows(value: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, list | tuple) and all(isinstance(row, Mapping) for row in value)


def _rows(place: str, was: Sequence[Any] | None, now: Sequence[Any] | None) -> Iterator[FieldDifference]:
    before, after = _by_mark(was or []), _by_mark(now or [])
    for mark, row in after.items():
        old = before.get(mark)
        if old is None:
            yield FieldDifference(f"{place} {_named(row)}", None, row)
        else:
            yield from _compare(f"{place} {_named(row)}", old, row)
    for mark, row in before.items():
        if mark not in after:
            yield FieldDifference(f"{place} {_named(row)}", row, None)


def _by_mark(rows: Sequence[Any]) -> dict[str, Any]:
    """Entries by their id; those that have none by what they hold."""
    return {str(row["id"]) if "id" in row else value_text(row): row for row in rows}


def _named(row: Mapping[str, Any]) -> str:
    name = next((row[field] for field in _NAMES if row.get(field) not in (None, "")), "")
    return f"“{one_line(str(name), 60)}”"
