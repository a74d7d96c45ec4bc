"""Older messages of a task's sessions that speak of what the task is about: found by the index, chosen by the truth.

The choice depends on the messages alone and not on the state of the index: it is made of which
messages hold which words, and of nothing that the index counts for itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from workbench.compiler import bm25
from workbench.compiler.collect_history import RECENT_TURNS, agents_words
from workbench.compiler.material import Material
from workbench.compiler.rank import subject_of
from workbench.domain.times import instant
from workbench.errors import StorageError
from workbench.services.context import Context
from workbench.services.search_sources import SAID, group_name, session_group
from workbench.services.sessions import AttachedSession
from workbench.store.search import Finder
from workbench.store.search_part import Found
from workbench.store.search_words import phrase

MOST = 24
"""Messages that may become candidates; the compiler ranks them and takes what fits."""
_WORDS = 32
"""Words of the task that are looked for, rare ones first."""
_LEAST = 2
"""Words that a message has to share with the task."""
_NAME = re.compile(r"[\w./-]*[\w][./_-][\w][\w./-]*")
"""File names, paths and identifiers: asked for as they stand."""


def retrieved(ctx: Context, material: Material, sessions: Sequence[AttachedSession]) -> tuple[str, ...]:
    """``SESSION#ID`` of the agents' older words that share most with objective, open items and failure."""
    limits = _older(sessions)
    present = [s for s in sessions if s.state is not None and limits[group_name(s.ref.name, SAID)] > 0]
    words = _words(subject_of(material))
    groups = [group for session in present if (group := session_group(ctx, session, SAID)) is not None]
    if not groups or not words:
        return ()
    number = sum(len(session.state.messages) for session in present if session.state is not None)
    try:
        scores = ctx.workspace.search.ask(groups, lambda finder: _scores(finder, words, number))
    except StorageError:
        return ()  # a Python without full text search compiles without it
    return tuple(_chosen(scores, material, present, limits))


def _words(subject: str) -> list[str]:
    """What to look for, as phrases of the index, each once."""
    found = dict.fromkeys([*_NAME.findall(subject.casefold()), *bm25.words(subject)])
    return [asked for word in found if len(word) > 1 and (asked := phrase(word))]


def _scores(finder: Finder, words: Sequence[str], number: int) -> dict[Found, int]:
    """Points of every place: rare words count more, and in whole numbers, so that no machine differs."""
    hits = {word: finder.find(word).places for word in words}
    rare_first = sorted((word for word in words if hits[word]), key=lambda word: (len(hits[word]), word))[:_WORDS]
    points: dict[Found, int] = {}
    shared: dict[Found, int] = {}
    for word in rare_first:
        weight = round(100 * math.log(1 + number / len(hits[word])))
        for place in hits[word]:
            points[place] = points.get(place, 0) + weight
            shared[place] = shared.get(place, 0) + 1
    least = min(_LEAST, len(words))
    return {place: value for place, value in points.items() if shared[place] >= least}


def _chosen(
    scores: Mapping[Found, int],
    material: Material,
    sessions: Sequence[AttachedSession],
    limits: Mapping[str, int],
) -> Iterator[str]:
    """The best places whose messages may be retrieved: kept, an agent's words, older than the newest turns."""
    states = {group_name(s.ref.name, SAID): s.state for s in sessions if s.state is not None}
    fate_of = {item.message.ref: item.fate for item in material.history} if scores else {}
    chosen = 0
    for place in sorted(scores, key=lambda p: (scores[p], p.at, p.ref), reverse=True):
        messages = states[place.group].messages
        message = messages[place.place] if place.place < len(messages) else None
        if message is None or message.id != place.ref or not agents_words(message):
            continue
        fate = fate_of.get(message.ref)
        if fate is None or fate.disposition != "kept" or message.turn > limits[place.group]:
            continue
        yield message.ref
        chosen += 1
        if chosen >= MOST:
            return


def _older(sessions: Sequence[AttachedSession]) -> dict[str, int]:
    """Up to which turn of each session its messages are older than the newest turns of all."""
    turns: dict[str, int] = {}
    begun: dict[str, str] = {}
    for session in sessions:
        if session.state is not None:
            name = group_name(session.ref.name, SAID)
            turns[name] = max((m.turn for m in session.state.messages), default=0)
            begun[name] = next((m.at for m in session.state.messages if m.at), "")
    rest = RECENT_TURNS
    limits: dict[str, int] = {}
    for name in sorted(turns, key=lambda n: (instant(begun[n]), n), reverse=True):
        limits[name] = turns[name] - max(0, rest)
        rest -= turns[name]
    return limits
