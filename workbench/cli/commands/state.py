"""``workbench state``: what holds now for a task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.cli.call import Call, json_or_text
from workbench.cli.output import Answer, Line, Span
from workbench.cli.spec import TASK, WHY, Command, option
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.domain.delta import Delta
    from workbench.services.state import StateView, Updated

_NO_TASK = "3 no such task, or an ambiguous prefix"
_NO_ITEM = "3 no such task, item or evidence"
_KEYS = "state{variables,done[],pending[]}, version, findings[], contested{}"
COMMANDS = (
    Command(
        "state show",
        "what holds now for a task",
        "Prints the variables, done and pending items of a task, with its version and findings, each finding with "
        "the command that would put it right.",
        (TASK,),
        exits=(_NO_TASK,),
        keys=_KEYS,
        run="state:show",
    ),
    Command(
        "state update",
        "change what holds now, by deltas",
        "Moves items, starts them, sets variables. Without --expect the delta applies to the current state; with it, "
        "what touches nothing changed since is applied, and the rest is a conflict with both values. --file takes "
        '{"expect": 9, "done": [], "start": [], "pending": [{"text": "", "priority": 1}], "set": {}}. '
        "An agent updates the state of the attempt it runs.\n\n"
        "An item is named by its id, a unique beginning of it, or its text. A done item is reported, and verified "
        'where evidence that holds is named: {"done": [{"item": "…", "evidence": ["ID"]}]}, or --evidence.',
        (
            TASK,
            option("--done", value="T", help="text or id of an item that is done", many=True),
            option("--evidence", value="ID", help="what shows that the items of --done are done", many=True),
            option("--pending", value="T", help="something still to do", many=True),
            option("--start", value="T", help="text or id of an item whose action begins now", many=True),
            option("--give-up", value="T", help="a started item whose action was broken off", many=True),
            option("--drop", value="T", help="a pending item that nobody needs any more", many=True),
            option("--accept", value="T", help="an item that was found in a text and is taken now", many=True),
            option("--reopen", value="T", help="a done item that is not done after all", many=True),
            option("--reword", value="T=TEXT", help="another text for a pending item", many=True),
            option("--set", value="NAME=JSON", help="set a declared variable", many=True),
            option("--unset", value="NAME", help="take a variable's value away", many=True),
            option("--declare", value="NAME:TYPE", help="declare a variable", many=True),
            option("--scratch", value="NAME=JSON", help="a value of this attempt only", many=True),
            option("--expect", value="N", help="the version that was seen", number=True),
            option("--file", value="F", help="read it from a file; - is standard input"),
            WHY,
        ),
        exits=(
            _NO_ITEM,
            "4 the same item or variable changed since --expect",
            "5 a value is a secret, somebody else runs the task, or what it changes is contested since a merge",
        ),
        keys=_KEYS,
        examples=(
            "workbench state update @ --done 'write the filter' --start 'run npm test'",
            "workbench state update @ --set build_tool='\"vite\"' --expect 9",
        ),
        run="state:update",
    ),
    Command(
        "state import",
        "take over a state kept elsewhere",
        "Takes {task or task_name, updated_at, variables, done, pending} from a file and merges it into the state. "
        "What changed here after updated_at stays, and is a conflict. A document that names another task of this "
        "workspace is refused, unless --from gives that name.",
        (
            TASK,
            option("--file", value="F", help="the document; - is standard input", required=True),
            option("--from", value="NAME", help="what the document calls the task, where another is called so here"),
            WHY,
        ),
        exits=(
            "2 the document is none, or another task's",
            _NO_TASK,
            "4 an item or variable changed since",
            "5 a value is a secret, somebody else runs the task, or what it changes is contested since a merge",
        ),
        keys=_KEYS,
        run="state:take_over",
    ),
)


def show(call: Call) -> Answer:
    """The state."""
    from workbench.services import state, tasks

    context = call.context(read_only=True)
    view = state.show(context, tasks.resolve(context, call.args.task))
    return Answer(_document(view), _lines(view))


def update(call: Call) -> Answer:
    """A delta."""
    from workbench.services import state, tasks

    delta = _delta(call)
    context = call.context()
    done = state.update(context, tasks.resolve(context, call.args.task), delta, call.args.why or "")
    return _answer(done)


def take_over(call: Call) -> Answer:
    """A state from elsewhere."""
    from workbench.services import state_import, tasks

    document = call.document(call.args.file)
    context = call.context()
    task = tasks.resolve(context, call.args.task)
    known_as = getattr(call.args, "from")
    done = state_import.take_over(context, task, document, call.args.why or "", known_as=known_as)
    return _answer(done)


def _delta(call: Call) -> Delta:
    """The delta of the file, with what options add to it."""
    from workbench.domain.delta import delta_from

    args = call.args
    document: Any = call.document(args.file) if args.file else {}
    if not isinstance(document, dict):
        raise UsageError(f"{args.file}: a delta is a JSON object")
    if args.evidence and not args.done:
        raise UsageError("--evidence speaks of the items of --done", "see: workbench state update --help")
    done = [{"item": word, "evidence": args.evidence} for word in args.done]
    lists = {
        "done": done,
        "start": args.start,
        "give_up": args.give_up,
        "pending": args.pending,
        "drop": args.drop,
        "accept": args.accept,
        "reopen": args.reopen,
        "unset": args.unset,
    }
    pairs: dict[str, dict[str, Any]] = {
        "reword": dict(_pair(text, "=", "--reword", "T=TEXT") for text in args.reword),
        "declare": dict(_pair(text, ":", "--declare", "NAME:TYPE") for text in args.declare),
        "set": _values(args.set, "--set"),
        "scratch": _values(args.scratch, "--scratch"),
    }
    for name, more in lists.items():
        if more:
            document[name] = [*_as(list, document.get(name, []), name), *more]
    for name, entries in pairs.items():
        if entries:
            document[name] = {**_as(dict, document.get(name, {}), name), **entries}
    if args.expect is not None:
        document["expect"] = args.expect
    if not document.keys() - {"expect"}:
        raise UsageError("nothing to change", "see: workbench state update --help")
    return delta_from(document)


def _as(kind: type, value: Any, name: str) -> Any:
    if not isinstance(value, kind):
        raise UsageError(f"{name} is {'a list' if kind is list else 'an object'}")
    return value


def _values(texts: list[str], name: str) -> dict[str, Any]:
    pairs = (_pair(text, "=", name, "NAME=JSON") for text in texts)
    return {key: json_or_text(value) for key, value in pairs}


def _pair(text: str, sign: str, name: str, form: str) -> tuple[str, str]:
    left, found, right = text.partition(sign)
    if not found or not left.strip():
        raise UsageError(f"{name} {text!r} is not {form}")
    return left.strip(), right


def _document(view: StateView) -> dict[str, Any]:
    from workbench.services.shapes import builtins, finding_json

    task = view.task
    return {
        "task": task.id,
        "state": builtins(task.state),
        "version": task.version,
        "findings": [finding_json(finding) for finding in view.findings],
        "contested": {field: builtins(claims) for field, claims in task.contests.items() if field.startswith("state.")},
        "scratch": dict(view.scratch),
    }


def _answer(done: Updated) -> Answer:
    document = {**_document(done.view), "applied": list(done.applied), "said": list(done.said)}
    lines: list[Line] = [*done.applied, *(Span(line, "dim") for line in done.said)]
    if not done.applied:
        lines.append("nothing changed")
    notes = [f"finding: {finding.text}" for finding in done.view.findings]
    if done.since is not None:
        said = f"others changed the task since version {done.since}; nothing of that was touched"
        document["said"].append(said)
        lines.append(said)
    return Answer(document, [*lines, f"version {done.view.task.version}"], notes=notes)


def _lines(view: StateView) -> list[Line]:
    from workbench.domain.contested import claim_text, field_words
    from workbench.domain.fact import value_text

    task, state = view.task, view.task.state
    lines: list[Line] = [
        [Span(task.title, "bold"), Span(f"  {task.slug}, version {task.version}", "dim")],
        f"as of {state.updated_at}" if state.updated_at else "never updated",
    ]
    variables = [
        f"{name} = {value_text(state.variables[name])}{f' {spec.unit}' if spec and spec.unit else ''}"
        for name in sorted(state.variables)
        for spec in (task.contract.variables.get(name),)
    ]
    unset = [f"{name} ({spec.type}) not set" for name, spec in sorted(task.contract.variables.items())
             if name not in state.variables]  # fmt: skip
    pending = [
        f"{item.id}  {'' if item.accepted else 'not accepted: '}{item.text}"
        + (f"  (started by {item.started.by} at {item.started.at})" if item.started else "")
        + ("" if item.priority == 2 else f"  [{'blocks' if item.priority == 1 else 'nice to have'}]")
        for item in sorted(state.pending, key=lambda i: (i.started is None, i.priority))
    ]
    done = [f"{item.id}  {item.text}  [{item.known}, by {item.by} at {item.at}]" for item in state.done]
    scratch = [f"{name} = {value_text(value)}" for name, value in sorted(view.scratch.items())]
    findings = [line for f in view.findings for line in (f"{f.code}: {f.text}", f"  {f.offer}")]
    contested = [f"{field_words(field)}: {' or '.join(map(claim_text, claims))}; a person settles it: workbench settle"
                 for field, claims in task.contests.items() if field.startswith("state.")]  # fmt: skip
    for title, rows in (
        ("variables", [*variables, *unset]),
        ("pending", pending),
        ("done", done),
        ("scratch of this attempt", scratch),
        ("findings", findings),
        ("contested since two copies were merged", contested),
    ):
        if rows:
            lines += [Span(title, "key"), *(f"  {row}" for row in rows)]
    return lines
