"""The shapes that most records have, so strict that the decoder refuses every other one."""

from __future__ import annotations

from typing import Annotated, Any, Literal, final

import msgspec

from workbench.sessions.model import MOST_TOKENS

Count = Annotated[int, msgspec.Meta(ge=0, lt=MOST_TOKENS)]
Sum = Annotated[int, msgspec.Meta(ge=0, lt=1 << 62)]
MOST_PERCENT = 1000
"""Of an allowance: more says nothing."""


class _Shape(msgspec.Struct, gc=False, tag_field="type"):
    id: Any = None


@final
class Words(msgspec.Struct, gc=False):
    """A part of a content that is text."""

    text: str


# What went to the model and came from it.


@final
class Called(_Shape, gc=False, tag="function_call", kw_only=True):
    """A call with its arguments as JSON in a text."""

    call_id: str
    name: str
    arguments: str
    namespace: Any = None


@final
class Custom(_Shape, gc=False, tag="custom_tool_call", kw_only=True):
    """A call with its arguments as plain text."""

    call_id: str
    name: str
    input: str
    namespace: Any = None
    arguments: None = None


@final
class Returned(_Shape, gc=False, tag="function_call_output", kw_only=True):
    """What came back."""

    call_id: str
    output: Any = None
    success: Any = None


@final
class CustomReturned(_Shape, gc=False, tag="custom_tool_call_output", kw_only=True):
    """The same, of a call with plain text."""

    call_id: str
    output: Any = None
    success: Any = None


@final
class Spoken(_Shape, gc=False, tag="message", kw_only=True):
    """What the model said, or stood in the person's place."""

    role: Literal["assistant", "user"]
    content: list[Words]
    internal_chat_message_metadata_passthrough: Any = None


@final
class Thought(_Shape, gc=False, tag="reasoning"):
    """What the model thought, as far as it can be read."""

    summary: list[Words] = []
    content: None = None


# What the program noted beside it.


@final
class Said(_Shape, gc=False, tag="agent_message", kw_only=True):
    """What the model said, once more."""

    message: str


@final
class Prompted(_Shape, gc=False, tag="user_message", kw_only=True):
    """What a person typed, once more."""

    message: str


@final
class Done(_Shape, gc=False, tag="task_complete"):
    """A turn ended; what is said of it stands in other records."""


@final
class Considered(_Shape, gc=False, tag="agent_reasoning", kw_only=True):
    """What the model thought, once more."""

    text: str


class Duration(msgspec.Struct, gc=False):
    """A time that something took."""

    secs: int
    nanos: int


@final
class Ended(_Shape, gc=False, tag="exec_command_end", kw_only=True):
    """A command ended; what it printed is skipped."""

    call_id: str
    exit_code: int
    duration: Duration


class Counts(msgspec.Struct, gc=False):
    """The tokens of one request."""

    input_tokens: Count = 0
    cached_input_tokens: Count = 0
    cache_write_input_tokens: Count = 0
    output_tokens: Count = 0


class Sums(msgspec.Struct, gc=False):
    """The tokens of the session so far."""

    input_tokens: Sum = 0
    cached_input_tokens: Sum = 0
    output_tokens: Sum = 0
    total_tokens: Sum = 0


class Info(msgspec.Struct, gc=False):
    """What a count says of tokens."""

    last_token_usage: Counts
    total_token_usage: Sums
    model_context_window: Annotated[int, msgspec.Meta(gt=0, lt=MOST_TOKENS)] | None = None


class Allowance(msgspec.Struct, gc=False):
    """How much of one allowance is used."""

    used_percent: Annotated[float, msgspec.Meta(ge=0, le=MOST_PERCENT)]
    window_minutes: Any = None
    resets_at: Any = None
    resets_in_seconds: Any = None


class Allowances(msgspec.Struct, gc=False):
    """How much of the account's allowances is used."""

    primary: Allowance | None = None
    secondary: Allowance | None = None
    rate_limit_reached_type: Any = None


@final
class Counted(_Shape, gc=False, tag="token_count"):
    """The tokens of a request, and the allowances after it."""

    info: Info | None = None
    rate_limits: Allowances | None = None


@final
class Ran(_Shape, gc=False, tag="CommandExecution", kw_only=True):
    """A command that ended; what it printed is skipped."""

    exit_code: int
    duration: Duration


@final
class Told(_Shape, gc=False, tag="AgentMessage", kw_only=True):
    """What the model said."""

    content: list[Words]
    text: None = None


@final
class Asked(_Shape, gc=False, tag="UserMessage", kw_only=True):
    """What a person typed."""

    content: list[Words]
    text: None = None


@final
class Completed(_Shape, gc=False, tag="item_completed", kw_only=True):
    """One thing that was done."""

    item: Ran | Told | Asked


@final
class Used(msgspec.Struct, gc=False):
    """The tokens of a request by themselves."""

    usage: Counts
    thread_token_usage: Sums
    id: Any = None


# The lines.


@final
class ItemLine(msgspec.Struct, gc=False, tag_field="type", tag="response_item"):
    """A line of the first family."""

    timestamp: str
    payload: Called | Custom | Returned | CustomReturned | Spoken | Thought


@final
class EventLine(msgspec.Struct, gc=False, tag_field="type", tag="event_msg"):
    """A line of the second one."""

    timestamp: str
    payload: Said | Prompted | Considered | Done | Ended | Counted | Completed


@final
class UsedLine(msgspec.Struct, gc=False, tag_field="type", tag="token_usage_record"):
    """A line of tokens."""

    timestamp: str
    payload: Used


decode = msgspec.json.Decoder(ItemLine | EventLine | UsedLine).decode
"""The record of one line of bytes; raises ``msgspec.DecodeError`` for any that is not of these shapes."""
