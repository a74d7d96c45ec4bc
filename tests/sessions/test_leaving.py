"""A session that its agent left is idle at once, however lately something was said in it."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest
from test_successors import CLEAR, START, A, B, C, Desk

from workbench.services import session_list
from workbench.services.leaving import Stay, left
from workbench.services.viewing import build_view
from workbench.sessions.processes import Runner


@pytest.fixture
def desk(repo: Path, home: Path) -> Desk:
    return Desk(repo, home)


def shown(desk: Desk, minute: int) -> dict[str, str]:
    """How the task's sessions stand at a minute, by the view and by the list, which agree."""
    desk.now = START + timedelta(minutes=minute)
    ctx = desk.open()
    view = {session.id: session.status for session in build_view(ctx).sessions}
    rows = session_list.standing(ctx, session_list.listing(ctx))
    assert view == {row.session.id: "live" if row.live else "idle" for row in rows if row.attempt is not None}
    return view


def test_after_clear_in_the_same_process_the_one_before_is_idle_at_once(desk: Desk) -> None:
    desk.claude(A, 1, "make it green", "test it")
    desk.attach(A)
    desk.runs(A, os.getpid())
    desk.join()
    assert shown(desk, 3) == {A: "live"}
    desk.claude(B, 3, CLEAR, "start over")
    desk.runs(B, os.getpid())
    assert desk.join() == ([B], [])
    assert shown(desk, 4) == {A: "idle", B: "live"}


def test_after_clear_where_no_program_tells_its_session_that_it_joined_says_it(desk: Desk) -> None:
    desk.claude(A, 1, "make it green", "test it")
    desk.attach(A)
    desk.claude(B, 3, CLEAR, "start over")
    assert desk.join() == ([B], [])
    assert shown(desk, 4) == {A: "idle", B: "live"}


def test_two_agents_beside_each_other_are_both_live(desk: Desk) -> None:
    desk.claude(A, 1, "make it green", "test it")
    desk.claude(C, 3, "do the rest")
    desk.attach(A)
    desk.attach(C)
    assert shown(desk, 4) == {A: "live", C: "live"}


def test_one_that_goes_on_again_is_live_again(desk: Desk) -> None:
    old = desk.claude(A, 1, "make it green", "test it")
    desk.attach(A)
    desk.claude(B, 3, CLEAR, "start over")
    desk.join()
    desk.go_on(old, 5, "resumed in another terminal")
    assert shown(desk, 6) == {A: "live", B: "live"}


def test_one_that_a_program_is_in_is_live_whatever_followed_it(desk: Desk) -> None:
    desk.claude(A, 1, "make it green", "test it")
    desk.attach(A)
    desk.claude(B, 3, CLEAR, "start over")
    desk.join()
    desk.runs(A, os.getpid())
    assert shown(desk, 4) == {A: "live", B: "live"}


def test_what_began_before_the_last_word_of_another_did_not_follow_it() -> None:
    same = {"claude:a": Runner("1@2"), "claude:b": Runner("1@2"), "claude:c": Runner("9@2")}
    a, b, c = (
        Stay("claude:a", "2026-03-01T10:00:00Z", "2026-03-01T10:05:00Z"),
        Stay("claude:b", "2026-03-01T10:05:00Z", "2026-03-01T10:06:00Z"),
        Stay("claude:c", "2026-03-01T10:07:00Z", None),
    )
    assert left((a, b, c), same) == {"claude:a"}
    assert left((a, c), same) == frozenset()
    assert left((a, Stay("claude:b", "2026-03-01T10:04:00Z", None)), same) == frozenset()
    assert left((a, b), {}) == frozenset()
