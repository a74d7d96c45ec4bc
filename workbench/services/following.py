"""Following sessions: what is said in them is brought to registry and task, each message once (``extraction.md``).

How far a session has been heard is kept on this machine. Where that is lost, or two programs follow the same
session, nothing comes twice: a sentence that is somebody's source already is passed over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import msgspec

from workbench.domain.message import Message
from workbench.domain.task import LIVE_ATTEMPT, SessionRef, Task
from workbench.extraction import Extractor, Find, Place
from workbench.services import offers, proposing, tasks
from workbench.services.context import Context, person_name
from workbench.services.extraction import SMALL_GAIN, TOKENIZER, answered, is_said, place_of, rule_book
from workbench.services.pool import SessionState
from workbench.services.taking import Proposed
from workbench.services.trust import git_trusted
from workbench.store.records import Records
from workbench.tokens import counter

LISTENER = "agent:workbench"
"""Who brings what rules find by themselves: no person's act, and never trusted above ``reported``."""
BATCH = 500
"""Messages of talk that are taken in with one change at most."""
MUCH = 200_000
"""Characters of talk after which a change is made sooner: who leaves in between has little heard anew."""
_NAME = "heard"


@dataclass(frozen=True)
class Heard:
    """How far a session has been heard, and what it held."""

    mark: str = ""
    """Status of its file when everything in it had been heard."""
    count: int = 0
    """Messages from its beginning on."""
    last: str = ""
    """Id of the last of them."""
    said: int = 0
    """Messages of talk among them."""
    sentences: int = 0
    process: int = 0
    """Sentences that state nothing that is kept."""
    before: int = 0
    """Tokens of the talk."""
    after: int = 0
    """Tokens of what was found in it."""
    records: int = 0
    """Messages that read as a record, not as chat."""

    @property
    def form(self) -> str:
        """What it was taken for, by most of its messages."""
        return "record" if self.records * 2 > self.said else "chat"

    @property
    def ratio(self) -> float:
        """How many times smaller the conclusions are; 1 where there are none."""
        return round(self.before / self.after, 2) if self.after else 1.0

    def __add__(self, other: Heard) -> Heard:
        """Both together."""
        return Heard(**{name: getattr(self, name) + getattr(other, name) for name in _TALLIED})

    @property
    def tokenizer(self) -> str:
        """What the tokens are counted with."""
        return TOKENIZER

    @property
    def saves_little(self) -> bool:
        """Whether the whole text is the better thing to carry."""
        return bool(self.after) and self.ratio < SMALL_GAIN


def heard(ctx: Context) -> dict[str, Heard]:
    """How far each session has been heard, by ``agent:id``."""
    return _read(ctx.workspace.local.get(_NAME))


def _read(value: Any) -> dict[str, Heard]:
    found = {}
    for name, row in value.items() if isinstance(value, dict) else ():
        try:
            found[name] = msgspec.convert(row, Heard)
        except msgspec.ValidationError:
            continue
    return found


