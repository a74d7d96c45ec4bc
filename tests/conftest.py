"""Every test lives in a home of its own, as a person whose shell no agent started."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "workbench", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], database=None
)
settings.load_profile("workbench")

# What agents and terminals leave in the environment of their children; a test sets what it needs itself.
_MARKS = ("CLAUDE", "CODEX", "GEMINI", "OPENCODE", "QWEN", "KIMI", "PI_", "CURSOR_", "AGENT", "TMUX", "WORKBENCH_")
SHARED = Path(__file__).resolve().parent.parent.parent / "shared"


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of the test's own; every user folder of the program lies beneath it."""
    folder = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(_MARKS) or name.startswith("XDG_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("WORKBENCH_HUMAN_SHELL", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(folder / ".gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("TZ", "UTC")
    person = "[user]\n\tname = dev\n\temail = dev@example.invalid\n[init]\n\tdefaultBranch = main\n"
    (folder / ".gitconfig").write_text(person)
    return folder


@pytest.fixture
def shared_dir() -> Path:
    """The folder of shared inputs beside the checkout, where there is one."""
    if not SHARED.is_dir():
        pytest.skip("no folder 'shared' beside this checkout: tests over its session files are left out")
    return SHARED


@pytest.fixture
def tmux_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[str]]:
    """A tmux server of this test alone, and this process made to believe that it runs in its first pane.

    Yields the beginning of every tmux command line that speaks to it.
    """
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    # Not beneath the test's own folder: the path of a socket may have about 100 characters only.
    folder = tempfile.mkdtemp(prefix="wb-tmux-")
    base = ["tmux", "-S", f"{folder}/socket", "-f", "/dev/null"]
    subprocess.run([*base, "new-session", "-d", "-x", "120", "-y", "40", "cat"], check=True, cwd=tmp_path)
    try:
        form = "#{socket_path},#{pid},0 #{pane_id}"
        told = subprocess.run([*base, "display-message", "-p", form], check=True, capture_output=True, text=True)
        monkeypatch.setenv("TMUX", told.stdout.split()[0])
        monkeypatch.setenv("TMUX_PANE", told.stdout.split()[1])
        yield base
    finally:
        subprocess.run([*base, "kill-server"], check=False, capture_output=True)
        shutil.rmtree(folder)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the numbers that tests found out (``record_property("told", ...)``)."""
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    told = [value for r in reports for name, value in getattr(r, "user_properties", ()) if name == "told"]
    if told:
        terminalreporter.section("what was counted")
        for line in dict.fromkeys(told):
            terminalreporter.write_line(str(line))
