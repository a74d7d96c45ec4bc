"""The rules layer over a whole text: prose, sentences, judgement, qualifiers, keys."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import takewhile

from workbench.extraction.correcting import corrections_for
from workbench.extraction.judge import WEIGHED, judge, weigh
from workbench.extraction.look import Statement, ground, is_finished, is_process
from workbench.extraction.model import TAKEN_BACK, Extraction, Find, Form, Place, Priority, Undecided
from workbench.extraction.opposing import TAKES_BACK, beyond_opening, is_only_opening, opening, permits, prepare
from workbench.extraction.pasting import pasted_lines
from workbench.extraction.prose import Line, lines_of, masked, place_in
from workbench.extraction.reading import Reading, read
from workbench.extraction.rules import Rules, rules_for, rules_of
from workbench.extraction.sentences import head_of, is_han, pieces_of, split
from workbench.extraction.signs import full_commas, small
from workbench.extraction.sources import sources
from workbench.extraction.speakers import Turns, speaks, turns_of
from workbench.extraction.weighing import Leaning, scale_of

_PATH = re.compile(
    r"(?<![\w/])(?:[~.]{0,2}/)?(?:[\w.@-]+/)+[\w.@-]+|(?<![\w.])[\w-]+\.(?:py|ts|tsx|js|jsx|go|rs|java|md|toml|ya?ml|json|sql|sh|html|css|rb|c|h|cpp|txt|pdf|csv|lock|mod)\b"
)
_LABEL_ONLY = re.compile(r"[【\[]?\s*([^：:】\]\n]{1,24}?)\s*(?:[】\]]|[：:])\s*$")
_LONGEST_LABEL = 60
_LABEL_ENDS = ("】", "]", "：", ":")
_LABELLED = re.compile(r"[【\[]([^】\]]{1,16})[】\]]\s*(\S.*)$")
_TODO_COMMENT = re.compile(r"`?(?://|#|/\*|--|<!--)\s*(?:TODO|FIXME|XXX|HACK)\b[^`\n*]*(?:\*/)?`?", re.IGNORECASE)
_A_WORD = re.compile(r"[^\W\d_]")
_TALK_ENDS = (".", "!", "?", "。", "！", "？", "…", "~")
_NOWHERE = Place()
_BRIEF = 3
"""Sentences of a message that is short enough for each to tell of what the others are."""
_REMEMBERED = 1_000
"""Sentences whose finds are kept; with more Python's collector has more to go through, and halts longer."""


@dataclass(frozen=True)
class RuleBook:
    """The rules of both languages, with what a workspace added."""

    en: Rules
    zh: Rules

    @classmethod
    def standard(cls, added: Mapping[str, tuple[str, ...]] | None = None) -> RuleBook:
        """The rules of the package; ``added`` phrases by kind count in both languages."""
        en, zh = rules_for("en"), rules_for("zh")
        if added:
            en, zh = en.with_markers(added), zh.with_markers(added)
        return cls(en, zh)

    def of(self, text: str) -> Rules:
        """The rules by which a sentence is read."""
        return self.zh if is_han(text) else self.en


