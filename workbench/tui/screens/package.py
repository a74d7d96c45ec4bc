"""A package before it goes: its rows, the prompt as it will be sent, and whether what it rests on still holds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import ContentSwitcher, Static

from workbench.compiler.refusal import yields_to_pin
from workbench.domain.package import Difference
from workbench.errors import WorkbenchError
from workbench.services.view import FactView
from workbench.text import one_line
from workbench.tui import paint
from workbench.tui.desk import Choice, Draft, PackageRow
from workbench.tui.differences import rows_of
from workbench.tui.keys import bindings
from workbench.tui.screens.modal import Modal
from workbench.tui.screens.package_text import figures, prompt_text
from workbench.tui.widgets.key_bar import BarKey
from workbench.tui.widgets.line_list import LineList
from workbench.tui.widgets.manifest import ManifestList
from workbench.tui.widgets.task_pane import TaskScroll

TABS = ("rows", "prompt", "freshness")
BUDGET_STEP = 0.25
"""Share of the budget that + and - move it by."""
SMALLEST_BUDGET = 256

Step = Literal["go", "recompile", "reject"]


@dataclass(frozen=True)
class PackageAnswer:
    """What the person decided about a package."""

    step: Step
    choice: Choice


@dataclass(frozen=True)
class PackageInput:
    """What the screen shows, and how it gets more; the screen itself reaches nothing."""

    draft: Draft
    differences: tuple[Difference, ...] = ()
    waiting: tuple[FactView, ...] = ()
    """Facts that wait to be settled."""
    can_act: str = ""
    """Why nothing can be handed over here; empty where it can."""
    enter: str = ""
    """What enter does with a stored package: ``launch``, ``follow``; empty where it does nothing."""


Pack = Callable[[Choice], Awaitable[PackageInput]]
Settle = Callable[[str], Awaitable[bool]]


class PackageScreen(Modal[PackageAnswer]):
    """Rows that can be taken or left, a prompt to read, differences to know."""

    WIDE = True
    KEY_LINES = 2
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "go", "on"),
        *bindings("package"),
        Binding("r", "recompile", "recompile"),
        Binding("x", "reject", "reject"),
    ]

    shown: reactive[PackageInput | None] = reactive(None, always_update=True)
    tab: reactive[str] = reactive("rows")
    packing: reactive[bool] = reactive(False)

    def __init__(self, shown: PackageInput, pack: Pack, settle: Settle) -> None:
        super().__init__()
        self._first, self._pack, self._settle = shown, pack, settle
        self._choice = shown.draft.choice
        self._places: dict[str, int] = {}
        self._steps = 0
        """How often the budget was made larger than it first was, less how often smaller."""

    @property
    def stored(self) -> bool:
        """Whether this is a package that exists; its rows are then as they are."""
        return self.shown is not None and self.shown.draft.package is not None

    def content(self) -> ComposeResult:
        """Figures, tabs, and the three views."""
        yield Static(Content(""), id="figures", markup=False)
        yield Static(Content(""), id="tabs", markup=False)
        with ContentSwitcher(initial="rows"):
            with TaskHolder(id="rows"):
                yield Static(Content(""), id="row-head", markup=False)
                yield ManifestList(id="manifest", empty=Content.styled("Nothing could be taken.", paint.QUIET))
                yield Static(Content(""), id="row-detail", markup=False)
            with TaskScroll(id="prompt"):
                yield Static(Content(""), id="prompt-text", markup=False)
            with TaskScroll(id="freshness"):
                yield Static(Content(""), id="freshness-text", markup=False)

    def on_mount(self) -> None:
        """Show what was given."""
        self.shown = self._first
        self.query_one(ManifestList).focus()

    def keys(self) -> list[BarKey]:
        """What can be done with it."""
        draft = self.shown.draft if self.shown else None
        able = draft is not None and not draft.blocked and not self._first.can_act
        if self.stored:
            enter = self._first.enter
            waits = enter == "launch"
            return [
                *([BarKey("enter", enter, "go", able)] if enter else []),
                BarKey("tab", TABS[(TABS.index(self.tab) + 1) % len(TABS)], "tab(1)"),
                *([BarKey("r", "recompile", "recompile", able), BarKey("x", "reject", "reject", able)] * waits),
            ]
        return [
            BarKey("enter", "go on", "go", able),
            BarKey("space", "take", "take"),
            BarKey("p", "pin", "pin"),
            BarKey("+/-", "budget", "budget(1)"),
            BarKey("tab", TABS[(TABS.index(self.tab) + 1) % len(TABS)], "tab(1)"),
            BarKey("s", "settle", "settle", bool(self.shown and self.shown.waiting)),
        ]

    def watch_tab(self) -> None:
        """Another of the three views."""
        if self.shown is None:
            return
        self.query_one(ContentSwitcher).current = self.tab
        self.query_one({"rows": "#manifest", "prompt": "#prompt", "freshness": "#freshness"}[self.tab]).focus()
        self._heads()
        self.call_after_refresh(self._heads)  # rows that were hidden have their width only then
        self.refresh_keys()

    def watch_packing(self) -> None:
        """Say that new figures are on their way."""
        if self.shown is not None:
            self._heads()

    def watch_shown(self) -> None:
        """Other rows, another prompt."""
        if self.shown is None:
            return
        draft = self.shown.draft
        rows = self.query_one(ManifestList)
        rows.choice = draft.choice
        rows.show_rows(self._in_place(draft.rows))
        self.query_one("#prompt-text", Static).update(prompt_text(draft))
        self.query_one("#freshness-text", Static).update(paint.stack(self._freshness(self.shown)))
        self._heads()
        self._detail()
        self.refresh_keys()

    def _in_place(self, rows: Sequence[PackageRow]) -> list[PackageRow]:
        """The rows where they stood when they were first looked at, new ones last: none moves away while it is
        taken or left."""
        for row in rows:
            self._places.setdefault(row.id, len(self._places))
        return sorted(rows, key=lambda row: self._places[row.id])

    def on_resize(self) -> None:
        """Heads stand above their columns; the detail takes the lines it needs."""
        self._heads()
        self._detail()

    def _heads(self) -> None:
        if self.shown is None:
            return
        draft = self.shown.draft
        named = "package" if self.stored else "new package"
        self.box.border_title = Content.assemble(
            (f" {named} → ", "bold"), paint.line(draft.choice.to, "$focus bold", 30), " "
        )
        line = self.query_one("#figures", Static)
        line.update(figures(draft, line.size.width or self.app.size.width, self.packing))
        tabs = [
            Content.styled(f"[{name}]" if name == self.tab else f" {name} ", "$focus bold" if name == self.tab else "")
            for name in TABS
        ]
        note = self._tab_note(self.shown)
        self.query_one("#tabs", Static).update(Content.assemble(*tabs, "  ", note))
        rows = self.query_one(ManifestList)
        width = rows.scrollable_content_region.width - 1
        if self.tab == "rows" and width > 0:
            self.query_one("#row-head", Static).update(Content.assemble(" ", rows.head(width)))

    def _tab_note(self, shown: PackageInput) -> Content:
        stops = sum(d.stops for d in shown.differences)
        if stops:
            return Content.styled(f"! {paint.plural(stops, 'difference')} since it was compiled", "$life-challenged")
        if shown.waiting:
            return Content.styled(f"? {paint.plural(len(shown.waiting), 'fact')} to settle", "$life-proposed")
        return Content("")

    def _freshness(self, shown: PackageInput) -> Iterator[Content]:
        if shown.draft.package is None:
            yield Content.assemble(("● ", "$good"), "compiled just now, from what holds now")
        elif not shown.differences:
            yield Content.assemble(("● ", "$good"), "fresh: everything it rests on is as it was")
        for difference in shown.differences:
            yield from rows_of(difference)
        if shown.waiting:
            yield Content("")
            yield Content.styled("To settle first (s): until then both values are carried, as open", "$label bold")
        for fact in shown.waiting:
            symbol, style = paint.LIFECYCLE[fact.lifecycle]
            yield Content.assemble((f"{symbol} ", style), paint.line(fact.fact.line, limit=200))

    def _detail(self) -> None:
        self.query_one("#row-detail", Static).update(self.query_one(ManifestList).detail())

    def on_line_list_moved(self) -> None:
        """The detail follows the cursor."""
        self._detail()

    def on_line_list_opened(self, event: LineList.Opened) -> None:
        """Enter goes on."""
        event.stop()
        self.action_go()

    # Actions.

    def action_tab(self, step: int) -> None:
        """The next view."""
        self.tab = TABS[(TABS.index(self.tab) + step) % len(TABS)]

    def action_take(self) -> None:
        """Take the row in, or leave it out."""
        row = self.query_one(ManifestList).current
        if row is None or self._fixed():
            return
        if row.id in self._choice.without:
            self._want(replace(self._choice, without=self._choice.without - {row.id}))
        elif row.id in self._choice.pins:
            self._want(replace(self._choice, pins=self._choice.pins - {row.id}))
        elif row.included and row.tier == "required":
            named = row.source_type.replace("_", " ")
            self._say(f"What is required cannot be left out: every package of this task carries this ({named}).")
        elif self._stays_out(row):
            return
        elif row.included:
            self._want(
                replace(self._choice, without=self._choice.without | {row.id}, pins=self._choice.pins - {row.id})
            )
        else:
            self._want(replace(self._choice, pins=self._choice.pins | {row.id}))

    def action_pin(self) -> None:
        """Pin the row, or take the pin away."""
        row = self.query_one(ManifestList).current
        if row is not None and not self._fixed():
            if row.id not in self._choice.pins and self._stays_out(row):
                return
            without = self._choice.without - {row.id}
            self._want(replace(self._choice, pins=self._choice.pins ^ {row.id}, without=without))

    def action_budget(self, direction: int) -> None:
        """A larger or smaller budget, packed at once; a step up and one down come back to the same number."""
        if self.shown is None or self._fixed():
            return
        first = self._first.draft
        steps = self._steps + direction
        base = max(SMALLEST_BUDGET, first.choice.budget or first.asked or first.budget)
        moved = round(base * (1 + BUDGET_STEP) ** steps)
        if moved < SMALLEST_BUDGET:
            self._say(f"{SMALLEST_BUDGET} tokens are the least that makes a package.")
            return
        self._steps = steps
        self._want(replace(self._choice, budget=moved if steps else first.choice.budget))

    def action_settle(self) -> None:
        """Settle the fact of this row, or the first that waits; then pack anew."""
        if self.shown is None or not self.shown.waiting:
            self._say("Nothing waits to be settled.")
            return
        row = self.query_one(ManifestList).current
        ids = [fact.fact.id for fact in self.shown.waiting]
        self._settle_now(row.id if row is not None and row.id in ids else ids[0])

    def action_recompile(self) -> None:
        """Compile a stored package again."""
        if self._decides():
            self.dismiss(PackageAnswer("recompile", self._choice))

    def action_reject(self) -> None:
        """Reject a stored package."""
        if self._decides():
            self.dismiss(PackageAnswer("reject", self._choice))

    def _decides(self) -> bool:
        """Whether this is a package that waits for a decision, and a person may make it here."""
        if self.stored and self._first.can_act:
            self._say(self._first.can_act)
        return self.stored and self._first.enter == "launch" and not self._first.can_act

    def action_go(self) -> None:
        """On to the launch."""
        if self._first.can_act:
            self._say(self._first.can_act)
        elif self.stored and not self._first.enter:
            self._say("There is nothing more to do with this package; H makes another.")
        elif self.packing:
            self._say("The package is still being packed.")
        elif self.shown is not None and self.shown.draft.blocked:
            self._say("It is blocked: a larger budget (+) lets it in.")
        else:
            self.dismiss(PackageAnswer("go", self._choice))

    def _stays_out(self, row: PackageRow) -> bool:
        """Whether not even a pin brings a row in: it does not hold, or is not of this task; that is said."""
        stays = row.tier == "forbidden" and not yields_to_pin(row.reason)
        if stays:
            self._say(f"It stays out, pinned or not: {(row.reason or 'not of this task').replace('_', ' ')}.")
        return stays

    def _fixed(self) -> bool:
        if self.stored:
            self._say("This package is as it was compiled; r compiles another.")
        return self.stored

    def _say(self, text: str) -> None:
        self.notify(text, severity="warning", markup=False)

    def _want(self, choice: Choice) -> None:
        self._choice = choice
        self._pack_now()

    @work(exclusive=True, group="pack", exit_on_error=False)
    async def _pack_now(self) -> None:
        self.packing = True
        try:
            self.shown = await self._pack(self._choice)
        except WorkbenchError as error:
            self._say(one_line(error.message))
        finally:
            self.packing = False

    @work(exclusive=True, group="settle", exit_on_error=False)
    async def _settle_now(self, fact: str) -> None:
        if await self._settle(fact):
            self._pack_now()


class TaskHolder(TaskScroll, can_focus=False):
    """Holds the list and its detail; it does not scroll itself."""
