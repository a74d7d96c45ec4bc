"""Themes are files: ours are whole and readable, a bad one is one sentence."""

from __future__ import annotations

import pytest
from textual.color import Color

from tests.tui.seeing import says, text_of
from workbench.resources import data_folder
from workbench.tui.settings import Settings
from workbench.tui.themes import VARIABLES, BadTheme, load_theme, load_themes

OURS = sorted(data_folder("themes").glob("*.toml"))
TEXT = [name for name in VARIABLES if name not in ("rule", "cursor", "cursor-quiet", "marked")]


def luminance(color: Color) -> float:
    def channel(value: int) -> float:
        share = value / 255
        return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

    return 0.2126 * channel(color.r) + 0.7152 * channel(color.g) + 0.0722 * channel(color.b)


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(Color.parse(one)), luminance(Color.parse(other))), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_there_is_one_for_every_need():
    names = {path.stem for path in OURS}
    assert {"workbench-dark", "workbench-light", "high-contrast", "colour-blind-safe", "ansi-16"} <= names


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_ours_set_every_variable_and_can_be_read(path):
    theme = load_theme(path)
    assert not isinstance(theme, BadTheme), theme
    text = path.read_text()
    assert all(f"{name} = " in text for name in VARIABLES)
    if theme.ansi:
        return
    least = 7 if path.stem == "high-contrast" else 4.5
    for name in TEXT:
        if name.startswith("life-superseded"):
            continue
        for ground in ("background", "surface"):
            ratio = contrast(theme.variables[name], getattr(theme, ground))
            assert ratio >= (least if name not in ("quiet", "who-system", "life-rejected") else 4), (name, ratio)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('primary = "#12345"\n', "line 1, primary: '#12345' is not a colour"),
        ('primary = "red"\n[variables]\ngood = "grean"\n', "line 3, good"),
        ('primary = "red"\nprimery = "red"\n', "line 2, primery: no such setting"),
        ('primary = "red"\ndark = "yes"\n', "line 2, dark: true or false"),
        ('name = "other"\nprimary = "red"\n', "name: differs"),
        ("dark = true\n", "primary: missing"),
        ("primary = \n", "line 1"),
        ('primary = "red"\nvariables = 3\n', "a table is expected"),
    ],
)
def test_a_bad_theme_is_one_sentence_with_line_and_key(tmp_path, text, says):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    found = load_theme(path)
    assert isinstance(found, BadTheme)
    assert says in found.why
    assert "\n" not in found.why


def test_a_theme_that_is_no_text_or_too_large_is_left_out(tmp_path):
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "large.toml").write_text("# " + "x" * 70_000)
    (tmp_path / "Bad Name.toml").write_text('primary = "red"')
    loaded = load_themes((tmp_path, tmp_path / "absent"))
    assert not loaded.themes
    assert len(loaded.bad) == 3


def test_a_persons_own_theme_replaces_ours(tmp_path):
    (tmp_path / "workbench-dark.toml").write_text('primary = "#ff0000"')
    loaded = load_themes((data_folder("themes"), tmp_path))
    mine = next(theme for theme in loaded.themes if theme.name == "workbench-dark")
    assert mine.primary == "#ff0000"


async def test_a_bad_theme_is_one_toast_and_the_app_goes_on(opened, desk, tmp_path):
    (tmp_path / "mine.toml").write_text('primary = "nocolour"')
    settings = Settings(theme="mine", theme_folders=(data_folder("themes"), tmp_path))
    async with opened(desk, settings=settings) as (app, pilot):
        await says(pilot, "theme mine.toml: line 1, primary")
        assert app.theme == "workbench-dark"


async def test_every_theme_opens(opened, desk):
    settings = Settings(theme="ansi-16", theme_folders=(data_folder("themes"),))
    async with opened(desk, settings=settings) as (app, pilot):
        assert app.theme == "ansi-16"
        for path in OURS:
            app.use_theme(path.stem)
            await pilot.pause()
            assert "Invoices as PDF" in text_of(app)
