"""``workbench settle``: what merged copies say differently, and a person's word on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.cli.call import Call
from workbench.cli.output import Answer, Line, Span
from workbench.cli.spec import WHY, Command, flag, option, word
from workbench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workbench.domain.contested import Contest
    from workbench.domain.fact import Fact

COMMANDS = (
    Command(
        "settle",
        "what merged copies say differently: list, decide",
        "Without words it lists every field that two merged copies had changed, each in its way, with what each says "
        "and by which change; the first stands in the field until a person decides. With a record it decides: --keep "
        "leaves what stands there, --take names another of the values. For running, who of two executors goes on; "
        "the attempts of the others end. Two values of one fact's key are settled by: workbench fact confirm. "
        "A person's act.",
        (
            word("RECORD", "a task's slug, a key, an id by unique prefix, or KIND/ID", optional=True),
            word("FIELD", "the field, where several of it are contested", optional=True),
            flag("--keep", help="what stands in the field now"),
            option("--take", value="VALUE", help="one of the values, as JSON or text; or the change it came with"),
            WHY,
        ),
        exits=("3 nothing of this name is contested, or no copy said so", "4 the record changed meanwhile",
               "5 a person is needed", "6 some records cannot be read; the others are listed"),
        keys="contested[]{record,name,field,version,present,claims[]{change,value,gone,stands},task}, "
        "keys[]{key,scope,facts[]}",
        examples=("workbench settle todo-filter state.variables.port --take 8080",
                  "workbench settle todo-filter running --take k7m2qx0a9d"),
        run="settle:settle",
    ),
)  # fmt: skip


def settle(call: Call) -> Answer:
    """List, or decide."""
    from workbench.services import contests
    from workbench.services.shapes import contest_json

    args = call.args
    if args.keep and args.take is not None:
        raise UsageError("--keep and --take at once", "one of them decides")
    deciding = args.keep or args.take is not None
    if deciding != (args.record is not None):
        raise UsageError("a record, and --keep or --take VALUE", "see what is contested: workbench settle")
    if not deciding:
        return _listing(call)
    context = call.context()
    row = contests.find(context, args.record, args.field)
    from workbench.domain.contested import claim_text

    claim = contests.choose(row, args.take) if args.take is not None else contests.standing(row)
    contests.settle(context, row, claim, args.why or "")
    left = contests.contests(context.workspace.load())
    lines: list[Line] = [f"{row.title} is settled: {claim_text(claim)}"]
    lines += [f"{len(left)} still contested; see: workbench settle"] if left else []
    return Answer({"contested": [contest_json(one) for one in left]}, lines)


def _listing(call: Call) -> Answer:
    from workbench.cli.call import damage
    from workbench.services import contests
    from workbench.services.shapes import contest_json

    context = call.context(read_only=True)
    records = context.workspace.load()
    rows = contests.contests(records)
    keys = contests.contested_keys(records)
    said = contests.origins(context, rows)
    lines = [line for row in rows for line in _lines(row, said)]
    lines += [line for row in keys for line in _key_lines(row)]
    document = {
        "contested": [contest_json(row) for row in rows],
        "keys": [
            {"key": facts[0].key, "scope": facts[0].scope, "facts": [fact.id for fact in facts]} for facts in keys
        ],
    }
    return damage(context, document, lines or ["nothing is contested"])


def _lines(row: Contest, said: Mapping[str, str]) -> list[Line]:
    from workbench.domain.contested import claim_text

    lines: list[Line] = [[Span(f"{row.record} {row.field}", "bold"), f"  {row.name}"]]
    for claim in row.claims:
        stands = "stands now; " if row.stands(claim) else ""
        by = said.get(claim.change, "changed by hand")
        lines.append([f"  {claim.change}  ", claim_text(claim), Span(f"  ({stands}{by})", "dim")])
    return lines


def _key_lines(facts: Sequence[Fact]) -> list[Line]:
    """The values of one key that all hold, and what ends that."""
    from workbench.domain.fact import value_text

    head: Line = [Span(f"the fact {facts[0].key}", "bold"), "  decide by: workbench fact confirm ID"]
    return [head, *([f"  {fact.id}  ", value_text(fact.value)] for fact in facts)]
