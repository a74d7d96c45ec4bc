"""Hearing what a session holds, as the app does."""

from __future__ import annotations

from workbench.services.context import Context
from workbench.services.following import Follower


def hear(ctx: Context, follower: Follower | None = None) -> Follower:
    """Take in everything that is new."""
    follower = follower or Follower(ctx)
    while follower.step():
        pass
    return follower