class Extractor:
    """Finds statements in texts; one object may serve many texts, and remembers sentences it has judged."""

    def __init__(self, book: RuleBook | None = None) -> None:
        self.book = book or RuleBook.standard()
        # Read and compiled now, not while somebody waits for a sentence.
        sources()
        prepare()
        for rules in (self.book.en, self.book.zh):
            rules.prepare()
            scale_of(rules.language)
            corrections_for(rules.language).patterns.prepare()
        self._judged = lru_cache(maxsize=_REMEMBERED)(self._judge)
        self._weighed = lru_cache(maxsize=_REMEMBERED)(self._weigh)

    def extract(self, text: str, place: Place | None = None, pause: Callable[[], None] = lambda: None) -> Extraction:
        """All statements of a text.

        Args:
            text: What was said; code, logs and quotations in it are no statements.
            place: Where it stands, carried into every find; of a person's message, ``typed`` where it reads so.
            pause: Called between any two sentences; what it raises gives the text up.
        """
        if not text.strip():
            return Extraction(form="chat")
        place = place or _NOWHERE
        turns = turns_of(text)
        pasted = pasted_lines(text) | turns.perhaps if place.typed else frozenset()
        lines = list(lines_of(text))
        finds: list[Find] = []
        retracting: list[Find] = []
        process = 0
        number = 0
        back = False
        for quote, line, found in self._sentences(lines, turns.others, place):
            if number:
                pause()
            sentence, number = number, number + 1
            opens, lifts = 0, False
            if place.typed:
                opens = TAKES_BACK if back else opening(quote)
                back = opens == TAKES_BACK and is_only_opening(quote)
                lifts = (opens == TAKES_BACK and not back) or (not found and permits(quote))
            if not found and not finds and not lifts:
                process += 1
                continue
            here = self._at(place, sentence, line, pasted, opens)
            if not found and lifts and here.typed and self._may_state(quote, line, turns):
                retracting.append(Find("decision", quote, quote, TAKEN_BACK).at(here))
            if not found and finds and self._belongs_to(finds[-1], quote, here):
                finds[-1] = replace(finds[-1], text=f"{finds[-1].text} {quote}")
                continue
            if found and finds and self._qualifies(found, finds[-1], quote, here):
                finds[-1] = replace(finds[-1], text=f"{finds[-1].text} {quote}")
                continue
            process += not found
            finds += [find.at(here) for find in found]
        return Extraction(tuple(finds), process, form_of(lines), tuple(retracting))

    def undecided(self, text: str, place: Place | None = None) -> tuple[Undecided, ...]:
        """The sentences of a text in which no rule found a statement, and which no rule calls process.

        Args:
            text: What was said.
            place: Where it stands.
        """
        place = place or _NOWHERE
        turns = turns_of(text)
        pasted = pasted_lines(text) | turns.perhaps if place.typed else frozenset()
        return tuple(
            Undecided(quote, self._at(place, number, line, pasted))
            for number, (quote, line, found) in enumerate(self._sentences(list(lines_of(text)), turns.others, place))
            if not found
            and line.kind in ("prose", "item")
            and not is_process(head_of(masked(quote)), self.book.of(quote))
        )

    def _at(self, place: Place, sentence: int, line: Line, pasted: frozenset[int], opens: int = 0) -> Place:
        typed = place.typed and line.number not in pasted
        session, message, by, at = place.session, place.message, place.by, place.at
        return Place(session, message, sentence, line.number, by, at, typed, opens, place.answers)

    def _may_state(self, quote: str, line: Line, turns: Turns) -> bool:
        """Whether a sentence without a find is the speaker's own, and neither a question nor known to be process."""
        if line.kind not in ("prose", "item") or line.number in turns.others or quote.endswith(("?", "？")):
            return False
        if "other" in (speaks(line.text), speaks(quote)):
            return False
        return not is_process(head_of(beyond_opening(masked(quote))), self.book.of(quote))

    def _sentences(
        self, lines: list[Line], told: frozenset[int], place: Place
    ) -> Iterator[tuple[str, Line, tuple[Find, ...]]]:
        """Every sentence with its finds; ``told``: the lines that are somebody else's."""
        section: str | None = None
        # An agent that works tells one thing after the other: its sentences say nothing of each other's kinds.
        brief = not place.by.startswith("agent:") and sum(line.kind != "blank" for line in lines) == 1
        for line in lines:
            if line.kind == "blank":
                continue
            if line.kind == "code":
                yield line.raw.strip(), line, ()
            elif line.kind == "box_done":
                yield line.raw.strip(), line, self._made(line.text)
            elif line.kind == "todo":
                yield line.text, line, (_todo(line.text),)
            elif line.kind == "box_open":
                yield line.text, line, (self._plain("open", line.text, "checkbox"),)
            elif (heading := self._heading(line)) is not None:
                section = heading
                yield line.raw.strip(), line, ()
            elif line.kind == "heading":
                section = None
                yield line.raw.strip(), line, ()
            else:
                if line.kind == "prose" and section and not self._labelled(line.text):
                    section = None
                if line.number in told and not section:
                    yield line.text, line, ()
                    continue
                yield from self._prose(line, section, brief)

    def _prose(self, line: Line, section: str | None, brief: bool) -> Iterator[tuple[str, Line, tuple[Find, ...]]]:
        labelled = self._labelled(line.text)
        if labelled:
            kind, rest = labelled
            for part in re.split(r"[；;]\s*", rest):
                if part:
                    yield part, line, (self._plain(kind, part, "section"),) if kind not in ("process", "done") else ()
            return
        if section == "process":
            yield line.text, line, ()
            return
        if section and line.kind == "item":
            yield line.text, line, self._listed(section, line.text)
            return
        # Cut where nothing is quoted: somebody else's full stop ends no sentence of the speaker.
        sentences = [line.text[start : start + len(piece)] for start, piece in split(masked(line.text))]
        own = list(takewhile(lambda sentence: speaks(sentence) != "other", sentences))
        around = self._beside(own) if brief and 1 < len(own) <= _BRIEF else [0] * len(own)
        for sentence, beside in zip(own, around, strict=True):
            yield sentence, line, self._judged(sentence, beside)
        for sentence in sentences[len(own) :]:
            yield sentence, line, ()

    def _beside(self, sentences: Sequence[str]) -> Iterable[int]:
        """What is said around each sentence says of it."""
        weighed = [self._weighed(sentence) for sentence in sentences]
        leanings = [None, *(leaning for _, _, leaning in weighed), None]
        around = zip(weighed, leanings, leanings[2:], strict=False)
        return [scale_of(rules.language).beside(before, after) for (_, rules, _), before, after in around]

    def _weigh(self, sentence: str) -> tuple[str, Rules, Leaning]:
        text, rules = self.told(sentence)
        return text, rules, weigh(text, rules)

    def _listed(self, section: str, text: str) -> tuple[Find, ...]:
        """What an item of a list states, which is under a heading that says what its items are."""
        pieces = [text[start : start + len(piece)] for start, piece in pieces_of(masked(text))]
        judged = tuple(find for piece in pieces for find in self._judged(piece))
        if section == "done":
            return tuple(find for find in judged if find.kind != "open")
        if any(find.sure for find in judged):
            return judged
        finished = section == "open" and any(is_finished(*self.told(piece)) for piece in pieces)
        return () if finished else (self._plain(section, text, "section"),)

    def _heading(self, line: Line) -> str | None:
        """The kind of the lines under a heading or a label that stands alone."""
        text = line.text.strip("*_ ")
        if line.kind != "heading":
            match = (
                _LABEL_ONLY.fullmatch(text)
                if len(text) <= _LONGEST_LABEL and text.rstrip().endswith(_LABEL_ENDS)
                else None
            )
            if not match:
                return None
            text = match[1]
        return self._section(text)

    def _section(self, label: str) -> str | None:
        word = label.strip("*_：: ").lower()
        return self.book.en.sections.get(word) or self.book.zh.sections.get(word)

    def _labelled(self, text: str) -> tuple[str, str] | None:
        match = _LABELLED.match(text)
        kind = self._section(match[1]) if match else None
        return (kind, match[2]) if match and kind else None

    def _plain(self, kind: str, text: str, rule: str) -> Find:
        return _with_reading(
            Find(kind=kind, text=text, quote=text, rule=rule, sure=True, paths=paths_in(text)),  # type: ignore[arg-type]
            self.book.of(text),
        )

    def _made(self, text: str) -> tuple[Find, ...]:
        """What a ticked box names as made: its first word says so, and a file or a place can be looked at."""
        if not self.book.of(text).words["makes"].match(text) or not (paths_in(text) or "`" in text):
            return ()
        return (replace(self._plain("artifact", text, "ticked"), sure=False),)

    def _judge(self, sentence: str, beside: int = 0) -> tuple[Find, ...]:
        if not _A_WORD.search(sentence):
            return ()
        # A comment quoted within a sentence is open where the sentence says which file it stands in.
        if (hidden := _TODO_COMMENT.search(sentence)) and place_in(
            sentence[: hidden.start()] + sentence[hidden.end() :]
        ):
            return (_todo(sentence),)
        text, rules, leaning = self._weighed(sentence)
        return tuple(_find(sentence, statement, rules) for statement in judge(text, rules, leaning, beside))

    def told(self, sentence: str) -> tuple[str, Rules]:
        """What of a sentence is judged, with code and others' words masked, and by which rules."""
        text = full_commas(masked(sentence))
        return text.replace("\u2019", "'"), self.book.of(text)

    def _qualifies(self, found: tuple[Find, ...], before: Find, quote: str, here: Place) -> bool:
        """Whether what was only weighed is no fact of its own, but says where, since when or why of an open item."""
        alike = all(find.kind == "open" or (find.rule == WEIGHED.name and find.kind == "fact") for find in found)
        return alike and found[0].kind == "fact" and self._belongs_to(before, quote, here)

    def _belongs_to(self, before: Find, quote: str, here: Place) -> bool:
        """Whether a sentence that states nothing itself says where, since when or why of the open item before it."""
        if before.kind != "open" or here.sentence - before.place.sentence > 1 or here.line - before.place.line > 1:
            return False
        return (
            len(quote) <= 200
            and not quote.endswith(("?", "？"))
            and self.book.of(quote).backward.match(quote) is not None
        )


