"""JSON shapes of records for scripts and agents: the contract of ``interfaces.md``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    # Names for annotations only: a command that prints a fact need not load readers and launches.
    from workbench.domain.package import Difference
    from workbench.domain.state_findings import Finding
    from workbench.domain.task import Attempt, Task
    from workbench.services.cutting import CutPlan
    from workbench.services.merging import Contested
    from workbench.services.view import FactView, HistoryView, MessageView, PackageView
    from workbench.sessions import FoundSession
    from workbench.store.examine import Check
    from workbench.store.records import Damage


def builtins(record: Any) -> Any:
    """A record as plain JSON values."""
    return msgspec.to_builtins(record)


def task_json(task: Task) -> dict[str, Any]:
    """A task."""
    document: dict[str, Any] = builtins(task)
    return document


def attempt_json(attempt: Attempt) -> dict[str, Any]:
    """An attempt."""
    document: dict[str, Any] = builtins(attempt)
    return document


def fact_json(row: FactView) -> dict[str, Any]:
    """A fact with its derived lifecycle."""
    document: dict[str, Any] = builtins(row.fact)
    return document | {
        "key": row.key,
        "lifecycle": row.lifecycle,
        "against": [fact.id for fact in row.against],
        "shadowed": row.shadowed,
        "past_review": row.past_review,
    }


def message_json(row: MessageView) -> dict[str, Any]:
    """A message with its fate and price; reasoning text and raw positions stay out."""
    message = row.message
    document: dict[str, Any] = {
        "id": message.ref,
        "index": message.seq,
        "role": message.role,
        "kind": message.kind,
        "origin": message.origin,
        "at": message.at,
        "turn": message.turn,
        "tokens": row.tokens,
        "memory": row.fate.memory,
        "disposition": row.fate.disposition,
        "pinned": row.fate.pinned,
        "cited": row.cited,
        "in_context": message.in_context,
        "text": message.text,
        "size": message.size,
    }
    if message.call is not None:
        document["call"] = builtins(message.call)
    if message.result is not None:
        document["result"] = builtins(message.result)
    return document


def history_json(history: HistoryView) -> dict[str, Any]:
    """A history with its totals."""
    return {
        "messages": [message_json(row) for row in history.messages],
        "tokens": {"all": history.tokens_all, "kept": history.tokens_kept, "tokenizer": history.tokenizer},
        "absent_sessions": list(history.absent),
    }


def cut_json(plan: CutPlan) -> dict[str, Any]:
    """A cut, planned or done."""
    package = plan.package
    return {
        "act": plan.act,
        "messages": [row.message.ref for row in plan.messages],
        "tokens": {"before": plan.tokens_before, "after": plan.tokens_after, "in": plan.in_what},
        "package": package and {"to": package[0], "before": package[1], "after": package[2]},
        "findings": [{"message": f.message, "rule": f.rule, "stops": f.stops, "text": f.text} for f in plan.findings],
    }


def session_json(session: FoundSession) -> dict[str, Any]:
    """A session that was found."""
    return {
        "agent": session.agent,
        "id": session.id,
        "path": str(session.path),
        "cwd": session.cwd,
        "title": session.title,
        "size": session.size,
        "started_at": session.started_at,
        "updated_at": session.updated_at,
    }


def difference_json(difference: Difference) -> dict[str, Any]:
    """Something that a package rests on and that is no longer so."""
    document: dict[str, Any] = builtins(difference)
    return document


def package_json(view: PackageView) -> dict[str, Any]:
    """A package and how it stands."""
    envelope = view.envelope
    attempt = next((e.attempt for e in reversed(view.events) if e.attempt), None)
    return {
        "id": envelope.id,
        "task": envelope.task,
        "attempt": attempt,
        "from": envelope.identity.from_executor,
        "to": envelope.identity.to,
        "mode": envelope.identity.mode,
        "status": view.status,
        "stale": view.stale,
        "snapshot": envelope.snapshot,
        "plan_revision": envelope.identity.plan_revision,
        "tokens": envelope.tokens,
        "tokenizer": envelope.tokenizer,
        "replaces": envelope.replaces,
        "prepared_by": envelope.prepared_by,
        "prepared_at": envelope.prepared_at,
    }


def damage_json(damage: Damage) -> dict[str, Any]:
    """A record that cannot be read."""
    return {"path": damage.path, "message": damage.message, "line": damage.line, "column": damage.column}


def finding_json(finding: Finding) -> dict[str, Any]:
    """Something odd, with the offer that puts it right."""
    return {"code": finding.code, "text": finding.text, "offer": finding.offer, "items": list(finding.items)}


def check_json(check: Check) -> dict[str, Any]:
    """One thing that the doctor looked at."""
    document: dict[str, Any] = {"name": check.name, "ok": check.ok, "detail": check.detail}
    if check.path is not None:
        document |= {"path": check.path, "line": check.line, "column": check.column}
    return document


def contested_json(row: Contested) -> dict[str, Any]:
    """What two merged copies say differently."""
    return {"record": row.record, "field": row.field, "claims": [dict(claim) for claim in row.claims]}
