"""Command lines of agent programs: exact, without a shell, and the prompt where the program can take it."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.agents import LaunchInput, installed, programs
from workbench.config import AgentConfig, Config
from workbench.errors import UsageError

SENTENCE = "Read the file /out/prompt.md completely (handoff 0123456789abcdef)."
PLAN = LaunchInput(sentence=SENTENCE, prompt_folder=Path("/out"), cwd=Path("/repo"), session_id="uuid-1")
HEADLESS = replace(PLAN, headless=True)
ALL = programs(Config())


def configured(**agents: AgentConfig) -> Config:
    return Config(agents=agents)


def test_the_known_programs_in_the_order_in_which_they_are_offered() -> None:
    assert list(ALL) == ["claude", "codex", "gemini", "opencode", "pi", "qwen", "kimi"]
    assert {n: p.window for n, p in ALL.items() if p.window} == {
        "claude": 200_000,
        "codex": 272_000,
        "gemini": 1_048_576,
    }


@pytest.mark.parametrize(
    ("name", "argv"),
    [
        ("claude", ("claude", "--session-id", "uuid-1", "--add-dir", "/out", "--", SENTENCE)),
        ("codex", ("codex", "--no-daemon", SENTENCE)),
        ("gemini", ("gemini", "--include-directories", "/out", "-i", SENTENCE)),
        ("opencode", ("opencode", "/repo", "--prompt", SENTENCE)),
        ("pi", ("pi", SENTENCE)),
        ("qwen", ("qwen", "-i", SENTENCE)),
        ("kimi", ("kimi",)),
    ],
)
def test_interactive(name: str, argv: tuple[str, ...]) -> None:
    line = ALL[name].command(PLAN)
    assert line.argv == argv
    assert line.stdin_prompt is False
    assert line.session_id == ("uuid-1" if name == "claude" else None)
    assert line.paste == (SENTENCE if name == "kimi" else None)


@pytest.mark.parametrize(
    ("name", "argv", "stdin"),
    [
        ("claude", ("claude", "-p", "--output-format", "stream-json", "--verbose", "--session-id", "uuid-1",
                    "--add-dir", "/out"), True),
        ("codex", ("codex", "exec", "--json", "-C", "/repo", "-"), True),
        ("gemini", ("gemini", "--include-directories", "/out", "-o", "stream-json"), True),
        ("opencode", ("opencode", "run", "--format", "json", "--dir", "/repo"), True),
        ("pi", ("pi", "-p", "--mode", "json"), True),
        ("qwen", ("qwen", "-o", "stream-json"), True),
        ("kimi", ("kimi", "-p", SENTENCE, "--output-format", "stream-json"), False),
    ],
)  # fmt: skip
def test_headless_gets_the_bytes_on_standard_input(name: str, argv: tuple[str, ...], stdin: bool) -> None:
    line = ALL[name].command(HEADLESS)
    assert line.argv == argv
    assert line.stdin_prompt is stdin


def test_opencode_may_read_the_prompts_folder_and_nothing_else() -> None:
    env = ALL["opencode"].command(replace(PLAN, prompt_folder=Path('/o"ut'))).env
    assert json.loads(env["OPENCODE_CONFIG_CONTENT"]) == {"permission": {"external_directory": {'/o"ut/**': "allow"}}}


@pytest.mark.parametrize("name", [n for n in ALL if n != "kimi"])
def test_inline_stands_in_place_of_the_sentence(name: str) -> None:
    argv = ALL[name].command(replace(PLAN, inline="# Task\n$(rm -rf) `x`; '\"")).argv
    assert "# Task\n$(rm -rf) `x`; '\"" in argv
    assert SENTENCE not in argv


@pytest.mark.parametrize("text", ["-rf", "a\0b", "x" * 131_072, "\u4e2d" * 43_691])
def test_what_cannot_be_an_argument_is_refused_before_a_start(text: str) -> None:
    with pytest.raises(UsageError, match="argument list"):
        ALL["pi"].command(replace(PLAN, inline=text))


def test_the_largest_argument_passes() -> None:
    assert ALL["pi"].command(replace(PLAN, inline="x" * 131_071)).argv[1] == "x" * 131_071


def test_a_defined_agent_with_placeholders() -> None:
    command = ("prog", "--flag", "{prompt}", "--in={prompt_folder}", "{prompt_file}", "{other}")
    mine = programs(configured(mine=AgentConfig(command=command, window=5, tokenizer="cl100k")))["mine"]
    assert mine.command(PLAN).argv == ("prog", "--flag", SENTENCE, "--in=/out", "/out/prompt.md", "{other}")
    assert (mine.window, mine.tokenizer, mine.estimated) == (5, "cl100k", False)
    named = replace(PLAN, prompt_file=Path("/out/p.md"))
    assert "/out/p.md" in mine.command(named).argv


def test_a_placeholder_in_the_sentence_is_not_filled_again() -> None:
    mine = programs(configured(mine=AgentConfig(command=("prog", "{prompt}"))))["mine"]
    assert mine.command(replace(PLAN, sentence="say {prompt_file}")).argv == ("prog", "say {prompt_file}")


def test_a_defined_agent_without_placeholder_gets_the_sentence_last() -> None:
    mine = programs(configured(mine=AgentConfig(command=("prog", "-x"))))["mine"]
    assert mine.command(PLAN).argv == ("prog", "-x", SENTENCE)
    assert mine.command(HEADLESS).argv == ("prog", "-x")
    assert mine.command(HEADLESS).stdin_prompt is True


def test_a_known_agents_command_keeps_its_own_way_of_taking_the_prompt() -> None:
    program = programs(configured(claude=AgentConfig(command=("/opt/claude", "--model", "opus"))))["claude"]
    assert program.command(PLAN).argv == (
        "/opt/claude", "--model", "opus", "--session-id", "uuid-1", "--add-dir", "/out", "--", SENTENCE,
    )  # fmt: skip
    assert program.window == 200_000


def test_an_agent_that_is_only_named_is_no_program() -> None:
    assert "mine" not in programs(configured(mine=AgentConfig(window=5)))


def test_installed_looks_along_the_path_given(tmp_path: Path) -> None:
    program = tmp_path / "codex"
    program.write_text("#!/bin/sh\n")
    env = {"PATH": f"/nowhere{os.pathsep}{tmp_path}"}
    assert installed(ALL["codex"], env) is None
    program.chmod(0o755)
    assert installed(ALL["codex"], env) == str(program)
    mine = programs(configured(mine=AgentConfig(command=(str(program),))))["mine"]
    assert installed(mine, {"PATH": ""}) == str(program)
