"""The newest run of every command of a session, kept in order of time while the session grows."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from datetime import datetime

from workbench.domain.times import instant
from workbench.sessions.observed import Run

_Key = tuple[tuple[str, ...] | str, str | None, bool]


class LatestRuns:
    """Runs of one session, of each command and folder only the last."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._count = 0
        self._last: Run | None = None
        self._latest: dict[_Key, tuple[int, datetime, Run]] = {}
        """With the number of commands that were seen before the command first was."""
        self._by_argv: dict[tuple[str, ...], dict[_Key, None]] = {}
        self._by_time: list[tuple[datetime, int, _Key]] = []
        """Those that do more than look, oldest first, and at one moment those first that were first seen last."""

    def look(self, runs: tuple[Run, ...]) -> None:
        """Bring it up to date with all runs of the session."""
        if self._count > len(runs) or (self._count and runs[self._count - 1] is not self._last):
            self._begin()
        for run in runs[self._count :]:
            self._add(run)
            self._last = run
        self._count = len(runs)

    def _add(self, run: Run) -> None:
        key: _Key = (run.argv or run.command, run.cwd, run.looks)
        old = self._latest.get(key)
        number = old[0] if old is not None else len(self._latest)
        when = instant(run.message.at)
        if not run.looks:
            if old is not None:
                del self._by_time[bisect_left(self._by_time, (old[1], -number))]
            insort(self._by_time, (when, -number, key))
        self._latest[key] = number, when, run
        if run.argv:
            self._by_argv.setdefault(run.argv, {})[key] = None

    def chosen(self, most: int, argvs: Iterable[tuple[str, ...]]) -> list[Run]:
        """The newest ``most`` that do more than look, and every one of certain commands, in order of first sight."""
        keys = dict.fromkeys(key for _when, _number, key in self._by_time[-most:])
        for argv in argvs:
            keys |= self._by_argv.get(argv, {})
        return [run for _number, _when, run in sorted((self._latest[key] for key in keys), key=lambda row: row[0])]
