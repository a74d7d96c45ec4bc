"""The few shapes that nearly every record has, taken the short way, as many in a row as there are.

What becomes of a plain record here is what :mod:`answers`, :mod:`turns` and :class:`State` make of it, without the
questions that only other records answer with yes. Most of those are asked by the decoder, which refuses a record that
is not of these very types. A record out of the ordinary is left to the long way, untouched.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from workbench.domain.message import LONG, SPAN_BITS, Message, MessageKind, ToolCall, ToolResult, Usage
from workbench.sessions.bulk import numbers
from workbench.sessions.claude import tools
from workbench.sessions.claude.facts import Facts
from workbench.sessions.claude.records import Twin
from workbench.sessions.claude.results import outcome, result_text
from workbench.sessions.claude.shapes import Answer, Called, Counts, Said, decode
from workbench.sessions.claude.state import Group, State
from workbench.sessions.claude.tree import ANSWER, IN_CONTEXT, LEADING, RESULT, ROOT
from workbench.sessions.lines import BAD, Bytes, Stretch
from workbench.sessions.texts import NO_TIME

_FINISHED = Twin(interrupted=False)
"""The twin of a command that ran to its end, as nearly every command does: nothing else is said of it."""
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
        names, flags, links, known = tree.names, tree.flags, tree.links, tree.index.setdefault
        above, node, place = names[tree.leaf], len(flags), len(messages)
        number = numbers(max(node, place) + len(lines) + 1)
        first_node, first_place = node, place
        group = Group("", 0)
        group_key: str | None = None
        counts: Counts | None = None
        asked: Message
        kind: MessageKind
        call: ToolCall | None = None  # of the last record: it waits for the next to be its result
        request: Group | None = None
        turn = state.turn
        state.side = False
        moment = updated
        for raw in islice(lines, at, None):
            try:
                line = decode(raw)
            except BAD:
                break
            end = start + len(raw)
            uuid, here, seq = line.uuid, number[node], number[place]
            if (
                line.parent_uuid != tip
                or line.session_id != session_id
                or line.cwd != folder
                or line.git_branch != git_branch
                or line.version != version
                or line.is_sidechain
            ):
                break
            stop = end if raw[-1] == 125 else start + len(bytes(raw).rstrip())
            if line.timestamp != moment:
                moment = line.timestamp
            if type(line) is Answer:
                body = line.message
                block = body.content[0]
                if line.is_api_error_message or body.model[:1] == "<":
                    break
                made = None
                if type(block) is Called:
                    call_id, name, args = block.id, block.name, block.input
                    if early or not call_id or call_id in calls or name in apart:
                        break
                    data = tools.written(args)
                    text, kind, sort = data.decode(), "tool_call", tools.tool_kind(name)
                    made = tools.made(call_id, name, sort, args, data, text, tools.command_of(sort, args))
                elif type(block) is Said:
                    text, kind = block.text, "message"
                else:
                    text, kind = block.thinking, "thinking"
                if known(uuid, here) != here:
                    break
                if call is not None:
                    unanswered[call.call_id] = None
                call = made
                if body.model != model:
                    model = body.model
                tokens, usage = body.usage, None
                if body.id != group_key:
                    group_key, counts = body.id, tokens
                    fresh = Group(group_key, number[turn + 1], here, 1)
                    group = groups.setdefault(group_key, fresh)
                    if group is fresh:
                        turn += 1
                        link = ROOT
                        if tokens is not None and tokens != _NO_COUNTS:
                            usage = Usage(
                                group_key,
                                tokens.input_tokens,
                                tokens.cache_read_input_tokens,
                                tokens.cache_creation_input_tokens,
                                tokens.output_tokens,
                            )
                            group.usage, group.carrier = usage, seq
                            uncounted.append(group)
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
                if call is not None:
                    calls[call.call_id] = here
                flags.append(_ANSWER)
                links.append(link)
                size = len(text)
                message = Message(
                    uuid,
                    session,
                    seq,
                    kind,
                    "assistant",
                    "agent",
                    text if size <= limit else text[:limit],
                    size,
                    moment,
                    above,
                    group.turn,
                    True,
                    not text and kind == "thinking",
                    call,
                    None,
                    (),
                    usage,
                    model,
                    cwd,
                    branch,
                    "assistant",
                    start << SPAN_BITS | (stop - start),
                )
                if call is not None:
                    asked = message
            else:
                back = line.message.content[0]
                call_id = back.tool_use_id
                if call is None or call.call_id != call_id:
                    if call is not None:
                        unanswered[call.call_id] = None
                        call = None
                    link = calls.get(call_id, ROOT)
                    if link < 0:
                        break
                    asked = messages[tree.first(link) if link < first_node else link - first_node + first_place]
                    made = asked.call
                    if made is None or made.call_id != call_id:
                        break
                else:
                    made, link = call, node - 1
                if made.kind == "todo":
                    break
                text, twin = back.content, line.tool_use_result
                if type(text) is not str:
                    text = result_text(text)
                if (
                    type(twin) is Twin
                    and twin.interrupted is False
                    and twin == _FINISHED
                    and made.kind == "execute"
                    and not back.is_error
                    and text[:1] != "<"
                ):
                    found = ToolResult(made.call_id, "ok", 0, "field")
                elif type(twin) is Twin and twin.background_task_id is not None:
                    break
                else:
                    back.tool_use_id = made.call_id  # the same string, held once
                    found = outcome(back, text, twin, made.kind, line.tool_denial_kind)
                if known(uuid, here) != here:
                    break
                if found.child is not None:
                    state.children[found.child] = None
                flags.append(_RESULT)
                links.append(link)
                if call is None:
                    unanswered.pop(call_id, None)
                call = None
                size, most = len(text), early_limit if place < LONG else late_limit
                message = Message(
                    uuid,
                    session,
                    seq,
                    "tool_result",
                    "tool",
                    "tool",
                    text if size <= most else text[:most],
                    size,
                    moment,
                    above,
                    asked.turn,
                    True,
                    False,
                    None,
                    found,
                    (),
                    None,
                    None,
                    cwd,
                    branch,
                    "user",
                    start << SPAN_BITS | (stop - start),
                )
            messages.append(message)
            names.append(uuid)
            tip = above = uuid
            node += 1
            place += 1
            if updated < moment < NO_TIME:
                updated = moment
            start = end + 1
            at += 1
        if call is not None:
            unanswered[call.call_id] = None
        if node > first_node:
            tree.chained_on(node - first_node, first_place)
            state.model, state.turn, facts.updated = model, turn, updated
            if request is not None:
                state.last_request, state.limited = request, None
        return at, start, node - first_node

    return stretch
