"""Which finds are put before a person: few, and only those that are rarely wrong (``extraction.md``).

Everything else is kept without asking anybody. Pure: what was shown and refused before is handed in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from workbench.domain.alike import alike, negations, plain
from workbench.domain.fact import means_same, value_text
from workbench.domain.record import Json
from workbench.extraction.alone import is_clear
from workbench.extraction.correcting import gist
from workbench.extraction.model import Find
from workbench.extraction.opposing import forbid_the_same
from workbench.extraction.reading import Reading, read
from workbench.extraction.rules import rules_of

AT_ONCE = 3
A_DAY = 10
_HAN = re.compile("[\u3400-\u9fff]")
_NAMES_SOMETHING = re.compile(
    r"\d|[\w]\.[a-z]{1,5}\b|[/_`]|[A-Z][a-z]+[A-Z]|\b[A-Za-z]+\b(?=[^A-Za-z]*[\u3400-\u9fff])"
)


@dataclass(frozen=True)
class Refusal:
    """What a person did not want to hear of."""

    text: str
    key: str | None = None
    value: Json = None


def worth_asking(find: Find, *, own_words: bool) -> bool:
    """Whether a find is certain and plain enough to take a person's attention.

    Args:
        find: What was found.
        own_words: Whether the person said it in a line that she typed (see :mod:`.pasting`).
    """
    words = rules_of(find.text).words
    if len(find.text) > 240 or words["uncertain"].search(find.quote) or words["elsewhere"].search(find.text):
        return False
    if _is_bare(find) or words["points"].search(find.text) or not is_clear(find.text):
        return False
    if not own_words:
        # An agent explains how code works in the words of rules; only what it lays at the person's door counts.
        listed = find.kind == "open" and find.rule in ("todo", "checkbox")
        return find.sure and (listed or (find.constraint and words["of_the_person"].search(find.quote) is not None))
    if find.kind == "open":
        return find.sure and words["to_do"].search(find.text) is not None
    if find.kind != "decision" or words["told_done"].search(find.text):
        return False
    if find.rule == "norm":
        return words["ruled"].search(find.text) is not None
    if find.rule == "wanted":
        return words["wanted"].search(find.text) is not None and _length(find.text) >= 10
    return find.sure or find.rule == "against"


def _length(text: str) -> int:
    """Length in words, each counted twice; in Chinese a character is a little more than half a word."""
    return round(1.3 * len(_HAN.findall(text))) or 2 * len(text.split())


def _is_bare(find: Find) -> bool:
    """Whether a find says too little to be understood alone: a few words, none of which names anything."""
    least = 10 if find.kind == "decision" and not find.constraint else 6
    return _length(find.text) < least and not _NAMES_SOMETHING.search(find.text)


def room_for(*, waiting: int, shown_today: int) -> int:
    """How many more finds may be put before a person now.

    Args:
        waiting: How many still wait for an answer.
        shown_today: How many were put before her today.
    """
    return max(0, min(AT_ONCE - waiting, A_DAY - shown_today))


def choose(
    candidates: Iterable[tuple[Find, bool]],
    *,
    refused: Sequence[Refusal] = (),
    shown_today: int = 0,
    waiting: int = 0,
) -> tuple[Find, ...]:
    """What to put before a person now, the most pressing first.

    Args:
        candidates: Finds, each with whether it stands in the person's own typed words.
        refused: What she refused before; the same in other words is not asked again.
        shown_today: How many were put before her today.
        waiting: How many of them still wait for an answer.
    """
    room = room_for(waiting=waiting, shown_today=shown_today)
    if room <= 0:
        return ()
    chosen: list[Find] = []
    fitting = [find for find, own in candidates if worth_asking(find, own_words=own)]
    for find in sorted(fitting, key=pressing):
        if was_refused(find, refused) or any(said_again(find.text, other.text) for other in chosen):
            continue
        chosen.append(find)
        if len(chosen) == room:
            break
    return tuple(chosen)


def pressing(find: Find) -> int:
    """How soon a find wants a person, the lowest first: constraints, changes of mind, what blocks, then the rest."""
    if find.constraint:
        return 1
    if find.old is not None:
        return 2
    return 3 if find.kind == "open" and find.priority == 1 else 3 + find.priority


def was_refused(find: Find, refused: Iterable[Refusal]) -> bool:
    """Whether a person refused this before: the same value of the key, or the same statement in other words."""
    return any(_again(find, refusal) for refusal in refused)


@lru_cache(maxsize=1024)
def _read(text: str, constraint: bool) -> Reading:
    """What a refused statement said: asked again for every find."""
    return read(text, rules_of(text), constraint=constraint)


def _again(find: Find, refusal: Refusal) -> bool:
    reading = _read(refusal.text, find.constraint)
    made_up = refusal.value == refusal.text  # a statement without a key is its own value
    key, value = (reading.key, reading.value) if refusal.key is None or made_up else (refusal.key, refusal.value)
    if find.key is not None and find.key == key:
        return _is_value(find.value, value)
    if find.key is None and key is not None and _states(find.text, key, value, refusal.text):
        return True
    if find.key is not None and reading.key is not None and find.key != reading.key:
        return False
    return said_again(find.text, refusal.text)


def _is_value(one: Json, other: Json) -> bool:
    """Whether two values are one, whatever its spelling."""
    return means_same(one, other) or plain(value_text(one)) == plain(value_text(other))


def _states(text: str, key: str, value: Json, refused: str) -> bool:
    """Whether a statement names the thing and the value that were refused, and turns neither around."""
    rules = rules_of(text)
    said, last = gist(text, rules), key.rpartition(".")[2]
    names = {last, last.replace("_", " ")} | {name for name, of in rules.names.items() if of in (key, last)}
    if not any(names_word(said, name) for name in names) or not names_word(said, value_text(value)):
        return False
    return negations(said) == negations(gist(refused, rules_of(refused)))


def names_word(text: str, word: str) -> bool:
    """Whether a text holds a word or name as such, in whatever case; Chinese is not cut into words."""
    word = plain(word)
    found = rf"(?<![A-Za-z0-9_]){re.escape(word)}(?![A-Za-z0-9_]|\.\d)"
    return bool(word) and re.search(found, plain(text)) is not None


def said_again(one: str, other: str) -> bool:
    """Whether two statements are the same but for their wording; ``please`` and the like count for nothing."""
    forbid = forbid_the_same(one, other)
    return alike(bare(one), bare(other)) if forbid is None else forbid


@lru_cache(maxsize=1024)
def bare(text: str) -> str:
    """A statement without what is only said around it, as it is compared."""
    return gist(text, rules_of(text))
