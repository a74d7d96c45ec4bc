"""From what was said to state: reading a text or a session, and bringing what it holds to registry and task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from workbench.domain.message import Message
from workbench.errors import UsageError
from workbench.extraction import Extraction, Extractor, Find, Place, RuleBook
from workbench.extraction.model import Form
from workbench.extraction.offer import Refusal
from workbench.extraction.render import render
from workbench.services import sessions, trust
from workbench.services.context import Context, person_name
from workbench.services.many import extract_each
from workbench.services.modelling import ModelLayer, ModelPass, joined
from workbench.sessions import open_session
from workbench.store.records import Records
from workbench.tokens import counter

TOKENIZER = "o200k"
SMALL_GAIN = 1.5
"""Below this ratio a third or less is saved, and the whole record is the better thing to give."""


@dataclass(frozen=True)
class Extracted:
    """What a text or session held, and what carrying only that would save."""

    found: Extraction
    rendered: str
    before: int
    after: int
    tokenizer: str
    skipped: int = 0
    """Messages that were not looked at: tool output, thinking, bookkeeping."""
    model: ModelPass | None = None
    """What a model was asked, where one was."""

    @property
    def ratio(self) -> float:
        """How many times smaller the conclusions are; 1 where there are none."""
        return round(self.before / self.after, 2) if self.after else 1.0

    @property
    def advice(self) -> str:
        """What to do where extraction gains little; empty where it pays."""
        if self.after and self.ratio < SMALL_GAIN:
            return f"extraction saves little here ({self.ratio} times): carry the whole text where it fits the budget"
        return ""


def own_phrases(ctx: Context | None) -> dict[str, tuple[str, ...]]:
    """The person's own phrases by kind; a workspace's count once the person trusts its git, as all it brings.

    Phrases stand in ``[extraction] markers`` as ``KIND: phrase``.

    Raises:
        UsageError: A phrase has no kind, or one that there is not.
    """
    if ctx is None or not ctx.config.extraction_markers or not trust.git_trusted(ctx):
        return {}
    added: dict[str, list[str]] = {}
    for row in ctx.config.extraction_markers:
        kind, colon, phrase = row.partition(":")
        if not colon or not phrase.strip():
            raise UsageError(f"[extraction] markers: {row!r} names no kind", "write it as: decision: it shall be …")
        added.setdefault(kind.strip(), []).append(phrase.strip())
    return {kind: tuple(phrases) for kind, phrases in added.items()}


def rule_book(ctx: Context | None) -> RuleBook:
    """The rules with the person's own phrases.

    Raises:
        UsageError: A phrase has no kind, or one that there is not.
    """
    return RuleBook.standard(own_phrases(ctx))


def from_text(
    text: str,
    name: str = "",
    *,
    ctx: Context | None = None,
    now: datetime | None = None,
    layer: ModelLayer | None = None,
) -> Extracted:
    """What a text holds; nothing is saved.

    Args:
        text: The text; a byte order mark before it is none of it.
        name: The file that it comes from.
        ctx: The workspace, where there is one: its rules and review ages.
        now: The present, for what is past review.
        layer: The model layer, for what the rules leave open; None leaves it off.
    """
    text = text.removeprefix("\ufeff")
    extractor = Extractor(rule_book(ctx))
    place = Place(message=name)
    found = extractor.extract(text, place)
    asked = layer.look(extractor.undecided(text, place), extractor.book) if layer is not None else None
    if asked is not None:
        found = joined(found, asked.finds, {})
    return replace(_measured(found, text, ctx, now), model=asked)


def from_session(
    name: str,
    *,
    ctx: Context | None = None,
    env: Mapping[str, str],
    now: datetime | None = None,
    layer: ModelLayer | None = None,
) -> Extracted:
    """What a session holds, from the words of person and agent; tool output is no statement.

    Raises:
        NotFoundError: There is no such session.
        UsageError: No reader knows the file.
    """
    agent, path = sessions.locate(ctx, name) if ctx is not None else ("", Path(name).expanduser())
    if ctx is None and not path.is_file():
        raise UsageError(f"{name}: no such file", "outside a workspace a session is named by the path of its file")
    log = open_session(path, agent or None)
    log.refresh()
    person = person_name(ctx.config, env) if ctx is not None else "human:person"
    said = [message for message in log.messages if is_said(message)]
    texts = [log.body(message) if message.clipped else message.text for message in said]
    answers = [answered(log.messages, number) for number, message in enumerate(log.messages) if is_said(message)]
    places = [place_of(message, person, known) for message, known in zip(said, answers, strict=True)]
    talk = list(zip(texts, places, strict=True))
    finds: list[Find] = []
    retracting: list[Find] = []
    process = 0
    forms: list[Form] = []
    for one in extract_each(talk, own_phrases(ctx)):
        finds += one.finds
        retracting += one.retracting
        process += one.process
        forms.append(one.form)
    form: Form = "record" if forms.count("record") * 2 > len(forms) else "chat"
    found = Extraction(tuple(finds), process, form, tuple(retracting))
    asked = None
    if layer is not None:
        extractor = Extractor(rule_book(ctx))
        left = (one for text, place in talk for one in extractor.undecided(text, place))
        asked = layer.look(left, extractor.book)
        found = joined(found, asked.finds, {message.ref: number for number, message in enumerate(said)})
    measured = _measured(found, "\n".join(texts), ctx, now)
    return replace(measured, skipped=len(log.messages) - len(said), model=asked)


def is_said(message: Message) -> bool:
    """Whether a message is talk of the person or the agent, which may hold statements."""
    return message.kind == "message" and message.origin in ("human", "agent") and not message.hidden


def answered(messages: Sequence[Message], number: int) -> tuple[str, ...]:
    """What a message of the person may answer: her own before it, and the agent's last since then."""
    found: list[str] = []
    if messages[number].origin != "human":
        return ()
    for before in range(number - 1, -1, -1):
        message = messages[before]
        if is_said(message) and (message.origin == "human" or not found):
            found.append(message.ref)
            if message.origin == "human":
                break
    return tuple(found)


