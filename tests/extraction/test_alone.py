"""What says enough by itself: to be put before a person, and to hold as a rule."""

from __future__ import annotations

import pytest

from workbench.extraction import Extractor, Find, Place
from workbench.extraction.alone import binds, is_clear
from workbench.extraction.offer import worth_asking


@pytest.mark.parametrize(
    "text",
    [
        "We don't want that XML header.",
        "Whatever port this option has is used as the default (we don't add 8000).",
        "let's do 14 for 9",
        "yeah, let's do one blank and 14 dots",
        "Only print that when `--verbose` is given.",
        "Never touch those.",
        "It has to work like the other importer.",
        "Let's put it next to the menu.",
        "Let's use PostgresCmd for (2)",
        "Never put passwords there.",
        "不要改这个文件。",
        "它必须是只读的。",
        "那些日志一律不要提交。",
        "改成 12 个吧",
    ],
)
def test_what_points_elsewhere_is_kept_without_asking(text: str) -> None:
    found = Find("decision", text, text, "constraint", constraint=True, sure=True)
    assert not worth_asking(found, own_words=True)


@pytest.mark.parametrize(
    "text",
    [
        "Never push to main.",
        "If a file is generated, don't edit it.",
        "The cache must be cleared before it is read.",
        "We want a new view that lists the orders.",
        "Make sure that the API stays stable.",
        "There must be no more than 3 retries.",
        "`config.toml` is ours, never touch that file.",
        "All dates are in UTC in this project.",
        "Use 8 spaces in Makefiles.",
        "Let's do 50 ms for the debounce.",
        "不要改 config.toml。",
        "图片上传以后不要删除它。",
        "这个项目只用标准库。",
        "默认端口是 8080。",
    ],
)
def test_what_names_its_thing_is_clear(text: str) -> None:
    assert is_clear(text)


def found_in(text: str) -> tuple[Find, ...]:
    return Extractor().extract(text, Place(session="claude:1", message="claude:1#m", by="human:a", typed=True)).finds


@pytest.mark.parametrize(
    "text",
    [
        "Never push to main.",
        "Do not change the schema.",
        "Images must have alt text.",
        "All dates must be in UTC.",
        "We don't want a scripts/debug.py file.",
        "Only the owner may change config.toml.",
        "Keep the public API stable.",
        "不准直接推 main。",
        "日期一律用 UTC。",
        "密钥绝不能写进日志。",
        "必须用 TypeScript。",
    ],
)
def test_a_rule_that_is_laid_down_holds(text: str) -> None:
    assert any(binds(find) for find in found_in(text))


@pytest.mark.parametrize(
    "text",
    [
        "os.path.realpath does NOT change the case, that's a hallucination",
        "we just added a helper for that and said no don't do a join",
        "With Test_countRows, the underscore prevents pytest from running this test.",
        "I changed the meaning of --out, it used to control both folders, we no longer want to add ./log",
        "but in any case, we need to bring that here and use it for the root",
        "By contrast, here's a run with --raw from the shop",
        "(12) Run the formatter on watcher.py — imports are split",
        "You can do the cleanup in NOTES.md",
        "the counter starts high and never gets to 0",
        "The existing tests in main_test.py already follow the table pattern.",
    ],
)
def test_what_is_told_or_done_once_holds_as_no_rule(text: str) -> None:
    """Weighed as a rule or not: what tells of code, of the past, or of one step holds as none."""
    assert not any(binds(find) for find in found_in(text))
    assert not binds(Find("decision", text, text, "weighed", constraint=True))
