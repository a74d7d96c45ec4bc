"""``workbench handoff``: preparing packages, looking at them, and handing the task over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.cli.call import Call, damage
from workbench.cli.commands.compile import OPTIONS, options
from workbench.cli.commands.session import catch_up
from workbench.cli.output import Answer, Block, Line, Span, table
from workbench.cli.spec import PACKAGE, TASK, WHY, Command, flag, option
from workbench.errors import NotBuiltError, RefusedError

if TYPE_CHECKING:
    from workbench.domain.package import Difference
    from workbench.handoff.launch import LaunchPlan
    from workbench.services.context import Context
    from workbench.services.view import PackageView

_KEYS = (
    "package{id,task,attempt,from,to,mode,status,snapshot,plan_revision,tokens}, differences[]{code,subject,was,now}"
)
_NO_PACKAGE = "3 no such package, or an ambiguous prefix"
_HUMAN = "5 a person is needed, or did not agree"
COMMANDS = (
    Command(
        "handoff prepare",
        "compile a package and let it wait for a person",
        "Compiles a package for an agent, fingerprints what it rests on, and keeps it as pending. An agent may "
        "prepare; only a person confirms.",
        (TASK, *OPTIONS),
        exits=("3 no such task", "5 blocked: what is required exceeds the budget"),
        keys=_KEYS,
        examples=("workbench handoff prepare @ --to claude",),
        run="handoff:prepare",
    ),
    Command("handoff list", "all packages", "Lists packages, newest first, with their freshness.",
            exits=("6 some packages cannot be read; the others are listed",), keys="packages[], damaged[]",
            run="handoff:listing"),
    Command("handoff show", "one package with its prompt", "Prints a package, its steps, and the prompt as sent.",
            (PACKAGE,), exits=(_NO_PACKAGE,), keys=_KEYS + ", events[], manifest[], prompt", run="handoff:show"),
    Command(
        "handoff check",
        "whether what it rests on still holds",
        "Fingerprints everything again, by content, and lists what differs. new_messages is shown and stops nothing.",
        (PACKAGE,),
        exits=(_NO_PACKAGE, "5 it is stale"),
        keys=_KEYS,
        run="handoff:check",
    ),
    Command(
        "handoff confirm",
        "hand the task over",
        "Checks the package again, releases the old executor, starts the reserved attempt and launches the receiver "
        "in the package's folder. Shows the exact command and asks on the terminal unless --yes. Differences stop it "
        "unless overridden. A person's act.",
        (
            PACKAGE,
            option("--launch", value="W", help="how to start the receiver",
                   choices=("tmux", "foreground", "acp", "print", "copy"), required=True),
            flag("--headless", help="without a terminal of its own; the prompt comes on standard input"),
            flag("--inline", help="the whole prompt in the argument list, where it fits"),
            option("--override", value="WHY", help="go on although it is stale; the reason may be empty"),
        ),
        exits=(_NO_PACKAGE, "4 somebody else confirmed it or took the task", "5 stale, or a person is needed"),
        keys=_KEYS + ", command[]",
        examples=("workbench handoff confirm k7m2 --launch tmux", "workbench handoff confirm k7m2 --launch print"),
        run="handoff:confirm",
    ),
    Command("handoff reject", "refuse a package", "Rejects a pending package. A person's act.", (PACKAGE, WHY),
            exits=(_NO_PACKAGE, "5 a person is needed, or it is not pending"), keys=_KEYS, run="handoff:reject"),
    Command("handoff cancel", "withdraw a package", "Cancels a package that was not launched yet. A person's act.",
            (PACKAGE, WHY), exits=(_NO_PACKAGE, "5 a person is needed, or it was launched"), keys=_KEYS,
            run="handoff:cancel"),
    Command("handoff resume", "finish or undo an interrupted handover",
            "After a crash between two steps: resumes the handover or undoes it, and says which. Where the program was "
            "launched and ended before anything of it was seen, the launch counts as failed and the task is free. "
            "--again lets the executor before it go on, after a failed or cancelled handover. A person's act.",
            (PACKAGE, flag("--again", help="take the old executor up again, as a new attempt with its sessions")),
            exits=(_NO_PACKAGE, "4 somebody runs the task by now", "5 a person is needed, or nobody ran it before"),
            keys=_KEYS + ", steps[]", run="handoff:resume"),
)  # fmt: skip


def prepare(call: Call) -> Answer:
    """Prepare one."""
    from workbench.services import packages, tasks

    context = call.context()
    task = tasks.resolve(context, call.args.task)
    for note in catch_up(context):
        call.out.note(note)
    stored = packages.prepare(context, task, call.args.to, options(call))
    view, _ = packages.show(context, stored.envelope.id)
    lines: list[Line] = [
        *_lines(view),
        f"a person confirms it: workbench handoff confirm {view.envelope.id} --launch W",
    ]
    return _answer(view, lines)


def listing(call: Call) -> Answer:
    """All of them."""
    from workbench.services import packages
    from workbench.services.shapes import package_json

    context = call.context(read_only=True)
    found = packages.listing(context)
    lines = table(
        [
            Span(view.envelope.id, "bold"),
            Span(view.status, "key"),
            Span("stale", "warn") if view.stale else "",
            f"to {view.envelope.identity.to}",
            f"{view.envelope.tokens:,} tokens",
            view.envelope.prepared_at,
            f"task {view.envelope.task}",
        ]
        for view in found
    )
    return damage(context, {"packages": [package_json(view) for view in found]}, lines or ["no package yet"])


def show(call: Call) -> Answer:
    """One of them."""
    from workbench.services import packages
    from workbench.services.shapes import builtins

    view, prompt = packages.show(call.context(read_only=True), call.args.p)
    more = {
        "events": builtins(view.events),
        "manifest": view.envelope.content.get("manifest", []),
        "prompt": prompt,
    }
    answer = _answer(view, [*_lines(view), *_differences(view.differences), Span("\u2500" * 40, "dim"), Block(prompt)])
    return Answer({**answer.document, **more}, answer.lines)


def check(call: Call) -> Answer:
    """Fresh or stale."""
    from workbench.services import packages

    context = call.context(read_only=True)
    view, _ = packages.show(context, call.args.p)
    differences = packages.check(context, call.args.p)
    stale = any(d.stops for d in differences)
    lines = [*_differences(differences)] or [Span("nothing differs", "good")]
    return _answer(view, lines, differences, 5 if stale else 0)


def confirm(call: Call) -> Answer:
    """Hand over."""
    from workbench.services import handover, packages
    from workbench.services.shapes import difference_json, package_json

    args = call.args
    if args.launch == "acp":
        raise NotBuiltError("--launch acp is not built yet", "built: tmux, foreground, print, copy")
    context = call.context()
    context.require_human("confirming a package")
    found = packages.find(context, args.p).id
    how = {"inline": args.inline, "headless": args.headless}
    plan = handover.launch_plan(context, found, args.launch, **how)
    if not call.options.yes:
        call.confirm(context, "confirming a package", _before(context, plan))
    try:
        handed = handover.confirm(context, found, args.launch, override=args.override, **how)
    except RefusedError as problem:
        raise _stopped(problem, context, plan) from None
    view, _ = packages.show(context, handed.package.id)
    document = {
        "package": package_json(view),
        "differences": [difference_json(d) for d in handed.differences],
        "command": list(handed.plan.argv),
        "prompt_file": str(handed.plan.prompt_file),
        "replaced": handed.replaced,
        "said": handed.launched.said,
        "left": handed.left,
    }
    lines: list[Line | Block] = [*_lines(view), *_differences(handed.differences)]
    if handed.replaced:
        lines.append(
            f"package {handed.replaced} was renewed after the executor's own work: {view.envelope.id} went out"
        )
    lines += [handed.left] if handed.left else []
    lines.append(handed.launched.said)
    if handed.launched.text:
        lines.append(Block(handed.launched.text))
    return Answer(document, lines)


def _stopped(problem: RefusedError, context: Context, plan: LaunchPlan) -> RefusedError:
    """A refusal for differences comes with the whole document: what differs is the answer."""
    from workbench.services import packages
    from workbench.services.shapes import package_json

    found = problem.details.get("differences")
    if found and problem.document is None:
        view, _ = packages.show(context, plan.package)
        problem.document = {"package": package_json(view), "differences": found, "command": list(plan.argv)}
    return problem


def _before(context: Context, plan: LaunchPlan) -> list[Line]:
    """What a person sees before confirming: the package, what differs, who leaves, and the exact command."""
    from workbench.services import handover, packages

    view, _ = packages.show(context, plan.package)
    leaving = handover.leaving(context, plan.package)
    first: list[Line] = [["before   ", leaving]] if leaving else []
    return [*_lines(view), *_differences(view.differences), *first, ["command  ", plan.by_hand]]


def reject(call: Call) -> Answer:
    """Refuse."""
    from workbench.services import handover

    context = call.context()
    handover.reject(context, call.args.p, call.args.why or "")
    return _now(context, call.args.p)


def cancel(call: Call) -> Answer:
    """Withdraw."""
    from workbench.services import handover

    context = call.context()
    handover.cancel(context, call.args.p, call.args.why or "")
    return _now(context, call.args.p)


def resume(call: Call) -> Answer:
    """Finish or undo."""
    from workbench.services import handover

    context = call.context()
    steps = handover.resume(context, call.args.p)
    if call.args.again:
        attempt = handover.take_up_again(context, call.args.p)
        steps.append(f"{attempt.executor} runs the task again, as attempt {attempt.id}")
    answer = _now(context, call.args.p)
    return Answer(
        {**answer.document, "steps": list(steps)}, [*(steps or ["nothing was left in the middle"]), *answer.lines]
    )


def _now(context: Context, package: str) -> Answer:
    from workbench.services import packages

    view, _ = packages.show(context, package)
    return _answer(view, _lines(view))


def _answer(
    view: PackageView, lines: Sequence[Line | Block], differences: Sequence[Difference] | None = None, code: int = 0
) -> Answer:
    from workbench.services.shapes import difference_json, package_json

    seen = view.differences if differences is None else differences
    document = {"package": package_json(view), "differences": [difference_json(d) for d in seen]}
    return Answer(document, lines, code)


def _lines(view: PackageView) -> list[Line]:
    envelope = view.envelope
    lines: list[Line] = [
        [Span(envelope.id, "bold"), f"  {view.status}", Span(", stale", "warn") if view.stale else "",
         f"  {envelope.identity.mode} to {envelope.identity.to}, {envelope.tokens:,} tokens ({envelope.tokenizer}), "
         f"snapshot {envelope.snapshot}"],
        f"task {envelope.task} at plan revision {envelope.identity.plan_revision}, prepared by {envelope.prepared_by} "
        f"at {envelope.prepared_at}",
    ]  # fmt: skip
    lines += [f"  {event.at}  {event.status}  {event.by} {event.why}" for event in view.events]
    return lines


def _differences(differences: Sequence[Difference]) -> list[Line]:
    return table(
        [
            Span(d.code if d.stops else f"{d.code} (stops nothing)", "warn"),
            d.subject,
            f"was {'absent' if d.was is None else d.was}",
            f"now {'absent' if d.now is None else d.now}",
        ]
        for d in differences
    )
