"""``workbench fact``: proposing, settling and looking up facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.cli.call import Call, damage, json_or_text
from workbench.cli.output import Answer, Column, Line, Span, Table
from workbench.cli.spec import WHY, Command, flag, option, word
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.domain.fact import Fact
    from workbench.services.context import Context
    from workbench.services.facts import Settlement
    from workbench.services.view import FactView
    from workbench.store.records import Records

_ID = word("ID", "a fact, by unique id prefix")
_NO_FACT = "3 no such fact, or an ambiguous prefix"
_OFFERS = 5
"""Keys to join that are offered at once."""
_LISTED = (Column(10), Column(16), Column(16), Column(13), Column(12), Column(10, whole=True), Column(60))
_HUMAN = "5 a person is needed, or did not agree"
COMMANDS = (
    Command(
        "fact propose",
        "bring a value to the registry",
        "Brings a value under a key. Where nothing holds for the key it becomes active (a constraint from an agent "
        "is proposed); the same value is one more source; another value is only proposed. On a person's terminal it "
        "asks at once whether the new value supersedes the old one.\n\n"
        "VALUE is JSON, else a text. What begins with a dash follows --.",
        (
            word("KEY", "a dotted name, like server.port"),
            word("VALUE", "the value", optional=True, empty=True),
            option("--kind", value="K", choices=("fact", "decision", "constraint"),
                   help="what it is; else what the value that holds is, or a fact"),
            option("--statement", value="TEXT", help="one readable line"),
            option("--scope", value="S", help="workspace (the default), or the task it holds for"),
            option("--source", value="REF", help="where it was said: SESSION#MESSAGE, a path or an id"),
            option("--quote", value="TEXT", help="the quoted line, literally"),
            option("--reason", value="TEXT", help="why, for a decision"),
            option("--file", value="F", help="read the value from a file; - is standard input"),
        ),
        exits=("3 no such task, for --scope",),
        keys="fact, outcome: active|proposed|corroborated, would_supersede, look_alikes[]",
        examples=("workbench fact propose api.style rest --kind decision --reason 'fewer parts'",
                  "workbench fact propose server.port 8080"),
        run="fact:propose",
    ),
    Command(
        "fact list",
        "what holds, and what waits for a decision",
        "Lists facts, those that need a decision first, then by key, and counts them as status does.",
        (
            flag("--all", help="superseded, rejected and retracted ones, too"),
            option("--key", value="K", help="of one key, or of the keys beneath it"),
            option("--only", value="WHAT", choices=("hold", "settle", "unreviewed"),
                   help="what holds; what is to settle; or what was kept that nobody reviewed"),
            option("--task", value="T", help="in the scope of this task (the workspace's and its own); else the "
                   "current one's"),
        ),
        exits=("3 no such task", "6 some facts cannot be read; the others are listed"),
        keys="facts[], counts{active,proposed,challenged,contested,unreviewed}, look_alikes[], damaged[]",
        run="fact:listing",
    ),
    Command("fact show", "one fact", "Prints a fact with its sources, quotations and acts.", (_ID,),
            exits=(_NO_FACT,), keys="fact", run="fact:show"),
    Command("fact history", "every value a key had", "Prints every fact of a key in every scope, oldest first.",
            (word("KEY", "the key, or an alias of it"),), exits=("3 no fact has this key",), keys="facts[]",
            run="fact:history"),
    Command(
        "fact confirm",
        "accept a proposal",
        "Accepts a proposal, which supersedes what is active; or ends a contest for one of its heads. Shows both "
        "and asks on the terminal unless --yes. A person's act.",
        (
            _ID,
            option("--expect", value="ACTIVE@V", help="the active fact that was seen, as ID@VERSION, or none"),
            option("--value", value="VALUE", help="edit the value and confirm"),
            option("--scope", value="S", help="keep both: it holds for this task (or the workspace) only"),
            WHY,
        ),
        exits=(_NO_FACT, "4 the active fact changed since, or the proposal is decided", _HUMAN),
        keys="fact",
        run="fact:confirm",
    ),
    Command("fact reject", "refuse a proposal", "Rejects a proposal; it stays on record. A person's act.",
            (_ID, WHY), exits=(_NO_FACT, "4 it is decided already", _HUMAN), keys="fact", run="fact:reject"),
    Command("fact retract", "take back what holds",
            "Takes back a fact that holds; what it superseded holds again. A person's act.", (_ID, WHY),
            exits=(_NO_FACT, "4 it does not hold", _HUMAN), keys="fact", run="fact:retract"),
    Command(
        "fact edit",
        "correct a fact's wording",
        "Corrects statement, scope, kind or reason in place, and a proposal's value. A person's act.",
        (
            _ID,
            option("--value", value="VALUE", help="another value, of a proposal"),
            option("--statement", value="TEXT", help="another wording"),
            option("--scope", value="S", help="workspace, or a task"),
            option("--kind", value="K", help="another kind", choices=("fact", "decision", "constraint")),
            option("--reason", value="TEXT", help="another reason"),
            option("--expect", value="V", help="the fact's version that was seen", number=True),
        ),
        exits=(_NO_FACT, "4 the fact changed since --expect", "5 a person is needed, or the fact holds"),
        keys="fact",
        run="fact:edit",
    ),
    Command("fact alias", "let one key lead to another",
            "From then on facts of both keys meet under the canonical one. A person's act.",
            (word("KEY", "the other name"), word("CANONICAL", "the key it leads to")),
            exits=("5 a person is needed, or they are the same key",), keys="alias, canonical, contested[]",
            run="fact:alias"),
    Command(
        "fact import",
        "bring many facts at once",
        "Takes lines {key, value, kind?, statement?, scope?, reason?, source?, quote?, by?, at?}, in order, in "
        "batches. by never exceeds the caller's rights. With --settle (a person) each supersession is confirmed; "
        "without it a person's line counts as her words in a session: proposed, and the old one challenged. A line "
        "that is wrong is named in failed, and stops no other. A file larger than 16 MiB is refused whole: split it.",
        (word("F", "a file of JSON lines, at most 16 MiB; - is standard input"),
         flag("--settle", help="confirm each supersession")),
        exits=("2 wrong usage, or some lines failed", "5 a person is needed for --settle"),
        keys="active, proposed, corroborated, superseded, failed[]{line,message}",
        run="fact_import:take",
    ),
)  # fmt: skip


def propose(call: Call) -> Answer:
    """Propose, and settle at once where a person entered it on a terminal."""
    from workbench.domain.fact import WORKSPACE
    from workbench.services import facts

    args = call.args
    if (args.value is None) == (args.file is None):
        raise UsageError("a value is needed, once: as VALUE or by --file", "see: workbench fact propose --help")
    value = json_or_text(args.value if args.file is None else call.text(args.file).rstrip("\n"))
    context = call.context()
    arrival = facts.propose(
        context,
        args.key,
        value,
        kind=args.kind,
        statement=args.statement or "",
        scope=_scope(context, args.scope) or WORKSPACE,
        source=args.source,
        quote=args.quote,
        reason=args.reason or "",
    )
    settled = None
    if arrival.outcome == "proposed" and _asks_at_once(call, context):
        settled = _ask(call, context, facts.settlement(context, arrival.fact.id))
    return _proposed(context, arrival.fact, "active" if settled else arrival.outcome, arrival.would_supersede)


def _asks_at_once(call: Call, context: Context) -> bool:
    person = context.actor.human and not context.actor.refused
    return person and call.args.source is None and (call.tty or call.options.yes)


def _ask(call: Call, context: Context, found: Settlement) -> Fact | None:
    """Confirm what was just entered; None where the person would rather decide later."""
    from workbench.errors import RefusedError
    from workbench.services import facts

    try:
        call.confirm(context, "confirming a fact", _settlement(found))
    except RefusedError:
        call.out.note("it stays proposed")
        return None
    return facts.confirm(context, found.proposal.fact.id, expect=found.expect)


def _proposed(context: Context, fact: Fact, outcome: str, old: Fact | None) -> Answer:
    from workbench.services import facts, keys
    from workbench.services.shapes import fact_json

    folders = context.workspace.folders("facts")
    records = keys.of_key(context, fact.key, folders=folders)
    registry = records.registry
    row = facts.view_of(context, registry, registry.facts[fact.id], None)
    would = None
    if old is not None and old.id in registry.facts:
        seen = facts.view_of(context, registry, registry.facts[old.id], None)
        would = {
            "id": old.id,
            "key": seen.key,
            "value": old.value,
            "trust": old.trust,
            "lifecycle": seen.lifecycle,
            "version": seen.fact.version,
        }
    alone = len(registry.group(row.key, fact.scope)) == 1
    alike = list(keys.look_alikes(context, records, row.key, folders)) if alone else []
    document = {"fact": fact_json(row), "outcome": outcome, "would_supersede": would, "look_alikes": alike}
    lines: list[Line] = [[Span(outcome, "bold"), "  ", row.key, " = ", _value(fact.value), Span(f"  {fact.id}", "dim")]]
    if would is not None and outcome == "proposed":
        lines.append(f"it would supersede {_value(would['value'])} ({would['lifecycle']}); a person confirms it: "
                     f"workbench fact confirm {fact.id}")  # fmt: skip
    if alike:
        lines.append(f"{row.key} looks like {', '.join(alike)}; if it is the same: workbench fact alias {row.key} "
                     f"{alike[0]}")  # fmt: skip
    return Answer(document, lines)


def listing(call: Call) -> Answer:
    """The registry."""
    from workbench.services import facts, tasks
    from workbench.services.fact_view import LISTED_BY, count, group_of, in_words
    from workbench.services.shapes import fact_json

    context = call.context(read_only=True)
    records = context.workspace.load()
    task = tasks.resolve(context, call.args.task, records) if call.args.task else tasks.glance(context, records)
    rows = list(facts.views(context, records, task.id if task else None, all_=call.args.all))
    if call.args.key:
        wanted = records.registry.canonical(call.args.key)
        rows = [row for row in rows if row.key == wanted or row.key.startswith(wanted + ".")]
    counts = count(rows)
    if call.args.only:
        rows = [row for row in rows if group_of(row) == call.args.only]
    cells = [[_mark(row), row.key, _value(row.fact.value), row.fact.trust, _scope_word(records, row),
              Span(row.fact.id, "dim"), row.fact.statement] for row in rows]  # fmt: skip
    pairs = facts.merge_offers(records.registry)
    document = {
        "facts": [fact_json(row) for row in rows],
        "counts": counts,
        "look_alikes": [list(pair) for pair in pairs],
    }
    answer = damage(context, document, [Table(cells, _LISTED)] if cells else ["no facts"])
    offers = [f"{a} and {b} look like one key; if so: workbench fact alias {b} {a}" for a, b in pairs[:_OFFERS]]
    told = [f"{in_words(counts)}; each: {LISTED_BY}"] if any(counts.values()) and not call.options.json else []
    return Answer(document, answer.lines, answer.exit_code, [*answer.notes, *told, *offers])


def show(call: Call) -> Answer:
    """One fact."""
    from workbench.services import facts

    context = call.context(read_only=True)
    return _answer(context, facts.find(context, call.args.id))


def history(call: Call) -> Answer:
    """A key's past."""
    from workbench.services import facts
    from workbench.services.shapes import fact_json

    rows = facts.history(call.context(read_only=True), call.args.key)
    lines: list[Line] = []
    for row in rows:
        lines += _fact_lines(row)
    return Answer({"facts": [fact_json(row) for row in rows]}, lines)


