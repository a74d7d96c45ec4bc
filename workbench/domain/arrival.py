"""What becomes of a new value: the table of ``domain.md``, applied once, on arrival."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

import msgspec

from workbench.domain.fact import TRUST_ORDER, Act, Fact, Registry, Source, Trust, canonical_form, means_same
from workbench.domain.record import Json
from workbench.domain.times import instant


def corroborated(known: tuple[Source, ...], more: Iterable[Source]) -> tuple[Source, ...]:
    """The sources of a value that was said again.

    The same source again is not a second one. A person who says it again says it *now*: her source
    takes the later time, because later words count against earlier ones.
    """
    sources = list(known)
    for new in more:
        same = [i for i, old in enumerate(sources) if old.with_(at=new.at) == new]
        if not same:
            sources.append(new)
        elif new.own_words and instant(new.at) > instant(sources[same[0]].at):
            sources[same[0]] = new
    return tuple(sources)


Voice = Literal["entered", "words", "agent", "extracted", "tool"]
"""Who a new value comes from: a person here, her words in a session, an agent's command or tool,
rules or a model over an agent's words, or tool output."""
_PERMISSION = re.compile(
    r"(?:^|[._-])(?:permissions?|allow(?:s|ed)?|may|grant(?:s|ed)?|consent)(?:[._-]|$)|权限|授权|允许"
)


def nature(value: Json) -> Literal["number", "version", "place", "fact"]:
    """What a value is, as far as it shows: review ages differ by it, and tool output counts for some only."""
    if isinstance(value, bool):
        return "fact"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str) and re.fullmatch(r"v?\d+(\.\d+)+\S*", value):
        return "version"
    return "place" if isinstance(value, str) and "/" in value else "fact"


def is_permission(key: str) -> bool:
    """Whether a key speaks of what somebody may do."""
    return _PERMISSION.search(canonical_form(key)) is not None


class Arrival(msgspec.Struct, frozen=True):
    """What becomes of a new value (the table of ``domain.md``, applied once, on arrival)."""

    outcome: Literal["active", "proposed", "corroborated"]
    fact: Fact
    """The record to store: the new one, or the one of the same value with one more source."""
    would_supersede: Fact | None = None
    """The active fact beside it; superseded already where the outcome is ``active``."""


def arrive(registry: Registry, fact: Fact, voice: Voice, now: str, *, verified_over_reported: bool = False) -> Arrival:
    """Decide what becomes of a new value against what the registry holds.

    ``fact`` comes without acts; its trust is capped here by its voice. Where another value is active
    the outcome is ``proposed``: a different value never replaces an active fact by itself, unless the
    workspace lets what a tool showed stand over what was only reported.

    Raises:
        ValueError: Tool output was offered as a decision, a constraint or a permission.
    """
    if voice == "tool" and (fact.kind != "fact" or is_permission(fact.key)):
        raise ValueError("tool output is never a decision, a constraint or a permission")
    cap: Trust = {"entered": "authoritative", "tool": "verified"}.get(voice, "reported")  # type: ignore[assignment]
    fact = fact.with_(trust=cap)
    heads = registry.heads(fact.key, fact.scope)
    for head in heads:
        if means_same(head.value, fact.value):
            return Arrival("corroborated", _said_again(head, fact, voice))
    waiting = next((p for p in registry.proposals(fact.key, fact.scope) if means_same(p.value, fact.value)), None)
    if heads:
        shown = voice == "tool" and nature(fact.value) != "fact"
        if verified_over_reported and shown and all(head.trust == "reported" for head in heads):
            act = Act(act="accepted", by="verified", at=now)
            replacing = fact.with_(acts=(act,), supersedes=tuple(head.id for head in heads))
            return Arrival("active", replacing, heads[0])
        proposal = fact if waiting is None else _said_again(waiting, fact, voice)
        return Arrival("proposed", proposal, heads[0] if len(heads) == 1 else None)
    if waiting is not None:
        again = _said_again(waiting, fact, voice)
        only_pasted = all(source.pasted is True for source in waiting.sources)
        if voice in _PERSON or (only_pasted and not _waits(fact, voice)):
            return Arrival("active", _accepted(again, fact, voice, now))
        return Arrival("proposed", again)
    if _waits(fact, voice):
        return Arrival("proposed", fact)
    return Arrival("active", _accepted(fact, fact, voice, now))


_PERSON = ("entered", "words")


def _waits(fact: Fact, voice: Voice) -> bool:
    """Whether a first value has to wait for a person; what she pasted is nobody's word here."""
    if any(source.pasted is True for source in fact.sources):
        return True
    if voice == "tool":
        return nature(fact.value) == "fact"
    if fact.kind == "constraint":
        return voice not in _PERSON
    return voice == "extracted" and is_permission(fact.key)


def _accepted(fact: Fact, new: Fact, voice: Voice, now: str) -> Fact:
    rule = new.sources[0].by if voice == "entered" and new.sources else "first_value"
    act = Act(act="accepted", by=rule, at=now)
    return fact.with_(acts=(*fact.acts, act))


def _said_again(known: Fact, new: Fact, voice: Voice) -> Fact:
    """One more source and the higher trust; a person or a tool that says it again has looked again."""
    review = known.review_after
    if review is not None and new.review_after is not None and voice in (*_PERSON, "tool"):
        review = max(review, new.review_after, key=instant)
    return known.with_(
        sources=corroborated(known.sources, new.sources),
        trust=max(known.trust, new.trust, key=TRUST_ORDER.__getitem__),
        review_after=review,
        reviewed=known.reviewed or new.reviewed,
    )
