"""``user`` records: prompts, tool results, and what the harness writes in the user's place."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from workbench.domain.message import Origin, PlanItem, ToolCall
from workbench.sessions.claude import prompts, tools
from workbench.sessions.claude.records import Block, Body, Line, Other, Twin, raw_text
from workbench.sessions.claude.results import outcome, picture, result_text
from workbench.sessions.claude.state import State
from workbench.sessions.claude.tree import PROMPT, RESULT, ROOT


def user(state: State, line: Line, raw: bytes, start: int, end: int) -> bool:
    """Take a ``user`` record; returns whether it made messages."""
    body = line.message
    content = body.content if type(body) is Body else body
    if type(content) is list:
        for block in content:
            if type(block) is Block and block.type == "tool_result":
                return _results(state, line, content, block, raw, start, end)
    state.enter(line, PROMPT, start, end)
    origin = prompts.speaker(line, state.hints.main is False)
    if line.is_compact_summary is True:
        text = content if type(content) is str else "\n".join(_texts(content))
        state.emit("compaction", "user", "harness", text)
    elif line.plan_content and type(content) is str:
        # A person accepted this plan, but the words are the agent's.
        state.emit("message", "user", "harness", content)
    elif type(content) is str:
        prose(state, origin, content)
    elif type(content) is list:
        for number, piece in enumerate(content):
            _block(state, origin, piece, raw, number)
    elif content is not None:
        state.emit("unknown", "user", origin, raw_text(raw, "message"), hidden=True)
    return state.leave()


def _texts(content: object) -> list[str]:
    blocks = content if isinstance(content, list) else []
    return [block.text for block in blocks if type(block) is Block and type(block.text) is str]


def prose(state: State, origin: Origin, text: str) -> None:
    """Text in the user's place: a person's words, and apart from them what the harness wrapped around."""
    if origin == "harness":
        state.emit("notice", "user", origin, text, hidden=True)
    elif prompts.is_summary(text):
        state.emit("compaction", "user", "harness", text)
    elif prompts.is_notice(text):
        state.emit("notice", "user", "harness", text, hidden=prompts.is_caveat(text))
    elif origin == "agent":
        state.emit("message", "user", origin, text)
    else:
        words, wrapped, quiet = prompts.split(text)
        if words or not wrapped:
            state.emit("message", "user", origin, words)
        if wrapped:
            state.emit("notice", "user", "harness", wrapped, hidden=quiet)


def _block(state: State, origin: Origin, block: Block | object, raw: bytes, number: int) -> None:
    if type(block) is Block:
        if block.type == "text" and type(block.text) is str:
            prose(state, origin, block.text)
            return
        if block.type in ("image", "document"):
            state.emit("attachment", "user", origin, picture(block.type, block.source))
            return
    state.emit("unknown", "user", origin, raw_text(raw, "message", "content", number), hidden=True)


def _results(
    state: State, line: Line, content: Sequence[object], first: Block, raw: bytes, start: int, end: int
) -> bool:
    call_id = first.tool_use_id
    state.enter(line, RESULT, start, end, state.calls.get(call_id, ROOT) if type(call_id) is str else ROOT)
    if len(content) == 1:
        _result(state, first, line.tool_use_result, line.tool_denial_kind)
        return state.leave()
    # The structured twin says of which result it speaks only where there is no other.
    count = sum(type(block) is Block and block.type == "tool_result" for block in content)
    twin = line.tool_use_result if count == 1 else None
    for number, block in enumerate(content):
        if type(block) is Block and block.type == "tool_result":
            _result(state, block, twin, line.tool_denial_kind)
        else:
            # Beside results nothing is a person's: the harness adds what it has to say about them.
            _block(state, "harness", block, raw, number)
    return state.leave()


def _result(state: State, block: Block, twin: Twin | Other, denial: object) -> None:
    text = block.content if type(block.content) is str else result_text(block.content)
    message = state.call_of(block.tool_use_id)
    if message is None or message.call is None:
        state.emit("tool_result", "tool", "tool", text, result=outcome(block, text, twin, None, denial))
        if type(block.tool_use_id) is str:
            judge = partial(outcome, block, text, twin, denial=denial)
            state.early.setdefault(block.tool_use_id, (len(state.messages) - 1, judge))
        return
    call = message.call
    result = outcome(block, text, twin, call.kind, denial)
    if type(twin) is Twin and type(twin.background_task_id) is str and call.command:
        state.background[twin.background_task_id] = call.command
    if result.child is not None:
        state.children[result.child] = None
    plan: tuple[PlanItem, ...] = ()
    if call.kind == "todo" and result.status == "ok":
        plan = _plan(state, call, twin) or ()
    state.emit("tool_result", "tool", "tool", text, False, message.turn, None, None, result, plan)
    state.open.pop(call.call_id, None)


def _plan(state: State, call: ToolCall, twin: object) -> tuple[PlanItem, ...] | None:
    """The agent's task list after a call that changed it."""
    plan = None
    if call.name == "TaskCreate":
        plan = tools.created(state.plan, call.args, twin.task if isinstance(twin, Twin) else None)
    elif call.name == "TaskUpdate":
        plan = tools.updated(state.plan, call.args)
    if plan is not None and not state.side:
        state.plan = plan
    return plan
