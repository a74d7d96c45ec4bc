"""The history of a task: what its sessions hold, what a person trims from packages, what that saves."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from workbench.domain.ids import new_id
from workbench.domain.message import Message
from workbench.domain.task import Task
from workbench.domain.trimming import (
    DISPOSITIONS,
    Fate,
    GuardFinding,
    MemoryClass,
    Trim,
    TrimAct,
    fates,
    guard,
    with_partners,
)
from workbench.errors import HumanNeededError, NotFoundError, RefusedError, UsageError
from workbench.services.context import Context
from workbench.services.sessions import AttachedSession, attached
from workbench.services.view import HistoryView, MessageView
from workbench.store.records import Records
from workbench.tokens import counter

TOKENIZER = "o200k"
"""What the history's figures are counted in."""
IN_WHAT = "what packages carry of this history; the running agent's own context does not change"
REFERENCE_TOKENS = 24
"""About what the line costs that stands for an externalised message."""
_PLACEHOLDER = "a digest: its first line, its last line, and the lines that name an error"
"""Stands for the digest in a preview, which is made only when the cut is."""


def cited_messages(records: Records, task: Task) -> frozenset[str]:
    """``SESSION#ID`` of every message that a fact, note, evidence or item has as its source."""
    refs: set[str | None] = {s.ref for fact in records.facts.values() for s in fact.sources}
    refs |= {source for note in records.notes.values() for source in note.sources}
    refs |= {line.source for line in records.evidence}
    refs |= {item.source for item in task.state.pending} | {item.source for item in task.state.done}
    return frozenset(ref for ref in refs if ref and "#" in ref)


def session_fates(records: Records, session: AttachedSession) -> dict[str, Fate]:
    """The fate of every message of an attached session."""
    assert session.state is not None
    return fates(session.state.messages, records.trims.get(session.ref.name, ()))


def view(ctx: Context, records: Records, task: Task, sessions: list[AttachedSession] | None = None) -> HistoryView:
    """The messages of a task's sessions with their fate and price."""
    rows: list[MessageView] = []
    absent: list[str] = []
    cited = cited_messages(records, task)
    for session in sessions if sessions is not None else attached(ctx, records, task):
        if session.state is None:
            absent.append(session.ref.name)
            continue
        fate_of = session_fates(records, session)
        for message in session.state.messages:
            if not message.hidden:
                tokens = ctx.tokens.count(TOKENIZER, message, session.state.log)
                rows.append(MessageView(message, fate_of[message.id], tokens, message.ref in cited))
    return HistoryView(
        messages=tuple(rows),
        tokens_all=sum(r.tokens for r in rows),
        tokens_kept=kept_tokens(rows),
        tokenizer=TOKENIZER,
        absent=tuple(absent),
    )


def kept_tokens(rows: Iterable[MessageView]) -> int:
    """Tokens of a history after its cuts: kept messages whole, a summary once, a reference line each."""
    total = 0
    summaries: dict[str, str] = {}
    for row in rows:
        match row.fate.disposition:
            case "kept":
                total += row.tokens
            case "externalised":
                total += min(row.tokens, REFERENCE_TOKENS)
            case "summarised" if row.fate.trim is not None:
                summaries[row.fate.trim.id] = row.fate.trim.text
            case _:
                pass
    return total + sum(counter(TOKENIZER).count(text) for text in summaries.values())


def show(ctx: Context, task: Task) -> HistoryView:
    """The history of a task, read now."""
    return view(ctx, ctx.workspace.load(), task)


def body(ctx: Context, task: Task, ref: str) -> str:
    """The whole text of one message."""
    for session in attached(ctx, ctx.workspace.load(), task):
        if session.state is not None:
            for message in session.state.messages:
                if ref in (message.ref, message.id):
                    with ctx.lock:
                        return session.state.log.body(message)
    raise NotFoundError(f"no message {ref!r} in the sessions of {task.slug}", "see: workbench history show")


def select(history: HistoryView, words: Collection[str]) -> frozenset[str]:
    """``SESSION#ID`` of the messages that ``words`` name: refs, ids, unique id prefixes, ranges ``A..B``.

    Raises:
        NotFoundError: A word names no message, or several.
    """
    order = [row.message for row in history.messages]
    chosen: set[str] = set()
    for word in words:
        first, dots, last = word.partition("..")
        if dots:
            a, b = sorted((_index(order, first), _index(order, last)))
            if order[a].session != order[b].session:
                raise UsageError(f"range {word!r} spans two sessions", "a range lies within one session")
            chosen.update(message.ref for message in order[a : b + 1])
        else:
            chosen.add(order[_index(order, word)].ref)
    return frozenset(chosen)


