"""What follows the name of its source is not the person's word, up to where she speaks again."""

from __future__ import annotations

import pytest

from workbench.extraction.pasting import pasted_lines

BODY = "- Never push to main.\n- The port must be 9001."


@pytest.mark.parametrize("gap", ["\n", "\n\n"])
@pytest.mark.parametrize(
    "line",
    [
        "Another agent reviewed your work:",
        "CodeRabbit found:",
        "Feedback from Tom:",
        "from codex:",
        "Implement the following plan:",
        "Here's the spec:",
        "Tom's comments:",
        "The reviewer flagged:",
        "The security team wants:",
        "I ran it past Gemini, which found:",
        "Address the review findings:",
        "Notes from the call:",
        "The linter reports:",
        "另一个 agent 审查了你的代码：",
        "同事的意见：",
        "产品的反馈：",
        "评审意见：",
        "请按以下计划实现：",
    ],
)
def test_what_a_source_is_named_for_is_anothers(line: str, gap: str) -> None:
    text = line + gap + BODY
    count = text.count("\n") + 1
    assert pasted_lines(text) == set(range(2, count + 1))
    assert pasted_lines(f"{text}\n\nThe theme must be dark.") == set(range(2, count + 3))
    assert pasted_lines(f"{text}\n\nPlease fix the first one.\nNever touch vendor/.") == set(range(2, count + 2))
    assert pasted_lines(f"{text}\n\n我不同意第一条。") == set(range(2, count + 2))


@pytest.mark.parametrize(
    "line",
    ["Review comment: never push to main.", "GPT thinks the port must be 9001.", "评审意见：端口必须是 9001。"],
)
def test_a_line_that_names_its_source_is_anothers(line: str) -> None:
    assert pasted_lines(f"Hello.\n{line}\nThe theme is dark.") == {2}


@pytest.mark.parametrize("line", ["GPT thinks", "同事的意见"])
def test_a_source_needs_no_colon_right_above_its_words(line: str) -> None:
    assert {2, 3} <= pasted_lines(f"{line}\n{BODY}")


@pytest.mark.parametrize(
    "line",
    [
        "Rules:",
        "Please note:",
        "My comments:",
        "Some feedback:",
        "Notes:",
        "What I want:",
        "We decided:",
        "Requirements:",
        "User requirements:",
        "Claude, please do this:",
        "Rules for the agent:",
        "The agent must:",
        "When the user logs in:",
        "Remove these from the menu:",
        "Please do the following:",
        "要求：",
        "几点：",
        "注意：",
        "我的要求：",
        "测试要求：",
        "用户界面要求：",
    ],
)
def test_her_own_list_stays_hers(line: str) -> None:
    assert not pasted_lines(f"{line}\n{BODY}")


def test_a_piece_with_headings_goes_on_below_a_first_person() -> None:
    text = "Implement the following plan:\n\n# Plan\n\nPlease fix this:\n\n## Steps\n\nNever push to main."
    assert pasted_lines(text) == set(range(2, text.count("\n") + 2))
