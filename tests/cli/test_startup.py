"""What the command line loads: nothing heavy before it is needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("textual", "pydantic", "mcp", "asyncio", "anyio", "watchfiles", "rich", "toktok_rs", "platformdirs", "logging")
LOOK = (
    "import sys; from workbench.cli.run import main; code = main(sys.argv[2:]);"
    "print([m for m in sys.argv[1].split(',') if m in sys.modules], file=sys.stderr); sys.exit(code)"
)


def loaded(*argv: str, but: tuple[str, ...] = ()) -> tuple[int, str]:
    """Exit code of a call in a process of its own, and which heavy modules it loaded."""
    names = ",".join(name for name in HEAVY if name not in but)
    words = [sys.executable, "-c", LOOK, names, *argv]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stderr.strip().split("\n")[-1]


@pytest.mark.parametrize(
    "argv", [("--help",), ("fact", "propose", "--help"), ("fact", "propose", "a.b", "1"), ("fact", "list")]
)
def test_a_quick_command_loads_nothing_heavy(workspace: Path, argv: tuple[str, ...]) -> None:
    assert loaded(*argv) == (0, "[]")


@pytest.mark.parametrize("argv", [("agents",), ("status",), ("task", "list"), ("log",), ("handoff", "list")])
def test_no_command_loads_what_only_the_app_needs(workspace: Path, argv: tuple[str, ...]) -> None:
    assert loaded(*argv, but=("rich", "logging", "toktok_rs", "platformdirs")) == (0, "[]")


def test_importing_the_program_loads_nothing_heavy() -> None:
    names = ",".join(HEAVY)
    look = "import sys, workbench.__main__; print([m for m in sys.argv[1].split(',') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", look, names], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
