"""Tables on a terminal keep to its width; into a pipe they are what they were."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import termios

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.conftest import Run
from workbench.cli.call import TEXT_LIMIT
from workbench.cli.output import Answer, Column, Output, Span, Table, width

COLUMNS = (Column(10), Column(16), Column(10, whole=True), Column(40))
TEXTS = st.text(st.sampled_from("ab c数据库部署"), max_size=90)
ROWS = st.lists(st.tuples(TEXTS, TEXTS, st.from_regex("[a-z0-9]{10}", fullmatch=True), TEXTS), min_size=1, max_size=5)


def lines(rows: list[tuple[str, ...]], room: int) -> list[str]:
    fitted = Table(rows, COLUMNS).fitted(room)
    return ["".join(part if isinstance(part, str) else part.text for part in line).rstrip() for line in fitted]


@given(ROWS, st.integers(20, 200))
def test_no_line_is_wider_than_the_terminal_and_ids_stay_whole(rows: list[tuple[str, ...]], room: int) -> None:
    shown = lines(rows, room)
    assert max(width(line) for line in shown) <= room
    assert all(any(row[2] in line for line in shown) for row in rows)


def test_what_has_no_room_stands_beneath() -> None:
    row = ("active", "server.port", "0123456789", "The server listens on this port and on no other one.")
    assert lines([row], 100) == [
        "active  server.port  0123456789  The server listens on this port and on no other one."
    ]
    assert lines([row], 60) == [
        "active  server.port  0123456789",
        "    The server listens on this port and on no other one.",
    ]
    assert lines([row], 30) == ["active  server.port", "    0123456789", "    The server listens on thi…"]


def test_a_row_with_a_longer_id_is_laid_out_by_itself() -> None:
    usual, odd = ("active", "a", "0123456789", "one"), ("active", "b", "0123456789" * 5, "two")
    assert lines([usual, odd], 60) == [
        "active  a  0123456789  one",
        "active  b",
        f"    {'0123456789' * 5}  two",
    ]


@pytest.mark.parametrize("size", [60, 80, 100])
def test_the_terminals_width_counts_and_a_pipe_has_none(size: int) -> None:
    rows = [("active", "a.key.that.is.rather.long", Span("0123456789", "dim"), "值" * 50)]
    near, far = pty.openpty()
    fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 24, size, 0, 0))
    with os.fdopen(far, "w", encoding="utf-8") as terminal:
        answer = Answer({}, [Table(rows, COLUMNS)])
        Output(json=False, env={"NO_COLOR": "1"}, out=terminal).answer(answer)
        shown = os.read(near, 65536).decode().splitlines()
    os.close(near)
    assert len(shown) == (2 if size == 60 else 1)
    assert all(width(line) <= size for line in shown)
    assert shown[-1].endswith("…")


def test_lists_are_the_same_in_a_pipe(run: Run, workspace: object) -> None:
    run("fact", "propose", "a.key", "x" * 50, "--statement", "y" * 110)
    shown = run("fact", "list").out
    assert len(shown.splitlines()) == 1
    assert "x" * 50 in shown
    assert "y" * 110 in shown


def test_status_and_list_count_facts_in_the_same_words(run: Run, workspace: object) -> None:
    run("fact", "propose", "a.key", "1")
    run("fact", "propose", "b.key", "2")
    run("fact", "propose", "b.key", "3", "--as", "agent:claude")
    run("fact", "propose", "c.key", "4", "--as", "agent:claude", "--kind", "constraint")
    said = run("fact", "list").err
    words = said.partition(";")[0].strip()
    assert words in run("status").out
    assert "workbench fact list --only hold|settle|unreviewed" in said
    counts = run("fact", "list", "--json").json["counts"]
    assert run("status", "--json").json["facts"] == counts
    assert words.startswith("2 facts hold, 2 proposed to settle")
    listed = {only: len(run("fact", "list", "--only", only, "--json").json["facts"])
              for only in ("hold", "settle", "unreviewed")}  # fmt: skip
    assert listed["hold"] == counts["active"]
    assert listed["settle"] == sum(counts[name] for name in ("proposed", "challenged", "contested"))
    assert listed["unreviewed"] == counts["unreviewed"]


@pytest.mark.parametrize("command", ["fact import", "extract"])
def test_help_says_how_much_a_file_of_lines_may_hold(run: Run, command: str) -> None:
    assert f"{TEXT_LIMIT >> 20} MiB" in " ".join(run(*command.split(), "--help").out.split())
