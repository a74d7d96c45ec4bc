"""Taking finds into registry and task, one by one within a change; each sees what those before it made."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field, replace

import msgspec

from workbench.domain.alike import Alikes, plain
from workbench.domain.arrival import Voice, arrive
from workbench.domain.evidence import Evidence
from workbench.domain.fact import WORKSPACE, Fact, FactKind, Registry, Source, is_key, means_same
from workbench.domain.ids import new_id
from workbench.domain.record import Json
from workbench.domain.task import PendingItem, Task
from workbench.extraction import Find
from workbench.extraction.alone import binds
from workbench.extraction.model import TAKEN_BACK
from workbench.extraction.offer import Refusal, bare, pressing, was_refused, worth_asking
from workbench.extraction.reading import is_untouched, only_denies, without_label
from workbench.services.context import Context
from workbench.services.contradicting import Stated
from workbench.services.facts import review_after
from workbench.services.meeting import Meeting
from workbench.services.offers import CHALLENGES, CHANGES, Asked
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
    asked: list[Asked] = field(default_factory=list)
    """Which of it may be put before a person; the rest is kept unreviewed."""


MOST_UNTAKEN = 100
"""Open items found in others' words that wait in a task until somebody takes them: what comes beyond them is left."""


class Taker:
    """Brings finds to where they belong.

    Args:
        ctx: Where.
        tx: The change.
        task: Whose open items these become.
        result: What became of them.
        refused: What was refused before.
    """

    def __init__(self, ctx: Context, tx: Transaction, task: Task, result: Proposed, refused: list[Refusal]) -> None:
        self._ctx = ctx
        self._tx = tx
        self._task = task
        self._result = result
        self._refused = refused
        self._registry = tx.records.registry
        self._aliases = {alias.alias: alias.canonical for alias in tx.records.aliases.values()}
        self._new: dict[tuple[str, str], dict[str, Fact]] = {}
        """Facts that this change made or changed, by key and scope."""
        self._stated: Stated | None = None
        self._heard = {
            (source.ref.partition("#")[2], source.quote)
            for fact in self._registry.facts.values()
            for source in fact.sources
            if source.quote and source.ref and "#" in source.ref
        }
        """Sentences that are somebody's source already, by message: it has the same id in a fork of its session."""
        self._claimed = {(line.source, line.text) for line in tx.records.evidence if line.kind == "claim"}
        self._pending = list(task.state.pending)
        self._listed = Alikes(bare(item.text) for item in task.state.pending)
        self._known = {plain(item.text) for item in task.state.pending} | {plain(item.text) for item in task.state.done}

    def take(self, find: Find) -> None:
        """Bring one find to where it belongs."""
        if was_refused(find, self._refused):
            self._result.left.append((find.text, "refused before"))
        elif find.rule == TAKEN_BACK and not self._contradicted(find):
            self._result.left.append((find.text, "it goes against nothing that holds"))
        elif find.kind == "open" and not self._contradicted(find):
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

    @property
    def _meeting(self) -> Meeting:
        """Made each time: kept here, it and this would hold each other, and with them all that a change staged."""
        return Meeting(self._registry, self._heads, self._task)

    def _voice(self, find: Find) -> Voice:
        hers = find.place.session and find.place.by.startswith("human:")
        return "words" if hers and not find.model and not _pasted(find) else "extracted"

    def _worth(self, find: Find) -> bool:
        """Whether a person may be asked; what she pasted is neither her words nor the agent's."""
        return not _pasted(find) and worth_asking(find, own_words=find.place.typed)

    def _group(self, key: str, scope: str) -> Registry:
        """The facts of one key, as they stand within this change."""
        known = {fact.id: fact for fact in self._registry.group(key, scope)} | self._new.get((key, scope), {})
        return Registry(known.values(), self._aliases)

    def _take_fact(self, find: Find) -> None:
        if (find.place.message.partition("#")[2], find.quote) in self._heard and "#" in find.place.message:
            self._result.left.append((find.text, "it was heard already"))
            return
        hers = self._voice(find) == "words"
        keys = self._meeting.keys(find, {name for name, _scope in self._new}, hers=hers)
        if only_denies(find.value, find.old):  # of another value that holds it says nothing
            keys = tuple(key for key in keys if self._is_held(key, find.old))
        against = self._contradicted(find)
        bans = self._stated_so_far.forbidding(find) if hers else ()
        for fact in {fact.id: fact for fact in (*against, *bans)}.values():
            self._take_value(find, self._registry.canonical(fact.key), find.text, fact.scope)
        if against or (bans and not any(map(self._has_heads, keys))):
            return
        if hers and find.constraint and not binds(find):
            find = replace(find, constraint=False)  # else it would hold as a rule though nobody looked at it
        if keys:
            for key in keys:
                scope = self._meeting.scope(key, self._scope(find))
                self._take_value(find, key, self._as_held(find.value, key, scope), scope)
        elif (made := self._made_up(find)) is not None and (find.sure or hers):
            self._take_value(find, made, find.text, self._scope(find))
        else:
            self._result.left.append((find.text, "no key could be read off it"))

    def _contradicted(self, find: Find) -> tuple[Fact, ...]:
        """What the person said or let hold, and goes against now without naming a key by which they would meet."""
        if self._voice(find) != "words" or (find.key is not None and self._has_heads(find.key)):
            return ()
        return self._stated_so_far.against(find)

    @property
    def _stated_so_far(self) -> Stated:
        """What is stated in words; made when it is first needed."""
        if self._stated is None:
            known = {fact.id: fact for fact in self._registry.facts.values()}
            for group in self._new.values():
                known |= group
            self._stated = Stated(known.values(), self._task, self._holds)
        return self._stated

    def _take_value(self, find: Find, key: str, value: Json, scope: str) -> None:
        """Bring a value to the registry, unless the person refused it of this very thing."""
        if find.key is not None and was_refused(replace(find, key=key, value=value), self._refused):
            self._result.left.append((find.text, "refused before"))
            return
        voice, asked = self._voice(find), self._worth(find)
        kind: FactKind = "constraint" if find.constraint else "fact" if find.kind == "fact" else "decision"
        said = self._source(find)
        fact = Fact(
            id=new_id(),
            key=key,
            value=value,
            kind=kind,
            statement=find.text,
            scope=scope,
            sources=(said,),
            observed_at=said.at,
            review_after=review_after(self._ctx, kind, value),
            reviewed=asked,
        )
        arrival = arrive(self._group(key, scope), fact, voice, self._tx.now)
        # Who hands in a text wants to know what it would change; a session is heard for what the person said herself.
        conflict = arrival.would_supersede is not None and not find.place.session and not find.model
        if conflict and not arrival.fact.acts:
            asked = True
            stored = self._tx.put(arrival.fact.with_(reviewed=True))
        else:
            stored = self._tx.put(arrival.fact)
        self._new.setdefault((key, scope), {})[stored.id] = stored
        if self._stated is not None:
            self._stated.add(stored)
        if arrival.outcome == "proposed" and stored.id != fact.id:
            self._result.left.append((find.text, "it is proposed already"))
        else:
            getattr(self._result, arrival.outcome).append(stored)
        against = arrival.outcome == "proposed" and self._challenges(stored)
        if against or (voice == "words" and self._meeting.against_variable(key, value)):
            self._result.asked.append(Asked(stored.id, "fact", self._task.id, CHALLENGES))
        elif asked and stored.id == fact.id:
            rank = min(pressing(find), CHANGES) if conflict else pressing(find)
            self._result.asked.append(Asked(stored.id, "fact", self._task.id, rank))

    def _source(self, find: Find) -> Source:
        return Source(
            type="session" if find.place.session else "file",
            ref=find.place.message or None,
            quote=find.quote,
            by=find.place.by or self._ctx.actor.name,
            at=find.place.at or self._tx.now,
            model=find.model or msgspec.UNSET,
            pasted=_pasted(find) or msgspec.UNSET,
        )

    def _challenges(self, fact: Fact) -> bool:
        """Whether a fact contradicts, in the person's own later words, one that holds."""
        group = self._group(self._registry.canonical(fact.key), fact.scope)
        return any(fact.id in group.standing(head.id).by for head in group.heads(fact.key, fact.scope))

    def _as_held(self, value: Json, key: str, scope: str) -> Json:
        """That a thing is to be left alone is the same in either language."""
        heads = self._heads(key, scope) if is_untouched(value) else ()
        return next((head.value for head in heads if is_untouched(head.value)), value)

    def _made_up(self, find: Find) -> str | None:
        """The key of a statement that names none: its own words, and a mark where others begin with the same."""
        words = re.sub(r"[^\w]+", "_", find.text.lower()).strip("_")[:48]
        key = f"{'constraint' if find.constraint else find.kind}.{words}"
        if not words or not is_key(key):
            return None
        key = self._registry.canonical(key)
        held = (*self._heads(key, WORKSPACE), *self._heads(key, self._task.id))
        if all(plain(head.statement) == plain(find.text) for head in held):
            return key
        return self._registry.canonical(f"{key}_{hashlib.sha256(plain(find.text).encode()).hexdigest()[:8]}")

    def _heads(self, key: str, scope: str) -> tuple[Fact, ...]:
        """What holds for a key in a scope, as it stands within this change."""
        known = self._group(key, scope) if (key, scope) in self._new else self._registry
        return known.heads(key, scope)

    def _has_heads(self, key: str) -> bool:
        """Whether something holds for a key already, which a value of it meets by itself."""
        key = self._registry.canonical(key)
        return bool(self._heads(key, WORKSPACE) or self._heads(key, self._task.id))

    def _is_held(self, key: str, value: Json) -> bool:
        """Whether a thing has a value, as it stands within this change."""
        heads = (*self._heads(key, self._task.id), *self._heads(key, WORKSPACE))
        return any(means_same(head.value, value) for head in heads)

    def _holds(self, fact: Fact) -> bool:
        """Whether a fact holds, as it stands within this change."""
        heads = self._heads(self._registry.canonical(fact.key), fact.scope)
        return any(head.id == fact.id for head in heads)

    def _scope(self, find: Find) -> str:
        """The task where all that a find names lies within it alone, else the workspace."""
        mine = (*self._task.contract.targets, *(o.path for o in self._task.contract.outputs if o.path))
        inside = find.paths and all(any(path.startswith(target) for target in mine) for path in find.paths)
        return self._task.id if inside else WORKSPACE

    def _take_open(self, find: Find) -> None:
        text = without_label(find.text)
        if plain(text) in self._known or self._listed.has(bare(text)):
            self._result.left.append((find.text, "it is listed already"))
            return
        hers = self._voice(find) == "words"
        if not hers and sum(not item.accepted for item in self._pending) >= MOST_UNTAKEN:
            self._result.left.append((find.text, "more wait already than anybody looks through"))
            return
        item = PendingItem(
            id=new_id(),
            text=text,
            priority=find.priority,
            paths=find.paths,
            by=find.place.by or self._ctx.actor.name,
            at=find.place.at or self._tx.now,
            source=find.place.message or None,
            accepted=hers,
        )
        self._known.add(plain(item.text))
        self._pending.append(item)
        self._listed.add(bare(item.text))
        self._result.pending.append(item)
        if self._worth(find):
            self._result.asked.append(Asked(item.id, "item", self._task.id, pressing(find), item.text))

    def _claim(self, find: Find) -> None:
        source = find.place.message or None
        if (source, find.text) in self._claimed:
            self._result.left.append((find.text, "it is claimed already"))
            return
        line = Evidence(
            id=new_id(),
            kind="claim",
            task=self._task.id,
            attempt=self._task.running,
            executor=find.place.by or self._ctx.actor.name,
            plan_revision=self._task.plan_revision,
            text=find.text,
            source=source,
            run_by="person" if self._voice(find) == "words" else "agent",
            at=find.place.at or self._tx.now,
        )
        self._claimed.add((source, find.text))
        self._tx.append_evidence(line)
        self._result.claims += 1


def _pasted(find: Find) -> bool:
    """Whether a person sent a sentence that she did not type: nothing in it is her word, whatever it decides."""
    return find.place.by.startswith("human:") and not find.place.typed