def confirm(call: Call) -> Answer:
    """Settle."""
    from workbench.services import facts

    context = call.context()
    context.require_human("confirming a fact")
    found = facts.find(context, call.args.id)
    expect = call.args.expect
    edits: dict[str, Any] = {}
    if call.args.value is not None:
        edits["value"] = json_or_text(call.args.value)
    if call.args.scope is not None:
        edits["scope"] = _scope(context, call.args.scope)
    if not call.options.yes:
        seen = facts.settlement(context, found.id)
        shown = _settlement(seen)
        shown += [["confirmed with  ", name, " ", _value(value)] for name, value in edits.items()]
        call.confirm(context, "confirming a fact", shown)
        # What was shown is what is confirmed: a change since then is a conflict.
        expect = expect or seen.expect
    return _answer(context, facts.confirm(context, found.id, expect=expect, why=call.args.why or "", **edits))


def reject(call: Call) -> Answer:
    """Refuse."""
    from workbench.services import facts

    context = call.context()
    return _answer(context, facts.reject(context, call.args.id, call.args.why or ""))


def retract(call: Call) -> Answer:
    """Take back."""
    from workbench.services import facts

    context = call.context()
    return _answer(context, facts.retract(context, call.args.id, call.args.why or ""))


def edit(call: Call) -> Answer:
    """Correct."""
    from workbench.services import facts

    context = call.context()
    given = {name: getattr(call.args, name) for name in ("statement", "kind", "reason")}
    edits: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if call.args.value is not None:
        edits["value"] = json_or_text(call.args.value)
    if call.args.scope is not None:
        edits["scope"] = _scope(context, call.args.scope)
    if not edits:
        raise UsageError("nothing to change", "see: workbench fact edit --help")
    return _answer(context, facts.edit(context, call.args.id, call.args.expect, **edits))


