"""Each benchmark runs, at a tiny size, and measures something; its figures are not looked at here."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SCRIPTS = sorted(path.stem for path in HERE.glob("*.py") if '\n    main("' in path.read_text("utf-8"))
"""Those that print a table of figures."""


@pytest.mark.parametrize("name", SCRIPTS)
def test_it_runs_at_a_tiny_size(name: str) -> None:
    rows = importlib.import_module(f"tests.benchmarks.{name}").run(0.001)
    assert len(rows) >= 2 or rows[0].what == "left out"
    assert all(row.what and row.measured for row in rows)


def test_the_readme_names_every_script() -> None:
    named = re.findall(r"^\| `(\w+)` \|", (HERE / "README.md").read_text("utf-8"), re.M)
    assert sorted(named) == SCRIPTS
