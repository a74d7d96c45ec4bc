"""The main screen: four panes, a status line, the keys. It knows the view and nothing of files."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive
from textual.screen import Screen
from textual.widgets import Static

from workbench.domain.fact import value_text
from workbench.tui.keys import BY_ID, FOOTERS, SPARE, bindings
from workbench.tui.messages import Act
from workbench.tui.questions import OPEN, open_questions
from workbench.tui.widgets.facts_pane import FactList, FactsPane
from workbench.tui.widgets.history_list import HistoryList
from workbench.tui.widgets.history_pane import HistoryPane
from workbench.tui.widgets.key_bar import BarKey, KeyBar
from workbench.tui.widgets.line_list import LineList
from workbench.tui.widgets.message_pane import MessagePane, text_to_copy
from workbench.tui.widgets.packages_pane import PackageList, PackagesPane
from workbench.tui.widgets.pane import FilteredPane, FilterLine, Pane
from workbench.tui.widgets.status_line import StatusLine
from workbench.tui.widgets.tab_strip import TabStrip
from workbench.tui.widgets.task_pane import TaskPane

if TYPE_CHECKING:
    from workbench.services.view import View
    from workbench.tui.app import WorkbenchApp

PANES = ("task", "history", "facts", "packages")
FILTERED_BESIDE = {"task": "history", "packages": "facts"}
"""Whose rows are filtered from a pane that has none to filter."""
RENEW = "renew it"
"""What handing off is called on a stale package."""
_ALWAYS = ("help", "quit", "theme", "mouse", "rescan")
"""Keys that work before the workspace is read."""


class MainScreen(Screen[None]):
    """Panes over the view, and the keys that ask the app for something."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("main")
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (40, "-narrow"), (100, "-medium"), (150, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (10, "-low"), (20, "-tall")]  # noqa: RUF012
    AUTO_FOCUS = "#history"

    view: reactive[View | None] = reactive(None, always_update=True, repaint=False)
    active: reactive[str] = reactive("history")
    zoomed: reactive[bool] = reactive(False)
    state: reactive[str] = reactive("")

    def __init__(self, size: Size) -> None:
        # Arranged for the first picture already: the breakpoints speak only after it.
        points = ((self.HORIZONTAL_BREAKPOINTS, size.width), (self.VERTICAL_BREAKPOINTS, size.height))
        super().__init__(classes=" ".join([name for least, name in row if at >= least][-1] for row, at in points))
        self._ready = False

    def compose(self) -> ComposeResult:
        """Panes in reading order; their places come from the style of each width."""
        yield TabStrip()
        with Container(id="panes"):
            for kind in (TaskPane, HistoryPane, FactsPane, PackagesPane):
                pane: Pane = kind(id=f"{kind.NAME}-pane", classes="pane")
                pane.set_class(self.active == kind.NAME, "-active")
                yield pane.data_bind(view=MainScreen.view)
        yield StatusLine().data_bind(view=MainScreen.view, state=MainScreen.state)
        yield KeyBar(id="keys")
        yield Static(Content("Handoff Workbench needs at least 40 columns and 10 rows."), id="too-small", markup=False)

    def on_mount(self) -> None:
        """Name the panes and the keys."""
        self._ready = True
        self._arrange()

    @property
    def workbench(self) -> WorkbenchApp:
        """The app, by its own type."""
        return cast("WorkbenchApp", self.app)

    @property
    def pane(self) -> Pane:
        """The active pane."""
        return self.query_one(f"#{self.active}-pane", Pane)

    @property
    def history(self) -> HistoryPane:
        """The history pane."""
        return self.query_one(HistoryPane)

    @property
    def facts(self) -> FactsPane:
        """The facts pane."""
        return self.query_one(FactsPane)

    @property
    def packages(self) -> PackagesPane:
        """The packages pane."""
        return self.query_one(PackagesPane)

    def watch_view(self) -> None:
        """What can be done may have changed."""
        self.refresh_keys()

    def watch_active(self) -> None:
        """Another pane is the active one."""
        self._arrange()

    def watch_zoomed(self) -> None:
        """One pane, or all."""
        self._arrange()

    def _arrange(self) -> None:
        if not self._ready:
            return
        self.set_class(self.zoomed, "-zoomed")
        for name in PANES:
            self.query_one(f"#{name}-pane").set_class(name == self.active, "-active")
        self.query_one(TabStrip).show(PANES, self.active)
        self.refresh_keys()

    def on_descendant_focus(self) -> None:
        """The pane that holds the focus is the active one."""
        focused = self.focused
        if focused is None:
            return
        for node in focused.ancestors_with_self:
            if isinstance(node, Pane):
                self.active = node.NAME
        self.query_one("#panes").set_class(isinstance(focused, MessagePane), "-reading")

    def refresh_keys(self) -> None:
        """Show the keys of the active pane."""
        if not self._ready:
            return
        shown = self.workbench.shown_keys
        keys = []
        for key_id in FOOTERS[self.active]:
            key = BY_ID[key_id]
            target = f"act('{key.id}')" if key.where != "main" else key.action
            spare = -1 if key.id == "help" else SPARE.get(key.id, 0)
            label = RENEW if key.id == "hand" and self._stale() else key.label
            keys.append(BarKey(shown[key.id], label, target, not self.why_not(key.id), spare))
        self.query_one("#keys", KeyBar).show(keys)

    def why_not(self, key_id: str) -> str:
        """Why a key cannot work now; empty where it can."""
        key, view = BY_ID[key_id], self.view
        if not key.built:
            return "This is not in this version yet."
        if key.acts and (refusal := self.workbench.refusal):
            return refusal
        if view is None:
            return "" if key_id in _ALWAYS else "The workspace is still being read."
        if key_id == "sessions" and view.task is None:
            return "A session belongs to a task, and none is open: + makes one, w picks one."
        if key_id in ("trim", "hand") and view.task is None:
            return "No task is open: w picks one."
        if key_id in ("trim", "mark", "mark.suggested") and not view.history.messages:
            return "There are no messages to mark: attach a session first."
        if key_id == "context" and not view.history.messages:
            return "There are no messages yet: attach a session first."
        waits = open_questions(view.facts) or view.contests
        if key_id == "settle" and not waits:
            return "Nothing waits to be settled."
        if key_id == "saw" and not view.history.messages:
            return "No request to show: attach a session first."
        if key_id == "timeline" and view.task is None and not view.facts:
            return "There is nothing yet that could have a past."
        if key_id == "switch" and not view.tasks:
            return "There is no task yet: + makes one."
        return ""

    def able(self, key_id: str) -> bool:
        """Whether a key works now; where not, the person is told why."""
        why = self.why_not(key_id)
        if why:
            self.workbench.say(why, kind="warning")
        return not why

    # Moving about.

    def action_pane(self, name: str) -> None:
        """Go to a pane."""
        self.active = name
        self.call_after_refresh(self.pane.home.focus)

    def action_next_pane(self, step: int) -> None:
        """Go to the next pane, or the one before."""
        self.action_pane(PANES[(PANES.index(self.active) + step) % len(PANES)])

    def action_zoom(self) -> None:
        """Give the active pane the whole screen, or back."""
        self.zoomed = not self.zoomed

    def action_filter(self) -> None:
        """Type the words that rows must hold; from a pane without such a list, in the one beside it.

        Refused, the words typed next would act as keys.
        """
        self.active = FILTERED_BESIDE.get(self.active, self.active)
        pane = self.pane
        if isinstance(pane, FilteredPane):
            pane.start_filter()

    def action_context(self) -> None:
        """Show what is in the model's context now, or all messages again."""
        if self.able("context"):
            if self.active != "history":
                self.action_pane("history")
            self.history.narrow(not self.history.narrowed)

    def action_find(self, step: int) -> None:
        """Go to the next row that holds the words; the rows shown all do."""
        pane = self.pane
        if isinstance(pane, FilteredPane) and pane.words and isinstance(pane.home, LineList):
            pane.home.cursor += step
        else:
            self.workbench.say("/ first: it says what to look for.")

    def action_back(self) -> None:
        """One step back: message, range and marks, filter, what is in context, zoom."""
        pane = self.pane
        if isinstance(self.focused, MessagePane | FilterLine):
            if isinstance(self.focused, FilterLine) and isinstance(pane, FilteredPane):
                pane.clear_filter()
            pane.home.focus()
        elif isinstance(pane, HistoryPane) and pane.list.clear_marks():
            return
        elif isinstance(pane, FilteredPane) and pane.query_one(FilterLine).display:
            pane.clear_filter()
        elif isinstance(pane, HistoryPane) and pane.narrowed:
            pane.narrow(False)
        elif self.zoomed:
            self.zoomed = False

    def action_act(self, key_id: str) -> None:
        """A key of a list, clicked in the footer."""
        action = {"mark": "mark", "mark.suggested": "suggested", "list.open": "open"}[key_id]
        getattr(self.pane.home, f"action_{action}")()

    # What lists say.

    @on(HistoryList.Marked)
    def _marked(self, event: HistoryList.Marked) -> None:
        if event.refused:
            self.workbench.say(event.refused, kind="warning")

    @on(HistoryList.SuggestionWanted)
    def _suggest(self) -> None:
        if self.able("mark.suggested"):
            self.post_message(Act("suggest"))

    @on(LineList.Moved)
    def _row_moved(self, event: LineList.Moved) -> None:
        if isinstance(event.source, PackageList):
            self.refresh_keys()

    @on(LineList.Opened)
    def _opened(self, event: LineList.Opened) -> None:
        source: object = event.source
        if isinstance(source, HistoryList):
            self.history.message.focus()
        elif isinstance(source, FactList) and source.current is not None:
            self.post_message(Act("fact", source.current.fact.id))
        elif isinstance(source, PackageList) and source.current is not None:
            self.post_message(Act("package", source.current.envelope.id))

    # Asking the app.

    def _ask(self, key_id: str, what: str, subject: str = "", refs: frozenset[str] = frozenset()) -> None:
        if self.able(key_id):
            self.post_message(Act(what, subject, refs))

    def action_trim(self) -> None:
        """Trim the marked messages, or the one under the cursor."""
        rows = self.history.list
        marks = rows.marks or (frozenset((rows.current_id,)) if rows.current_id else frozenset())
        self._ask("trim", "trim", refs=marks)

    def action_settle(self) -> None:
        """Settle what copies say differently, else the first fact that waits; in their pane that under the cursor."""
        fact = self._to_settle()
        contests = self.view.contests if self.view is not None else ()
        if contests and (self.active != "facts" or not fact):
            self._ask("settle", "contest", contests[0].title)
        else:
            self._ask("settle", "settle", fact)

    def action_found(self) -> None:
        """What was found in the sessions."""
        self._ask("found", "found")

    def _to_settle(self) -> str:
        """The proposal that is meant: of the row under the cursor, else of the first that waits."""
        if self.view is None:
            return ""
        current = self.facts.list.current
        if self.active == "facts" and current is not None and current.lifecycle in OPEN:
            return current.fact.id
        rows = open_questions(self.view.facts)
        return rows[0].fact.id if rows else ""

    def action_hand_off(self) -> None:
        """Hand the task to another agent; on a stale package, compile that one anew."""
        stale = self._stale()
        self._ask("hand", "renew" if stale else "hand", stale)

    def _stale(self) -> str:
        """The package under the cursor, where it waits and no longer holds; empty where not.

        Nor where its task went to somebody else meanwhile: it is left behind.
        """
        row = self.packages.list.current if self.active == "packages" else None
        left = row is not None and any(d.code == "attempt_not_current" for d in row.differences)
        return row.envelope.id if row is not None and row.stale and row.status == "pending" and not left else ""

    def action_edit(self) -> None:
        """Edit the fact under the cursor, or the task."""
        fact = self.facts.list.current
        if self.active == "facts" and fact is not None:
            self._ask("edit", "edit", f"facts/{fact.fact.id}")
        elif self.active == "task" and self.view is not None and self.view.task is not None:
            self._ask("edit", "edit", f"tasks/{self.view.task.task.id}")
        else:
            self.workbench.say("e edits a fact (go to 3) or the task (go to 1); there is nothing to edit here.")

    def action_new(self) -> None:
        """Make a task, a fact or a constraint."""
        self._ask("new", "new")

    def action_undo(self) -> None:
        """Take back the last change."""
        self._ask("undo", "undo")

    def action_timeline(self) -> None:
        """What happened to the fact under the cursor, or to the task."""
        current = self.facts.list.current if self.active == "facts" else None
        if current is not None:
            self._ask("timeline", "timeline", f"facts/{current.fact.id}")
        elif self.view is not None and self.view.task is not None:
            self._ask("timeline", "timeline", f"tasks/{self.view.task.task.id}")
        else:
            self._ask("timeline", "")

    def action_saw(self) -> None:
        """What the model saw, in the request that the message under the cursor belongs to."""
        row = self.history.list.current if self.active == "history" else None
        self._ask("saw", "saw", row.message.ref if row is not None else "")

    def action_sessions(self) -> None:
        """Agents' sessions."""
        self._ask("sessions", "sessions")

    def action_switch_task(self) -> None:
        """Pick another task."""
        self._ask("switch", "switch")

    def action_help(self) -> None:
        """Every key."""
        self.post_message(Act("help"))

    def action_rescan(self) -> None:
        """Read everything now."""
        self.post_message(Act("rescan"))

    def action_mouse(self) -> None:
        """Take or release the mouse."""
        self.post_message(Act("mouse"))

    def action_next_theme(self) -> None:
        """Change the theme."""
        self.post_message(Act("theme"))

    def action_quit_app(self) -> None:
        """Leave."""
        self.post_message(Act("quit"))

    def action_unbuilt(self, key_id: str) -> None:
        """A key whose work this version does not do."""
        self.workbench.say(f"{BY_ID[key_id].tooltip}: not in this version yet.")

    def action_copy(self) -> None:
        """Copy what is under the cursor."""
        text, label = self._copyable()
        if text:
            self.post_message(Act("copy", text, label=label))
        else:
            self.workbench.say("There is nothing under the cursor to copy.")

    def _copyable(self) -> tuple[str, str]:
        """A text, and what it is."""
        if self.active == "history" and (row := self.history.list.current) is not None:
            return text_to_copy(row.message), f"message {row.message.seq}"
        if self.active == "facts" and (fact := self.facts.list.current) is not None:
            return f"{fact.key} = {value_text(fact.fact.value)}", f"the fact {fact.key}"
        if self.active == "packages" and (package := self.packages.list.current) is not None:
            return package.envelope.id, f"the id of the package for {package.envelope.identity.to}"
        return (self.view.task.task.contract.objective if self.view and self.view.task else ""), "the objective"
