"""Full text over history, notes, facts and artifacts: the index finds, and the truth is read where it points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from workbench.domain.message import Message
from workbench.domain.task import Task
from workbench.domain.trimming import fates
from workbench.errors import UsageError
from workbench.services.context import Context
from workbench.services.search_sources import (
    DONE,
    SAID,
    TEXT_OF,
    group_name,
    message_text,
    record_groups,
    record_time,
    session_groups,
)
from workbench.services.sessions import AttachedSession, attached
from workbench.store.mask import mask
from workbench.store.records import Records
from workbench.store.search import Finder
from workbench.store.search_part import Found as Place
from workbench.store.search_words import Question
from workbench.text import one_line

LIMIT = 50
"""Hits that are shown, unless more are asked for."""
EXACT, TOGETHER, BEGUN, SCATTERED, BEGINNING, SOME = 1000, 800, 700, 500, 250, 100
"""Scores: the very string; its words together; these with the last one begun; all words; these likewise; some."""
_AROUND = 60
"""Characters of an excerpt before the place that was found."""
_EXCERPT = 200
_KIND = {"facts": "fact", "notes": "note", "artifacts": "artifact"}


@dataclass(frozen=True)
class Hit:
    """A place where the words stand, as it is now."""

    source_type: str
    """``message``, ``fact``, ``note`` or ``artifact``."""
    source_id: str
    excerpt: str
    score: int
    state: str
    """What became of it: a message's disposition, a fact's lifecycle."""
    at: str


@dataclass(frozen=True)
class Found:
    """The best hits, and how many there are."""

    hits: tuple[Hit, ...]
    total: int
    absent: tuple[str, ...] = ()
    """Sessions whose files are not on this machine."""

    @property
    def left_off(self) -> int:
        """Hits that are not listed."""
        return max(0, self.total - len(self.hits))


def search(ctx: Context, words: str, *, task: Task | None = None, limit: int = LIMIT) -> Found:
    """Find ``words``; anything that is typed is a valid question. Writes nothing where the workspace is read-only.

    Args:
        ctx: Where and who.
        words: What to look for.
        task: Only this task's sessions and records, and the records of the whole workspace.
        limit: How many hits are wanted.

    Raises:
        UsageError: There is nothing to look for.
    """
    question = Question.of(words)
    if not question.text:
        raise UsageError("nothing to look for", "give a word, as in: workbench search retries")
    if limit < 1:
        raise UsageError(f"a limit of {limit} hits", "give a positive number")
    records = ctx.workspace.load()
    truth = _Truth(ctx, records, sessions_of(ctx, records, task), task)
    if not question.words:
        places = [(EXACT, place) for place in truth.everything() if truth.holds(place, question.text)]
        places.sort(key=lambda pair: (pair[1].at, pair[1].place), reverse=True)
        total = len(places)
    else:
        groups = [*session_groups(ctx, truth.sessions), *record_groups(records)]
        total, places = ctx.workspace.search.ask(groups, lambda finder: _ranked(finder, question, truth, limit))
    hits = []
    for score, place in places[:limit]:
        hit = truth.hit(place, score, question)
        if hit is not None:
            hits.append(hit)
    absent = tuple(session.ref.name for session in truth.sessions if session.state is None)
    return Found(tuple(hits), total, absent)


def update(ctx: Context, pause: Callable[[], None] = lambda: None) -> bool:
    """Bring the index on disk up to date; for the app and for commands that write.

    Returns:
        Whether it is up to date now.
    """
    records = ctx.workspace.load()
    groups = [*session_groups(ctx, sessions_of(ctx, records, None)), *record_groups(records)]
    # An index of its own: whoever asks meanwhile must not wait until all is done.
    index = ctx.workspace.search.another()
    try:
        return index.update(groups, pause)
    finally:
        index.close()


def sessions_of(ctx: Context, records: Records, task: Task | None) -> list[AttachedSession]:
    """The sessions of a task, or of all tasks, each once."""
    tasks = [task] if task is not None else sorted(records.tasks.values(), key=lambda t: t.id)
    found = {session.ref.name: session for one in tasks for session in attached(ctx, records, one)}
    return list(found.values())


def _ranked(finder: Finder, question: Question, truth: _Truth, limit: int) -> tuple[int, list[tuple[int, Place]]]:
    """How many places there are, and the best: strict readings before loose ones, newer before older."""
    found: list[tuple[int, Place]] = []
    total = 0
    for score, asked in _readings(question):
        if not asked or len(found) >= limit:
            continue  # what is looser than all that is listed is not even counted
        # Every place of the whole question is looked at where punctuation decides which ones are exact.
        all_of_them = score == EXACT and not question.plain
        answers = finder.find(asked, None if all_of_them or truth.narrow else max(1, limit - len(found)))
        places = [place for place in answers.places if truth.admits(place)]
        total += len(places) if truth.narrow else answers.total
        if all_of_them:
            scored = [(EXACT if truth.holds(place, question.text) else TOGETHER, place) for place in places]
            found += sorted(scored, key=lambda pair: -pair[0])
        else:
            found += [(score, place) for place in places]
    if not found and len(question.words) > 1:
        found = _some(finder, question, truth)
        total = len(found)
    return total, found


def _readings(question: Question) -> Iterator[tuple[int, str]]:
    yield EXACT, question.whole
    yield BEGUN, question.begun
    yield SCATTERED, question.scattered
    yield BEGINNING, question.beginning


def _some(finder: Finder, question: Question, truth: _Truth) -> list[tuple[int, Place]]:
    """Places with some of the words, those with most of them first."""
    number: dict[Place, int] = {}
    for word in question.words:
        for place in finder.find(word).places:
            if truth.admits(place):
                number[place] = number.get(place, 0) + 1
    share = {place: SOME * count // len(question.words) for place, count in number.items()}
    ordered = sorted(share, key=lambda place: (share[place], place.at, place.place), reverse=True)
    return [(share[place], place) for place in ordered]


class _Truth:
    """What the places of the index stand for, as it is now."""

    def __init__(self, ctx: Context, records: Records, sessions: list[AttachedSession], task: Task | None) -> None:
        self.ctx = ctx
        self.records = records
        self.sessions = sessions
        self.task = task
        self._by_group = {group_name(session.ref.name, half): session for session in sessions for half in (SAID, DONE)}

    @property
    def narrow(self) -> bool:
        """Whether some places of the index do not count."""
        return self.task is not None

    def admits(self, place: Place) -> bool:
        """Whether a place is asked for: of a task alone, records of other tasks are not."""
        if self.task is None or place.group not in TEXT_OF:
            return True
        record = self.records.table(place.group).get(place.ref)
        owner = getattr(record, "scope", None) or getattr(record, "task", None)
        return record is not None and owner in (None, "workspace", self.task.id)

    def everything(self) -> Iterable[Place]:
        """Every place there is, for questions that hold no word."""
        for name in TEXT_OF:
            for number, record in enumerate(self.records.table(name).values()):
                place = Place(name, record.id, record_time(record), number)
                if self.admits(place):
                    yield place
        for session in self.sessions:
            if session.state is not None:
                name = group_name(session.ref.name, SAID)
                for number, message in enumerate(session.state.messages):
                    if not message.hidden:
                        yield Place(name, message.id, message.at or "", number)

    def _message(self, place: Place) -> Message | None:
        session = self._by_group.get(place.group)
        if session is None or session.state is None:
            return None
        messages = session.state.messages
        if place.place < len(messages) and messages[place.place].id == place.ref:
            return messages[place.place]
        return next((message for message in messages if message.id == place.ref), None)

    def text(self, place: Place) -> str:
        """The text at a place; empty where there is none any more."""
        if place.group in TEXT_OF:
            record = self.records.table(place.group).get(place.ref)
            return TEXT_OF[place.group](record) if record is not None else ""
        message = self._message(place)
        session = self._by_group.get(place.group)
        if message is None or session is None or session.state is None:
            return ""
        return message_text(self.ctx, session.state, message)

    def holds(self, place: Place, string: str) -> bool:
        """Whether the very string stands there, of a long message in what memory has of it."""
        if place.group in TEXT_OF:
            return string in self.text(place)
        message = self._message(place)
        if message is None:
            return False
        call = message.call
        return string in message.text or (
            call is not None and any(string in t for t in (call.command or "", *call.paths))
        )

    def hit(self, place: Place, score: int, question: Question) -> Hit | None:
        """What stands at a place now; None where it is gone."""
        text = mask(self.text(place))
        if place.group in TEXT_OF:
            record = self.records.table(place.group).get(place.ref)
            if record is None:
                return None
            state = self.records.registry.lifecycle(record.id) if place.group == "facts" else ""
            return Hit(_KIND[place.group], record.id, excerpt(text, question), score, state, record_time(record))
        message = self._message(place)
        if message is None:
            return None
        fate = fates([message], self.records.trims.get(message.session, ()))[message.id]
        return Hit("message", message.ref, excerpt(text, question), score, fate.disposition, message.at or "")


def excerpt(text: str, question: Question) -> str:
    """The part of ``text`` around the first place where the question stands, on one line."""
    folded = text.casefold()
    if len(folded) != len(text):
        folded = text  # a letter that folds to two would shift every place after it
    wanted = [question.text, question.text.casefold(), *question.text.casefold().split()]
    at = next((found for word in wanted if (found := max(text.find(word), folded.find(word))) >= 0), 0)
    start = max(0, at - _AROUND)
    if start:
        # Not in the middle of a word.
        start = next((n + 1 for n in range(start, at) if text[n].isspace()), start)
    shown = one_line(text[start : start + 4 * _EXCERPT], _EXCERPT)
    return ("\u2026" if start else "") + shown
