"""Why a candidate is not in the package: every code that a manifest row can carry, in one place."""

from __future__ import annotations

SUPERSEDED = "superseded"
REJECTED = "rejected"
RETRACTED = "retracted"
OUT_OF_SCOPE = "out_of_scope"
OTHER_TASK_FAILURE = "other_task_failure"
UNTRUSTED_INPUT = "untrusted_input"
WORKING_MEMORY = "working_memory"
MISSING_BODY = "missing_body"
STATES_SUPERSEDED = "states_superseded"
TOGGLED_OFF = "toggled_off"
BELOW_FLOOR = "below_floor"
BUDGET = "budget"
"""Qualified, and there was no room for it."""

OVERFLOW = "task_context_overflow"
"""Not of a row but of a compile: what is required does not fit."""


def shadowed_by(fact_id: str) -> str:
    """The task's own fact of the same key stands before it."""
    return f"shadowed_by:{fact_id}"


def duplicate_of(source_id: str) -> str:
    """Another candidate says the same."""
    return f"duplicate_of:{source_id}"


def dropped(by: str) -> str:
    """Cut from the history, and by whom."""
    return f"dropped:{by}"


def yields_to_pin(code: str | None) -> bool:
    """Whether a person's pin overrides this refusal: what was a matter of choice, never what does not hold."""
    if code is None:
        return False
    return code in (WORKING_MEMORY, BELOW_FLOOR, STATES_SUPERSEDED) or code.startswith(("dropped:", "duplicate_of:"))
