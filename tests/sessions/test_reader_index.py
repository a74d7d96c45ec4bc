"""A session that was read is known at the next start, and only what is new in it is read."""

from __future__ import annotations

import os
import pickle
import random
import re
import shutil
import subprocess
import sys
import threading
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import test_codex_properties as codex
import test_session_properties as claude
from claude_records import Record, Script, bash, finished, line, read
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.domain.message import Message
from workbench.services import care, history, sessions, tasks, workspaces
from workbench.services.context import open_context
from workbench.services.pool import SessionPool
from workbench.sessions import SessionLog, open_session, reader_index
from workbench.sessions.reader_index import ReaderIndex

Data = Callable[[], tuple[str, str, list[bytes]]]


def claude_data() -> tuple[str, str, list[bytes]]:
    script = claude.rich()
    return "claude", f"{script.session}.jsonl", [line(record) + b"\n" for record in script.records]


def codex_data() -> tuple[str, str, list[bytes]]:
    session = codex.rich()
    return "codex", session.name, [line(record) + b"\n" for record in session.records]


@pytest.fixture(scope="module", autouse=True)
def of_any_size() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader_index, "LEAST", 0)
        patch.setattr(reader_index, "UNSAVED", 1)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept")


def known(log: SessionLog) -> tuple[list[Message], dict[str, Any]]:
    return list(log.messages), {key: value for key, value in vars(log.info).items() if key != "path"}


def started_again(index: ReaderIndex, path: Path, agent: str) -> SessionLog:
    """What the next start of the program has of a file, kept for the one after it."""
    log = open_session(path, agent)
    index.restore(log)
    log.refresh()
    index.save(log, array("i", range(len(log.messages))))
    return log


@pytest.mark.parametrize("data", [claude_data, codex_data])
@given(seed=st.integers(0, 1 << 30))
@settings(max_examples=30)
def test_starts_in_between_change_nothing(folder: Path, data: Data, seed: int) -> None:
    agent, name, lines = data()
    chance = random.Random(seed)
    extra = [chance.choice(lines) for _ in range(4)]
    whole = b"".join(lines + extra)
    path, index = folder / name, ReaderIndex(folder / "cache")
    path.write_bytes(b"")
    start = 0
    for end in (*sorted(chance.randrange(len(whole)) for _ in range(5)), len(whole)):
        with path.open("ab") as file:
            file.write(whole[start:end])
        log, start = started_again(index, path, agent), max(start, end)
    assert known(log) == known(read(path, agent))


def test_a_record_that_is_not_plain_becomes_what_a_plain_one_does(tmp_path: Path) -> None:
    def odd(record: Record) -> Record:
        # It says that it was copied from nowhere: nothing comes of that, but no short way is taken.
        return record | {"forkedFrom": {}} if "message" in record else record

    script = claude.rich()
    script.say("m9", "more", bash("c9", "make"), {"type": "thinking", "thinking": ""}, usage={"input_tokens": True})
    script.result("c9", "Exit code 2\nno", error=True)
    script.result("c9", [{"type": "text", "text": "again"}], twin=finished(agentId="a1"))
    script.prompt("and <b>blue</b>")
    longer = Script()
    longer.records = [odd(record) for record in script.records]
    short, long = script.read(tmp_path, "a.jsonl"), longer.read(tmp_path, "b.jsonl")
    assert [m.with_(span=None) for m in short.messages] == [m.with_(span=None) for m in long.messages]
    assert short.info.usage == long.info.usage
    assert short.info.open_calls == long.info.open_calls


def a_session(tmp_path: Path, turns: int = 300) -> Path:
    script = Script()
    for turn in range(turns):
        script.prompt(f"step {turn}")
        script.say(f"m{turn}", "so be it " * 40, bash(f"c{turn}", f"make {turn}"))
        script.result(f"c{turn}", "done\n" * 300, twin=finished())
    return script.write(tmp_path)


def test_nothing_new_is_nothing_read(tmp_path: Path) -> None:
    path, index = a_session(tmp_path), ReaderIndex(tmp_path / "cache")
    before = started_again(index, path, "claude")
    log = open_session(path, "claude")
    tokens = index.restore(log)
    assert log.read_to == path.stat().st_size
    assert list(log.messages) == list(before.messages)
    assert tokens == array("i", range(len(before.messages)))
    news = log.refresh()
    assert (news.appended, news.reset) == (len(before.messages), False)


