"""A session file that was changed in place is read again, whatever its size and times say of it."""

from __future__ import annotations

import os
import time
from array import array
from collections.abc import Callable
from pathlib import Path

import pytest
from claude_records import SESSION, Script, read
from codex_records import Rollout, identity
from shop import opened, task_of

from workbench.compiler import Compiled
from workbench.domain.task import Task
from workbench.errors import NotFoundError
from workbench.services import history, packages, request, sessions
from workbench.services.context import Context
from workbench.services.finding import SessionFinder
from workbench.sessions import SessionLog, open_session, reader_index
from workbench.sessions.reader_index import ReaderIndex

NUMBER = 20
TURNS = {"short": 40, "long": 900}
"""Of the short one every byte is compared, of the long one samples are."""


@pytest.fixture(autouse=True)
def of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_index, "LEAST", 0)
    monkeypatch.setattr(reader_index, "UNSAVED", 1)


def talk(turns: int) -> Script:
    script = Script()
    for turn in range(turns):
        script.prompt(f"step {turn:05d} " + "a" * 900)
    return script


def put(path: Path, data: bytes, *, keep_time: bool = False) -> None:
    """Write over the very same file, and wait until the system's clock tells it from what was there."""
    before = path.stat()
    while path.stat().st_ctime_ns == before.st_ctime_ns:
        with path.open("r+b") as file:
            file.write(data)
        if keep_time:
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        time.sleep(0.002)


def changed(data: bytes, number: int = NUMBER) -> bytes:
    old, new = f"step {number:05d}".encode(), f"STEP {number:05d}".encode()
    assert data.count(old) == 1
    return data.replace(old, new)


def moved_on(data: bytes) -> bytes:
    """The same with another message in its middle: all that follows lies elsewhere."""
    lines = data.split(b"\n")
    return b"\n".join([*lines[:NUMBER], lines[NUMBER].replace(b"aaa", b"aaab", 1), *lines[NUMBER + 1 :]])


def texts(log: SessionLog) -> list[str]:
    return [message.text[:10] for message in log.messages]


@pytest.mark.parametrize("size", ["short", "long"])
@pytest.mark.parametrize("keep_time", [False, True])
@pytest.mark.parametrize("kept", [False, True])
def test_the_same_length_is_not_the_same_file(tmp_path: Path, size: str, keep_time: bool, kept: bool) -> None:
    path, index = talk(TURNS[size]).write(tmp_path), ReaderIndex(tmp_path / "cache")
    log = read(path, "claude")
    index.save(log, array("i", range(len(log.messages))))
    put(path, changed(path.read_bytes()), keep_time=keep_time)
    if kept:
        log = open_session(path, "claude")
        assert not index.restore(log)
    assert log.refresh().reset is not kept
    assert texts(log)[NUMBER] == "STEP 00020"
    assert texts(log) == texts(read(path, "claude"))


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize(
    ("size", "number"), [("short", 0), ("short", NUMBER), ("short", 39), ("long", 0), ("long", 899), ("long", -1)]
)
def test_what_grew_and_changed_is_read_anew(tmp_path: Path, size: str, number: int, kept: bool) -> None:
    script = talk(TURNS[size])
    path, index = script.write(tmp_path), ReaderIndex(tmp_path / "cache")
    log = read(path, "claude")
    index.save(log, array("i", range(len(log.messages))))
    data = path.read_bytes()
    more = talk(TURNS[size] + 1).data()[len(data) :]
    put(path, (moved_on(data) if number < 0 else changed(data, number)) + more)
    if kept:
        log = open_session(path, "claude")
        assert not index.restore(log)
    assert log.refresh().reset is not kept
    assert texts(log) == texts(read(path, "claude"))
    assert len(log.messages) == TURNS[size] + 1


def test_at_a_start_a_file_of_some_megabytes_is_compared_whole(tmp_path: Path) -> None:
    path, index = talk(1500).write(tmp_path), ReaderIndex(tmp_path / "cache")
    log = read(path, "claude")
    index.save(log, array("i", range(len(log.messages))))
    data = path.read_bytes()
    for number in range(3, 1500, 100):
        put(path, changed(data, number) + talk(1501).data()[len(data) :])
        again = open_session(path, "claude")
        assert not index.restore(again)
        again.refresh()
        assert texts(again)[number] == f"STEP {number:05d}"