def place_of(message: Message, person: str, answers: tuple[str, ...] = ()) -> Place:
    """Where the statements of a message stand, who said them, and which messages it may answer."""
    by = person if message.origin == "human" else f"agent:{message.session.partition(':')[0]}"
    typed = message.origin == "human"
    return Place(session=message.session, message=message.ref, by=by, at=message.at or "", typed=typed, answers=answers)


def _measured(found: Extraction, text: str, ctx: Context | None, now: datetime | None) -> Extracted:
    tokens = counter(TOKENIZER)
    ages = ctx.config.review_after if ctx is not None else {}
    rendered = render(
        found,
        language=ctx.config.extraction_language if ctx is not None else None,
        now=now,
        review_after=ages,
    )
    return Extracted(found, rendered, tokens.count(text), tokens.count(rendered), tokens.name)


def refusals(records: Records) -> list[Refusal]:
    """What was refused or taken back, in every wording that is on record."""
    registry = records.registry
    return [
        Refusal(text, registry.canonical(fact.key), fact.value)
        for fact in registry.facts.values()
        if registry.lifecycle(fact.id) in ("rejected", "retracted")
        for text in dict.fromkeys((fact.line, *(source.quote for source in fact.sources if source.quote)))
    ]


def each_line(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """For each JSON line ``{id, text}`` what the rules find in it.

    Raises:
        UsageError: A line is no such object; its number is named.
    """
    names: list[Any] = []
    talk: list[tuple[str, Place]] = []
    wrong: UsageError | None = None
    try:
        for name, text in _rows(lines):
            names.append(name)
            talk.append((text, Place()))
    except UsageError as error:
        wrong = error
    for name, found in zip(names, extract_each(talk), strict=True):
        items = [{"kind": f.kind, "text": f.text, "key": f.key, "value": f.value} for f in found.finds]
        yield {"id": name, "items": items, "process": not items}
    if wrong is not None:
        raise wrong


def _rows(lines: Iterable[str]) -> Iterator[tuple[Any, str]]:
    """Id and text of each line."""
    import json

    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line.removeprefix("\ufeff") if number == 1 else line)
            text = row["text"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise UsageError(f"line {number}: not an object with id and text", line=number) from None
        if not isinstance(text, str):
            raise UsageError(f"line {number}: its text is no string", line=number)
        yield row.get("id"), text
