"""A picture of a session is as good as a tuple of its messages, and does not change when the session does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import workbench.sessions.picture as picture
from workbench.domain.message import Message
from workbench.sessions.picture import Messages


@pytest.fixture(autouse=True, scope="module")
def small_pieces():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(picture, "_PIECE", 4)
        yield


def message(number: int, text: str = "") -> Message:
    return Message.of(f"m{number}", "claude:a", number, text=text)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9)), max_size=8))
def test_pictures_of_a_list_that_grows_and_changes_stay_what_they_were(steps: list[tuple[int, int]]) -> None:
    growing: list[Message] = []
    taken: list[tuple[Messages, tuple[Message, ...]]] = []
    now: Messages | None = None
    for step, (since, more) in enumerate(steps):
        since = min(since, len(growing))
        growing[since:] = [message(n, f"as of {step}") for n in range(since, len(growing) + more)]
        now = Messages(growing, now, since)
        taken.append((now, tuple(growing)))
    for one, plain in taken:
        assert tuple(one) == plain
        assert (len(one), one) == (len(plain), plain)
        assert tuple(reversed(one)) == plain[::-1]


@given(st.integers(0, 14), st.integers(-16, 16), st.integers(-16, 16), st.sampled_from([None, 1, 2, -1, -3]))
def test_it_is_cut_as_a_tuple_is(count: int, start: int, stop: int, step: int | None) -> None:
    plain = tuple(message(n) for n in range(count))
    assert Messages(plain)[start:stop:step] == plain[start:stop:step]
    if -count <= start < count:
        assert Messages(plain)[start] is plain[start]
    else:
        with pytest.raises(IndexError):
            Messages(plain)[start]


def test_what_did_not_change_is_shared() -> None:
    growing = [message(n) for n in range(10)]
    first = Messages(growing)
    growing.append(message(10))
    second = Messages(growing, first, 10)
    assert second != first
    assert all(a is b for a, b in zip(first._pieces[:2], second._pieces[:2], strict=True))
    assert Messages(growing, second, 11) == second