@pytest.mark.parametrize("size", ["short", "long"])
def test_what_only_grew_is_not(tmp_path: Path, size: str) -> None:
    path, index = talk(TURNS[size]).write(tmp_path), ReaderIndex(tmp_path / "cache")
    log = read(path, "claude")
    for more in range(1, 40):
        before = path.stat().st_size
        path.write_bytes(talk(TURNS[size] + more).data())
        news = log.refresh()
        assert (news.appended, news.reset) == (1, False)
        index.save(log, array("i", range(len(log.messages))))
        again = open_session(path, "claude")
        assert len(index.restore(again)) == TURNS[size] + more
        assert before < again.read_to == path.stat().st_size
    assert texts(log) == texts(read(path, "claude"))


def test_the_history_shows_what_stands_there_now(repo: Path, tmp_path: Path) -> None:
    ctx = opened(repo)
    task = task_of(ctx)
    path = talk(TURNS["long"]).write(tmp_path)
    sessions.attach(ctx, task, str(path))
    assert history.show(ctx, task).messages[NUMBER].message.text.startswith("step 00020")
    put(path, changed(path.read_bytes()), keep_time=True)
    for again in (ctx, opened(repo)):
        assert history.show(again, task).messages[NUMBER].message.text.startswith("STEP 00020")


def test_the_list_shows_the_title_that_stands_there_now(home: Path) -> None:
    folder = home / ".claude/projects/p"
    folder.mkdir(parents=True)
    script = Script(cwd="/srv/shop")
    script.prompt("make it green")
    path = script.write(folder)
    env = {"HOME": str(home)}
    (before,) = SessionFinder().find([Path("/srv/shop")], env)
    put(path, path.read_bytes().replace(b"green", b"brown"), keep_time=True)
    (after,) = SessionFinder().find([Path("/srv/shop")], env)
    assert (before.title, after.title) == ("make it green", "make it brown")


def compiled(ctx: Context, task: Task) -> str:
    result = packages.preview(ctx, task, "codex").result
    assert isinstance(result, Compiled)
    return result.prompt


def of_claude(session: str, moment: int) -> Script:
    script = Script(session)
    script.prompt(f"I am of {moment}")
    script.say("m1", "ok", usage={"input_tokens": 9})
    return script


def of_codex(session: str, moment: int) -> Rollout:
    rollout = Rollout(session)
    rollout.turn(moment)
    rollout.prompt(f"I am of {moment}")
    rollout.say("ok")
    return rollout


@pytest.mark.parametrize(
    ("make", "ids"),
    [
        (of_claude, (SESSION, SESSION.replace("1", "9"))),
        (of_codex, (identity(1), identity(9))),
        (of_codex, (identity(9), identity(1))),
    ],
)
def test_another_session_under_the_same_name_is_nowhere_taken_for_the_one_that_was_attached(
    repo: Path, tmp_path: Path, make: Callable[[str, int], Script | Rollout], ids: tuple[str, str]
) -> None:
    ctx = opened(repo)
    task = task_of(ctx)
    path = make(ids[0], 1).write(tmp_path)
    sessions.attach(ctx, task, str(path))
    assert len(history.show(ctx, task).messages) == 2
    (tmp_path / "other").mkdir()
    make(ids[1], 2).write(tmp_path / "other").replace(path)
    for again in (ctx, opened(repo)):
        shown = history.show(again, task)
        assert [row.message.text for row in shown.messages if "I am of 2" in row.message.text] == []
        assert [name.partition(":")[2] for name in shown.absent] == [ids[0]]
        with pytest.raises(NotFoundError):
            request.view(again, task)
        assert "I am of 2" not in compiled(again, task)
    other = task_of(ctx, title="Other")
    attempt = sessions.attach(ctx, other, str(path))
    assert [ref.id for ref in attempt.sessions] == [ids[1]]


@pytest.mark.parametrize("make", [of_claude, of_codex])
def test_a_copied_beginning_makes_it_no_other_session(
    tmp_path: Path, make: Callable[[str, int], Script | Rollout]
) -> None:
    first, own = (SESSION, SESSION.replace("1", "9")) if make is of_claude else (identity(1), identity(9))
    new, old = make(own, 9), make(first, 1)
    path = new.write(tmp_path)
    data = new.data()
    path.write_bytes(old.data())
    log = read(path)
    assert log.info.id == first
    path.write_bytes(old.data() + data)
    assert log.refresh().reset
    assert log.info.id == own
    assert {message.session.partition(":")[2] for message in log.messages} == {own}
    assert [(m.id, m.session) for m in log.messages] == [(m.id, m.session) for m in read(path).messages]
