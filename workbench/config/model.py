"""What can be configured, with its defaults."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeVar

import msgspec

from workbench.domain.note import Guideline, Role

K = TypeVar("K")
V = TypeVar("V")


def frozen_map(values: Mapping[K, V]) -> Mapping[K, V]:
    """A read-only copy."""
    return MappingProxyType(dict(values))


class AgentConfig(msgspec.Struct, frozen=True):
    """``[agents.NAME]``: an agent program of the person's own, or changes to a known one."""

    command: tuple[str, ...] | None = None
    """From the user's file only; see :func:`workbench.agents.programs` for placeholders."""
    window: int | None = None
    """Context window in tokens."""
    tokenizer: str | None = None
    mcp: bool | None = None
    """Whether the agent is told to use the workbench's MCP tools."""
    sessions: str | None = None
    """Folder of the agent's session files; from the user's file only."""


class BudgetConfig(msgspec.Struct, frozen=True):
    """``[budget]``: how large a package may be."""

    tokens: int = 6000
    share: float = 0.05
    """Of the target's window."""
    margin: float = 0.10
    """Kept where the target's tokens can only be estimated."""
    reserves: Mapping[str, int] = msgspec.field(default_factory=lambda: frozen_map({}))
    """Tokens of the window set aside: ``system``, ``tools``, ``output``, ``protocol``."""


class WatchConfig(msgspec.Struct, frozen=True):
    """``[watch]``: how changes are noticed."""

    ignore: tuple[str, ...] = ()
    """Globs of paths that wake nobody."""
    poll: bool | None = None
    """True always polls, False never does; None decides by the file system."""
    step: int = 8
    """Milliseconds between two looks at the event queue."""


class ModelConfig(msgspec.Struct, frozen=True):
    """``[model]``: an endpoint that the person set; from the user's file only."""

    base_url: str | None = None
    model: str | None = None
    key_env: str | None = None
    """Name of the environment variable that holds the key."""
    command: tuple[str, ...] | None = None
    timeout: float = 60.0


REVIEW_AFTER: Mapping[str, int | None] = frozen_map(
    {"place": 30, "version": 30, "number": 30, "decision": 90, "constraint": None}
)
"""Days after which a fact of a kind is past review; None is never."""


class Config(msgspec.Struct, frozen=True):
    """All settings after precedence, and what was wrong with the files."""

    user_name: str | None = None
    theme: str = ""
    """Name of a theme; empty is the app's default."""
    keymap: Mapping[str, str] = msgspec.field(default_factory=lambda: frozen_map({}))
    """Binding id to keys."""
    mouse: bool = True
    bell: bool = False
    agents: Mapping[str, AgentConfig] = msgspec.field(default_factory=lambda: frozen_map({}))
    budget: BudgetConfig = BudgetConfig()
    review_after: Mapping[str, int | None] = msgspec.field(default_factory=lambda: REVIEW_AFTER)
    allow_verified_over_reported: bool = False
    watch: WatchConfig = WatchConfig()
    model: ModelConfig = ModelConfig()
    roles: Mapping[str, Role] = msgspec.field(default_factory=lambda: frozen_map({}))
    guidelines: tuple[Guideline, ...] = ()
    extraction_language: str | None = None
    extraction_markers: tuple[str, ...] = ()
    secrets_extra: tuple[str, ...] = ()
    """Patterns that are masked besides the built-in ones."""
    secrets_hosts: tuple[str, ...] = ()
    records_per_minute: int | None = None
    bytes_per_minute: int | None = None
    warnings: tuple[str, ...] = ()
    """One line each: file, line, what is wrong, and the nearest known key."""
