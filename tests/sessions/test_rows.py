"""Rows that are made when they are asked for are as good as a tuple of them."""

from __future__ import annotations

from array import array

import pytest

from workbench.domain.message import Message
from workbench.domain.trimming import Rulings, Trim
from workbench.services.rows import Joined, Rows, in_context

DROPPED = Trim(id="t", act="drop", messages=("m3",), by="human:x", at="")


def rows(session: str, places: list[int]) -> Rows:
    messages = tuple(Message.of(f"m{n}", session, n, text=f"{session} {n}") for n in range(6))
    tokens = array("i", [10 * n for n in range(6)])
    return Rows(messages, array("I", places), tokens, Rulings((DROPPED,)), {f"{session}#m1"})


def test_a_row_knows_its_message_price_and_fate() -> None:
    found = rows("claude:a", [1, 3, 4])
    assert [row.message.id for row in found] == ["m1", "m3", "m4"]
    assert [row.tokens for row in found] == [10, 30, 40]
    assert [row.fate.disposition for row in found] == ["kept", "dropped", "kept"]
    assert [row.cited for row in found] == [True, False, False]
    assert [row.cited for row in found.citing({"claude:a#m4"})] == [False, False, True]
    assert found.without({"m3"}) == rows("claude:a", [1, 4])


def test_several_sessions_are_one_list() -> None:
    parts = [rows("claude:a", [0, 2]), rows("claude:b", []), rows("codex:c", [5])]
    joined, plain = Joined(parts), tuple(row for part in parts for row in part)
    assert joined == plain
    assert list(joined) == list(plain)
    assert (joined[-1], joined[0], joined[2]) == (plain[-1], plain[0], plain[2])
    assert (joined[1:], joined[::-1], joined[:-1]) == (plain[1:], plain[::-1], plain[:-1])
    with pytest.raises(IndexError):
        joined[3]
    assert not Joined([])
    assert joined != plain[:2]
    assert Joined([parts[0]]) != rows("claude:a", [0, 1])


def test_what_is_in_the_models_context_is_a_part_of_the_rows() -> None:
    told = tuple(Message.of(f"m{n}", "claude:a", n, in_context=n > 2) for n in range(6))
    part = Rows(told, array("I", [1, 3, 5]), array("i", [0] * 6))
    assert [row.message.id for row in in_context(part)] == ["m3", "m5"]
    assert [row.message.id for row in in_context(Joined([part, part]))] == ["m3", "m5", "m3", "m5"]
    assert in_context(tuple(part)) == in_context(part)
    assert not in_context(Rows())
