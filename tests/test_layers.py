"""The house holds together: imports go one way, and the program knows nothing of the samples it ships."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import workbench
from workbench.domain.ids import is_id

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "sample_workspaces"
_SENTENCE = re.compile(r"\w+ \w+ \w+ \w+")


def test_imports_go_one_way() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_is_typed() -> None:
    assert Path(workbench.__file__).with_name("py.typed").is_file()


def _values(document: Any, field: str = "") -> Iterator[tuple[str, str]]:
    """Every text of a JSON document with the name of the field it stands in."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield from _values(value, key)
    elif isinstance(document, list):
        for value in document:
            yield from _values(value, field)
    elif isinstance(document, str):
        yield field, document


def _story_marks(story: dict[str, Any]) -> set[str]:
    marks = set(story["sessions"])
    for field, text in _values(story["changes"]):
        if field in ("slug", "title", "statement", "objective", "quote") or is_id(text) or _SENTENCE.search(text):
            marks.add(text)
    for change in story["changes"]:
        for table in ("facts", "notes", "artifacts"):
            marks.update(record["key"] for record in change.get("put", {}).get(table, ()) if "key" in record)
    return marks


def _session_marks(path: Path) -> set[str]:
    marks = {path.stem}
    for line in path.read_bytes().split(b"\n"):
        for field, text in _values(json.loads(line)) if line else ():
            if field in ("uuid", "id", "tool_use_id", "requestId", "aiTitle", "slug"):
                marks.add(text)
            elif field in ("text", "thinking", "content", "stdout"):
                marks.update(row.strip() for row in text.split("\n") if _SENTENCE.search(row))
    return marks


def test_nothing_of_a_sample_occurs_in_the_program() -> None:
    sources = [p for p in (ROOT / "workbench").rglob("*") if p.suffix in (".py", ".tcss", ".toml", ".json")]
    program = "\n".join(path.read_text("utf-8") for path in sources)
    stories = list(SAMPLES.glob("*/story.json"))
    assert stories
    for path in stories:
        marks = {path.parent.name} | _story_marks(json.loads(path.read_bytes()))
        for part in ("project", "uncommitted"):
            files = (p.relative_to(path.parent / part) for p in (path.parent / part).rglob("*") if p.is_file())
            marks.update(file.as_posix() for file in files if len(file.parts) > 1)
        for session in path.parent.glob("agents/**/*.jsonl"):
            marks |= _session_marks(session)
        assert len(marks) > 50
        assert [mark for mark in sorted(marks) if mark and mark in program] == []
