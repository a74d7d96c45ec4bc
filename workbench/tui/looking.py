"""The app's eyes: workers that read the workspace whenever something may have changed, and one that listens."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from textual import on, work
from textual.reactive import reactive

from workbench.errors import RefusedError, WorkbenchError
from workbench.tui.background import Pieces
from workbench.tui.messages import ReadFailed, ViewRead, WatchState
from workbench.tui.notices import NoticingApp
from workbench.watching import NoEventsError, arms, hints, until_other

if TYPE_CHECKING:
    from workbench.services.view import View
    from workbench.tui.desk import Desk, Pulse

PULSE = 2.0
"""Seconds between two slow looks, which catch what file events miss."""
COOL_DOWN = 1.0
"""Seconds of rest after a reading at most; it rests as long as the reading took."""
HEARING_SHOWN = 2.0
"""Seconds between two readings of records while much is heard: each step of it writes some."""
REARM = 2.0
"""Seconds until watching is tried again where there was nothing to watch."""
RETRY = 60.0
"""Seconds until it is tried again where there are no events."""
INDEX_FIRST, INDEX_EVERY = 5.0, 300.0
"""Seconds until the search index is brought up to date, and until it is again."""
LISTEN_EVERY = 10.0
"""Seconds until sessions are looked at that no view rests on; those of the view are heard as they grow."""


class LookingApp(NoticingApp):
    """Keeps the view what the disk says: one worker reads, and hints only wake it."""

    view: reactive[View | None] = reactive(None, always_update=True, repaint=False)

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self._dirty = asyncio.Event()
        self._records_too = True
        """Whether records may have changed."""
        self._files_too = False
        """Whether sessions may have."""
        self._pressing = True
        """Whether somebody waits for what changed in the records."""
        self._records_from = 0.0
        """Until when records that nobody waits for are left for a later reading."""
        self._due: asyncio.TimerHandle | None = None
        """That reading."""
        self._hearing = False
        """Whether there is more to hear."""
        self._shown = asyncio.Event()
        self._quiet = threading.Event()
        """Set while nothing is on its way to the screen: work beside it waits for that."""
        self._quiet.set()
        self._revision = ""
        self._pulse: Pulse | None = None
        self._hinted = False
        self._said: set[str] = set()

    def look(self) -> None:
        """Start the workers."""
        self._dirty.set()
        self._resume()
        self._read()
        self._watch()
        self._look()
        self._listen()
        self._keep_index()

    def nudge(self, *, records: bool = True, files: bool = False, pressing: bool = True) -> None:
        """Something may have changed: read again soon.

        Args:
            records: Records may have.
            files: Sessions may have, or files that something rests on.
            pressing: Somebody waits for it; else records may wait for others that are being written.
        """
        self._records_too = self._records_too or records
        self._files_too = self._files_too or files
        self._pressing = self._pressing or (records and pressing)
        self._dirty.set()

    def rescan(self) -> None:
        """Read again soon, and show it even where it seems the same."""
        self._revision = ""
        self.nudge()

    def first_seen(self, view: View) -> None:
        """The first view is there."""

    def watching(self, well: bool) -> None:
        """File events arrive, or do not."""

    @work(group="read", exit_on_error=False)
    async def _read(self) -> None:
        while True:
            await self._dirty.wait()
            self._dirty.clear()
            began = time.monotonic()
            records = self._records_too and (self._pressing or began >= self._records_from)
            if records:
                self._records_too = self._pressing = False
            elif self._records_too:
                self._later(self._records_from - began)
                if not self._files_too:
                    continue
            self._files_too = False
            self._quiet.clear()
            try:
                view = await asyncio.to_thread(self.desk.view, records=records)
            except WorkbenchError as error:
                self._records_too = True
                self._quiet.set()
                self.post_message(ReadFailed(error))
                continue
            if view.revision != self._revision:
                self._revision = view.revision
                self.post_message(ViewRead(view))
            else:
                self._quiet.set()
            # In a storm of hints at most half of the time goes into reading; a line of a session waits for no records.
            took = min(time.monotonic() - began, COOL_DOWN)
            if records:
                self._records_from = began + took + max(took, HEARING_SHOWN if self._hearing else 0.0)
            else:
                await asyncio.sleep(took)

    def _later(self, seconds: float) -> None:
        if self._due is not None:
            self._due.cancel()
        self._due = asyncio.get_running_loop().call_later(seconds, self._dirty.set)

    @work(group="resume", exit_on_error=False)
    async def _resume(self) -> None:
        """Say what became of handovers that a crash left in the middle."""
        try:
            self.say_all(await asyncio.to_thread(self.desk.resume), kind="information")
        except WorkbenchError as error:
            self.fail(error)

    @work(group="watch", exit_on_error=False)
    async def _watch(self) -> None:
        while True:
            watched = await asyncio.to_thread(self.desk.watched)
            folders = await asyncio.to_thread(arms, watched)
            stop = asyncio.Event()
            other = asyncio.create_task(until_other(self.desk.watched, watched, folders, stop, PULSE))
            events = True
            try:
                self.post_message(WatchState(bool(folders) or not watched.folders))
                async for hint in hints(watched, stop, folders):
                    self._hinted = self._hinted or hint.inside
                    self.nudge(records=hint.inside, files=hint.files, pressing=False)
            except NoEventsError as error:
                events = False
                self.post_message(WatchState(False, str(error)))
            finally:
                other.cancel()
            if not stop.is_set():
                await asyncio.sleep(REARM if events else RETRY)
            self._hinted = True
            self.nudge()

    @work(group="look", exit_on_error=False)
    async def _look(self) -> None:
        while True:
            await asyncio.sleep(PULSE)
            try:
                self.say_all(await asyncio.to_thread(self.desk.join), kind="information")
                # Where there were events, some may have been lost.
                thorough, self._hinted = self._hinted, False
                pulse = await asyncio.to_thread(self.desk.pulse, thorough)
            except WorkbenchError as error:
                self.post_message(ReadFailed(error))
                continue
            before, self._pulse = self._pulse, pulse
            if pulse != before:
                records = before is None or pulse.records != before.records
                self.nudge(records=records, files=before is None or pulse.files != before.files)

    @work(group="listen", exit_on_error=False)
    async def _listen(self) -> None:
        """Take in what is said in the sessions, in small pieces between which the screen has its turn."""
        await self._shown.wait()
        pieces = Pieces(self._quiet)
        while True:
            self._shown.clear()
            try:
                with pieces.wanted():
                    while await asyncio.to_thread(self.desk.listen, pieces):
                        self._hearing = True  # what was written of it, file events tell
            except WorkbenchError as error:  # it is tried again; a pace that is refused needs nobody
                if "listen" not in self._said and not isinstance(error, RefusedError):
                    self._said.add("listen")
                    self.fail(error)
            self._hearing = False
            with suppress(TimeoutError):
                await asyncio.wait_for(self._shown.wait(), LISTEN_EVERY)

    @work(group="index", exit_on_error=False)
    async def _keep_index(self) -> None:
        """Bring the search index up to date now and then: by the clock, never in answer to an event."""
        rest, pieces = INDEX_FIRST, Pieces(self._quiet)
        while True:
            await asyncio.sleep(rest)
            rest = INDEX_FIRST if self._hearing else INDEX_EVERY
            if not self._hearing:  # one after the other: a search brings what it needs up to date itself
                with suppress(WorkbenchError), pieces.wanted():
                    await asyncio.to_thread(self.desk.keep_index, pieces)

    @on(ViewRead)
    def _view_read(self, event: ViewRead) -> None:
        first = self.view is None
        self._said.discard("read")
        self.view = event.view
        # What is said is listened to once it can be seen: both need the interpreter.
        self.call_after_refresh(self._painted)
        if first:
            self.first_seen(event.view)

    def _painted(self) -> None:
        self._quiet.set()
        self._shown.set()

    @on(ReadFailed)
    def _read_failed(self, event: ReadFailed) -> None:
        if "read" not in self._said:
            self._said.add("read")
            self.fail(event.error)

    @on(WatchState)
    def _watch_state(self, event: WatchState) -> None:
        self.watching(event.watching)
        if event.why and "watch" not in self._said:
            self._said.add("watch")
            self.say(f"File events do not arrive ({event.why}); the screen follows within seconds.", kind="warning")
