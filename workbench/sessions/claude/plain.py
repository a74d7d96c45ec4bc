"""The few shapes that nearly every record has, taken the short way.

What becomes of a plain record here is what :mod:`answers`, :mod:`turns` and :class:`State` make of it, without the
questions that only other records answer with yes. A record out of the ordinary is left to them, untouched.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import intern

import msgspec

from workbench.domain.message import Message, RawRef, ToolCall
from workbench.sessions.claude import prompts, tools
from workbench.sessions.claude.facts import Facts
from workbench.sessions.claude.records import Block, Body, Line, Tokens
from workbench.sessions.claude.results import outcome, result_text
from workbench.sessions.claude.state import Group, State
from workbench.sessions.claude.tree import ANSWER, PROMPT, RESULT, ROOT
from workbench.sessions.texts import ARGS_LIMIT, shortened

_sorted = msgspec.json.Encoder(order="sorted").encode
Take = Callable[[Line, int, int], bool]


def plain(state: State, facts: Facts) -> Take:
    """What takes the next record of a session where that is a plain one, and says whether it was.

    Plain is a ``user`` or ``assistant`` record of the main conversation that goes on where the last one ended and
    holds one text, thought, call or result. What all of them need is bound once: this runs for every record.
    """
    tree, messages, groups, calls, unanswered = state.tree, state.messages, state.groups, state.calls, state.open
    names, follow = tree.names, tree.follower()
    limit, output_limit, note = state.limit, state.output_limit, facts.note

    def take(line: Line, start: int, end: int) -> bool:
        kind = line.type
        if kind != "assistant" and kind != "user":
            return False
        note(line, state)
        uuid, parent, body = line.uuid, line.parent_uuid, line.message
        if (
            type(uuid) is not str
            or type(parent) is not str
            or parent != tree.tip
            or type(body) is not Body
            or state.hints.main is not True
            or line.is_sidechain is True
            or line.forked_from is not None
        ):
            return False
        content = body.content
        if type(content) is list:
            if len(content) != 1:
                return False
            block = content[0]
            if type(block) is not Block:
                return False
            if kind == "assistant":
                return answer(line, body, block, uuid, start, end)
            return result(line, block, uuid, start, end)
        return type(content) is str and kind == "user" and prompt(line, content, uuid, start, end)

    def answer(line: Line, body: Body, block: Block, uuid: str, start: int, end: int) -> bool:
        key, model, kind = body.id, body.model, block.type
        if type(key) is not str or type(model) is not str or model[:1] == "<" or line.is_api_error_message is True:
            return False
        call = None
        if kind == "text":
            text, kind = block.text, "message"
        elif kind == "tool_use":
            call_id, name, args = block.id, block.name, block.input
            if type(call_id) is not str or type(name) is not str or name == "TodoWrite":
                return False
            if not call_id or call_id in calls or state.early or name in tools.WAITING:
                return False
            text, kind = _sorted(args).decode(), "tool_call"
            sort = tools.tool_kind(name)
            kept = args if len(text) <= ARGS_LIMIT else shortened(args)
            call = ToolCall(call_id, intern(name), sort, kept, tools.command_of(sort, args), tools.paths_of(args))
        elif kind == "thinking":
            text = block.thinking
        else:
            return False
        if type(text) is not str:
            return False
        place = len(messages)
        above = names[tree.leaf]
        group = groups.get(key)
        node = follow(uuid, ANSWER, place, group.node if group is not None else ROOT)
        if node == ROOT:
            return False
        if group is None:
            state.turn += 1
            group = groups[key] = Group(key, state.turn)
        group.node = node
        if type(body.usage) is Tokens:
            state.side = False
            state.use(group, body.usage)
        usage = None
        if group.carrier < 0:
            usage = group.usage
            if usage is not None:
                group.carrier = place
        group.ordinal += 1
        if model != state.model:
            state.model = model
        if call is not None:
            calls[call.call_id] = node
            unanswered[call.call_id] = None
        size, at = len(text), line.timestamp
        messages.append(
            Message(
                uuid,
                state.session,
                place,
                kind,
                "assistant",
                "agent",
                text if size <= limit else text[:limit],
                size,
                at if type(at) is str else None,
                above,
                group.turn,
                True,
                not text and kind == "thinking",
                call,
                None,
                (),
                usage,
                state.model,
                state.cwd,
                state.branch,
                "assistant",
                RawRef(start, end),
            )
        )
        return True

    def result(line: Line, block: Block, uuid: str, start: int, end: int) -> bool:
        call_id = block.tool_use_id
        if block.type != "tool_result" or line.is_compact_summary is True:
            return False
        link = calls.get(call_id) if type(call_id) is str else None
        if link is None:
            return False
        message = messages[tree.first(link)]
        call = message.call
        if call is None or call.call_id != call_id or call.kind == "todo":
            return False
        text = block.content if type(block.content) is str else result_text(block.content)
        block.tool_use_id = call.call_id  # the same string, held once
        found = outcome(block, text, line.tool_use_result, call.kind, line.tool_denial_kind)
        if found.status == "running":
            return False
        place = len(messages)
        above = names[tree.leaf]
        if follow(uuid, RESULT, place, link) == ROOT:
            return False
        if found.child is not None:
            state.children[found.child] = None
        size, at = len(text), line.timestamp
        messages.append(
            Message(
                uuid,
                state.session,
                place,
                "tool_result",
                "tool",
                "tool",
                text if size <= output_limit else text[:output_limit],
                size,
                at if type(at) is str else None,
                above,
                message.turn,
                True,
                False,
                None,
                found,
                (),
                None,
                None,
                state.cwd,
                state.branch,
                "user",
                RawRef(start, end),
            )
        )
        unanswered.pop(call_id, None)
        return True

    def prompt(line: Line, text: str, uuid: str, start: int, end: int) -> bool:
        if (
            line.is_meta is True
            or line.origin is not None
            or line.plan_content
            or line.is_compact_summary is True
            or line.prompt_source == "system"
            or "<" in text
            or prompts.is_notice(text)
        ):
            return False
        place = len(messages)
        above = names[tree.leaf]
        if follow(uuid, PROMPT, place, ROOT) == ROOT:
            return False
        size, at = len(text), line.timestamp
        messages.append(
            Message(
                uuid,
                state.session,
                place,
                "message",
                "user",
                "human",
                text if size <= limit else text[:limit],
                size,
                at if type(at) is str else None,
                above,
                state.turn,
                True,
                False,
                None,
                None,
                (),
                None,
                None,
                state.cwd,
                state.branch,
                "user",
                RawRef(start, end),
            )
        )
        return True

    return take
