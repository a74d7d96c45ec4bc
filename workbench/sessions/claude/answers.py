"""``assistant`` records: what the model said, thought and called, and what the program says in its place."""

from __future__ import annotations

from workbench.domain.message import Origin, Usage
from workbench.sessions.claude import tools
from workbench.sessions.claude.records import Block, Body, Line, Tokens, raw_text
from workbench.sessions.claude.results import outcome, picture, result_text
from workbench.sessions.claude.state import Group, State
from workbench.sessions.claude.tree import ANSWER

_SYNTHETIC = "<synthetic>"
_STOCK = ("", "No response requested.", "(no content)")
_LIMITS = ("You've hit your", "You\u2019ve hit your", "Claude AI usage limit reached", "Claude usage limit reached")


def answer(state: State, line: Line, raw: bytes, start: int, end: int) -> bool:
    """Take an ``assistant`` record; returns whether it made messages."""
    body = line.message
    if type(body) is not Body:
        return _opaque(state, line, raw, start, end)
    if line.is_api_error_message is True or (body.model == _SYNTHETIC and _is_stock(line, _text(body))):
        return _synthetic(state, line, _text(body), start, end)
    group = state.group(line, body)
    state.enter(line, ANSWER, start, end, group.node)
    group.node = state.node
    if type(body.usage) is Tokens:
        state.use(group, body.usage)
    if state.base is None and type(body.id) is str:
        # Without an id of its own a line is named by its answer and its place in it.
        state.base = body.id
        state.suffix = f":{group.ordinal}" if group.ordinal else ""
        _content(state, group, body, raw)
        made = state.leave()
        state.suffix = ""
    else:
        _content(state, group, body, raw)
        made = state.leave()
    group.ordinal += state.block
    return made


def _content(state: State, group: Group, body: Body, raw: bytes) -> None:
    content = body.content
    model = state.named(body.model) if type(body.model) is str and body.model != _SYNTHETIC else None
    usage = group.usage if group.carrier < 0 else None
    before = len(state.messages)
    voice: Origin = "subagent" if state.side or state.hints.main is False else "agent"
    if type(content) is list:
        for number, block in enumerate(content):
            if type(block) is not Block:
                _odd(state, voice, raw, number)
            elif block.type == "text" and type(block.text) is str:
                state.emit("message", "assistant", voice, block.text, False, group.turn, model, usage=usage)
            elif block.type == "tool_use":
                _call(state, voice, group.turn, model, block, usage)
            elif block.type == "thinking" or block.type == "redacted_thinking":
                text = block.thinking if type(block.thinking) is str else ""
                state.emit("thinking", "assistant", voice, text, not text, group.turn, model, usage=usage)
            else:
                _rare(state, voice, group.turn, model, block, raw, number)
            usage = None
    elif type(content) is str:
        state.emit("message", "assistant", voice, content, False, group.turn, model, usage=usage)
    elif content is not None:
        state.emit("unknown", "assistant", voice, raw_text(raw, "message", "content"), hidden=True)
    if group.carrier < 0 and group.usage is not None and len(state.messages) > before:
        group.carrier = before
        if state.messages[before].usage is None:
            state.replace_at(before, usage=group.usage)


def _odd(state: State, voice: Origin, raw: bytes, number: int, turn: int | None = None) -> None:
    """A block that nothing here knows."""
    state.emit("unknown", "assistant", voice, raw_text(raw, "message", "content", number), True, turn)


def _rare(state: State, voice: Origin, turn: int, model: str | None, block: Block, raw: bytes, number: int) -> None:
    kind = block.type
    if kind in ("server_tool_use", "mcp_tool_use"):
        _call(state, voice, turn, model, block, None)
    elif type(kind) is str and kind.endswith("_tool_result"):
        _server_result(state, turn, block)
    elif kind == "fallback":
        state.emit("mode_change", "assistant", "harness", raw_text(raw, "message", "content", number), turn=turn)
    elif kind in ("image", "document"):
        state.emit("attachment", "assistant", voice, picture(kind, block.source), turn=turn)
    else:
        _odd(state, voice, raw, number, turn)


def _call(state: State, voice: Origin, turn: int, model: str | None, block: Block, usage: Usage | None) -> None:
    name = block.name if type(block.name) is str else "?"
    args = block.input
    kind = tools.tool_kind(name)
    data = tools.written(args)
    text = data.decode()
    command = tools.command_of(kind, args)
    if command is None and state.background:
        # What comes back is how that command went, and how it ended.
        command = state.background.get(tools.task_of(name, args) or "")
        kind = kind if command is None else "execute"
    call = tools.made(block.id if type(block.id) is str else "", name, kind, args, data, text, command)
    plan = tools.todos(args) if name == "TodoWrite" else None
    if plan is not None and not state.side:
        state.plan = plan
    state.emit("tool_call", "assistant", voice, text, False, turn, model, call, None, plan or (), usage)
    if call.call_id:
        state.called(call, turn)


def _server_result(state: State, turn: int, block: Block) -> None:
    """The result of a tool that the service ran itself, within the answer."""
    text = result_text(block.content)
    message = state.call_of(block.tool_use_id)
    call = message.call if message is not None else None
    result = outcome(block, text, None, call.kind if call is not None else None, None)
    if call is not None:
        state.open.pop(call.call_id, None)
    state.emit("tool_result", "tool", "tool", text, turn=turn, result=result)


def _text(body: Body) -> str:
    if type(body.content) is str:
        return body.content
    blocks = body.content if type(body.content) is list else []
    return "\n".join(block.text for block in blocks if type(block) is Block and type(block.text) is str)


def _is_stock(line: Line, text: str) -> bool:
    """Whether a synthetic text is the program's own; else it is the piece of an answer that was broken off."""
    return bool(line.error) or text.strip() in _STOCK or text.startswith(_LIMITS)


def _synthetic(state: State, line: Line, text: str, start: int, end: int) -> bool:
    """Text that the program wrote in the model's place: an error, a limit, or that nothing was asked."""
    state.enter(line, ANSWER, start, end)
    if line.error == "rate_limit" or text.startswith(_LIMITS):
        state.emit("limit", "assistant", "harness", text)
        if not state.side:
            state.limited = (text, state.at)
    elif line.is_api_error_message is True or line.error:
        state.emit("error", "assistant", "harness", text)
    else:
        state.emit("notice", "assistant", "harness", text, hidden=True)
    return state.leave()


def _opaque(state: State, line: Line, raw: bytes, start: int, end: int) -> bool:
    """A record whose message is nothing, or of a shape that nothing here knows."""
    state.enter(line, ANSWER, start, end)
    if line.message is not None:
        state.emit("unknown", "assistant", "agent", raw_text(raw, "message"), hidden=True)
    return state.leave()
