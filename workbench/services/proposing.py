"""Bringing what was found in a text to registry and task, in one change."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from workbench.domain.alike import plain
from workbench.domain.evidence import Evidence
from workbench.domain.fact import WORKSPACE, Fact, FactKind, Registry, Source, Voice, arrive, is_key
from workbench.domain.ids import new_id
from workbench.domain.task import PendingItem, Task
from workbench.extraction import Extraction, Find
from workbench.extraction.offer import said_again, was_refused
from workbench.extraction.reading import without_label
from workbench.services.context import Context
from workbench.services.extraction import refusals
from workbench.services.facts import review_after
from workbench.services.state import require_own
from workbench.store.transaction import Transaction


@dataclass
class Proposed:
    """What became of the finds that were brought to a workspace."""

    active: list[Fact] = field(default_factory=list)
    proposed: list[Fact] = field(default_factory=list)
    corroborated: list[Fact] = field(default_factory=list)
    pending: list[PendingItem] = field(default_factory=list)
    claims: int = 0
    left: list[tuple[str, str]] = field(default_factory=list)
    """What was not saved, and why."""


def propose(ctx: Context, task: Task, found: Extraction) -> Proposed:
    """Bring finds to registry and task in one change; what becomes of each is the table of ``domain.md``.

    Decisions and facts go to the registry; open items become pending ones of ``task``, accepted at once only from
    the person's own words; something said to be produced is a claim.

    Raises:
        RefusedError: Somebody else runs the task, or it is closed.
    """
    ctx.require_writable()
    result = Proposed()
    with ctx.workspace.transaction(ctx.actor.name, f"extract --propose {task.slug}", now=ctx.now()) as tx:
        now: Task = tx.records.tasks[task.id]
        require_own(ctx, now, tx.records)
        taker = _Taker(ctx, tx, now, result)
        for find in found.finds:
            taker.take(find)
        taker.finish()
    return result


class _Taker:
    """Takes finds one by one within a change; each sees what those before it made."""

    def __init__(self, ctx: Context, tx: Transaction, task: Task, result: Proposed) -> None:
        self._ctx = ctx
        self._tx = tx
        self._task = task
        self._result = result
        self._facts = dict(tx.records.registry.facts)
        self._aliases = {alias.alias: alias.canonical for alias in tx.records.aliases.values()}
        self._refused = refusals(tx.records)
        self._pending = list(task.state.pending)
        self._known = {plain(item.text) for item in task.state.pending} | {plain(item.text) for item in task.state.done}

    def take(self, find: Find) -> None:
        """Bring one find to where it belongs."""
        if was_refused(find, self._refused):
            self._result.left.append((find.text, "refused before"))
        elif find.kind == "open":
            self._take_open(find)
        elif find.kind == "artifact":
            self._claim(find)
        else:
            self._take_fact(find)

    def finish(self) -> None:
        """Keep the task's new items."""
        if len(self._pending) != len(self._task.state.pending):
            state = self._task.state.with_(pending=tuple(self._pending), updated_at=self._tx.now)
            self._tx.put(self._task.with_(state=state))

    def _voice(self, find: Find) -> Voice:
        return "words" if find.place.session and find.place.by.startswith("human:") else "extracted"

    def _take_fact(self, find: Find) -> None:
        voice = self._voice(find)
        registry = Registry(self._facts.values(), self._aliases)
        key = self._key(find, registry)
        if key is None or (find.key is None and not (find.sure or voice == "words")):
            self._result.left.append((find.text, "no key could be read off it"))
            return
        value = find.value if find.key is not None else find.text
        kind: FactKind = "constraint" if find.constraint else "decision" if find.kind == "decision" else "fact"
        said = Source(
            type="session" if find.place.session else "file",
            ref=find.place.message or None,
            quote=find.quote,
            by=find.place.by or self._ctx.actor.name,
            at=find.place.at or self._tx.now,
        )
        fact = Fact(
            id=new_id(),
            key=key,
            value=value,
            kind=kind,
            statement=find.text,
            scope=self._scope(find),
            sources=(said,),
            observed_at=said.at,
            review_after=review_after(self._ctx, kind, value),
            reviewed=False,
        )
        arrival = arrive(registry, fact, voice, self._tx.now)
        stored = self._tx.put(arrival.fact)
        self._facts[stored.id] = stored
        getattr(self._result, arrival.outcome).append(stored)

    def _key(self, find: Find, registry: Registry) -> str | None:
        """The key as the registry knows it: ``b.c`` meets ``a.b.c`` where that is the only one that ends so."""
        if find.key is None:
            words = re.sub(r"[^\w]+", "_", find.text.lower()).strip("_")[:48]
            key = f"{'constraint' if find.constraint else find.kind}.{words}"
            return key if words and is_key(key) else None
        key = registry.canonical(find.key)
        keys = {registry.canonical(fact.key) for fact in registry.facts.values()}
        if key in keys:
            return key
        longer = [known for known in keys if known.endswith(f".{key}")]
        return longer[0] if len(longer) == 1 else key

    def _scope(self, find: Find) -> str:
        """The task where all that a find names lies within it alone, else the workspace."""
        mine = (*self._task.contract.targets, *(o.path for o in self._task.contract.outputs if o.path))
        inside = find.paths and all(any(path.startswith(target) for target in mine) for path in find.paths)
        return self._task.id if inside else WORKSPACE

    def _take_open(self, find: Find) -> None:
        text = without_label(find.text)
        if plain(text) in self._known or any(said_again(text, item.text) for item in self._pending):
            self._result.left.append((find.text, "it is listed already"))
            return
        item = PendingItem(
            id=new_id(),
            text=text,
            priority=find.priority,
            paths=find.paths,
            by=find.place.by or self._ctx.actor.name,
            at=find.place.at or self._tx.now,
            source=find.place.message or None,
            accepted=self._voice(find) == "words",
        )
        self._known.add(plain(item.text))
        self._pending.append(item)
        self._result.pending.append(item)

    def _claim(self, find: Find) -> None:
        line = Evidence(
            id=new_id(),
            kind="claim",
            task=self._task.id,
            attempt=self._task.running,
            executor=find.place.by or self._ctx.actor.name,
            plan_revision=self._task.plan_revision,
            text=find.text,
            source=find.place.message or None,
            run_by="person" if self._voice(find) == "words" else "agent",
            at=find.place.at or self._tx.now,
        )
        self._tx.append_evidence(line)
        self._result.claims += 1
