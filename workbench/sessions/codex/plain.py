"""The shapes that most records have, taken the short way, as many in a row as there are.

The decoder builds nothing of a record but what is needed, and refuses one of any other shape, which is left to the
long way. What becomes of a plain record is made by the very functions that make it of any other; only for commands and
what they brought back, which are most of a session, it is made here, without the questions that other calls answer
with yes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from workbench.domain.message import (
    AS_ARGUED,
    LONG,
    SPAN_BITS,
    Common,
    ExitFrom,
    Message,
    Origin,
    ResultStatus,
    ToolResult,
    WrittenCall,
    common,
    ended,
)
from workbench.sessions.codex import items, outputs, prompts, tools
from workbench.sessions.codex.calls import Known
from workbench.sessions.codex.facts import Facts
from workbench.sessions.codex.outputs import Output
from workbench.sessions.codex.shapes import (
    Asked,
    Called,
    Completed,
    Considered,
    Counted,
    Custom,
    CustomReturned,
    Done,
    Ended,
    Prompted,
    Ran,
    Returned,
    Said,
    Spoken,
    Thought,
    Told,
    Used,
    decode,
)
from workbench.sessions.codex.state import State
from workbench.sessions.lines import BAD, Bytes, Stretch
from workbench.sessions.texts import ARGS_LIMIT, NO_TIME


def plain(state: State, facts: Facts) -> Stretch:
    """What takes the next lines of a session as long as they are plain."""
    messages, mark, calls = state.messages, state.ids.setdefault, state.calls
    scripts = state.scripts
    limit, early_limit, late_limit = state.limit, state.output_limit, state.late_limit

    def called(payload: Called) -> bool:
        return _call(payload.call_id, payload.name, payload.namespace, payload.arguments)

    def custom(payload: Custom) -> bool:
        return _call(payload.call_id, payload.name, payload.namespace, payload.input)

    def _call(call_id: str, name: str, namespace: Any, given: str) -> bool:
        if not call_id:
            return False
        items.call(state, call_id, name, namespace, given)
        return True

    def returned(payload: Returned | CustomReturned) -> bool:
        items.result(state, payload.call_id, payload.output, payload.success)
        return True

    def spoken(payload: Spoken) -> bool:
        if payload.role == "assistant":
            items.said(state, _text(payload.content), "answer item", "answer event")
        else:
            for number, part in enumerate(payload.content):
                items.given(
                    state, part.text, prompts.stated(payload.internal_chat_message_metadata_passthrough, number)
                )
        return True

    def thought(payload: Thought) -> bool:
        for text in [row.text for row in payload.summary if row.text] or [""]:
            items.thought(state, text, "thought item", "thought event")
        return True

    def said(payload: Said) -> bool:
        items.said(state, payload.message, "answer event", "answer item")
        return True

    def prompted(payload: Prompted) -> bool:
        if payload.message:
            items.prompted(state, payload.message)
        return True

    def done(_payload: Done) -> bool:
        return True

    def considered(payload: Considered) -> bool:
        if payload.text:
            items.thought(state, payload.text, "thought event", "thought item")
        return True

    def completed(payload: Completed) -> bool:
        item = payload.item
        if type(item) is Told:
            state.base = item.id if type(item.id) is str and item.id else None
            items.said(state, _text(item.content), "answer event", "answer item")
        elif type(item) is Asked and (text := _text(item.content)):
            items.prompted(state, text)
        return True

    take: dict[type, tuple[str, Callable[[Any], bool]]] = {
        Called: ("response_item.function_call", called),
        Custom: ("response_item.custom_tool_call", custom),
        Returned: ("response_item.function_call_output", returned),
        CustomReturned: ("response_item.custom_tool_call_output", returned),
        Spoken: ("response_item.message", spoken),
        Thought: ("response_item.reasoning", thought),
        Said: ("event_msg.agent_message", said),
        Prompted: ("event_msg.user_message", prompted),
        Done: ("event_msg.task_complete", done),
        Considered: ("event_msg.agent_reasoning", considered),
        Completed: ("event_msg.item_completed", completed),
    }

    def stretch(lines: Sequence[Bytes], at: int, start: int) -> tuple[int, int, int]:
        # This runs for every record: what all of them need is local, and goes back to where it came from at the end.
        updated, place = facts.updated, len(messages)
        if updated is None or not place:
            return at, start, 0
        session, context, cwd, branch, model = state.session, state.context, state.cwd, state.branch, state.model
        origin: Origin = "subagent" if state.hints.child else "agent"

        def voice(folder: str | None) -> Common:
            """What calls that run in a folder have in common."""
            named = "response_item.function_call"
            return common(session, "tool_call", "assistant", origin, True, False, (), model, folder, branch, named)

        named = "response_item.function_call_output"
        brought = common(session, "tool_result", "tool", "tool", True, False, (), None, cwd, branch, named)
        here = voice(cwd)
        above, bits, made = messages[-1].id, SPAN_BITS, 0
        for raw in islice(lines, at, None):
            try:
                line = decode(raw)
            except BAD:
                break
            payload, moment, length = line.payload, line.timestamp, len(raw)
            used = length if raw[-1] == 125 else len(bytes(raw).rstrip())
            shape = type(payload)
            known: Known | None
            if (
                shape is Returned
                and payload.success is None
                and type(text := payload.output) is str
                and (told := outputs.ended(text)) is not None
                and (known := calls.get(call_id := payload.call_id)) is not None
                and known.place >= 0
                and not known.patching
                and mark(name := f"{call_id}:result", place) == place
            ):
                wall, ending = told.groups()
                code, seconds = int(ending), float(wall)
                known.answer, known.output = place, Output("", code, False, None, seconds)
                read_from: ExitFrom = "text"
                if known.exit_code is not None:
                    code, read_from = known.exit_code, "field"
                if known.duration is not None:
                    seconds = known.duration
                if (asked := messages[known.place].call) is not None:
                    call_id = asked.call_id  # the same string, held once
                status: ResultStatus = "failed" if code else "ok"
                result = ToolResult(call_id, ended(status, code, read_from, False, known.changes, known.child), seconds)
                if scripts:
                    scripts.pop(call_id, None)
                state.answering = False
                size, most = len(text), early_limit if place < LONG else late_limit
                messages.append(
                    Message(
                        name,
                        brought,
                        place,
                        text if size <= most else text[:most],
                        size,
                        moment,
                        above,
                        known.turn,
                        None,
                        result,
                        None,
                        start << bits | used,
                    )
                )
                context.append(place)
                above = name
                place += 1
                made += 1
            elif (
                shape is Called
                and payload.name == "exec_command"
                and payload.namespace is None
                and (name := payload.call_id) not in calls
                and name
                and len(text := payload.arguments) <= ARGS_LIMIT
                and (run := tools.run_in(text)) is not None
                and mark(name, place) == place
            ):
                folder = run.folder()
                calling = here if folder is None or folder == cwd else voice(folder)
                if not state.answering:
                    state.answering = True
                    state.turn += 1
                    state.carrier = place
                turn = state.turn
                calls[name] = Known(place, "execute", turn)
                size = len(text)
                messages.append(
                    Message(
                        name,
                        calling,
                        place,
                        text if size <= limit else text[:limit],
                        size,
                        moment,
                        above,
                        turn,
                        WrittenCall(name, "exec_command", "execute", text, AS_ARGUED),
                        None,
                        None,
                        start << bits | used,
                    )
                )
                context.append(place)
                above = name
                place += 1
                made += 1
            elif shape is Ended:
                known = calls.get(payload.call_id)
                if known is None:
                    known = calls[payload.call_id] = Known()
                known.exit_code = payload.exit_code
                known.duration = payload.duration.secs + payload.duration.nanos / 1e9
                if known.answer >= 0:
                    state.learned(payload.call_id, known)
            elif shape is Completed and type(ran := payload.item) is Ran:
                known = calls.get(ran.id) if type(ran.id) is str else None
                if known is None or known.place < 0:
                    break
                known.exit_code = ran.exit_code
                known.duration = ran.duration.secs + ran.duration.nanos / 1e9
                if known.answer >= 0:
                    state.learned(ran.id, known)
            elif shape is Counted:
                limits, info = payload.rate_limits, payload.info
                if limits is not None and (limits.primary is not None or limits.secondary is not None):
                    facts.told = limits, moment
                if info is not None:
                    facts.window = info.model_context_window or facts.window
                    facts.took(info.last_token_usage, info.total_token_usage, state)
            elif shape is Used:
                facts.took(payload.usage, payload.thread_token_usage, state)
            else:
                raw_type, taken = take[shape]
                state.enter(moment, raw_type, payload.id, start, start + used)
                if not taken(payload):
                    break
                if len(messages) > place:
                    place = len(messages)
                    above = messages[-1].id
                    made += 1
            if updated < moment < NO_TIME:
                updated = moment
            start += length + 1
            at += 1
        facts.updated = updated
        return at, start, made

    return stretch


def _text(parts: Sequence[Any]) -> str:
    return parts[0].text if len(parts) == 1 else "\n".join(part.text for part in parts)
