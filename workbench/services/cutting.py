"""Cutting a history: what a cut would save and in what, what the guard says, and the cut itself."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from workbench.agents import installed
from workbench.compiler import Blocked
from workbench.domain.ids import new_id
from workbench.domain.lines import causal_order
from workbench.domain.message import Message
from workbench.domain.task import Task
from workbench.domain.trimming import DISPOSITIONS, GuardFinding, Trim, TrimAct, with_partners
from workbench.errors import HumanNeededError, RefusedError, UsageError
from workbench.handoff import fingerprint
from workbench.services import kept, packages
from workbench.services.context import Context
from workbench.services.history import IN_WHAT, body, by_session, cited_messages, guarded, kept_tokens, select, view
from workbench.services.material import Gathered, basis, gather
from workbench.services.sessions import attached
from workbench.services.view import HistoryView, MessageView
from workbench.store.records import Records

_PLACEHOLDER = "a digest: its first line, its last line, and the lines that name an error"
"""Stands for the digest in a preview, which is made only when the cut is."""


@dataclass(frozen=True)
class CutPlan:
    """What a cut would do, before it is done."""

    act: TrimAct
    messages: tuple[MessageView, ...]
    """Those touched, partners of marked calls and results included."""
    tokens_before: int
    tokens_after: int
    in_what: str
    findings: tuple[GuardFinding, ...]
    text: str = ""
    package: tuple[str, int, int] | None = None
    """Receiver, and the tokens of its next package before and after; None where none can be made."""
    stale: tuple[tuple[str, str], ...] = ()
    """Pending packages that count as stale by the cut: id and receiver, the oldest first."""

    @property
    def blocked(self) -> bool:
        """Something among them may never go."""
        return any(f.stops == "always" for f in self.findings)

    @property
    def needs_yes(self) -> bool:
        """Only a person who types yes may do it."""
        return any(f.stops == "unless_yes" for f in self.findings)

    @property
    def unsaved(self) -> int:
        """Messages whose conclusions no record cites."""
        return sum(f.rule == "not_saved" for f in self.findings)


def plan_cut(ctx: Context, task: Task, ids: Collection[str], act: TrimAct, *, text: str = "") -> CutPlan:
    """Preview a drop, summary or externalisation, and what it changes in the next package; writes nothing."""
    records = ctx.workspace.load()
    found = gather(ctx, records, task)
    history = view(ctx, records, task, list(found.sessions))
    plan = plan_over(ctx, records, task, history, select(history, ids), act, text=text)
    trimmed = _as_cut(ctx, found, plan)
    return replace(plan, package=_package_figures(ctx, found, trimmed), stale=_made_stale(ctx, trimmed))


def _as_cut(ctx: Context, found: Gathered, plan: CutPlan) -> Gathered:
    """What there would be after the cut."""
    trims = dict(found.records.trims)
    for name in dict.fromkeys(row.message.session for row in plan.messages):
        ids = tuple(row.message.id for row in plan.messages if row.message.session == name)
        trial = Trim(
            id=new_id(),
            after=None,
            act=plan.act,
            messages=ids,
            by=ctx.actor.name,
            at=ctx.stamp(),
            text=plan.text or _PLACEHOLDER,
        )
        # Causal order puts lines without a cause first: this one comes after all that are there.
        lines = trims.get(name, ())
        last = causal_order(lines)[-1].id if lines else None
        trims[name] = (*lines, trial.with_(after=last))
    return replace(found, records=replace(found.records, trims=trims))


def _package_figures(ctx: Context, found: Gathered, trimmed: Gathered) -> tuple[str, int, int] | None:
    """The next package, compiled as things are and as they would be.

    Most of a history is working memory, which no package carries: what a cut saves there is for the
    compiler to say, not for a sum over messages.
    """
    to = likely_receiver(ctx, found)
    before = packages.preview(ctx, found.task, to, found=found).result
    after = packages.preview(ctx, found.task, to, found=trimmed).result
    if isinstance(before, Blocked) or isinstance(after, Blocked):
        return None
    return to, before.tokens, after.tokens


def _made_stale(ctx: Context, trimmed: Gathered) -> tuple[tuple[str, str], ...]:
    """Pending packages of the task that rest on what the cut changes."""
    task = trimmed.task.id
    waiting = [
        package.envelope
        for package in trimmed.records.packages.values()
        if package.status == "pending" and package.envelope.task == task
    ]
    now = fingerprint.take(basis(ctx, trimmed)) if waiting else ()
    return tuple(
        (envelope.id, envelope.identity.to)
        for envelope in sorted(waiting, key=lambda e: (e.prepared_at, e.id))
        if any(d.code == "trim_changed" for d in fingerprint.compare(envelope.fingerprints, now))
    )


def likely_receiver(ctx: Context, found: Gathered) -> str:
    """Whom the next package is for: whom the last one of the task was for, else the first agent here."""
    mine = [p.envelope for p in found.records.packages.values() if p.envelope.task == found.task.id]
    last = max(mine, key=lambda e: (e.prepared_at, e.id), default=None)
    if last is not None and last.identity.to in ctx.programs:
        return last.identity.to
    here = [name for name, program in sorted(ctx.programs.items()) if installed(program, ctx.env)]
    return here[0] if here else sorted(ctx.programs)[0]


def plan_over(
    ctx: Context,
    records: Records,
    task: Task,
    history: HistoryView,
    marked: Collection[str],
    act: TrimAct,
    *,
    text: str = "",
) -> CutPlan:
    """The plan of a cut over a history that is read already; ``marked`` holds ``SESSION#ID``."""
    rows = history.messages
    touched: set[str] = set()
    for own in by_session(history).values():
        messages = [row.message for row in own]
        chosen = with_partners(messages, {m.id for m in messages if m.ref in marked})
        touched |= {m.ref for m in messages if m.id in chosen}
    findings = [finding for _, finding in guarded(ctx, history, marked, cited_messages(records, task))]
    cut = tuple(row for row in rows if row.message.ref in touched)
    trial = Trim(id="", act=act, messages=(), by="", at="", text=text or _PLACEHOLDER)
    after = (
        replace(row, fate=replace(row.fate, disposition=DISPOSITIONS[act], trim=trial))
        if row.message.ref in touched
        else row
        for row in rows
    )
    return CutPlan(
        act=act,
        messages=cut,
        tokens_before=history.tokens_kept,
        tokens_after=kept_tokens(after),
        in_what=IN_WHAT,
        findings=tuple(findings),
        text=text,
    )


