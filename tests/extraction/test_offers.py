"""What is put before a person: few, plain, and never what she refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.extraction import Extractor, Find
from workbench.extraction.offer import A_DAY, AT_ONCE, Refusal, choose
from workbench.extraction.pasting import pasted_lines

EXTRACTOR = Extractor()
LINES = [
    "Do not touch the user table.",
    "Use pnpm instead of npm.",
    "Let's go with sessions.db.",
    "We decided against Redis.",
    "TODO: changelog entry for the flag",
    "不要动 migrations 目录。",
    "把主题色改成绿色。",
]


def found(*texts: str) -> list[Find]:
    return [find for text in texts for find in EXTRACTOR.extract(text).finds]


def mine(*texts: str) -> list[tuple[Find, bool]]:
    return [(find, True) for find in found(*texts)]


def test_at_most_three_at_once_and_constraints_first() -> None:
    chosen = choose(mine(*LINES))
    assert len(chosen) == AT_ONCE
    assert chosen[0].constraint


def test_what_still_waits_takes_the_room() -> None:
    assert len(choose(mine(*LINES), waiting=2)) == 1
    assert choose(mine(*LINES), waiting=AT_ONCE) == ()


def test_ten_a_day() -> None:
    assert len(choose(mine(*LINES), shown_today=A_DAY - 1)) == 1
    assert choose(mine(*LINES), shown_today=A_DAY) == ()


def test_a_refusal_is_remembered_also_in_other_words() -> None:
    refused = (Refusal("Do not touch the user table."),)
    assert choose(mine("Please do not touch the user table!"), refused=refused) == ()
    assert choose(mine("Do not touch the order table."), refused=refused)


def test_a_refused_value_is_not_asked_again_and_another_is() -> None:
    refused = (Refusal("make it green", "theme.color", "green"),)
    assert choose(mine("把主题色改成绿色。"), refused=refused) == ()
    assert choose(mine("把主题色改成红色。"), refused=refused)


def test_an_agents_prose_is_not_put_forward() -> None:
    prose = [
        "We decided to use Redis.",
        "Every handler must close its connection.",
        "The parser still needs tests.",
        "Switched the theme to green.",
    ]
    assert choose([(find, False) for find in found(*prose)]) == ()
    listed = found("- [ ] update the homebrew formula", "You said the cache must never be shared.")
    assert len(choose([(find, False) for find in listed])) >= 1


def test_what_is_uncertain_or_points_elsewhere_is_not_asked() -> None:
    assert (
        choose(mine("Make it so!", "I don't want that.", "这个不要了。", "We don't want those pinned 3 times.")) == ()
    )


def test_what_she_tells_as_done_is_not_asked() -> None:
    assert choose(mine("dropped the misleading badges from README.md.")) == ()


@pytest.mark.parametrize(
    "text",
    [
        "let's use pnpm",
        "1. The port is 9090 now.\n2. Tests pass.",
        "The port is **9090** now.",
        "> what port?\nThe port is 9090 now.",
        "My decisions:\n- The port is 9090.\n- The database is **Postgres**.",
        "As I said:\nThe port is 9090.",
        "# Rules\n- The port is 9090.",
        "Port: 9090\nHost: example.org",
        "我的决定：\n端口改成 9090。",
        "a word " * 214,
        "👍 The port is 9090.",
        "Got this working from the train.\nThe port is 9090.",
    ],
)
def test_what_people_type_is_typed(text: str) -> None:
    assert not pasted_lines(text)


@pytest.mark.parametrize(
    "text",
    [
        "✅ Good - follows the pattern",
        "👀 Watching the folder for changes",
        "[02/03/26 10:20 ~/shop]\nThe port is 8080.",
        "mara@box:~/shop$ make\nThe port is 8080.",
        "x" * 2000,
        "```\nlet's use pnpm\n```",
        "```\nx\n```\n**port: 8080**",
        "User: use pnpm\nAssistant: never use npm",
        "- **Port**: 8080\n- **Host**: example.org",
        "<note>\nThe port is 8080.\n</note>",
    ],
)
def test_what_nobody_types_is_pasted(text: str) -> None:
    assert pasted_lines(text) == set(range(1, text.count("\n") + 2))


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Hello.\nCodex wrote this:\n\nThe port is 8080.", 3),
        ("Hello.\nTranslate this into German:\nThe port is 8080.", 3),
        ("Hello.\nAdd this to the README:\nThe port is 8080.", 3),
        ("Hello.\nFrom: a@example.org\nSubject: x\n\nThe port is 8080.", 2),
        ("Hello.\nOn Monday, 2 March 2026, Bob wrote:\nThe port is 8080.", 2),
        ("Got this comment from a reviewer, what say you?\n\nThe port is 8080.", 2),
        ("你好。\n看看这个：\n端口是 8080。", 3),
        ("你好。\n下面是日志：\n端口是 8080。", 3),
    ],
)
def test_what_is_handed_on_begins_where_she_says_so(text: str, first: int) -> None:
    assert pasted_lines(text) == set(range(first, text.count("\n") + 2))


@given(st.lists(st.sampled_from(["", " ", "The port is 8080.", "> ok", "Fine:"]), max_size=8), st.integers(0, 3))
def test_what_nothing_follows_hands_nothing_on(before: list[str], blanks: int) -> None:
    handed = [*before, "Codex wrote this:", *[""] * blanks]
    assert not pasted_lines("\n".join(handed))
    more = "\n".join([*handed, "The port is 9090."])
    assert pasted_lines(more) == set(range(len(before) + 2, len(handed) + 2))


def test_a_message_of_very_many_lines_is_read_to_its_end() -> None:
    lines = ["The port is 8080."] * 3 + ["x"] * 300 + [""] * 100_000
    assert not pasted_lines("\n".join(lines)[:1400])
    assert pasted_lines("\n".join(["Codex wrote this:", *lines])) == set(range(2, len(lines) + 2))


@given(st.lists(st.tuples(st.sampled_from(LINES), st.booleans()), max_size=12), st.integers(0, 12), st.integers(0, 4))
def test_the_limits_hold_whatever_is_found(said: list[tuple[str, bool]], shown: int, waiting: int) -> None:
    candidates = [(find, own) for text, own in said for find in EXTRACTOR.extract(text).finds]
    chosen = choose(candidates, shown_today=shown, waiting=waiting)
    assert len(chosen) <= max(0, min(AT_ONCE - waiting, A_DAY - shown))
    assert len({find.text for find in chosen}) == len(chosen)
