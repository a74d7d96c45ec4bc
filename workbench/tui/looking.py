"""The app's eyes: workers that read the workspace whenever something may have changed, and one that listens."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from textual import on, work
from textual.reactive import reactive

from workbench.errors import RefusedError, WorkbenchError
from workbench.tui.messages import ReadFailed, ViewRead, WatchState
from workbench.tui.notices import NoticingApp
from workbench.watching import NoEventsError, arms, hints, until_other

if TYPE_CHECKING:
    from workbench.services.view import View
    from workbench.tui.desk import Desk

PULSE = 2.0
"""Seconds between two slow looks, which catch what file events miss."""
COOL_DOWN = 1.0
"""Seconds of rest after a reading at most; it rests as long as the reading took."""
REARM = 2.0
"""Seconds until watching is tried again where there was nothing to watch."""
RETRY = 60.0
"""Seconds until it is tried again where there are no events."""
INDEX_FIRST, INDEX_EVERY = 5.0, 300.0
"""Seconds until the search index is brought up to date, and until it is again."""
LISTEN_EVERY = 10.0
"""Seconds until sessions are looked at that no view rests on; those of the view are heard as they grow."""
LISTEN_STEP = 0.05
"""Seconds of rest between two steps of hearing them."""


class LookingApp(NoticingApp):
    """Keeps the view what the disk says: one worker reads, and hints only wake it."""

    view: reactive[View | None] = reactive(None, always_update=True, repaint=False)

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self._dirty = asyncio.Event()
        self._records_too = True
        """Whether it may be more than sessions that changed."""
        self._shown = asyncio.Event()
        self._revision = ""
        self._pulse = ""
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

    def nudge(self, *, records: bool = True) -> None:
        """Something may have changed, records among it or only sessions: read again soon."""
        self._records_too = self._records_too or records
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
            records, self._records_too = self._records_too, False
            began = time.monotonic()
            try:
                view = await asyncio.to_thread(self.desk.view, records=records)
            except WorkbenchError as error:
                self._records_too = True
                self.post_message(ReadFailed(error))
                continue
            if view.revision != self._revision:
                self._revision = view.revision
                self.post_message(ViewRead(view))
            # In a storm of hints at most half of the time goes into reading.
            await asyncio.sleep(min(time.monotonic() - began, COOL_DOWN))

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
                async for inside in hints(watched, stop, folders):
                    self._hinted = True
                    self.nudge(records=inside)
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
            if pulse != self._pulse:
                self._pulse = pulse
                self.nudge()

    @work(group="listen", exit_on_error=False)
    async def _listen(self) -> None:
        """Take in what is said in the sessions, in small steps between which the screen has its turn."""
        await self._shown.wait()
        while True:
            self._shown.clear()
            try:
                while await asyncio.to_thread(self.desk.listen):
                    self.nudge(records=False)  # what was written of it, the journal's end tells
                    await asyncio.sleep(LISTEN_STEP)
            except WorkbenchError as error:  # it is tried again; a pace that is refused needs nobody
                if "listen" not in self._said and not isinstance(error, RefusedError):
                    self._said.add("listen")
                    self.fail(error)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._shown.wait(), LISTEN_EVERY)

    @work(group="index", exit_on_error=False)
    async def _keep_index(self) -> None:
        """Bring the search index up to date now and then: by the clock, never in answer to an event."""
        rest = INDEX_FIRST
        while True:
            await asyncio.sleep(rest)
            rest = INDEX_EVERY
            with suppress(WorkbenchError):
                await asyncio.to_thread(self.desk.keep_index)

    @on(ViewRead)
    def _view_read(self, event: ViewRead) -> None:
        first = self.view is None
        self._said.discard("read")
        self.view = event.view
        # What is said is listened to once it can be seen: both need the interpreter.
        self.call_after_refresh(self._shown.set)
        if first:
            self.first_seen(event.view)

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
