"""JSON shapes of records for scripts and agents: the contract of ``interfaces.md``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    # Names for annotations only: a command that prints a fact need not load readers and launches.
    from workbench.domain.contested import Contest
    from workbench.domain.message import Message
    from workbench.domain.package import Difference
    from workbench.domain.state_findings import Finding
    from workbench.domain.task import Attempt, Task
    from workbench.services.compacting import Compacted
    from workbench.services.cutting import CutPlan
    from workbench.services.merging import Contested
    from workbench.services.produced import SeenArtifact
    from workbench.services.request import RequestView
    from workbench.services.session_list import Listed
    from workbench.services.view import FactView, HistoryView, MessageView, PackageView
    from workbench.store.examine import Check
    from workbench.store.records import Damage


def builtins(record: Any) -> Any:
    """A record as plain JSON values."""
    return msgspec.to_builtins(record)


def followed_json(message: Message) -> dict[str, Any]:
    """A message of a followed session, with all that is known of it."""
    document = builtins(message)
    return {"ref": message.ref, **document.pop("common"), **document}


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


def request_json(found: RequestView) -> dict[str, Any]:
    """What one request carried."""
    messages = []
    for row in found.messages:
        message = row.message
        document = {"id": message.ref, "index": message.seq, "role": message.role, "kind": message.kind}
        document |= {"origin": message.origin, "at": message.at, "part": row.part, "new": row.new}
        document |= {"tokens": row.tokens, "text": row.text}
        if message.call is not None:
            document["call"] = builtins(message.call)
        if message.result is not None:
            document["result"] = builtins(message.result)
        messages.append(document)
    return {
        "request": {
            "session": found.session,
            "number": found.number,
            "of": len(found.numbers),
            "answer": found.answer.ref,
            "at": found.answer.at,
            "model": found.model,
            "usage": None if found.usage is None else builtins(found.usage) | {"context": found.usage.context},
        },
        "parts": [
            {"part": p.name, "messages": p.messages, "recorded": p.recorded, "not_recorded": p.not_recorded}
            for p in found.parts
        ],
        "ages": found.ages,
        "stated": [{"name": one.name, "tokens": one.tokens, "text": one.text} for one in found.stated],
        "messages": messages,
        "tokens": {"counted": found.counted, "tokenizer": found.tokenizer, "estimated": found.estimated},
        "basis": found.basis,
    }


def compacted_json(found: Compacted) -> dict[str, Any]:
    """A session as a compaction would send it."""
    messages = []
    for row in found.messages:
        message = row.message
        document: dict[str, Any] = {"role": row.role, "content": row.text, "tokens": row.tokens, "form": row.form}
        document["id"] = message.ref if message is not None else None
        if message is not None and message.call is not None and row.form == "whole":
            document["call"] = {"id": message.call.call_id, "name": message.call.name}
        if message is not None and message.result is not None:
            document["answers"] = message.result.call_id
        messages.append(document)
    return {
        "session": found.session,
        "messages": messages,
        "turns": {"carried": found.turns, "wanted": found.wanted},
        "notes": {"carried": list(found.notes), "named": list(found.named), "absent": list(found.absent)},
        "waiting": list(found.waiting),
        "tokens": {
            "before": found.before,
            "after": found.tokens,
            "budget": found.budget,
            "over": found.over,
            "tokenizer": found.tokenizer,
            "estimated": found.estimated,
        },
        "basis": found.basis,
    }


def seen_artifact_json(found: SeenArtifact) -> dict[str, Any]:
    """A file that sessions wrote; the shape of an artifact, with the message that shows each version."""
    versions = [
        {
            "number": one.number,
            "sha256": one.sha256,
            "size": one.size,
            "path": one.path,
            "attempt": one.attempt,
            "made": {"by": one.by, "at": one.at},
            "op": one.op,
            "source": one.source,
        }
        for one in found.versions
    ]
    named = {"id": found.id, "task": found.task, "key": found.key, "kind": found.kind}
    return {**named, "seen": True, "versions": versions, "bindings": []}


def cut_json(plan: CutPlan) -> dict[str, Any]:
    """A cut, planned or done."""
    package = plan.package
    return {
        "act": plan.act,
        "messages": [row.message.ref for row in plan.messages],
        "tokens": {"before": plan.tokens_before, "after": plan.tokens_after, "in": plan.in_what},
        "package": package and {"to": package[0], "before": package[1], "after": package[2]},
        "stale": [{"package": id_, "to": to} for id_, to in plan.stale],
        "findings": [{"message": f.message, "rule": f.rule, "stops": f.stops, "text": f.text} for f in plan.findings],
    }


def session_json(row: Listed) -> dict[str, Any]:
    """A session that was found; its messages are not counted, since only the two ends of its file were read."""
    session = row.session
    return {
        "agent": session.agent,
        "id": session.id,
        "path": str(session.path),
        "cwd": session.cwd,
        "worktree": str(session.folder) if session.folder else None,
        "worktree_name": row.worktree,
        "title": session.title,
        "size": session.size,
        "messages": None,
        "started_at": session.started_at,
        "updated_at": session.updated_at,
        "status": "live" if row.live else "idle",
        "full": row.full,
        "limited_until": row.limited_until,
        "parent": session.parent,
        "children": list(session.children),
        "forked_from": session.forked_from,
        "task": row.task.slug if row.task else None,
        "attempt": row.attempt.id if row.attempt else None,
        "follows": row.follows or None,
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


def contest_json(row: Contest) -> dict[str, Any]:
    """A contested field, with what stands in it until it is settled."""
    return {
        "record": row.record,
        "name": row.name,
        "field": row.field,
        "version": row.version,
        "present": row.present,
        "claims": [{**builtins(claim), "stands": row.stands(claim)} for claim in row.claims],
        "task": row.task,
    }
