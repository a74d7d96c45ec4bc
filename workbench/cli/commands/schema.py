"""``workbench schema print``: the JSON Schema of the records."""

from __future__ import annotations

from workbench.cli.call import Call
from workbench.cli.output import Answer, Block, to_json
from workbench.cli.spec import Command, word

COMMANDS = (
    Command(
        "schema print",
        "JSON Schema of the records",
        "Prints the JSON Schema (2020-12) of one record, or of all by their names. What it prints is JSON with and "
        "without --json.",
        (word("RECORD", "a record, like task or fact; all where not given", optional=True),),
        exits=("3 no such record",),
        keys="the schema, or {NAME: schema}",
        run="schema:show",
    ),
)


def show(call: Call) -> Answer:
    """One schema or all."""
    from workbench.domain.schema import RECORDS, json_schema

    name = call.args.record
    document = json_schema(name) if name else {each: json_schema(each) for each in RECORDS}
    return Answer(document, [Block(to_json(document).decode())])