class Follower:
    """Hears the sessions of the current task, and of every task that somebody works on; one thread at a time.

    Args:
        ctx: Where and who.
    """

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._person = person_name(ctx.config, ctx.env)
        self._extractor: Extractor | None = None
        self._trusted = False
        self._records = Records()
        self._as_of = ""
        self._passed: dict[str, tuple[Heard, Heard]] = {}
        """What was last kept of a session, and how far it was passed over since: no talk, not worth a write."""

    def step(self, pause: Callable[[], None] = lambda: None) -> bool:
        """Take in the next messages that nobody has heard yet.

        Args:
            pause: Called before each of them and between their sentences, while nothing is held that others may
                wait for. What it raises gives them up: nothing of them is kept, and they are heard another time.

        Returns:
            Whether there was something, or what was held back came before the person; then there may be more.

        Raises:
            WorkbenchError: It could not be kept this time.
        """
        if self._ctx.refusal:
            return False
        records = self._records_now()
        known = heard(self._ctx)
        for task, ref, path in self._followed(records):
            kept, mark = known.get(ref.name, Heard()), _mark(path)
            based_on, passed = self._passed.get(ref.name, (kept, kept))
            before = passed if based_on == kept else kept
            if not mark or before.mark == mark:
                continue
            with self._ctx.lock:
                state = self._ctx.sessions.read(path, ref.agent)
            if state is None or state.info.name != ref.name:
                continue
            if self._hear(task, state, kept, before, mark, pause):
                return True
        return offers.promote(self._ctx, records)

    def _followed(self, records: Records, *, everywhere: bool = False) -> Iterator[tuple[Task, SessionRef, Path]]:
        """The sessions to hear, those of the current task first; or those of all tasks."""
        paths = self._ctx.workspace.local.session_paths
        current = tasks.glance(self._ctx, records)
        mine = current.id if current is not None else ""
        found = [
            (attempt.task != mine, attempt.started.at, attempt)
            for attempt in records.attempts.values()
            if attempt.task in records.tasks and (everywhere or attempt.task == mine or attempt.status in LIVE_ATTEMPT)
        ]
        for _, _, attempt in sorted(found, key=lambda row: row[:2]):
            for ref in attempt.sessions:
                if ref.name in paths:
                    yield records.tasks[attempt.task], ref, Path(paths[ref.name])

    def _records_now(self) -> Records:
        """All records, read again only where something was written: most messages hold nothing to write."""
        mark = self._ctx.workspace.mark()
        if mark != self._as_of:
            self._records, self._as_of = self._ctx.workspace.load(), mark
        return self._records

    def pass_over(self) -> None:
        """Take everything that stands in the sessions by now as heard: the records tell it already."""
        for _task, ref, path in self._followed(self._ctx.workspace.load(), everywhere=True):
            state, mark = self._ctx.sessions.read(path, ref.agent), _mark(path)
            if state is not None and state.messages:
                now = Heard(mark=mark, count=len(state.messages), last=state.messages[-1].id)
                self._note(ref.name, heard(self._ctx).get(ref.name, Heard()), now)

    def _hear(
        self, task: Task, state: SessionState, kept: Heard, before: Heard, mark: str, pause: Callable[[], None]
    ) -> bool:
        """Take in what is new of one session, at most a batch; whether there was any."""
        start = _start(state.messages, before)
        end, said, length = start, list[tuple[Message, Place]](), 0
        while end < len(state.messages) and len(said) < BATCH and length < MUCH:
            if is_said(message := state.messages[end]):
                said.append((message, place_of(message, self._person, answered(state.messages, end))))
                length += len(message.text)
            end += 1
        tally: Counter[str] = Counter()
        finds: list[Find] = []
        for message, place in said:
            pause()
            finds += self._finds(message, place, tally, pause)
        if finds:
            self._bring(task, finds)
        now = Heard(
            mark=mark if end == len(state.messages) else "",
            count=end,
            last=state.messages[end - 1].id if end else "",
            **{field: getattr(before, field) + tally[field] for field in _TALLIED},
        )
        if said:
            self._note(state.info.name, kept, now)
        else:
            self._passed[state.info.name] = kept, now
        return end > start

    def _finds(self, message: Message, place: Place, tally: Counter[str], pause: Callable[[], None]) -> Sequence[Find]:
        """What a message holds; counted, what that saves."""
        tokens = counter(TOKENIZER)
        done = self._rules_now().extract(message.text, place, pause)
        tally["said"] += 1
        tally["sentences"] += done.process + len({find.place.sentence for find in done.finds})
        tally["process"] += done.process
        tally["before"] += tokens.count(message.text)
        tally["after"] += sum(tokens.count(find.text) for find in done.finds)
        tally["records"] += done.form == "record"
        return done.said

    def _rules_now(self) -> Extractor:
        """The rules, with the workspace's own phrases from when on these count."""
        trusted = bool(self._ctx.config.extraction_markers) and git_trusted(self._ctx)
        if self._extractor is None or self._trusted != trusted:
            self._extractor, self._trusted = Extractor(rule_book(self._ctx)), trusted
        return self._extractor

    def _bring(self, task: Task, finds: Sequence[Find]) -> Proposed:
        result = Proposed()
        command = f"session follow {task.slug}"
        with self._ctx.workspace.transaction(LISTENER, command, now=self._ctx.now()) as tx:
            now = tx.records.tasks.get(task.id)
            if now is not None:
                kept = finds if now.status in ("open", "draft") else [find for find in finds if find.kind != "open"]
                proposing.bring(self._ctx, tx, now, kept, result)
        return result

    def _note(self, name: str, kept: Heard, now: Heard) -> None:
        """Keep how far this came, unless another program has come further meanwhile."""

        def edit(value: Any) -> dict[str, Any]:
            rows = dict(value) if isinstance(value, Mapping) else {}
            if _read(rows).get(name, Heard()) == kept:
                rows[name] = cast("dict[str, Any]", msgspec.to_builtins(now))
            return rows

        self._ctx.workspace.local.change(_NAME, edit)


_TALLIED = ("said", "sentences", "process", "before", "after", "records")


def _start(messages: Sequence[Message], before: Heard) -> int:
    """The first message that was not heard; from the beginning where the last one that was is not there any more."""
    if not before.count:
        return 0
    if before.count <= len(messages) and messages[before.count - 1].id == before.last:
        return before.count
    return next((i + 1 for i in range(len(messages) - 1, -1, -1) if messages[i].id == before.last), 0)


def _mark(path: Path) -> str:
    """Status of a session file; empty where there is none."""
    try:
        status = path.stat()
    except OSError:
        return ""
    return f"{status.st_ino} {status.st_size} {status.st_mtime_ns}"
