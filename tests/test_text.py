"""Text from files and agents is shown as stored, and can drive nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.text import clip_lines, one_line, safe

FORBIDDEN = {chr(c) for c in (*range(0x20), 0x7F, *range(0x80, 0xA0))} - {"\n"}


@pytest.mark.parametrize(
    "text",
    [
        "[red]x[/]",
        "[@click=app.bell]",
        "[/nope]",
        "[x] done",
        "arr[i] = b[j]",
        "漢字かな",
        "👨‍👩‍👧‍👦 family",
        "❄️",
        "é vs é",
        "`code` **md**",
        "{curly} %s {{}}",
        "\\[escaped\\]",
        "نص عربي",
    ],
)
def test_ordinary_text_comes_back_unchanged(text):
    assert safe(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", "␛[2J"),
        ("a\x00b\x07", "a␀b␇"),
        ("rm -rf /\rls", "rm -rf /␍ls"),
        ("evil\b\bgood", "evil␈␈good"),
        ("\u202eevil", "<U+202E>evil"),
        ("\x9b2J", "<U+009B>2J"),
        ("a\udcb2b", "a\ufffdb"),
        ("a\r\nb", "a\nb"),
    ],
)
def test_what_could_drive_a_terminal_is_made_visible(text, shown):
    assert safe(text) == shown


@given(st.text(st.characters(codec=None)))
def test_nothing_dangerous_is_left_and_the_result_can_be_encoded(text):
    shown = safe(text)
    assert not FORBIDDEN & set(shown)
    shown.encode("utf-8")


@given(st.text(st.characters(codec=None)), st.integers(0, 50))
def test_a_line_is_one_line_within_its_limit(text, limit):
    line = one_line(text, limit)
    assert "\n" not in line
    assert len(line) <= max(limit, 1)


def test_stacked_marks_do_not_climb():
    assert len(safe("a" + "\u0301" * 500)) < 10


def test_lines_left_off_are_counted():
    assert clip_lines("a\nb\nc", 2) == ("a\nb", 1)


def test_hostile_inputs_of_every_known_kind(shared_dir):
    escapes = json.loads((shared_dir / "cases/text/escapes.json").read_text())
    for text in escapes.values():
        assert not FORBIDDEN & set(safe(text))
