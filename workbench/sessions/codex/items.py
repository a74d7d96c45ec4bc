"""``response_item`` records: what went to the model and came from it."""

from __future__ import annotations

from sys import intern
from typing import Any

from workbench.domain.message import AS_ARGUED, Origin, ToolCall, WrittenCall
from workbench.sessions.codex import outputs, patches, prompts, tools
from workbench.sessions.codex.calls import Known, judged
from workbench.sessions.codex.records import Part, Payload
from workbench.sessions.codex.state import State
from workbench.sessions.texts import ARGS_LIMIT, shortened, text_of

_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "tool_search_call"})
_SELF_CONTAINED = {"web_search_call": "web_search", "image_generation_call": "image_generation"}
_RESULTS = frozenset({"function_call_output", "custom_tool_call_output", "local_shell_call_output"})
_SUMMARIES = frozenset({"compaction", "compaction_summary", "context_compaction"})
_SILENT = frozenset({"ghost_snapshot", "additional_tools"})


def item(state: State, payload: Payload) -> bool | None:
    """Take an item; returns whether it made messages, None where its kind is unknown."""
    kind = payload.type
    if type(kind) is not str and kind is not None:
        return None
    before = len(state.messages)
    if kind in _CALLS:
        _call(state, payload)
    elif kind in _RESULTS:
        _result(state, payload)
    elif kind == "message" or (kind is None and type(payload.role) is str):
        _message(state, payload)
    elif kind == "reasoning":
        _reasoning(state, payload)
    elif kind == "tool_search_output":
        found = payload.tools if isinstance(payload.tools, list) else []
        text = "\n".join(str(tool.get("name", tool.get("type", "?"))) for tool in found if isinstance(tool, dict))
        _answer(state, payload.call_id, outputs.Output(text, success=payload.status == "completed" or None))
    elif kind in _SELF_CONTAINED:
        _done_call(state, payload, _SELF_CONTAINED[kind])
    elif kind in _SUMMARIES:
        state.emit("compaction", "user", "harness", "", hidden=True)
    elif kind == "agent_message":
        _from_agent(state, payload)
    elif kind not in _SILENT:
        return None
    return len(state.messages) > before


def _message(state: State, payload: Payload) -> None:
    role = payload.role
    content = payload.content
    parts: list[Any] = [Part(text=content)] if type(content) is str else content if type(content) is list else []
    if role == "assistant":
        _spoken(state, parts)
        return
    for number, part in enumerate(parts):
        if type(part) is not Part:
            state.emit("unknown", "user", "harness", "" if part is None else text_of(part), hidden=True)
        elif type(part.text) is str:
            if role == "user":
                given(state, part.text, prompts.stated(payload.internal_chat_message_metadata_passthrough, number))
            else:
                state.emit("notice", "system", "harness", part.text, hidden=True)
        elif part.image_url is not None:
            state.emit("attachment", "user", "human", outputs.image(part.image_url))


def given(state: State, text: str, writer: str | None) -> None:
    """Text in the user's place, by whose hand the record says that it is."""
    if writer not in (None, "user") or (writer is None and prompts.is_harness(text)):
        shell = prompts.is_shell(text)
        state.emit("notice", "user", "human" if shell else "harness", text, hidden=not shell)
        return
    state.answering = False
    words, around = prompts.parted(text)
    if words.strip() or not around:
        _asked(state, words)
    if around:
        state.emit("notice", "user", "harness", around, hidden=True)


def _asked(state: State, text: str) -> None:
    """What a person typed, as it went to the model."""
    if state.recall("prompt event", text, within=True) is not None:
        return
    origin: Origin = "agent" if state.hints.child else "human"
    place = state.emit("message", "user", origin, text)
    if place is not None:
        state.prompts.append(place)
    state.remember("prompt item", text, state.repeated if place is None else place)


def prompted(state: State, text: str) -> None:
    """What a person typed, as the program noted it beside the item that went to the model."""
    text, around = prompts.parted(text)
    if around and not text.strip():
        return
    place = state.recall("prompt item", text, within=True)
    if place is not None:
        if state.messages[place].text.strip() != text.strip() and len(text) <= state.limit:
            # The item wraps the words in what an editor adds; the words are hers.
            state.replace_at(place, text=text, size=len(text), span=state.here())
        return
    state.answering = False
    place = state.emit("message", "user", "agent" if state.hints.child else "human", text)
    if place is not None:
        state.prompts.append(place)
    state.remember("prompt event", text, state.repeated if place is None else place)


def _spoken(state: State, parts: list[Any]) -> None:
    text = "\n".join(part.text for part in parts if type(part) is Part and type(part.text) is str)
    said(state, text, "answer item", "answer event")


def said(state: State, text: str, voice: str, other: str) -> None:
    """What the model said, unless the other family of records brought it already."""
    if state.recall(other, text) is not None:
        return
    place = state.emit("message", "assistant", "subagent" if state.hints.child else "agent", text)
    state.remember(voice, text, state.repeated if place is None else place)


def thought(state: State, text: str, voice: str, other: str) -> None:
    """What the model thought, unless the other family of records brought it already."""
    if text and state.recall(other, text) is not None:
        return
    place = state.emit("thinking", "assistant", "subagent" if state.hints.child else "agent", text, hidden=not text)
    if text:
        state.remember(voice, text, state.repeated if place is None else place)


