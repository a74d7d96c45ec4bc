"""``workbench compile``: what a package would hold; and the options that ``handoff prepare`` shares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.cli.call import Call
from workbench.cli.output import Answer, Block, Line, Span, table
from workbench.cli.spec import TASK, Arg, Command, flag, option
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.services.packages import CompileOptions

OPTIONS: tuple[Arg, ...] = (
    option("--to", value="AGENT", help="the receiver, see: workbench agents", required=True),
    option("--budget", value="N", help="tokens at most; else [budget] decides", number=True),
    option("--strategy", value="S", help="what to carry (evidence)",
           choices=("recent", "summary_recent", "evidence", "evidence_role"), default="evidence"),
    option("--tokenizer", value="T", help="count in this one", choices=("o200k", "cl100k", "t0", "bytes")),
    option("--language", value="L", help="of headings; else the objective's", choices=("en", "zh")),
    option("--pin", value="ID", help="this item must be in it", many=True),
    option("--without", value="ID", help="this item must not be in it", many=True),
    option("--mode", value="M", help="what for (handoff)", choices=("handoff", "consult", "review"),
           default="handoff"),
)  # fmt: skip
COMMANDS = (
    Command(
        "compile",
        "what a package for an agent would hold",
        "Compiles a task for an agent and prints the prompt, or with --json the manifest with a reason for every "
        "candidate. Writes nothing. The same records, budget and --now give the same bytes.",
        (TASK, *OPTIONS, flag("--prompt-only", help="print the prompt, byte for byte into a pipe or file")),
        exits=("3 no such task", "5 blocked: what is required exceeds the budget (status blocked, over_by, required)"),
        keys="status, snapshot, identity, tokens, tokenizer, budget, manifest[], absent_sessions[], prompt",
        examples=("workbench compile @ --to codex --budget 1024",),
        run="compile:compile_",
    ),
)


def options(call: Call) -> CompileOptions:
    """The compile options of the command line."""
    from workbench.services.packages import CompileOptions

    args = call.args
    if args.budget is not None and args.budget < 1:
        raise UsageError("--budget wants a number of tokens above 0")
    return CompileOptions(
        budget=args.budget,
        strategy=args.strategy,
        tokenizer=args.tokenizer,
        language=args.language,
        pins=frozenset(args.pin),
        without=frozenset(args.without),
        mode=args.mode,
    )


def compile_(call: Call) -> Answer | int:
    """Compile and print."""
    from workbench.compiler import Compiled
    from workbench.services import damage, packages, tasks
    from workbench.services.shapes import damage_json

    context = call.context(read_only=True)
    task = tasks.resolve(context, call.args.task)
    looked = packages.preview(context, task, call.args.to, options(call))
    result = looked.result
    document: dict[str, Any] = result.as_json()
    damaged = damage.concerning(looked.gathered.records, task)
    document["damaged"] = [damage_json(d) for d in damaged]
    broken = [f"damaged, and so not in this package: {d.path}: {d.message}" for d in damaged]
    if document["status"] == "blocked":
        return Answer(document, blocked(document), 5, broken)
    unknown = sorted(result.not_found) if isinstance(result, Compiled) else []
    document["not_found"] = unknown
    broken += [f"no candidate {name!r} to pin or leave out" for name in unknown]
    if call.args.prompt_only and not call.options.json:
        call.out.exact(document["prompt"])
        for note in broken:
            call.out.note(note)
        return 6 if damaged else 0
    summary: Line = (
        f"{document['tokens']:,} tokens ({document['tokenizer']}), snapshot {document['snapshot']}; "
        f"{sum(row['included'] for row in document['manifest'])} of {len(document['manifest'])} candidates taken"
    )
    notes = [*broken, *(f"not on this machine: {name}" for name in document["absent_sessions"])]
    lines: list[Line | Block] = [Block(document["prompt"]), Span("\u2500" * 40, "dim"), summary]
    return Answer(document, [*lines, *_omitted(document["manifest"])], 6 if damaged else 0, notes)


def _omitted(manifest: list[dict[str, Any]]) -> list[Line]:
    left = [row for row in manifest if not row["included"]]
    rows = table([f"left out: {row['reason']}", row["source_type"], str(row.get("title") or row["id"])]
                 for row in left[:20])  # fmt: skip
    return [*rows, f"and {len(left) - 20} more"] if len(left) > 20 else rows


def blocked(document: dict[str, Any]) -> list[Line]:
    """Why nothing was compiled, and what could be shortened by whom."""
    lines: list[Line] = [
        [Span("blocked", "bad"), f": what is required exceeds the budget by {document['over_by']} tokens"]
    ]
    lines += table(
        [str(row.get("title") or row["id"]), f"{row['tokens']} tokens", f"smallest {row['smallest']}",
         f"could be shortened by: {row['could_shorten']}"]
        for row in document["required"]
    )  # fmt: skip
    return lines
