"""How a package is to be compiled: target, strategy, budget, and what a person pinned or left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from workbench.compiler.material import Material, Target
from workbench.compiler.words import COMMAND
from workbench.domain.package import Identity, PackageMode, Strategy
from workbench.errors import UsageError

ASSUMED_WINDOW = 128_000
"""Tokens taken for the window of a target whose window nobody knows; the package says so."""
RESERVES = ("system", "tools", "output", "protocol")


@dataclass(frozen=True)
class Request:
    """The options of one compile; all that is not a record."""

    to: Target
    now: datetime
    mode: PackageMode = "handoff"
    strategy: Strategy = "evidence"
    budget: int | None = None
    default_tokens: int = 6000
    share: float = 0.05
    margin: float = 0.10
    reserves: Mapping[str, int] = field(default_factory=dict)
    language: str | None = None
    """``en`` or ``zh``; None takes the objective's."""
    pins: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()
    command: str = COMMAND
    """What the receiver types for ``workbench``, ready for a shell."""
    question: str | None = None
    diff: str | None = None

    @property
    def date(self) -> str:
        """The day of ``now``, which is all that a package depends on."""
        return self.now.astimezone(UTC).date().isoformat()


@dataclass(frozen=True)
class Budget:
    """The room a prompt has, and how it came about."""

    given: int | None
    tokens: int
    """What the prompt may count, margin and limit taken off."""
    window: int
    assumed: bool
    limit: int
    """The window less the reserves."""
    margin: float
    reserves: Mapping[str, int]

    def as_json(self) -> dict[str, object]:
        """The ``budget`` object of ``compile --json``."""
        return {
            "given": self.given,
            "tokens": self.tokens,
            "window": self.window,
            "assumed": self.assumed,
            "limit": self.limit,
            "margin": self.margin,
            "reserves": dict(self.reserves),
        }


def budget_of(request: Request, given: int | None) -> Budget:
    """The room for a prompt under ``request``, with ``given`` tokens asked for or the default.

    Raises:
        UsageError: The budget asked for is not a positive number.
    """
    if given is not None and given < 1:
        raise UsageError(f"a budget of {given} tokens", "give a positive number of tokens")
    window = request.to.window or ASSUMED_WINDOW
    reserves = {name: int(request.reserves.get(name, 0)) for name in RESERVES}
    reserves |= {name: int(request.reserves[name]) for name in sorted(request.reserves)}
    limit = max(0, window - sum(reserves.values()))
    # Whole numbers: the share of a window in floating point may differ in its last digit between machines.
    aim = given if given is not None else min(request.default_tokens, window * round(request.share * 10_000) // 10_000)
    margin = request.margin if request.to.estimated else 0
    tokens = min(aim, limit) * (10_000 - round(margin * 10_000)) // 10_000
    return Budget(given, tokens, window, request.to.window is None, limit, margin, reserves)


def identity_of(material: Material, request: Request) -> Identity:
    """What the package is of, and for whom."""
    running = material.running
    return Identity(
        task=material.task.id,
        plan_revision=material.task.plan_revision,
        from_attempt=running.id if running else None,
        from_executor=running.executor if running else None,
        to=request.to.agent,
        mode=request.mode,
        strategy=request.strategy,
        date=request.date,
    )