def _reasoning(state: State, payload: Payload) -> None:
    rows: list[Any] = payload.summary if isinstance(payload.summary, list) else []
    texts = [row["text"] for row in rows if isinstance(row, dict) and isinstance(row.get("text"), str) and row["text"]]
    if isinstance(payload.content, list):
        texts += [row.text for row in payload.content if type(row) is Part and type(row.text) is str and row.text]
    for text in texts or [""]:
        thought(state, text, "thought item", "thought event")


def _from_agent(state: State, payload: Payload) -> None:
    """What another agent of the same team sent."""
    content = payload.content
    texts = [content] if type(content) is str else []
    if type(content) is list:
        texts = [part.text for part in content if type(part) is Part and type(part.text) is str]
    state.emit("message", "user", "subagent", "\n".join(texts))


def _call(state: State, payload: Payload) -> None:
    call_id = payload.call_id if type(payload.call_id) is str else payload.id if type(payload.id) is str else ""
    name = payload.name if type(payload.name) is str else _unnamed(payload)
    given = next(
        (v for v in (payload.arguments, payload.input, payload.parameters, payload.action) if v is not None), ""
    )
    call(state, call_id, name, payload.namespace, given)


def call(state: State, call_id: str, name: str, namespace: Any, given: Any) -> None:
    """A call that the model made.

    Args:
        state: What was read so far.
        call_id: Empty where the record does not say it.
        name: The tool.
        namespace: What the tool is part of.
        given: The arguments as recorded.
    """
    read = tools.understand(name, namespace, given)
    command = read.command
    if command is None and read.process is not None:
        command = state.processes.get(read.process)
    made = _made(call_id, name, read, given, command)
    state.base = call_id or state.base
    voice: Origin = "subagent" if state.hints.child else "agent"
    folder = state.cwd
    if read.cwd is not None and read.cwd != folder:
        state.cwd = read.cwd
    place = state.emit("tool_call", "assistant", voice, read.text, call=made, plan=read.plan or ())
    state.cwd = folder
    if place is None:
        return
    if read.plan is not None:
        state.plan = read.plan
    if call_id:
        known = state.called(made, place)
        if name == "exec" and known.answer < 0:
            state.scripts[call_id] = not (read.single and read.kind == "execute")


def _made(call_id: str, name: str, read: tools.Call, given: Any, command: str | None) -> ToolCall:
    """A call; its arguments are not held a second time where they stand in a text of JSON."""
    args = read.args
    if len(read.text) > ARGS_LIMIT:
        return ToolCall(call_id, intern(name), read.kind, shortened(args), command, read.paths)
    if read.text is not given or isinstance(args, str):
        return ToolCall(call_id, intern(name), read.kind, args, command, read.paths)
    told = command and isinstance(args, dict) and args.get("cmd", args.get("command")) == command
    return WrittenCall(call_id, intern(name), read.kind, given, AS_ARGUED if told else command, read.paths)


def _unnamed(payload: Payload) -> str:
    return {"local_shell_call": "local_shell", "tool_search_call": "tool_search"}.get(str(payload.type), "?")


def _done_call(state: State, payload: Payload, name: str) -> None:
    """A call that the service carried out itself, within the answer."""
    given = payload.action if payload.action is not None else payload.query
    read = tools.understand(name, None, given if given is not None else {})
    made = ToolCall(call_id=payload.id if type(payload.id) is str else "", name=name, kind=read.kind, args=given)
    state.emit("tool_call", "assistant", "subagent" if state.hints.child else "agent", read.text, call=made)


def _result(state: State, payload: Payload) -> None:
    result(state, payload.call_id, payload.output, payload.success)


def result(state: State, call_id: Any, output: Any, success: Any) -> None:
    """What a call brought back, in any of the shapes in which it is recorded."""
    known = state.calls.get(call_id) if type(call_id) is str else None
    _answer(state, call_id, outputs.understand(output, known.kind if known is not None else None, success))


def _answer(state: State, call_id: Any, output: outputs.Output) -> None:
    if type(call_id) is not str or not call_id:
        state.emit("tool_result", "tool", "tool", output.text, result=judged("", output, Known()))
        return
    state.base = f"{call_id}:result"
    known = state.known(call_id)
    if known.patching and not known.changes and known.success is None:
        _assume(state, known, output)
    state.answered(call_id, output, known)


def _assume(state: State, known: Known, output: outputs.Output) -> None:
    """A patch whose changes no record reports: where its output says that it was applied, they are those it names."""
    call = state.messages[known.place].call
    if call is None:
        return
    applied = output.exit_code == 0 or output.success is True or output.text.startswith("Success.")
    patch = patch_of(call.args) if call.kind == "edit" else call.command
    if applied and patch:
        known.changes = patches.changes_in(patch)
        known.success = True if call.kind == "edit" else None


def patch_of(args: Any) -> str | None:
    """The patch in a call's arguments."""
    if isinstance(args, str):
        return args
    for key in ("input", "patch") if isinstance(args, dict) else ():
        if isinstance(args.get(key), str):
            return str(args[key])
    return text_of(args) if args is not None else None
