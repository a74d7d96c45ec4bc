"""Taking over a state that was kept elsewhere: ``{task or task_name, updated_at, variables, done, pending}``."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from workbench.domain.alike import plain
from workbench.domain.contested import VARIABLES
from workbench.domain.delta import Conflict, Delta, DoneWord, NewItem
from workbench.domain.fact import same_value
from workbench.domain.ids import is_id, slugify
from workbench.domain.record import Json
from workbench.domain.task import Task
from workbench.domain.times import EPOCH, instant
from workbench.domain.variables import suggested
from workbench.errors import UsageError
from workbench.services.context import Context
from workbench.services.state import Updated, carry_out, refuse_contested


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """An item as other programs keep it; what is not known here is left aside."""

    text: str
    qualifiers: tuple[str, ...] = ()
    priority: Literal[1, 2, 3] = 2
    paths: tuple[str, ...] = ()
    source: str | None = None


class Document(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A state as a file."""

    task: str | None = None
    task_name: str | None = None
    updated_at: str = ""
    variables: dict[str, Json] = {}
    done: tuple[str | Item, ...] = ()
    pending: tuple[str | Item, ...] = ()

    @property
    def name(self) -> str | None:
        """The task that it names."""
        return self.task or self.task_name


def document_from(value: Any) -> Document:
    """The document of a file's JSON.

    Raises:
        UsageError: An unknown field, a wrong type, or a time that is none; the message names the place.
    """
    try:
        found = msgspec.convert(value, Document)
    except msgspec.ValidationError as wrong:
        known = ", ".join(field.encode_name for field in msgspec.structs.fields(Document))
        raise UsageError(f"this is no state: {wrong}", f"it has: {known}") from None
    if found.updated_at and instant(found.updated_at) == EPOCH:
        raise UsageError(f"updated_at {found.updated_at[:40]!r} is not a time", "write it like 2026-03-01T10:00:00Z")
    return found


def take_over(ctx: Context, task: Task, value: Any, why: str = "", *, known_as: str | None = None) -> Updated:
    """Merge a state from elsewhere into a task's.

    Variables that the contract does not declare are declared with the type of their value. What somebody
    changed here after the document was written stays, and is a conflict.

    Args:
        ctx: Where and who.
        task: Into which task.
        value: The document.
        why: The reason; else the document's time.
        known_as: What the document calls the task, where that is the name of another one here.

    Raises:
        UsageError: It is no state, a variable does not fit its declaration, or it is another task's.
        VersionConflictError: A variable or an item changed here since ``updated_at``.
    """
    document = document_from(value)
    name = document.name
    if name != known_as:
        _refuse_anothers(ctx, task, name)
    updated = carry_out(
        ctx, task, f"state import {task.slug}", lambda now: _plan(ctx, document, now), why=why or document.updated_at
    )
    if name and not _names(name, task):
        said = (*updated.said, f"the document speaks of {name!r}; it was taken into {task.slug}")
        return Updated(updated.view, updated.applied, said, updated.since)
    return updated


def _names(name: str, task: Task) -> bool:
    """Whether a name means a task: as id, slug or title, however it is written."""
    return name == task.id or slugify(name) in (task.slug, slugify(task.title))


def _refuse_anothers(ctx: Context, task: Task, name: str | None) -> None:
    """A name that only the document knows is no matter; the name of another task here is a mistake.

    Raises:
        UsageError: It names another task.
    """
    if not name or _names(name, task):
        return
    others = [other for other in ctx.workspace.load().tasks.values() if other.id != task.id and _names(name, other)]
    if others or is_id(name):
        raise UsageError(
            f"the document is of task {name[:60]!r}, not of {task.slug}",
            (f"take it into that one: workbench state import {others[0].slug} --file F\n" if others else "")
            + f"or, where it is the same work: --from {name[:60]!r}",
        )


def _plan(ctx: Context, document: Document, task: Task) -> tuple[Delta, list[Conflict]]:
    conflicts: list[Conflict] = []
    values, now = document.variables, task.state.variables
    other = [name for name, value in values.items() if name not in now or not same_value(now[name], value)]
    refuse_contested(ctx, task, other)  # of a person too: who takes over a whole document decides nothing in passing
    done = [row for row in map(_item, document.done) if not _begun_since(document, task, row, conflicts)]
    declared = task.contract.variables
    return Delta(
        declare={name: suggested(value) for name, value in document.variables.items() if name not in declared},
        set={
            name: value
            for name, value in document.variables.items()
            if f"{VARIABLES}{name}" not in task.contests and not _set_since(document, task, name, value, conflicts)
        },
        done=tuple(DoneWord(item=row.text) for row in done),
        pending=tuple(
            NewItem(text=row.text, qualifiers=row.qualifiers, priority=row.priority, paths=row.paths, source=row.source)
            for row in map(_item, document.pending)
        ),
    ), conflicts


def _item(row: str | Item) -> Item:
    return Item(text=row) if isinstance(row, str) else row


def _set_since(document: Document, task: Task, name: str, value: Json, conflicts: list[Conflict]) -> bool:
    """Whether a variable got another value here after the document was written."""
    stamp = task.state.variables_set.get(name)
    now = task.state.variables.get(name)
    if not document.updated_at or stamp is None or same_value(now, value):
        return False
    if instant(stamp.at) <= instant(document.updated_at):
        return False
    conflicts.append(Conflict(f"variable {name}", value, now, value))
    return True


def _begun_since(document: Document, task: Task, row: Item, conflicts: list[Conflict]) -> bool:
    """Whether somebody began here, after the document was written, what it calls done."""
    for item in task.state.pending if document.updated_at else ():
        begun = item.started
        if begun is None or plain(item.text) != plain(row.text):
            continue
        if instant(begun.at) > instant(document.updated_at):
            conflicts.append(Conflict(item.text, "done", f"started by {begun.by} at {begun.at}", "done"))
            return True
    return False