def test_nobody_who_reads_waits_for_what_is_kept_by_and_by(tmp_path: Path) -> None:
    path, cache = a_session(tmp_path), tmp_path / "cache"
    pool, index, held = SessionPool(cache), ReaderIndex(cache), threading.Lock()
    pool.by_and_by = True
    state = pool.read(path, "claude")
    assert state is not None
    pool.keep(state)
    assert index.kept([path]) == []

    def given_up() -> None:
        assert not held.locked()
        raise KeyError

    with pytest.raises(KeyError):
        pool.catch_up(held, given_up)
    assert list((cache / "readers").iterdir()) == []

    pool.catch_up(held, lambda: None)
    assert len(index.kept([path])) == len(list((cache / "readers").iterdir())) == 1
    again = open_session(path, "claude")
    index.restore(again)
    assert list(again.messages) == list(state.messages)

    index.kept([path])[0].unlink()
    pool.catch_up(held, lambda: None)
    assert index.kept([path]) == []  # nothing is new


@pytest.mark.parametrize("how", ["shorter", "begun otherwise", "ended otherwise", "replaced", "gone on otherwise"])
def test_another_file_is_read_anew(tmp_path: Path, how: str) -> None:
    path, index = a_session(tmp_path), ReaderIndex(tmp_path / "cache")
    started_again(index, path, "claude")
    data = path.read_bytes()
    lines = data.split(b"\n")
    changed = {
        "shorter": b"\n".join(lines[:-5]) + b"\n",
        "begun otherwise": data.replace(b"step 0", b"steq 0", 1),
        "ended otherwise": data[:-200].replace(b"step 299", b"steq 299") + data[-200:],
        "replaced": data,
        "gone on otherwise": b"\n".join(lines[1:]) + data,
    }[how]
    if how == "replaced":
        new = path.with_suffix(".new")
        new.write_bytes(changed)
        new.replace(path)
    else:
        path.write_bytes(changed)
    os.utime(path, (1, 1))
    log = open_session(path, "claude")
    assert not index.restore(log)
    assert log.read_to == 0
    log.refresh()
    assert known(log) == known(read(path, "claude"))


def kept_file(tmp_path: Path) -> Path:
    (found,) = (tmp_path / "cache" / "readers").iterdir()
    return found


def test_what_is_kept_is_the_owners_alone(tmp_path: Path) -> None:
    started_again(ReaderIndex(tmp_path / "cache"), a_session(tmp_path, 3), "claude")
    assert kept_file(tmp_path).stat().st_mode & 0o777 == 0o600
    assert kept_file(tmp_path).parent.stat().st_mode & 0o777 == 0o700


@given(place=st.floats(0, 1), cut=st.booleans())
@settings(max_examples=40)
def test_damage_is_as_if_nothing_was_kept(folder: Path, place: float, cut: bool) -> None:
    base = folder / "damage"
    base.mkdir(exist_ok=True)
    path, index = base / f"{claude.rich().session}.jsonl", ReaderIndex(base / "cache")
    path.write_bytes(claude.rich().data())
    whole = started_again(index, path, "claude")
    kept = kept_file(base)
    data = bytearray(kept.read_bytes())
    at = int(place * (len(data) - 1))
    data[at] ^= 0x55
    kept.write_bytes(data[:at] if cut else data)
    log = open_session(path, "claude")
    index.restore(log)
    log.refresh()
    assert known(log) == known(whole)


class Harm:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.mark),)


def test_a_planted_file_runs_nothing(tmp_path: Path) -> None:
    path, index = a_session(tmp_path, 3), ReaderIndex(tmp_path / "cache")
    started_again(index, path, "claude")
    data = pickle.dumps(Harm(tmp_path / "harmed"))
    kept = kept_file(tmp_path).read_bytes()
    first = reader_index._FRAME.size + reader_index._FRAME.unpack_from(kept)[0]
    with kept_file(tmp_path).open("wb") as file:
        file.write(kept[:first])
        reader_index._put(file, data)
    assert not index.restore(open_session(path, "claude"))
    assert not (tmp_path / "harmed").exists()


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file, and no folder")
    log = started_again(ReaderIndex(tmp_path / "cache"), a_session(tmp_path, 3), "claude")
    assert len(log.messages) == 12


