"""Compaction: guidelines, the last turns and a block of notes in place of the rest (``trimming.md``, Compaction).

Nothing is changed by it: what comes out are messages that are ready to be sent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Literal

from workbench.compiler.values import json_text
from workbench.domain.message import Message, Role
from workbench.domain.note import Note
from workbench.domain.task import Task
from workbench.domain.trimming import Fate, fates, newest_turns, with_partners
from workbench.services.context import Context
from workbench.services.cutting import digest
from workbench.services.notes import heads
from workbench.services.request import Carried, Held, held
from workbench.store.mask import mask
from workbench.store.records import Records
from workbench.tokens import counter

Form = Literal["whole", "digest", "replaced"]
IN_WHAT = "these messages, if they are sent; the running agent's own context does not change"
_BEGIN, _END = "[Notes in place of what went before]", "[End of the notes]"
_BLOCK = re.compile(rf"\n*{re.escape(_BEGIN)}.*?{re.escape(_END)}", re.DOTALL)
_STRUCTURE, _SMALL = 1_000, 8_000
"""Tokens of all structure notes together, and the window at which that holds; in proportion above."""
_SHARE = 2
"""Of a window that is known the messages take at most one part in so many."""
_LONG = 100
"""Tokens of a tool's output that may become a digest."""


@dataclass(frozen=True)
class Sent:
    """One message, ready to be sent."""

    role: Role
    text: str
    """Of a call its arguments."""
    tokens: int
    message: Message | None = None
    """Which one it carries, or stands in the place of; None for the first, which is made here."""
    form: Form = "whole"


@dataclass(frozen=True)
class Compacted:
    """A session as a compaction would send it."""

    session: str
    turns: int
    """The last ones that are carried."""
    wanted: int
    """Those that were asked for and are there; what a budget does not hold is left out, the oldest first."""
    budget: int | None
    basis: str
    """Where the budget comes from."""
    messages: tuple[Sent, ...]
    notes: tuple[str, ...]
    """Keys of the notes that are carried whole."""
    named: tuple[str, ...]
    """Keys of those that are only named, for lack of room."""
    absent: tuple[str, ...]
    """Keys that were asked for, under which no note stands."""
    waiting: tuple[str, ...]
    """Calls of the last turns that have no result yet: they cannot be sent."""
    before: int
    """Tokens of all that the context holds."""
    tokenizer: str
    estimated: bool

    @property
    def tokens(self) -> int:
        """Of all messages."""
        return sum(row.tokens for row in self.messages)

    @property
    def over(self) -> int:
        """Tokens more than the budget: guidelines, structure notes and the last turn go in whatever they take."""
        return max(0, self.tokens - self.budget) if self.budget is not None else 0


