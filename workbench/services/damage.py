"""What cannot be read is not absent: acts that would rest on it are refused, with the file named."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.domain.task import Task
from workbench.errors import DamagedError
from workbench.store.names import file_name, trims_path
from workbench.store.records import LATER, Damage, Records

_SHARED = ("facts/", "aliases/", "notes/", "artifacts/", "attempts/")
"""Tables of which any record may concern any task."""


def concerning(records: Records, task: Task) -> tuple[Damage, ...]:
    """Damaged records that a package of ``task`` may rest on."""
    mine = [a for a in records.attempts.values() if a.task == task.id]
    ids = {task.id, *task.contract.depends_on, *(i.from_ for i in task.contract.inputs)}
    paths = {f"tasks/{name}.json" for name in ids}
    paths |= {f"evidence/{attempt.id}.jsonl" for attempt in mine} | {f"evidence/none-{task.id}.jsonl"}
    paths |= {trims_path(session.name) for attempt in mine for session in attempt.sessions}
    # A folder that cannot be read may hold anything that belongs in it.
    folders = {path.rpartition("/")[0] for path in paths}
    return tuple(d for d in records.damaged if d.path in paths | folders or f"{d.path}/".startswith(_SHARED))


def of_key(records: Records, key: str) -> tuple[Damage, ...]:
    """Damaged facts of a key, and damaged aliases, which may lead to it."""
    canonical = records.registry.canonical(key)
    names = {key, canonical, *(a.alias for a in records.aliases.values() if a.canonical == canonical)}
    folders = tuple(f"facts/{file_name(name)}/" for name in names)
    return tuple(d for d in records.damaged if d.path == "facts" or f"{d.path}/".startswith((*folders, "aliases/")))


def way_out(found: Iterable[Damage]) -> str:
    """What to do about files that cannot be read."""
    if all(damage.newer for damage in found):
        return LATER
    return "repair the file, or bring the last acknowledged version back: workbench doctor --fix"


def refuse(damaged: Iterable[Damage], what: str) -> None:
    """Stop where anything is damaged.

    Raises:
        DamagedError: Naming each file, line and column.
    """
    found = list(damaged)
    if found:
        places = "; ".join(f"{d.path}{f':{d.line}:{d.column or 1}' if d.line else ''}: {d.message}" for d in found[:4])
        more = f" (and {len(found) - 4} more)" if len(found) > 4 else ""
        raise DamagedError(
            f"{what} would rest on what cannot be read: {places}{more}",
            way_out(found),
            damaged=[{"path": d.path, "line": d.line, "column": d.column, "message": d.message} for d in found],
        )
