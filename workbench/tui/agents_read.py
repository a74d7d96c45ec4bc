"""Whose sessions this version reads: of the others it can be said that they were started, not that they arrived."""

from __future__ import annotations

from functools import cache


@cache
def agents_read() -> frozenset[str]:
    """Names of the agents whose session files have a reader."""
    # The readers are loaded with the first view; a start has to be quicker than that.
    from workbench.sessions.formats import FORMATS

    return frozenset(form.agent for form in FORMATS)
