"""The demo goes on: what is appended to its sessions is proposed, settled by keyboard, and the package follows."""

from __future__ import annotations

import shlex
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import PROGRAM, Shell
from tests.e2e.talk import ClaudeTalk, CodexTalk

PATIENCE = 60.0
TO_SETTLE = "To settle: a person decides, not you"
CLAUDE = "agents/claude/3bb427c1-a1da-459d-aad1-245c92010b38.jsonl"


class Terminal:
    """The app in a pane of a real terminal multiplexer."""

    def __init__(self, tmux: list[str], folder: Path, size: tuple[int, int]) -> None:
        self._tmux = tmux
        self._folder = folder
        self._window = ""
        self._size = size

    def start(self, *words: str) -> None:
        """Open the app and wait for its first view."""
        command = shlex.join(("env", "-u", "COLUMNS", "-u", "LINES", *PROGRAM, *words))
        place = ["-c", str(self._folder), "-P", "-F", "#{window_id}"]
        width, height = map(str, self._size)
        self._window = self._run("new-session", "-d", "-x", width, "-y", height, *place, command).strip()
        self.sees("ui.theme.color")

    def press(self, *keys: str) -> None:
        self._run("send-keys", "-t", self._window, *keys)

    def text(self) -> str:
        return self._run("capture-pane", "-p", "-t", self._window)

    def sees(self, *words: str) -> str:
        """Wait until all these words stand on the screen; the screen."""
        return self._until(lambda shown: all(word in shown for word in words), words)

    def quit(self) -> None:
        self.press("q")
        until = time.monotonic() + PATIENCE
        while self._window in self._run("list-windows", "-a", "-F", "#{window_id}").split():
            assert time.monotonic() < until
            time.sleep(0.05)

    def _until(self, holds: Callable[[str], bool], words: tuple[str, ...]) -> str:
        until = time.monotonic() + PATIENCE
        while not holds(shown := self.text()):
            assert time.monotonic() < until, f"waited for {words}; on the screen:\n{shown}"
            time.sleep(0.05)
        return shown

    def _run(self, *words: str) -> str:
        return subprocess.run([*self._tmux, *words], check=True, capture_output=True, text=True).stdout


@pytest.fixture
def terminal(tmux_server: list[str], demo: Shell) -> Terminal:
    """The app over the demo, not started yet; the server ends with the test."""
    return Terminal(tmux_server, demo.folder, (200, 50))


def package(demo: Shell) -> dict[str, list[str]]:
    """The lines of the next package, by the heading that they stand under."""
    parts: dict[str, list[str]] = {"": []}
    heading = ""
    for line in demo("compile", "@", "--to", "codex", "--prompt-only").out.splitlines():
        if line.startswith("#"):
            heading = line.strip("# ")
            parts.setdefault(heading, [])
        elif line.strip():
            parts[heading].append(line)
    return parts


def naming(parts: dict[str, list[str]], word: str) -> set[str]:
    """The headings under which a line says something."""
    return {heading for heading, lines in parts.items() if any(word in line for line in lines)}


def facts(demo: Shell) -> list[dict[str, Any]]:
    """The facts that hold or wait."""
    found: list[dict[str, Any]] = demo("fact", "list", "--json").json["facts"]
    return found


@pytest.mark.tmux
def test_what_is_said_is_proposed_settled_and_carried(demo: Shell, terminal: Terminal, tmp_path: Path):
    claude, codex = ClaudeTalk(demo.folder / CLAUDE), CodexTalk(tmp_path, demo.folder)
    codex.person("Look at the style guide first, please.")
    demo("session", "attach", "@", str(codex.path))
    terminal.start()

    claude.person("Do not touch the build script.")
    claude.tool("decision: use MongoDB. We decided to use MongoDB for the database.")
    claude.agent("We settled on Vite for the bundler.")
    codex.person("把主题色改成红色。")
    terminal.sees("2 to settle", "2 found")

    before = package(demo)
    assert naming(before, "ui.theme.color = blue") == naming(before, "ui.theme.color = red") == {TO_SETTLE}
    assert naming(before, "build_script = do not touch") >= {"Constraints"}
    assert naming(before, "build_tool = Vite") == {"What holds now"}
    assert "MongoDB" not in demo("fact", "list", "--all").out

    terminal.press("i")
    shown = terminal.sees("2 to look at", "kept without asking", "build_tool = Vite")
    for words in (
        "ui.theme.color = blue → red",
        "“把主题色改成红色。”",
        "zh",
        "build_script = do not touch",
        "replaces blue",
    ):
        assert words in shown
    terminal.press("Enter")
    terminal.sees("1 to look at")
    settled = package(demo)
    assert "What holds now" in naming(settled, "ui.theme.color = red")
    assert naming(settled, "ui.theme.color = blue") == set()

    terminal.press("x")
    terminal.sees("in other words either")
    terminal.press("Enter")
    terminal.sees("nothing waits for you")
    assert naming(package(demo), "build_script") == set()

    claude.person("Please do not touch the build script! Do not touch the user table.")
    terminal.press("Escape")
    terminal.sees("1 found")
    assert [row["key"] for row in facts(demo) if row["key"].startswith(("build_script", "user_table"))] == [
        "user_table"
    ]

    terminal.quit()
    terminal.start()
    terminal.press("u")
    terminal.sees("Takes back  fact retracted", "build_script = do not touch")
    terminal.press("Enter")
    terminal.sees("2 found")
    assert naming(package(demo), "build_script = do not touch") >= {"Constraints"}
    terminal.quit()