def cut(ctx: Context, task: Task, plan: CutPlan, *, why: str = "", yes: bool = False) -> CutPlan:
    """Carry out a plan.

    Raises:
        RefusedError: A guideline is among the messages, or a person did not type yes where needed.
        HumanNeededError: An agent would cut what only a person may.
    """
    ctx.require_writable()
    if not plan.messages:
        raise UsageError("no messages to cut", "name them by id, or mark them")
    if plan.blocked:
        names = ", ".join(f.message for f in plan.findings if f.stops == "always")
        raise RefusedError(f"guidelines are never trimmed: {names}", "leave them out of the selection")
    if plan.needs_yes:
        listed = [f for f in plan.findings if f.stops == "unless_yes"]
        what = "; ".join(f"{f.message} is {f.text}" for f in listed[:5])
        if not ctx.actor.human or ctx.actor.refused:
            raise HumanNeededError(f"only a person may cut these: {what}", "leave them out")
        if not yes:
            raise RefusedError(f"these need an explicit yes: {what}", "repeat with --yes if you mean it")
    if plan.unsaved and not ctx.actor.human and not why:
        unsaved = [f.message for f in plan.findings if f.rule == "not_saved"]
        raise RefusedError(
            "conclusions of these messages are not saved in any fact or note",
            "save them first, or give a reason",
            messages=unsaved,
        )
    _write(ctx, task, plan, why)
    return plan


def _write(ctx: Context, task: Task, plan: CutPlan, why: str) -> None:
    bodies = (
        {row.message.ref: body(ctx, task, row.message.ref) for row in plan.messages}
        if plan.act in ("externalise", "summarise") and not plan.text
        else {}
    )
    with ctx.workspace.transaction(ctx.actor.name, f"history {plan.act} {task.slug}", why, now=ctx.now()) as tx:
        for name in dict.fromkeys(row.message.session for row in plan.messages):
            own = [row.message for row in plan.messages if row.message.session == name]
            blobs: dict[str, str] = {}
            if plan.act == "externalise":
                blobs = {m.id: tx.put_blob(bodies[m.ref].encode("utf-8", "replace")) for m in own}
            text = plan.text
            if plan.act == "summarise" and not text:
                text = "\n".join(digest(m, bodies[m.ref]) for m in own)
            tx.append_trim(
                name,
                Trim(
                    id=new_id(),
                    act=plan.act,
                    messages=tuple(m.id for m in own),
                    by=ctx.actor.name,
                    at=tx.now,
                    why=why,
                    text=text,
                    blobs=blobs,
                ),
            )
        kept.keep(ctx, tx, attached(ctx, tx.records, task), (row.message.ref for row in plan.messages))


def digest(message: Message, text: str) -> str:
    """A rule-based digest of one message: size, first and last line, and error lines verbatim."""
    lines = [line for line in text.split("\n") if line.strip()]
    what = message.call.name if message.call else message.kind.replace("_", " ")
    if len(lines) <= 3:
        return f"{what}: " + " / ".join(lines)
    errors = [line.strip() for line in lines[1:-1] if "error" in line.lower() or "failed" in line.lower()]
    shown = [lines[0].strip(), *errors[:3], lines[-1].strip()]
    return f"{what}, {len(lines)} lines: " + " / ".join(line[:200] for line in dict.fromkeys(shown))
