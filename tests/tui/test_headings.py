"""Where sessions begin in a long history, and on which lines its rows stand, without looking at every row."""

from __future__ import annotations

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.message import Message
from workbench.domain.trimming import Fate
from workbench.services.view import MessageView
from workbench.tui.widgets.history_list import _Tops, begins


class Watched(tuple[MessageView, ...]):
    """Rows that count how often one of them is asked for."""

    asked = 0

    def __getitem__(self, place):
        Watched.asked += 1
        return super().__getitem__(place)


@given(st.lists(st.integers(1, 6), max_size=6))
def test_sessions_begin_where_the_one_before_ends(lengths: list[int]) -> None:
    sessions = [f"claude:{n}" for n, length in enumerate(lengths) for _ in range(length)]
    rows = [MessageView(Message.of(f"m{n}", name, n), Fate(), 1, False) for n, name in enumerate(sessions)]
    starts = [n for n, name in enumerate(sessions) if not n or sessions[n - 1] != name]
    assert begins(rows) == starts
    heights = [1 + (n in starts) for n in range(len(rows))]
    tops = _Tops(len(rows), starts)
    assert list(tops) == list(accumulate(heights, initial=0))
    assert (tops[-1], tops[:2]) == (sum(heights), list(tops)[:2])


def test_few_rows_are_looked_at() -> None:
    row = MessageView(Message.of("m", "claude:a", 0), Fate(), 1, False)
    other = MessageView(Message.of("m", "claude:b", 0), Fate(), 1, False)
    rows = Watched([row] * 50_000 + [other] * 50_000)
    assert begins(rows) == [0, 50_000]
    assert Watched.asked < 100