def _index(order: list[Message], word: str) -> int:
    exact = [i for i, m in enumerate(order) if word in (m.ref, m.id)]
    found = exact or [i for i, m in enumerate(order) if m.id.startswith(word) or m.ref.startswith(word)]
    if len(found) != 1:
        raise NotFoundError(
            f"{word!r} names {'no message' if not found else f'{len(found)} messages'}",
            "ids stand in: workbench history show",
            candidates=[order[i].ref for i in found[:8]],
        )
    return found[0]


def suggest(ctx: Context, history: HistoryView) -> frozenset[str]:
    """Messages that may go: used-up tool traffic that nothing keeps, calls with their results.

    The three questions of ``trimming.md``, as far as records answer them: not needed by the newest
    turns, not pinned, working memory, and fetchable again from the session file.
    """
    used_up = {
        row.message.ref
        for row in history.messages
        if row.fate.disposition == "kept"
        and row.fate.memory == "working"
        and row.message.kind in ("tool_call", "tool_result", "thinking", "notice", "attachment")
    }
    guarded = {f"{name}#{f.message}" for name, f in _guarded(ctx, history, used_up, ()) if f.stops != "warns"}
    chosen: set[str] = set()
    for own in _by_session(history).values():
        messages = [row.message for row in own]
        kept = with_partners(messages, {m.id for m in messages if m.ref in guarded})
        chosen |= {m.ref for m in messages if m.ref in used_up and m.id not in kept}
    return frozenset(chosen)


def _by_session(history: HistoryView) -> dict[str, list[MessageView]]:
    sessions: dict[str, list[MessageView]] = {}
    for row in history.messages:
        sessions.setdefault(row.message.session, []).append(row)
    return sessions


def _guarded(
    ctx: Context, history: HistoryView, marked: Collection[str], cited: Collection[str]
) -> list[tuple[str, GuardFinding]]:
    """What the guard says of a cut, session by session; only the last session has newest turns."""
    found: list[tuple[str, GuardFinding]] = []
    sessions = _by_session(history)
    for name, own in sessions.items():
        messages = [row.message for row in own]
        program = ctx.programs.get(name.partition(":")[0])
        findings = guard(
            messages,
            {row.message.id: row.fate for row in own},
            with_partners(messages, {m.id for m in messages if m.ref in marked}),
            {m.id for m in messages if m.ref in cited},
            window=program.window if program else None,
            newest_session=name == list(sessions)[-1],
        )
        found += [(name, finding) for finding in findings]
    return found


@dataclass(frozen=True)
class CutPlan:
    """What a cut would do, before it is done."""

    act: TrimAct
    messages: tuple[MessageView, ...]
    """Those touched, partners of marked calls and results included."""
    tokens_before: int
    tokens_after: int
    in_what: str
    findings: tuple[GuardFinding, ...]
    text: str = ""

    @property
    def blocked(self) -> bool:
        """Something among them may never go."""
        return any(f.stops == "always" for f in self.findings)

    @property
    def needs_yes(self) -> bool:
        """Only a person who types yes may do it."""
        return any(f.stops == "unless_yes" for f in self.findings)

    @property
    def unsaved(self) -> int:
        """Messages whose conclusions no record cites."""
        return sum(f.rule == "not_saved" for f in self.findings)


def plan_cut(ctx: Context, task: Task, ids: Collection[str], act: TrimAct, *, text: str = "") -> CutPlan:
    """Preview a drop, summary or externalisation; changes nothing."""
    records = ctx.workspace.load()
    history = view(ctx, records, task)
    marked = select(history, ids)
    return plan_over(ctx, records, task, history, marked, act, text=text)


def plan_over(
    ctx: Context,
    records: Records,
    task: Task,
    history: HistoryView,
    marked: Collection[str],
    act: TrimAct,
    *,
    text: str = "",
) -> CutPlan:
    """The plan of a cut over a history that is read already; ``marked`` holds ``SESSION#ID``."""
    rows = history.messages
    touched: set[str] = set()
    for own in _by_session(history).values():
        messages = [row.message for row in own]
        chosen = with_partners(messages, {m.id for m in messages if m.ref in marked})
        touched |= {m.ref for m in messages if m.id in chosen}
    findings = [finding for _, finding in _guarded(ctx, history, marked, cited_messages(records, task))]
    cut = tuple(row for row in rows if row.message.ref in touched)
    trial = Trim(id="", act=act, messages=(), by="", at="", text=text or _PLACEHOLDER)
    after = (
        replace(row, fate=replace(row.fate, disposition=DISPOSITIONS[act], trim=trial))
        if row.message.ref in touched
        else row
        for row in rows
    )
    return CutPlan(
        act=act,
        messages=cut,
        tokens_before=history.tokens_kept,
        tokens_after=kept_tokens(after),
        in_what=IN_WHAT,
        findings=tuple(findings),
        text=text,
    )


