"""The app: it owns the state, and is the one place that knows screens and workspace alike."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.worker import Worker, WorkerState

from workbench.errors import WorkbenchError
from workbench.tui import themes
from workbench.tui.keys import shown_keys, unknown_ids
from workbench.tui.looking import LookingApp
from workbench.tui.messages import Act, BodyWanted
from workbench.tui.screens.main import MainScreen
from workbench.tui.settings import Settings
from workbench.tui.terminal import set_mouse

# What is not needed for the first picture is loaded where it is used, or here for its name alone.
if TYPE_CHECKING:
    from textual.command import Provider

    from workbench.services.view import View
    from workbench.tui.desk import Desk

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


class WorkbenchApp(LookingApp):
    """Four panes over one workspace."""

    TITLE = "Handoff Workbench"
    CSS_PATH: ClassVar[list[str | PurePath]] = ["app.tcss", *_STYLES]
    COMMANDS: ClassVar[set[Any]] = {_commands}
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+z", "suspend_process", "suspend", show=False, system=True)]
    NOTIFICATION_TIMEOUT = 6

    def __init__(
        self, desk: Desk, settings: Settings | None = None, clock: Callable[[], datetime] | None = None
    ) -> None:
        super().__init__(desk)
        self.settings = settings or Settings()
        self.clock = clock or (lambda: datetime.now(UTC))
        self.shown_keys: Mapping[str, str] = shown_keys(self.settings.keymap)
        self.theme_names: tuple[str, ...] = ()
        self._complaints: list[str] = []
        self._styled_in_time = False
        self._mouse_on = self.settings.mouse
        self._transfers = 0
        self._flowing = False
        self._leaving = False

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
        self.say_all(self._complaints)
        self.app_resume_signal.subscribe(self, lambda _: self._resumed())
        # Once the panes are painted: reading takes the interpreter for longer than a start may.
        self.call_after_refresh(self.look)

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

    # Looking.

    def _resumed(self) -> None:
        """Back from a stop: the screen is another's, and events were lost."""
        self.screen.refresh(layout=True)
        self.rescan()

    def first_seen(self, view: View) -> None:
        """The panes are filled: there is time to load what the keys lead to."""
        self._load_flows()
        self._greet(view.warnings)

    def _greet(self, warnings: Sequence[str]) -> None:
        """Say what is wrong with the settings and the workspace together: the later would hide the earlier."""
        if warnings:
            left = len(warnings) - WARNINGS_SAID
            more = [f"and {left} more warnings: workbench doctor"] if left > 0 else []
            self.say_all([*self._complaints, *warnings[:WARNINGS_SAID], *more])

    def watching(self, well: bool) -> None:
        """Say beside the place what is odd: that nothing may be changed here, that events do not arrive."""
        parts = [self.refusal and "read-only" if "read-only" in self.refusal else "", "" if well else "slow"]
        self.main.state = ", ".join(filter(None, parts))

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
                self.rescan()
                self.say("Reading everything again.")
            case "mouse":
                self._toggle_mouse()
            case "theme":
                self._next_theme()
            case _:
                flow = self._flow(event)
                if flow is not None:
                    first, self._flowing = not self._flowing, True
                    self._run_flow(flow, first)

    def _flow(self, event: Act) -> Coroutine[Any, Any, Any] | None:
        if self._flowing and event.what != "copy":
            self._say_busy(event.what)
            return None
        from workbench.tui.flows.routes import flow_of

        return flow_of(self, event)

    def _say_busy(self, what: str) -> None:
        """A key that comes while something is carried out, maybe behind another writer, is not lost without a word."""
        if self.screen is not self.main:
            return  # a dialog asks something first
        self._leaving = what == "quit"
        later = "the workbench ends after it" if self._leaving else "press the key again after it"
        self.say(f"Something is still being carried out, or waits for another that writes; {later}.", kind="warning")

    @work(group="load", exit_on_error=False, thread=True)
    def _load_flows(self) -> None:
        """Load what the keys lead to while the person looks, so that the first key need not wait for it."""
        import workbench.tui.flows.routes  # noqa: F401

    @work(group="flow", exit_on_error=False)
    async def _run_flow(self, flow: Coroutine[Any, Any, Any], first: bool) -> None:
        try:
            await flow
            if self._leaving and first:
                await self.leave()
        except WorkbenchError as error:
            self.fail(error)
            self.nudge()
        finally:
            if first:
                self._flowing = self._leaving = False

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
