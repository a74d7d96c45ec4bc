"""What is printed: data never drives the terminal, and documents stand alone."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from workbench.cli.output import Block, Output, Span, table, to_json, width

if TYPE_CHECKING:
    from tests.cli.conftest import Run

HOSTILE = [
    "[red]x[/]", "[@click=app.bell]go[/]", "[/nope]", "[x] done", "\x1b[31mred\x1b]0;title\x07", "nul\x00byte",
    "csi \x9b31m", "over\rwritten", "\u202egnp.exe", "line\nbreak", "\x7f\x08\x08",
]  # fmt: skip


class Terminal(io.TextIOWrapper):
    """A stream that says it is a terminal and keeps what it was given."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8")

    def isatty(self) -> bool:
        return True

    @property
    def text(self) -> str:
        self.flush()
        assert isinstance(self.buffer, io.BytesIO)
        return self.buffer.getvalue().decode()


def controls(text: str) -> set[str]:
    """Characters that could drive a terminal."""
    return {c for c in text if (ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0 or c in "\u202e\u2066"}


@pytest.mark.parametrize("text", HOSTILE)
def test_lines_and_tables_show_data_as_stored_and_harmless(text: str) -> None:
    terminal = Terminal()
    out = Output(json=False, env={"NO_COLOR": "1"}, out=terminal, err=terminal)
    out.line(text)
    out.line([Span("k ", "bold"), text])
    out.note(text)
    out.line(Block(text))
    for line in table([[text, Span(text, "bad")], ["a", "b"]]):
        out.line(line)
    out.error({"code": "x", "message": text, "hint": text, "details": {"candidates": [text]}})
    assert controls(terminal.text) == set()
    if text.isprintable():
        assert terminal.text.count(text) == 9


@pytest.mark.parametrize("text", HOSTILE)
def test_a_document_is_read_back_as_stored_and_drives_nothing(text: str) -> None:
    data = to_json({"a": [text], text: 1})
    assert json.loads(data) == {"a": [text], text: 1}
    assert controls(data.decode()) == set()


def test_a_document_with_broken_text_is_still_a_document() -> None:
    assert json.loads(to_json({"a": "\ud800x"}))["a"] == "\ud800x"


def test_a_line_cannot_pretend_to_be_two() -> None:
    terminal = Terminal()
    Output(json=False, env={}, out=terminal, err=terminal).line(["one\ntwo"])
    assert terminal.text == "one\u23cetwo\n"


@pytest.mark.parametrize(("env", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_colour_is_for_terminals_that_want_it(env: dict[str, str], coloured: bool) -> None:
    terminal, pipe = Terminal(), io.TextIOWrapper(io.BytesIO())
    Output(json=False, env=env, out=terminal, err=terminal).line(Span("stale", "warn"))
    assert ("\x1b[" in terminal.text) is coloured
    assert "stale" in terminal.text
    Output(json=False, env=env, out=pipe, err=pipe).line(Span("stale", "warn"))
    pipe.flush()
    assert isinstance(pipe.buffer, io.BytesIO)
    assert pipe.buffer.getvalue() == b"stale\n"


def test_a_prompt_goes_into_a_pipe_byte_for_byte() -> None:
    pipe = io.TextIOWrapper(io.BytesIO())
    Output(json=False, env={}, out=pipe).exact("a\r\n\x1b\u202eb")
    assert isinstance(pipe.buffer, io.BytesIO)
    assert pipe.buffer.getvalue() == "a\r\n\x1b\u202eb".encode()
    terminal = Terminal()
    Output(json=False, env={}, out=terminal).exact("a\x1bb")
    assert controls(terminal.text) == set()


def test_columns_line_up_with_wide_text() -> None:
    rows = table([["\u4e2d\u6587", "x"], ["ab", "y"], ["e\u0301", "z"]])
    widths = {sum(width(p if isinstance(p, str) else p.text) for p in list(row)[:-2]) for row in rows}
    assert len(widths) == 1


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_facts_and_tasks_through_every_list(run: Run, workspace: Path, text: str) -> None:
    if "\x00" not in text:  # the system takes no NUL in an argument list; a file may hold one
        run("fact", "propose", "a.b", "--statement", text, "--", text)
    contract = workspace.parent / "contract.json"
    contract.write_text(json.dumps({"title": text, "objective": text, "targets": ["src"], "acceptance": [text]}))
    run("task", "new", "--file", str(contract))
    run("--as", "agent:pi", "fact", "propose", "a.b", "other", "--quote", text.replace("\x00", ""))
    for words in ("fact list", "fact history a.b", "task list", "task show @", "log", "status"):
        people, script = run(*words.split()), run(*words.split(), "--json")
        assert people.code == script.code == 0
        assert controls(people.out + people.err + script.out) == set()
