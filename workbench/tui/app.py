"""The app: it owns the state, runs the workers, and is the one place that knows screens and workspace alike."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from textual import on, work
from textual.app import App
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.notifications import Notify
from textual.reactive import reactive
from textual.screen import Screen
from textual.worker import Worker, WorkerState

from workbench.errors import RefusedError, WorkbenchError
from workbench.text import one_line
from workbench.tui import themes
from workbench.tui.keys import shown_keys, unknown_ids
from workbench.tui.messages import Act, BodyWanted, ReadFailed, ViewRead, WatchState
from workbench.tui.screens.main import MainScreen
from workbench.tui.settings import Settings
from workbench.tui.terminal import set_mouse
from workbench.watching import NoEventsError, arms, hints, until_other

# What is not needed for the first picture is loaded where it is used, or here for its name alone.
if TYPE_CHECKING:
    from textual.command import Provider

    from workbench.services.view import View
    from workbench.tui.desk import Desk

Kind = Literal["information", "warning", "error"]
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
WARNINGS_SAID = 3
_STYLES = (
    "screens/modal.tcss",
    "screens/follow.tcss",
    "screens/found.tcss",
    "screens/help.tcss",
    "screens/launch.tcss",
    "screens/main.tcss",
    "screens/package.tcss",
    "screens/request.tcss",
    "screens/sessions.tcss",
    "screens/settle.tcss",
    "screens/timeline.tcss",
    "screens/trim.tcss",
    "widgets/history_pane.tcss",
    "widgets/key_bar.tcss",
    "widgets/line_list.tcss",
    "widgets/message_pane.tcss",
    "widgets/pane.tcss",
    "widgets/status_line.tcss",
    "widgets/tab_strip.tcss",
    "widgets/task_pane.tcss",
)
"""Each beside its widget or screen, the more general first; read once at start."""


def _commands() -> type[Provider]:
    from workbench.tui.palette import WorkbenchCommands

    return WorkbenchCommands


class WorkbenchApp(App[int]):
    """Four panes over one workspace."""

    TITLE = "Handoff Workbench"
    CSS_PATH: ClassVar[list[str | PurePath]] = ["app.tcss", *_STYLES]
    COMMANDS: ClassVar[set[Any]] = {_commands}
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+z", "suspend_process", "suspend", show=False, system=True)]
    NOTIFICATION_TIMEOUT = 6

    view: reactive[View | None] = reactive(None, always_update=True, repaint=False)

    def __init__(
        self, desk: Desk, settings: Settings | None = None, clock: Callable[[], datetime] | None = None
    ) -> None:
        super().__init__()
        self.desk = desk
        self.settings = settings or Settings()
        self.clock = clock or (lambda: datetime.now(UTC))
        self.shown_keys: Mapping[str, str] = shown_keys(self.settings.keymap)
        self.theme_names: tuple[str, ...] = ()
        self._complaints: list[str] = []
        self._styled_in_time = False
        self._dirty = asyncio.Event()
        self._grown = asyncio.Event()
        self._revision = ""
        self._pulse = ""
        self._hinted = False
        self._mouse_on = self.settings.mouse
        self._transfers = 0
        self._flowing = False
        self._said: set[str] = set()

    @property
    def refusal(self) -> str:
        """Why acting is refused; empty where it is not."""
        return self.desk.refusal()

    def get_default_screen(self) -> Screen[Any]:
        """The panes."""
        return MainScreen(self.size)

    @property
    def main(self) -> MainScreen:
        """The main screen, under whatever modal."""
        screen = self.screen_stack[0]
        assert isinstance(screen, MainScreen)
        return screen

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Colours of states, where a theme has none."""
        return dict(themes.VARIABLES)

    def on_load(self) -> None:
        """The theme, while nothing is styled yet: to style everything again takes as long as all else of a start."""
        before = self.theme
        self._complaints = self._load_themes()
        self._styled_in_time = self.theme != before
        self.stylesheet.set_variables(self.get_css_variables())

    def refresh_css(self, animate: bool = True) -> None:
        """Style everything anew; not for the theme that was set in time."""
        if self._styled_in_time:
            self._styled_in_time = False
        else:
            super().refresh_css(animate)

    def on_mount(self) -> None:
        """Keys, workers."""
        self.set_keymap(dict(self.settings.keymap))
        self._complaints += [f"keymap: there is no key named {name}" for name in unknown_ids(self.settings.keymap)]
        self._say_all(self._complaints)
        self.app_resume_signal.subscribe(self, lambda _: self._resumed())
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        """Start the workers once the panes are painted: reading takes the interpreter for longer than a start may."""
        self._dirty.set()
        self._resume()
        self._read()
        self._watch()
        self._look()
        self._listen()
        self._keep_index()

    # Themes.

    def _load_themes(self) -> list[str]:
        """Take the theme that is wanted; returns what is wrong with it, or with others."""
        loaded = themes.load_themes(self.settings.theme_folders)
        for theme in loaded.themes:
            self.register_theme(theme)
        self.theme_names = tuple(theme.name for theme in loaded.themes)
        complaints = [f"theme {bad.path.name}: {bad.why}" for bad in loaded.bad]
        wanted = self.settings.theme
        if wanted in self.available_themes:
            self.theme = wanted
        elif themes.DEFAULT in self.available_themes:
            complaints.append(f"there is no theme {wanted}; {themes.DEFAULT} is used")
            self.theme = themes.DEFAULT
        return complaints

    def use_theme(self, name: str) -> None:
        """Change the theme for this run."""
        self.theme = name

    def picture(self) -> None:
        """Save what is on the screen, once the palette is off it; never into the repository."""
        from platformdirs import user_downloads_path

        downloads = user_downloads_path()
        folder = downloads if downloads.is_dir() else Path.home()
        self.call_after_refresh(self.deliver_screenshot, path=str(folder))

    # Reading: one worker reads, hints only wake it.

    def nudge(self) -> None:
        """Something may have changed: read again soon."""
        self._dirty.set()

    def _resumed(self) -> None:
        """Back from a stop: the screen is another's, and events were lost."""
        self._revision = ""
        self.screen.refresh(layout=True)
        self.nudge()

    @work(group="read", exit_on_error=False)
    async def _read(self) -> None:
        while True:
            await self._dirty.wait()
            self._dirty.clear()
            began = time.monotonic()
            try:
                view = await asyncio.to_thread(self.desk.view)
            except WorkbenchError as error:
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
            self._say_all(await asyncio.to_thread(self.desk.resume), kind="information")
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
                async for _ in hints(watched, stop, folders):
                    self._hinted = True
                    self.nudge()
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
                self._say_all(await asyncio.to_thread(self.desk.join), kind="information")
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
        await self._grown.wait()
        while True:
            self._grown.clear()
            try:
                while await asyncio.to_thread(self.desk.listen):
                    self.nudge()
                    await asyncio.sleep(LISTEN_STEP)
            except WorkbenchError as error:  # it is tried again; a pace that is refused needs nobody
                if "listen" not in self._said and not isinstance(error, RefusedError):
                    self._said.add("listen")
                    self.fail(error)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._grown.wait(), LISTEN_EVERY)

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
        self._grown.set()
        if first:
            self._load_flows()
            self._greet(event.view.warnings)

    def _greet(self, warnings: Sequence[str]) -> None:
        """Say what is wrong with the settings and the workspace together: the later would hide the earlier."""
        if warnings:
            left = len(warnings) - WARNINGS_SAID
            more = [f"and {left} more warnings: workbench doctor"] if left > 0 else []
            self._say_all([*self._complaints, *warnings[:WARNINGS_SAID], *more])

    @on(ReadFailed)
    def _read_failed(self, event: ReadFailed) -> None:
        if "read" not in self._said:
            self._said.add("read")
            self.fail(event.error)

    @on(WatchState)
    def _watch_state(self, event: WatchState) -> None:
        parts = [self.refusal and "read-only" if "read-only" in self.refusal else "", "" if event.watching else "slow"]
        self.main.state = ", ".join(filter(None, parts))
        if event.why and "watch" not in self._said:
            self._said.add("watch")
            self.say(f"File events do not arrive ({event.why}); the screen follows within seconds.", kind="warning")

    def watch_view(self, old: View | None, new: View | None) -> None:
        """Hand the view to the screens that show it."""
        if new is None:
            return
        from workbench.tui.screens.follow import FollowScreen

        for screen in self.screen_stack:
            if isinstance(screen, MainScreen | FollowScreen):
                screen.view = new
        if self.settings.bell and old is not None and new.needs_you[:1] != old.needs_you[:1] and new.needs_you:
            self.bell()

    @on(BodyWanted)
    def _body_wanted(self, event: BodyWanted) -> None:
        self._read_body(event)

    @work(exclusive=True, group="body", exit_on_error=False)
    async def _read_body(self, event: BodyWanted) -> None:
        text = await asyncio.to_thread(self.desk.body, event.message)
        row = self.main.history.list.current
        if row is not None and row.message.ref == event.message.ref:
            self.main.history.message.show(row, text)

    # Acting.

    @on(Act)
    def _act(self, event: Act) -> None:
        event.stop()
        match event.what:
            case "help":
                from workbench.tui.screens.help import HelpScreen

                self.push_screen(HelpScreen(self.shown_keys))
            case "rescan":
                self._revision = ""
                self.nudge()
                self.say("Reading everything again.")
            case "mouse":
                self._toggle_mouse()
            case "theme":
                self._next_theme()
            case _:
                flow = self._flow(event)
                if flow is not None:
                    self._run_flow(flow)

    def _flow(self, event: Act) -> Coroutine[Any, Any, Any] | None:
        if self._flowing and event.what != "copy":
            return None
        from workbench.tui.flows.routes import flow_of

        return flow_of(self, event)

    @work(group="load", exit_on_error=False, thread=True)
    def _load_flows(self) -> None:
        """Load what the keys lead to while the person looks, so that the first key need not wait for it."""
        import workbench.tui.flows.routes  # noqa: F401

    @work(group="flow", exit_on_error=False)
    async def _run_flow(self, flow: Coroutine[Any, Any, Any]) -> None:
        self._flowing = True
        try:
            await flow
        except WorkbenchError as error:
            self.fail(error)
            self.nudge()
        finally:
            self._flowing = False

    @on(Worker.StateChanged)
    def _worker_ended(self, event: Worker.StateChanged) -> None:
        """A worker that failed by a fault of ours says so instead of vanishing."""
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            error = event.worker.error
            self.log.error(error)
            self.say(f"{event.worker.group}: internal failure: {type(error).__name__}: {error}", kind="error")

    @contextmanager
    def transferring(self) -> Iterator[None]:
        """While this lasts, leaving asks first."""
        self._transfers += 1
        try:
            yield
        finally:
            self._transfers -= 1

    async def leave(self) -> None:
        """End the app; while a handover is carried out, only once the person says so."""
        about = Content("A handover is being carried out. What is done so far is kept, and the next start goes on.")
        sure = not self._transfers
        if not sure:
            from workbench.tui.screens.ask import Confirm

            answer = await self.push_screen_wait(Confirm("quit", about, "quit all the same"))
            sure = answer is True
        if sure:
            self.exit(0)

    def changed(self, said: str) -> None:
        """A command was carried out: say so, and look for what it changed."""
        if said:
            self.say(said)
        self.nudge()

    def say(self, text: str, *, kind: Kind = "information") -> None:
        """One sentence in a corner; data in it is never markup."""
        self.notify(one_line(text, 400), severity=kind, markup=False)

    def _say_all(self, lines: Sequence[str], kind: Kind = "warning") -> None:
        """Several sentences at once, each on its line."""
        if lines:
            self.notify("\n".join(one_line(text, 400) for text in lines), severity=kind, markup=False)

    def _on_notify(self, event: Notify) -> None:
        """Show the newest notice alone: an older one is no longer so."""
        self._notifications.clear()
        for screen in self.screen_stack:
            screen.query("ToastHolder").remove()  # the toolkit leaves an empty line of each that went
        super()._on_notify(event)

    def fail(self, error: WorkbenchError) -> None:
        """A failure, and what to do about it."""
        hint = f"\n{one_line(error.hint, 300)}" if error.hint else ""
        self.notify(one_line(error.message, 500) + hint, severity="error", timeout=12, markup=False)

    async def copy(self, text: str, what: str = "") -> None:
        """Put a text on the clipboard, and say what it is and only what is known of it."""
        from workbench.handoff import clipboard

        done = await asyncio.to_thread(clipboard.copy, text, self.settings.env)
        named = f": {what}" if what else ""
        if done.proven:
            self.say(f"Copied to {done.where}{named}.")
            return
        if done.sequence:
            self.copy_to_clipboard(text)
            self.say(f"Sent to the terminal's clipboard{named}. It does not say whether it took it.")
        else:
            self.say(f"No clipboard took it, and it is too long for the terminal's{named}.", kind="warning")

    def _toggle_mouse(self) -> None:
        if set_mouse(self._driver, not self._mouse_on):
            self._mouse_on = not self._mouse_on
            self.say("The mouse is the workbench's." if self._mouse_on else "The mouse is the terminal's: select text.")
        else:
            self.say("This terminal has no mouse to toggle.")

    def _next_theme(self) -> None:
        names = sorted(self.theme_names)
        if names:
            at = names.index(self.theme) if self.theme in names else -1
            self.theme = names[(at + 1) % len(names)]
            self.say(f"theme: {self.theme}")
