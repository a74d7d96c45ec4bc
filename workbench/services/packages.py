"""Packages: compile, prepare, look at, check, and hand over."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace

from workbench.compiler import Blocked, Compilation, Compiled, Request, Target
from workbench.compiler.words import COMMAND
from workbench.domain.ids import new_id
from workbench.domain.package import Difference, Envelope, Fingerprint, PackageEvent, PackageMode, Strategy
from workbench.domain.record import Json
from workbench.domain.task import Task
from workbench.errors import RefusedError, UsageError
from workbench.handoff import fingerprint
from workbench.services import damage, kept
from workbench.services.collecting import without_collector
from workbench.services.context import Context
from workbench.services.material import Gathered, basis, gather, material
from workbench.services.places import worktree_of
from workbench.services.view import PackageView
from workbench.services.viewing import differing, package_view
from workbench.store.records import Records, StoredPackage
from workbench.tokens import counter

_MESSAGES = frozenset({"recent_message", "retrieved_history"})
"""Rows of a manifest whose ids are messages'."""
ASSUMED_WINDOW = 128_000
"""Tokens taken for the window of an agent whose window nobody states; shown as assumed."""


@dataclass(frozen=True)
class CompileOptions:
    """How a package is to be compiled; what is not given is found from configuration and task."""

    budget: int | None = None
    strategy: Strategy = "evidence"
    tokenizer: str | None = None
    language: str | None = None
    pins: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()
    mode: PackageMode = "handoff"
    question: str | None = None

    def as_json(self) -> dict[str, Json]:
        """As kept with the package, so that a recompile repeats it."""
        return {
            "budget": self.budget,
            "strategy": self.strategy,
            "tokenizer": self.tokenizer,
            "language": self.language,
            "pins": sorted(self.pins),
            "without": sorted(self.without),
            "mode": self.mode,
            "question": self.question,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Json]) -> CompileOptions:
        """The options kept with a package."""
        known = {k: v for k, v in document.items() if k in cls.__dataclass_fields__}
        return cls(
            **{**known, "pins": frozenset(known.get("pins", ())), "without": frozenset(known.get("without", ()))}
        )


@dataclass(frozen=True)
class Preview:
    """A compilation that can be packed again and again, as budget and rows are moved."""

    task: Task
    to: str
    options: CompileOptions
    compilation: Compilation
    gathered: Gathered
    result: Compiled | Blocked
    marks: tuple[Fingerprint, ...]
    """What it rested on when it was gathered: what a person looks at must be what is stored."""

    def pack(
        self, *, budget: int | None = None, pins: frozenset[str] | None = None, without: frozenset[str] | None = None
    ) -> Preview:
        """The same material under another budget, other pins or toggles."""
        options = replace(
            self.options,
            budget=budget if budget is not None else self.options.budget,
            pins=self.options.pins if pins is None else pins,
            without=self.options.without if without is None else without,
        )
        result = self.compilation.pack(budget=options.budget, pins=options.pins, without=options.without)
        return replace(self, options=options, result=result)


def target(ctx: Context, to: str, tokenizer: str | None = None) -> Target:
    """The receiving agent as the compiler needs to know it.

    Raises:
        UsageError: No such agent.
    """
    program = ctx.programs.get(to)
    if program is None:
        raise UsageError(
            f"no agent {to!r}", "known: " + ", ".join(sorted(ctx.programs)) + "; define others in [agents.NAME]"
        )
    return Target(
        agent=to,
        window=program.window,
        tokenizer=tokenizer or program.tokenizer,
        estimated=program.estimated and tokenizer is None,
    )


def preview(
    ctx: Context, task: Task, to: str, options: CompileOptions | None = None, *, found: Gathered | None = None
) -> Preview:
    """Compile a task for an agent; writes nothing.

    Raises:
        UsageError: The agent, tokenizer or strategy is not known.
    """
    options = options or CompileOptions()
    aim = target(ctx, to, options.tokenizer)
    found = found or gather(ctx, ctx.workspace.load(), task)
    budget = ctx.config.budget
    request = Request(
        to=aim,
        now=ctx.now(),
        mode=options.mode,
        strategy=options.strategy,
        budget=options.budget,
        default_tokens=budget.tokens,
        share=budget.share,
        margin=budget.margin,
        reserves=budget.reserves,
        language=options.language,
        pins=options.pins,
        without=options.without,
        question=options.question,
        command=_command(ctx),
    )
    with without_collector():
        compilation = Compilation(material(ctx, found), request, counter(aim.tokenizer))
        result = compilation.pack(budget=options.budget, pins=options.pins, without=options.without)
    return Preview(task, to, options, compilation, found, result, fingerprint.take(basis(ctx, found)))


def _command(ctx: Context) -> str:
    """What a receiver types for this program: its name where a shell would find it, else how it runs now."""
    if shutil.which(COMMAND, path=ctx.env.get("PATH", "")):
        return COMMAND
    from workbench.handoff.launch import own_program, quoted

    return " ".join(map(quoted, own_program()))


def prepare(
    ctx: Context, task: Task, to: str, options: CompileOptions | None = None, *, replaces: str | None = None
) -> StoredPackage:
    """Compile a package and let it wait for a person; the package that it replaces is cancelled.

    Raises:
        RefusedError: What is required does not fit (``document`` holds the blocked answer), or the
            records changed while it was compiled.
    """
    ctx.require_writable()
    return store(ctx, preview(ctx, task, to, options), replaces=replaces)