def test_what_was_used_longest_ago_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = ReaderIndex(tmp_path / "cache")
    paths = []
    for number in range(4):
        (tmp_path / str(number)).mkdir()
        paths.append(a_session(tmp_path / str(number), 20))
    for number, path in enumerate(paths[:3]):
        started_again(index, path, "claude")
        os.utime(next(p for p in (tmp_path / "cache" / "readers").iterdir() if p.stat().st_mtime > 1e9), (number,) * 2)
    size = max(p.stat().st_size for p in (tmp_path / "cache" / "readers").iterdir())
    monkeypatch.setattr(reader_index, "MOST", size * 2 + 100)
    started_again(index, paths[3], "claude")
    logs = [open_session(path, "claude") for path in paths]
    assert [bool(index.restore(log)) for log in logs] == [False, False, True, True]


_READ = """
import sys
from pathlib import Path
from workbench.services.pool import SessionPool
print(len(SessionPool(Path(sys.argv[2])).read(Path(sys.argv[1]), "claude").messages))
"""


def test_one_new_line_after_a_restart_costs_few_bytes(tmp_path: Path) -> None:
    program = shutil.which("strace")
    if program is None:
        pytest.skip("strace is not installed: what a restart reads is not counted")
    path = a_session(tmp_path, 2000)
    assert path.stat().st_size > 5 << 20
    before = SessionPool(tmp_path / "cache").read(path, "claude")
    assert before is not None
    script = Script()
    script.prompt("one more", parent=before.messages[-1].id, uuid="new")
    with path.open("ab") as file:
        file.write(script.data())
    log = tmp_path / "strace"
    words = [sys.executable, "-c", _READ, str(path), str(tmp_path / "cache")]
    done = subprocess.run(
        [program, "-f", "-y", "-qq", "-e", "trace=read,pread64,readv,mmap", "-o", str(log), *words],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and "ptrace" in done.stderr.lower():
        pytest.skip(f"strace may not be used here: {done.stderr.strip()[:100]}")
    assert int(done.stdout) == len(before.messages) + 1
    rows = [row for row in log.read_text("utf-8", "replace").splitlines() if str(path) in row]
    counts = [int(found[1]) for row in rows if (found := re.search(r"= (\d+)$", row)) and "mmap" not in row]
    assert 0 < sum(counts) <= 256 << 10
    assert not any("mmap" in row for row in rows)


def test_what_came_last_is_kept_when_the_program_ends(tmp_path: Path) -> None:
    path, cache = a_session(tmp_path), tmp_path / "cache"
    pool = SessionPool(cache)
    first = pool.read(path, "claude")
    assert first is not None
    read_then = path.stat().st_size
    script = Script()
    script.prompt("one more", parent=first.messages[-1].id, uuid="new")
    with path.open("ab") as file:
        file.write(script.data())
    pool.read(path, "claude")
    early = open_session(path, "claude")
    ReaderIndex(cache).restore(early)
    assert early.read_to == read_then
    pool.close()
    late = open_session(path, "claude")
    ReaderIndex(cache).restore(late)
    assert late.read_to == path.stat().st_size


def test_forgetting_a_workspace_takes_along_what_was_read_for_it(repo: Path, tmp_path: Path, home: Path) -> None:
    ctx = open_context(repo, env=os.environ)
    task = tasks.new(ctx, {"title": "Theme", "objective": "make it green"})
    sessions.attach(ctx, task, str(a_session(tmp_path, 5)))
    before = history.show(ctx, task)
    (kept,) = (home / ".cache" / "workbench" / "readers").iterdir()
    again = open_context(repo, env=os.environ)
    assert history.show(again, task) == before
    assert str(kept) in workspaces.forget_plan(again)
    assert str(kept) in workspaces.forget(again)
    assert not kept.exists()


def test_a_purged_secret_is_not_kept_either(repo: Path, tmp_path: Path, home: Path) -> None:
    ctx = open_context(repo, env=os.environ)
    task = tasks.new(ctx, {"title": "Theme", "objective": "make it green"})
    script = Script()
    script.prompt("the word is lighthouse-4711-keeper")
    path = script.write(tmp_path)
    sessions.attach(ctx, task, str(path))
    (kept,) = (home / ".cache" / "workbench" / "readers").iterdir()
    assert b"lighthouse-4711-keeper" in kept.read_bytes()
    care.purge_text(ctx, "lighthouse-4711-keeper")
    assert b"lighthouse-4711-keeper" not in kept.read_bytes()
    assert not ReaderIndex(kept.parent.parent).restore(open_session(path, "claude"))
