"""The newest run of every command of a session, kept while the session grows; of all others nothing is kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from workbench.domain.message import Message
from workbench.sessions.observed import Run

_Key = tuple[str, str | None]


class LatestRuns:
    """Runs of one session, of each command and folder only the last, in the order of the session."""

    def __init__(self) -> None:
        self._begin(0)

    def _begin(self, most: int) -> None:
        self._most = most
        self._seen = 0
        self._last: Message | None = None
        self._recent: dict[_Key, Run] = {}
        """Those that do more than look, the last run of a command last; a few more than are ever asked for."""
        self._named: dict[tuple[str, ...], dict[str | None, Run]] = {}
        """Of commands that were asked for by name, by folder."""

    def chosen(self, runs: Sequence[Run], most: int, argvs: Iterable[tuple[str, ...]]) -> list[Run]:
        """The newest ``most`` that do more than look, and every one of certain commands.

        Args:
            runs: All of the session.
            most: How many.
            argvs: The certain commands.
        """
        if (
            most > self._most
            or self._seen > len(runs)
            or (self._seen and runs[self._seen - 1].message is not self._last)
        ):
            self._begin(max(most, self._most))
        argvs = [argv for argv in argvs if argv]
        for argv in argvs:
            if argv not in self._named:
                self._named[argv] = {}
                for run in runs[: self._seen]:
                    self._name(run, (argv,))
        for run in runs[self._seen :]:
            self._add(run)
        self._seen, self._last = len(runs), runs[-1].message if runs else None
        found = {id(run): run for run in list(self._recent.values())[-most:]} if most else {}
        found |= {id(run): run for argv in argvs for run in self._named[argv].values()}
        return sorted(found.values(), key=lambda run: run.message.seq)

    def _add(self, run: Run) -> None:
        self._name(run, self._named)
        if run.looks:
            return
        key = run.command, run.folder
        self._recent.pop(key, None)
        self._recent[key] = run
        if len(self._recent) > 2 * self._most:
            for old in list(islice(self._recent, len(self._recent) - self._most)):
                del self._recent[old]

    def _name(self, run: Run, argvs: Iterable[tuple[str, ...]]) -> None:
        """Keep a run of a command that is asked for by name; a look at its text spares most of the reading."""
        for argv in argvs:
            if argv[0] in run.command and run.argv == argv:
                self._named[argv][run.cwd] = run
