"""``workbench note``: external memory by key."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from workbench.cli.call import Call, damage, json_or_text
from workbench.cli.output import Answer, Block, Line, Span, table
from workbench.cli.spec import Command, option, word

if TYPE_CHECKING:
    from workbench.domain.note import Note
    from workbench.domain.task import Task

_KEYS = "notes[]{key,value,kind,sources,updated_at}"
COMMANDS = (
    Command(
        "note write",
        "keep a value under a key",
        "Writes a note: any JSON under a key, with its sources; the latest wins, earlier values stay in the log. "
        "Sources are the agent's newest turn where not given.",
        (
            word("KEY", "the key"),
            word("JSON", "the value; without it, standard input", optional=True),
            option("--kind", value="K", help="what it is", choices=("note", "structure"), default="note"),
            option("--source", value="M", help="a message, artifact or address", many=True),
        ),
        exits=("5 the value is over 64 KiB: use an artifact; or an agent would put a contested note aside",),
        keys=_KEYS,
        examples=(
            'workbench note write step2.table \'{"rows": 120, "key": "id"}\' --kind structure',
            "workbench note write page.prices --source https://example.org/prices < prices.json",
        ),
        run="note:write",
    ),
    Command(
        "note read",
        "a note by its key",
        "Prints the newest value of a note.",
        (word("KEY", "the key"),),
        exits=("3 no such note",),
        keys=_KEYS,
        run="note:read",
    ),
    Command(
        "note list",
        "all notes",
        "Prints the newest note of every key.",
        exits=("6 some notes cannot be read; the others are listed",),
        keys=_KEYS,
        run="note:listing",
    ),
    Command(
        "note query",
        "find it again",
        "Finds notes, facts, artifacts and trimmed history by words, and prints the notes whole.",
        (
            word("WORDS", "what to look for", many=True),
            option("--limit", value="N", help="how many hits at most (20)", number=True, default=20),
        ),
        keys=f"{_KEYS}, hits[]{{source_type,source_id,excerpt,score}}, total, left_off",
        run="note:query",
    ),
)


def write(call: Call) -> Answer:
    """Write."""
    from workbench.services import notes

    text = call.args.json if call.args.json is not None else call.text("-").rstrip("\n")
    context = call.context()
    note = notes.write(context, call.args.key, json_or_text(text), kind=call.args.kind, sources=call.args.source)
    return Answer({"notes": [_json(note)]}, [f"{note.key} is kept ({note.id})", *_sources(note)])


def read(call: Call) -> Answer:
    """Read."""
    from workbench.services import notes

    context = call.context(read_only=True)
    note = notes.read(context, call.args.key)
    earlier = notes.earlier(context, note)
    told = [f"{earlier} earlier value{'s' * (earlier != 1)}: workbench log {shlex.quote(note.key)}"] if earlier else []
    return Answer({"notes": [_json(note)]}, [*_lines(note), *told])


def listing(call: Call) -> Answer:
    """All keys."""
    from workbench.domain.fact import value_text
    from workbench.services import notes

    context = call.context(read_only=True)
    records = context.workspace.load()
    found = notes.heads(records)
    rows: list[list[str | Span]] = [
        [
            Span(note.key, "bold"),
            note.kind,
            _whose(records.tasks.get(note.task or "")),
            note.written.at,
            value_text(note.value),
        ]
        for note in found
    ]
    return damage(context, {"notes": [_json(note) for note in found]}, table(rows) or ["no notes"])


def query(call: Call) -> Answer:
    """Words."""
    from workbench.services import notes

    found = notes.query(call.context(read_only=True), " ".join(call.args.words), call.args.limit)
    hits = [
        {"source_type": hit.source_type, "source_id": hit.source_id, "excerpt": hit.excerpt, "score": hit.score}
        for hit in found.hits
    ]
    left_off = found.total - len(found.hits)
    document = {
        "notes": [_json(note) for note in found.notes],
        "hits": hits,
        "total": found.total,
        "left_off": left_off,
    }
    lines: list[Line | Block] = []
    for note in found.notes:
        lines += _lines(note)
    others = [hit for hit in found.hits if hit.source_type != "note"]
    lines += table([hit.source_type, Span(hit.source_id, "bold"), hit.excerpt] for hit in others)
    notes_left = [f"{left_off} more of {found.total}; see --limit"] if left_off else []
    return Answer(document, lines or ["nothing found"], notes=notes_left)


def _json(note: Note) -> dict[str, Any]:
    return {
        "id": note.id,
        "key": note.key,
        "value": note.value,
        "kind": note.kind,
        "sources": list(note.sources),
        "task": note.task,
        "by": note.written.by,
        "updated_at": note.written.at,
        "version": note.version,
    }


def _whose(task: Task | None) -> str:
    return task.slug if task is not None else "workspace"


def _sources(note: Note) -> list[Line | Block]:
    return [f"  from {source}" for source in note.sources]


def _lines(note: Note) -> list[Line | Block]:
    from workbench.cli.output import to_json

    value = note.value if isinstance(note.value, str) else to_json(note.value).decode().rstrip("\n")
    head: Line = [Span(note.key, "bold"), f"  {note.kind}, by {note.written.by} at {note.written.at}"]
    return [head, Block(value), *_sources(note)]
