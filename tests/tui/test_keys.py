"""The table of keys: footer, help, palette and bindings say the same; a key that cannot work says why."""

from __future__ import annotations

from tests.tui import data
from tests.tui.fake import FakeDesk
from tests.tui.seeing import lines_of, says, sees, text_of, until
from workbench.resources import data_folder
from workbench.tui.keys import BY_ID, FOOTERS, KEYS
from workbench.tui.settings import Settings

TAKEN_BY_TMUX = {"ctrl+a", "ctrl+b", "ctrl+space", "ctrl+@"}


def test_ids_and_keys_are_unique_in_their_place():
    assert len(BY_ID) == len(KEYS)
    for place in {key.where for key in KEYS}:
        single = [one for key in KEYS if key.where == place for one in key.key.split(",")]
        assert len(single) == len(set(single))
        assert not TAKEN_BY_TMUX & set(single)


def test_footers_hold_four_to_seven_keys_that_are_built():
    for keys in FOOTERS.values():
        assert 4 <= len(keys) <= 7
        assert all(BY_ID[key].built for key in keys)


async def test_help_lists_every_key(opened, desk):
    async with opened(desk, (120, 130)) as (app, pilot):
        await pilot.press("question_mark")
        await sees(pilot, "everywhere")
        seen = text_of(app)
        assert all(key.tooltip in seen for key in KEYS if key.built)
        late = seen.index("not in this version yet")
        assert all(seen.rindex(key.label) > late for key in KEYS if not key.built)
        for sign in ("◆ project", "^ pinned", "≈ summarised", "[■] required", "≈ estimated", "‖ interrupted"):
            assert seen.index(sign) < late
        await pilot.press("q")
        await until(pilot, lambda: app.screen is app.main)


async def test_what_is_not_built_says_so(opened, desk):
    async with opened(desk) as (app, pilot):
        for key in (key for key in KEYS if not key.built):
            app.clear_notifications()
            await pilot.press(key.key)
            await says(pilot, f"{key.tooltip}: not in this version yet")


async def test_the_keymap_moves_a_key_everywhere(opened, desk):
    settings = Settings(keymap={"trim": "f5", "nonsense": "x"}, theme_folders=(data_folder("themes"),))
    async with opened(desk, settings=settings) as (app, pilot):
        assert " f5 trim" in lines_of(app)[-1]
        await says(pilot, "no key named nonsense")
        await pilot.press("t")
        await pilot.pause()
        assert app.screen is app.main
        await pilot.press("f5")
        await sees(pilot, "tokens of this history  (-")


async def test_read_only_refuses_with_the_reason(opened):
    desk = FakeDesk(refusal="This workspace was opened with --read-only.")
    async with opened(desk) as (app, pilot):
        for key in ("t", "s", "H", "u", "plus"):
            await pilot.press(key)
            await says(pilot, "opened with --read-only")
        assert app.screen is app.main
        assert not desk.done
        await pilot.press("3", "enter")
        await sees(pilot, "where it comes from")


async def test_keys_with_nothing_to_work_on_say_so(opened):
    async with opened(FakeDesk(data.empty_view())) as (app, pilot):
        for key, words in (("s", "Nothing waits"), ("H", "No task is open"), ("w", "There is no task yet")):
            await pilot.press(key)
            await says(pilot, words)
        assert app.screen is app.main


async def test_the_palette_knows_the_same_words(opened, desk):
    async with opened(desk) as (_, pilot):
        await pilot.press("ctrl+p")
        await pilot.pause()
        await pilot.press(*"zoom")
        await sees(pilot, "z  zoom: Give the whole screen")
        assert text_of(pilot.app).count("Give the whole screen") == 1


async def test_the_palette_saves_a_picture(opened, desk):
    async with opened(desk) as (app, pilot):
        saved: list[str] = []
        app.deliver_screenshot = lambda path: saved.append(app.export_screenshot())
        await pilot.press("ctrl+p")
        await pilot.pause()
        await pilot.press(*"screenshot")
        await sees(pilot, "save screenshot")
        await pilot.press("enter")
        await until(pilot, lambda: bool(saved))
        assert "orientation" in saved[0]


async def test_q_leaves(opened, desk):
    async with opened(desk) as (app, pilot):
        await pilot.press("q")
        await until(pilot, lambda: app.return_code is not None and app._exit)
        assert app.return_value == 0


async def test_copy_claims_nothing_it_does_not_know(opened, desk):
    async with opened(desk) as (app, pilot):
        await pilot.press("y")
        await says(pilot, "does not say whether it took it")
        await says(pilot, "clipboard: message 19.")
        assert app.clipboard.startswith("The licence allows")


async def test_switching_the_task(opened, desk):
    other = data.task().with_(id="t2other000", slug="other", title="Another thing")
    desk.change(tasks=(*desk.shown.tasks, other))
    async with opened(desk) as (_, pilot):
        await pilot.press("w")
        await sees(pilot, "Another thing")
        await pilot.press("j", "enter")
        await until(pilot, lambda: ("use", "t2other000") in desk.done)


async def test_themes_go_round_and_rescan_reads_again(opened, desk):
    async with opened(desk) as (app, pilot):
        first = app.theme
        await pilot.press("f8")
        assert app.theme != first
        await pilot.press("R")
        await says(pilot, "Reading everything again")
