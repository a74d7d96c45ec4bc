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
from workbench.services.history_rows import TOKENIZER, SessionRows, Tally
from workbench.services.rows import Joined, Rows
from workbench.services.sessions import AttachedSession, attached
from workbench.services.view import HistoryView, MessageView
from workbench.store.records import Records

IN_WHAT = "this history, as views and exports carry it; the running agent's own context does not change"


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
    found: list[SessionRows] = []
    shown: list[tuple[Rows, Tally]] = []
    absent: list[str] = []
    cited = ctx.cited.of((records, task), None, lambda: cited_messages(records, task))
    for session in sessions if sessions is not None else attached(ctx, records, task):
        state = session.state
        if state is None:
            absent.append(session.ref.name)
        rows = state.rows if state is not None else SessionRows()
        with ctx.lock:
            log = state.log if state is not None else None
            rows.look(session.messages, records.trims.get(session.ref.name, ()), cited, log)
            if state is not None:
                ctx.sessions.keep(state)
        found.append(rows)
        own = rows.rows.without(session.repeated) if session.repeated else None
        shown.append((rows.rows, rows.tally) if own is None else (own, Tally(own)))
    return HistoryView(
        messages=shown[0][0] if len(shown) == 1 else Joined([rows for rows, _ in shown]),
        tokens_all=sum(tally.all for _, tally in shown),
        tokens_kept=sum(tally.kept for _, tally in shown),
        tokenizer=TOKENIZER,
        absent=tuple(absent),
        mark=" ".join(rows.mark for rows in found),
        cited=cited,
    )


def kept_tokens(rows: Iterable[MessageView]) -> int:
    """Tokens of a history after its cuts."""
    return Tally(rows).kept


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


def beside(ctx: Context, task: Task, word: str) -> MessageView | None:
    """A message with its whole text that stands in no history: a sub-agent's, by ``SESSION#ID``; else None.

    Evidence names such messages as its source. Where the file is gone, the copy stands in for it.
    """
    name, mark, wanted = word.partition("#")
    sessions = attached(ctx, ctx.workspace.load(), task) if mark else []
    if not mark or any(session.ref.name == name for session in sessions):
        return None
    for state in (child for session in sessions for child in session.children if child.info.name == name):
        for message in state.messages:
            if message.id == wanted:
                with ctx.lock:
                    text = state.log.body(message)
                return _aside(ctx, message.with_(text=text, size=len(text)))
    copied = [message for message in kept.copies(ctx.workspace, name) if message.id == wanted]
    return _aside(ctx, copied[0]) if copied else None


def _aside(ctx: Context, message: Message) -> MessageView:
    fate = fates([message], ())[message.id]
    return MessageView(message, fate, ctx.tokens.count(TOKENIZER, message), cited=True)


def select(history: HistoryView, words: Collection[str]) -> frozenset[str]:
    """``SESSION#ID`` of the messages that ``words`` name: refs, ids, unique id prefixes, ranges ``A..B``.

    Raises:
        NotFoundError: A word names no message, or several.
        UsageError: A word is too short to be the beginning of an id.
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


SHORTEST_WORD = 4
"""Characters of an id by which a message is named."""


def _index(order: list[Message], word: str) -> int:
    exact = [i for i, m in enumerate(order) if word in (m.ref, m.id)]
    found = exact or [i for i, m in enumerate(order) if m.id.startswith(word) or m.ref.startswith(word)]
    if not exact and len(word.rpartition("#")[2]) < SHORTEST_WORD:
        # A number is meant as a position, as the app shows them, and would be taken for the beginning of some id.
        raise UsageError(
            f"{word[:40]!r} is too short to name a message",
            f"give at least {SHORTEST_WORD} characters of its id: workbench history show",
        )
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