def cut(ctx: Context, task: Task, plan: CutPlan, *, why: str = "", yes: bool = False) -> CutPlan:
    """Carry out a plan.

    Raises:
        RefusedError: A guideline is among the messages, or a person did not type yes where needed.
        HumanNeededError: An agent would cut what only a person may.
    """
    ctx.require_writable()
    if not plan.messages:
        raise UsageError("no messages to cut", "name them by id, or mark them")
    if plan.blocked:
        names = ", ".join(f.message for f in plan.findings if f.stops == "always")
        raise RefusedError(f"guidelines are never trimmed: {names}", "leave them out of the selection")
    if plan.needs_yes:
        listed = [f for f in plan.findings if f.stops == "unless_yes"]
        what = "; ".join(f"{f.message} is {f.text}" for f in listed[:5])
        if not ctx.actor.human or ctx.actor.refused:
            raise HumanNeededError(f"only a person may cut these: {what}", "leave them out")
        if not yes:
            raise RefusedError(f"these need an explicit yes: {what}", "repeat with --yes if you mean it")
    if plan.unsaved and not ctx.actor.human and not why:
        unsaved = [f.message for f in plan.findings if f.rule == "not_saved"]
        raise RefusedError(
            "conclusions of these messages are not saved in any fact or note",
            "save them first, or give a reason",
            messages=unsaved,
        )
    _write(ctx, task, plan, why)
    return plan


def _write(ctx: Context, task: Task, plan: CutPlan, why: str) -> None:
    bodies = (
        {row.message.ref: body(ctx, task, row.message.ref) for row in plan.messages}
        if plan.act in ("externalise", "summarise") and not plan.text
        else {}
    )
    with ctx.workspace.transaction(ctx.actor.name, f"history {plan.act} {task.slug}", why, now=ctx.now()) as tx:
        for name in dict.fromkeys(row.message.session for row in plan.messages):
            own = [row.message for row in plan.messages if row.message.session == name]
            blobs: dict[str, str] = {}
            if plan.act == "externalise":
                blobs = {m.id: tx.put_blob(bodies[m.ref].encode("utf-8", "replace")) for m in own}
            text = plan.text
            if plan.act == "summarise" and not text:
                text = "\n".join(digest(m, bodies[m.ref]) for m in own)
            tx.append_trim(
                name,
                Trim(
                    id=new_id(),
                    act=plan.act,
                    messages=tuple(m.id for m in own),
                    by=ctx.actor.name,
                    at=tx.now,
                    why=why,
                    text=text,
                    blobs=blobs,
                ),
            )


def digest(message: Message, text: str) -> str:
    """A rule-based digest of one message: size, first and last line, and error lines verbatim."""
    lines = [line for line in text.split("\n") if line.strip()]
    what = message.call.name if message.call else message.kind.replace("_", " ")
    if len(lines) <= 3:
        return f"{what}: " + " / ".join(lines)
    errors = [line.strip() for line in lines[1:-1] if "error" in line.lower() or "failed" in line.lower()]
    shown = [lines[0].strip(), *errors[:3], lines[-1].strip()]
    return f"{what}, {len(lines)} lines: " + " / ".join(line[:200] for line in dict.fromkeys(shown))


def mark(
    ctx: Context, task: Task, words: Collection[str], act: TrimAct, *, memory: MemoryClass | None = None, why: str = ""
) -> tuple[MessageView, ...]:
    """Restore, pin, unpin or reclass messages.

    Raises:
        HumanNeededError: An agent would unpin, or take a message out of the guidelines.
    """
    ctx.require_writable()
    history = show(ctx, task)
    chosen = select(history, words)
    rows = tuple(row for row in history.messages if row.message.ref in chosen)
    if act == "unpin" or any(row.fate.memory == "guideline" and act == "class" for row in rows):
        ctx.require_human("changing what a person pinned or ruled")
    with ctx.workspace.transaction(ctx.actor.name, f"history {act} {task.slug}", why, now=ctx.now()) as tx:
        for name in dict.fromkeys(row.message.session for row in rows):
            ids = tuple(row.message.id for row in rows if row.message.session == name)
            tx.append_trim(
                name, Trim(id=new_id(), act=act, messages=ids, by=ctx.actor.name, at=tx.now, why=why, memory=memory)
            )
    return rows
