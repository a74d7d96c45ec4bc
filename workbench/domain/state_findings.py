"""What is odd about a state, each with an offer: contradictions, doubles, vague words, too much of it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from workbench.domain.alike import alike_pairs, plain
from workbench.domain.contract import VariableSpec
from workbench.domain.task import DoneItem, PendingItem, Task, TaskState
from workbench.text import one_line

MOST_PENDING = 20
"""Open items beyond which nobody reads the list any more; the steps of an item count as one with it."""
_PROGRAMS = (
    "bun cargo cmake curl deno docker dotnet eslint gcc git gradle helm java jest kubectl make mvn mypy node npm npx "
    "pip pipx playwright pnpm poetry pytest python ruff tox tsc uv vite vitest webpack yarn"
)
_COMMANDS = frozenset(_PROGRAMS.split())
_QUOTED = re.compile(r"`[^`]+`|\"[^\"]+\"|“[^”]+”|「[^」]+」|《[^》]+》|'[^' ]+'")
_CERTAIN = re.compile(r"[A-Za-z0-9_]+[._/\-:@#][A-Za-z0-9_/]|[a-z0-9][A-Z]|[A-Z]{2}|\d|_|[\w*]+/|--\w")
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9+#.]+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True)
class Finding:
    """One odd thing, and the command that would put it right."""

    code: str
    """``overlap``, ``near_duplicate``, ``vague_item``, ``too_many_pending``, ``interrupted``, ``not_accepted``,
    ``variable_missing`` or ``evidence_stale``."""
    text: str
    offer: str
    """A command line, or what to do."""
    items: tuple[str, ...] = ()
    """Ids of the items, or names of the variables, that it is about."""


def find(
    task: Task,
    *,
    names: Collection[str] = (),
    live: Collection[str] = (),
    stale: Mapping[str, tuple[str, ...]] | None = None,
) -> tuple[Finding, ...]:
    """Everything that is odd about a task's state.

    Args:
        task: Whose state.
        names: Words that name one certain thing in this workspace (keys of facts, outputs, variables).
        live: Attempts that have not ended.
        stale: The files changed since, by the evidence that rests on them.
    """
    state, update = task.state, f"workbench state update {task.slug}"
    pending = [item for item in state.pending if item.accepted]
    return (
        *_interrupted(pending, live, update),
        *_overlaps(pending, state.done, update),
        *_doubles(pending, state.done, update),
        *_vague(pending, names, update),
        *_too_many(pending, update),
        *_waiting(state, update),
        *_missing(task.contract.variables, state, update),
        *_stale(state.done, stale or {}, update),
    )


def _shown(item: PendingItem | DoneItem) -> str:
    return f"“{one_line(item.text, 60)}”"


def _interrupted(pending: list[PendingItem], live: Collection[str], update: str) -> Iterator[Finding]:
    for item in pending:
        begun = item.started
        if begun is not None and begun.attempt not in live:
            yield Finding(
                "interrupted",
                f"{_shown(item)} was started by {begun.by} at {begun.at} and not finished: look at its effect first",
                f"{update} --done {item.id}, or --give-up {item.id}",
                (item.id,),
            )


def _overlaps(pending: list[PendingItem], done: tuple[DoneItem, ...], update: str) -> Iterator[Finding]:
    finished = {plain(item.text): item for item in done}
    for item in pending:
        twin = finished.get(plain(item.text))
        if twin is not None:
            yield Finding(
                "overlap",
                f"{_shown(item)} is pending and done ({twin.known}, by {twin.by} at {twin.at})",
                f"{update} --drop {item.id}, or --reopen {twin.id}",
                (item.id, twin.id),
            )


def _doubles(pending: list[PendingItem], done: tuple[DoneItem, ...], update: str) -> Iterator[Finding]:
    texts = [item.text for item in pending]
    for i, j in alike_pairs(texts, texts):
        one, other = pending[i], pending[j]
        if i < j and other.parent != one.id and one.parent != other.id:
            yield Finding(
                "near_duplicate",
                f"{_shown(one)} and {_shown(other)} look alike, both pending",
                f"{update} --drop {other.id}",
                (one.id, other.id),
            )
    for i, j in alike_pairs(texts, [item.text for item in done]):
        item, finished = pending[i], done[j]
        if plain(item.text) != plain(finished.text):
            yield Finding(
                "near_duplicate",
                f"{_shown(item)} is pending and looks like {_shown(finished)}, which is done",
                f"{update} --drop {item.id}, if it is the same",
                (item.id, finished.id),
            )


def is_vague(item: PendingItem | DoneItem, names: Collection[str] = ()) -> bool:
    """Whether an item names no file, no command and no certain thing (*handle the dependency problem*).

    ``names`` are such things in this workspace, in one case and not so short that they stand in every text.
    """
    text = item.text
    if item.paths or _QUOTED.search(text) or _CERTAIN.search(text):
        return False
    if isinstance(item, PendingItem) and any(_CERTAIN.search(word) for word in item.qualifiers):
        return False
    words = _LATIN.findall(text)
    if _CJK.search(text) and words:
        return False  # a word in other letters is a name
    if any(word[0].isupper() for word in words[1:]) or any(word.casefold() in _COMMANDS for word in words):
        return False
    flat = plain(text)
    return not any(name in flat for name in names)


def _vague(pending: list[PendingItem], names: Collection[str], update: str) -> Iterator[Finding]:
    certain = [name.casefold() for name in names if len(name) > 2]
    for item in pending:
        if is_vague(item, certain):
            yield Finding(
                "vague_item",
                f"{_shown(item)} names no file, command or thing: the next one cannot tell when it is done",
                f"{update} --reword {item.id}=TEXT",
                (item.id,),
            )


def _too_many(pending: list[PendingItem], update: str) -> Iterator[Finding]:
    ids = {item.id for item in pending}
    tops = [item for item in pending if item.parent not in ids]
    if len(tops) > MOST_PENDING:
        nice = [item.id for item in tops if item.priority == 3]
        drop = f"{update} " + " ".join(f"--drop {name}" for name in nice[:8])
        offer = f"drop what is only nice to have: {drop}" if nice else "make steps of one item out of those that belong"
        yield Finding("too_many_pending", f"{len(tops)} items are pending", offer, tuple(item.id for item in tops))


def _waiting(state: TaskState, update: str) -> Iterator[Finding]:
    found = [item for item in state.pending if not item.accepted]
    if found:
        words = " ".join(f"--accept {item.id}" for item in found[:8])
        yield Finding(
            "not_accepted",
            f"{len(found)} open items were found in texts and taken by nobody yet: {_shown(found[0])}",
            f"{update} {words}",
            tuple(item.id for item in found),
        )


def _missing(declared: Mapping[str, VariableSpec], state: TaskState, update: str) -> Iterator[Finding]:
    for name, spec in sorted(declared.items()):
        if spec.required and name not in state.variables:
            what = f" ({spec.description})" if spec.description else ""
            yield Finding(
                "variable_missing", f"{name}{what} is required and not set", f"{update} --set {name}=JSON", (name,)
            )


def _stale(done: tuple[DoneItem, ...], stale: Mapping[str, tuple[str, ...]], update: str) -> Iterator[Finding]:
    for item in done:
        if item.known != "verified" or not item.evidence or any(name not in stale for name in item.evidence):
            continue
        changed = sorted({path for name in item.evidence for path in stale[name]})
        yield Finding(
            "evidence_stale",
            f"{_shown(item)} was verified; {', '.join(changed[:3])} changed since",
            f"check it again; or {update} --reopen {item.id}",
            (item.id,),
        )
