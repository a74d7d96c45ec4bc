"""Very many texts are shared among processes; what comes of them is what one alone finds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
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


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="children are listed in /proc")
def test_none_outlives_the_program_that_asked() -> None:
    program = (
        "from workbench.extraction import Place; from workbench.services.many import extract_each\n"
        "found = extract_each([('word ' * 400_000, Place()), ('x', Place())], processes=2)\n"
        "print('begun', flush=True); list(found)"
    )
    process = subprocess.Popen((sys.executable, "-P", "-c", program), stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    wait_until(lambda: len(_children(process.pid)) == 2)
    children = _children(process.pid)
    process.kill()
    process.communicate()
    wait_until(lambda: not any(Path(f"/proc/{child}").exists() for child in children))


@pytest.mark.parametrize("program", ["/nonexistent/python", "", None, "/bin/false"])
def test_where_no_process_can_be_had_the_work_is_done_here(
    program: str | None, alone: list[Extraction], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", program)
    assert list(extract_each(TALK, processes=2)) == alone


def test_where_no_thread_can_be_had_the_work_is_done_here(
    alone: list[Extraction], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert list(extract_each(TALK[:300], processes=2)) == alone[:300]


def test_a_process_that_never_answers_is_given_up(alone: list[Extraction], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many, "_BEGIN", "import time; time.sleep(600)")
    monkeypatch.setattr(many, "_PATIENCE", 0.2)
    assert list(extract_each(TALK[:300], processes=2)) == alone[:300]


def wait_until(true: Callable[[], bool]) -> None:
    for _ in range(600):
        if true():
            return
        time.sleep(0.05)
    pytest.fail("it never came true")


def _children(of: int | str = "self") -> list[int]:
    """Living children of a process that extract."""
    found = []
    for task in Path(f"/proc/{of}/task").iterdir():
        for child in _read(task / "children").split():
            if b"import answer" in _read(Path(f"/proc/{int(child)}/cmdline")):
                found.append(int(child))
    return found


def _read(path: Path) -> bytes:
    """What a file of a thread or process says; nothing where that ended in between."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""