def alias(call: Call) -> Answer:
    """Join two keys."""
    from workbench.services import facts, keys

    context = call.context()
    record = facts.alias(context, call.args.key, call.args.canonical)
    registry = keys.of_key(context, record.canonical).registry
    key = registry.canonical(record.canonical)
    contested = [fact.id for fact in registry.facts.values()
                 if registry.canonical(fact.key) == key and registry.lifecycle(fact.id) == "contested"]  # fmt: skip
    document = {"alias": record.alias, "canonical": record.canonical, "id": record.id, "contested": contested}
    lines = [f"{record.alias} leads to {record.canonical}"]
    if contested:
        lines.append(f"{key} has {len(contested)} values that hold: end it with workbench fact confirm {contested[0]}")
    return Answer(document, lines)


def _scope(context: Context, text: str | None) -> str | None:
    if text is None or text == "workspace":
        return text
    from workbench.services import tasks

    return tasks.resolve(context, text).id


def _value(value: Any) -> str:
    from workbench.domain.fact import value_text

    return value_text(value)


def _scope_word(records: Records, row: FactView) -> str:
    """For whom it holds, where that is not everybody; that it is shadowed for the task looked at, or due for review."""
    said = []
    if row.fact.scope != "workspace":
        task = records.tasks.get(row.fact.scope)
        said.append(f"for {task.slug if task is not None else row.fact.scope}")
    said += ["shadowed here"] * row.shadowed + ["review due"] * row.past_review
    return ", ".join(said)