def _find(sentence: str, statement: Statement, rules: Rules) -> Find:
    text = sentence[statement.start : statement.end].strip().strip("，,；; ")
    if statement.end < len(sentence):
        text = rules.words["hanging"].sub("", text)
    # Words that are quoted oblige nobody.
    said = small(full_commas(masked(text)).replace("\u2019", "'"))
    rule, keyed = statement.rule, statement.kind in ("fact", "decision")
    lifts = rules.words["lifts"].search(ground(said, rules)) is not None or permits(said)
    obliges = statement.kind == "decision" and rules.words["obliges"].search(said) is not None
    constraint = not lifts and (rule.constraint or obliges or (statement.kind == "decision" and statement.binds))
    reading = Reading()
    if keyed and not lifts:
        reading = read(text, rules, constraint=True) if constraint else read(text, rules)
    return Find(
        kind=statement.kind,
        text=text,
        quote=sentence,
        rule=rule.name,
        key=reading.key,
        value=reading.value,
        old=reading.old,
        constraint=constraint,
        sure=rule.sure,
        paths=paths_in(text),
        priority=_priority(text) if statement.kind == "open" else 2,
    )


def _with_reading(find: Find, rules: Rules) -> Find:
    if find.kind not in ("fact", "decision"):
        return find
    reading = read(find.text, rules, constraint=find.constraint)
    return replace(find, key=reading.key, value=reading.value, old=reading.old)


