"""A mistake in a configuration file stops whoever would write or run something, and nobody who only looks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Run

READING = (
    ("status",), ("task", "list"), ("task", "show", "@"), ("state", "show", "@"), ("attempt", "list"),
    ("fact", "list"), ("fact", "history", "port"), ("note", "list"), ("note", "query", "port"), ("artifact", "list"),
    ("evidence", "list", "@"), ("compile", "@", "--to", "codex"), ("handoff", "list"), ("search", "port"), ("log",),
    ("session", "list"), ("settle",), ("agents",),
)  # fmt: skip
WRITING = (
    ("task", "new", "Other"), ("task", "use", "@"), ("state", "update", "@", "--pending", "x.py"),
    ("fact", "propose", "a.b", "1"), ("note", "write", "k", "1"), ("handoff", "prepare", "@", "--to", "codex"),
    ("evidence", "run", "@", "--yes", "--", "true"), ("undo",), ("gc",), ("doctor", "--fix"),
)  # fmt: skip


@pytest.mark.parametrize(("file", "code"), [("workspace.toml", 6), ("config.toml", 2)])
def test_looking_goes_on_with_the_defaults_and_writing_does_not(
    run: Run, workspace: Path, home: Path, file: str, code: int
) -> None:
    run("task", "new", "Filter")
    run("fact", "propose", "port", "8080")
    broken = workspace / file if file == "workspace.toml" else home / ".config" / "workbench" / file
    broken.parent.mkdir(parents=True, exist_ok=True)
    broken.write_text("[budget]\ntokens = 100\nshare = = 1\n")
    for words in READING:
        result = run("--json", *words)
        assert result.code == 0, (words, result.err)
        assert f"warning: {broken}:3:" in result.err, words
        assert result.json is not None
    before = run("log", "--json").json["total"]
    for words in WRITING:
        refused = run("--json", *words)
        assert refused.code == code, (words, refused.err)
        assert f"{broken}:3:" in refused.error["message"]
    assert run("log", "--json").json["total"] == before
    looked = run("doctor", "--json")
    assert looked.code == 6
    assert [c["name"] for c in looked.json["checks"] if not c["ok"]] == ["configuration"]
    broken.unlink()
    assert run("note", "write", "k", "1").code == 0
