"""Sessions that their agent has left for another one: they are idle, however lately something was said in them.

After ``/clear`` the same process goes on in a new session, and writes nothing more into the one before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.domain.times import instant

if TYPE_CHECKING:
    from workbench.sessions.processes import Runner

PROCESS = "the same process was in"
PANE = "in the same pane as"
CLEARED = "begun by /clear after"
"""How a session follows on another that its agent is not in any more, as is noted where it joins an attempt."""


@dataclass(frozen=True)
class Stay:
    """When an agent was in a session, as its records tell."""

    name: str
    """``AGENT:ID``."""
    began: str | None
    last: str | None
    """When it was last written."""
    joined: str = ""
    """Why it joined its attempt."""


def left(stays: Iterable[Stay], runners: Mapping[str, Runner]) -> frozenset[str]:
    """The sessions that were left, by ``AGENT:ID``; one that a program is known to be in may be among them.

    Args:
        stays: Sessions.
        runners: The program that was last seen in each of them.
    """
    rows = list(stays)
    later = [row for row in rows if row.joined or row.name in runners]
    return frozenset(old.name for old in rows if any(_follows(new, old, runners) for new in later))


def _follows(new: Stay, old: Stay, runners: Mapping[str, Runner]) -> bool:
    """Whether the agent of one session is in another one since."""
    if new.name == old.name or not new.began or not old.last or instant(new.began) < instant(old.last):
        return False
    before, now = runners.get(old.name), runners.get(new.name)
    same = before is not None and now is not None and before.process == now.process
    return same or new.joined in (f"{how} {old.name}" for how in (PROCESS, PANE, CLEARED))
