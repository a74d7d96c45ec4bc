"""``event_msg`` records: what the program noted about the conversation, and how its calls ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.domain.message import ToolCall
from workbench.sessions.codex import outputs, patches, tools
from workbench.sessions.codex.calls import Known, judged
from workbench.sessions.codex.facts import Facts
from workbench.sessions.codex.items import prompted, said, thought
from workbench.sessions.codex.outputs import Output
from workbench.sessions.codex.records import Item, Part, Payload
from workbench.sessions.codex.state import State
from workbench.sessions.texts import text_of

_SILENT = frozenset(
    {
        "task_complete",
        "turn_complete",
        "thread_settings_applied",
        "thread_goal_updated",
        "sub_agent_activity",
        "web_search_end",
        "image_generation_end",
        "context_compacted",
        "undo_completed",
        "entered_review_mode",
        "exited_review_mode",
        "session_configured",
        "shutdown_complete",
        "background_event",
        "plan_update",
        "turn_diff",
        "collab_agent_interaction_end",
        "collab_waiting_end",
        "collab_close_end",
        "collab_resume_end",
        "view_image_tool_call",
    }
)
"""Events that are known and of which nothing is shown: what they say stands in other records."""
_SILENT_ENDINGS = ("_begin", "_delta")
_LIMITS = ("You've hit your usage limit", "You\u2019ve hit your usage limit", "You have reached your usage limit")


def event(state: State, facts: Facts, payload: Payload) -> bool | None:
    """Take an event; returns whether it made messages, None where its kind is unknown."""
    kind = payload.type
    before = len(state.messages)
    known: Callable[[State, Facts, Payload], None] | None = _KNOWN.get(kind) if type(kind) is str else None
    if known is not None:
        known(state, facts, payload)
    elif type(kind) is not str or not (kind in _SILENT or kind.endswith(_SILENT_ENDINGS)):
        return None
    return len(state.messages) > before


def _user(state: State, facts: Facts, payload: Payload) -> None:
    if type(payload.message) is str and payload.message:
        prompted(state, payload.message)


def _agent(state: State, facts: Facts, payload: Payload) -> None:
    if type(payload.message) is str:
        said(state, payload.message, "answer event", "answer item")


def _thought(state: State, facts: Facts, payload: Payload) -> None:
    if type(payload.text) is str and payload.text:
        thought(state, payload.text, "thought event", "thought item")


def _tokens(state: State, facts: Facts, payload: Payload) -> None:
    facts.counted(payload, state)


def _begun(state: State, facts: Facts, payload: Payload) -> None:
    state.answering = False
    facts.turn(payload, state)


def _aborted(state: State, facts: Facts, payload: Payload) -> None:
    reason = payload.reason if type(payload.reason) is str else "unknown reason"
    state.answering = False
    state.emit("notice", "system", "harness", f"turn aborted: {reason}", seen=False)


def _rolled_back(state: State, facts: Facts, payload: Payload) -> None:
    turns = payload.num_turns if type(payload.num_turns) is int else 0
    state.roll_back(turns)
    state.emit("notice", "system", "harness", f"{turns} turns taken back", seen=False)


def _renamed(state: State, facts: Facts, payload: Payload) -> None:
    facts.named(payload.thread_name)


def _failed(state: State, facts: Facts, payload: Payload) -> None:
    text = payload.message if type(payload.message) is str else text_of(payload.message)
    info = payload.codex_error_info
    if text.startswith(_LIMITS) or info == "usage_limit_exceeded" or info == "UsageLimitExceeded":
        facts.limited(text, state.at)
        state.emit("limit", "system", "harness", text, seen=False)
    else:
        state.emit("error", "system", "harness", text, seen=False)


def _warned(state: State, facts: Facts, payload: Payload) -> None:
    text = payload.message if type(payload.message) is str else text_of(payload.message)
    state.emit("notice", "system", "harness", text, seen=False)


# How calls ended.


def _ran(state: State, facts: Facts, payload: Payload) -> None:
    if type(payload.call_id) is str:
        note_run(state, payload.call_id, payload.exit_code, payload.duration)


def note_run(state: State, call_id: str, code: Any, duration: Any) -> None:
    """A command ended."""
    known = state.known(call_id)
    if type(code) is int:
        known.exit_code = code
    known.duration = outputs.seconds(duration)
    state.learned(call_id, known)


def _patched(state: State, facts: Facts, payload: Payload) -> None:
    if type(payload.call_id) is str:
        _note_patch(state, payload.call_id, payload.success is True, payload.changes)


def _note_patch(state: State, call_id: str, success: bool, changes: Any) -> None:
    known = state.known(call_id)
    known.success = success
    if success:
        known.changes = (*known.changes, *patches.reported(changes))
    state.learned(call_id, known)


def _served(state: State, facts: Facts, payload: Payload) -> None:
    """A call to a server's tool ended."""
    if type(payload.call_id) is str and isinstance(payload.result, dict):
        known = state.known(payload.call_id)
        done = payload.result.get("Ok")
        refused = isinstance(done, dict) and (done.get("isError") is True or done.get("is_error") is True)
        known.success = "Ok" in payload.result and not refused
        known.duration = outputs.seconds(payload.duration)
        state.learned(payload.call_id, known)


