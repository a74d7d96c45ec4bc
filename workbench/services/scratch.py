"""Scratch values: of one attempt alone, on this machine alone; in no package, no log, and gone with the attempt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.domain.record import Json
from workbench.domain.task import LIVE_ATTEMPT, Task
from workbench.domain.variables import VARIABLE_LIMIT, too_large
from workbench.errors import RefusedError, UsageError
from workbench.services.context import Context
from workbench.store.records import Records

_NAME = "scratch"


def of(ctx: Context, records: Records, task: Task) -> dict[str, Json]:
    """The scratch values of the running attempt."""
    if task.running is None or not _lives(records, task.running):
        return {}
    return dict(_kept(ctx.workspace.local.get(_NAME)).get(task.running, {}))


def put(ctx: Context, task: Task, values: Mapping[str, Json]) -> dict[str, Json]:
    """Keep values for the running attempt; null takes one away. What ended attempts left goes on the way.

    Returns:
        All scratch values of the attempt.

    Raises:
        RefusedError: Nobody runs the task.
        UsageError: A value is too large.
    """
    attempt = task.running
    if attempt is None:
        raise RefusedError(
            f"scratch values belong to an attempt, and nobody runs {task.slug}", "take it first: workbench task take"
        )
    for name, value in values.items():
        if too_large(value):
            raise UsageError(f"scratch {name} is over {VARIABLE_LIMIT} bytes", "keep it as a file and name its path")
    records = ctx.workspace.look("attempts")

    def edit(before: Any) -> dict[str, dict[str, Json]]:
        kept = {name: dict(rows) for name, rows in _kept(before).items() if _lives(records, name)}
        mine = {**kept.get(attempt, {}), **values}
        kept[attempt] = {name: value for name, value in mine.items() if value is not None}
        return kept

    return dict(ctx.workspace.local.change(_NAME, edit)[attempt])


def sweep(ctx: Context) -> None:
    """Forget what attempts that have ended left behind."""
    if not _kept(ctx.workspace.local.get(_NAME)):
        return
    records = ctx.workspace.look("attempts")

    def edit(before: Any) -> dict[str, Any] | None:
        return {name: rows for name, rows in _kept(before).items() if _lives(records, name)} or None

    ctx.workspace.local.change(_NAME, edit)


def _kept(value: Any) -> dict[str, dict[str, Json]]:
    """What the file holds, as far as it has the form."""
    if not isinstance(value, dict):
        return {}
    return {name: rows for name, rows in value.items() if isinstance(rows, dict)}


def _lives(records: Records, attempt: str) -> bool:
    known = records.attempts.get(attempt)
    return known is not None and known.status in LIVE_ATTEMPT
