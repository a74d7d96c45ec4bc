"""The panes: what they show, how they follow the workspace, how they fit."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from tests.tui import data
from tests.tui.fake import FakeDesk
from tests.tui.seeing import lines_of, sees, text_of, until
from workbench.resources import data_folder
from workbench.services.view import SessionView
from workbench.tui.app import WorkbenchApp
from workbench.tui.settings import Settings
from workbench.tui.widgets import history_pane, pane


async def test_every_pane_shows_its_part(opened, desk):
    async with opened(desk) as (app, _):
        seen = text_of(app)
    for words in (
        "Invoices as PDF",
        "[!] a ten-page invoice validates",
        "outdated",
        "validate with veraPDF interrupted",
        "19 messages · 2,122 of 3,232 tokens kept",
        "would replace landscape (authority)",
        "6 facts · 1 to settle",
        "waiting · a person's",
        "review due",
        "+1 file changed: src/export/pdf.py",
        "● claude",
        "your later words differ from what holds (+1)",
    ):
        assert words in seen


async def test_a_change_of_the_workspace_appears_without_a_key(opened, desk):
    async with opened(desk) as (app, pilot):
        desk.change(facts=(replace(desk.shown.facts[3], key="pdf.face"), *desk.shown.facts[:1]))
        await sees(pilot, "pdf.face")
        assert "money.unit" not in text_of(app)


async def test_the_history_follows_its_end_only_from_the_end(opened, desk):
    def grow() -> None:
        number = len(desk.shown.history.messages) + 1
        row = replace(desk.shown.history.messages[-1], message=data.says(number, f"line {number}"))
        desk.change(history=replace(desk.shown.history, messages=(*desk.shown.history.messages, row)))
        app.nudge()

    async with opened(desk, (110, 34)) as (app, pilot):
        rows = app.main.history.list
        grow()
        await until(pilot, lambda: len(rows.rows) == 20)
        assert rows.current.message.seq == 20
        await pilot.press("k")
        grow()
        await until(pilot, lambda: len(rows.rows) == 21)
        assert rows.current.message.seq == 19


async def test_a_message_that_comes_paints_its_own_row_and_the_one_before_it(opened, desk):
    async with opened(desk, (110, 34)) as (app, pilot):
        rows, shown = app.main.history.list, desk.shown.history
        painted: list[int] = []
        real = rows.row_lines
        rows.row_lines = lambda row, width: painted.append(row.message.seq) or real(row, width)
        row = replace(shown.messages[-1], message=data.says(20, "the newest line"))
        desk.change(history=replace(shown, messages=(*shown.messages, row), tokens_kept=shown.tokens_kept + 1))
        app.nudge()
        await sees(pilot, "20 messages")
        assert sorted(painted) == [19, 20]
        assert "the newest line" in text_of(app)
        changed = replace(row, message=data.says(20, "another line"))
        desk.change(history=replace(shown, messages=(*shown.messages, changed)))
        app.nudge()
        await sees(pilot, "another line")
        assert "the newest line" not in text_of(app)


async def test_a_session_that_becomes_idle_is_headed_so_though_no_message_changed(opened, desk):
    first, other = desk.shown.history.messages[:3], desk.shown.history.messages[3:]
    moved = tuple(replace(row, message=row.message.with_(session="codex:other")) for row in other)
    desk.change(history=replace(desk.shown.history, messages=(*first, *moved)))
    async with opened(desk) as (app, pilot):
        await sees(pilot, "── claude · live ·")
        one, *rest = desk.shown.sessions
        desk.change(sessions=(replace(one, status="idle"), *rest))
        app.nudge()
        await sees(pilot, "── claude · idle")


async def test_the_cursor_stays_on_its_message_when_rows_before_it_go(opened, desk):
    async with opened(desk) as (app, pilot):
        rows = app.main.history.list
        await pilot.press("k", "k")
        stood = rows.current_id
        desk.change(history=replace(desk.shown.history, messages=desk.shown.history.messages[4:]))
        app.nudge()
        await until(pilot, lambda: len(rows.rows) == 15)
        assert rows.current_id == stood


async def test_columns_of_the_history_line_up_whatever_the_text(opened, desk):
    async with opened(desk) as (app, _):
        rows = app.main.history.list
        strips = [rows.render_line(y) for y in range(19)]
        assert {strip.cell_length for strip in strips} == {rows.scrollable_content_region.width}


async def test_an_empty_workspace_says_what_fills_it(opened):
    async with opened(FakeDesk(data.empty_view())) as (app, _):
        seen = text_of(app)
    for words in (
        "+ makes the first one",
        "workbench task new",
        "workbench session attach",
        "workbench fact propose",
        "H hands the task",
    ):
        assert words in seen


SIZES = ((200, 60, 4), (150, 40, 4), (100, 30, 4), (80, 24, 1), (60, 24, 1), (40, 12, 1))


async def test_panes_fit_every_width(opened, desk):
    async with opened(desk, (180, 50)) as (app, pilot):
        for width, height, panes in SIZES:
            await pilot.resize_terminal(width, height)
            await pilot.pause()
            shown = [p for p in app.main.query(".pane") if p.display and p.size.width]
            assert len(shown) == panes
            for key, name in (("1", "task"), ("3", "facts"), ("4", "packages"), ("2", "history")):
                await pilot.press(key)
                await pilot.pause()
                assert app.main.pane.display
                assert name == app.main.pane.NAME
                assert app.main.pane.home.has_focus
            assert all(cell_len(line) <= width for line in lines_of(app))


async def test_it_says_when_the_terminal_is_too_small(opened, desk):
    async with opened(desk, (1, 1)) as (app, pilot):
        await pilot.press("j", "tab", "z", "question_mark", "escape")
        for size in ((3, 2), (39, 30), (120, 9)):
            await pilot.resize_terminal(120, 40)
            await sees(pilot, "pdf.orientation")
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert not app.main.query_one("#panes").display
        assert "needs at least 40 columns" in text_of(app)


async def test_zoom_and_back(opened, desk):
    async with opened(desk) as (app, pilot):
        await pilot.press("3", "z")
        await pilot.pause()
        assert "Invoices as PDF" not in text_of(app)
        await pilot.press("escape")
        await pilot.pause()
        assert "Invoices as PDF" in text_of(app)


async def test_filter_narrows_and_clears(opened, desk):
    async with opened(desk) as (app, pilot):
        rows = app.main.history.list
        await pilot.press("slash", *"pytest", "enter")
        await pilot.pause()
        assert [row.message.seq for row in rows.rows] == [7, 14]
        await pilot.press("n")
        assert rows.has_focus
        await pilot.press("escape")
        await pilot.pause()
        assert len(rows.rows) == 19


async def test_a_long_list_is_narrowed_once_the_words_are_typed(opened, desk, monkeypatch):
    monkeypatch.setattr(history_pane, "_MANY", 10)
    monkeypatch.setattr(pane, "TYPING", 60)
    async with opened(desk) as (app, pilot):
        rows = app.main.history.list
        await pilot.press("slash", *"pytest")
        await pilot.pause()
        assert len(rows.rows) == 19  # it would hold up the typing
        await pilot.press("enter")
        await pilot.pause()
        assert [row.message.seq for row in rows.rows] == [7, 14]
        monkeypatch.setattr(pane, "TYPING", 0.01)
        await pilot.press("escape")
        await until(pilot, lambda: len(rows.rows) == 19)


async def test_a_hit_stays_under_the_cursor_when_the_filter_goes(opened, desk):
    async with opened(desk) as (app, pilot):
        rows = app.main.history.list
        await pilot.press("slash", *"pytest", "enter", "G")
        await pilot.pause()
        assert rows.current.message.seq == 14
        await pilot.press("escape")
        await until(pilot, lambda: len(rows.rows) == 19)
        assert rows.current.message.seq == 14


async def test_where_another_session_begins_a_heading_says_whose(opened, desk):
    history = desk.shown.history
    other = [
        replace(row, message=row.message.with_(session="codex:01a9", id=f"c{row.message.seq}"))
        for row in history.messages[:3]
    ]
    sessions = (
        desk.shown.sessions[0],
        SessionView("codex", "01a9", "/s/01a9.jsonl", 3, data.at(13, 10), "idle", "Fonts"),
    )
    desk.change(history=replace(history, messages=(*history.messages, *other)), sessions=sessions)
    async with opened(desk, (100, 40)) as (app, pilot):
        rows = app.main.history.list
        await sees(pilot, "── codex · idle 3 h · 09:01–09:03 · Fonts ──")
        assert rows.current.message.ref == "codex:01a9#c3"
        await pilot.press("g")
        await sees(pilot, "── claude · live · 09:01–09:19 · Invoices ──")
        assert "    # who" in text_of(app)
        await pilot.press("j")
        assert rows.current.message.seq == 2


async def test_how_long_a_session_is_idle_and_that_a_program_ended(opened, desk):
    idle = replace(desk.shown.sessions[0], status="idle", updated_at=data.at(13, 10))
    card = replace(desk.shown.task, program_ended="its program has ended")
    desk.change(task=card, sessions=(idle,))
    async with opened(desk, (99, 50)) as (app, pilot):
        await pilot.press("1")
        await sees(pilot, "claude idle 3 h")
        assert "its program has ended" in text_of(app)


async def test_values_have_the_free_width_and_go_on_below(opened, desk):
    rows = desk.shown.facts
    long = "the archive's own format, version 2b, with every font embedded"
    changed = replace(rows[2], fact=rows[2].fact.with_(value=long))
    desk.change(facts=(*rows[:2], changed, *rows[3:]))
    for width in (200, 100):
        async with opened(desk, (width, 60)) as (app, _):
            area = app.main.facts.list.region
            seen = [line[area.x : area.right] for line in lines_of(app)[area.y : area.bottom]]
        assert all(word in " ".join(seen) for word in long.split())
        assert "…" not in " ".join(seen)


async def test_a_message_too_long_for_memory_is_read_whole(opened, desk):
    long = data.says(20, "the beginning ").with_(size=40)
    row = replace(desk.shown.history.messages[-1], message=long)
    desk.change(history=replace(desk.shown.history, messages=(*desk.shown.history.messages, row)))
    async with opened(desk) as (_, pilot):
        await sees(pilot, "the beginning xxxxxxxxxxxxxxxxxxxxxxxxxx")


async def test_enter_reads_the_message_and_escape_returns(opened, desk):
    async with opened(desk, (60, 16)) as (app, pilot):
        await pilot.press("enter")
        await sees(pilot, "The licence allows embedding. Next: subset the font")
        await pilot.press("escape")
        await pilot.pause()
        assert app.main.history.list.has_focus


async def test_a_hundred_thousand_messages_cost_what_is_on_screen(opened, desk):
    one = desk.shown.history.messages[-1]
    many = tuple(replace(one, message=one.message.with_(id=f"x{n}", seq=n)) for n in range(100_000))
    desk.change(history=replace(desk.shown.history, messages=many))
    async with opened(desk) as (app, pilot):
        rows = app.main.history.list
        painted: list[str] = []
        real = rows.row_lines
        rows.row_lines = lambda row, width: painted.append(row.message.id) or real(row, width)
        await pilot.press("g", "G", "ctrl+u")
        await pilot.pause()
        assert len(painted) < 400


@pytest.mark.parametrize("width", [180, 110, 60])
def test_looks(snap_compare, width):
    app = WorkbenchApp(FakeDesk(), Settings(theme_folders=(data_folder("themes"),)), lambda: data.NOW)

    async def ready(pilot):
        await until(pilot, lambda: app.view is not None)
        await pilot.pause()

    assert snap_compare(app, terminal_size=(width, 36), run_before=ready)


@pytest.mark.parametrize("size", [(180, 50), (60, 24)])
@pytest.mark.parametrize(("pane", "filtered"), [("1", "history"), ("4", "facts")])
async def test_a_filter_typed_where_no_list_is_narrows_the_one_beside(opened, desk, size, pane, filtered):
    async with opened(desk, size) as (app, pilot):
        await pilot.press(pane, "slash", *"green")
        await pilot.pause()
        assert app.screen is app.main
        assert app.main.active == filtered
        assert app.main.pane.words == "green"


async def test_what_is_new_to_settle_shows_at_the_top_of_facts_that_nobody_moved(opened, desk):
    rows = desk.shown.facts
    many = [replace(rows[3], fact=data.fact(f"f0more{n:04}", f"more.{n}", n), key=f"more.{n}") for n in range(20)]
    desk.change(facts=(*rows[2:], *many))
    new = replace(rows[0], fact=data.fact("f0new00000", "a.new.one", "yes"), key="a.new.one", against=())
    async with opened(desk, (100, 30)) as (app, pilot):
        facts = app.main.facts.list
        desk.change(facts=(*rows, *many))
        app.nudge()
        await sees(pilot, "1 to settle")
        assert facts.scroll_offset.y == 0
        assert facts.current.lifecycle == "proposed"
        await pilot.press("3")
        desk.change(facts=(new, *rows, *many))
        app.nudge()
        await sees(pilot, "2 to settle")
        assert facts.scroll_offset.y == 0
        assert facts.current.fact.id == rows[0].fact.id  # the row under her hand
        await pilot.press("G")
        await pilot.press("2")
        stood = facts.current_id
        desk.change(facts=(*rows, *many))
        app.nudge()
        await sees(pilot, "1 to settle")
        assert facts.current_id == stood
        assert facts.scroll_offset.y > 0


async def test_every_proposal_counts_as_one_thing_to_settle(opened, desk):
    rows = desk.shown.facts
    square = replace(rows[0], fact=data.fact("f0square00", "pdf.orientation", "square"))
    other = replace(rows[0], fact=data.fact("f0other000", "pdf.size", "A4"), key="pdf.size", against=())
    desk.change(facts=(rows[0], square, other, *rows[1:]))
    async with opened(desk) as (_, pilot):
        await sees(pilot, "3 to settle")