def _spawned(state: State, facts: Facts, payload: Payload) -> None:
    if type(payload.call_id) is str and type(payload.new_thread_id) is str:
        known = state.known(payload.call_id)
        known.child = payload.new_thread_id
        state.children[payload.new_thread_id] = None
        known.success = True
        state.learned(payload.call_id, known)


# ``item_completed``: the newer family of the same events.


def _completed(state: State, facts: Facts, payload: Payload) -> None:
    done = payload.item
    if type(done) is not Item:
        return
    if done.type == "UserMessage":
        text = _text(done)
        if text:
            prompted(state, text)
    elif done.type == "AgentMessage":
        state.base = done.id if type(done.id) is str and done.id else None
        said(state, _text(done), "answer event", "answer item")
    elif done.type == "CommandExecution":
        _command(state, done)
    elif done.type == "FileChange":
        call_id = _target(state, done.id)
        if call_id is not None:
            _note_patch(state, call_id, done.status == "completed", done.changes)
    elif done.type == "McpToolCall":
        call_id = _target(state, done.id)
        if call_id is not None and done.status in ("completed", "failed"):
            known = state.known(call_id)
            known.success = done.status == "completed"
            state.learned(call_id, known)


def _text(done: Item) -> str:
    if type(done.text) is str:
        return done.text
    if type(done.content) is str:
        return done.content
    parts = done.content if type(done.content) is list else []
    return "\n".join(part.text for part in parts if type(part) is Part and type(part.text) is str)


def _target(state: State, identity: Any) -> str | None:
    """The call that an item speaks of: the one of its id, else the script that is being carried out."""
    if type(identity) is str and state.has(identity):
        return identity
    return state.script()


def _command(state: State, done: Item) -> None:
    if type(done.id) is not str:
        return
    if state.has(done.id):
        note_run(state, done.id, done.exit_code, done.duration)
        return
    script = state.script()
    if script is not None and not state.scripts[script]:
        state.scripts[script] = True
        note_run(state, script, done.exit_code, done.duration)
        return
    _inner(state, done, done.id, script)


def _inner(state: State, done: Item, identity: str, script: str | None) -> None:
    """A command that a script ran among others: the model saw only what the script made of it."""
    command = tools.shell_line(done.command)
    if command is None:
        return
    turn = state.calls[script].turn if script is not None else None
    call = ToolCall(call_id=identity, name="exec_command", kind="execute", args=None, command=command)
    code = done.exit_code if type(done.exit_code) is int else None
    output = Output(done.aggregated_output if type(done.aggregated_output) is str else "", exit_code=code)
    known = Known(kind="execute", exit_code=code, duration=outputs.seconds(done.duration))
    state.base = identity
    state.emit("tool_call", "assistant", "agent", command, call=call, seen=False, turn=turn)
    result = judged(identity, output, known)
    state.emit("tool_result", "tool", "tool", output.text, result=result, seen=False, turn=turn)


_KNOWN: dict[str, Callable[[State, Facts, Payload], None]] = {
    "user_message": _user,
    "agent_message": _agent,
    "agent_reasoning": _thought,
    "agent_reasoning_raw_content": _thought,
    "token_count": _tokens,
    "task_started": _begun,
    "turn_started": _begun,
    "turn_aborted": _aborted,
    "thread_rolled_back": _rolled_back,
    "thread_name_updated": _renamed,
    "error": _failed,
    "stream_error": _failed,
    "warning": _warned,
    "exec_command_end": _ran,
    "patch_apply_end": _patched,
    "mcp_tool_call_end": _served,
    "collab_agent_spawn_end": _spawned,
    "item_completed": _completed,
}
