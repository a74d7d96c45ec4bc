"""Very many texts are shared among processes; what comes of them is what one alone finds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from tests.extraction.figures import rows
from workbench.extraction import Extraction, Extractor, Place, RuleBook
from workbench.services import many
from workbench.services.many import extract_each

TALK = [(row["text"], Place(message=f"m{number}")) for number, row in enumerate(rows("test")[:700])]


@pytest.fixture(scope="module")
def alone() -> list[Extraction]:
    extractor = Extractor()
    return [extractor.extract(text, place) for text, place in TALK]


def test_processes_find_what_one_finds_and_in_the_same_order(alone: list[Extraction]) -> None:
    assert list(extract_each(TALK, processes=2)) == alone


def test_phrases_of_a_workspace_count_in_every_process() -> None:
    phrases = {"decision": ("cast in stone",)}
    talk = [("The name of the tool is cast in stone", Place()) for _ in range(500)]
    expected = Extractor(RuleBook.standard(phrases)).extract(talk[0][0])
    assert expected.finds
    assert list(extract_each(talk, phrases, processes=2)) == [expected] * len(talk)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="children are listed in /proc")
def test_a_process_that_dies_loses_nothing(alone: list[Extraction]) -> None:
    found = extract_each(TALK, processes=2)
    first = list(islice(found, 10))
    assert len(_children()) == 2
    for child in _children():
        os.kill(child, signal.SIGKILL)
    assert [*first, *found] == alone
    assert not _children()


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="children are listed in /proc")
def test_none_is_left_where_nobody_wants_the_rest() -> None:
    found = extract_each(TALK, processes=2)
    next(found)
    found.close()
    assert not _children()


def test_such_a_process_ends_with_the_program_that_asked() -> None:
    process = subprocess.Popen(
        (sys.executable, "-P", "-m", many.__name__), stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path.home()
    )
    out, _ = process.communicate(timeout=60)
    assert (out, process.returncode) == (b"", 0)


def _children() -> list[int]:
    """Living children of this process that extract."""
    found = []
    for task in Path("/proc/self/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            words = Path(f"/proc/{child}/cmdline").read_bytes()
            if many.__name__.encode() in words:
                found.append(child)
    return found
