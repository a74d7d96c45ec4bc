"""What extraction gives: finds with their quoted place, and what was left as process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from workbench.domain.record import Json

Kind = Literal["fact", "decision", "artifact", "open"]
KINDS: tuple[Kind, ...] = ("fact", "decision", "artifact", "open")
"""In the order in which conclusions are rendered."""
PRECEDENCE: tuple[Kind, ...] = ("decision", "fact", "artifact", "open")
"""Where one statement fits several kinds, the first one here (``extraction.md``)."""
Form = Literal["record", "chat"]
Priority = Literal[1, 2, 3]
"""1 blocks the goal, 2 needed, 3 nice."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a find was said, and by whom."""

    session: str = ""
    message: str = ""
    """``SESSION#MESSAGE``, or the file."""
    sentence: int = 0
    """Counts the sentences of the message from 0."""
    line: int = 0
    """Line of the text, from 1."""
    by: str = ""
    """Actor, where known."""
    at: str = ""
    typed: bool = False
    """Whether it stands in a message that a person typed, as far as that shows."""
    opens: int = 0
    """How the sentence, or one that says no more right before it, opens (see :mod:`.opposing`); of typed ones only."""
    answers: tuple[str, ...] = ()
    """The messages right before, which it may answer."""


TAKEN_BACK = "taken back"
"""The rule of a find that counts only where it goes against what is known."""


@dataclass(frozen=True, slots=True)
class Find:
    """One statement that was found."""

    kind: Kind
    text: str
    """The statement with its qualifiers, as it was written."""
    quote: str
    """The whole sentence, literally."""
    rule: str
    """Name of the rule that found it."""
    key: str | None = None
    value: Json = None
    old: Json = None
    """The value that is put aside, where the sentence names it."""
    constraint: bool = False
    sure: bool = False
    """Found by a rule that is rarely wrong."""
    paths: tuple[str, ...] = ()
    priority: Priority = 2
    place: Place = Place()
    model: str = ""
    """The model that found it; empty: a rule did."""

    def at(self, place: Place) -> Find:
        """The same with its place; made for every find, so without looking through the fields."""
        return Find(
            self.kind,
            self.text,
            self.quote,
            self.rule,
            self.key,
            self.value,
            self.old,
            self.constraint,
            self.sure,
            self.paths,
            self.priority,
            place,
            self.model,
        )


@dataclass(frozen=True)
class Undecided:
    """A sentence that the rules leave open: no statement found, and not known to be process."""

    text: str
    place: Place


@dataclass(frozen=True)
class Extraction:
    """The finds of a text, in its order."""

    finds: tuple[Find, ...] = ()
    process: int = 0
    """Sentences that state nothing that is kept."""
    form: Form = "chat"
    retracting: tuple[Find, ...] = ()
    """Sentences of the person that no rule took for a statement, but which open by taking something back: they count
    for nothing unless they go against what is known."""

    @property
    def said(self) -> tuple[Find, ...]:
        """All that may be brought to what is known, in the order in which it was said."""
        if not self.retracting:
            return self.finds
        both = (*self.finds, *self.retracting)
        return tuple(sorted(both, key=lambda find: (find.place.at, find.place.sentence)))

    def of(self, kind: Kind) -> tuple[Find, ...]:
        """The finds of one kind, in the order of the text."""
        return tuple(find for find in self.finds if find.kind == kind)
