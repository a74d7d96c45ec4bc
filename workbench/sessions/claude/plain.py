"""The few shapes that nearly every record has, taken the short way, as many in a row as there are.

What becomes of a plain record here is what :mod:`answers`, :mod:`turns` and :class:`State` make of it, without the
questions that only other records answer with yes. Most of those are asked by the decoder, which refuses a record that
is not of these very types. A record out of the ordinary is left to the long way, untouched.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from workbench.domain.message import (
    LONG,
    SPAN_BITS,
    Common,
    Message,
    MessageKind,
    ToolCall,
    ToolResult,
    Usage,
    common,
    ended,
)
from workbench.sessions.bulk import numbers
from workbench.sessions.claude import tools
from workbench.sessions.claude.facts import Facts
from workbench.sessions.claude.records import Twin
from workbench.sessions.claude.results import outcome, result_text
from workbench.sessions.claude.shapes import Called, Counts, Returned, Said, decode
from workbench.sessions.claude.state import Group, State
from workbench.sessions.claude.tree import ANSWER, IN_CONTEXT, LEADING, RESULT, ROOT
from workbench.sessions.lines import BAD, Bytes, Stretch
from workbench.sessions.texts import NO_TIME

_FINISHED = Twin(interrupted=False)
"""The twin of a command that ran to its end, as nearly every command does: nothing else is said of it."""
_WELL = ended("ok", 0, "field")
_NO_COUNTS = Counts()
_ANSWER, _RESULT = ANSWER | LEADING, RESULT | LEADING


def plain(state: State, facts: Facts) -> Stretch:
    """What takes the next lines of a session as long as they are plain.

    Plain is a record of the main conversation, in the same place as the one before and hanging on it, that holds one
    text, thought, call or result.
    """
    tree, messages, groups, calls, unanswered = state.tree, state.messages, state.groups, state.calls, state.open
    uncounted, apart = state.uncounted, tools.APART
    limit, early_limit, late_limit = state.limit, state.output_limit, state.late_limit

    def stretch(lines: Sequence[Bytes], at: int, start: int) -> tuple[int, int, int]:
        # This runs for every record: what all of them need is local, and goes back to where it came from at the end.
        place_of, updated, tip = facts.place, facts.updated, tree.tip
        if state.hints.main is not True or updated is None or place_of is None or tip is None:
            return at, start, 0
        folder, git_branch, version, session_id = place_of
        session, cwd, branch, model, early = state.session, state.cwd, state.branch, state.model, state.early
        spoke, thought, silent, calling = _voices(session, model, cwd, branch)
        brought = common(session, "tool_result", "tool", "tool", True, False, (), None, cwd, branch, "user")
        names, flags, known = tree.names, tree.flags, tree.index.setdefault
        above, first_node, first_place = names[tree.leaf], len(flags), len(messages)
        many, most = len(lines) - at, late_limit
        if first_place < LONG:
            many, most = min(many, LONG - first_place), early_limit
        number, bits = numbers(max(first_node, first_place) + many + 1), SPAN_BITS
        sizes = len(number)
        nodes, places = number[first_node : first_node + many], number[first_place : first_place + many]
        roles: list[int] = []
        owners: list[int] = []
        group = Group("", 0)
        group_key: str | None = None
        counts: Counts | None = None
        asked: Message
        made: ToolCall
        voice: Common
        waiting: str | None = None  # the call of the last record: it waits for the next to be its result
        request: Group | None = None
        turn = state.turn
        state.side = False
        moment = updated
        for here, seq, raw in zip(nodes, places, islice(lines, at, None), strict=False):
            try:
                line = decode(raw)
            except BAD:
                break
            if (
                line.parent_uuid != tip
                or line.session_id != session_id
                or line.cwd != folder
                or line.git_branch != git_branch
                or line.version != version
                or line.is_sidechain
            ):
                break
            uuid, body, length = line.uuid, line.message, len(raw)
            span = start << bits | length
            if raw[-1] != 125:
                span -= length - len(bytes(raw).rstrip())
            if line.timestamp != moment:
                moment = line.timestamp
                if updated < moment < NO_TIME:
                    updated = moment
            block = body.content[0]
            if type(block) is not Returned:
                key = body.id
                if line.type != "assistant" or key is None or line.is_api_error_message:
                    break
                if body.model != model:
                    if body.model is None or body.model[:1] == "<":
                        break
                    model = body.model
                    spoke, thought, silent, calling = _voices(session, model, cwd, branch)
                call = None
                if type(block) is Called:
                    call_id = block.id
                    if early or not call_id or block.name in apart or calls.setdefault(call_id, here) is not here:
                        break
                    if known(uuid, here) is not here:
                        del calls[call_id]
                        break
                    call, text = tools.called(call_id, block.name, block.input)
                    voice = calling
                    if waiting is not None:
                        unanswered[waiting] = None
                    waiting = call_id
                elif known(uuid, here) is not here:
                    break
                else:
                    if waiting is not None:
                        unanswered[waiting] = None
                        waiting = None
                    if type(block) is Said:
                        text, voice = block.text, spoke
                    else:
                        text = block.thinking
                        voice = thought if text else silent
                tokens, usage = body.usage, None
                if key != group_key:
                    group_key, counts = key, tokens
                    fresh = Group(key, number[turn + 1], here, 1)
                    group = groups.setdefault(key, fresh)
                    if group is fresh:
                        turn += 1
                        link = ROOT
                        if tokens is not None and tokens != _NO_COUNTS:
                            uncached, cached = tokens.input_tokens, tokens.cache_read_input_tokens
                            usage = Usage(
                                key,
                                number[uncached] if uncached < sizes else uncached,
                                number[cached] if cached < sizes else cached,
                                tokens.cache_creation_input_tokens,
                                tokens.output_tokens,
                            )
                            group.usage, group.carrier = usage, seq
                            uncounted.append(usage)
                            request = group
                else:
                    fresh = None
                if group is not fresh:
                    link = group.node
                    if link < first_node and not flags[link] & IN_CONTEXT:
                        tree.soil(link)
                    group.node = here
                    group.ordinal += 1
                    if tokens is not None and (fresh is not None or tokens != counts):
                        counts, usage = tokens, group.usage
                        state.use(group, tokens)
                        if usage is None and group.usage is not None:
                            request = group
                        usage = None
                    if group.carrier < 0 and group.usage is not None:
                        usage = group.usage
                        group.carrier = seq
                roles.append(_ANSWER)
                owners.append(link)
                size = len(text)
                message = Message(
                    uuid,
                    voice,
                    seq,
                    text if size <= limit else text[:limit],
                    number[size] if size < sizes else size,
                    moment,
                    above,
                    group.turn,
                    call,
                    None,
                    usage,
                    span,
                )
                if call is not None:
                    made, asked = call, message
            else:
                if line.type != "user":
                    break
                call_id = block.tool_use_id
                if call_id == waiting:
                    link = here - 1
                else:
                    if waiting is not None:
                        unanswered[waiting] = None
                        waiting = None
                    link = calls.get(call_id, ROOT)
                    if link < 0:
                        break
                    asked = messages[tree.first(link) if link < first_node else link - first_node + first_place]
                    if asked.call is None or asked.call.call_id != call_id:
                        break
                    made = asked.call
                sort = made.kind
                if sort == "todo":
                    break
                text, twin = block.content, line.tool_use_result
                if type(text) is not str:
                    text = result_text(text)
                if (
                    sort == "execute"
                    and type(twin) is Twin
                    and twin.interrupted is False
                    and twin == _FINISHED
                    and not block.is_error
                    and text[:1] != "<"
                ):
                    found = ToolResult(made.call_id, _WELL)
                elif type(twin) is Twin and twin.background_task_id is not None:
                    break
                else:
                    block.tool_use_id = made.call_id  # the same string, held once
                    found = outcome(block, text, twin, sort, line.tool_denial_kind)
                if known(uuid, here) is not here:
                    break
                if found.child is not None:
                    state.children[found.child] = None
                if waiting is None:
                    unanswered.pop(call_id, None)
                else:
                    waiting = None
                roles.append(_RESULT)
                owners.append(link)
                size = len(text)
                message = Message(
                    uuid,
                    brought,
                    seq,
                    text if size <= most else text[:most],
                    number[size] if size < sizes else size,
                    moment,
                    above,
                    asked.turn,
                    None,
                    found,
                    None,
                    span,
                )
            messages.append(message)
            names.append(uuid)
            tip = above = uuid
            start += length + 1
        if waiting is not None:
            unanswered[waiting] = None
        taken = len(roles)
        if taken:
            tree.chained_on(roles, owners, first_place)
            state.model, state.turn, facts.updated = model, turn, updated
            if request is not None:
                state.last_request, state.limited = request, None
        return at + taken, start, taken

    return stretch


def _voices(session: str, model: str, cwd: str | None, branch: str | None) -> tuple[Common, Common, Common, Common]:
    """What the texts, thoughts, empty thoughts and calls of a model have in common."""

    def voice(kind: MessageKind, hidden: bool = False) -> Common:
        return common(session, kind, "assistant", "agent", True, hidden, (), model, cwd, branch, "assistant")

    return voice("message"), voice("thinking"), voice("thinking", True), voice("tool_call")
