"""``workbench search``: full text over everything kept."""

from __future__ import annotations

from typing import Any

from workbench.cli.call import Call, damage
from workbench.cli.output import Answer, Span, table
from workbench.cli.spec import Command, flag, option, word
from workbench.errors import NotBuiltError

COMMANDS = (
    Command(
        "search",
        "full text over everything kept",
        "Finds words in the messages of attached sessions (trimmed ones included), in facts, notes and artifacts. "
        "First come places that hold exactly what was typed, then those that hold its words together, all of them, "
        "or a last word that goes on; where there are none, those with some of the words. Nothing has to be quoted "
        "or escaped. It writes nothing: what the index on disk lacks is read on the way.",
        (
            word("WORDS", "what to look for", many=True),
            option("--task", value="T", help="only this task's sessions and records, and those of all tasks"),
            flag("--everywhere", help="over all sessions on this machine (not built yet)"),
            option("--limit", value="N", help="how many hits to list", number=True),
        ),
        exits=("3 no such task", "6 some records cannot be read; the rest is searched"),
        keys="hits[]{source_type,source_id,excerpt,score}, total, left_off",
        examples=("workbench search retries:3", "workbench search 主题 --task @"),
        run="search:search",
    ),
)

_PLAIN = ("", "kept", "active")
"""States that need no word."""


def search(call: Call) -> Answer:
    """Look for words."""
    if call.args.everywhere:
        raise NotBuiltError("workbench search --everywhere is not built yet", "without it, this workspace is searched")
    from workbench.services import tasks
    from workbench.services.search import LIMIT
    from workbench.services.search import search as look

    context = call.context(read_only=True)
    task = tasks.resolve(context, call.args.task) if call.args.task else None
    limit = LIMIT if call.args.limit is None else call.args.limit
    found = look(context, " ".join(call.args.words), task=task, limit=limit)
    document: dict[str, Any] = {
        "hits": [
            {
                "source_type": hit.source_type,
                "source_id": hit.source_id,
                "excerpt": hit.excerpt,
                "score": hit.score,
                "state": hit.state,
                "at": hit.at,
            }
            for hit in found.hits
        ],
        "total": found.total,
        "left_off": found.left_off,
        "absent_sessions": list(found.absent),
    }
    rows: list[list[str | Span]] = [
        [hit.source_type, Span(_short(hit.source_id), "bold"), "" if hit.state in _PLAIN else hit.state, hit.excerpt]
        for hit in found.hits
    ]
    answer = damage(context, document, table(rows) or ["nothing found"])
    notes = [*answer.notes]
    if found.left_off:
        notes.append(f"{found.left_off} more of {found.total}; see --limit")
    if found.absent:
        notes.append(f"not searched, their files are not here: {', '.join(found.absent)}")
    return Answer(answer.document, answer.lines, answer.exit_code, notes)


def _short(source_id: str) -> str:
    """An id as it is typed: of a message, the beginning of its own part."""
    session, cut, message = source_id.partition("#")
    return message[:8] if cut else session
