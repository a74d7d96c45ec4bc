"""The shapes that nearly every record has, so strict that the decoder refuses every other one."""

from __future__ import annotations

from typing import Annotated, Any, final

import msgspec

from workbench.sessions.claude.records import Other, Tokens, Twin
from workbench.sessions.model import MOST_TOKENS

Count = Annotated[int, msgspec.Meta(ge=0, lt=MOST_TOKENS)]


@final
class Said(msgspec.Struct, gc=False, tag_field="type", tag="text"):
    """A text of the model."""

    text: str


@final
class Thought(msgspec.Struct, gc=False, tag_field="type", tag="thinking"):
    """What the model thought."""

    thinking: str


@final
class Called(msgspec.Struct, gc=False, tag_field="type", tag="tool_use"):
    """A call."""

    id: str
    name: str
    input: Any = None


@final
class Returned(msgspec.Struct, gc=False, tag_field="type", tag="tool_result"):
    """What came back."""

    tool_use_id: str
    content: Any = None
    is_error: Any = None


class Counts(Tokens, gc=False):
    """The usage of one request."""

    input_tokens: Count = 0
    cache_read_input_tokens: Count = 0
    cache_creation_input_tokens: Count = 0
    output_tokens: Count = 0


class AnswerBody(msgspec.Struct, gc=False):
    """One block of an answer."""

    id: str
    model: str
    content: tuple[Said | Called | Thought]
    usage: Counts | None = None


class ResultBody(msgspec.Struct, gc=False):
    """One result."""

    content: tuple[Returned]


class _Plain(msgspec.Struct, gc=False, rename="camel", tag_field="type"):
    uuid: str
    parent_uuid: str
    timestamp: str
    session_id: Any = None
    cwd: Any = None
    version: Any = None
    git_branch: Any = None
    is_sidechain: bool = False
    forked_from: None = None
    is_compact_summary: None = None


@final
class Answer(_Plain, gc=False, rename="camel", tag="assistant", kw_only=True):
    """An ``assistant`` record of one block."""

    message: AnswerBody
    is_api_error_message: bool | None = None


@final
class Result(_Plain, gc=False, rename="camel", tag="user", kw_only=True):
    """A ``user`` record that is one result."""

    message: ResultBody
    tool_use_result: Twin | Other = None
    tool_denial_kind: Any = None


decode = msgspec.json.Decoder(Answer | Result).decode
"""The record of one line of bytes; raises ``msgspec.DecodeError`` for any that is not of these shapes."""
