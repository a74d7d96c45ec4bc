"""``workbench history``: what a task's sessions hold, and what of it packages carry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.cli.call import Call
from workbench.cli.output import Answer, Line, Span, clip, table
from workbench.cli.spec import TASK, WHY, Command, flag, option, word
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.services.cutting import CutPlan
    from workbench.services.view import MessageView

_MESSAGES = word("MESSAGES", "SESSION#ID, an id or a unique prefix of it, or a range A..B within a session", many=True)
_KEYS = "messages[]{id,index,role,kind,tokens,memory,disposition,...}, tokens{all,kept}"
_DRY = flag("--dry-run", help="only say what it would do")
_EXITS = ("3 no such task or message", "5 guidelines never go; what a person pinned or said goes by her typed yes only")


def _cut(verb: str, summary: str, about: str, *more: Any) -> Command:
    tail = (
        " A call and its result go together. The tokens before and after are shown, and in what. The agent's own "
        "session file is never touched, and everything can be restored."
    )
    return Command(
        f"history {verb}", summary, about + tail, (TASK, _MESSAGES, *more, WHY, _DRY), exits=_EXITS,
        keys="act, messages[], tokens{before,after,in}, package{to,before,after}, stale[]{package,to}, findings[]",
        run=f"history:{verb}",
    )  # fmt: skip


COMMANDS = (
    Command("history show", "the messages of a task",
            "Prints the messages of a task's sessions with their memory class, disposition and tokens.",
            (TASK, word("MESSAGES", "only these, with their whole text", many=True, least=0)),
            exits=("3 no such task or message",), keys=_KEYS, run="history:show"),
    Command("history view", "the messages that one request carried",
            "Prints the exact message list of a request, as its session file tells it: in four parts (instructions, "
            "person, tools, agent), each with its tokens. What the file does not hold is named as not recorded, and "
            "sized from the tokens that the request is recorded to have used. With --compacted the messages that a "
            "compaction would send: guidelines, the last turns and notes in place of the rest, half of the model's "
            "window where no budget is given; long outputs become digests before turns go. It changes nothing.",
            (TASK,
             option("--request", value="N",
                    help="which request: its number (SESSION#N in another session than the newest), or a message; the "
                    "last one where not given"),
             flag("--compacted", help="as a compaction would send it"),
             option("--turns", value="N", help="compacted: how many of the last turns (3 for small windows, else 4)",
                    number=True),
             option("--budget", value="TOKENS", help="compacted: tokens of all messages", number=True),
             option("--note", value="KEY", help="compacted: only this note beside structure notes; again for more",
                    many=True)),
            exits=("3 no such task or request",),
            keys="request{session,number,of,model,usage}, messages[], parts[]{part,messages,recorded,not_recorded}, "
            "ages{summary,history,new}, stated[], basis; with --compacted "
            "messages[]{role,content,tokens,form,id,call,answers}, turns{carried,wanted}, notes{carried,named,absent}, "
            "waiting[], tokens{before,after,budget,over}",
            run="history_view:view"),
    Command("history suggest", "what may go",
            "Names the messages that may go: used-up tool traffic of older turns that nothing refers to and that can "
            "be fetched back. It changes nothing.",
            (TASK,), exits=("3 no such task",), keys=_KEYS, run="history:suggest"),
    _cut("drop", "leave messages out of packages", "Drops messages: a line says what kind of thing was there."),
    _cut("summarise", "a digest in place of messages",
         "Puts a digest (or your own sentence) in the place of messages.",
         option("--text", value="TEXT", help="your own sentence"),
         option("--file", value="F", help="read it from a file; - is standard input")),
    _cut("externalise", "a reference in place of messages",
         "Keeps the content as a blob, and a line with id, size and hash in its place."),
    Command("history pin", "keep messages in every package",
            "Pins messages: they are required in every package.",
            (TASK, _MESSAGES, flag("--off", help="unpin"), WHY), exits=_EXITS, keys=_KEYS, run="history:pin"),
    Command("history class", "change the memory class of messages",
            "Sets the memory class: working goes as soon as it is distilled, project stays as records, guideline is "
            "never trimmed.",
            (TASK, _MESSAGES,
             option("--to", value="CLASS", help="the class", choices=("working", "project", "guideline"),
                    required=True), WHY),
            exits=_EXITS, keys=_KEYS, run="history:reclass"),
    Command("history restore", "bring messages back", "Takes back what was dropped, summarised or externalised.",
            (TASK, _MESSAGES, WHY), exits=("3 no such task or message",), keys=_KEYS, run="history:restore"),
)  # fmt: skip


def show(call: Call) -> Answer:
    """The history, or single messages whole."""
    from workbench.services import history, tasks
    from workbench.services.shapes import history_json, message_json

    context = call.context(read_only=True)
    task = tasks.resolve(context, call.args.task)
    found = history.show(context, task)
    document = history_json(found)
    notes = [f"not on this machine: {name}" for name in found.absent]
    if call.args.messages:
        beside = {word: row for word in call.args.messages if (row := history.beside(context, task, word))}
        chosen = history.select(found, [word for word in call.args.messages if word not in beside])
        rows = [row for row in found.messages if row.message.ref in chosen]
        bodies = {row.message.ref: history.body(context, task, row.message.ref) for row in rows}
        rows += beside.values()
        bodies |= {row.message.ref: row.message.text for row in beside.values()}
        document["messages"] = [message_json(row) | {"text": bodies[row.message.ref]} for row in rows]
        from workbench.cli.output import Block

        lines: list[Any] = []
        for row in rows:
            lines += [*_rows([row]), Block(bodies[row.message.ref])]
        return Answer(document, lines, notes=notes)
    total: Line = f"{found.tokens_kept:,} of {found.tokens_all:,} tokens kept ({found.tokenizer})"
    return Answer(document, [*_rows(found.messages), total], notes=notes)


def suggest(call: Call) -> Answer:
    """What may go."""
    from workbench.services import history, tasks
    from workbench.services.shapes import message_json

    context = call.context(read_only=True)
    found = history.show(context, tasks.resolve(context, call.args.task))
    names = history.suggest(context, found)
    rows = [row for row in found.messages if row.message.ref in names]
    tokens = sum(row.tokens for row in rows)
    document = {
        "messages": [message_json(row) for row in rows],
        "tokens": {"all": found.tokens_all, "kept": found.tokens_kept, "suggested": tokens},
    }
    return Answer(document, [*_rows(rows), f"{tokens:,} tokens in {len(rows)} messages may go, in {history.IN_WHAT}"])


def drop(call: Call) -> Answer:
    """Leave out."""
    return _carry_out(call, "drop")


def summarise(call: Call) -> Answer:
    """Digest."""
    if call.args.text is not None and call.args.file is not None:
        raise UsageError("give the sentence once: by --text or by --file")
    text = call.text(call.args.file).strip() if call.args.file is not None else call.args.text or ""
    return _carry_out(call, "summarise", text)


def externalise(call: Call) -> Answer:
    """Reference."""
    return _carry_out(call, "externalise")


def _carry_out(call: Call, act: Any, text: str = "") -> Answer:
    from workbench.services import cutting, tasks
    from workbench.services.shapes import cut_json

    context = call.context(read_only=call.args.dry_run)
    task = tasks.resolve(context, call.args.task)
    plan = cutting.plan_cut(context, task, call.args.messages, act, text=text)
    yes = call.options.yes
    if not call.args.dry_run:
        if plan.needs_yes and not plan.blocked and not yes and call.tty and context.actor.human:
            call.confirm(context, "cutting these messages", _plan_lines(plan), typed="yes")
            yes = True
        cutting.cut(context, task, plan, why=call.args.why or "", yes=yes)
    document = cut_json(plan) | {"done": not call.args.dry_run}
    return Answer(document, _plan_lines(plan), 5 if call.args.dry_run and plan.blocked else 0)


_NAMED = 8
"""Messages of a cut that are listed."""


def _plan_lines(plan: CutPlan) -> list[Any]:
    lines: list[Any] = [
        f"{plan.act}: {len(plan.messages)} messages; {plan.tokens_before:,} tokens before, {plan.tokens_after:,} after",
        f"  in {plan.in_what}",
    ]
    if plan.package is not None:
        to, before, after = plan.package
        same = "the same after" if before == after else f"{after:,} after"
        lines.append(f"  the next package for {to}, made anew: {before:,} tokens before, {same}")
    lines += [f"  the pending package {id_} for {to} counts as stale by it" for id_, to in plan.stale]
    lines += [["  ", *row] for row in _rows(plan.messages[:_NAMED])]
    if len(plan.messages) > _NAMED:
        lines.append(f"  and {len(plan.messages) - _NAMED} more")
    lines += [[Span(f"  {finding.rule}  ", "warn"), finding.message, f": {finding.text}"] for finding in plan.findings]
    return lines


def pin(call: Call) -> Answer:
    """Pin or unpin."""
    return _mark(call, "unpin" if call.args.off else "pin")


def reclass(call: Call) -> Answer:
    """Another class."""
    return _mark(call, "class", call.args.to)


def restore(call: Call) -> Answer:
    """Bring back."""
    return _mark(call, "restore")


def _mark(call: Call, act: Any, memory: Any = None) -> Answer:
    from workbench.services import history, tasks
    from workbench.services.shapes import history_json

    context = call.context()
    task = tasks.resolve(context, call.args.task)
    touched = history.mark(context, task, call.args.messages, act, memory=memory, why=call.args.why or "")
    names = {row.message.ref for row in touched}
    after = history.show(context, task)
    rows = [row for row in after.messages if row.message.ref in names]
    document = history_json(after)
    document["messages"] = [m for m in document["messages"] if m["id"] in names]
    return Answer(document, [*_rows(rows), f"{after.tokens_kept:,} of {after.tokens_all:,} tokens kept"])


def _rows(rows: Any) -> list[Line]:
    return table([_cells(row) for row in rows], last=100)


def _cells(row: MessageView) -> list[str | Span]:
    message, fate = row.message, row.fate
    what = message.call.name if message.call else message.kind
    if message.result is not None:
        code = message.result.exit_code
        what += f" {message.result.status}" + (f" exit {code}" if code is not None else "")
    state = fate.disposition + (", pinned" if fate.pinned else "")
    style = "" if fate.disposition == "kept" else "dim"
    return [Span(message.id, "dim"), message.origin, what, fate.memory, Span(state, style), f"{row.tokens:,}",
            Span(clip(message.text[:400], 100), style)]  # fmt: skip