def compact(
    ctx: Context,
    task: Task,
    word: str | None = None,
    *,
    turns: int | None = None,
    budget: int | None = None,
    notes: Sequence[str] = (),
) -> Compacted:
    """The session of a task as a compaction would send it.

    Args:
        ctx: Where and who.
        task: Whose session; the newest one.
        word: A request, named as in :func:`workbench.services.request.view`: compacted as of then.
        turns: How many of the last turns; else as many as the guard keeps.
        budget: Tokens of all messages; else half of the window, where that is known.
        notes: Keys of the notes to carry beside the structure notes; else all of the task and the workspace.

    Raises:
        NotFoundError: The task has no session here, or there is no such request.
    """
    found = held(ctx, task, word)
    records = ctx.workspace.load()
    name = found.state.info.name
    fate_of = fates((row.message for row in found.messages), records.trims.get(name, ()))
    basis = "as asked for"
    if budget is None:
        budget = found.window // _SHARE if found.window else None
        basis = "half of the model's window" if budget else "no window is known: all fits"
    structure, others, absent = _notes(records, task, notes)
    first = _First(found.tokenizer, _guidelines(ctx, found, fate_of), [*structure, *others])
    for note in structure:
        first.add(note, most=_STRUCTURE * max(_SMALL, found.window or 0) // _SMALL)
    history = _History(found, fate_of)
    asked = max(1, min(turns or newest_turns(found.window), history.turns))
    tail, carried = history.last(asked, None if budget is None else budget - first.tokens)
    left = None if budget is None else budget - sum(row.tokens for row in tail)
    for note in others:
        first.add(note, left=left)
    head = (Sent("system", first.text, first.tokens),) if first.text else ()
    return Compacted(
        session=name,
        turns=carried,
        wanted=asked,
        budget=budget,
        basis=basis,
        messages=(*head, *tail),
        notes=tuple(first.carried),
        named=tuple(first.named),
        absent=absent,
        waiting=history.waiting,
        before=sum(row.tokens for row in found.messages),
        tokenizer=found.tokenizer,
        estimated=found.estimated,
    )


def _guidelines(ctx: Context, found: Held, fate_of: Mapping[str, Fate]) -> list[str]:
    """Those of the workspace, and messages that are guidelines, without the block that an earlier compaction left."""
    texts = [f"- {mask(rule.text)}" for rule in ctx.config.guidelines]
    own = [row for row in found.messages if fate_of[row.message.id].memory == "guideline"]
    said = (_BLOCK.sub("", mask(row.text)).strip() for row in own)
    return [*(["\n".join(["Guidelines:", *texts])] if texts else []), *filter(None, said)]


def _notes(records: Records, task: Task, keys: Sequence[str]) -> tuple[list[Note], list[Note], tuple[str, ...]]:
    """The task's structure notes, the other notes that are wanted, newest first, and keys without a note."""
    mine = [note for note in heads(records) if note.task in (None, task.id)]
    mine.sort(key=lambda note: (note.written.at, note.id), reverse=True)
    structure = [note for note in mine if note.kind == "structure" and note.task == task.id]
    others = [note for note in mine if note not in structure and (not keys or note.key in keys)]
    return structure, others, tuple(key for key in dict.fromkeys(keys) if all(note.key != key for note in mine))


class _First:
    """The first message: guidelines, and at its end the notes, of which at first only the keys are named."""

    def __init__(self, tokenizer: str, guidelines: Sequence[str], notes: Sequence[Note]) -> None:
        self._count = counter(tokenizer).count
        self._guidelines = guidelines
        self._lines: list[str] = []
        self.carried: list[str] = []
        self.named = list(dict.fromkeys(note.key for note in notes))

    def add(self, note: Note, *, most: int | None = None, left: int | None = None) -> None:
        """Carry a note whole, unless the notes then take more than ``most``, or the message more than ``left``."""
        line = _within(f"{note.key}: {mask(json_text(note.value))}")
        before = self._lines, self.named
        self._lines, self.named = [*self._lines, line], [key for key in self.named if key != note.key]
        much = most is not None and self._count("\n".join(self._lines)) > most
        if much or (left is not None and self.tokens > left):
            self._lines, self.named = before
        else:
            self.carried.append(note.key)

    @property
    def text(self) -> str:
        """The whole message; empty where there is nothing to say."""
        names = _within(", ".join(self.named))
        more = [f"More notes, by key (workbench note read KEY): {names}"] if names else []
        lines = [*self._lines, *more]
        notes = ["\n".join([_BEGIN, *lines, _END])] if lines else []
        return "\n\n".join([*self._guidelines, *notes])

    @property
    def tokens(self) -> int:
        """Of the whole message."""
        return self._count(self.text)


def _within(text: str) -> str:
    """A text for the block: the words that end it are looked for by the next compaction, and no note may hold them."""
    return text.replace(_END, _END.replace("[", "\\u005b"))


class _History:
    """What a session holds, as far as it can be sent."""

    def __init__(self, found: Held, fate_of: Mapping[str, Fate]) -> None:
        self._count = counter(found.tokenizer).count
        self._fate_of = fate_of
        self._rows = found.messages
        self._messages = [row.message for row in found.messages]
        self.turns = max((message.turn for message in self._messages), default=0)
        self._paired, self.waiting = _pairs(self._messages)
        self._made_once: dict[tuple[str, Form], Sent] = {}

    def last(self, asked: int, room: int | None) -> tuple[list[Sent], int]:
        """The last turns that fit, and how many: long outputs become digests, the oldest first, then turns go."""
        rows: list[Sent] = []
        for number in range(asked, 0, -1):
            rows = self._turns(number)
            size = sum(row.tokens for row in rows)
            for place, row in enumerate(rows):
                if room is None or size <= room:
                    return rows, number
                if row.message is not None and row.role == "tool" and row.tokens > _LONG:
                    rows[place] = self._sent(row.message, "digest", partial(digest, row.message, row.text))
                    size += rows[place].tokens - row.tokens
            if room is None or size <= room:
                return rows, number
        return rows, 1

    def _turns(self, number: int) -> list[Sent]:
        """So many last turns with what belongs to them, the person's last words, and what is pinned."""
        messages = self._messages
        rest = self.turns - number
        # A prompt comes before the turn that answers it: a turn ends with what the agent and its tools said in it.
        ends = [place for place, m in enumerate(messages) if m.role in ("assistant", "tool") and 0 < m.turn <= rest]
        start = ends[-1] + 1 if ends else 0
        wanted = {message.id for message in messages[start:]}
        wanted |= {message.id for message in messages if self._fate_of[message.id].pinned}
        # Her last words, and those that the first of these turns goes on answering: a conversation begins with one.
        words = [place for place, m in enumerate(messages) if m.role == "user" and m.kind == "message"]
        wanted |= {messages[place].id for place in (words[-1:] + [p for p in words if p <= start][-1:])}
        chosen = with_partners(messages, wanted)
        digests: set[str] = set()
        made = (self._made(row, digests) for row in self._rows if row.message.id in chosen)
        return [row for row in made if row is not None]

    def _made(self, row: Carried, digests: set[str]) -> Sent | None:
        """A message as it is sent; None for thoughts, half a call, and what the program adds by itself."""
        message, fate = row.message, self._fate_of[row.message.id]
        part = message.call or message.result
        if message.kind == "thinking" or row.part == "instructions" or fate.memory == "guideline":
            return None
        if part is not None and message.id not in self._paired:
            return None
        if fate.disposition == "kept" or fate.trim is None:
            return self._sent(message, "whole", partial(mask, row.text))
        # A call and its result are cut together: one line stands for both, and one digest for all of a cut.
        if message.result is not None or fate.trim.id in digests:
            return None
        if fate.disposition == "summarised":
            digests.add(fate.trim.id)
            words = fate.trim.text
            return self._sent(message, "replaced", lambda: words)
        what = f"{message.call.name} and its result" if message.call is not None else message.kind.replace("_", " ")
        blob = fate.trim.blobs.get(message.id)
        where = f" to blob {blob}" if blob else ""
        line = f"[{what} {fate.disposition}{where}; whole: workbench history show @ {message.ref}]"
        return self._sent(message, "replaced", lambda: line)

    def _sent(self, message: Message, form: Form, words: Callable[[], str]) -> Sent:
        """A message in one of its forms, made and counted once however many turns are tried."""
        known = self._made_once.get((message.id, form))
        if known is None:
            role: Role = "user" if message.kind == "compaction" else message.role
            text = words()
            known = self._made_once[message.id, form] = Sent(role, text, self._count(text), message, form)
        return known


def _pairs(messages: Sequence[Message]) -> tuple[frozenset[str], tuple[str, ...]]:
    """The ids of calls and results that can be sent: of each call id one call and one result after it.

    And the ids of calls that have no result.
    """
    calls: dict[str, str] = {}
    paired: dict[str, tuple[str, str]] = {}
    for message in messages:
        if message.call is not None:
            calls.setdefault(message.call.call_id, message.id)
        elif message.result is not None and (call := calls.get(message.result.call_id)) is not None:
            paired.setdefault(message.result.call_id, (call, message.id))
    return frozenset(chain.from_iterable(paired.values())), tuple(call for call in calls if call not in paired)
