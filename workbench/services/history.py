"""The history of a task: what its sessions hold, which messages a word names, what may go, what was marked."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from workbench.domain.ids import new_id
from workbench.domain.message import Message
from workbench.domain.task import Task
from workbench.domain.trimming import (
    Fate,
    GuardFinding,
    MemoryClass,
    Trim,
    TrimAct,
    fates,
    guard,
    with_partners,
)
from workbench.errors import NotFoundError, UsageError
from workbench.services import kept
from workbench.services.context import Context
from workbench.services.sessions import AttachedSession, attached
from workbench.services.view import HistoryView, MessageView
from workbench.store.records import Records
from workbench.tokens import counter

TOKENIZER = "o200k"
"""What the history's figures are counted in."""
IN_WHAT = "this history, as views and exports carry it; the running agent's own context does not change"
REFERENCE_TOKENS = 24
"""About what the line costs that stands for an externalised message."""


def cited_messages(records: Records, task: Task) -> frozenset[str]:
    """``SESSION#ID`` of every message that a fact, note, evidence or item has as its source."""
    refs: set[str | None] = {s.ref for fact in records.facts.values() for s in fact.sources}
    refs |= {source for note in records.notes.values() for source in note.sources}
    refs |= {line.source for line in records.evidence}
    refs |= {item.source for item in task.state.pending} | {item.source for item in task.state.done}
    return frozenset(ref for ref in refs if ref and "#" in ref)


def session_fates(records: Records, session: AttachedSession) -> dict[str, Fate]:
    """The fate of every message of an attached session."""
    return fates(session.messages, records.trims.get(session.ref.name, ()))


def view(ctx: Context, records: Records, task: Task, sessions: list[AttachedSession] | None = None) -> HistoryView:
    """The messages of a task's sessions with their fate and price."""
    rows: list[MessageView] = []
    absent: list[str] = []
    cited = cited_messages(records, task)
    for session in sessions if sessions is not None else attached(ctx, records, task):
        log = session.state.log if session.state is not None else None
        if log is None:
            absent.append(session.ref.name)
        fate_of = session_fates(records, session)
        for message in session.messages:
            if not message.hidden:
                tokens = ctx.tokens.count(TOKENIZER, message, log)
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
    replaced: dict[str, int] = {}
    for row in rows:
        match row.fate.disposition:
            case "kept":
                total += row.tokens
            case "externalised":
                total += min(row.tokens, REFERENCE_TOKENS)
            case "summarised" if row.fate.trim is not None:
                summaries[row.fate.trim.id] = row.fate.trim.text
                replaced[row.fate.trim.id] = replaced.get(row.fate.trim.id, 0) + row.tokens
            case _:
                pass
    # A summary never costs more than what it stands for, of which a cut-off file may hold only a part.
    return total + sum(min(counter(TOKENIZER).count(text), replaced[name]) for name, text in summaries.items())


def show(ctx: Context, task: Task) -> HistoryView:
    """The history of a task, read now."""
    return view(ctx, ctx.workspace.load(), task)


def body(ctx: Context, task: Task, ref: str) -> str:
    """The whole text of one message."""
    for session in attached(ctx, ctx.workspace.load(), task):
        for message in session.messages:
            if ref in (message.ref, message.id):
                with ctx.lock:
                    return session.state.log.body(message) if session.state is not None else message.text
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
    stopped = {f"{name}#{f.message}" for name, f in guarded(ctx, history, used_up, ()) if f.stops != "warns"}
    chosen: set[str] = set()
    for own in by_session(history).values():
        messages = [row.message for row in own]
        kept = with_partners(messages, {m.id for m in messages if m.ref in stopped})
        chosen |= {m.ref for m in messages if m.ref in used_up and m.id not in kept}
    return frozenset(chosen)


def by_session(history: HistoryView) -> dict[str, list[MessageView]]:
    """The messages of each session, in order."""
    sessions: dict[str, list[MessageView]] = {}
    for row in history.messages:
        sessions.setdefault(row.message.session, []).append(row)
    return sessions


def guarded(
    ctx: Context, history: HistoryView, marked: Collection[str], cited: Collection[str]
) -> list[tuple[str, GuardFinding]]:
    """What the guard says of a cut, session by session; only the last session has newest turns."""
    found: list[tuple[str, GuardFinding]] = []
    sessions = by_session(history)
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
        if act == "pin":
            kept.keep(ctx, tx, attached(ctx, tx.records, task), (row.message.ref for row in rows))
    return rows
