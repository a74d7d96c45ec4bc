"""The explicit state of a task, changed by deltas (``domain.md``, Task state)."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.domain.contract import VariableSpec
from workbench.domain.delta import Delta, DoneWord, Hand, NewItem, Outcome
from workbench.domain.state_items import ItemEditor
from workbench.domain.state_variables import VariableEditor
from workbench.domain.task import TaskState


def apply(
    delta: Delta, state: TaskState, declared: Mapping[str, VariableSpec], hand: Hand, base: TaskState | None = None
) -> Outcome:
    """Apply a delta.

    Args:
        delta: What shall change.
        state: As it is now.
        declared: The declarations of the contract.
        hand: Who does it.
        base: The state that the caller saw, where one was named: what changed since is not written
            over, and comes back as a conflict; all else is applied.

    Raises:
        UsageError: A variable is not declared, or a value does not fit.
        NotFoundError: An id names no item, or several.
    """
    out = Outcome(state, dict(declared))
    variables = VariableEditor(state, hand, base, out)
    for name, spec in delta.declare.items():
        variables.declare(name, spec)
    for name, value in delta.set.items():
        variables.set(name, value)
    for name in delta.unset:
        variables.unset(name)
    items = ItemEditor(state, hand, base, out)
    _move(delta, items)
    after = state.with_(
        variables=variables.values,
        variables_set=variables.stamps,
        done=tuple(items.done_items.values()),
        pending=tuple(items.pending_items.values()),
    )
    out.state = state if after == state else after.with_(updated_at=hand.at)
    return out


def _move(delta: Delta, items: ItemEditor) -> None:
    """In this order: what is done stops a new item of the same text, and a new item can be started."""
    for row in delta.done:
        items.done(row if isinstance(row, DoneWord) else DoneWord(item=row))
    for word in delta.drop:
        items.drop(word)
    for word in delta.give_up:
        items.give_up(word)
    for word in delta.accept:
        items.accept(word)
    for word, text in delta.reword.items():
        items.reword(word, text)
    for word in delta.reopen:
        items.reopen(word)
    for new in delta.pending:
        items.pending(new if isinstance(new, NewItem) else NewItem(text=new))
    for word in delta.start:
        items.start(word)
