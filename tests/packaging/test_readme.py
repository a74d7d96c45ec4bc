"""The README says what is so: its two lines, its commands, its keys."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from workbench.cli.parser import NOUNS, commands_of

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def section(title: str) -> str:
    return README.split(f"\n## {title}\n")[1].split("\n## ")[0]


@pytest.mark.parametrize("mark", ["demo command", "test command"])
def test_each_of_the_two_commands_is_one_line(mark: str) -> None:
    block = re.search(rf"<!-- {mark} -->\n```sh\n(.*?)```\n", README, re.S)
    assert block
    assert block[1].count("\n") == 1
    assert block[1].startswith("python3 -m venv ")


def test_the_checks_run_the_test_command_of_the_readme() -> None:
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    assert "<!-- test command -->" in script
    assert "-m pytest" in script
    assert "pip install" not in script  # it has no line of its own that could drift


def built() -> set[str]:
    found: set[str] = set()
    for noun, (module, _) in NOUNS.items():
        if module and not noun.startswith("_"):
            found |= {command.words for command in commands_of(noun).values() if command.run}
    return found


def listed() -> set[str]:
    found: set[str] = set()
    for row in re.findall(r"^\| (`.*?) \| ", section("Command line"), re.M):
        for words in re.findall(r"`([^`]*)`", row):
            noun, _, rest = words.replace("\\|", "|").partition(" ")
            verbs = rest.split(" ")[0].split("|") if re.match(r"[a-z]+(\|[a-z]+)*( |$)", rest) else [""]
            found |= {f"{noun} {verb}".strip() for verb in verbs if noun != "workbench"}
    return found


def test_its_command_table_is_what_is_built() -> None:
    assert listed() == built()


def test_its_key_table_is_what_the_app_has() -> None:
    from workbench.tui.keys import KEYS

    table = section("Keys")
    keys = {key.shown for key in KEYS if key.built and key.where in ("main", "list", "history")}
    assert {key for key in keys if f"`{key}`" not in table} == set()