def _mark(row: FactView) -> Span:
    style = {"active": "good", "proposed": "warn", "challenged": "warn", "contested": "bad"}.get(row.lifecycle, "dim")
    return Span(row.lifecycle, style)


def _answer(context: Context, fact: Fact) -> Answer:
    from workbench.services import facts, keys
    from workbench.services.shapes import fact_json

    registry = keys.of_key(context, fact.key).registry
    row = facts.view_of(context, registry, registry.facts[fact.id], None)
    return Answer({"fact": fact_json(row)}, _fact_lines(row))


def _fact_lines(row: FactView) -> list[Line]:
    fact = row.fact
    lines: list[Line] = [
        [Span(row.key, "bold"), " = ", _value(fact.value), Span(f"  {fact.id}@{fact.version}", "dim")],
        ["  ", _mark(row), f", {fact.trust}, {fact.kind}, scope {fact.scope}",
         ", past review" if row.past_review else ""],
    ]  # fmt: skip
    for label, text in (("statement", fact.statement), ("reason", fact.reason)):
        if text:
            lines.append(f"  {label}: {text}")
    for source in fact.sources:
        lines.append(f"  from {source.by} at {source.at}{f', {source.ref}' if source.ref else ''}")
        if source.quote:
            lines.append(f"    \u201c{source.quote}\u201d")
    lines += [f"  {act.act} by {act.by} at {act.at} {act.why}" for act in fact.acts]
    return lines


def _settlement(found: Settlement) -> list[Any]:
    """Old and new, one under the other, as a person sees them before settling."""
    lines: list[Any] = ["To settle:", *_fact_lines(found.proposal)]
    if found.active is not None:
        lines += ["It would supersede:", *_fact_lines(found.active)]
    if found.depends_on:
        lines += ["What depends on it:", *(f"  {line}" for line in found.depends_on)]
    return lines
