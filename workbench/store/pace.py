"""How fast an agent may write: a bound on what a runaway one can do to a workspace in a minute.

Counted over all processes in ``.local/pace.json``, by the clock of this machine. The count of the
present minute and what is left of the one before it make a sliding minute; losing the file loses a count.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress

import msgspec

from workbench.errors import RefusedError, StorageError
from workbench.store.form import canonical
from workbench.store.primitives import Tree

RECORDS_PER_MINUTE = 3000
BYTES_PER_MINUTE = 32 << 20
_FILE = ".local/pace.json"
_SPAN = 60.0


class Limits(msgspec.Struct, frozen=True):
    """``[limits]``: what the agents of a workspace may write in a minute, each for itself."""

    records_per_minute: int = RECORDS_PER_MINUTE
    bytes_per_minute: int = BYTES_PER_MINUTE


class _Count(msgspec.Struct):
    since: float = 0.0
    records: int = 0
    bytes: int = 0
    before: tuple[int, int] = (0, 0)
    """Records and bytes of the minute before this one."""


class Pace:
    """Counts what agents write; the caller holds the lock.

    Args:
        tree: The workspace folder.
        limits: What is allowed.
        clock: Seconds; the machine's clock.
    """

    def __init__(self, tree: Tree, limits: Limits, clock: Callable[[], float] = time.time) -> None:
        self._tree = tree
        self._limits = limits
        self._clock = clock

    def check(self, actor: str, records: int, size: int) -> None:
        """Refuse what would go over a limit; people are not counted.

        Raises:
            RefusedError: It would; the message names the limit, ``details['retry_after']`` the seconds to wait.
        """
        if not actor.startswith("agent:"):
            return
        count, share = self._count(actor), self._share(actor)
        for name, limit, now, before, more in (
            ("records_per_minute", self._limits.records_per_minute, count.records, count.before[0], records),
            ("bytes_per_minute", self._limits.bytes_per_minute, count.bytes, count.before[1], size),
        ):
            if now + before * share + more <= limit:
                continue
            wait = math.ceil(_SPAN * max(share, 1 / _SPAN))
            raise RefusedError(
                f"{actor} writes too much: more than {limit} {name.replace('_per_minute', '')} within a minute",
                f"wait {wait} s; a person sets the limit with {name} under [limits] in config.toml",
                limit=name,
                value=limit,
                retry_after=wait,
            )

    def note(self, actor: str, records: int, size: int) -> None:
        """Count what was written."""
        if not actor.startswith("agent:"):
            return
        with suppress(StorageError, RefusedError):  # the change is recorded already; only the count would be lost
            counts = self._counts()
            count = self._count(actor)
            count.records += records
            count.bytes += size
            counts[actor] = count
            self._tree.replace(_FILE, canonical(msgspec.to_builtins(counts)), durable=False)

    def _counts(self) -> dict[str, _Count]:
        try:
            data = self._tree.read(_FILE)
            return msgspec.json.decode(data, type=dict[str, _Count]) if data else {}
        except msgspec.DecodeError:
            return {}

    def _count(self, actor: str) -> _Count:
        """The count of the minute that runs now."""
        count, now = self._counts().get(actor, _Count()), self._clock()
        gone = now - count.since
        if 0 <= gone < _SPAN:
            return count
        begins = math.floor(now / _SPAN) * _SPAN
        before = (count.records, count.bytes) if _SPAN <= gone < 2 * _SPAN else (0, 0)
        return _Count(since=begins, before=before)

    def _share(self, actor: str) -> float:
        """How much of the minute before still counts."""
        return max(0.0, 1 - (self._clock() - self._count(actor).since) / _SPAN)