def _todo(line: str) -> Find:
    return Find(
        kind="open",
        text=line,
        quote=line,
        rule="todo",
        sure=True,
        paths=place_in(head_of(line)),
        priority=_priority(line),
    )


def _priority(text: str) -> Priority:
    text = head_of(text)
    words = rules_of(text).words
    return 1 if words["blocks"].search(text) else 3 if words["nice"].search(text) else 2


def paths_in(text: str) -> tuple[str, ...]:
    """Files and folders that a statement names."""
    if "/" not in text and "." not in text[:-1]:
        return ()
    return tuple(dict.fromkeys(match[0] for _, piece in pieces_of(text) for match in _PATH.finditer(piece)))


def _is_talk(text: str) -> bool:
    return rules_of(text).words["talk"].search(text) is not None


def form_of(lines: list[Line]) -> Form:
    """Whether a text is a record (short notes, a line each) or talk."""
    shown = [line for line in lines if line.kind in ("prose", "item", "box_open", "box_done", "todo")]
    if not shown:
        return "chat"
    notes = sum(
        line.kind in ("box_open", "box_done", "todo")
        or (len(line.text) <= 120 and not line.text.endswith(_TALK_ENDS) and not _is_talk(line.text))
        for line in shown
    )
    return "record" if notes * 2 > len(shown) else "chat"
