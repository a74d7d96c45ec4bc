"""``workbench extract``: what a text or a session holds of facts, decisions, artifacts and open items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from workbench.cli.call import Call
from workbench.cli.output import Answer, Line, Span, table
from workbench.cli.spec import Command, flag, option, word
from workbench.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from workbench.extraction import Find, Kind
    from workbench.services.context import Context
    from workbench.services.extraction import Extracted
    from workbench.services.modelling import ModelLayer, ModelPass
    from workbench.services.taking import Proposed

COMMANDS = (
    Command(
        "extract",
        "facts, decisions, artifacts and open items from a text",
        "Reads a text or a session and prints what it holds of the four kinds, with sources. Nothing is saved "
        "without --propose. With --jsonl each line {id, text} in gives a line {id, items[{kind, text, key, value}], "
        "process} out. Rules find these; --model asks the model of [model] in your configuration about what the rules "
        "leave open, and says before what is sent where.",
        (
            word("FILE", "the text; - is standard input", optional=True),
            option("--session", value="S", help="a session: id, path or latest"),
            option("--jsonl", value="F", help="many texts, one a line, at most 16 MiB; - is standard input"),
            flag("--model", help="ask the configured model, too; off unless you set one"),
            option("--propose", value="TASK", help="save what was found as proposals"),
        ),
        exits=("3 no such session or task", "5 somebody else runs the task of --propose"),
        keys="facts[], decisions[], artifacts[], open[] (each {text,key,value,quote,source,observed_at}), process, "
        "form: record|chat, tokens{before,after,ratio,tokenizer}",
        examples=("workbench extract notes.md", "workbench extract --session latest --propose @"),
        run="extract:extract",
    ),
)


def extract(call: Call) -> Answer | int:
    """Read, print, and save where asked."""
    args = call.args
    given = [name for name in (args.file, args.session, args.jsonl) if name is not None]
    if len(given) != 1:
        raise UsageError("one of FILE, --session S and --jsonl F is needed", "see: workbench extract --help")
    if args.jsonl is not None:
        return _lines(call)
    return _one(call)


def _lines(call: Call) -> int:
    import json

    from workbench.services import extraction

    for name in ("propose", "model"):
        if getattr(call.args, name):
            raise UsageError(f"--{name} takes a text or a session, not --jsonl")
    for row in extraction.each_line(_physical(call.text(call.args.jsonl))):
        call.out.row(json.dumps(row, ensure_ascii=True))
    return 0


def _physical(text: str) -> Iterator[str]:
    """Lines that end with a line feed; other separators may stand within JSON."""
    yield from text.split("\n")


def _one(call: Call) -> Answer:
    from workbench.services import extraction, proposing, tasks

    args = call.args
    context = _context(call, needed=args.propose is not None)
    now = call.options.now or (context.now() if context is not None else None)
    layer = _layer(call, context) if args.model else None
    if args.session is not None:
        done = extraction.from_session(args.session, ctx=context, env=call.env, now=now, layer=layer)
    else:
        name = "" if args.file == "-" else args.file
        done = extraction.from_text(call.text(args.file), name, ctx=context, now=now, layer=layer)
    if done.model is not None:
        for text in (*done.model.notes, done.model.cost):
            call.out.note(text)
    document = _document(done)
    lines = _shown(done)
    if args.propose is not None:
        assert context is not None
        cost = done.model.cost if done.model is not None and done.model.requests else ""
        kept = proposing.propose(context, tasks.resolve(context, args.propose), done.found, why=cost)
        document["proposed"] = _kept(kept)
        lines += _said(kept)
    return Answer(document, lines, notes=[done.advice] if done.advice else ())


def _context(call: Call, *, needed: bool) -> Context | None:
    """The workspace; a text can be read without one."""
    try:
        return call.context(read_only=not needed)
    except NotFoundError:
        if needed:
            raise
        return None


def _layer(call: Call, context: Context | None) -> ModelLayer | None:
    """The model that the person set; where she set none, that is said and the rules go on alone."""
    from workbench.config import load_config
    from workbench.services import modelling

    config = context.config if context is not None else load_config(None, call.env, lenient=True)
    layer = modelling.configured(config, call.env, call.out.note)
    if layer is None:
        call.out.note(modelling.OFF)
    return layer


def _item(find: Find) -> dict[str, Any]:
    return {
        "text": find.text,
        "key": find.key,
        "value": find.value,
        "quote": find.quote,
        "source": {
            "ref": find.place.message or None,
            "session": find.place.session or None,
            "line": find.place.line,
            "sentence": find.place.sentence,
            "by": find.place.by or None,
        },
        "observed_at": find.place.at or None,
        "constraint": find.constraint,
        "rule": find.rule,
        "model": find.model or None,
    }


def _document(done: Extracted) -> dict[str, Any]:
    found = done.found
    return {
        "facts": [_item(find) for find in found.of("fact")],
        "decisions": [_item(find) for find in found.of("decision")],
        "artifacts": [_item(find) for find in found.of("artifact")],
        "open": [_item(find) for find in found.of("open")],
        "process": found.process,
        "form": found.form,
        "tokens": {"before": done.before, "after": done.after, "ratio": done.ratio, "tokenizer": done.tokenizer},
        "rendered": done.rendered,
        "model": _asked(done.model) if done.model is not None else "off",
    }


def _asked(asked: ModelPass) -> dict[str, Any]:
    return {
        "name": asked.name,
        "requests": asked.requests,
        "sentences": {"asked": asked.asked, "not_asked": asked.unasked},
        "tokens": {
            "estimated": asked.estimate,
            "in": asked.tokens_in,
            "out": asked.tokens_out,
            "basis": "model" if asked.counted_by_model else "counted here",
        },
        "found": len(asked.finds),
        "refused": [{"quote": quote, "why": why} for quote, why in asked.refused],
        "notes": asked.notes,
    }


def _shown(done: Extracted) -> list[Line]:
    from workbench.extraction.render import labelled

    found = done.found
    counts = ", ".join(f"{len(found.of(kind))} {name}" for kind, name in _NAMES)
    asked = done.model
    model = f"{len(asked.finds)} of them by {asked.name}" if asked is not None else "model layer off"
    lines: list[Line] = []
    for label, finds in labelled(found.finds):
        lines.append(Span(label, "bold"))
        lines += table(["", _where(find), Span(find.text)] for find in finds)
    skipped = f"; {done.skipped} messages of tools and bookkeeping not read" if done.skipped else ""
    lines += [
        Span("\u2500" * 40, "dim"),
        f"{counts}; {found.process} sentences of process left out{skipped}; taken for a {found.form}; {model}",
        f"{done.before:,} tokens before, {done.after:,} after: {_gain(done)} ({done.tokenizer})",
    ]
    return lines


def _where(find: Find) -> Span:
    """The message of a session, or the line of a text."""
    place = find.place
    return Span(place.message if place.session else f"line {place.line}", "dim")


def _gain(done: Extracted) -> str:
    if not done.after:
        return "nothing to carry"
    return f"{done.ratio} times smaller" if done.ratio >= 1 else "nothing saved"


_NAMES: tuple[tuple[Kind, str], ...] = (
    ("fact", "facts"),
    ("decision", "decisions"),
    ("artifact", "artifacts"),
    ("open", "open"),
)


def _kept(kept: Proposed) -> dict[str, Any]:
    return {
        "active": [fact.id for fact in kept.active],
        "proposed": [fact.id for fact in kept.proposed],
        "corroborated": [fact.id for fact in kept.corroborated],
        "pending": [item.id for item in kept.pending],
        "claims": kept.claims,
        "left_out": [{"text": text, "why": why} for text, why in kept.left],
    }


def _said(kept: Proposed) -> list[Line]:
    lines: list[Line] = [
        f"saved: {len(kept.active)} active, {len(kept.proposed)} proposed, {len(kept.corroborated)} said again, "
        f"{len(kept.pending)} open items, {kept.claims} claims"
    ]
    lines += [["  ", Span("proposed", "warn"), "  ", fact.key, "  ", fact.statement] for fact in kept.proposed]
    lines += [["  ", Span("left out", "dim"), f" ({why})  ", text] for text, why in kept.left]
    return lines
