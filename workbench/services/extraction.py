"""From what was said to state: reading a text or a session, and bringing what it holds to registry and task."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from workbench.domain.alike import plain
from workbench.domain.evidence import Evidence
from workbench.domain.fact import WORKSPACE, Fact, FactKind, Registry, Source, Voice, arrive, is_key
from workbench.domain.ids import new_id
from workbench.domain.message import Message
from workbench.domain.task import PendingItem, Task
from workbench.errors import UsageError
from workbench.extraction import Extraction, Extractor, Find, Place, RuleBook
from workbench.extraction.model import Form
from workbench.extraction.offer import Refusal, choose, is_typed, said_again, was_refused
from workbench.extraction.render import render
from workbench.services import sessions, trust
from workbench.services.context import Context, person_name
from workbench.services.facts import review_after
from workbench.services.state import require_own
from workbench.sessions import open_session
from workbench.store.records import Records
from workbench.store.transaction import Transaction
from workbench.tokens import counter

TOKENIZER = "o200k"
SMALL_GAIN = 1.5
"""Below this ratio a third or less is saved, and the whole record is the better thing to give."""


@dataclass(frozen=True)
class Extracted:
    """What a text or session held, and what carrying only that would save."""

    found: Extraction
    rendered: str
    before: int
    after: int
    tokenizer: str
    skipped: int = 0
    """Messages that were not looked at: tool output, thinking, bookkeeping."""

    @property
    def ratio(self) -> float:
        """How many times smaller the conclusions are; 1 where there are none."""
        return round(self.before / self.after, 2) if self.after else 1.0

    @property
    def advice(self) -> str:
        """What to do where extraction gains little; empty where it pays."""
        if self.after and self.ratio < SMALL_GAIN:
            return f"extraction saves little here ({self.ratio} times): carry the whole text where it fits the budget"
        return ""


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


def rule_book(ctx: Context | None) -> RuleBook:
    """The rules with the person's own phrases; a workspace's count once the person trusts its git, as all it brings.

    Phrases stand in ``[extraction] markers`` as ``KIND: phrase``.

    Raises:
        UsageError: A phrase has no kind, or one that there is not.
    """
    if ctx is None or not ctx.config.extraction_markers or not trust.git_trusted(ctx):
        return RuleBook.standard()
    added: dict[str, list[str]] = {}
    for row in ctx.config.extraction_markers:
        kind, colon, phrase = row.partition(":")
        if not colon or not phrase.strip():
            raise UsageError(f"[extraction] markers: {row!r} names no kind", "write it as: decision: it shall be …")
        added.setdefault(kind.strip(), []).append(phrase.strip())
    return RuleBook.standard({kind: tuple(phrases) for kind, phrases in added.items()})


def from_text(text: str, name: str = "", *, ctx: Context | None = None, now: datetime | None = None) -> Extracted:
    """What a text holds; nothing is saved.

    Args:
        text: The text.
        name: The file that it comes from.
        ctx: The workspace, where there is one: its rules and review ages.
        now: The present, for what is past review.
    """
    found = Extractor(rule_book(ctx)).extract(text, Place(message=name))
    return _measured(found, text, ctx, now)


def from_session(
    name: str,
    *,
    ctx: Context | None = None,
    env: Mapping[str, str],
    now: datetime | None = None,
) -> Extracted:
    """What a session holds, from the words of person and agent; tool output is no statement.

    Raises:
        NotFoundError: There is no such session.
        UsageError: No reader knows the file.
    """
    agent, path = sessions.locate(ctx, name) if ctx is not None else ("", Path(name).expanduser())
    if ctx is None and not path.is_file():
        raise UsageError(f"{name}: no such file", "outside a workspace a session is named by the path of its file")
    log = open_session(path, agent or None)
    log.refresh()
    person = person_name(ctx.config, env) if ctx is not None else "human:person"
    extractor = Extractor(rule_book(ctx))
    said = [message for message in log.messages if is_said(message)]
    texts = [log.body(message) if message.clipped else message.text for message in said]
    finds: list[Find] = []
    process = 0
    forms: list[Form] = []
    for message, text in zip(said, texts, strict=True):
        one = extractor.extract(text, place_of(message, person))
        finds += one.finds
        process += one.process
        forms.append(one.form)
    form: Form = "record" if forms.count("record") * 2 > len(forms) else "chat"
    found = Extraction(tuple(finds), process, form)
    measured = _measured(found, "\n".join(texts), ctx, now)
    return replace(measured, skipped=len(log.messages) - len(said))


def is_said(message: Message) -> bool:
    """Whether a message is talk of the person or the agent, which may hold statements."""
    return message.kind == "message" and message.origin in ("human", "agent") and not message.hidden


def place_of(message: Message, person: str) -> Place:
    """Where the statements of a message stand, and who said them."""
    by = person if message.origin == "human" else f"agent:{message.session.partition(':')[0]}"
    return Place(session=message.session, message=message.ref, by=by, at=message.at or "")


def _measured(found: Extraction, text: str, ctx: Context | None, now: datetime | None) -> Extracted:
    tokens = counter(TOKENIZER)
    ages = ctx.config.review_after if ctx is not None else {}
    rendered = render(
        found,
        language=ctx.config.extraction_language if ctx is not None else None,
        now=now,
        review_after=ages,
    )
    return Extracted(found, rendered, tokens.count(text), tokens.count(rendered), tokens.name)


def offer(
    ctx: Context, messages: Iterable[Message], person: str, *, shown_today: int = 0, waiting: int = 0
) -> tuple[Find, ...]:
    """Of what these messages hold, the few finds to put before the person now.

    Args:
        ctx: Where and who; refusals are in its registry.
        messages: What was said since the last look.
        person: The actor that the person's own messages are by.
        shown_today: How many were put before her today.
        waiting: How many of them still wait.
    """
    extractor = Extractor(rule_book(ctx))
    candidates = [
        (find, message.origin == "human" and is_typed(message.text))
        for message in messages
        if is_said(message)
        for find in extractor.extract(message.text, place_of(message, person)).finds
        if message.origin != "human" or is_typed(message.text)
    ]
    return choose(candidates, refused=_refusals(ctx.workspace.load()), shown_today=shown_today, waiting=waiting)


def _refusals(records: Records) -> list[Refusal]:
    registry = records.registry
    return [
        Refusal(text, fact.key, fact.value)
        for fact in registry.facts.values()
        if registry.lifecycle(fact.id) in ("rejected", "retracted")
        for text in dict.fromkeys((fact.line, *(source.quote for source in fact.sources if source.quote)))
    ]


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
        self._refused = _refusals(tx.records)
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
        if plain(find.text) in self._known or any(said_again(find.text, item.text) for item in self._pending):
            self._result.left.append((find.text, "it is listed already"))
            return
        item = PendingItem(
            id=new_id(),
            text=find.text,
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


def each_line(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """For each JSON line ``{id, text}`` what the rules find in it.

    Raises:
        UsageError: A line is no such object; its number is named.
    """
    import json

    extractor = Extractor()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            text = row["text"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise UsageError(f"line {number}: not an object with id and text", line=number) from None
        if not isinstance(text, str):
            raise UsageError(f"line {number}: its text is no string", line=number)
        finds = extractor.extract(text).finds
        items = [{"kind": f.kind, "text": f.text, "key": f.key, "value": f.value} for f in finds]
        yield {"id": row.get("id"), "items": items, "process": not items}
