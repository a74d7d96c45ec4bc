"""``workbench task``: making, looking at, changing and taking tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.cli.call import Call, damage, json_or_text
from workbench.cli.output import Answer, Block, Line, Span, table
from workbench.cli.spec import TASK, WHY, Arg, Command, option, word
from workbench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.domain.record import Claim
    from workbench.domain.task import Task
    from workbench.services.context import Context
    from workbench.services.view import FactView

_NO_TASK = "3 no such task, or an ambiguous prefix"
_HUMAN = "5 a person is needed"
_CHECKS = ("command:", "output:", "file:")
_CONTRACT: tuple[Arg, ...] = (
    option("--objective", value="TEXT", help="what must be true at the end"),
    option("--target", value="P", help="a path that the work is about", many=True),
    option("--output", value="KEY:KIND[:PATH]", help="a promised output", many=True),
    option("--command", value="ID=CMD", help="a required command; run without a shell", many=True),
    option("--accept", value="TEXT[=CHECK]", many=True,
           help="an acceptance item; CHECK is command:ID, output:KEY, file:PATH or manual"),
    option("--constraint", value="KEY=VALUE", help="a constraint; VALUE is JSON, else a text", many=True),
    option("--var", value="NAME:TYPE", help="a state variable", many=True),
    option("--input", value="KEY=TASK.OUTPUT", help="an input that another task's output provides", many=True),
    option("--depends", value="TASK", help="a task that must be done first", many=True),
    option("--role", value="R", help="a role of workspace.toml"),
    option("--skill", value="S", help="tasks of the same skill are alike"),
    option("--file", value="F", help="the contract as JSON, with its title; - is standard input"),
)  # fmt: skip
COMMANDS = (
    Command(
        "task new",
        "make a task",
        "Makes a task and uses it from then on. A title is enough; what else is known can be said now or later "
        "(workbench task revise). --file takes the contract object with title. A person's act.",
        (
            word("TITLE", "what it is called", optional=True),
            option("--slug", value="S", help="its readable name; made from the title where not given"),
            *_CONTRACT,
            option("--carry", value="TASK|SESSION", help="take over what another task or a session ended with"),
        ),
        exits=("3 a task that it depends on is not there", _HUMAN),
        keys="task, carried{facts,open,inputs,left[]} with --carry",
        examples=("workbench task new 'Filter by category' --target src/ui --command build='npm run build' "
                  "--accept 'the build passes=command:build'",),
        run="task:new",
    ),
    Command("task list", "all tasks", "Lists tasks, open ones first, newest first.",
            exits=("6 some tasks cannot be read; the others are listed",), keys="tasks[], damaged[]",
            run="task:listing"),
    Command("task show", "one task", "Prints a task's contract, the constraints in its scope, and its state.", (TASK,),
            exits=(_NO_TASK,), keys="task, constraints[]",
            run="task:show"),
    Command("task use", "make a task the current one",
            "Makes a task the one that @ means on this machine; WORKBENCH_TASK does so for one terminal.", (TASK,),
            exits=(_NO_TASK,), keys="task", run="task:use"),
    Command(
        "task revise",
        "change a task's contract",
        "Changes what is given, and leaves the rest as it is: an option that may stand several times replaces its "
        "list. The plan revision counts up, and a running attempt becomes outdated. A person's act.",
        (TASK, option("--title", value="TEXT", help="another title"), *_CONTRACT, WHY),
        exits=(_NO_TASK, "4 the task changed meanwhile", _HUMAN),
        keys="task",
        run="task:revise",
    ),
    Command("task cancel", "give a task up", "Cancels a task with a recorded reason; its attempt ends. A person's act.",
            (TASK, WHY), exits=(_NO_TASK, "4 the task changed meanwhile", _HUMAN), keys="task", run="task:cancel"),
    Command("task complete", "declare a task done",
            "Completes a task by a person's recorded reason (a verdict does it without one); its attempt is accepted. "
            "A person's act.",
            (TASK, WHY), exits=(_NO_TASK, "4 the task changed meanwhile", _HUMAN), keys="task", run="task:complete"),
    Command(
        "task take",
        "take a task up",
        "Makes the running attempt of a task. Of several who try, one wins. With --session the attempt is the "
        "session's agent's.",
        (TASK, option("--session", value="S", help="a session that works on it: id, path or latest")),
        exits=("3 no such task or session", "4 somebody runs it already", "5 the task is closed"),
        keys="attempt",
        run="task:take",
    ),
)  # fmt: skip


def new(call: Call) -> Answer:
    """Make a task."""
    from workbench.services import tasks

    draft = _draft(call)
    if call.args.title:
        draft["title"] = call.args.title
    if call.args.slug:
        draft["slug"] = call.args.slug
    context = call.context()
    if call.args.carry:
        return _carried(call, context, draft)
    task = tasks.new(context, draft)
    return _answer(task, f"task {task.slug} ({task.id}) made; it is the current one")


def _carried(call: Call, context: Context, draft: dict[str, Any]) -> Answer:
    """Make a task that takes over; what it takes from is looked up before anything is made."""
    from workbench.services import carrying, tasks
    from workbench.services.shapes import task_json

    source = carrying.source(context, call.args.carry)
    task = tasks.new(context, draft)
    taken = carrying.carry(context, task, source)
    document = {
        "task": task_json(context.workspace.load().tasks[task.id]),
        "carried": {"facts": taken.facts, "open": taken.open, "inputs": taken.inputs, "left": list(taken.left)},
    }
    lines: list[Line | Block] = [
        f"task {task.slug} ({task.id}) made; it is the current one",
        f"taken over: {taken.facts} facts, {taken.open} open items, {taken.inputs} inputs",
        *(f"left behind: {line}" for line in taken.left),
    ]
    return Answer(document, lines)


def listing(call: Call) -> Answer:
    """All tasks."""
    from workbench.services import tasks
    from workbench.services.shapes import task_json

    context = call.context(read_only=True)
    found = tasks.listing(context)
    current = tasks.glance(context, context.workspace.load())
    rows = table(
        [
            "@" if current and task.id == current.id else " ",
            Span(task.slug, "bold"),
            Span(task.id, "dim"),
            task.status,
            "running" if task.running else "",
            task.title,
        ]
        for task in found
    )
    return damage(context, {"tasks": [task_json(t) for t in found]}, rows or ["no task; make one: workbench task new"])


def show(call: Call) -> Answer:
    """One task."""
    from workbench.services import facts, tasks
    from workbench.services.shapes import fact_json, task_json

    context = call.context(read_only=True)
    records = context.workspace.load()
    task = tasks.resolve(context, call.args.task, records)
    rows = [
        row
        for row in facts.views(context, records, task.id)
        if row.fact.kind == "constraint" and row.lifecycle != "proposed" and not row.shadowed
    ]
    document = {"task": task_json(task), "constraints": [fact_json(row) for row in rows]}
    return Answer(document, _card(task, [_constraint_line(row) for row in rows]))


def use(call: Call) -> Answer:
    """The current task."""
    from workbench.services import tasks

    context = call.context()
    task = tasks.resolve(context, call.args.task)
    tasks.use(context, task)
    return _answer(task, f"@ is {task.slug} now")


def revise(call: Call) -> Answer:
    """Another contract."""
    from workbench.services import tasks

    changes = _draft(call)
    if call.args.title:
        changes["title"] = call.args.title
    if not changes:
        raise UsageError("nothing to change", "see: workbench task revise --help")
    context = call.context()
    task = tasks.revise(context, tasks.resolve(context, call.args.task), changes, call.args.why or "")
    return _answer(task, f"task {task.slug}: plan revision {task.plan_revision}")


def cancel(call: Call) -> Answer:
    """Give up."""
    return _close(call, "cancelled")


def complete(call: Call) -> Answer:
    """Done, says a person."""
    return _close(call, "complete")


def take(call: Call) -> Answer:
    """Take it up."""
    from workbench.services import sessions, tasks
    from workbench.services.shapes import attempt_json

    context = call.context()
    task = tasks.resolve(context, call.args.task)
    attempt = sessions.attach(context, task, call.args.session) if call.args.session else tasks.take(context, task)
    return Answer(
        {"attempt": attempt_json(attempt)}, [f"attempt {attempt.id} of {task.slug} runs, by {attempt.executor}"]
    )


def _close(call: Call, status: str) -> Answer:
    from workbench.services import tasks

    context = call.context()
    task = tasks.close(context, tasks.resolve(context, call.args.task), status, call.args.why or "")
    return _answer(task, f"task {task.slug} is {task.status}")


def _draft(call: Call) -> dict[str, Any]:
    """The fields that options and ``--file`` give; options stand over the file."""
    args = call.args
    draft: dict[str, Any] = {}
    if args.file:
        document = call.document(args.file)
        if not isinstance(document, dict):
            raise UsageError(f"{args.file}: a contract is a JSON object")
        # Both the bare contract and the whole answer of `task show --json` are taken.
        draft.update(document.get("contract", document) if isinstance(document.get("contract"), dict) else document)
        draft.update({key: document[key] for key in ("title", "slug") if key in document})
    for name in ("objective", "role", "skill"):
        if getattr(args, name) is not None:
            draft[name] = getattr(args, name)
    lists = {
        "targets": list(args.target),
        "outputs": [_output(text) for text in args.output],
        "commands": [_command(text) for text in args.command],
        "acceptance": [_accept(text) for text in args.accept],
        "inputs": [_input(text) for text in args.input],
        "depends_on": list(args.depends),
        "constraints": [_constraint(text) for text in args.constraint],
    }
    draft.update({name: rows for name, rows in lists.items() if rows})
    if args.var:
        pairs = (_pair(text, ":", "--var", "NAME:TYPE") for text in args.var)
        draft["variables"] = {name: {"type": kind} for name, kind in pairs}
    return draft


def _pair(text: str, sign: str, name: str, form: str) -> tuple[str, str]:
    left, found, right = text.partition(sign)
    if not found or not left.strip() or not right.strip():
        raise UsageError(f"{name} {text!r} is not {form}")
    return left.strip(), right.strip()


def _command(text: str) -> dict[str, str]:
    name, line = _pair(text, "=", "--command", "ID=CMD")
    return {"id": name, "run": line}


def _output(text: str) -> dict[str, str]:
    parts = text.split(":", 2)
    if not all(part.strip() for part in parts):
        raise UsageError(f"--output {text!r} is not KEY:KIND[:PATH]")
    return dict(zip(("key", "kind", "path"), parts, strict=False))


def _accept(text: str) -> dict[str, str]:
    """``TEXT[=CHECK]``; an equals sign that no check follows belongs to the text."""
    left, found, right = text.rpartition("=")
    if found and left.strip() and (right == "manual" or right.startswith(_CHECKS)):
        return {"text": left.strip(), "check": right}
    return {"text": text}


def _input(text: str) -> dict[str, str]:
    key, where = _pair(text, "=", "--input", "KEY=TASK.OUTPUT")
    task, output = _pair(where, ".", "--input", "KEY=TASK.OUTPUT")
    return {"key": key, "from": task, "output": output}


def _constraint(text: str) -> dict[str, Any]:
    key, value = _pair(text, "=", "--constraint", "KEY=VALUE")
    return {"key": key, "value": json_or_text(value)}


def _answer(task: Task, said: str = "") -> Answer:
    from workbench.services.shapes import task_json

    return Answer({"task": task_json(task)}, [said] if said else _card(task))


def _constraint_line(row: FactView) -> str:
    from workbench.domain.fact import value_text

    standing = "" if row.lifecycle == "active" else f"  [{row.lifecycle}]"
    return f"{row.key} = {value_text(row.fact.value)}{standing}"


def _said(claims: Sequence[Claim]) -> str:
    from workbench.domain.contested import claim_text

    return " or ".join(claim_text(claim) for claim in claims)


def _card(task: Task, constraints: Sequence[str] = ()) -> list[Line | Block]:
    contract, state = task.contract, task.state
    lines: list[Line | Block] = [
        [Span(task.title, "bold"), Span(f"  {task.slug}  {task.id}", "dim")],
        f"{task.status}, plan revision {task.plan_revision}, version {task.version}, "
        + (f"attempt {task.running} runs" if task.running else "nobody runs it"),
    ]
    if contract.objective:
        lines += [Span("objective", "key"), Block("  " + contract.objective.replace("\n", "\n  "))]
    sections: list[tuple[str, list[str]]] = [
        ("targets", list(contract.targets)),
        ("outputs", [f"{o.key} ({o.kind}){f' at {o.path}' if o.path else ''}" for o in contract.outputs]),
        ("commands", [f"{c.id}: {' '.join(c.run)}" for c in contract.commands]),
        ("acceptance", [f"{a.text}  [{a.check}{'' if a.required else ', optional'}]" for a in contract.acceptance]),
        ("constraints", list(constraints)),
        ("inputs", [f"{i.key} from {i.from_}.{i.output}" for i in contract.inputs]),
        ("depends on", list(contract.depends_on)),
        ("variables", [f"{name} = {state.variables.get(name, 'not set')}" for name in contract.variables]),
        ("pending", [f"{'started: ' if i.started else ''}{i.text}" for i in state.pending]),
        ("done", [f"{i.text}  [{i.known}]" for i in state.done]),
    ]
    for title, rows in sections:
        if rows:
            lines += [Span(title, "key"), *(f"  {row}" for row in rows)]
    if task.contests:
        lines += [Span("contested since two copies were merged; settle it: workbench settle", "warn")]
        lines += [f"  {field}: {_said(claims)}" for field, claims in task.contests.items()]
    return lines
