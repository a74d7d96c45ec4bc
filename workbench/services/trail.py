"""What is worked out of one session, brought up to date from the first message that is new or was replaced."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

from workbench.domain.contract import CommandSpec
from workbench.domain.evidence import Evidence
from workbench.domain.task import Attempt
from workbench.services.fullness import compactions, lost
from workbench.services.history_rows import SessionRows
from workbench.services.latest_runs import LatestRuns
from workbench.sessions.observed import Observed, Observer, Run
from workbench.sessions.picture import Messages


@dataclass(frozen=True)
class Told:
    """What a run shows, written as evidence, and what that was made of."""

    run: Run
    attempt: Attempt
    spec: CommandSpec | None
    line: Evidence


class Trail:
    """Belongs to one session that is followed."""

    def __init__(self, tokens: array[int] | None = None) -> None:
        self.messages = Messages()
        """As last read. Whoever holds an older picture works things out anew."""
        self.rows = SessionRows(tokens)
        self.runs = LatestRuns()
        self.told: dict[str, Told] = {}
        """By message: the newest runs, as they were last written."""
        self._observer = Observer()
        self._observed_to = 0
        self._compactions: list[int] = []
        self._compactions_to = 0
        self._lost: int | None = None

    def moved(self, messages: Messages, since: int) -> None:
        """The session has these messages now; those before ``since`` are the ones that it had."""
        since = min(since, len(self.messages))
        self.messages = messages
        self.rows.moved(since)
        if since < self._observed_to:
            self._observer.back(since)
            self._observed_to = since
        if self._compactions and since <= self._compactions[-1]:
            self._lost = None
        while self._compactions and self._compactions[-1] >= since:
            self._compactions.pop()
        self._compactions_to = min(self._compactions_to, since)

    @property
    def observed(self) -> Observed:
        """What the messages show to have happened."""
        self._observer.look(self.messages[self._observed_to :])
        self._observed_to = len(self.messages)
        return self._observer.found

    @property
    def lost(self) -> int:
        """Messages that the last compaction took out of the model's context."""
        fresh = compactions(self.messages, self._compactions_to)
        self._compactions_to = len(self.messages)
        if fresh or self._lost is None:
            self._compactions += fresh
            self._lost = lost(self.messages, self._compactions)
        return self._lost
