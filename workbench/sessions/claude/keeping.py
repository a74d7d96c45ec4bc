"""What a reader's memory is besides the messages, made small: ids that messages have are named by their places."""

from __future__ import annotations

from typing import Any

from workbench.domain.message import Message
from workbench.sessions.bulk import index_of, shared
from workbench.sessions.claude.state import Group, State

Key = str | int
"""An id, or the place of the message that has it."""


def kept(state: State) -> dict[str, Any]:
    """The state as it is to be kept; :func:`go_on` makes it whole again."""
    state.total()  # so that nothing waits to be added up
    messages, tree = state.messages, state.tree
    ids = {message.id: place for place, message in enumerate(messages)}
    calls = {message.call.call_id: place for place, message in enumerate(messages) if message.call is not None}
    last = state.last_request.key if state.last_request is not None else None
    return vars(state) | {
        "messages": None,
        "last_request": last,
        "calls": ([calls.get(key, key) for key in state.calls], list(state.calls.values())),
        "groups": [_group(group, messages) for group in state.groups.values()],
        "tree": vars(tree)
        | {
            "index": ([ids.get(key, key) for key in tree.index], list(tree.index.values())),
            "names": [name if name is None else ids.get(name, name) for name in tree.names],
        },
    }


def go_on(state: State, memory: dict[str, Any], messages: list[Message]) -> None:
    """Let a new state be the one that was kept, with the messages that belong to it."""
    tree = state.tree
    vars(state).update(memory)
    vars(tree).update(memory["tree"])
    state.tree, state.messages = tree, messages
    keys, nodes = memory["tree"]["index"]
    tree.index = index_of(zip((_id(key, messages) for key in keys), shared(nodes), strict=True))
    tree.names = [name if name is None else _id(name, messages) for name in tree.names]
    keys, nodes = memory["calls"]
    state.calls = index_of(zip((_call(key, messages) for key in keys), shared(nodes), strict=True))
    state.groups = index_of((group.key, group) for group in (_whole(row, messages) for row in memory["groups"]))
    last = memory["last_request"]
    state.last_request = state.groups[last] if last is not None else None


def _id(key: Key, messages: list[Message]) -> str:
    return key if isinstance(key, str) else messages[key].id


def _call(key: Key, messages: list[Message]) -> str:
    call = None if isinstance(key, str) else messages[key].call
    return call.call_id if call is not None else str(key)


def _group(group: Group, messages: list[Message]) -> tuple[Any, ...]:
    """A request; its usage is mostly that of its message, and its key that of the usage."""
    usage = group.usage
    same = usage is not None and group.carrier >= 0 and messages[group.carrier].usage == usage
    return (
        None if same else group.key,
        group.turn,
        group.node,
        group.ordinal,
        group.carrier,
        None if same else usage,
    )


def _whole(row: tuple[Any, ...], messages: list[Message]) -> Group:
    key, turn, node, ordinal, carrier, usage = row
    if key is None:
        usage = messages[carrier].usage
        key = usage.key
    turn, node, carrier = shared((turn, node, carrier))
    return Group(key, turn, node, ordinal, carrier, usage)
