"""``status``: what a person would ask first, as one document."""

from __future__ import annotations

from typing import Any

from workbench.services import shapes
from workbench.services.context import Context
from workbench.services.fact_view import count
from workbench.services.view import View
from workbench.services.viewing import build_view


def status(ctx: Context, view: View | None = None) -> dict[str, Any]:
    """The workspace in figures and in what needs the person now."""
    view = view or build_view(ctx)
    # What rules found in sessions is no finding until somebody takes it.
    odd = [found for found in view.task.findings if found.code != "not_accepted"] if view.task else []
    return {
        "workspace": str(view.place.root),
        "worktree": str(view.place.worktree),
        "branch": view.place.branch,
        "head": view.place.head,
        "dirty": view.place.dirty,
        "task": shapes.task_json(view.task.task) if view.task else None,
        "attempts": [shapes.attempt_json(a) for a in view.task.attempts] if view.task else [],
        "facts": count(view.facts),
        "packages": {
            "pending": sum(p.status == "pending" for p in view.packages),
            "stale": sum(p.stale and p.status == "pending" for p in view.packages),
        },
        "sessions": [
            {
                "agent": s.agent,
                "id": s.id,
                "path": s.path,
                "messages": s.messages,
                "updated_at": s.updated_at,
                "status": s.status,
                "title": s.title,
                "full": s.full,
                "basis": s.basis,
                "turns_left": s.turns_left,
                "limits": [
                    {"name": a.name, "used": a.used, "resets_at": a.resets_at, "reached": a.reached}
                    for a in s.allowances
                ],
                "compactions": s.compactions,
                "lost": s.lost,
                "unreadable": s.unreadable,
            }
            for s in view.sessions
        ],
        "history": {
            "all": view.history.tokens_all,
            "kept": view.history.tokens_kept,
            "tokenizer": view.history.tokenizer,
        },
        "needs_you": [{"code": n.code, "text": n.text, "key": n.key, "subject": n.subject} for n in view.needs_you],
        "findings": [*view.warnings, *(f"{found.text}: {found.offer}" for found in odd)],
        "contested": [shapes.contest_json(row) for row in view.contests],
        "damaged": [shapes.damage_json(d) for d in view.damaged],
    }