def store(ctx: Context, looked: Preview, *, replaces: str | None = None) -> StoredPackage:
    """Keep a previewed package as pending, exactly as it was looked at.

    A package of the same task for the same agent that still waits is replaced, unless a person
    prepared it and an agent would replace it.

    Raises:
        RefusedError: It is blocked, or what it rests on changed while it was looked at.
        DamagedError: It would rest on records that cannot be read.
    """
    ctx.require_writable()
    _still_so(ctx, looked)
    damage.refuse(damage.concerning(looked.gathered.records, looked.task), "this package")
    compiled = looked.result
    if isinstance(compiled, Blocked):
        raise RefusedError(
            f"blocked: what is required exceeds the budget by {compiled.over_by} tokens",
            "give a larger --budget, or shorten the contract, guidelines or constraints",
            document=compiled.as_json(),
            code=compiled.code,
        )
    prompt = compiled.prompt.encode("utf-8", "replace")
    replaces = replaces or _waiting(ctx, looked)
    envelope = Envelope(
        id=new_id(),
        snapshot=compiled.snapshot,
        task=looked.task.id,
        identity=compiled.identity,
        content=compiled.envelope,
        tokens=compiled.tokens,
        tokenizer=compiled.tokenizer,
        prompt_sha256=hashlib.sha256(prompt).hexdigest(),
        fingerprints=looked.marks,
        options=looked.options.as_json(),
        replaces=replaces,
        prepared_by=ctx.actor.name,
        prepared_at=ctx.stamp(),
    )
    first = PackageEvent(id=new_id(), status="pending", by=ctx.actor.name, at=envelope.prepared_at, attempt=new_id())
    command = f"handoff prepare {looked.task.slug} --to {looked.to}"
    with ctx.workspace.transaction(ctx.actor.name, command, now=ctx.now()) as tx:
        tx.add_package(envelope, prompt, first)
        taken = {row.id for row in compiled.manifest if row.included and row.source_type in _MESSAGES}
        kept.keep(ctx, tx, looked.gathered.sessions, taken | kept.wanted(looked.gathered.records, looked.task))
        if replaces is not None:
            tx.append_status(
                replaces,
                PackageEvent(
                    id=new_id(),
                    status="cancelled",
                    by=ctx.actor.name,
                    at=tx.now,
                    why=f"replaced by {envelope.id}",
                    details={"replaced_by": envelope.id},
                ),
            )
    return ctx.workspace.load().packages[envelope.id]


def _still_so(ctx: Context, looked: Preview) -> None:
    records = ctx.workspace.load()
    task = records.tasks.get(looked.task.id, looked.task)
    now = fingerprint.take(basis(ctx, gather(ctx, records, task), fingerprint.files_of(looked.marks)))
    changed = [d for d in fingerprint.compare(looked.marks, now) if d.stops]
    if changed:
        raise RefusedError(
            "this changed while you looked: " + "; ".join(f"{d.subject}: {d.was} → {d.now}" for d in changed[:5]),
            "look at the package again",
            differences=[{"code": d.code, "subject": d.subject, "was": d.was, "now": d.now} for d in changed],
        )


def _waiting(ctx: Context, looked: Preview) -> str | None:
    """The pending package that this one takes the place of."""
    waiting = [
        p
        for p in ctx.workspace.load().packages.values()
        if p.status == "pending"
        and p.envelope.task == looked.task.id
        and p.envelope.identity.to == looked.to
        and p.envelope.identity.mode == looked.options.mode
        and worktree_of(p.envelope) == ctx.location.worktree_name
        and (ctx.actor.human or p.envelope.prepared_by == ctx.actor.name)
    ]
    newest = max(waiting, key=lambda p: (p.envelope.prepared_at, p.id), default=None)
    return newest.id if newest is not None else None


def find(ctx: Context, prefix: str, records: Records | None = None) -> StoredPackage:
    """A package by unique id prefix."""
    found = (records or ctx.workspace.load()).find("packages", prefix)
    assert isinstance(found, StoredPackage)
    return found


def listing(ctx: Context) -> list[PackageView]:
    """All packages, newest first, with their freshness."""
    records = ctx.workspace.load()
    ordered = sorted(records.packages.values(), key=lambda p: (p.envelope.prepared_at, p.envelope.id), reverse=True)
    return [package_view(ctx, records, p) for p in ordered]


def show(ctx: Context, prefix: str) -> tuple[PackageView, str]:
    """A package and its prompt as it will be sent."""
    records = ctx.workspace.load()
    package = find(ctx, prefix, records)
    return package_view(ctx, records, package), ctx.workspace.prompt(package.envelope.id).decode("utf-8", "replace")


def check(ctx: Context, prefix: str) -> tuple[Difference, ...]:
    """What a package rests on that is no longer so, judged now and by content."""
    records = ctx.workspace.load()
    package = find(ctx, prefix, records)
    task = records.tasks.get(package.envelope.task)
    if task is None:
        return (Difference(code="contract_revised", subject="task", was=package.envelope.task, now=None),)
    return differing(ctx, records, package, task)
