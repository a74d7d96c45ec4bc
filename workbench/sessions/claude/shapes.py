"""The shapes that nearly every record has, so strict that the decoder refuses every other one."""

from __future__ import annotations

from typing import Annotated, Any, Literal, final

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


@final
class Body(msgspec.Struct, gc=False, kw_only=True):
    """One block of an answer, or one result."""

    model: str | None = None
    id: str | None = None
    content: tuple[Said | Called | Thought | Returned]
    usage: Counts | None = None


@final
class Plain(msgspec.Struct, gc=False, rename="camel", kw_only=True):
    """An ``assistant`` record of one block, or a ``user`` record that is one result.

    Both are of one type, although the decoder could tell them apart: a field is found faster in objects that are all
    alike.
    """

    parent_uuid: str
    is_sidechain: bool = False
    cwd: Any = None
    session_id: Any = None
    version: Any = None
    git_branch: Any = None
    type: Literal["assistant", "user"]
    message: Body
    uuid: str
    timestamp: str
    tool_use_result: Twin | Other = None
    is_api_error_message: bool | None = None
    tool_denial_kind: Any = None
    forked_from: None = None
    is_compact_summary: None = None


decode = msgspec.json.Decoder(Plain).decode
"""The record of one line of bytes; raises ``msgspec.DecodeError`` for any that is not of this shape."""
