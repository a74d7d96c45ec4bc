"""What is worked out of a session while it grows is what one look at all of it gives."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import test_codex_properties as codex
import test_session_properties as claude
from claude_records import Script, bash, finished, line
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.domain.trimming import Trim
from workbench.services.history_rows import SessionRows, Tally
from workbench.services.pool import SessionPool, SessionState
from workbench.services.seen import MOST_RUNS


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("trails")


def busy() -> list[bytes]:
    """Commands again and again, usage that grows afterwards, a branch left behind, compactions."""
    script = Script()
    begin = script.prompt("begin")["uuid"]
    for turn in range(6):
        script.say(f"m{turn}", "I shall", bash(f"c{turn}", f"make {turn % 3}"), usage={"output_tokens": turn})
        script.result(f"c{turn}", f"{turn} passed", twin=finished(), timestamp=f"2026-03-01T10:00:{turn * 7 % 10:02}Z")
        script.say(f"m{turn}", "and so on", usage={"output_tokens": turn + 5})
        if turn == 2:
            script.prompt("otherwise", parent=begin)
        if turn == 4:
            script.add("system", subtype="compact_boundary", parent=None, content="cut")
            script.prompt("in short", isCompactSummary=True)
    return [line(record) + b"\n" for record in script.records]


SESSIONS = {
    "claude": ("claude", "a.jsonl", lambda: [line(record) + b"\n" for record in claude.rich().records]),
    "busy": ("claude", "b.jsonl", busy),
    "codex": ("codex", codex.rich().name, lambda: [line(record) + b"\n" for record in codex.rich().records]),
}


def trims(state: SessionState, chance: random.Random) -> tuple[Trim, ...]:
    ids = [message.id for message in state.messages]
    acts = [chance.choice(("drop", "externalise", "summarise", "pin")) for _ in range(chance.randrange(3))]
    return tuple(
        Trim(id=f"t{n}", act=act, messages=tuple(chance.sample(ids, min(2, len(ids)))), by="human:x", at="", text="s")
        for n, act in enumerate(acts)
    )


@pytest.mark.parametrize("name", SESSIONS)
@given(seed=st.integers(0, 1 << 30))
@settings(max_examples=40)
def test_every_step_is_as_from_the_beginning(folder: Path, name: str, seed: int) -> None:
    agent, file, lines = SESSIONS[name]
    path, chance, pool = folder / file, random.Random(seed), SessionPool()
    data = b"".join(lines())
    path.write_bytes(data[: chance.randrange(200, len(data))])
    acts: tuple[Trim, ...] = ()
    while True:
        state, fresh = pool.read(path, agent), SessionPool().read(path, agent)
        assert state is not None
        assert fresh is not None
        acts = trims(state, chance) if chance.random() < 0.3 else acts
        cited = {message.ref for message in state.messages if chance.random() < 0.1}
        for one in (state, fresh):
            one.rows.look(one.messages, acts, frozenset(cited), one.log)
        assert state.messages == fresh.messages
        assert (state.info.usage, state.info.title) == (fresh.info.usage, fresh.info.title)
        assert state.observed == fresh.observed
        assert state.lost == fresh.lost
        assert (state.rows.rows, state.rows.mark) == (fresh.rows.rows, fresh.rows.mark)
        assert state.rows.tally.kept == Tally(state.rows.rows).kept
        for most in (1, 2, MOST_RUNS):
            assert state.latest_runs(most, [("make", "1")]) == fresh.latest_runs(most, [("make", "1")])
        size = path.stat().st_size
        if size == len(data):
            return
        with path.open("ab") as out:
            out.write(data[size : size + chance.randrange(1, 900)])


def test_a_row_that_did_not_change_stays_as_it_was(tmp_path: Path) -> None:
    lines = busy()
    path, pool = tmp_path / "a.jsonl", SessionPool()
    path.write_bytes(b"".join(lines[:8]))
    before = pool.read(path, "claude")
    assert before is not None
    before.rows.look(before.messages, (), frozenset(), before.log)
    rows, mark = before.rows.rows, before.rows.mark
    with path.open("ab") as file:
        file.write(lines[8])
    after = pool.read(path, "claude")
    assert after is not None
    after.rows.look(after.messages, (), frozenset(), after.log)
    assert len(after.rows.rows) == len(rows) + 1
    assert [new == old for new, old in zip(after.rows.rows, rows, strict=False)].count(False) <= 1
    assert after.rows.mark != mark


def test_a_message_that_is_cited_changes_its_own_row_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join(busy()))
    state = SessionPool().read(path, "claude")
    assert state is not None
    state.rows.look(state.messages, (), frozenset(), state.log)
    before, mark = state.rows.rows, state.rows.mark
    cited = frozenset({before[2].message.ref, "claude:another#" + before[3].message.id})
    state.rows.look(state.messages, (), cited, state.log)
    after = state.rows.rows
    assert [place for place, row in enumerate(after) if row.cited] == [2]
    assert [place for place, row in enumerate(after) if row != before[place]] == [2]
    assert state.rows.mark == mark
    state.rows.look(state.messages, (), frozenset(), state.log)
    assert state.rows.rows == before


def test_an_older_picture_of_a_session_stays_what_it_was(tmp_path: Path) -> None:
    lines = busy()
    path, pool = tmp_path / "a.jsonl", SessionPool()
    path.write_bytes(b"".join(lines[:6]))
    old = pool.read(path, "claude")
    path.write_bytes(b"".join(lines))
    new = pool.read(path, "claude")
    assert old is not None
    assert new is not None
    assert len(old.observed.runs) < len(new.observed.runs)
    assert len(old.messages) < len(new.messages)


def test_of_every_command_only_the_last_run_counts_and_the_newest_come_first(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join(busy()))
    state = SessionPool().read(path, "claude")
    assert state is not None
    every = sorted({run.argv: run for run in state.observed.runs}.values(), key=lambda run: run.message.seq)
    assert len(every) > 2
    assert state.latest_runs(10, ()) == every
    assert state.latest_runs(1, ()) == every[-1:]
    assert state.latest_runs(1, [every[0].argv]) == [every[0], every[-1]]
    assert state.latest_runs(0, [every[1].argv, ("never", "run")]) == [every[1]]


def test_rows_of_nothing_are_none() -> None:
    rows = SessionRows()
    rows.look((), (), frozenset(), None)
    assert (rows.rows, rows.tally.all, rows.tally.kept) == ((), 0, 0)
